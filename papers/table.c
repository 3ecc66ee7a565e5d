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

void paper_standard_errors(paper_run *run, int table)
{
    json_t *t = json_array_get(json_object_get(run->result, "tables"), (size_t)table);
    json_object_set_new(t, "spread", json_string("standard error"));
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

static const char *verdict(const char *better, double d)
{
    if (!isfinite(d)) {
        return "not comparable";
    }
    if (fabs(d) <= 1) {
        return "reproduced";
    }
    bool good = (strcmp(better, "lower") == 0 && d < 0) ||
                (strcmp(better, "higher") == 0 && d > 0);
    return good ? "beyond the paper" : "not reproduced";
}

/* Beyond the paper is better under the paper's own protocol: where the entry has told a
 * deviation from it, better is not comparable. */
static const char *under_protocol(const paper_run *run, const char *found)
{
    bool other = json_array_size(json_object_get(run->result, "deviations")) > 0;
    return other && strcmp(found, "beyond the paper") == 0 ? "not comparable" : found;
}

/* No cell that a reader asks about is without one, though it be that none is known. */
static const char *reason(const paper_cell *cell, double d, const char *found)
{
    if (cell->why) {
        return cell->why;
    }
    if (isfinite(cell->printed) && cell->count > 0 && !isfinite(d)) {
        return "neither has a standard deviation: the paper prints none, and this is one "
               "run";
    }
    if (isfinite(cell->printed) && cell->count > 0 && !cell->apart &&
        strcmp(found, "not comparable") == 0) {
        return "the data or the protocol are not the paper's";
    }
    return strcmp(found, "not reproduced") == 0 ? "the reason is not known" : NULL;
}

okra_status paper_put(paper_run *run, int table, const char *row, const char *column,
                      paper_cell cell)
{
    json_t *t = json_array_get(json_object_get(run->result, "tables"), (size_t)table);
    if (!t) {
        return okra_fail(OKRA_EINTERNAL, "there is no table %d", table);
    }
    double mean, sd;
    paper_moments(cell.values, cell.count, &mean, &sd);
    if (json_object_get(t, "spread")) {
        sd /= sqrt((double)(cell.count > 0 ? cell.count : 1));
    }
    double spread = hypot(isfinite(cell.printed_sd) ? cell.printed_sd : 0, sd);
    double d = cell.printed == mean ? 0
               : spread > 0         ? (mean - cell.printed) / spread
                                    : (double)NAN;
    const char *found =
        under_protocol(run, verdict(json_string_value(json_object_get(t, "better")),
                                    cell.apart ? (double)NAN : d));
    json_t *values = json_array();
    for (size_t i = 0; i < cell.count; i++) {
        json_array_append_new(values, number(cell.values[i]));
    }
    json_t *entry = json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:s}", "paper",
                              number(cell.printed), "paper_sd", number(cell.printed_sd),
                              "okra", number(mean), "okra_sd", number(sd), "values",
                              values, "difference_sd", number(d), "verdict", found);
    if (cell.apart == PAPER_SEEN) {
        json_object_set_new(entry, "seen", json_true());
    }
    const char *why = reason(&cell, d, found);
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
    bool met = strcmp(found, "reproduced") == 0 || strncmp(found, "beyond", 6) == 0;
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
            "paper", "okra", "diff/sd", "verdict");
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
            const json_t *d = json_object_get(cell, "difference_sd");
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
