/*
 * sets_read.c: what prediction sets and intervals are made from: pairs to calibrate with,
 * groups, weights, the truth.
 */
#include "predict/sets_job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int read_one(cli_run *run, cli_sets_job *j, const char *file,
                    const okra_data *like, const okra_data **out)
{
    okra_data *data = NULL;
    int status =
        *file ? cli_status(run, cli_read_like(run, file, like, &data)) : CLI_DONE;
    if (data) {
        j->owned[j->owned_count++] = data;
    }
    *out = data;
    return status;
}

static int read_weights(cli_run *run, cli_sets_job *j, const char *file, okra_int n,
                        const double **out)
{
    const okra_data *data = NULL;
    okra_int ld = 0;
    int status = read_one(run, j, file, NULL, &data);
    if (status == CLI_DONE && data) {
        *out = okra_data_values(data, &ld);
        if (!*out || okra_data_width(data) != 1 || okra_data_count(data) != n ||
            ld != 1) {
            status = cli_failure(run, "%s: expected one column of %lld numbers", file,
                                 (long long)n);
        }
    }
    return status;
}

/* The truth, its columns in the order of the model's outputs. */
static int read_truth(cli_run *run, cli_sets_job *j)
{
    okra_data *aligned = NULL;
    int status = read_one(run, j, j->f->truth, okra_model_outputs(j->model), &j->truth);
    if (status == CLI_DONE && j->truth) {
        status = cli_status(run, okra_data_align(run->context, j->truth,
                                                 okra_model_outputs(j->model), &aligned));
    }
    if (aligned) {
        j->owned[j->owned_count++] = aligned;
        j->truth = aligned;
    }
    return status;
}

/* A column of numbers becomes labels. */
static int cut_groups(cli_run *run, cli_sets_job *j, const double *cuts, okra_int count,
                      const okra_data **groups)
{
    okra_data *labels = NULL;
    int status = cli_status(run, okra_groups_cut(*groups, cuts, count, &labels));
    if (status == CLI_DONE) {
        j->owned[j->owned_count++] = labels;
        *groups = labels;
    }
    return status;
}

/* Groups of numbers are cut; numbers that are no groups by themselves must be. */
static int read_cuts(cli_run *run, cli_sets_job *j)
{
    enum { CUTS = 1000 };
    static double cuts[CUTS];
    okra_int count = 0, ld = 0;
    const double *values = j->s.groups ? okra_data_values(j->s.groups, &ld) : NULL;
    for (okra_int i = 0; values && !*j->f->cuts && i < okra_data_count(j->s.groups);
         i++) {
        REFUSE_IF(values[i * ld] != floor(values[i * ld]),
                  "--groups holds %g: numbers are cut into groups by "
                  "--group-cuts V,V,...",
                  values[i * ld]);
    }
    if (!*j->f->cuts) {
        return CLI_DONE;
    }
    REFUSE_IF(!j->s.groups || !j->s.test_groups,
              "--group-cuts needs --groups FILE and --test-groups FILE");
    for (const char *at = j->f->cuts;; count++) {
        char *end = NULL;
        double value = strtod(at, &end);
        REFUSE_IF(end == at || (*end && *end != ',') || count == CUTS,
                  "--group-cuts is '%s', expected numbers between commas", j->f->cuts);
        cuts[count] = value;
        at = end + 1;
        if (!*end) {
            count++;
            break;
        }
    }
    int status = cut_groups(run, j, cuts, count, &j->s.groups);
    return status ? status : cut_groups(run, j, cuts, count, &j->s.test_groups);
}

int cli_sets_read(cli_run *run, cli_sets_job *j)
{
    const cli_sets *f = j->f;
    okra_int pairs = okra_model_count(j->model);
    j->s = (okra_conformal_settings){OKRA_SIZED(okra_conformal_settings)};
    j->s.how = f->conformal;
    j->s.score = f->score;
    j->s.folds = f->folds;
    int status = read_one(run, j, f->calibrate_x, okra_model_inputs(j->model),
                          &j->s.calibration_x);
    status = status ? status
                    : read_one(run, j, f->calibrate_y, okra_model_outputs(j->model),
                               &j->s.calibration_y);
    status = status ? status
                    : cli_status(run, okra_conformal_chosen(run->context, j->model, &j->s,
                                                            &j->s.how, &j->s.score));
    if (status == CLI_DONE && j->s.calibration_y) {
        pairs = okra_data_count(j->s.calibration_y);
    } else if (status == CLI_DONE && strcmp(j->s.how, "split") == 0) {
        pairs = okra_model_calibration(j->model, NULL, NULL);
    }
    j->s.by_class = strcmp(f->groups, "class") == 0;
    if (status == CLI_DONE && !j->s.by_class) {
        status = read_one(run, j, f->groups, NULL, &j->s.groups);
    }
    status = status ? status
                    : read_one(run, j, f->test_groups, j->s.groups, &j->s.test_groups);
    status = status ? status : read_cuts(run, j);
    status = status ? status : read_weights(run, j, f->weights, pairs, &j->s.weights);
    status = status ? status
                    : read_weights(run, j, f->test_weights, j->tests, &j->s.test_weights);
    status = status ? status : read_truth(run, j);
    if (status == CLI_DONE && j->truth && okra_data_count(j->truth) != j->tests) {
        status = cli_failure(
            run, "%s has %lld objects, expected %lld, one per test input", f->truth,
            (long long)okra_data_count(j->truth), (long long)j->tests);
    }
    okra_kind kind = okra_data_kind(okra_model_outputs(j->model));
    if (status == CLI_DONE && j->truth && okra_data_kind(j->truth) != kind) {
        status =
            cli_failure(run, "%s holds %s, but the model predicts %s", f->truth,
                        okra_kind_name(okra_data_kind(j->truth)), okra_kind_name(kind));
    }
    return status;
}
