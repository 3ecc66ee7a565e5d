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
static int decimals_of(const char *const *cells, const json_t *result)
{
    int decimals = 0;
    double most = 0;
    for (int k = 0; k < CLAIM_CELLS && cells[k]; k++) {
        json_t *columns = columns_of(result, cells[k]), *column;
        size_t i;
        json_array_foreach(columns, i, column)
        {
            const json_t *cell = cell_of(result, cells[k], json_string_value(column));
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
    int met, differs, undecided, all; /* cells or columns                  */
    int near, far;                    /* cells that are not comparable, by z */
    bool loose;                       /* nothing to compare, or in sight   */
    const char *why;
} tally;

static bool is_seen(const json_t *cell)
{
    return json_is_true(json_object_get(cell, "seen"));
}

/* How the cells of a table are compared, once, with the number of values. */
static void say_yardstick(const json_t *result, const char *name, const json_t *cell,
                          claim_verdict *out)
{
    const char *text =
        json_string_value(json_object_get(table_of(result, name), "yardstick"));
    if (!*out->yardstick && text) {
        snprintf(out->yardstick, sizeof out->yardstick, "%s, n = %zu", text,
                 json_array_size(json_object_get(cell, "values")));
    }
}

static tally judge_values(const char *const *cells, const json_t *result,
                          claim_verdict *out)
{
    tally t = {0};
    int decimals = decimals_of(cells, result);
    for (int k = 0; k < CLAIM_CELLS && cells[k]; k++) {
        json_t *columns = columns_of(result, cells[k]), *column;
        size_t i;
        json_array_foreach(columns, i, column)
        {
            const json_t *cell = cell_of(result, cells[k], json_string_value(column));
            if (!cell || isnan(number(cell, "paper"))) {
                continue;
            }
            double z = number(cell, "z");
            const char *verdict = verdict_of(cell);
            bool apart = strcmp(verdict, "not comparable") == 0 || isnan(z);
            bool lone =
                isnan(number(cell, "paper_sd")) &&
                json_is_true(json_object_get(table_of(result, cells[k]), "one_draw"));
            t.met += !apart && fabs(z) <= 2 && !lone;
            t.undecided += !apart && fabs(z) <= 2 && lone; /* by our spread alone */
            t.differs += !apart && fabs(z) > 2;
            t.near += apart && !is_seen(cell) && fabs(z) <= 2;
            t.far += apart && !is_seen(cell) && fabs(z) > 2;
            if (apart && !t.why) {
                t.why = json_string_value(json_object_get(cell, "why"));
            }
            add(out, "%s%.*f (paper %.*f", *out->numbers ? ", " : "", decimals,
                number(cell, "okra"), decimals, number(cell, "paper"));
            if (!isnan(z)) {
                add(out, ", z %+.*f", fabs(z) < 99.5 ? 1 : 0, z);
            }
            add(out, ")");
            say_yardstick(result, cells[k], cell, out);
        }
        json_decref(columns);
    }
    t.all = t.met + t.differs + t.undecided;
    t.loose = t.all == 0;
    return t;
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

static bool all_there(const char *const *cells, const json_t *result, const char *column)
{
    for (int k = 0; k < CLAIM_CELLS && cells[k]; k++) {
        if (!cell_of(result, cells[k], column)) {
            return false;
        }
    }
    return true;
}

/* One column of an order: met, reversed somewhere (differs), or undecided. */
static void judge_column(claim_rule rule, const char *const *cells, const json_t *result,
                         const char *column, tally *t, claim_verdict *out)
{
    enum { ROOM = 512 };
    double held[ROOM], next[ROOM];
    size_t count[2] = {0, 0};
    bool holds = true, reversed = false;
    add(out, "%s", *out->numbers ? "; " : "");
    for (int k = 0; k < CLAIM_CELLS && cells[k]; k++) {
        const json_t *cell = cell_of(result, cells[k], column);
        const json_t *better = json_object_get(table_of(result, cells[k]), "better");
        bool lower =
            !json_is_string(better) || strcmp(json_string_value(better), "higher") != 0;
        if (is_seen(cell)) {
            t->loose = true;
            t->why = json_string_value(json_object_get(cell, "why"));
        }
        values_of(cell, k ? next : held, ROOM, &count[k > 0]);
        if (k > 0) {
            size_t pairs = count[0] == count[1] ? count[0] : 0;
            add(out, "%s%s", rule == CLAIM_BEST && k > 1 ? "," : "",
                claim_better(held, next, pairs, true)   ? " < "
                : claim_better(next, held, pairs, true) ? " > "
                                                        : " ≈ ");
            holds = holds && claim_better(held, next, pairs, lower);
            reversed = reversed || claim_better(next, held, pairs, lower);
            if (count[0] < 2) {
                t->loose = true;
                t->why = "one run, so no spread";
            }
        }
        if (k > 0 && rule == CLAIM_ORDER) {
            memcpy(held, next, sizeof held);
            count[0] = count[1];
        }
        add(out, "%.*f", decimals_of(cells, result), number(cell, "okra"));
        say_yardstick(result, cells[k], cell, out);
    }
    t->all++;
    t->met += holds;
    t->differs += reversed;
    t->undecided += !holds && !reversed;
}

static tally judge_order(claim_rule rule, const char *const *cells, const json_t *result,
                         claim_verdict *out)
{
    tally t = {0};
    json_t *columns = columns_of(result, cells[0]), *column;
    size_t i;
    json_array_foreach(columns, i, column)
    {
        if (all_there(cells, result, json_string_value(column))) {
            judge_column(rule, cells, result, json_string_value(column), &t, out);
        }
    }
    json_decref(columns);
    t.loose = t.loose || t.all == 0;
    return t;
}

static tally judge(claim_rule rule, const char *const *cells, const json_t *result,
                   claim_verdict *out)
{
    return rule == CLAIM_VALUES ? judge_values(cells, result, out)
                                : judge_order(rule, cells, result, out);
}

/* Is the best that can be had worse than the print? */
static bool out_of_reach(const char *name, const json_t *result)
{
    char own[200];
    part(name, 2, own, sizeof own);
    const json_t *better = json_object_get(table_of(result, name), "better");
    double z = number(cell_of(result, name, own), "z");
    return json_is_string(better) && strcmp(json_string_value(better), "lower") == 0
               ? z > 2
               : z < -2;
}

/* Verdict and reason where it does not hold as printed. */
static void explain(const paper_claim *claim, const json_t *result, const tally *t,
                    claim_verdict *out)
{
    const char *const bound[CLAIM_CELLS] = {claim->bound};
    claim_verdict limit = {.verdict = ""};
    bool values = claim->rule == CLAIM_VALUES;
    out->verdict = "undecided";
    if (claim->bound && out_of_reach(claim->bound, result)) {
        (void)judge_values(bound, result, &limit);
        out->verdict = "fails";
        snprintf(out->reason, sizeof out->reason,
                 "the best of all settings tried, chosen on test data: %s",
                 limit.numbers);
    } else if (!values && t->differs > 0 && t->differs == t->all) {
        out->verdict = "fails";
        snprintf(out->reason, sizeof out->reason, "the order is reversed");
    } else if (values && t->undecided > 0) {
        snprintf(out->reason, sizeof out->reason,
                 "the print is one draw without a spread: within two of our deviations");
    } else if (t->all > 1) {
        snprintf(out->reason, sizeof out->reason, "%s in %d of %d",
                 values ? "values hold" : "it holds", t->met, t->all);
    }
}

/* The claim under its other reading; true where it holds there. *other: how often it
 * does. */
static bool holds_otherwise(const paper_claim *claim, const json_t *result,
                            claim_verdict *out, tally *other)
{
    claim_verdict found = {.verdict = ""};
    tally t = claim->other[0] ? judge(claim->rule, claim->other, result, &found)
                              : (tally){.loose = true};
    *other = t;
    if (t.loose || t.met < t.all) {
        if (*found.numbers) {
            add(out, ". Otherwise (%s): %s", claim->reading, found.numbers);
        }
        return false;
    }
    char printed[sizeof out->numbers];
    snprintf(printed, sizeof printed, "%s", out->numbers);
    *out = found;
    if (*printed) {
        add(out, ". As printed: %s", printed);
    }
    out->verdict = claim->tried ? "reproduced under a found reading"
                                : "reproduced after one constant";
    int used = snprintf(out->reason, sizeof out->reason, "%s", claim->reading);
    if (claim->tried && used < (int)sizeof out->reason) {
        snprintf(out->reason + used, sizeof out->reason - (size_t)used,
                 "; one of %d readings tried with the print in sight", claim->tried);
    }
    return true;
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
    tally t = judge(claim->rule, claim->cells, result, out);
    bool holds = !t.loose && t.met == t.all;
    bool nothing = t.loose && t.near + t.far == 0;
    out->verdict = "reproduced as printed";
    if (claim->apart || (t.loose && !claim->other[0])) {
        out->verdict = "not comparable";
        snprintf(out->reason, sizeof out->reason, "%s%s",
                 claim->apart ? claim->apart
                 : t.why      ? t.why
                              : "the result has no such cells",
                 !claim->apart || nothing           ? ""
                 : holds || (t.loose && t.far == 0) ? "; here it holds"
                                                    : "; here it does not hold");
    } else if (!holds) {
        tally other;
        if (!holds_otherwise(claim, result, out, &other)) {
            explain(claim, result, t.loose ? &other : &t, out);
            size_t used = strlen(out->reason);
            if (t.loose && used > 0) {
                snprintf(out->reason + used, sizeof out->reason - used,
                         " under the other reading; as printed, %s",
                         t.why ? t.why : "it cannot be judged");
            }
        }
    }
}
