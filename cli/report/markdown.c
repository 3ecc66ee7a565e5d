/*
 * markdown.c: results as a page of Markdown, for a repository.
 */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

/* Text in which nothing is markup, one line. */
void report_escape(FILE *out, const char *text)
{
    char buffer[FIGURE_CHARACTER];
    while (*text) {
        char c = *text;
        if (strchr("|*_`[]#\\", c)) {
            fputc('\\', out);
        }
        if (c == '<' || c == '>' || c == '&') {
            fputs(c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&amp;", out);
        } else if (c == '\n' || c == '\r') {
            fputc(' ', out);
        } else {
            const char *shown = figure_character(&text, buffer);
            fputs(*shown == '\\' && c != '\\' ? "\\" : "", out);
            fputs(shown, out);
            continue;
        }
        text++;
    }
}

/* ---- tables ---- */

/* Reasons of a table's cells, each said once above it. */
typedef struct reasons {
    const char *text[64];
    int count;
} reasons;

/* The number of a reason from 1 on; 0: none, or no more room. */
static int reason(reasons *r, const char *why)
{
    for (int k = 0; k < r->count; k++) {
        if (strcmp(r->text[k], why) == 0) {
            return k + 1;
        }
    }
    if (!*why || r->count == (int)(sizeof r->text / sizeof *r->text)) {
        return 0;
    }
    r->text[r->count++] = why;
    return r->count;
}

static const json_t *cell_of(const json_t *row, const json_t *column)
{
    const char *name = json_string_value(column);
    return name ? json_object_get(json_object_get(row, "cells"), name) : NULL;
}

/* One line a cell: paper beside okra. */
static void compared_row(FILE *out, const json_t *t, const json_t *row, reasons *why)
{
    size_t j;
    json_t *column;
    json_array_foreach(json_object_get(t, "columns"), j, column)
    {
        const json_t *c = cell_of(row, column);
        char text[64];
        if (!c) {
            continue;
        }
        int decimals = report_decimals(t, json_string_value(column));
        fputs("| ", out);
        report_escape(out, figure_string(row, "label", ""));
        fputs(" | ", out);
        report_escape(out, json_string_value(column));
        fprintf(out, " | %s | ",
                report_value(c, decimals, "paper", "paper_sd", text, sizeof text));
        fputs(report_value(c, decimals, "okra", "okra_sd", text, sizeof text), out);
        fprintf(out, " | %s | ", report_difference(c, text, sizeof text));
        fputs(json_is_number(json_object_get(c, "paper")) ? report_verdict(c) : "–", out);
        int number =
            report_needs_reason(c) ? reason(why, figure_string(c, "why", "")) : 0;
        if (number) {
            fprintf(out, " (%d)", number);
        }
        fputs(json_is_true(json_object_get(c, "seen")) ? ", seen" : "", out);
        fputs(" |\n", out);
    }
}

/* Values alone, rows by columns. */
static void plain_row(FILE *out, const json_t *t, const json_t *row)
{
    size_t j;
    json_t *column;
    fputs("| ", out);
    report_escape(out, figure_string(row, "label", ""));
    json_array_foreach(json_object_get(t, "columns"), j, column)
    {
        char text[64];
        const json_t *c = cell_of(row, column);
        int decimals = report_decimals(t, c ? json_string_value(column) : "");
        fprintf(out, " | %s%s",
                c ? report_value(c, decimals, "okra", "okra_sd", text, sizeof text) : "",
                json_is_true(json_object_get(c, "seen")) ? " (seen)" : "");
    }
    fputs(" |\n", out);
}

/* Has any cell a printed value? */
static bool is_compared(const json_t *t)
{
    size_t i, j;
    json_t *row, *column;
    json_array_foreach(json_object_get(t, "rows"), i, row)
    {
        json_array_foreach(json_object_get(t, "columns"), j, column)
        {
            if (json_is_number(json_object_get(cell_of(row, column), "paper"))) {
                return true;
            }
        }
    }
    return false;
}

/* Why cells are not compared or not met, above the table; `why` is filled. */
static void caveats(FILE *out, const json_t *t, reasons *why)
{
    size_t i, j;
    json_t *row, *column;
    bool seen = false;
    json_array_foreach(json_object_get(t, "rows"), i, row)
    {
        json_array_foreach(json_object_get(t, "columns"), j, column)
        {
            const json_t *c = cell_of(row, column);
            if (c && report_needs_reason(c)) {
                reason(why, figure_string(c, "why", ""));
            }
            seen = seen || json_is_true(json_object_get(c, "seen"));
        }
    }
    if (seen) {
        fputs("Cells that were tuned with test results in sight are marked and not "
              "counted.\n\n",
              out);
    }
    for (int k = 0; k < why->count; k++) {
        fprintf(out, "(%d) ", k + 1);
        report_escape(out, why->text[k]);
        fputs(k + 1 < why->count ? "  \n" : "\n\n", out);
    }
}

static void plain_head(FILE *out, const json_t *t)
{
    size_t i;
    json_t *item;
    fputs("| |", out);
    json_array_foreach(json_object_get(t, "columns"), i, item)
    {
        fputc(' ', out);
        report_escape(out, json_is_string(item) ? json_string_value(item) : "");
        fputs(" |", out);
    }
    fputs("\n|---|", out);
    for (i = 0; i < json_array_size(json_object_get(t, "columns")); i++) {
        fputs("---:|", out);
    }
    fputc('\n', out);
}

static void table(FILE *out, const json_t *t)
{
    size_t i;
    json_t *item;
    reasons why = {.count = 0};
    bool compared = is_compared(t);
    const char *better = figure_string(t, "better", "neither"),
               *spread = figure_string(t, "spread", "");
    fputs("### ", out);
    report_escape(out, figure_string(t, "title", ""));
    fputs("\n\n", out);
    report_escape(out, figure_string(t, "metric", ""));
    fprintf(out, "%s%s%s", strcmp(better, "neither") == 0 ? "" : ", ",
            strcmp(better, "lower") == 0    ? "lower is better"
            : strcmp(better, "higher") == 0 ? "higher is better"
                                            : "",
            *spread ? ", ± " : "");
    report_escape(out, spread);
    fputs("\n\n", out);
    caveats(out, t, &why);
    if (compared) {
        fputs("| row | column | paper | okra | difference | verdict |\n"
              "|---|---|---:|---:|---:|---|\n",
              out);
    } else {
        plain_head(out, t);
    }
    json_array_foreach(json_object_get(t, "rows"), i, item)
    {
        if (compared) {
            compared_row(out, t, item, &why);
        } else {
            plain_row(out, t, item);
        }
    }
    fputc('\n', out);
}

/* ---- one result ---- */

/* The folder of figures as the page sees it. */
static const char *beside(const report_settings *s)
{
    const char *slash = strrchr(s->output, '/');
    size_t length = slash ? (size_t)(slash - s->output) + 1 : 0;
    return strncmp(s->output, s->figures, length) == 0 ? s->figures + length : s->figures;
}

static int figure(const cli_run *run, FILE *out, const report_settings *s,
                  const char *result, const json_t *f)
{
    char name[256];
    report_figure_name(name, sizeof name, result, figure_string(f, "id", "figure"));
    fputs("![", out);
    report_escape(out, figure_string(f, "title", ""));
    fprintf(out, "](%s/%s.svg)\n\n", beside(s), name);
    return report_save_figure(run, s->figures, result, f);
}

static void notes(FILE *out, const json_t *result, const char *key, const char *heading)
{
    size_t i;
    json_t *note;
    const json_t *list = json_object_get(result, key);
    if (json_array_size(list) == 0) {
        return;
    }
    fprintf(out, "%s:\n\n", heading);
    json_array_foreach(list, i, note)
    {
        fputs("- ", out);
        report_escape(out, json_is_string(note) ? json_string_value(note) : "");
        fputc('\n', out);
    }
    fputc('\n', out);
}

static int section(const cli_run *run, FILE *out, const report_settings *s,
                   const json_t *all, size_t number)
{
    const json_t *result = json_array_get(all, number);
    const char *paper = figure_string(result, "paper", "");
    char origin[2048], name[128];
    report_name(all, number, name, sizeof name);
    int status = CLI_DONE;
    size_t i;
    json_t *item;
    fputs("## ", out);
    report_escape(out, name);
    fputs("\n\n", out);
    report_escape(out, paper);
    fputs(*paper ? ". " : "", out);
    report_escape(out, figure_string(result, "title", name));
    fputs("\n\n", out);
    report_escape(out, report_origin(result, origin, sizeof origin));
    fputs("\n\n", out);
    notes(out, result, "deviations", "Where our data or protocol is not the paper's");
    notes(out, result, "readings", "Readings taken where the protocol is open");
    notes(out, result, "remarks", "Remarks");
    json_array_foreach(json_object_get(result, "tables"), i, item)
    {
        table(out, item);
    }
    json_array_foreach(json_object_get(result, "figures"), i, item)
    {
        if (*s->figures) {
            int one = figure(run, out, s, name, item);
            status = status == CLI_DONE ? one : status;
        }
    }
    return status;
}

static void overview(FILE *out, const json_t *all)
{
    size_t i;
    json_t *result;
    bool other = false;
    json_array_foreach(all, i, result)
    {
        other = other || json_array_size(json_object_get(result, "deviations")) > 0;
    }
    fputs(other ? "Entries with a star say in what their data or protocol are not the "
                  "paper's: what is better there is not comparable, and never beyond the "
                  "paper.\n\n"
                : "",
          out);
    fputs("| entry | reproduced | beyond the paper | not reproduced | not comparable |\n"
          "|---|---:|---:|---:|---:|\n",
          out);
    json_array_foreach(all, i, result)
    {
        int counts[REPORT_VERDICTS];
        char name[128], anchor[128];
        report_name(all, i, name, sizeof name);
        report_count(result, counts);
        int judged = 0;
        for (int v = 0; v < REPORT_VERDICTS; v++) {
            judged += counts[v];
        }
        if (judged == 0) { /* figures alone: nothing to count */
            continue;
        }
        fputs("| [", out);
        report_escape(out, name);
        report_figure_name(anchor, sizeof anchor, name, NULL);
        fprintf(out, "](#%s)%s", anchor,
                json_array_size(json_object_get(result, "deviations")) ? " \\*" : "");
        for (int v = 0; v < REPORT_VERDICTS; v++) {
            fprintf(out, counts[v] ? " | %d" : " | ", counts[v]);
        }
        fputs(" |\n", out);
    }
    fputc('\n', out);
}

/* At which commits the results were made. */
static void commits(FILE *out, const json_t *all)
{
    size_t i;
    json_t *result;
    const char *first = "";
    bool one = true;
    json_array_foreach(all, i, result)
    {
        const char *commit = figure_string(result, "commit", "");
        first = *first ? first : commit;
        one = one && strcmp(first, commit) == 0;
    }
    if (one && *first) {
        fputs("Every entry was run at commit ", out);
        report_escape(out, first);
        fputs(".\n\n", out);
    } else if (*first) {
        fputs("Entries were run at different commits; each says at which.\n\n", out);
    }
}

int report_markdown(const cli_run *run, FILE *out, const report_settings *settings,
                    const json_t *all)
{
    int status = CLI_DONE;
    size_t i;
    json_t *result;
    fputs("# ", out);
    report_escape(out, settings->title);
    fputs("\n\nWritten by `okra report` from results of `okra`; nothing here is typed by "
          "hand.\n\n",
          out);
    if (settings->claims) {
        bool alone = settings->claims == REPORT_CLAIMS_ALONE;
        commits(out, all);
        report_claims(out, all, alone ? "results.md" : "");
        if (alone) {
            return status;
        }
        fputs("## Cells of every entry\n\n", out);
    }
    if (report_has_paper(all)) {
        fprintf(out, "%s\n\n", report_rule);
        overview(out, all);
    }
    json_array_foreach(all, i, result)
    {
        int one = section(run, out, settings, all, i);
        status = status == CLI_DONE ? one : status;
    }
    return status;
}
