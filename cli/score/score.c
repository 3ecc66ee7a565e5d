/*
 * score.c: okra score: how far predictions are from the truth.
 */
#include "commands.h"
#include "report/report.h"
#include "score/score.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS score_fields
static const okra_option rows[] = {
    ROW(READ, "y", y, NULL, "FILE", "The true outputs"),
    ROW(READ, "yhat", yhat, "", "FILE",
        "The predicted outputs, in the same order; given twice or more, they are "
        "compared in pairs with the first"),
    ROW(TEXT, "metric", metric, "", "SPEC",
        "Name:param=value,...; several between commas, or the flag again; 'okra help "
        "metrics' lists them"),
    ROW(READ, "model", model, "", "MODEL",
        "With --x in place of --yhat: the loss of the undecoded prediction in feature "
        "space (metric feature-loss)"),
    ROW(READ, "x", x, "", "FILE",
        "Test inputs for --model; with --yhat they are drawn beside the outputs "
        "(--json)"),
    ROW(READ, "sample-weight", weight, "", "FILE",
        "How much each pair counts in the mean: one number of 0 or more per row of --y"),
    ROW(WRITTEN, "each", each, "", "FILE",
        "The values of every object, one column a metric"),
    ROW(TEXT, "image", image, "", "RxC[:left]",
        "Outputs are images of R rows and C columns: the report of --json shows them, "
        "with --x below their inputs or, :left, right of them"),
    ROW(READ, "lists", lists, "", "FILE",
        "In place of --yhat: what okra predict --top, --set or --interval wrote (.tsv, "
        ".csv), for hit-rate, mrr, coverage and set-size; of intervals, set-size is "
        "their width"),
    ROW(READ, "candidates", candidates, "", "FILE",
        "The candidates that the lists number, also an index; those of --model if not "
        "given"),
    RANGE(NUMBER, "interval", interval, "0", 0, 99.99, "PERCENT",
          "Also standard errors and bootstrap intervals of this coverage, such as 95"),
    ROW(READ, "groups", groups, "", "FILE",
        "The group of every row: intervals and comparisons take whole groups"),
    {0}};

/* Splits at commas outside parentheses, but for "param=value", which belongs to the
 * metric before it. */
static int split(const cli_run *run, const char *list, scores *s)
{
    int depth = 0;
    const char *begin = list;
    for (const char *at = list;; at++) {
        depth += (*at == '(') - (*at == ')');
        bool ends =
            !*at || (*at == ',' && depth == 0 && at[1 + strcspn(at + 1, "=:,(")] != '=');
        REFUSE_IF(ends && (at == begin || s->count == METRICS),
                  "--metric is '%s', expected names between commas", list);
        if (ends) {
            s->spec[s->count] = strndup(begin, (size_t)(at - begin));
            if (!s->spec[s->count++]) {
                return cli_failure(run, "out of memory");
            }
            begin = at + 1;
        }
        if (!*at) {
            return CLI_DONE;
        }
    }
}

/* "16x8"; 0 x 0 of an empty text. */
static int image_size(const cli_run *run, const char *text, okra_int *height,
                      okra_int *width, bool *left)
{
    long long r = 0, c = 0;
    int used = 0;
    bool good = !*text || (sscanf(text, "%lldx%lld%n", &r, &c, &used) == 2 && r > 0 &&
                           c > 0 && (!text[used] || strcmp(text + used, ":left") == 0));
    *left = good && *text && text[used];
    *height = r;
    *width = c;
    return good ? CLI_DONE
                : cli_usage(run,
                            "--image is '%s', expected ROWSxCOLUMNS, such as 16x16, or "
                            "16x8:left",
                            text);
}

/* Figures of predictions beside the truth. */
static int draw(cli_run *run, const score_fields *f, const okra_data *y,
                const okra_data *yhat, scores *s)
{
    OWNED_DATA *x = NULL;
    okra_int height, width;
    bool left;
    CHK(image_size(run, f->image, &height, &width, &left));
    REFUSE_IF(height * width > 0 && height * width != okra_data_width(y),
              "--image is '%s', but outputs have %lld values", f->image,
              (long long)okra_data_width(y));
    TRY(*f->x ? cli_read(run, f->x, &x) : OKRA_OK);
    score_figures(s->figures, x, y, yhat, height, width, left);
    return CLI_DONE;
}

/* Values of --y that are not known. */
static okra_int unknown_values(const okra_data *y)
{
    okra_int ld = 0, count = 0;
    const double *values = okra_data_values(y, &ld);
    for (okra_int i = 0; values && i < okra_data_count(y); i++) {
        for (okra_int j = 0; j < okra_data_width(y); j++) {
            count += isnan(values[i * ld + j]);
        }
    }
    return count;
}

/* Names that okra predict wrote are classes where the truth is. */
static okra_status read_predicted(cli_run *run, const char *spec, const okra_data *y,
                                  okra_data **out)
{
    char classes[4096];
    okra_status st = cli_read_like(run, spec, y, out);
    if (st != OKRA_OK || okra_data_kind(y) != OKRA_LABELS ||
        okra_data_kind(*out) != OKRA_STRINGS || strcmp(spec, "-") == 0 ||
        snprintf(classes, sizeof classes, "labels:%s", spec) >= (int)sizeof classes) {
        return st;
    }
    okra_data_free(*out);
    *out = NULL;
    return cli_read(run, classes, out);
}

static int score_pairs(cli_run *run, const score_fields *f, const okra_data *y, scores *s)
{
    OWNED_DATA *yhat = NULL;
    OWNED double *column = NULL;
    MAKE(column, s->n);
    TRY(read_predicted(run, f->yhat, y, &yhat));
    s->unknown = unknown_values(y);
    for (size_t k = 0; k < s->count; k++) {
        TRY(okra_metric_is_loss(s->spec[k], &s->loss[k]));
        TRY(okra_score(run->context, s->spec[k], y, yhat, &s->value[k],
                       s->each ? column : NULL, &s->has[k]));
        REFUSE_IF(*f->each && !s->has[k],
                  "metric %s has no value an object: --each has no use", s->spec[k]);
        for (okra_int i = 0; s->has[k] && s->each && i < s->n; i++) {
            s->each[(size_t)i * s->count + k] = column[i];
            if (*f->each && isnan(column[i])) {
                return cli_failure(run,
                                   "object %lld of --y (counted from 0) has no known "
                                   "value: --each has no number for it",
                                   (long long)i);
            }
        }
    }
    return s->figures ? draw(run, f, y, yhat, s) : CLI_DONE;
}

static int score_model(cli_run *run, const score_fields *f, const okra_data *y, scores *s)
{
    char buffer[4096];
    OWNED_MODEL *model = NULL;
    OWNED_DATA *x = NULL;
    TRY(okra_model_load(run->context, cli_find(run, f->model, buffer, sizeof buffer),
                        &model));
    TRY(cli_read_like(run, f->x, okra_model_inputs(model), &x));
    s->loss[0] = s->has[0] = true;
    return cli_status(run,
                      okra_model_loss(run->context, model, x, y, &s->value[0], s->each));
}

static void draw_sorted(const scores *s)
{
    size_t columns[METRICS], count = 0;
    for (size_t k = 0; k < s->count; k++) {
        if (s->has[k]) {
            columns[count++] = k;
        }
    }
    if (count > 0 && s->n > 0) {
        json_array_append_new(
            s->figures, score_sorted(s->each, s->n, s->count, columns, s->spec, count));
    }
}

/* The scores, and the same as a table that okra report draws. */
static json_t *as_json(const cli_run *run, const scores *s)
{
    json_t *list = json_array(), *lines = json_array();
    for (size_t k = 0; k < s->count; k++) {
        json_array_append_new(list, json_pack("{s:s, s:f, s:b}", "metric", s->spec[k],
                                              "value", s->value[k], "loss", s->loss[k]));
        json_array_append_new(lines, json_pack("{s:s, s:{s:{s:f}}}", "label", s->spec[k],
                                               "cells", "value", "okra", s->value[k]));
    }
    json_t *result = cli_result(run, "score", "score", "Predictions against the truth");
    json_object_set_new(result, "count", json_integer((json_int_t)s->n));
    json_object_set_new(result, "scores", list);
    if (s->unknown > 0) {
        json_object_set_new(result, "missing", json_integer((json_int_t)s->unknown));
    }
    json_array_append_new(json_object_get(result, "tables"),
                          json_pack("{s:s, s:s, s:s, s:s, s:[s], s:o}", "id", "scores",
                                    "title", "Mean over the objects", "metric",
                                    "see each row", "better", "neither", "columns",
                                    "value", "rows", lines));
    draw_sorted(s);
    json_object_set(result, "figures", s->figures);
    return result;
}

static int print(const cli_run *run, const scores *s)
{
    if (run->common.json) {
        return cli_print_json(run, as_json(run, s));
    }
    if (s->unknown > 0 && !run->common.quiet) {
        fprintf(stderr, "okra score: %lld missing values of --y are left out\n",
                (long long)s->unknown);
    }
    for (size_t k = 0; k < s->count; k++) {
        bool bare = run->common.quiet;
        printf("%s%s%.10g\n", bare ? "" : s->spec[k], bare ? "" : "\t", s->value[k]);
    }
    return CLI_DONE;
}

static int check(const cli_run *run, const score_fields *f)
{
    if (*f->lists) {
        return *f->yhat     ? cli_usage(run, "give --yhat or --lists, not both")
               : *f->metric ? CLI_DONE
                            : cli_usage(run, "--metric SPEC is missing: hit-rate, mrr, "
                                             "coverage or set-size");
    }
    REFUSE_IF(*f->candidates, "--candidates has no use without --lists");
    REFUSE_IF(*f->model ? *f->yhat || !*f->x : !*f->yhat,
              "give --yhat FILE, or --model MODEL and --x FILE");
    /* What --model means, said aloud: there is no other metric of undecoded predictions.
     */
    if (*f->model && *f->metric && strcmp(f->metric, "feature-loss") != 0) {
        return cli_usage(
            run,
            "--model scores undecoded predictions by feature-loss, not '%s'; "
            "for other metrics decode with 'okra predict' and give --yhat",
            f->metric);
    }
    REFUSE_IF(!*f->model && !*f->metric, "--metric SPEC is missing: %s", rows[2].help);
    return CLI_DONE;
}

static void clear(scores *s)
{
    for (size_t k = 0; k < s->count; k++) {
        free(s->spec[k]);
    }
    free(s->each);
    json_decref(s->figures);
}

static int run_score(cli_run *run)
{
    score_fields f;
    FREED_BY(clear) scores s = {.n = 0};
    OWNED_DATA *y = NULL;
    TRY(cli_fields(run, &f));
    CHK(check(run, &f));
    if (f.interval > 0 || *f.groups || strchr(f.yhat, '\n')) {
        return report_start(run, OKRA_AUDIT, (const char *const *)run->typed + 2, NULL);
    }
    CHK(split(run, *f.model && !*f.lists ? "feature-loss" : f.metric, &s));
    TRY(cli_read(run, f.y, &y));
    REFUSE_IF(*f.lists && *f.weight,
              "every list counts the same: leave out --sample-weight");
    TRY(cli_weigh(run, f.weight, "none", &y));
    s.n = okra_data_count(y);
    s.figures = run->common.json ? json_array() : NULL;
    if (*f.each || s.figures) {
        MAKE(s.each, (size_t)s.n * s.count);
    }
    CHK(*f.lists   ? score_listed(run, &f, y, &s)
        : *f.model ? score_model(run, &f, y, &s)
                   : score_pairs(run, &f, y, &s));
    TRY(*f.each ? cli_write(run, s.each, s.n, (okra_int)s.count, f.each) : OKRA_OK);
    return print(run, &s);
}

const cli_command cli_score = {
    .name = "score",
    .purpose = "Measure how far predictions are from the truth",
    .usage = "--y FILE (--yhat FILE --metric SPEC | --model MODEL --x FILE\n       | "
             "--lists FILE --metric SPEC) [flags]",
    .refuses = "engine bag",
    .gathers = " yhat ",
    .about = "One line a metric: its name, a tab, the mean over objects; with --quiet "
             "the values alone.\n",
    .examples =
        "okra score --y test_y.npy --yhat predicted.npy --metric rbf-loss:sigma=12\n"
        "okra score --y test_y.npy --yhat predicted.npy --metric mse,mae --json\n"
        "okra score --y test_y.npy --yhat predicted.npy --metric mse --x test_x.npy \\\n"
        "    --image 8x16 --json >score.json && okra report score.json -o score.html\n"
        "okra score --y test_y.npy --model digits.okra --x test_x.npy\n"
        "okra score --y test_y.npy --yhat a.npy --yhat b.npy --metric mse --interval 95\n"
        "okra score --y test.smi --lists top.tsv --model m.okra --metric "
        "hit-rate:k=5,mrr\n",
    .own = {"score", rows, sizeof(score_fields)},
    .run = run_score,
};
