/*
 * page.c: results as one HTML page that needs nothing else.
 */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

static const char page_style[] =
    "*{box-sizing:border-box}"
    "body{margin:0 auto;max-width:60rem;padding:1rem;font:16px/1.5 system-ui,sans-serif;"
    "color:var(--ink);background:var(--page);overflow-wrap:break-word}"
    "h1{font-size:1.6rem;margin:.5rem 0}h2{font-size:1.25rem;margin:2rem 0 .25rem}"
    "h3{font-size:1rem;margin:1.25rem 0 .25rem}p,li{margin:.25rem 0}"
    ".soft{color:var(--soft);font-size:.875rem}nav a{margin-right:1rem}a{color:var(--s0)}"
    /* shadows where there is more to scroll to: they move with the frame, their covers
     * with the table */
    ".wide{overflow-x:auto;background:linear-gradient(to right,var(--page),transparent) "
    "left/2.5rem 100% no-repeat local,linear-gradient(to left,var(--page),transparent) "
    "right/2.5rem 100% no-repeat local,linear-gradient(to right,var(--line),transparent) "
    "left/.75rem 100% no-repeat scroll,linear-gradient(to left,var(--line),transparent) "
    "right/.75rem 100% no-repeat "
    "scroll}summary{cursor:pointer}table{border-collapse:collapse;font-variant-numeric:"
    "tabular-"
    "nums}"
    "th,td{padding:.35rem .7rem;border-bottom:1px solid var(--line);text-align:right;"
    "vertical-align:top;white-space:nowrap}th:first-child,td:first-child{text-align:left}"
    "td .ours{font-weight:600}td .theirs{display:block;color:var(--soft);font-size:.8rem}"
    "td .why{display:block;color:var(--soft);font-size:.75rem;white-space:normal;"
    "max-width:16rem;margin-left:auto}"
    "td .met{color:var(--good)}td .missed{color:var(--bad)}"
    "figure{margin:1rem 0;padding:.75rem;background:var(--card);border-radius:.5rem;"
    "overflow-x:auto}figure "
    "svg.figure{width:100%}figcaption{font-weight:600;margin-bottom:.5rem}"
    "button{float:right;font:inherit;color:inherit;background:var(--card);"
    "border:1px solid var(--line);border-radius:.4rem;padding:.2rem .7rem}"
    "th,td:first-child{white-space:normal;max-width:20rem}"
    "th:first-child,td:first-child{position:sticky;left:0;background:var(--page)}"
    "@media(max-width:40rem){th,td{padding:.3rem .4rem}td:first-child{max-width:9rem}"
    "td .why{max-width:11rem}}"
    "@media print{button,nav{display:none}figure,tr{break-inside:avoid}"
    ".wide,figure{overflow:visible}table{font-size:.75rem}td .theirs{font-size:.65rem}"
    "th,td{white-space:normal;padding:.2rem .4rem}}";

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
            ":root[data-theme=dark]{%s}@media "
            "print{:root:root:root{%s}}%s%s</style>\n</head>\n",
            figure_light, figure_dark, figure_dark, figure_light, page_style,
            figure_style);
    fputs("<body>\n<button id=\"theme\" type=\"button\">light / dark</button>\n<h1>",
          out);
    figure_escape(out, title);
    fputs("</h1>\n", out);
}

/* ---- tables ---- */

/* The verdict as a class of style: its first letters without blanks. */
static const char *style_of(const char *verdict)
{
    return strcmp(verdict, "not reproduced") == 0 ? "missed"
           : strcmp(verdict, "reproduced") == 0 || strncmp(verdict, "beyond", 6) == 0
               ? "met"
               : "open";
}

static void cell(FILE *out, const json_t *c, int decimals)
{
    if (!c) {
        fputs("<td></td>", out);
        return;
    }
    const char *verdict = report_verdict(c), *why = figure_string(c, "why", "");
    char text[64];
    fprintf(out, "<td><span class=\"ours\">%s</span>",
            report_value(c, decimals, "okra", "okra_sd", text, sizeof text));
    if (json_is_number(json_object_get(c, "paper"))) {
        fprintf(out, "<span class=\"theirs\">paper %s</span><span class=\"theirs %s\">%s",
                report_value(c, decimals, "paper", "paper_sd", text, sizeof text),
                style_of(verdict), verdict);
        fprintf(out, " (%s)</span>", report_difference(c, text, sizeof text));
    }
    if (*why && report_needs_reason(c)) {
        fputs("<span class=\"why\">", out);
        figure_escape(out, why);
        fputs("</span>", out);
    }
    fputs("</td>", out);
}

/* Has any cell of the row a value of ours? */
static bool was_run(const json_t *row)
{
    const char *key;
    json_t *c, *cells = json_object_get(row, "cells");
    json_object_foreach(cells, key, c)
    {
        if (json_is_number(json_object_get(c, "okra"))) {
            return true;
        }
    }
    return false;
}

/* Rows without a value, by their names, folded away. */
static void not_run(FILE *out, const json_t *t)
{
    size_t i, count = 0;
    json_t *row;
    json_array_foreach(json_object_get(t, "rows"), i, row)
    {
        count += !was_run(row);
    }
    if (count == 0) {
        return;
    }
    fprintf(out, "<details class=\"soft\"><summary>%zu %s not run</summary><ul>\n", count,
            count > 1 ? "entries were" : "entry was");
    json_array_foreach(json_object_get(t, "rows"), i, row)
    {
        if (!was_run(row)) {
            fputs("<li>", out);
            figure_escape(out, figure_string(row, "label", ""));
            fputs("</li>\n", out);
        }
    }
    fputs("</ul></details>\n", out);
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
        if (!was_run(row)) {
            continue;
        }
        fputs("<tr><td>", out);
        figure_escape(out, figure_string(row, "label", ""));
        fputs("</td>", out);
        json_array_foreach(columns, j, name)
        {
            const char *key = json_is_string(name) ? json_string_value(name) : "";
            cell(out, json_object_get(json_object_get(row, "cells"), key),
                 report_decimals(t, key));
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
    not_run(out, t);
}

/* ---- figures ---- */

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
    /* What such a stream loses for want of memory it does not tell. */
    bool told = !ferror(memory);
    long wrote = ftell(memory);
    if (fclose(memory) != 0 || !told || !svg || wrote < 0 || (size_t)wrote != length) {
        free(svg);
        return cli_failure(run, "no memory for a figure");
    }
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
    return good && *folder ? report_save_figure(run, folder, result, f) : CLI_DONE;
}

/* ---- one result ---- */

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

static int section(const cli_run *run, FILE *out, const char *folder, const json_t *all,
                   size_t number)
{
    const json_t *result = json_array_get(all, number);
    char origin[2048], name[128];
    report_name(all, number, name, sizeof name);
    int status = CLI_DONE;
    size_t i;
    json_t *item;
    bool empty = json_array_size(json_object_get(result, "tables")) == 0 &&
                 json_array_size(json_object_get(result, "figures")) == 0;
    fprintf(out, "<section id=\"r%zu\">\n%s<h2>", number,
            empty ? "<details><summary>nothing was run</summary>\n" : "");
    figure_escape(out, figure_string(result, "paper", ""));
    fputs(*figure_string(result, "paper", "") ? ": " : "", out);
    figure_escape(out, figure_string(result, "title", name));
    fputs("</h2>\n<p class=\"soft\">", out);
    figure_escape(out, report_origin(result, origin, sizeof origin));
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
    fputs(empty ? "</details>\n" : "", out);
    fputs("</section>\n", out);
    return status;
}

/* ---- the page ---- */

/* How many cells of each result have which verdict. */
static void overview(FILE *out, const json_t *all)
{
    size_t i;
    json_t *result;
    fputs("<div class=\"wide\"><table class=\"overview\"><thead><tr><th></th>", out);
    for (int v = 0; v < REPORT_VERDICTS; v++) {
        fprintf(out, "<th>%s</th>", report_verdicts[v]);
    }
    fputs("</tr></thead><tbody>\n", out);
    json_array_foreach(all, i, result)
    {
        int counts[REPORT_VERDICTS];
        char name[128];
        report_count(result, counts);
        fprintf(out, "<tr><td><a href=\"#r%zu\">", i);
        figure_escape(out, report_name(all, i, name, sizeof name));
        fputs("</a></td>", out);
        for (int v = 0; v < REPORT_VERDICTS; v++) {
            fprintf(out, "<td>%d</td>", counts[v]);
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

int report_page(const cli_run *run, FILE *out, const report_settings *f,
                const json_t *all)
{
    int status = CLI_DONE;
    char name[128];
    size_t i;
    json_t *result;
    head(out, f->title);
    fputs("<nav>\n", out);
    json_array_foreach(all, i, result)
    {
        fprintf(out, "<a href=\"#r%zu\">", i);
        figure_escape(out, report_name(all, i, name, sizeof name));
        fputs("</a>\n", out);
    }
    fputs("</nav>\n", out);
    if (report_has_paper(all)) {
        fprintf(out, "<p class=\"soft\">%s</p>\n", report_rule);
        if (json_array_size(all) > 1) {
            overview(out, all);
        }
    }
    json_array_foreach(all, i, result)
    {
        int one = section(run, out, f->figures, all, i);
        status = status == CLI_DONE ? one : status;
    }
    fprintf(out, "<script>%s</script>\n</body>\n</html>\n", page_script);
    return status;
}
