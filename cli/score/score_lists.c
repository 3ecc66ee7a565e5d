/*
 * score_lists.c: scores of lists and sets of candidates, and of intervals, as okra
 * predict wrote them.
 */
#include "score/score.h"
#include "okra/program.h"
#include "predict/ranked.h"
#include "predict/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct score_lists {
    okra_int n, width;
    okra_int *index; /* n x width: numbers of candidates in order, -1: no more */
    double *bounds;  /* n x width x 2: of intervals, in place of index         */
    double *p;       /* n x width: p-values, NaN: none; NULL: no such column   */
} score_lists;

enum { TEST, CANDIDATE, OUTPUT, LOWER, UPPER, P_VALUE, RANK, COLUMNS };
static const char *const names[COLUMNS] = {"test",  "candidate", "output", "lower",
                                           "upper", "p_value",   "rank"};

/* Lists of one width from the lines. */
static int arrange(const cli_run *run, const cli_columns *r, okra_int n, score_lists *out)
{
    bool intervals = r->column[CANDIDATE] < 0;
    OWNED okra_int *used = NULL;
    okra_int width = 0;
    MAKE(used, n);
    for (okra_int k = 0; k < r->count; k++) {
        const double *v = r->values + k * COLUMNS;
        okra_int size = intervals ? (okra_int)v[OUTPUT] + 1 : ++used[(okra_int)v[TEST]];
        width = size > width ? size : width;
    }
    out->n = n;
    out->width = width;
    if (intervals) {
        MAKE(out->bounds, 2 * n * width);
    } else {
        MAKE(out->index, n * width);
        memset(out->index, 0xff, (size_t)(n * width) * sizeof *out->index); /* -1 */
    }
    if (!intervals && r->column[P_VALUE] >= 0) {
        MAKE(out->p, n * width);
    }
    memset(used, 0, (size_t)n * sizeof *used);
    for (okra_int k = 0; k < r->count; k++) {
        const double *v = r->values + k * COLUMNS;
        okra_int t = (okra_int)v[TEST], place = t * width + used[t]++;
        if (out->p) {
            out->p[place] = v[P_VALUE];
        }
        if (intervals) {
            memcpy(out->bounds + 2 * (t * width + (okra_int)v[OUTPUT]), v + LOWER,
                   2 * sizeof *v);
        } else {
            out->index[place] = (okra_int)v[CANDIDATE];
        }
    }
    for (okra_int t = 0; t < n && intervals; t++) {
        if (used[t] != width) {
            return cli_failure(run, "%s: test %lld has %lld intervals, expected %lld",
                               r->path, (long long)t, (long long)used[t],
                               (long long)width);
        }
    }
    return CLI_DONE;
}

/* A table with columns test and candidate (rank, if there, must ascend), or test, output,
 * lower and upper; n tests are expected, which may have empty lists. */
static int score_lists_read(cli_run *run, const char *file, okra_int n, score_lists *out)
{
    char buffer[4096];
    FREED_BY(cli_columns_clear) cli_columns r = {.path = file};
    CHK(cli_columns_read(run, cli_find(run, file, buffer, sizeof buffer), names, COLUMNS,
                         &r));
    const int *c = r.column;
    bool lists = c[CANDIDATE] >= 0;
    if (c[TEST] < 0 || (!lists && (c[OUTPUT] < 0 || c[LOWER] < 0 || c[UPPER] < 0))) {
        return cli_failure(
            run,
            "%s: line 1: expected the headings test and candidate, or test, "
            "output, lower and upper",
            file);
    }
    OWNED double *last = NULL; /* rank of each test */
    MAKE(last, n);
    if (r.count == 0) {
        cli_warn(run, "%s has no rows: no list holds anything", file);
    }
    for (okra_int i = 0; i < r.count; i++) {
        const double *v = r.values + i * COLUMNS;
        double test = v[TEST], what = v[lists ? CANDIDATE : OUTPUT];
        for (int k = TEST; k < P_VALUE; k++) {
            if (lists ? k <= CANDIDATE : k != CANDIDATE) {
                CHK(cli_columns_check(run, &r, i, k, COLUMNS, names[k], k <= OUTPUT));
            }
        }
        if (!(test >= 0 && test < (double)n && what >= 0 && what < 9e15)) {
            return cli_failure(
                run, "%s: line %lld: test %g and %s %g, expected tests 0 to %lld", file,
                r.number[i], test, lists ? "candidate" : "output", what,
                (long long)n - 1);
        }
        if (lists && c[RANK] >= 0 && !(v[RANK] > last[(okra_int)test])) {
            CHK(cli_columns_check(run, &r, i, RANK, COLUMNS, names[RANK], false));
            return cli_failure(
                run,
                "%s: line %lld: rank %g after rank %g of test %g, expected "
                "the best of each test first",
                file, r.number[i], v[RANK], last[(okra_int)test], test);
        }
        last[(okra_int)test] = v[RANK];
    }
    return arrange(run, &r, n, out);
}

static void score_lists_clear(score_lists *lists)
{
    free(lists->index);
    free(lists->bounds);
    free(lists->p);
}

/* ---- figures ---- */

/* Where the truth of test t stands in its list; -1: nowhere. */
static okra_int place_of(const score_lists *l, const okra_int *truth, okra_int t)
{
    for (okra_int k = 0; k < l->width && truth[t] >= 0; k++) {
        if (l->index[t * l->width + k] == truth[t]) {
            return k;
        }
    }
    return -1;
}

static json_t *hits(const score_lists *l, const okra_int *truth)
{
    json_t *x = json_array(), *y = json_array();
    for (okra_int k = 0; k < l->width; k++) {
        okra_int in = 0;
        for (okra_int t = 0; t < l->n; t++) {
            okra_int at = place_of(l, truth, t);
            in += at >= 0 && at <= k;
        }
        json_array_append_new(x, json_integer((json_int_t)k + 1));
        json_array_append_new(y, json_real((double)in / (double)l->n));
    }
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:[{s:s, s:o, s:o}]}", "id", "hits",
                     "type", "curve", "title", "Truths among the first k", "x_label", "k",
                     "y_label", "share of the tests", "series", "name", "among the first",
                     "x", x, "y", y);
}

static json_t *calibration(const score_lists *l, const okra_int *truth)
{
    enum { STEPS = 50 };
    json_t *x = json_array(), *y = json_array();
    for (int k = 0; k <= STEPS; k++) {
        okra_int below = 0, all = 0;
        double level = (double)k / STEPS;
        for (okra_int t = 0; t < l->n; t++) {
            okra_int at = place_of(l, truth, t);
            double p = at >= 0 ? l->p[t * l->width + at] : (double)NAN;
            all += !isnan(p);
            below += p <= level;
        }
        json_array_append_new(x, json_real(level));
        json_array_append_new(y, json_real(all > 0 ? (double)below / (double)all : 0));
    }
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:[{s:s, s:o, s:o}, {s:s, s:[f, f], s:[f, f]}]}", "id",
        "calibration", "type", "curve", "title", "p-values of truths in the lists",
        "x_label", "p-value", "y_label", "share at or below it", "series", "name",
        "observed", "x", x, "y", y, "name", "as it should be at most", "x", 0.0, 1.0, "y",
        0.0, 1.0);
}

/* How often the truth (a number of each test, -1: none) is among the first k, and, where
 * there are p-values, how they are spread for the truths that the lists have. */
static void score_lists_figures(const score_lists *l, const okra_int *truth,
                                json_t *figures)
{
    if (l->n > 0 && l->width > 0) {
        json_array_append_new(figures, hits(l, truth));
    }
    if (l->n > 0 && l->p) {
        json_array_append_new(figures, calibration(l, truth));
    }
}

/* ---- the metrics ---- */

/* The same of an index, whose candidates differ. */
static int number_in_index(cli_run *run, const score_fields *f, const okra_data *y,
                           const score_lists *l, okra_int *truth)
{
    char buffer[4096];
    FREED_BY(okra_index_free_at) okra_index *index = NULL;
    TRY(okra_index_open(run->context, cli_find(run, f->candidates, buffer, sizeof buffer),
                        &index));
    TRY(okra_index_find(run->context, index, y, truth));
    for (okra_int k = 0; k < l->n * l->width; k++) {
        if (l->index[k] >= okra_index_lines(index)) {
            return cli_failure(run, "%s: candidate %lld, expected less than %lld",
                               f->lists, (long long)l->index[k],
                               (long long)okra_index_lines(index));
        }
    }
    return CLI_DONE;
}

/* Which object has that row in its file, rows ascend; -1: none. */
static okra_int object_at(const okra_data *data, okra_int row)
{
    okra_int low = 0, high = okra_data_count(data);
    while (low < high) {
        okra_int middle = low + (high - low) / 2;
        if (okra_data_row(data, middle) < row) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return okra_data_row(data, low) == row ? low : -1;
}

/* The number of the true candidate of each test, and lists by the same numbers. */
static int number_truth(cli_run *run, const score_fields *f, const okra_data *y,
                        score_lists *l, okra_int *truth)
{
    char buffer[4096];
    OWNED_MODEL *model = NULL;
    OWNED_DATA *given = NULL;
    OWNED okra_int *same = NULL;
    REFUSE_IF(!*f->candidates && !*f->model,
              "--candidates FILE is missing: the list that %s numbers, or --model MODEL",
              f->lists);
    if (cli_is_index(f->candidates)) {
        return number_in_index(run, f, y, l, truth);
    }
    TRY(*f->candidates
            ? cli_read_candidates(run, f->candidates, NULL, &given)
            : okra_model_load(run->context,
                              cli_find(run, f->model, buffer, sizeof buffer), &model));
    const okra_data *among = model ? okra_model_outputs(model) : given;
    okra_int count = okra_data_count(among);
    MAKE(same, count);
    TRY(okra_candidates_match(y, among, truth));
    TRY(okra_candidates_match(among, among, same));
    for (okra_int k = 0; k < l->n * l->width; k++) {
        okra_int at = l->index[k] < 0 ? -1 : object_at(among, l->index[k]);
        if (l->index[k] >= 0 && at < 0) {
            okra_int end = okra_data_row(among, count - 1) + 1;
            return cli_failure(run, "%s: candidate %lld, expected less than %lld%s",
                               f->lists, (long long)l->index[k], (long long)end,
                               l->index[k] < end ? "; that line was left out" : "");
        }
        if (at >= 0) { /* of equal candidates the first stands for all */
            l->index[k] = same[at];
        }
    }
    return CLI_DONE;
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
        REFUSE_IF(!okra_metric_has(s->spec[k], OKRA_METRIC_INTERVALS),
                  "metric %s has no use of intervals: coverage, set-size", s->spec[k]);
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
    FREED_BY(score_lists_clear) score_lists l = {.n = 0};
    OWNED okra_int *truth = NULL;
    OWNED double *column = NULL;
    MAKE(truth, s->n);
    MAKE(column, s->n);
    CHK(score_lists_read(run, f->lists, s->n, &l));
    CHK(l.bounds ? check_intervals(run, y, &l, s) : number_truth(run, f, y, &l, truth));
    for (size_t k = 0; k < s->count; k++) {
        TRY(measure(run, y, &l, truth, s, k, column));
        s->has[k] = true;
        for (okra_int i = 0; s->each && i < s->n; i++) {
            s->each[(size_t)i * s->count + k] = column[i];
        }
    }
    if (s->figures && l.index) {
        score_lists_figures(&l, truth, s->figures);
    }
    return CLI_DONE;
}
