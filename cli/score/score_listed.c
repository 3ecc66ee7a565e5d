/*
 * score_listed.c: okra score --lists: where the truth stands among ranked candidates,
 * sets and intervals.
 */
#include "predict/screen.h"
#include "score/score_job.h"
#include "score/score_lists.h"

#include <math.h>
#include <stdlib.h>

/* The same of an index, whose candidates differ. */
static int number_in_index(cli_run *run, const score_fields *f, const okra_data *y,
                           const score_lists *l, okra_int *truth)
{
    char buffer[4096];
    okra_index *index = NULL;
    const char *path = cli_find(run, f->candidates, buffer, sizeof buffer);
    int status = cli_status(run, okra_index_open(run->context, path, &index));
    if (status == CLI_DONE) {
        status = cli_status(run, okra_index_find(run->context, index, y, truth));
    }
    for (okra_int k = 0; k < l->n * l->width && status == CLI_DONE; k++) {
        if (l->index[k] >= okra_index_count(index)) {
            status =
                cli_failure(run, "%s: candidate %lld, expected less than %lld", f->lists,
                            (long long)l->index[k], (long long)okra_index_count(index));
        }
    }
    okra_index_free(index);
    return status;
}

/* The number of the true candidate of each test, and lists by the same numbers. */
static int number_truth(cli_run *run, const score_fields *f, const okra_data *y,
                        score_lists *l, okra_int *truth)
{
    char buffer[4096];
    okra_model *model = NULL;
    okra_data *given = NULL;
    okra_int *same = NULL;
    if (cli_is_index(f->candidates)) {
        return number_in_index(run, f, y, l, truth);
    }
    okra_status st =
        *f->candidates
            ? cli_read_candidates(run, f->candidates, &given)
            : okra_model_load(run->context,
                              cli_find(run, f->model, buffer, sizeof buffer), &model);
    const okra_data *among = model ? okra_model_outputs(model) : given;
    okra_int count = st == OKRA_OK ? okra_data_count(among) : 0;
    int status = cli_status(run, st);
    same = malloc((size_t)count * sizeof *same + 1);
    if (status == CLI_DONE && !same) {
        status = cli_failure(run, "out of memory");
    }
    if (status == CLI_DONE) {
        st = okra_data_match(y, among, truth);
        st = st == OKRA_OK ? okra_data_match(among, among, same) : st;
        status = cli_status(run, st);
    }
    for (okra_int k = 0; k < l->n * l->width && status == CLI_DONE; k++) {
        if (l->index[k] >= count) {
            status = cli_failure(run, "%s: candidate %lld, expected less than %lld",
                                 f->lists, (long long)l->index[k], (long long)count);
        } else if (l->index[k] >= 0) { /* of equal candidates the first stands for all */
            l->index[k] = same[l->index[k]];
        }
    }
    free(same);
    okra_data_free(given);
    okra_model_free(model);
    return status;
}

/* Intervals: each output is a set of numbers; coverage is that of the known ones. */
static int check_intervals(cli_run *run, const okra_data *y, const score_lists *l,
                           scores *s)
{
    okra_int ld, d = okra_data_width(y);
    const double *values = okra_data_values(y, &ld);
    if (!values || d != l->width) {
        return cli_failure(run, "the intervals are of %lld outputs, --y has %lld",
                           (long long)l->width, (long long)d);
    }
    s->unknown = 0;
    for (okra_int i = 0; i < s->n * d; i++) {
        s->unknown += isnan(values[i / d * ld + i % d]);
    }
    for (size_t k = 0; k < s->count; k++) {
        if (!okra_metric_has(s->spec[k], OKRA_METRIC_INTERVALS)) {
            return cli_usage(run, "metric %s has no use of intervals: coverage, set-size",
                             s->spec[k]);
        }
    }
    return CLI_DONE;
}

/* The value of metric k, and one an object in `each`. */
static okra_status measure(const cli_run *run, const okra_data *y, const score_lists *l,
                           const okra_int *truth, scores *s, size_t k, double *each)
{
    okra_int ld = 0;
    const double *values = l->bounds ? okra_data_values(y, &ld) : NULL;
    okra_status st = okra_metric_is_loss(s->spec[k], &s->loss[k]);
    return st != OKRA_OK ? st
           : l->bounds
               ? okra_score_intervals(run->context, s->spec[k], values, ld, l->bounds,
                                      s->n, l->width, &s->value[k], each)
               : okra_score_lists(run->context, s->spec[k], truth, l->index, s->n,
                                  l->width, &s->value[k], each);
}

int score_listed(cli_run *run, const score_fields *f, const okra_data *y, scores *s)
{
    score_lists l = {0};
    okra_int *truth = malloc((size_t)s->n * sizeof *truth + 1);
    double *column = malloc((size_t)s->n * sizeof *column + 1);
    int status = truth && column ? score_lists_read(run, f->lists, s->n, &l)
                                 : cli_failure(run, "out of memory");
    if (status == CLI_DONE && l.bounds) {
        status = check_intervals(run, y, &l, s);
    } else if (status == CLI_DONE) {
        status = number_truth(run, f, y, &l, truth);
    }
    for (size_t k = 0; k < s->count && status == CLI_DONE; k++) {
        status = cli_status(run, measure(run, y, &l, truth, s, k, column));
        s->has[k] = true;
        for (okra_int i = 0; s->each && status == CLI_DONE && i < s->n; i++) {
            s->each[(size_t)i * s->count + k] = column[i];
        }
    }
    if (status == CLI_DONE && s->figures && l.index) {
        score_lists_figures(&l, truth, s->figures);
    }
    free(truth);
    free(column);
    score_lists_clear(&l);
    return status;
}
