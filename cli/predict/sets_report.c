/*
 * sets_report.c: prediction sets and intervals against the truth, as tables and figures.
 *
 * The p-value of the truth is that of the candidate that is the same object; where there
 * is none, no set holds the truth. Difficulty: test inputs sorted by their largest
 * p-value (how well any candidate fits), four equal parts, hardest first.
 */
#include "predict/sets.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS = 50, BINS = 10, PARTS = 4, LEVELS = 4 };

static double truth_p(const cli_sets_result *r, okra_int t)
{
    return r->truth[t] < 0 ? 0 : r->p[t * r->count + r->truth[t]];
}

/* Of the set of test t at level alpha: its size, and its only or best member. */
static okra_int set_size(const cli_sets_result *r, okra_int t, double alpha,
                         okra_int *best)
{
    okra_int size = 0;
    *best = 0;
    for (okra_int c = 0; c < r->count; c++) {
        const double *p = r->p + t * r->count;
        size += p[c] > alpha;
        *best = p[c] > p[*best] ? c : *best;
    }
    return size;
}

static bool held(const cli_sets_result *r, okra_int t, okra_int j)
{
    const double *b = r->bounds + (t * r->d + j) * 2;
    double y = r->values[t * r->values_ld + j];
    return b[0] <= y && y <= b[1];
}

/* The values of a group of tests at a level: coverage, mean size, single sets, errors
 * among those. */
typedef struct summary {
    double coverage, size, single, wrong;
} summary;

static summary summarise(const cli_sets_result *r, double alpha, const okra_int *group,
                         okra_int which)
{
    summary s = {0};
    okra_int tests = 0, single = 0;
    for (okra_int t = 0; t < r->tests; t++) {
        okra_int best, size;
        if (group && group[t] != which) {
            continue;
        }
        tests++;
        size = set_size(r, t, alpha, &best);
        s.coverage += truth_p(r, t) > alpha;
        s.size += (double)size;
        single += size == 1;
        s.wrong += size == 1 && best != r->truth[t];
    }
    s.wrong = single > 0 ? s.wrong / (double)single : 0;
    s.coverage /= tests > 0 ? (double)tests : 1;
    s.size /= tests > 0 ? (double)tests : 1;
    s.single = (double)single / (tests > 0 ? (double)tests : 1);
    return s;
}

double cli_sets_coverage(const cli_sets_result *r)
{
    okra_int in = 0, all = 0;
    for (okra_int t = 0; t < r->tests; t++) {
        for (okra_int j = 0; j < r->d; j++) {
            double y = r->values[t * r->values_ld + j];
            in += held(r, t, j);
            all += !isnan(y);
        }
        if (r->p) {
            in += truth_p(r, t) > r->alpha;
            all++;
        }
    }
    return all > 0 ? (double)in / (double)all : 0;
}

/* ---- tables ---- */

static json_t *cell(double value)
{
    return json_pack("{s:o}", "okra", isfinite(value) ? json_real(value) : json_null());
}

static json_t *summary_row(const char *label, const summary *s)
{
    return json_pack("{s:s, s:{s:o, s:o, s:o, s:o}}", "label", label, "cells", "coverage",
                     cell(s->coverage), "set size", cell(s->size), "answered",
                     cell(s->single), "wrong answers", cell(s->wrong));
}

static json_t *table_of(const char *id, const char *title, json_t *rows)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:[s, s, s, s], s:o}", "id", id, "title",
                     title, "metric", "share", "better", "neither", "columns", "coverage",
                     "set size", "answered", "wrong answers", "rows", rows);
}

static json_t *levels_table(const cli_sets_result *r)
{
    const double levels[LEVELS] = {r->alpha, 0.05, 0.1, 0.2};
    json_t *rows = json_array();
    for (int k = 0; k < LEVELS; k++) {
        char label[48];
        summary s = summarise(r, levels[k], NULL, 0);
        if (k > 0 && levels[k] == r->alpha) {
            continue;
        }
        snprintf(label, sizeof label, "promised %g", 1 - levels[k]);
        json_array_append_new(rows, summary_row(label, &s));
    }
    return table_of("coverage", "Sets that hold the truth", rows);
}

/* Intervals of one output (only < 0: all) of the tests of a group (codes NULL: all). */
static json_t *interval_row(const cli_sets_result *r, const char *label, okra_int only,
                            const okra_int *codes, okra_int group)
{
    okra_int in = 0, all = 0, count = 0;
    double width = 0;
    for (okra_int t = 0; t < r->tests; t++) {
        for (okra_int j = 0; j < r->d && (!codes || codes[t] == group); j++) {
            const double *b = r->bounds + (t * r->d + j) * 2;
            if (only < 0 || j == only) {
                in += held(r, t, j);
                all += !isnan(r->values[t * r->values_ld + j]);
                width += b[1] - b[0];
                count++;
            }
        }
    }
    return json_pack("{s:s, s:{s:o, s:o}}", "label", label, "cells", "coverage",
                     cell(all > 0 ? (double)in / (double)all : (double)NAN), "mean width",
                     cell(width / (double)(count > 0 ? count : 1)));
}

static json_t *interval_table(const char *id, const char *title, json_t *rows)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:[s, s], s:o}", "id", id, "title", title,
                     "metric", "share", "better", "neither", "columns", "coverage",
                     "mean width", "rows", rows);
}

static json_t *groups_table(const cli_sets_result *r)
{
    const okra_int *codes = okra_data_codes(r->groups);
    json_t *rows = json_array();
    for (okra_int g = 0; codes && g < okra_data_width(r->groups); g++) {
        char label[96];
        okra_int length = 0, first = 0;
        while (first < r->tests && codes[first] != g) {
            first++;
        }
        if (first == r->tests) {
            continue;
        }
        const char *name = okra_data_text(r->groups, first, &length);
        if (name) {
            snprintf(label, sizeof label, "%.*s", (int)(length < 90 ? length : 90), name);
        } else {
            snprintf(label, sizeof label, "group %lld", (long long)g);
        }
        if (r->bounds) {
            json_array_append_new(rows, interval_row(r, label, -1, codes, g));
        } else {
            summary s = summarise(r, r->alpha, codes, g);
            json_array_append_new(rows, summary_row(label, &s));
        }
    }
    return r->bounds ? interval_table("groups", "Intervals by group", rows)
                     : table_of("groups", "Sets by group", rows);
}

static json_t *outputs_table(const cli_sets_result *r)
{
    json_t *rows = json_array();
    for (okra_int j = 0; j < r->d; j++) {
        char label[32];
        snprintf(label, sizeof label, "output %lld", (long long)j + 1);
        json_array_append_new(rows, interval_row(r, label, j, NULL, 0));
    }
    return interval_table("coverage", "Intervals that hold the truth", rows);
}

/* ---- figures ---- */

static json_t *curve(const char *id, const char *title, const char *x_label,
                     const char *y_label, json_t *x, json_t *y, const char *name)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:[{s:s, s:o, s:o}, {s:s, s:[f, f], "
                     "s:[f, f]}]}",
                     "id", id, "type", "curve", "title", title, "x_label", x_label,
                     "y_label", y_label, "series", "name", name, "x", x, "y", y, "name",
                     "promise", "x", 0.0, 1.0, "y", 0.0, 1.0);
}

static json_t *calibration(const cli_sets_result *r)
{
    json_t *x = json_array(), *y = json_array();
    for (int k = 0; k <= STEPS; k++) {
        double alpha = 1 - (double)k / STEPS;
        okra_int in = 0;
        for (okra_int t = 0; t < r->tests; t++) {
            in += truth_p(r, t) > alpha;
        }
        json_array_append_new(x, json_real(1 - alpha));
        json_array_append_new(y, json_real((double)in / (double)r->tests));
    }
    return curve("calibration", "Coverage against the promise", "promised coverage",
                 "coverage", x, y, "observed");
}

static json_t *histogram(const cli_sets_result *r)
{
    okra_int count[BINS] = {0};
    json_t *labels = json_array(), *y = json_array();
    for (okra_int t = 0; t < r->tests; t++) {
        int bin = (int)(truth_p(r, t) * BINS);
        count[bin < BINS ? bin : BINS - 1]++;
    }
    for (int k = 0; k < BINS; k++) {
        char label[16];
        snprintf(label, sizeof label, "%.1f", (double)k / BINS);
        json_array_append_new(labels, json_string(label));
        json_array_append_new(y, json_real((double)count[k] / (double)r->tests));
    }
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:[{s:s, s:o}]}", "id", "p-values",
                     "type", "bars", "title", "p-values of the truth", "y_label", "share",
                     "labels", labels, "series", "name", "from this value on", "y", y);
}

/* Share answered and error among the answers, as the level of rejection falls. */
static json_t *risk(const cli_sets_result *r)
{
    json_t *x = json_array(), *y = json_array();
    for (int k = 1; k < STEPS; k++) {
        summary s = summarise(r, (double)k / STEPS, NULL, 0);
        json_array_append_new(x, json_real(s.single));
        json_array_append_new(y, json_real(s.wrong));
    }
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:[{s:s, s:o, s:o}]}", "id", "risk",
                     "type", "scatter", "title", "Wrong answers against answers given",
                     "x_label", "answered (sets of one)", "y_label",
                     "wrong among the answers", "series", "name", "levels 0.02 to 0.98",
                     "x", x, "y", y);
}

typedef struct hardness {
    double p;
    okra_int test;
} hardness;

static int by_hardness(const void *a, const void *b)
{
    const hardness *p = a, *q = b;
    if (p->p != q->p) {
        return p->p < q->p ? -1 : 1;
    }
    return (p->test > q->test) - (p->test < q->test);
}

static json_t *difficulty(const cli_sets_result *r)
{
    static const char *const names[PARTS] = {"hardest", "hard", "easy", "easiest"};
    hardness *list = malloc((size_t)r->tests * sizeof *list + 1);
    json_t *labels = json_array(), *sizes = json_array(), *coverage = json_array();
    for (okra_int t = 0; list && t < r->tests; t++) {
        okra_int best;
        set_size(r, t, 0, &best);
        list[t] = (hardness){r->p[t * r->count + best], t};
    }
    if (list) {
        qsort(list, (size_t)r->tests, sizeof *list, by_hardness);
    }
    for (okra_int k = 0; list && k < PARTS; k++) {
        okra_int begin = k * r->tests / PARTS, end = (k + 1) * r->tests / PARTS, best;
        double size = 0, in = 0, count = end > begin ? (double)(end - begin) : 1;
        for (okra_int i = begin; i < end; i++) {
            size += (double)set_size(r, list[i].test, r->alpha, &best);
            in += truth_p(r, list[i].test) > r->alpha;
        }
        json_array_append_new(labels, json_string(names[k]));
        json_array_append_new(sizes, json_real(size / count));
        json_array_append_new(coverage, json_real(in / count));
    }
    free(list);
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:[{s:s, s:o}, {s:s, s:o}]}", "id",
                     "difficulty", "type", "bars", "title",
                     "Size and coverage of sets by difficulty", "y_label",
                     "mean size, coverage", "labels", labels, "series", "name",
                     "set size", "y", sizes, "name", "coverage", "y", coverage);
}

json_t *cli_sets_json(const cli_run *run, const cli_sets_result *r)
{
    json_t *result = cli_result(run, "sets", "sets", "Prediction sets with a guarantee");
    json_t *tables = json_object_get(result, "tables");
    json_t *figures = json_object_get(result, "figures");
    json_t *own =
        json_pack("{s:I, s:s, s:f, s:f}", "tests", (json_int_t)r->tests, "conformal",
                  r->how, "alpha", r->alpha, "coverage", cli_sets_coverage(r));
    if (r->tests > 0) {
        json_array_append_new(tables, r->p ? levels_table(r) : outputs_table(r));
    }
    if (r->tests > 0 && r->groups && okra_data_codes(r->groups)) {
        json_array_append_new(tables, groups_table(r));
    }
    if (r->tests > 0 && r->p) {
        json_array_append_new(figures, calibration(r));
        json_array_append_new(figures, histogram(r));
        json_array_append_new(figures, risk(r));
        json_array_append_new(figures, difficulty(r));
    }
    json_object_update(result, own);
    json_decref(own);
    return result;
}
