/*
 * paper.c: okra paper: tables and figures of the papers, run again.
 */
#include "commands.h"
#include "report/report.h"

#include "papers/paper.h"
#include "okra/program.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct fields {
    bool quick, full, keep;
    const char *results, *report;
} fields;

#define FIELDS fields
static const okra_option rows[] = {
    ROW(BOOL, "quick", quick, "no", "",
        "A smaller run of the same protocol (the default is the full one)"),
    ROW(BOOL, "full", full, "no", "", "The protocol as printed"),
    ROW(WRITTEN, "results", results, "results", "DIR",
        "Where the results go as JSON, and unfinished runs to be resumed"),
    ROW(BOOL, "keep", keep, "no", "",
        "all: take every finished result of the folder, also one of another okra"),
    ROW(WRITTEN, "report", report, "", "FILE",
        "Also write a page of the results, as okra report does (.html or .md)"),
    {0},
};

/* --data, OKRA_DATA, or ../shared/data if it is there; NULL: none. */
static const char *data_folder(const cli_run *run)
{
    const char *variable = getenv("OKRA_DATA"), *usual = "../shared/data";
    return *run->common.data          ? run->common.data
           : variable && *variable    ? variable
           : access(usual, R_OK) == 0 ? usual
                                      : NULL;
}

static const paper_entry *find(const char *name)
{
    for (size_t i = 0; paper_entries[i]; i++) {
        if (strcmp(paper_entries[i]->name, name) == 0) {
            return paper_entries[i];
        }
    }
    return NULL;
}

static int unknown(const cli_run *run, const char *name)
{
    const char *names[256];
    size_t count = 0;
    for (; paper_entries[count] && count < 256; count++) {
        names[count] = paper_entries[count]->name;
    }
    const char *near = okra_nearest(name, names, count);
    return near ? cli_usage(run, "there is no entry '%s'; did you mean '%s'?", name, near)
                : cli_usage(run, "there is no entry '%s'; 'okra paper list' names them",
                            name);
}

/* ---- okra paper list: every table and figure, and how it stands with it ---- */

static const char *const times[] = {"seconds", "minutes", "an hour"};

/* The date of the finished result, or null. */
static json_t *run_before(const paper_entry *e, const paper_settings *settings,
                          const okra_context *context, bool quick)
{
    paper_settings s = *settings;
    s.quick = quick;
    json_t *result = paper_finished(e, &s, context, true);
    json_t *date = result ? json_string(cli_text(result, "date", "")) : json_null();
    json_decref(result);
    return date;
}

static json_t *describe_entry(const paper_entry *e, const paper_settings *settings,
                              const okra_context *context)
{
    char missing[4096] = "", needs[1024];
    bool there = paper_available(e, settings, missing, sizeof missing);
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:b,s:s,s:s,s:s,s:o,s:o}", "name", e->name,
                     "paper", e->paper, "title", e->title, "files",
                     e->files ? e->files : "", "original", e->original ? e->original : "",
                     "needs", paper_needs(e, needs, sizeof needs), "available", there,
                     "missing", there ? "" : missing, "quick", times[e->quick], "full",
                     times[e->full], "quick_run", run_before(e, settings, context, true),
                     "full_run", run_before(e, settings, context, false));
}

static json_t *describe_item(const paper_item *item)
{
    json_t *entries = json_array();
    for (const char *p = item->entries; p && *p;) {
        size_t width = strcspn(p, " ");
        json_array_append_new(entries, json_stringn(p, width));
        p += width + (p[width] == ' ');
    }
    return json_pack("{s:s,s:s,s:s,s:o,s:s}", "paper", item->paper, "item", item->item,
                     "title", item->title, "entries", entries, "note",
                     item->note ? item->note : "");
}

/* ---- for people ---- */

static void print_items(const json_t *items)
{
    size_t i, k;
    json_t *item, *name;
    const char *paper = "";
    json_array_foreach(items, i, item)
    {
        const char *note = cli_text(item, "note", "");
        if (strcmp(paper, cli_text(item, "paper", "")) != 0) {
            paper = cli_text(item, "paper", "");
            printf("%s\n", paper);
        }
        printf("  %-14s  %-45s", cli_text(item, "item", ""), cli_text(item, "title", ""));
        json_array_foreach(json_object_get(item, "entries"), k, name)
        {
            printf(" %s", json_string_value(name));
        }
        printf(k ? "\n" : " -\n");
        if (*note) {
            printf("  %-14s  %s%s\n", "", k ? "" : "not run: ", note);
        }
    }
}

static void print_entries(const json_t *entries)
{
    size_t i;
    json_t *e;
    printf("\nEntries\n");
    json_array_foreach(entries, i, e)
    {
        bool files = *cli_text(e, "files", "") != '\0';
        const char *quick = json_string_value(json_object_get(e, "quick_run")),
                   *full = json_string_value(json_object_get(e, "full_run"));
        printf("  %-18s%s%s\n", cli_text(e, "name", ""), cli_text(e, "needs", ""),
               !files                                          ? ""
               : json_is_true(json_object_get(e, "available")) ? ": there"
                                                               : ": not there");
        printf("  %-18squick takes %s, full %s; %s%s%s%s%s\n", "",
               cli_text(e, "quick", ""), cli_text(e, "full", ""),
               quick || full ? "run here: " : "not run here yet", quick ? "quick " : "",
               quick ? quick : "", full ? " full " : "", full ? full : "");
    }
}

static int paper_list(cli_run *run, const paper_settings *settings)
{
    json_t *items = json_array(), *entries = json_array();
    for (const paper_item *item = paper_items; item->paper; item++) {
        json_array_append_new(items, describe_item(item));
    }
    for (size_t i = 0; paper_entries[i]; i++) {
        json_array_append_new(entries,
                              describe_entry(paper_entries[i], settings, run->context));
    }
    json_t *all = json_pack("{s:o,s:o}", "items", items, "entries", entries);
    if (run->common.json) {
        return cli_print_json(run, all);
    }
    print_items(items);
    print_entries(entries);
    json_decref(all);
    return CLI_DONE;
}

/* ---- runs ---- */

/* One call: what to run and what became of it. */
typedef struct job {
    cli_run *run;
    paper_settings settings;
    bool keep;
    json_t *results; /* array, also of entries that are left out */
} job;

/* The result beside the others, whole or not at all. */
static int save(const job *j, const paper_entry *e, const json_t *result)
{
    char path[4096];
    paper_result_path(e, &j->settings, path, sizeof path);
    cli_file *file = cli_file_open(j->run, path);
    if (!file) {
        return CLI_FAILED;
    }
    int failed = json_dumpf(result, cli_file_stream(file),
                            JSON_INDENT(1) | JSON_REAL_PRECISION(12));
    CHK(cli_file_close(j->run, file, failed ? CLI_FAILED : CLI_DONE));
    if (!j->run->common.quiet && !j->run->common.json) {
        printf("  written to %s\n\n", path);
    }
    return CLI_DONE;
}

/* Every fold of an entry may have the same to tell: its first warnings and how many more
 * there are will do. */
enum { WARNINGS = 3 };

typedef struct warnings {
    cli_run *run;
    long count;
} warnings;

static void on_warning(void *user, const char *text)
{
    warnings *w = user;
    if (w->count++ < WARNINGS) {
        cli_on_warning(w->run, text);
    }
}

static int run_one(const job *j, const paper_entry *e)
{
    cli_run *run = j->run;
    json_t *result = NULL;
    warnings w = {run, 0};
    okra_context_set_warning(run->context, on_warning, &w);
    int status = cli_status(run, paper_execute(run->context, e, &j->settings, &result));
    okra_context_set_warning(run->context, cli_on_warning, run);
    if (w.count > WARNINGS && !run->common.quiet) {
        fprintf(stderr, "okra paper: %ld more warnings of %s\n", w.count - WARNINGS,
                e->name);
    }
    if (status == CLI_DONE) {
        if (!run->common.json && !run->common.quiet) {
            paper_print(result, stdout);
        }
        status = save(j, e, result);
        if (status == CLI_DONE) {
            paper_forget(run->context, e, &j->settings);
        }
        json_array_append(j->results, result);
    } else if (cli_signal_caught() && !run->common.quiet) {
        fprintf(stderr, "okra paper: the same command goes on with %s where it stopped\n",
                e->name);
    }
    json_decref(result);
    return status;
}

/* A finished result of the folder that need not be run again. */
static bool take(const job *j, const paper_entry *e)
{
    json_t *result = paper_finished(e, &j->settings, j->run->context, j->keep);
    if (result && !j->run->common.quiet) {
        fprintf(stderr, "okra paper: %s is finished, its result of %s is taken\n",
                e->name, cli_text(result, "date", "before"));
    }
    if (result) {
        json_array_append_new(j->results, result);
    }
    return result != NULL;
}

/* `all` leaves out entries whose data is not there, and says so. */
static int run_all(const job *j)
{
    int status = CLI_DONE;
    for (size_t i = 0; paper_entries[i] && !cli_signal_caught(); i++) {
        const paper_entry *e = paper_entries[i];
        char missing[4096];
        if (!paper_available(e, &j->settings, missing, sizeof missing)) {
            fprintf(stderr, "okra paper: %s is left out: it needs %s\n", e->name,
                    paper_needs(e, missing, sizeof missing));
            json_array_append_new(j->results, paper_left_out(e, &j->settings));
        } else if (!take(j, e)) {
            int one = run_one(j, e);
            status = status == CLI_DONE ? one : status;
        }
    }
    return status;
}

/* The page also of what was finished before an entry failed. */
static int finish(const job *j, const char *report, int status)
{
    if (*report && !cli_signal_caught()) {
        int written = report_draw(
            j->run, j->results, report,
            j->settings.quick ? "The papers again, quick runs" : "The papers again", "");
        status = status == CLI_DONE ? written : status;
    }
    if (j->run->common.json && status == CLI_DONE) {
        return cli_print_json(j->run, j->results);
    }
    json_decref(j->results);
    return status;
}

static int run_paper(cli_run *run)
{
    fields f;
    int status = CLI_DONE;
    TRY(cli_fields(run, &f));
    REFUSE_IF(f.quick && f.full, "--quick and --full exclude each other");
    char command[1024] = "okra paper";
    job j = {.run = run,
             .keep = f.keep,
             .settings = {.data = data_folder(run),
                          .results = f.results,
                          .quick = f.quick,
                          .command = command,
                          .engine = run->common.engine}};
    /* What --engine is without being given need not be typed again. */
    bool host = strcmp(run->common.engine, "host") == 0;
    const char *first = run->operand_count ? run->operands[0] : "list";
    if (strcmp(first, "list") == 0) {
        return paper_list(run, &j.settings);
    }
    for (int i = 0; i < run->operand_count; i++) {
        if (strcmp(run->operands[i], "all") != 0 && !find(run->operands[i])) {
            return unknown(run, run->operands[i]);
        }
    }
    if (*f.report && (cli_check_writable(run, f.report) || report_check(run))) {
        return CLI_FAILED;
    }
    j.results = json_array();
    for (int i = 0; i < run->operand_count && status == CLI_DONE; i++) {
        const char *name = run->operands[i];
        snprintf(command, sizeof command, "okra paper %s %s --seed %lld%s%s", name,
                 f.quick ? "--quick" : "--full", (long long)run->common.seed,
                 host ? "" : " --engine ", host ? "" : run->common.engine);
        status = strcmp(name, "all") == 0 ? run_all(&j) : run_one(&j, find(name));
    }
    return finish(&j, f.report, status);
}

const cli_command cli_paper = {
    .name = "paper",
    .purpose = "Run tables and figures of the papers again, paper beside okra",
    .usage = "[list | NAME... | all] [flags]",
    .about =
        "Without a name, lists every table and figure, what runs it and what that needs. "
        "A\nresult is printed with the paper's value, ours with its standard deviation "
        "over\nfolds or repeats, their difference in standard deviations and a verdict, "
        "and\nwritten as JSON. Data is looked for in --data, OKRA_DATA and "
        "../shared/data, in\nokra's form or as published (zip.train, usps_all.mat, "
        "letter.data, ...). An\ninterrupted run goes on where it stopped when it is "
        "started again. Processes with\nthe same entry and --results share its work. "
        "'all' leaves out entries whose data\nis not there, and takes results that this "
        "okra finished with the same seed\nbefore.\n",
    .examples = "okra paper list\n"
                "okra paper kadri-t2-left --quick --data DIR\n"
                "okra paper all --quick --report papers.html\n"
                "okra paper all --full --data DIR\n",
    .refuses = "bag",
    .own = {"paper", rows, sizeof(fields)},
    .operands_least = 0,
    .operands_most = 60,
    .operand = "NAME",
    .run = run_paper,
};
