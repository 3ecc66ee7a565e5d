/*
 * score_figure.c: predictions beside the truth as figures of a report.
 */
#include "score/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 1000, PICTURES = 24 };

/* Rows of vectors. */
typedef struct table {
    const double *values;
    okra_int n, d, ld;
} table;

static table table_of(const okra_data *data)
{
    table t = {0};
    if (data && okra_data_kind(data) == OKRA_DENSE) {
        t.n = okra_data_count(data);
        t.d = okra_data_width(data);
        t.values = okra_data_values(data, &t.ld);
    }
    return t;
}

/* Column j, at most `most` values, evenly spaced. */
static json_t *column(const table *t, okra_int j)
{
    json_t *list = json_array();
    okra_int step = t->n / POINTS + 1;
    for (okra_int i = 0; i < t->n; i += step) {
        double v = t->values[i * t->ld + j];
        json_array_append_new(list, isfinite(v) ? json_real(v) : json_null());
    }
    return list;
}

/* True and predicted outputs over the only input. */
static json_t *fit(const table *x, const table *y, const table *yhat)
{
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:[{s:s,s:o,s:o},{s:s,s:o,s:o}]}", "id", "fit",
                     "type", "scatter", "title", "Outputs over the input", "x_label",
                     "input", "y_label", "output", "series", "name", "true", "x",
                     column(x, 0), "y", column(y, 0), "name", "predicted", "x",
                     column(x, 0), "y", column(yhat, 0));
}

static json_t *against(const table *y, const table *yhat)
{
    json_t *series = json_array();
    for (okra_int j = 0; j < y->d; j++) {
        char name[32];
        snprintf(name, sizeof name, "output %lld", (long long)j + 1);
        json_array_append_new(series, json_pack("{s:s,s:o,s:o}", "name", name, "x",
                                                column(y, j), "y", column(yhat, j)));
    }
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:o}", "id", "against", "type", "scatter",
                     "title", "Predicted against true outputs", "x_label", "true",
                     "y_label", "predicted", "series", series);
}

/* ---- images ---- */

static void append_pixels(json_t *pixels, const double *values, okra_int count)
{
    for (okra_int j = 0; j < count; j++) {
        json_array_append_new(pixels, json_real(values[j]));
    }
}

/* The image of object i, below or right of its input where that is a part of the same
 * picture: `lines` rows of input and output in turn. */
static json_t *image(const table *input, const table *t, okra_int i, okra_int lines)
{
    json_t *pixels = json_array();
    okra_int a = input->d / lines, b = t->d / lines;
    for (okra_int r = 0; r < lines; r++) {
        if (a > 0) {
            append_pixels(pixels, input->values + i * input->ld + r * a, a);
        }
        append_pixels(pixels, t->values + i * t->ld + r * b, b);
    }
    return pixels;
}

static void range(const table *t, double *low, double *high)
{
    for (okra_int i = 0; i < t->n; i++) {
        for (okra_int j = 0; j < t->d; j++) {
            *low = fmin(*low, t->values[i * t->ld + j]);
            *high = fmax(*high, t->values[i * t->ld + j]);
        }
    }
}

static json_t *images(const table *x, const table *y, const table *yhat, okra_int rows,
                      okra_int cols, bool left)
{
    bool whole = x->values && x->n == y->n && x->d % (left ? rows : cols) == 0;
    okra_int lines = left ? rows : 1;
    table above = whole ? *x : (table){0};
    double low = (double)INFINITY, high = -(double)INFINITY;
    json_t *list = json_array();
    range(&above, &low, &high);
    range(y, &low, &high);
    for (okra_int i = 0; i < y->n && i < PICTURES; i++) {
        json_array_append_new(list, json_pack("[o,o]", image(&above, y, i, lines),
                                              image(&above, yhat, i, lines)));
    }
    return json_pack("{s:s,s:s,s:s,s:I,s:I,s:f,s:f,s:[s,s],s:o}", "id", "images", "type",
                     "images", "title",
                     !whole ? "True and predicted outputs"
                     : left ? "Inputs with true and predicted outputs right of them"
                            : "Inputs with true and predicted outputs below",
                     "rows", (json_int_t)(rows + (left ? 0 : above.d / cols)), "cols",
                     (json_int_t)(cols + (left ? above.d / rows : 0)), "low", low, "high",
                     high > low ? high : low + 1, "columns", "true", "predicted",
                     "images", list);
}

/* ---- rankings ---- */

enum { STEPS = 200 };

json_t *cli_ranking_figure(const okra_ranking *ranking, bool roc)
{
    json_t *x = json_array(), *y = json_array();
    double right[STEPS], up[STEPS];
    okra_int count = roc ? STEPS : okra_ranking_steps(ranking, STEPS, right, up);
    for (okra_int i = 0; roc && i < STEPS; i++) {
        okra_ranking_point(ranking, i, STEPS, NULL, &right[i], &up[i], NULL);
    }
    /* ROC begins where nothing is taken; the steps of the other have its area */
    json_array_append_new(x, json_real(0));
    json_array_append_new(y, json_real(roc || count == 0 ? 0 : up[0]));
    for (okra_int i = 0; i < count; i++) {
        json_array_append_new(x, json_real(right[i]));
        json_array_append_new(y, json_real(up[i]));
    }
    double area = roc ? okra_ranking_auc_roc(ranking) : okra_ranking_auc_pr(ranking),
           chance = roc ? 0.5 : okra_ranking_precision(ranking, INT64_MAX);
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:f,s:f,s:[{s:s,s:o,s:o,s:b}]}", "id",
                     roc ? "roc" : "pr", "type", "curve", "title",
                     roc ? "ROC" : "Precision and recall", "x_label",
                     roc ? "false-positive rate" : "recall", "y_label",
                     roc ? "recall" : "precision", "area", area, "base", chance, "series",
                     "name", roc ? "ROC" : "precision", "x", x, "y", y, "steps", !roc);
}

static void curves(json_t *figures, const table *y, const table *yhat)
{
    okra_int n = y->n * y->d, at = 0;
    double *score = cli_alloc(1, (size_t)(n + 1) * sizeof *score);
    unsigned char *positive = cli_alloc(1, (size_t)n + 1);
    okra_ranking *ranking = NULL;
    bool binary = score && positive;
    for (okra_int i = 0; binary && i < y->n; i++) {
        for (okra_int j = 0; j < y->d; j++, at++) {
            double truth = y->values[i * y->ld + j];
            binary = binary && (truth == 0 || truth == 1);
            positive[at] = truth == 1;
            score[at] = yhat->values[i * yhat->ld + j];
        }
    }
    if (binary && okra_ranking_create(n, score, positive, &ranking) == OKRA_OK) {
        json_array_append_new(figures, cli_ranking_figure(ranking, true));
        json_array_append_new(figures, cli_ranking_figure(ranking, false));
    }
    okra_ranking_free(ranking);
    free(score);
    free(positive);
}

void score_figures(json_t *figures, const okra_data *x, const okra_data *y,
                   const okra_data *yhat, okra_int rows, okra_int cols, bool left)
{
    enum { FEW = 3 };
    table a = table_of(x), t = table_of(y), p = table_of(yhat);
    if (!t.values || !p.values || t.n != p.n || t.d != p.d || t.n == 0) {
        return;
    }
    if (a.values && a.n == t.n && a.d == 1 && t.d == 1) {
        json_array_append_new(figures, fit(&a, &t, &p));
    }
    if (rows * cols > 0) {
        json_array_append_new(figures, images(&a, &t, &p, rows, cols, left));
    } else if (t.d <= FEW) {
        json_array_append_new(figures, against(&t, &p));
    }
    curves(figures, &t, &p);
}

/* ---- single values ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

json_t *score_sorted(const double *each, okra_int n, size_t stride, const size_t *columns,
                     char *const *name, size_t count)
{
    json_t *series = json_array();
    double *sorted = cli_alloc(1, (size_t)(n + 1) * sizeof *sorted);
    okra_int step = n / POINTS + 1;
    for (size_t k = 0; sorted && k < count; k++) {
        json_t *x = json_array(), *y = json_array();
        for (okra_int i = 0; i < n; i++) {
            sorted[i] = each[(size_t)i * stride + columns[k]];
        }
        qsort(sorted, (size_t)n, sizeof *sorted, ascending);
        for (okra_int i = 0; i < n; i += step) {
            json_array_append_new(x, json_real(((double)i + 1) / (double)n));
            json_array_append_new(y, isfinite(sorted[i]) ? json_real(sorted[i])
                                                         : json_null());
        }
        json_array_append_new(
            series, json_pack("{s:s,s:o,s:o}", "name", name[columns[k]], "x", x, "y", y));
    }
    free(sorted);
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:o}", "id", "objects", "type", "curve",
                     "title", "Values of the objects, sorted", "x_label",
                     "share of objects", "y_label", "value", "series", series);
}
