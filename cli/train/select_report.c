/*
 * select_report.c: what okra select prints, from the JSON of a result.
 */
#include "train/select_report.h"

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

/* The ten best cells. */
static void print_best(const json_t *result)
{
    enum { SHOWN = 10 };
    const json_t *axes[SELECT_AXES], *cells = json_object_get(result, "cells");
    size_t varying = select_varied(result, axes), count = json_array_size(cells);
    ranked *all = cli_alloc(1, (count + 1) * sizeof *all);
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
