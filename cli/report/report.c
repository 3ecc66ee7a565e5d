/*
 * report.c: okra report: results as one page, HTML that needs nothing else or Markdown.
 */
#include "report/report.h"
#include "commands.h"
#include "papers/claims.h"

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
    /* The engine that a run has without asking for one is not told. */
    join(buffer, size, "engine ", strcmp(engine, "host") == 0 ? "" : engine);
    return buffer;
}

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
