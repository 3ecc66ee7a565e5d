/*
 * select_report.c: the tables and drawings of okra select, from the JSON of a result.
 */
#include "select_report.h"

#include "svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *text(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

static double real(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* Axes with more than one value. */
enum { AXES = 64 };
static size_t varied(const json_t *result, const json_t *out[AXES])
{
    const json_t *axes = json_object_get(result, "axes");
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(axes) && count < AXES; i++) {
        const json_t *axis = json_array_get(axes, i);
        if (json_array_size(json_object_get(axis, "values")) > 1) {
            out[count++] = axis;
        }
    }
    return count;
}

/* ---- tables -------------------------------------------------------------------------
 */

static void print_settings(const json_t *result, const json_t *cell)
{
    const json_t *axes = json_object_get(result, "axes");
    for (size_t i = 0; i < json_array_size(axes); i++) {
        const char *name = text(json_array_get(axes, i), "name");
        cli_line(stdout, name, "%s", text(json_object_get(cell, "settings"), name));
    }
}

/* "0.8384 +- 0.0077" */
static const char *value_text(const json_t *object, char *buffer, size_t size)
{
    double mean = real(object, "mean"), error = real(object, "error");
    if (isnan(error)) {
        snprintf(buffer, size, "%.6g", mean);
    } else {
        snprintf(buffer, size, "%.6g +- %.2g", mean, error);
    }
    return buffer;
}

typedef struct ranked {
    const json_t *cell;
    double mean;
    size_t place;
} ranked;

static int by_mean(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    return x->mean != y->mean     ? (x->mean < y->mean ? -1 : 1)
           : x->place != y->place ? (x->place < y->place ? -1 : 1)
                                  : 0;
}

static void print_row(const json_t *const *axes, size_t count, const json_t *cell)
{
    char buffer[64];
    printf("  %-24s", value_text(cell, buffer, sizeof buffer));
    for (size_t i = 0; i < count; i++) {
        const char *name = text(axes[i], "name");
        printf("  %s=%s", name, text(json_object_get(cell, "settings"), name));
    }
    putchar('\n');
}

/* The ten best cells. */
static void print_best(const json_t *result)
{
    enum { SHOWN = 10 };
    const json_t *axes[AXES], *cells = json_object_get(result, "cells");
    size_t varying = varied(result, axes), count = json_array_size(cells);
    ranked *all = malloc((count + 1) * sizeof *all);
    if (!all || count < 2) {
        free(all);
        return;
    }
    double sign = json_is_true(json_object_get(result, "loss")) ? 1 : -1;
    for (size_t i = 0; i < count; i++) {
        const json_t *cell = json_array_get(cells, i);
        double mean = real(cell, "mean");
        all[i] = (ranked){cell, isnan(mean) ? (double)INFINITY : sign * mean, i};
    }
    qsort(all, count, sizeof *all, by_mean);
    printf("\n%zu cells; the best:\n", count);
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        print_row(axes, varying, all[i].cell);
    }
    free(all);
}

static void print_nested(const json_t *result)
{
    char buffer[64];
    const json_t *nested = json_object_get(result, "nested"), *axes[AXES];
    const json_t *folds = json_object_get(nested, "folds");
    size_t varying = varied(result, axes);
    cli_line(stdout, "outer error", "%s over %zu folds",
             value_text(nested, buffer, sizeof buffer), json_array_size(folds));
    for (size_t f = 0; f < json_array_size(folds); f++) {
        const json_t *fold = json_array_get(folds, f);
        printf("  fold %-3zu %-14.6g", f, real(fold, "value"));
        for (size_t i = 0; i < varying; i++) {
            const char *name = text(axes[i], "name");
            printf("  %s=%s", name, text(json_object_get(fold, "settings"), name));
        }
        putchar('\n');
    }
    printf("\nof all of them, by the inner folds:\n");
}

void select_print(const cli_run *run, const json_t *result, const char *model)
{
    char buffer[64];
    const json_t *best = json_object_get(result, "best");
    const char *closed = text(result, "closed_form");
    if (run->common.quiet) {
        printf("%.10g\n", real(best, "mean"));
        return;
    }
    const char *kind = json_object_get(result, "nodes") ? "nodes" : "pairs";
    cli_line(stdout, "cv", "%s of %lld %s, %s", text(result, "cv"),
             (long long)json_integer_value(json_object_get(result, kind)), kind,
             strcmp(closed, "yes") == 0    ? "in closed form"
             : strcmp(closed, "some") == 0 ? "partly in closed form"
                                           : "fitted anew for every fold");
    if (json_object_get(result, "nested")) {
        print_nested(result);
    }
    cli_line(stdout, text(result, "metric"), "%s",
             value_text(best, buffer, sizeof buffer));
    if (json_object_get(best, "gcv")) {
        cli_line(stdout, "gcv", "%.6g", real(best, "gcv"));
    }
    cli_line(stdout, "method", "%s", text(result, "method"));
    print_settings(result, best);
    if (*model) {
        cli_line(stdout, "model", "%s", model);
    }
    cli_line(stdout, "time", "%s",
             cli_seconds(real(result, "seconds"), buffer, sizeof buffer));
    print_best(result);
}

/* ---- CSV ----------------------------------------------------------------------------
 */

static void put_quoted(FILE *out, const char *value)
{
    if (!strpbrk(value, ",\"\n")) {
        fputs(value, out);
        return;
    }
    fputc('"', out);
    for (; *value; value++) {
        fputs(*value == '"' ? "\"\"" : (char[]){*value, 0}, out);
    }
    fputc('"', out);
}

static void put_number(FILE *out, double value)
{
    if (isnan(value)) {
        fputc(',', out);
    } else {
        fprintf(out, ",%.17g", value);
    }
}

int select_cells(const cli_run *run, const json_t *result, const char *file)
{
    cli_file *to = cli_file_open(run, file);
    if (!to) {
        return CLI_FAILED;
    }
    FILE *out = cli_file_stream(to);
    const json_t *axes = json_object_get(result, "axes");
    const json_t *cells = json_object_get(result, "cells");
    const json_t *first = json_object_get(json_array_get(cells, 0), "values");
    for (size_t i = 0; i < json_array_size(axes); i++) {
        fprintf(out, "%s,", text(json_array_get(axes, i), "name"));
    }
    fputs("mean,error,gcv,refined", out);
    for (size_t f = 0; f < json_array_size(first); f++) {
        fprintf(out, ",fold%zu", f);
    }
    fputc('\n', out);
    for (size_t c = 0; c < json_array_size(cells); c++) {
        const json_t *cell = json_array_get(cells, c);
        const json_t *values = json_object_get(cell, "values");
        for (size_t i = 0; i < json_array_size(axes); i++) {
            const char *name = text(json_array_get(axes, i), "name");
            fputs(i ? "," : "", out);
            put_quoted(out, text(json_object_get(cell, "settings"), name));
        }
        if (json_array_size(axes) == 0) {
            fputc(' ', out);
        }
        put_number(out, real(cell, "mean"));
        put_number(out, real(cell, "error"));
        put_number(out, real(cell, "gcv"));
        fputs(json_is_true(json_object_get(cell, "refined")) ? ",1" : ",0", out);
        for (size_t f = 0; f < json_array_size(values); f++) {
            const json_t *v = json_array_get(values, f);
            put_number(out, json_is_number(v) ? json_number_value(v) : (double)NAN);
        }
        fputc('\n', out);
    }
    return cli_file_close(run, to, CLI_DONE);
}

/* ---- drawings -----------------------------------------------------------------------
 */

typedef struct map {
    const json_t *rows, *cols; /* axes; rows may be NULL */
    size_t height, width;
    double *best; /* height x width: the best mean over all other axes, NaN if none */
    double low, high;
    bool loss;
} map;

/* How far apart two texts are that differ in one positive number: by its logarithm; inf:
 * in more. */
static double apart(const char *a, const char *b)
{
    size_t same = 0;
    while (a[same] && a[same] == b[same]) {
        same++;
    }
    if (!a[same] && !b[same]) {
        return 0;
    }
    while (same > 0 && strchr("0123456789.e+-", a[same - 1])) {
        same--;
    }
    char *end_a = NULL, *end_b = NULL;
    double x = strtod(a + same, &end_a), y = strtod(b + same, &end_b);
    bool numbers = end_a != a + same && end_b != b + same && x > 0 && y > 0;
    return numbers && strcmp(end_a, end_b) == 0 ? fabs(log(x / y)) : (double)INFINITY;
}

/* Where a cell is drawn on an axis: at the nearest value, since random searches lie
 * between them. */
static size_t place_of(const json_t *axis, const json_t *cell)
{
    const json_t *values = json_object_get(axis, "values");
    const char *value = text(json_object_get(cell, "settings"), text(axis, "name"));
    double least = (double)INFINITY;
    size_t place = SIZE_MAX;
    for (size_t i = 0; i < json_array_size(values); i++) {
        double d = apart(json_string_value(json_array_get(values, i)), value);
        if (d < least) {
            least = d;
            place = i;
        }
    }
    return json_is_true(json_object_get(cell, "refined")) ? SIZE_MAX : place;
}

static bool fill(const json_t *result, map *m)
{
    const json_t *axes[AXES], *cells = json_object_get(result, "cells");
    size_t count = varied(result, axes);
    if (count == 0) {
        return false;
    }
    m->cols = axes[count - 1];
    m->rows = count > 1 ? axes[count - 2] : NULL;
    m->width = json_array_size(json_object_get(m->cols, "values"));
    m->height = m->rows ? json_array_size(json_object_get(m->rows, "values")) : 1;
    m->best = malloc(m->height * m->width * sizeof *m->best);
    m->loss = json_is_true(json_object_get(result, "loss"));
    for (size_t i = 0; m->best && i < m->height * m->width; i++) {
        m->best[i] = (double)NAN;
    }
    m->low = (double)INFINITY;
    m->high = -(double)INFINITY;
    for (size_t c = 0; m->best && c < json_array_size(cells); c++) {
        const json_t *cell = json_array_get(cells, c);
        size_t i = m->rows ? place_of(m->rows, cell) : 0, j = place_of(m->cols, cell);
        double mean = real(cell, "mean");
        if (i == SIZE_MAX || j == SIZE_MAX || isnan(mean)) {
            continue;
        }
        double *at = &m->best[i * m->width + j];
        *at = isnan(*at) ? mean : m->loss ? fmin(*at, mean) : fmax(*at, mean);
    }
    for (size_t i = 0; m->best && i < m->height * m->width; i++) {
        if (!isnan(m->best[i])) {
            m->low = fmin(m->low, m->best[i]);
            m->high = fmax(m->high, m->best[i]);
        }
    }
    return true;
}

static double share(const map *m, double value)
{
    return m->high > m->low ? (value - m->low) / (m->high - m->low) : 0.5;
}

/* The part of a value text that tells the cells apart, cut to fit. */
static const char *label(const json_t *axis, size_t i, char *buffer, size_t size)
{
    const char *value =
        json_string_value(json_array_get(json_object_get(axis, "values"), i));
    const char *number = strpbrk(value, "0123456789");
    snprintf(buffer, size, "%.14s", number && strchr(value, '(') ? number : value);
    return buffer;
}

static void draw_curve(svg *s, const map *m, double left, double top, double width,
                       double height)
{
    char buffer[64];
    double before_x = 0, before_y = 0;
    bool before = false;
    svg_line(s, left, top, left, top + height, "black");
    svg_line(s, left, top + height, left + width, top + height, "black");
    for (int t = 0; t <= 4; t++) {
        snprintf(buffer, sizeof buffer, "%.4g", m->low + (m->high - m->low) * t / 4);
        svg_text(s, left - 6, top + height * (4 - t) / 4 + 4, 11, "end", buffer);
    }
    for (size_t j = 0; j < m->width; j++) {
        double x = left + width * ((double)j + 0.5) / (double)m->width;
        if (m->width <= 12 || j % (m->width / 10 + 1) == 0) {
            svg_text(s, x, top + height + 16, 10, "middle",
                     label(m->cols, j, buffer, sizeof buffer));
        }
        if (isnan(m->best[j])) {
            before = false;
            continue;
        }
        double y = top + height * (1 - share(m, m->best[j]));
        if (before) {
            svg_line(s, before_x, before_y, x, y, "steelblue");
        }
        svg_circle(s, x, y, 3, "steelblue");
        before = true;
        before_x = x;
        before_y = y;
    }
}

/* White is best; black is worst; what was not evaluated is striped out in red. */
static void draw_map(svg *s, const map *m, double left, double top, double width,
                     double height)
{
    char buffer[64], fill_text[16];
    double w = width / (double)m->width, h = height / (double)m->height;
    for (size_t i = 0; i < m->height; i++) {
        for (size_t j = 0; j < m->width; j++) {
            double v = m->best[i * m->width + j];
            double good = m->loss ? 1 - share(m, v) : share(m, v);
            unsigned gray = isnan(v) ? 0 : (unsigned)(40 + 215 * good) & 0xff;
            snprintf(fill_text, sizeof fill_text, isnan(v) ? "#c04040" : "#%02x%02x%02x",
                     gray, gray, gray);
            svg_rect(s, left + (double)j * w, top + (double)i * h, w, h, fill_text);
        }
        if (m->height <= 30) {
            svg_text(s, left - 6, top + ((double)i + 0.5) * h + 4, 10, "end",
                     label(m->rows, i, buffer, sizeof buffer));
        }
    }
    for (size_t j = 0; j < m->width; j++) {
        if (m->width <= 12 || j % (m->width / 10 + 1) == 0) {
            svg_text(s, left + ((double)j + 0.5) * w, top + height + 16, 10, "middle",
                     label(m->cols, j, buffer, sizeof buffer));
        }
    }
}

int select_plot(const cli_run *run, const json_t *result, const char *file)
{
    enum { WIDTH = 640, HEIGHT = 400, LEFT = 120, TOP = 40, RIGHT = 20, BOTTOM = 50 };
    char title[160];
    map m = {0};
    if (!fill(result, &m)) {
        return cli_usage(run, "--plot needs a grid, but every flag has one value");
    }
    cli_file *to = m.best ? cli_file_open(run, file) : NULL;
    if (!to) {
        free(m.best);
        return CLI_FAILED;
    }
    svg s = svg_begin(cli_file_stream(to), WIDTH, HEIGHT);
    double width = WIDTH - LEFT - RIGHT, height = HEIGHT - TOP - BOTTOM;
    if (m.rows) {
        snprintf(title, sizeof title, "%s: %.4g (best) to %.4g", text(result, "metric"),
                 m.loss ? m.low : m.high, m.loss ? m.high : m.low);
        draw_map(&s, &m, LEFT, TOP, width, height);
        svg_text(&s, 8, TOP - 8, 12, "start", text(m.rows, "name"));
    } else {
        snprintf(title, sizeof title, "%s", text(result, "metric"));
        draw_curve(&s, &m, LEFT, TOP, width, height);
    }
    svg_text(&s, LEFT + width / 2, 20, 14, "middle", title);
    svg_text(&s, LEFT + width / 2, HEIGHT - 12, 12, "middle", text(m.cols, "name"));
    svg_end(&s);
    free(m.best);
    return cli_file_close(run, to, CLI_DONE);
}
