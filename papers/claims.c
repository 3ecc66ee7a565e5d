/*
 * claims.c: verdicts on claims from the cells of results.
 */
#include "claims.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool claim_better(const double *a, const double *b, size_t count, bool lower)
{
    double mean = 0, squares = 0, gain;
    for (size_t i = 0; i < count; i++) {
        mean += (lower ? b[i] - a[i] : a[i] - b[i]) / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        gain = lower ? b[i] - a[i] : a[i] - b[i];
        squares += (gain - mean) * (gain - mean);
    }
    double error = count > 1 ? sqrt(squares / (double)(count - 1) / (double)count) : 0;
    return count > 0 && mean > 2 * error;
}

/* ---- cells ---- */

/* Part `which` of "table|row|column". */
static void part(const char *name, int which, char *out, size_t size)
{
    for (; which > 0; which--) {
        const char *bar = strchr(name, '|');
        name = bar ? bar + 1 : "";
    }
    snprintf(out, size, "%.*s", (int)strcspn(name, "|"), name);
}

static const json_t *named(const json_t *list, const char *key, const char *name)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        const char *own = json_string_value(json_object_get(item, key));
        if (own && strcmp(own, name) == 0) {
            return item;
        }
    }
    return NULL;
}

static const json_t *table_of(const json_t *result, const char *cell)
{
    char name[200];
    part(cell, 0, name, sizeof name);
    return named(json_object_get(result, "tables"), "id", name);
}

/* The cell in `column`, or where the name has a column of its own in that. */
static const json_t *cell_of(const json_t *result, const char *cell, const char *column)
{
    char row[200], own[200];
    part(cell, 1, row, sizeof row);
    part(cell, 2, own, sizeof own);
    const json_t *rows = json_object_get(table_of(result, cell), "rows");
    return json_object_get(json_object_get(named(rows, "label", row), "cells"),
                           strcmp(own, "*") == 0 ? column : own);
}

static double number(const json_t *cell, const char *key)
{
    const json_t *value = json_object_get(cell, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static const char *verdict_of(const json_t *cell)
{
    const char *verdict = json_string_value(json_object_get(cell, "verdict"));
    return verdict ? verdict : "";
}

/* The columns that a cell's name stands for: of its table, or one. To be decref'd. */
static json_t *columns_of(const json_t *result, const char *cell)
{
    char own[200];
    part(cell, 2, own, sizeof own);
    if (strcmp(own, "*") == 0) {
        const json_t *columns = json_object_get(table_of(result, cell), "columns");
        return columns ? json_deep_copy(columns) : json_array();
    }
    return json_pack("[s]", own);
}

/* ---- numbers in words ---- */

OKRA_PRINTF(2, 3) static void add(claim_verdict *out, const char *format, ...)
{
    size_t used = strlen(out->numbers);
    va_list args;
    va_start(args, format);
    vsnprintf(out->numbers + used, sizeof out->numbers - used, format, args);
    va_end(args);
}

int claim_decimals(double printed)
{
    int decimals = 0;
    double scale = 1;
    while (decimals < 4 && fabs(printed * scale - round(printed * scale)) >
                               1e-6 * fmax(1, fabs(printed))) {
        decimals++;
        scale *= 10;
    }
    return decimals;
}

/* Decimals of all numbers of a claim: those of the print, at least one; without a print
 * one from 10 on, else three or four. */
static int decimals_of(const paper_claim *claim, const json_t *result)
{
    int decimals = 0;
    double most = 0;
    for (int k = 0; k < CLAIM_CELLS && claim->cells[k]; k++) {
        json_t *columns = columns_of(result, claim->cells[k]), *column;
        size_t i;
        json_array_foreach(columns, i, column)
        {
            const json_t *cell =
                cell_of(result, claim->cells[k], json_string_value(column));
            double printed = number(cell, "paper");
            int own = isnan(printed) ? 0 : claim_decimals(printed);
            own = own == 0 && !isnan(printed) ? 1 : own;
            decimals = own > decimals ? own : decimals;
            most = fmax(most, fabs(number(cell, "okra")));
        }
        json_decref(columns);
    }
    return decimals ? decimals : most >= 10 ? 1 : most >= 1 ? 3 : 4;
}

/* ---- rules ---- */

typedef struct tally {
    int reproduced, beyond, worse, apart, seen, missing, all;
    const char *why;
} tally;

static void count_cell(const json_t *cell, tally *t)
{
    const char *verdict = verdict_of(cell);
    t->all++;
    t->reproduced += strcmp(verdict, "reproduced") == 0;
    t->beyond += strcmp(verdict, "beyond the paper") == 0;
    t->worse += strcmp(verdict, "not reproduced") == 0;
    t->apart += strcmp(verdict, "not comparable") == 0;
    t->seen += json_is_true(json_object_get(cell, "seen"));
    if (!t->why && (strcmp(verdict, "not comparable") == 0 ||
                    json_is_true(json_object_get(cell, "seen")))) {
        t->why = json_string_value(json_object_get(cell, "why"));
    }
}

static void judge_values(const paper_claim *claim, const json_t *result,
                         claim_verdict *out)
{
    tally t = {0};
    int decimals = decimals_of(claim, result);
    for (int k = 0; k < CLAIM_CELLS && claim->cells[k]; k++) {
        json_t *columns = columns_of(result, claim->cells[k]), *column;
        size_t i;
        json_array_foreach(columns, i, column)
        {
            const json_t *cell =
                cell_of(result, claim->cells[k], json_string_value(column));
            if (!cell || isnan(number(cell, "paper"))) {
                t.missing += !cell;
                continue;
            }
            count_cell(cell, &t);
            add(out, "%s", *out->numbers ? ", " : "");
            add(out, "%.*f (paper %.*f)", decimals, number(cell, "okra"), decimals,
                number(cell, "paper"));
        }
        json_decref(columns);
    }
    int compared = t.reproduced + t.beyond + t.worse;
    out->verdict = compared == 0              ? "not comparable"
                   : t.reproduced == compared ? "reproduced"
                   : t.beyond == compared     ? "beyond the paper"
                                              : "not reproduced";
    if (compared == 0) {
        snprintf(out->reason, sizeof out->reason, "%s",
                 t.why ? t.why : "the result has no such cells");
    } else if (compared > 1 && strcmp(out->verdict, "not reproduced") == 0) {
        int used = snprintf(out->reason, sizeof out->reason, "%d of %d values hold",
                            t.reproduced, compared);
        if (t.beyond > 0) {
            snprintf(out->reason + used, sizeof out->reason - (size_t)used,
                     ", %d better than printed", t.beyond);
        }
    }
}

/* The values of a cell; *count at most `room`. */
static void values_of(const json_t *cell, double *values, size_t room, size_t *count)
{
    const json_t *list = json_object_get(cell, "values");
    *count = json_array_size(list) < room ? json_array_size(list) : room;
    for (size_t i = 0; i < *count; i++) {
        values[i] = json_number_value(json_array_get(list, i));
    }
}

/* Does the order hold in this column? -1: cells are missing. */
static int order_holds(const paper_claim *claim, const json_t *result, const char *column,
                       tally *t, claim_verdict *out)
{
    enum { ROOM = 512 };
    double held[ROOM], next[ROOM];
    size_t count[2] = {0, 0};
    int holds = 1;
    for (int k = 0; k < CLAIM_CELLS && claim->cells[k]; k++) {
        if (!cell_of(result, claim->cells[k], column)) {
            return -1;
        }
    }
    add(out, "%s", *out->numbers ? "; " : "");
    for (int k = 0; k < CLAIM_CELLS && claim->cells[k]; k++) {
        const json_t *cell = cell_of(result, claim->cells[k], column);
        const json_t *better =
            json_object_get(table_of(result, claim->cells[k]), "better");
        bool lower =
            !json_is_string(better) || strcmp(json_string_value(better), "higher") != 0;
        if (json_is_true(json_object_get(cell, "seen"))) {
            t->seen++;
            t->why = json_string_value(json_object_get(cell, "why"));
        }
        values_of(cell, k ? next : held, ROOM, &count[k > 0]);
        if (k > 0) {
            size_t pairs = count[0] == count[1] ? count[0] : 0;
            add(out, "%s%s", claim->rule == CLAIM_BEST && k > 1 ? "," : "",
                claim_better(held, next, pairs, true)   ? " < "
                : claim_better(next, held, pairs, true) ? " > "
                                                        : " ≈ ");
            holds = holds && claim_better(held, next, pairs, lower);
            t->apart += count[0] < 2; /* no spread */
        }
        if (k > 0 && claim->rule == CLAIM_ORDER) {
            memcpy(held, next, sizeof held);
            count[0] = count[1];
        }
        add(out, "%.*f", decimals_of(claim, result), number(cell, "okra"));
    }
    return holds;
}

static void judge_order(const paper_claim *claim, const json_t *result,
                        claim_verdict *out)
{
    tally t = {0};
    json_t *columns = columns_of(result, claim->cells[0]), *column;
    size_t i;
    json_array_foreach(columns, i, column)
    {
        int holds = order_holds(claim, result, json_string_value(column), &t, out);
        t.all += holds >= 0;
        t.reproduced += holds > 0;
    }
    json_decref(columns);
    out->verdict = "reproduced";
    if (t.all == 0 || t.seen > 0 || t.apart > 0) {
        out->verdict = "not comparable";
        snprintf(out->reason, sizeof out->reason, "%s",
                 t.all == 0   ? "the result has no such cells"
                 : t.seen > 0 ? t.why ? t.why : "test results were in sight"
                              : "one run, so no spread");
    } else if (t.reproduced < t.all) {
        out->verdict = "not reproduced";
        if (t.all > 1) {
            snprintf(out->reason, sizeof out->reason, "it holds in %d of %d",
                     t.reproduced, t.all);
        }
    }
}

void claim_judge(const paper_claim *claim, const json_t *result, claim_verdict *out)
{
    const char *mode = json_string_value(json_object_get(result, "mode"));
    *out = (claim_verdict){.verdict = "not run"};
    if (!claim->entry) {
        out->verdict = "not comparable";
        snprintf(out->reason, sizeof out->reason, "%s", claim->apart);
        return;
    }
    if (!mode || strcmp(mode, "full") != 0 ||
        json_is_true(json_object_get(result, "left_out"))) {
        return;
    }
    (claim->rule == CLAIM_VALUES ? judge_values : judge_order)(claim, result, out);
    if (claim->apart && strcmp(out->verdict, "not comparable") != 0) {
        bool holds = strcmp(out->verdict, "not reproduced") != 0;
        snprintf(out->reason, sizeof out->reason, "%s; here it %s", claim->apart,
                 holds ? "holds" : "does not hold");
        out->verdict = "not comparable";
    }
}
