/*
 * score_listed.c: okra score --lists: where the truth stands among ranked candidates,
 * sets and intervals.
 */
#include "predict/screen.h"
#include "score/score_job.h"
#include "score/score_lists.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
static int score_intervals(cli_run *run, const okra_data *y, const score_lists *l,
                           scores *s)
{
    okra_int ld, d = okra_data_width(y);
    const double *values = okra_data_values(y, &ld);
    if (!values || d != l->width) {
        return cli_failure(run, "the intervals are of %lld outputs, --y has %lld",
                           (long long)l->width, (long long)d);
    }
    for (size_t k = 0; k < s->count; k++) {
        bool inside = strcmp(s->spec[k], "coverage") == 0;
        s->loss[k] = s->has[k] = !inside;
        s->has[k] = true;
        if (!inside && strcmp(s->spec[k], "set-size") != 0) {
            return cli_usage(run, "metric %s has no use of intervals: coverage, set-size",
                             s->spec[k]);
        }
        double all = 0;
        okra_int known = 0;
        s->unknown = 0;
        for (okra_int i = 0; i < s->n; i++) {
            double sum = 0;
            okra_int here = 0;
            for (okra_int j = 0; j < d; j++) {
                const double *b = l->bounds + 2 * (i * d + j);
                double v = values[i * ld + j];
                s->unknown += isnan(v);
                if (!inside || !isnan(v)) {
                    sum += inside ? (v >= b[0] && v <= b[1]) : b[1] - b[0];
                    here++;
                }
            }
            all += sum;
            known += here;
            if (s->each) {
                s->each[(size_t)i * s->count + k] =
                    here ? sum / (double)here : (double)NAN;
            }
        }
        if (known == 0) {
            return cli_failure(run, "--y has no known value: there is no %s", s->spec[k]);
        }
        s->value[k] = all / (double)known;
    }
    return CLI_DONE;
}

int score_listed(cli_run *run, const score_fields *f, const okra_data *y, scores *s)
{
    score_lists l = {0};
    okra_int *truth = malloc((size_t)s->n * sizeof *truth + 1);
    double *column = malloc((size_t)s->n * sizeof *column + 1);
    int status = truth && column ? score_lists_read(run, f->lists, s->n, &l)
                                 : cli_failure(run, "out of memory");
    if (status == CLI_DONE && l.bounds) {
        status = score_intervals(run, y, &l, s);
    } else if (status == CLI_DONE) {
        status = number_truth(run, f, y, &l, truth);
    }
    for (size_t k = 0; l.index && k < s->count && status == CLI_DONE; k++) {
        okra_status st = okra_metric_is_loss(s->spec[k], &s->loss[k]);
        st = st == OKRA_OK ? okra_score_lists(run->context, s->spec[k], truth, l.index,
                                              s->n, l.width, &s->value[k], column)
                           : st;
        status = cli_status(run, st);
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
