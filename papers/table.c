/*
 * table.c: cells with the printed value beside ours, their verdict, figures, printing.
 */
#include "paper.h"
#include "run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const directions[] = {"lower", "higher", "neither"};

void paper_moments(const double *values, size_t count, double *mean, double *sd)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
    }
    *mean = count ? sum / (double)count : (double)NAN;
    for (size_t i = 0; i < count; i++) {
        squares += (values[i] - *mean) * (values[i] - *mean);
    }
    *sd = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
}

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

int paper_table(paper_run *run, const char *id, const char *title, const char *metric,
                paper_better better, const char *columns)
{
    json_t *tables = json_object_get(run->result, "tables"), *names = json_array();
    for (const char *p = columns; *p;) {
        size_t width = strcspn(p, "|");
        json_array_append_new(names, json_stringn(p, width));
        p += width + (p[width] == '|');
    }
    json_array_append_new(tables,
                          json_pack("{s:s,s:s,s:s,s:s,s:o,s:[]}", "id", id, "title",
                                    title, "metric", metric, "better", directions[better],
                                    "columns", names, "rows"));
    return (int)json_array_size(tables) - 1;
}

void paper_yardstick_of(paper_run *run, int table, paper_yardstick y)
{
    char text[300];
    int used = 0;
    json_t *t = json_array_get(json_object_get(run->result, "tables"), (size_t)table);
    if (y.errors) {
        json_object_set_new(t, "spread", json_string("standard error"));
        used = snprintf(text, sizeof text, "paper: standard errors as printed");
    } else if (y.count > 0) {
        json_object_set_new(t, "printed_count", json_integer(y.count));
        used = snprintf(text, sizeof text, "paper: printed deviation over the root of %d",
                        y.count);
    } else {
        used = snprintf(text, sizeof text, "paper: no spread printed");
    }
    if (y.one_draw) {
        json_object_set_new(t, "one_draw", json_true());
        used += snprintf(text + used, sizeof text - (size_t)used,
                         ", at least the deviation of our %s (the print is one)", y.over);
    }
    snprintf(text + used, sizeof text - (size_t)used, "; ours: standard error over %s",
             y.over);
    json_object_set_new(t, "yardstick", json_string(text));
}

/* The cell's row, added when it is new: rows keep the order they come in. */
static json_t *row_of(json_t *table, const char *label)
{
    json_t *rows = json_object_get(table, "rows"), *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        if (strcmp(json_string_value(json_object_get(row, "label")), label) == 0) {
            return row;
        }
    }
    row = json_pack("{s:s,s:{}}", "label", label, "cells");
    json_array_append_new(rows, row);
    return row;
}

static bool deviates(const paper_run *run)
{
    return json_array_size(json_object_get(run->result, "deviations")) > 0;
}

/* Other data or another protocol make better and worse not comparable, both. */
static const char *verdict(const paper_run *run, const paper_cell *cell, double z)
{
    static const char *const met[] = {[PAPER_TOGETHER] = "reproduced as printed",
                                      [PAPER_CONSTANT] = "reproduced after one constant",
                                      [PAPER_FOUND] = "reproduced under a found reading"};
    if (!isfinite(z) || cell->apart > PAPER_FOUND || deviates(run)) {
        return "not comparable";
    }
    return fabs(z) <= 2 ? met[cell->apart] : "differs";
}

/* No cell that a reader asks about is without one, though it be that none is known. */
static const char *reason(const paper_run *run, const paper_cell *cell, double z,
                          const char *found)
{
    bool compared = isfinite(cell->printed) && cell->count > 0;
    if (cell->why) {
        return cell->why;
    }
    if (compared && !isfinite(z)) {
        return "neither has a standard deviation: the paper prints none, and this is one "
               "run";
    }
    if (compared && deviates(run)) {
        return "the data or the protocol are not the paper's";
    }
    return strcmp(found, "differs") == 0 ? "the reason is not known" : NULL;
}

/* The standard error of a printed mean; where the print is one draw of many, at least
 * the deviation between draws that was measured here. */
static double printed_error(const json_t *table, const paper_cell *cell, double sd)
{
    double count = json_number_value(json_object_get(table, "printed_count"));
    double error = isfinite(cell->printed_sd) ? cell->printed_sd : 0;
    error /= count > 0 ? sqrt(count) : 1;
    return json_is_true(json_object_get(table, "one_draw")) ? fmax(error, sd) : error;
}

static void mark(json_t *entry, paper_apart apart)
{
    static const char *const marks[] = {
        [PAPER_CONSTANT] = "one constant", [PAPER_FOUND] = "found reading",
        [PAPER_FITTED] = "fitted",         [PAPER_BOUND] = "bound",
        [PAPER_LEAK] = "test edges leak",  [PAPER_SEEN] = NULL};
    if (marks[apart]) {
        json_object_set_new(entry, "mark", json_string(marks[apart]));
    }
    if (apart >= PAPER_SEEN) {
        json_object_set_new(entry, "seen", json_true());
    }
}

okra_status paper_put(paper_run *run, int table, const char *row, const char *column,
                      paper_cell cell)
{
    json_t *t = json_array_get(json_object_get(run->result, "tables"), (size_t)table);
    if (!t) {
        return okra_fail(OKRA_EINTERNAL, "there is no table %d", table);
    }
    double mean, sd, root = sqrt((double)(cell.count > 0 ? cell.count : 1));
    paper_moments(cell.values, cell.count, &mean, &sd);
    double errors[2] = {printed_error(t, &cell, sd), sd / root};
    double error = hypot(errors[0], errors[1]);
    double z = cell.printed == mean ? 0
               : error > 0          ? (mean - cell.printed) / error
                                    : (double)NAN;
    const char *found = verdict(run, &cell, z), *why = reason(run, &cell, z, found);
    json_t *values = json_array();
    for (size_t i = 0; i < cell.count; i++) {
        json_array_append_new(values, number(cell.values[i]));
    }
    json_t *entry =
        json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:s}", "paper", number(cell.printed),
                  "paper_sd", number(cell.printed_sd), "okra", number(mean), "okra_sd",
                  number(json_object_get(t, "spread") ? errors[1] : sd), "values", values,
                  "paper_error", number(errors[0]), "okra_error", number(errors[1]), "z",
                  number(z), "verdict", found);
    mark(entry, cell.apart);
    if (why) {
        json_object_set_new(entry, "why", json_string(why));
    }
    json_object_set_new(json_object_get(row_of(t, row), "cells"), column, entry);
    return OKRA_OK;
}

okra_status paper_figure(paper_run *run, const char *id, const char *type,
                         const char *title, json_t *figure)
{
    if (!json_is_object(figure)) {
        json_decref(figure);
        return okra_fail(OKRA_EINTERNAL, "figure %s is not a JSON object", id);
    }
    json_object_set_new(figure, "id", json_string(id));
    json_object_set_new(figure, "type", json_string(type));
    json_object_set_new(figure, "title", json_string(title));
    json_array_append_new(json_object_get(run->result, "figures"), figure);
    return OKRA_OK;
}

/* ---- text ---- */

static void say(char *text, size_t size, const json_t *mean, const json_t *sd)
{
    if (!json_is_number(mean)) {
        snprintf(text, size, "-");
    } else if (json_is_number(sd) && json_number_value(sd) > 0) {
        snprintf(text, size, "%.4f ± %.4f", json_number_value(mean),
                 json_number_value(sd));
    } else {
        snprintf(text, size, "%.4f", json_number_value(mean));
    }
}

/* printf pads bytes, not characters: one more column for the two bytes of "±". */
static int padded(const char *text, int width)
{
    return strstr(text, "±") ? width + 1 : width;
}

/* The longest text of an array of strings, or of the labels of an array of objects. */
static int longest(const json_t *array, const char *least)
{
    size_t i, most = strlen(least);
    json_t *item;
    json_array_foreach(array, i, item)
    {
        const json_t *text = json_is_string(item) ? item : json_object_get(item, "label");
        most = json_string_length(text) > most ? json_string_length(text) : most;
    }
    return (int)most;
}

/* The verdict of a cell that the paper has a value of, with the reason where it is not
 * met. */
static void print_verdict(const json_t *cell, FILE *out)
{
    const char *found = json_string_value(json_object_get(cell, "verdict")),
               *why = json_string_value(json_object_get(cell, "why"));
    bool printed = json_is_number(json_object_get(cell, "paper"));
    bool met = strncmp(found, "reproduced", 10) == 0;
    bool asked = printed && !met && why;
    fprintf(out, "%s%s%s\n", printed ? found : "-", asked ? ": " : "", asked ? why : "");
}

static void print_table(const json_t *table, FILE *out)
{
    const json_t *rows = json_object_get(table, "rows"),
                 *columns = json_object_get(table, "columns");
    const char *better = json_string_value(json_object_get(table, "better"));
    bool either = strcmp(better, directions[PAPER_NEITHER]) != 0;
    int first = longest(rows, "row"), second = longest(columns, "column");
    fprintf(out, "\n  %s  [%s%s%s%s]\n",
            json_string_value(json_object_get(table, "title")),
            json_string_value(json_object_get(table, "metric")), either ? ", " : "",
            either ? better : "", either ? " is better" : "");
    fprintf(out, "  %-*s  %-*s %19s %19s %8s  %s\n", first, "row", second, "column",
            "paper", "okra", "z", "verdict");
    size_t i, c;
    json_t *row, *name;
    json_array_foreach(rows, i, row)
    {
        json_array_foreach(columns, c, name)
        {
            const json_t *cell =
                json_object_get(json_object_get(row, "cells"), json_string_value(name));
            if (!cell) {
                continue;
            }
            char printed[64], ours[64], diff[32] = "-";
            say(printed, sizeof printed, json_object_get(cell, "paper"),
                json_object_get(cell, "paper_sd"));
            say(ours, sizeof ours, json_object_get(cell, "okra"),
                json_object_get(cell, "okra_sd"));
            const json_t *d = json_object_get(cell, "z");
            if (json_is_number(d)) {
                snprintf(diff, sizeof diff, "%+.1f", json_number_value(d));
            }
            fprintf(out, "  %-*s  %-*s %*s %*s %8s  ", first,
                    json_string_value(json_object_get(row, "label")), second,
                    json_string_value(name), padded(printed, 19), printed,
                    padded(ours, 19), ours, diff);
            print_verdict(cell, out);
        }
    }
}

void paper_print(const json_t *json, FILE *out)
{
    static const char *const notes[][2] = {{"readings", "reading taken"},
                                           {"deviations", "deviation"},
                                           {"remarks", "remark"}};
    fprintf(out, "%s: %s, %s\n", json_string_value(json_object_get(json, "name")),
            json_string_value(json_object_get(json, "paper")),
            json_string_value(json_object_get(json, "title")));
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(json, "tables"), i, item)
    {
        print_table(item, out);
    }
    fprintf(out, "\n");
    for (size_t k = 0; k < sizeof notes / sizeof *notes; k++) {
        json_array_foreach(json_object_get(json, notes[k][0]), i, item)
        {
            fprintf(out, "  %s: %s\n", notes[k][1], json_string_value(item));
        }
    }
    fprintf(out, "  %s run, %.1f s\n", json_string_value(json_object_get(json, "mode")),
            json_number_value(json_object_get(json, "seconds")));
}
