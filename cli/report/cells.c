/*
 * cells.c: what pages say of the cells of tables: numbers, differences from the papers,
 * verdicts.
 */
#include "papers/claims.h"
#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A value that these decimals would make 0 has one digit, or a power of ten. */
static const char *number(double value, int decimals, char *buffer, size_t size)
{
    bool small = value != 0 && fabs(value) < 0.5 * pow(10, -decimals);
    if (small && decimals < 3) {
        snprintf(buffer, size, "%.1g", value);
        return buffer;
    }
    bool plain = !small && fabs(value) < 1e9;
    snprintf(buffer, size, plain ? "%.*f" : "%.*e", plain ? decimals : 3, value);
    return buffer;
}

/* Decimals that a number was printed with. */
static int decimals_of(const json_t *value)
{
    return claim_decimals(json_is_number(value) ? json_number_value(value) : 0);
}

/* One cell of a survey. */
static void look(const json_t *cell, double *most, int *decimals)
{
    const json_t *paper = json_object_get(cell, "paper"),
                 *sd = json_object_get(cell, "paper_sd");
    *most = fmax(*most, fabs(json_number_value(json_object_get(cell, "okra"))));
    *most = fmax(*most, fabs(json_number_value(paper)));
    if (json_is_number(paper)) {
        int d =
            decimals_of(paper) > decimals_of(sd) ? decimals_of(paper) : decimals_of(sd);
        *decimals = d > *decimals ? d : *decimals;
    }
}

/* The largest value of a column, and the decimals that the paper gives it; "" stands for
 * all columns. */
static int survey(const json_t *table, const char *column, double *most)
{
    size_t i;
    const char *name;
    json_t *row, *cell;
    int decimals = -1;
    *most = 0;
    json_array_foreach(json_object_get(table, "rows"), i, row)
    {
        json_t *cells = json_object_get(row, "cells");
        if (*column) {
            cell = json_object_get(cells, column);
            if (cell) {
                look(cell, most, &decimals);
            }
            continue;
        }
        json_object_foreach(cells, name, cell)
        {
            look(cell, most, &decimals);
        }
    }
    return decimals;
}

int report_decimals(const json_t *table, const char *column)
{
    /* Of the whole table, which is asked for cell by cell, and stays while a page is
     * made. */
    static const json_t *known;
    static double any;
    static int beside;
    double most;
    if (table != known) {
        beside = survey(table, "", &any);
        known = table;
    }
    most = any;
    int decimals = *column ? survey(table, column, &most) : beside;
    bool time = strstr(figure_string(table, "metric", ""), "second") != NULL;
    bool share = strstr(column, "%") && strstr(column, "gain");
    return time                          ? 2
           : share                       ? 1
           : decimals >= 0 && most < 1e6 ? (decimals > 0 ? decimals : 1)
           : most >= 10 && most < 1e6    ? 1
           : beside > 0 && any < 10      ? beside
                                         : 4;
}

const char *report_value(const json_t *cell, int decimals, const char *mean,
                         const char *sd, char *buffer, size_t size)
{
    const json_t *m = json_object_get(cell, mean), *s = json_object_get(cell, sd);
    char of_mean[32], of_sd[32];
    if (!json_is_number(m)) {
        snprintf(buffer, size, "–");
        return buffer;
    }
    number(json_number_value(m), decimals, of_mean, sizeof of_mean);
    if (json_is_number(s) && json_number_value(s) > 0) {
        snprintf(buffer, size, "%s ± %s", of_mean,
                 number(json_number_value(s), decimals, of_sd, sizeof of_sd));
    } else {
        snprintf(buffer, size, "%s", of_mean);
    }
    return buffer;
}

const char *report_difference(const json_t *cell, char *buffer, size_t size)
{
    const json_t *in_sd = json_object_get(cell, "difference_sd"),
                 *ours = json_object_get(cell, "okra"),
                 *theirs = json_object_get(cell, "paper");
    double d = json_number_value(in_sd);
    char text[32];
    if (json_is_number(in_sd)) {
        snprintf(buffer, size, fabs(d) < 1e5 ? "%+.1f sd" : "%+.1e sd", d);
    } else if (json_is_number(ours) && json_is_number(theirs)) {
        d = json_number_value(ours) - json_number_value(theirs);
        snprintf(buffer, size, "%s%s, no sd", d > 0 ? "+" : "",
                 number(d, fabs(d) >= 1 ? 1 : 4, text, sizeof text));
    } else {
        snprintf(buffer, size, "–");
    }
    return buffer;
}

/* ---- verdicts ---- */

const char *const report_verdicts[] = {"reproduced", "beyond the paper", "not reproduced",
                                       "not comparable"};

const char report_rule[] =
    "A cell has our mean ± its standard deviation (sd) over folds or repeats, or its "
    "standard error where the table says so, as the paper does. Its verdict "
    "compares the difference from the paper's mean with the sd of both, the root of the "
    "sum of their squares: reproduced where it is at most one sd; past that beyond the "
    "paper or not reproduced; not comparable where no sd is known, the two do not "
    "measure the same, ours is better on other data or by another protocol, or "
    "parameters "
    "were set with test results in sight.";

const char *report_verdict(const json_t *cell)
{
    const char *verdict = figure_string(cell, "verdict", "");
    for (int v = 0; v < REPORT_VERDICTS; v++) {
        if (strcmp(verdict, report_verdicts[v]) == 0) {
            return report_verdicts[v];
        }
    }
    return "";
}

bool report_needs_reason(const json_t *cell)
{
    const char *verdict = report_verdict(cell);
    return json_is_number(json_object_get(cell, "paper")) &&
           verdict != report_verdicts[0] && verdict != report_verdicts[1];
}

void report_count(const json_t *result, int counts[REPORT_VERDICTS])
{
    size_t i, j;
    json_t *table, *row, *cell;
    const char *name;
    memset(counts, 0, REPORT_VERDICTS * sizeof *counts);
    json_array_foreach(json_object_get(result, "tables"), i, table)
    {
        json_array_foreach(json_object_get(table, "rows"), j, row)
        {
            json_object_foreach(json_object_get(row, "cells"), name, cell)
            {
                bool printed = json_is_number(json_object_get(cell, "paper"));
                for (int v = 0; printed && v < REPORT_VERDICTS; v++) {
                    counts[v] += report_verdict(cell) == report_verdicts[v];
                }
            }
        }
    }
}
