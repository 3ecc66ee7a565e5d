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

static const okra_option rows[] = {
    {"y", OKRA_OPTION_READ, offsetof(score_fields, y), NULL, 1, 0, NULL, "FILE",
     "The true outputs"},
    {"yhat", OKRA_OPTION_READ, offsetof(score_fields, yhat), "", 1, 0, NULL, "FILE",
     "The predicted outputs, in the same order; given twice or more, they are compared "
     "in pairs with the first"},
    {"metric", OKRA_OPTION_TEXT, offsetof(score_fields, metric), "", 1, 0, NULL, "SPEC",
     "Name:param=value,...; several between commas, or the flag again; 'okra help "
     "metrics' lists them"},
    {"model", OKRA_OPTION_READ, offsetof(score_fields, model), "", 1, 0, NULL, "MODEL",
     "With --x in place of --yhat: the loss of the undecoded prediction in feature space "
     "(metric feature-loss)"},
    {"x", OKRA_OPTION_READ, offsetof(score_fields, x), "", 1, 0, NULL, "FILE",
     "Test inputs for --model; with --yhat they are drawn beside the outputs (--json)"},
    {"sample-weight", OKRA_OPTION_READ, offsetof(score_fields, weight), "", 1, 0, NULL,
     "FILE",
     "How much each pair counts in the mean: one number of 0 or more per row of --y"},
    {"each", OKRA_OPTION_WRITTEN, offsetof(score_fields, each), "", 1, 0, NULL, "FILE",
     "The values of every object, one column a metric"},
    {"image", OKRA_OPTION_TEXT, offsetof(score_fields, image), "", 1, 0, NULL,
     "RxC[:left]",
     "Outputs are images of R rows and C columns: the report of --json shows them, with "
     "--x below their inputs or, :left, right of them"},
    {"lists", OKRA_OPTION_READ, offsetof(score_fields, lists), "", 1, 0, NULL, "FILE",
     "In place of --yhat: what okra predict --top, --set or --interval wrote (.tsv, "
     ".csv), "
     "for hit-rate, mrr, coverage and set-size; of intervals, set-size is their width"},
    {"candidates", OKRA_OPTION_READ, offsetof(score_fields, candidates), "", 1, 0, NULL,
     "FILE",
     "The candidates that the lists number, also an index; those of --model if not "
     "given"},
    {"interval", OKRA_OPTION_NUMBER, offsetof(score_fields, interval), "0", 0, 99.99,
     NULL, "PERCENT",
     "Also standard errors and bootstrap intervals of this coverage, such as 95"},
    {"groups", OKRA_OPTION_READ, offsetof(score_fields, groups), "", 1, 0, NULL, "FILE",
     "The group of every row: intervals and comparisons take whole groups"},
    {0}};

/* A piece "param=value" belongs to the metric before it. */
static bool continues(const char *piece)
{
    size_t length = strcspn(piece, "=:,(");
    return piece[length] == '=';
}

/* Splits at commas outside parentheses. */
static int split(const cli_run *run, const char *list, scores *s)
{
    int depth = 0;
    const char *begin = list;
    for (const char *at = list;; at++) {
        depth += (*at == '(') - (*at == ')');
        bool ends = !*at || (*at == ',' && depth == 0 && !continues(at + 1));
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
    okra_data *x = NULL;
    okra_int height, width;
    bool left;
    int status = image_size(run, f->image, &height, &width, &left);
    if (status == CLI_DONE && height * width > 0 &&
        height * width != okra_data_width(y)) {
        status = cli_usage(run, "--image is '%s', but outputs have %lld values", f->image,
                           (long long)okra_data_width(y));
    }
    if (status == CLI_DONE && *f->x) {
        status = cli_status(run, cli_read(run, f->x, &x));
    }
    if (status == CLI_DONE) {
        score_figures(s->figures, x, y, yhat, height, width, left);
    }
    okra_data_free(x);
    return status;
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
    okra_data *yhat = NULL;
    double *column = malloc((size_t)s->n * sizeof *column + 1);
    int status = cli_status(run, read_predicted(run, f->yhat, y, &yhat));
    s->unknown = unknown_values(y);
    if (status == CLI_DONE && !column) {
        status = cli_failure(run, "out of memory");
    }
    for (size_t k = 0; k < s->count && status == CLI_DONE; k++) {
        okra_status st = okra_metric_is_loss(s->spec[k], &s->loss[k]);
        if (st == OKRA_OK) {
            st = okra_score(run->context, s->spec[k], y, yhat, &s->value[k],
                            s->each ? column : NULL, &s->has[k]);
        }
        status = cli_status(run, st);
        if (status == CLI_DONE && *f->each && !s->has[k]) {
            status = cli_usage(run, "metric %s has no value an object: --each has no use",
                               s->spec[k]);
        }
        for (okra_int i = 0; s->has[k] && s->each && status == CLI_DONE && i < s->n;
             i++) {
            s->each[(size_t)i * s->count + k] = column[i];
            if (*f->each && isnan(column[i])) {
                status = cli_failure(run,
                                     "object %lld of --y (counted from 0) has no "
                                     "known value: --each has no number for it",
                                     (long long)i);
            }
        }
    }
    if (status == CLI_DONE && s->figures) {
        status = draw(run, f, y, yhat, s);
    }
    okra_data_free(yhat);
    free(column);
    return status;
}

static int score_model(cli_run *run, const score_fields *f, const okra_data *y, scores *s)
{
    char buffer[4096];
    okra_model *model = NULL;
    okra_data *x = NULL;
    const char *path = cli_find(run, f->model, buffer, sizeof buffer);
    okra_status st = okra_model_load(run->context, path, &model);
    st = st ? st : cli_read_like(run, f->x, okra_model_inputs(model), &x);
    st = st ? st : okra_model_loss(run->context, model, x, y, &s->value[0], s->each);
    s->loss[0] = true;
    s->has[0] = true;
    okra_model_free(model);
    okra_data_free(x);
    return cli_status(run, st);
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
        if (run->common.quiet) {
            printf("%.10g\n", s->value[k]);
        } else {
            printf("%s\t%.10g\n", s->spec[k], s->value[k]);
        }
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

static int run_score(cli_run *run)
{
    score_fields f;
    scores s = {0};
    okra_data *y = NULL;
    int status = cli_status(run, cli_fields(run, &f));
    status = status ? status : check(run, &f);
    if (status == CLI_DONE && (f.interval > 0 || *f.groups || strchr(f.yhat, '\n'))) {
        return report_start(run, OKRA_AUDIT, (const char *const *)run->typed + 2, NULL);
    }
    if (status == CLI_DONE) {
        status = split(run, *f.model && !*f.lists ? "feature-loss" : f.metric, &s);
    }
    status = status ? status : cli_status(run, cli_read(run, f.y, &y));
    if (status == CLI_DONE && *f.lists && *f.weight) {
        status = cli_usage(run, "every list counts the same: leave out --sample-weight");
    }
    status = status ? status : cli_status(run, cli_weigh(run, f.weight, "none", &y));
    s.n = y ? okra_data_count(y) : 0;
    s.figures = run->common.json ? json_array() : NULL;
    if (status == CLI_DONE && (*f.each || s.figures)) {
        s.each = malloc((size_t)s.n * s.count * sizeof *s.each + 1);
        status = s.each ? CLI_DONE : cli_failure(run, "out of memory");
    }
    if (status == CLI_DONE) {
        status = *f.lists   ? score_listed(run, &f, y, &s)
                 : *f.model ? score_model(run, &f, y, &s)
                            : score_pairs(run, &f, y, &s);
    }
    if (status == CLI_DONE && *f.each) {
        status = cli_status(run, cli_write(run, s.each, s.n, (okra_int)s.count, f.each));
    }
    status = status ? status : print(run, &s);
    for (size_t k = 0; k < s.count; k++) {
        free(s.spec[k]);
    }
    free(s.each);
    json_decref(s.figures);
    okra_data_free(y);
    return status;
}

const cli_command cli_score = {
    .name = "score",
    .purpose = "Measure how far predictions are from the truth",
    .usage = "--y FILE (--yhat FILE --metric SPEC | --model MODEL --x FILE\n       | "
             "--lists FILE --metric SPEC) [flags]",
    .refuses = "engine",
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
