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
    if (*file) {
        TRY(cli_read_like(run, file, like, &data));
        j->owned[j->owned_count++] = data;
    }
    *out = data;
    return CLI_DONE;
}

static int read_weights(cli_run *run, cli_sets_job *j, const char *file, okra_int n,
                        const double **out)
{
    const okra_data *data = NULL;
    okra_int ld = 0;
    CHK(read_one(run, j, file, NULL, &data));
    *out = data ? okra_data_values(data, &ld) : NULL;
    return data && (!*out || okra_data_width(data) != 1 || okra_data_count(data) != n ||
                    ld != 1)
               ? cli_failure(run, "%s: expected one column of %lld numbers", file,
                             (long long)n)
               : CLI_DONE;
}

/* The truth, its columns in the order of the model's outputs. */
static int read_truth(cli_run *run, cli_sets_job *j)
{
    const okra_data *y = okra_model_outputs(j->model);
    okra_data *aligned = NULL;
    CHK(read_one(run, j, j->f->truth, y, &j->truth));
    if (!j->truth) {
        return CLI_DONE;
    }
    TRY(okra_data_align(run->context, j->truth, y, &aligned));
    j->truth = j->owned[j->owned_count++] = aligned;
    if (okra_data_count(j->truth) != j->tests) {
        return cli_failure(run, "%s has %lld objects, expected %lld, one per test input",
                           j->f->truth, (long long)okra_data_count(j->truth),
                           (long long)j->tests);
    }
    okra_kind found = okra_data_kind(j->truth), kind = okra_data_kind(y);
    return found == kind
               ? CLI_DONE
               : cli_failure(run, "%s holds %s, but the model predicts %s", j->f->truth,
                             okra_kind_name(found), okra_kind_name(kind));
}

/* A column of numbers becomes labels. */
static int cut_groups(cli_run *run, cli_sets_job *j, const double *cuts, okra_int count,
                      const okra_data **groups)
{
    okra_data *labels = NULL;
    TRY(okra_groups_cut(*groups, cuts, count, &labels));
    *groups = j->owned[j->owned_count++] = labels;
    return CLI_DONE;
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
    CHK(cut_groups(run, j, cuts, count, &j->s.groups));
    return cut_groups(run, j, cuts, count, &j->s.test_groups);
}

int cli_sets_read(cli_run *run, cli_sets_job *j)
{
    const cli_sets *f = j->f;
    okra_int pairs = okra_model_count(j->model);
    j->s = (okra_conformal_settings){OKRA_SIZED(okra_conformal_settings)};
    j->s.how = f->conformal;
    j->s.score = f->score;
    j->s.folds = f->folds;
    CHK(read_one(run, j, f->calibrate_x, okra_model_inputs(j->model),
                 &j->s.calibration_x));
    CHK(read_one(run, j, f->calibrate_y, okra_model_outputs(j->model),
                 &j->s.calibration_y));
    TRY(okra_conformal_chosen(run->context, j->model, &j->s, &j->s.how, &j->s.score));
    if (j->s.calibration_y) {
        pairs = okra_data_count(j->s.calibration_y);
    } else if (strcmp(j->s.how, "split") == 0) {
        pairs = okra_model_calibration(j->model, NULL, NULL);
    }
    j->s.by_class = strcmp(f->groups, "class") == 0;
    CHK(read_one(run, j, j->s.by_class ? "" : f->groups, NULL, &j->s.groups));
    CHK(read_one(run, j, f->test_groups, j->s.groups, &j->s.test_groups));
    CHK(read_cuts(run, j));
    CHK(read_weights(run, j, f->weights, pairs, &j->s.weights));
    CHK(read_weights(run, j, f->test_weights, j->tests, &j->s.test_weights));
    return read_truth(run, j);
}
