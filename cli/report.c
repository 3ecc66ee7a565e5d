/*
 * report.c: okra report: results as one HTML page that needs nothing else.
 */
#include "commands.h"
#include "figure.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct fields {
    const char *output, *title, *figures;
} fields;

static const okra_option rows[] = {
    {"output", OKRA_OPTION_TEXT, offsetof(fields, output), NULL, 1, 0, NULL, "FILE",
     "The page to write (.html, or - for standard output)"},
    {"title", OKRA_OPTION_TEXT, offsetof(fields, title), "okra results", 1, 0, NULL,
     "TEXT", "The heading of the page"},
    {"figures", OKRA_OPTION_TEXT, offsetof(fields, figures), "", 1, 0, NULL, "DIR",
     "Also write each figure as DIR/RESULT-FIGURE.svg (the folder must exist)"},
    {0},
};

static const char page_style[] =
    "*{box-sizing:border-box}"
    "body{margin:0 auto;max-width:60rem;padding:1rem;font:16px/1.5 system-ui,sans-serif;"
    "color:var(--ink);background:var(--page)}"
    "h1{font-size:1.6rem;margin:.5rem 0}h2{font-size:1.25rem;margin:2rem 0 .25rem}"
    "h3{font-size:1rem;margin:1.25rem 0 .25rem}p,li{margin:.25rem 0}"
    ".soft{color:var(--soft);font-size:.875rem}nav a{margin-right:1rem}a{color:var(--s0)}"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-"
    "nums}"
    "th,td{padding:.35rem .7rem;border-bottom:1px solid var(--line);text-align:right;"
    "vertical-align:top;white-space:nowrap}th:first-child,td:first-child{text-align:left}"
    "td .ours{font-weight:600}td .theirs{display:block;color:var(--soft);font-size:.8rem}"
    "td .why{display:block;color:var(--soft);font-size:.75rem;white-space:normal;"
    "max-width:16rem;margin-left:auto}"
    "td .reproduced,td .better{color:var(--good)}td .differs{color:var(--bad)}"
    "figure{margin:1rem 0;padding:.75rem;background:var(--card);border-radius:.5rem;"
    "overflow-x:auto}figcaption{font-weight:600;margin-bottom:.5rem}"
    "button{float:right;font:inherit;color:inherit;background:var(--card);"
    "border:1px solid var(--line);border-radius:.4rem;padding:.2rem .7rem}"
    "@media print{button,nav{display:none}figure{break-inside:avoid}}";

/* The only script: a button that overrides the system's theme. */
static const char page_script[] =
    "document.getElementById('theme').onclick=function(){var r=document.documentElement,"
    "d=r.dataset.theme||(matchMedia('(prefers-color-scheme:dark)').matches?'dark':'light'"
    ");"
    "r.dataset.theme=d==='dark'?'light':'dark'};";

static void head(FILE *out, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
          "<link rel=\"icon\" href=\"data:,\">\n<title>",
          out);
    figure_escape(out, title);
    fprintf(out,
            "</title>\n<style>:root{%s}"
            "@media(prefers-color-scheme:dark){:root:not([data-theme=light]){%s}}"
            ":root[data-theme=dark]{%s}@media print{:root{%s}}%s%s</style>\n</head>\n",
            figure_light, figure_dark, figure_dark, figure_light, page_style,
            figure_style);
    fputs("<body>\n<button id=\"theme\" type=\"button\">light / dark</button>\n<h1>",
          out);
    figure_escape(out, title);
    fputs("</h1>\n", out);
}

/* ---- tables --------------------------------------------------------------------------
 */

static void value(FILE *out, const json_t *cell, const char *mean, const char *sd)
{
    const json_t *m = json_object_get(cell, mean), *s = json_object_get(cell, sd);
    if (!json_is_number(m)) {
        fputs("–", out);
        return;
    }
    fprintf(out, "%.4f", json_number_value(m));
    if (json_is_number(s) && json_number_value(s) > 0) {
        fprintf(out, " ± %.4f", json_number_value(s));
    }
}

static void cell(FILE *out, const json_t *c)
{
    if (!c) {
        fputs("<td></td>", out);
        return;
    }
    const char *verdict = figure_string(c, "verdict", ""),
               *why = figure_string(c, "why", "");
    fputs("<td><span class=\"ours\">", out);
    value(out, c, "okra", "okra_sd");
    fputs("</span>", out);
    if (json_is_number(json_object_get(c, "paper"))) {
        fputs("<span class=\"theirs\">paper ", out);
        value(out, c, "paper", "paper_sd");
        fprintf(out, "</span><span class=\"theirs %s\">%s", verdict, verdict);
        const json_t *d = json_object_get(c, "difference_sd");
        if (json_is_number(d)) {
            fprintf(out, " (%+.1f sd)", json_number_value(d));
        }
        fputs("</span>", out);
    }
    if (*why && strcmp(verdict, "reproduced") != 0 && strcmp(verdict, "better") != 0) {
        fputs("<span class=\"why\">", out);
        figure_escape(out, why);
        fputs("</span>", out);
    }
    fputs("</td>", out);
}

static void table(FILE *out, const json_t *t)
{
    fputs("<h3>", out);
    figure_escape(out, figure_string(t, "title", ""));
    fputs("</h3>\n<p class=\"soft\">", out);
    figure_escape(out, figure_string(t, "metric", ""));
    const char *better = figure_string(t, "better", "neither");
    if (strcmp(better, "neither") != 0) {
        fprintf(out, ", %s is better", strcmp(better, "lower") == 0 ? "lower" : "higher");
    }
    fputs("</p>\n<div class=\"wide\"><table><thead><tr><th></th>", out);
    const json_t *columns = json_object_get(t, "columns");
    size_t i, j;
    json_t *name, *row;
    json_array_foreach(columns, i, name)
    {
        fputs("<th>", out);
        figure_escape(out, json_is_string(name) ? json_string_value(name) : "");
        fputs("</th>", out);
    }
    fputs("</tr></thead><tbody>\n", out);
    json_array_foreach(json_object_get(t, "rows"), i, row)
    {
        fputs("<tr><td>", out);
        figure_escape(out, figure_string(row, "label", ""));
        fputs("</td>", out);
        json_array_foreach(columns, j, name)
        {
            const char *key = json_is_string(name) ? json_string_value(name) : "";
            cell(out, json_object_get(json_object_get(row, "cells"), key));
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

/* ---- figures -------------------------------------------------------------------------
 */

/* Letters, digits and dashes alone: the name becomes part of a file's name. */
static void plain_name(char *to, size_t size, const char *result, const char *figure)
{
    snprintf(to, size, "%s-%s", result, figure);
    for (; *to; to++) {
        bool plain = (*to >= 'a' && *to <= 'z') || (*to >= 'A' && *to <= 'Z') ||
                     (*to >= '0' && *to <= '9');
        *to = plain ? *to : '-';
    }
}

static int save_figure(const cli_run *run, const char *folder, const char *result,
                       const json_t *f)
{
    char name[256], path[4096], why[256];
    plain_name(name, sizeof name, result, figure_string(f, "id", "figure"));
    snprintf(path, sizeof path, "%s/%s.svg", folder, name);
    cli_file *file = cli_file_open(run, path);
    if (!file) {
        return CLI_FAILED;
    }
    bool good = figure_draw(cli_file_stream(file), f, true, why, sizeof why);
    return cli_file_close(run, file, good ? CLI_DONE : CLI_FAILED);
}

static int draw(const cli_run *run, FILE *out, const char *folder, const char *result,
                const json_t *f)
{
    char why[256] = "", *svg = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&svg, &length);
    if (!memory) {
        return cli_failure(run, "no memory for a figure");
    }
    bool good = figure_draw(memory, f, false, why, sizeof why);
    fclose(memory);
    fputs("<figure><figcaption>", out);
    figure_escape(out, figure_string(f, "title", ""));
    fputs("</figcaption>\n", out);
    if (good) {
        fwrite(svg, 1, length, out);
    } else {
        fputs("<p class=\"soft\">This figure cannot be drawn: ", out);
        figure_escape(out, why);
        fputs(".</p>\n", out);
    }
    fputs("</figure>\n", out);
    free(svg);
    return good && *folder ? save_figure(run, folder, result, f) : CLI_DONE;
}

/* ---- one result ----------------------------------------------------------------------
 */

static void notes(FILE *out, const json_t *result, const char *key, const char *heading)
{
    const json_t *list = json_object_get(result, key);
    if (json_array_size(list) == 0) {
        return;
    }
    size_t i;
    json_t *note;
    fprintf(out, "<h3>%s</h3>\n<ul>\n", heading);
    json_array_foreach(list, i, note)
    {
        fputs("<li>", out);
        figure_escape(out, json_is_string(note) ? json_string_value(note) : "");
        fputs("</li>\n", out);
    }
    fputs("</ul>\n", out);
}

static int section(const cli_run *run, FILE *out, const char *folder,
                   const json_t *result, size_t number)
{
    const char *name =
        figure_string(result, "name", figure_string(result, "kind", "result"));
    int status = CLI_DONE;
    size_t i;
    json_t *item;
    fprintf(out, "<section id=\"r%zu\">\n<h2>", number);
    figure_escape(out, figure_string(result, "paper", ""));
    fputs(*figure_string(result, "paper", "") ? ": " : "", out);
    figure_escape(out, figure_string(result, "title", name));
    fputs("</h2>\n<p class=\"soft\">", out);
    figure_escape(out, figure_string(result, "command", ""));
    fprintf(out, " · %s · okra ", figure_string(result, "date", ""));
    figure_escape(out, figure_string(result, "okra", ""));
    if (json_is_number(json_object_get(result, "seconds"))) {
        char time[32];
        fprintf(out, " · %s",
                cli_seconds(json_number_value(json_object_get(result, "seconds")), time,
                            sizeof time));
    }
    fputs("</p>\n", out);
    json_array_foreach(json_object_get(result, "tables"), i, item)
    {
        table(out, item);
    }
    json_array_foreach(json_object_get(result, "figures"), i, item)
    {
        int one = draw(run, out, folder, name, item);
        status = status == CLI_DONE ? one : status;
    }
    notes(out, result, "readings", "Readings taken where the protocol is open");
    notes(out, result, "deviations", "Where our data or protocol is not the paper's");
    notes(out, result, "remarks", "Remarks");
    fputs("</section>\n", out);
    return status;
}

/* ---- the command ---------------------------------------------------------------------
 */

static bool is_result(const json_t *value)
{
    return json_is_object(value) && json_is_string(json_object_get(value, "kind")) &&
           json_is_integer(json_object_get(value, "format"));
}

/* Adds the results of a file to `all`. */
static int load(const cli_run *run, const char *path, json_t *all)
{
    char buffer[4096];
    json_error_t error;
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
    int status = CLI_DONE;
    json_array_foreach(list, i, item)
    {
        json_int_t format = json_integer_value(json_object_get(item, "format"));
        if (!is_result(item)) {
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

static int write_page(const cli_run *run, FILE *out, const fields *f, const json_t *all)
{
    int status = CLI_DONE;
    size_t i;
    json_t *result;
    head(out, f->title);
    fputs("<nav>\n", out);
    json_array_foreach(all, i, result)
    {
        fprintf(out, "<a href=\"#r%zu\">", i);
        figure_escape(out,
                      figure_string(result, "name", figure_string(result, "kind", "")));
        fputs("</a>\n", out);
    }
    fputs("</nav>\n", out);
    json_array_foreach(all, i, result)
    {
        int one = section(run, out, f->figures, result, i);
        status = status == CLI_DONE ? one : status;
    }
    fprintf(out, "<script>%s</script>\n</body>\n</html>\n", page_script);
    return status;
}

static int run_report(cli_run *run)
{
    fields f;
    json_t *all = json_array();
    int status = cli_status(run, cli_fields(run, &f));
    for (int i = 0; status == CLI_DONE && i < run->operand_count; i++) {
        status = load(run, run->operands[i], all);
    }
    cli_file *file = status == CLI_DONE ? cli_file_open(run, f.output) : NULL;
    if (file) {
        status = write_page(run, cli_file_stream(file), &f, all);
        status = cli_file_close(run, file, status);
    } else if (status == CLI_DONE) {
        status = CLI_FAILED;
    }
    if (status == CLI_DONE && !run->common.quiet && strcmp(f.output, "-") != 0) {
        fprintf(stderr, "okra report: %zu results written to %s\n", json_array_size(all),
                f.output);
    }
    json_decref(all);
    return status;
}

const cli_command cli_report = {
    .name = "report",
    .purpose = "Draw results as one HTML page with tables and figures",
    .usage = "RESULT.json... -o FILE.html [flags]",
    .about = "Results come from okra paper, select, link and score with --json; their "
             "form is\n"
             "in docs/results-format.md. The page needs no network and no other file, "
             "follows\n"
             "the system's light or dark theme, and reads on a phone and on paper.\n",
    .examples = "okra report results/*.json -o report.html\n"
                "okra report results/*.json -o report.html --figures pictures\n",
    .own = {"report", rows, sizeof(fields)},
    .refuses = " threads seed memory json ",
    .operands_least = 1,
    .operands_most = 60,
    .operand = "RESULT",
    .run = run_report,
};
