/*
 * select_report.c: what okra select prints, from the JSON of a result, and the same as a
 * result that okra-report draws.
 */
#include "train/select_report.h"
#include "report/report.h"

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

size_t select_varied(const json_t *result, const json_t *out[SELECT_AXES])
{
    const json_t *axes = json_object_get(result, "axes");
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(axes) && count < SELECT_AXES; i++) {
        const json_t *axis = json_array_get(axes, i);
        if (json_array_size(json_object_get(axis, "values")) > 1) {
            out[count++] = axis;
        }
    }
    return count;
}

/* ---- tables ---- */

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

/* The cells, best first, those without a value last; NULL: no memory. */
static ranked *best_first(const json_t *result, size_t *count)
{
    const json_t *cells = json_object_get(result, "cells");
    double sign = json_is_true(json_object_get(result, "loss")) ? 1 : -1;
    *count = json_array_size(cells);
    ranked *all = cli_alloc(1, (*count + 1) * sizeof *all);
    for (size_t i = 0; all && i < *count; i++) {
        const json_t *cell = json_array_get(cells, i);
        double mean = real(cell, "mean");
        all[i] = (ranked){cell, isnan(mean) ? (double)INFINITY : sign * mean, i};
    }
    if (all) {
        qsort(all, *count, sizeof *all, by_mean);
    }
    return all;
}

enum { SHOWN = 10 }; /* best cells */

static void print_best(const json_t *result)
{
    const json_t *axes[SELECT_AXES];
    size_t varying = select_varied(result, axes), count;
    ranked *all = best_first(result, &count);
    if (all && count > 1) {
        printf("\n%zu cells; the best:\n", count);
        for (size_t i = 0; i < count && i < SHOWN; i++) {
            print_row(axes, varying, all[i].cell);
        }
    }
    free(all);
}

static void print_nested(const json_t *result)
{
    char buffer[64];
    const json_t *nested = json_object_get(result, "nested"), *axes[SELECT_AXES];
    const json_t *folds = json_object_get(nested, "folds");
    size_t varying = select_varied(result, axes);
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
    if (json_object_get(result, "output_lambda")) {
        cli_line(stdout, "of one lambda", "%.6g", real(best, "mean"));
        cli_line(stdout, "of each output", "%.6g", real(result, "output_loss"));
        cli_line(stdout, "output-lambda", "%.200s%s", text(result, "output_lambda"),
                 strlen(text(result, "output_lambda")) > 200 ? "..." : "");
    }
    cli_line_align(stdout, result);
    if (*model) {
        cli_line(stdout, "model", "%s", model);
    }
    cli_line(stdout, "time", "%s",
             cli_seconds(real(result, "seconds"), buffer, sizeof buffer));
    if (*text(result, "command")) {
        cli_line(stdout, "the same", "%s", text(result, "command"));
    }
    print_best(result);
}

/* ---- CSV ---- */

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

/* ---- figures ---- */

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
    const char *value =
        cli_text(json_object_get(cell, "settings"), text(axis, "name"), "");
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

/* The grid that is drawn: the last two axes that vary, or the one. */
typedef struct map {
    const json_t *rows, *cols; /* axes; rows may be NULL */
    size_t height, width;
    const json_t **best; /* height x width: the best cell over all other axes, or NULL */
} map;

static size_t length_of(const json_t *axis)
{
    return json_array_size(json_object_get(axis, "values"));
}

static double mean_of(const json_t *cell)
{
    return real(cell, "mean");
}

/* False where nothing varies or there is no memory. */
static bool fill(const json_t *result, map *m)
{
    const json_t *axes[SELECT_AXES], *cells = json_object_get(result, "cells");
    bool loss = json_is_true(json_object_get(result, "loss"));
    size_t count = select_varied(result, axes);
    if (count == 0) {
        return false;
    }
    m->cols = axes[count - 1];
    m->rows = count > 1 ? axes[count - 2] : NULL;
    m->width = length_of(m->cols);
    m->height = m->rows ? length_of(m->rows) : 1;
    m->best = cli_alloc(m->height * m->width, sizeof *m->best);
    for (size_t c = 0; m->best && c < json_array_size(cells); c++) {
        const json_t *cell = json_array_get(cells, c);
        size_t i = m->rows ? place_of(m->rows, cell) : 0, j = place_of(m->cols, cell);
        double mean = mean_of(cell);
        if (i == SIZE_MAX || j == SIZE_MAX || isnan(mean)) {
            continue;
        }
        const json_t **at = &m->best[i * m->width + j];
        if (!*at || (loss ? mean < mean_of(*at) : mean > mean_of(*at))) {
            *at = cell;
        }
    }
    return m->best != NULL;
}

/* The values of an axis: numbers where all are, else texts, shortened to what tells
 * kernel expressions apart. */
static json_t *places(const json_t *axis, bool *numbers)
{
    json_t *list = json_array(), *value;
    size_t i;
    *numbers = true;
    json_array_foreach(json_object_get(axis, "values"), i, value)
    {
        char *end;
        double number = strtod(json_string_value(value), &end);
        *numbers = *numbers && !*end && number > 0;
    }
    json_array_foreach(json_object_get(axis, "values"), i, value)
    {
        const char *text = json_string_value(value);
        json_array_append_new(list, *numbers ? json_real(strtod(text, NULL))
                                             : json_string(text));
    }
    return list;
}

static json_t *number_or_null(const json_t *cell, const char *key)
{
    const json_t *value = json_object_get(cell, key);
    return json_is_number(value) ? json_real(json_number_value(value)) : json_null();
}

static json_t *heat_map(const json_t *result, const map *m, bool loss)
{
    bool numbers;
    json_t *values = json_array();
    for (size_t i = 0; i < m->height; i++) {
        json_t *row = json_array();
        for (size_t j = 0; j < m->width; j++) {
            json_array_append_new(row, number_or_null(m->best[i * m->width + j], "mean"));
        }
        json_array_append_new(values, row);
    }
    json_t *x = places(m->cols, &numbers), *y = places(m->rows, &numbers);
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:o,s:o,s:o,s:s}", "id", "grid", "type",
                     "heatmap", "title", text(result, "metric"), "x_label",
                     text(m->cols, "name"), "y_label", text(m->rows, "name"), "x", x, "y",
                     y, "values", values, "better", loss ? "lower" : "higher");
}

/* A curve with the standard error as its band; bars where the axis holds no numbers. */
static json_t *curve(const json_t *result, const map *m)
{
    bool numbers;
    json_t *x = places(m->cols, &numbers), *y = json_array(), *sd = json_array();
    const char *metric = text(result, "metric");
    for (size_t j = 0; j < m->width; j++) {
        json_array_append_new(y, number_or_null(m->best[j], "mean"));
        json_array_append_new(sd, number_or_null(m->best[j], "error"));
    }
    if (!numbers) {
        json_decref(sd);
        return json_pack("{s:s,s:s,s:s,s:s,s:o,s:[{s:s,s:o}]}", "id", "grid", "type",
                         "bars", "title", metric, "y_label", metric, "labels", x,
                         "series", "name", text(m->cols, "name"), "y", y);
    }
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:b,s:[{s:s,s:o,s:o,s:o}]}", "id", "grid",
                     "type", "curve", "title", metric, "x_label", text(m->cols, "name"),
                     "y_label", metric, "log_x", true, "series", "name", metric, "x", x,
                     "y", y, "sd", sd);
}

static json_t *select_figure(const json_t *result)
{
    map m = {0};
    json_t *figure = NULL;
    if (fill(result, &m)) {
        bool loss = json_is_true(json_object_get(result, "loss"));
        figure = m.rows ? heat_map(result, &m, loss) : curve(result, &m);
    }
    free(m.best);
    return figure;
}

int select_plot(const cli_run *run, json_t *selection, const char *file)
{
    json_t *result = select_result(run, selection);
    bool drawn = json_array_size(json_object_get(result, "figures")) > 0;
    int status =
        drawn ? report_draw(run, result, file, "", "grid")
              : cli_usage(run, "--plot needs a grid, but every flag has one value");
    json_decref(result);
    return status;
}

/* ---- tables of a page ---- */

/* "rbf(sigma=2), 0.01": the values of the axes that vary; of all where none does. */
static void settings_text(const json_t *result, const json_t *settings, char *out,
                          size_t size)
{
    const json_t *axes[SELECT_AXES];
    size_t count = select_varied(result, axes), used = 0;
    snprintf(out, size, "all");
    for (size_t k = 0; k < count && used < size; k++) {
        const char *name = text(axes[k], "name");
        used += (size_t)snprintf(out + used, size - used, "%s%s %s", k ? ", " : "", name,
                                 cli_text(settings, name, ""));
    }
}

static json_t *one_cell(const char *name, const json_t *value)
{
    return json_pack("{s:{s:O}}", name, "okra", value);
}

/* A row with a mean and its standard error. */
static json_t *row_of(const char *label, const json_t *object)
{
    const json_t *error = json_object_get(object, "error");
    json_t *cells = one_cell("mean", json_object_get(object, "mean"));
    if (json_is_number(error)) {
        json_object_set_new(cells, "standard error", json_pack("{s:O}", "okra", error));
    }
    return json_pack("{s:s,s:o}", "label", label, "cells", cells);
}

static json_t *best_table(const json_t *result, const char *better)
{
    size_t count;
    ranked *all = best_first(result, &count);
    json_t *rows = json_array();
    for (size_t c = 0; all && c < count && c < SHOWN && isfinite(all[c].mean); c++) {
        char label[512];
        settings_text(result, json_object_get(all[c].cell, "settings"), label,
                      sizeof label);
        json_array_append_new(rows, row_of(label, all[c].cell));
    }
    free(all);
    return json_pack("{s:s,s:s,s:s,s:s,s:[s,s],s:o}", "id", "best", "title",
                     "Best settings", "metric", text(result, "metric"), "better", better,
                     "columns", "mean", "standard error", "rows", rows);
}

static json_t *nested_table(const json_t *result, const json_t *nested,
                            const char *better)
{
    size_t i;
    json_t *fold, *rows = json_array();
    json_array_foreach(json_object_get(nested, "folds"), i, fold)
    {
        char label[600], chosen[512];
        settings_text(result, json_object_get(fold, "settings"), chosen, sizeof chosen);
        snprintf(label, sizeof label, "outer fold %zu: %s", i + 1, chosen);
        json_array_append_new(
            rows, json_pack("{s:s,s:o}", "label", label, "cells",
                            one_cell("mean", json_object_get(fold, "value"))));
    }
    json_array_append_new(rows, row_of("whole procedure", nested));
    return json_pack("{s:s,s:s,s:s,s:s,s:[s,s],s:o}", "id", "nested", "title",
                     "Error of the whole procedure", "metric", text(result, "metric"),
                     "better", better, "columns", "mean", "standard error", "rows", rows);
}

json_t *select_result(const cli_run *run, json_t *selection)
{
    const char *better =
        json_is_true(json_object_get(selection, "loss")) ? "lower" : "higher";
    const json_t *nested = json_object_get(selection, "nested");
    json_t *result = cli_result(run, "select", "select", "Choice of parameters"),
           *tables = json_object_get(result, "tables"),
           *figure = select_figure(selection), *learned = cli_align_figure(selection);
    json_object_update(result, selection);
    json_array_append_new(tables, best_table(selection, better));
    if (nested) {
        json_array_append_new(tables, nested_table(selection, nested, better));
    }
    if (figure) {
        json_array_append_new(json_object_get(result, "figures"), figure);
    }
    if (learned) {
        json_array_append_new(json_object_get(result, "figures"), learned);
    }
    return result;
}
