/*
 * report.c: okra report: results as one page, HTML that needs nothing else or Markdown.
 */
#include "report/report.h"
#include "commands.h"
#include "papers/claims.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const okra_option rows[] = {
    {"output", OKRA_OPTION_WRITTEN, offsetof(report_settings, output), NULL, 1, 0, NULL,
     "FILE", "The page to write (.html or .md; - is HTML on standard output)"},
    {"title", OKRA_OPTION_TEXT, offsetof(report_settings, title), "okra results", 1, 0,
     NULL, "TEXT", "The heading of the page"},
    {"claims", OKRA_OPTION_CHOICE, offsetof(report_settings, claims), "no", 1, 0,
     "no|first|alone", "WHAT",
     "The claims of the papers and what these results say of them: first on the page, or "
     "alone (.md)"},
    {"figures", OKRA_OPTION_WRITTEN, offsetof(report_settings, figures), "", 1, 0, NULL,
     "DIR", "Also write each figure as DIR/RESULT-FIGURE.svg (the folder must exist)"},
    {0},
};

/* ---- what pages share ---- */

static const char *name_of(const json_t *result)
{
    return figure_string(result, "name", figure_string(result, "kind", "result"));
}

const char *report_name(const json_t *all, size_t i, char *buffer, size_t size)
{
    const char *name = name_of(json_array_get(all, i));
    size_t same = 1;
    for (size_t k = 0; k < i; k++) {
        same += strcmp(name_of(json_array_get(all, k)), name) == 0;
    }
    if (same > 1) {
        snprintf(buffer, size, "%s-%zu", name, same);
    } else {
        snprintf(buffer, size, "%s", name);
    }
    return buffer;
}

void report_figure_name(char *to, size_t size, const char *result, const char *figure)
{
    snprintf(to, size, "%s%s%s", result, figure ? "-" : "", figure ? figure : "");
    for (; *to; to++) {
        bool plain = (*to >= 'a' && *to <= 'z') || (*to >= 'A' && *to <= 'Z') ||
                     (*to >= '0' && *to <= '9');
        *to = plain ? *to : '-';
    }
}

int report_save_figure(const cli_run *run, const char *folder, const char *result,
                       const json_t *f)
{
    char name[256], path[4096], why[256];
    report_figure_name(name, sizeof name, result, figure_string(f, "id", "figure"));
    snprintf(path, sizeof path, "%s/%s.svg", folder, name);
    cli_file *file = cli_file_open(run, path);
    if (!file) {
        return CLI_FAILED;
    }
    bool good = figure_draw(cli_file_stream(file), f, true, why, sizeof why);
    if (!good) {
        cli_failure(run, "figure %s of %s cannot be drawn: %s",
                    figure_string(f, "id", ""), result, why);
    }
    return cli_file_close(run, file, good ? CLI_DONE : CLI_FAILED);
}

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

/* Adds " · TEXT" if there is a text. */
static void join(char *buffer, size_t size, const char *before, const char *text)
{
    size_t used = strlen(buffer);
    if (*text && used < size) {
        snprintf(buffer + used, size - used, "%s%s%s", used ? " · " : "", before, text);
    }
}

const char *report_origin(const json_t *result, char *buffer, size_t size)
{
    const json_t *seconds = json_object_get(result, "seconds"),
                 *threads = json_object_get(result, "threads");
    char text[64];
    *buffer = '\0';
    join(buffer, size, "", figure_string(result, "command", ""));
    join(buffer, size, "", figure_string(result, "date", ""));
    join(buffer, size, "okra ", figure_string(result, "okra", ""));
    join(buffer, size, "commit ", figure_string(result, "commit", ""));
    if (json_is_number(seconds)) {
        join(buffer, size, "",
             cli_seconds(json_number_value(seconds), text, sizeof text));
    }
    join(buffer, size, "", figure_string(result, "machine", ""));
    if (json_is_integer(threads)) {
        long long count = json_integer_value(threads);
        snprintf(text, sizeof text, "%lld thread%s", count, count == 1 ? "" : "s");
        join(buffer, size, "", text);
    }
    const char *engine = figure_string(result, "engine", "");
    join(buffer, size, "engine ", strcmp(engine, "host") == 0 ? "" : engine);
    return buffer;
}

const char *const report_verdicts[] = {"reproduced", "beyond the paper", "not reproduced",
                                       "not comparable"};

bool report_has_paper(const json_t *all)
{
    size_t i;
    json_t *result;
    json_array_foreach(all, i, result)
    {
        if (strcmp(figure_string(result, "kind", ""), "paper") == 0) {
            return true;
        }
    }
    return false;
}

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

int report_write(const cli_run *run, const report_settings *settings, const json_t *all)
{
    cli_file *file = cli_file_open(run, settings->output);
    if (!file) {
        return CLI_FAILED;
    }
    FILE *out = cli_file_stream(file);
    int status = cli_ends(settings->output, ".md")
                     ? report_markdown(run, out, settings, all)
                     : report_page(run, out, settings, all);
    status = cli_file_close(run, file, status);
    if (status == CLI_DONE && !run->common.quiet && strcmp(settings->output, "-") != 0) {
        fprintf(stderr, "okra %s: %zu results written to %s\n", run->command->name,
                json_array_size(all), settings->output);
    }
    return status;
}

/* ---- the command ---- */

static bool is_result(const json_t *value)
{
    return json_is_object(value) && json_is_string(json_object_get(value, "kind")) &&
           json_is_integer(json_object_get(value, "format"));
}

/* Each is compared with those before it. */
enum { RESULTS_MOST = 5000 };

/* Adds the results of a file to `all`. */
static int load(cli_run *run, const char *path, json_t *all)
{
    char buffer[4096];
    json_error_t error;
    int status = cli_status(run, cli_take_input(run, path));
    if (status != CLI_DONE) {
        return status;
    }
    const char *found = cli_find(run, path, buffer, sizeof buffer);
    json_t *value = strcmp(found, "-") == 0 ? json_loadf(stdin, 0, &error)
                                            : json_load_file(found, 0, &error);
    if (!value) {
        return error.line > 0 ? cli_failure(run, "%s: line %d, column %d: %s", path,
                                            error.line, error.column, error.text)
                              : cli_failure(run, "%s: %s", path, error.text);
    }
    json_t *list = json_is_array(value) ? json_incref(value) : json_pack("[O]", value),
           *item;
    size_t i;
    status = json_array_size(list) > 0
                 ? CLI_DONE
                 : cli_failure(run, "%s: an empty list, expected results of okra", path);
    json_array_foreach(list, i, item)
    {
        json_int_t format = json_integer_value(json_object_get(item, "format"));
        if (json_array_size(all) == RESULTS_MOST) {
            status = cli_failure(run, "%s: more than %d results for one page", path,
                                 RESULTS_MOST);
        } else if (!is_result(item)) {
            status =
                cli_failure(run,
                            "%s: element %zu is no result of okra: expected an object "
                            "with the fields kind and format",
                            path, i);
        } else if (format != 1) {
            status =
                cli_failure(run, "%s: format %lld, expected 1: a newer okra wrote it",
                            path, (long long)format);
        } else {
            json_array_append(all, item);
        }
        if (status != CLI_DONE) {
            break;
        }
    }
    json_decref(list);
    json_decref(value);
    return status;
}

/* The place of an entry of a paper from 1 on; 0: of anything else. */
static size_t place_of(const json_t *result)
{
    for (size_t i = 0; paper_entries[i]; i++) {
        if (strcmp(figure_string(result, "kind", ""), "paper") == 0 &&
            strcmp(paper_entries[i]->name, name_of(result)) == 0) {
            return i + 1;
        }
    }
    return 0;
}

/* Results of papers in the order of the papers; equals stay as they came. */
static json_t *in_order(json_t *all)
{
    json_t *sorted = json_array();
    size_t entries = 0, i;
    json_t *result;
    while (paper_entries[entries]) {
        entries++;
    }
    for (size_t place = 0; place <= entries; place++) {
        json_array_foreach(all, i, result)
        {
            if (place_of(result) == place) {
                json_array_append(sorted, result);
            }
        }
    }
    json_decref(all);
    return sorted;
}

static int run_report(cli_run *run)
{
    report_settings settings;
    json_t *all = json_array();
    int status = cli_status(run, cli_fields(run, &settings));
    for (int i = 0; status == CLI_DONE && i < run->operand_count; i++) {
        status = load(run, run->operands[i], all);
    }
    if (status == CLI_DONE && settings.claims && !cli_ends(settings.output, ".md")) {
        status =
            cli_usage(run, "--claims writes Markdown: a page whose name ends in .md");
    }
    all = in_order(all);
    if (status == CLI_DONE) {
        status = report_write(run, &settings, all);
    }
    json_decref(all);
    return status;
}

const cli_command cli_report = {
    .name = "report",
    .purpose = "Draw results as one page with tables and figures",
    .usage = "RESULT.json... -o FILE [flags]",
    .about =
        "Results come from okra paper, fit, select, link and score with --json; their "
        "form is\n"
        "in docs/results-format.md. The HTML page needs no network and no other file,\n"
        "follows the system's light or dark theme, and reads on a phone and on paper. A\n"
        "name that ends in .md makes the same as Markdown, which shows the pictures of\n"
        "--figures.\n",
    .examples = "okra report results/*.json -o report.html\n"
                "okra report results/*.json -o report.html --figures pictures\n"
                "okra report results/*.json -o results.md --figures pictures\n"
                "okra report results/*-full.json -o claims.md --claims alone\n",
    .own = {"report", rows, sizeof(report_settings)},
    .refuses = " threads seed memory json engine strict ",
    .operands_least = 1,
    .operands_most = 60,
    .operand = "RESULT",
    .run = run_report,
};
