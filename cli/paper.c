/*
 * paper.c: okra paper: tables and figures of the papers, run again.
 */
#include "commands.h"

#include "papers/paper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct fields {
    bool quick, full;
    const char *results;
} fields;

static const okra_option rows[] = {
    {"quick", OKRA_OPTION_BOOL, offsetof(fields, quick), "no", 1, 0, NULL, "",
     "A smaller run of the same protocol (the default is the full one)"},
    {"full", OKRA_OPTION_BOOL, offsetof(fields, full), "no", 1, 0, NULL, "",
     "The protocol as printed"},
    {"results", OKRA_OPTION_TEXT, offsetof(fields, results), "results", 1, 0, NULL, "DIR",
     "Where the results go as JSON, and unfinished runs to be resumed"},
    {0},
};

static const char *const times[] = {"seconds", "minutes", "an hour"};

/* --data, OKRA_DATA, or ../shared/data if it is there; NULL: none. */
static const char *data_folder(const cli_run *run)
{
    const char *variable = getenv("OKRA_DATA"), *usual = "../shared/data";
    return *run->common.data          ? run->common.data
           : variable && *variable    ? variable
           : access(usual, R_OK) == 0 ? usual
                                      : NULL;
}

static json_t *describe(const paper_entry *e, const paper_settings *settings)
{
    char missing[4096] = "";
    bool there = paper_available(e, settings, missing, sizeof missing);
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:b,s:s,s:s,s:s}", "name", e->name, "paper",
                     e->paper, "title", e->title, "files", e->files ? e->files : "",
                     "original", e->original ? e->original : "", "available", there,
                     "missing", missing, "quick", times[e->quick], "full",
                     times[e->full]);
}

static int list(cli_run *run, const paper_settings *settings)
{
    json_t *all = json_array();
    for (size_t i = 0; paper_entries[i]; i++) {
        json_array_append_new(all, describe(paper_entries[i], settings));
    }
    if (run->common.json) {
        return cli_print_json(run, all);
    }
    size_t i;
    json_t *e;
    json_array_foreach(all, i, e)
    {
        const char *why = json_string_value(json_object_get(e, "why"));
        const char *files = json_string_value(json_object_get(e, "files"));
        if (why) {
            printf("%-18s %s, %s\n%-18s cannot be run: %s\n", "-",
                   json_string_value(json_object_get(e, "paper")),
                   json_string_value(json_object_get(e, "title")), "", why);
            continue;
        }
        bool there = json_is_true(json_object_get(e, "available"));
        printf("%-18s %s, %s\n", json_string_value(json_object_get(e, "name")),
               json_string_value(json_object_get(e, "paper")),
               json_string_value(json_object_get(e, "title")));
        printf("%-18s %s%s%s; quick takes %s, full %s\n", "",
               *files ? "needs " : "built-in data", files, there ? "" : " (not there)",
               json_string_value(json_object_get(e, "quick")),
               json_string_value(json_object_get(e, "full")));
    }
    json_decref(all);
    return CLI_DONE;
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

/* The result beside the others, whole or not at all. */
static int save(const cli_run *run, const paper_entry *e, const paper_settings *settings,
                const json_t *result)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s-%s.json", settings->results, e->name,
             settings->quick ? "quick" : "full");
    cli_file *file = cli_file_open(run, path);
    if (!file) {
        return CLI_FAILED;
    }
    int status = json_dumpf(result, cli_file_stream(file),
                            JSON_INDENT(1) | JSON_REAL_PRECISION(12)) == 0
                     ? CLI_DONE
                     : CLI_FAILED;
    status = cli_file_close(run, file, status);
    if (status == CLI_DONE && !run->common.quiet && !run->common.json) {
        printf("  written to %s\n\n", path);
    }
    return status;
}

static int run_one(cli_run *run, const paper_entry *e, const paper_settings *settings,
                   json_t *results)
{
    json_t *result = NULL;
    int status = cli_status(run, paper_execute(run->context, e, settings, &result));
    if (status == CLI_DONE) {
        if (!run->common.json && !run->common.quiet) {
            paper_print(result, stdout);
        }
        status = save(run, e, settings, result);
        json_array_append(results, result);
    }
    json_decref(result);
    return status;
}

/* `all` leaves out entries whose data is not there, and says so. */
static int run_all(cli_run *run, const paper_settings *settings, json_t *results)
{
    int status = CLI_DONE;
    for (size_t i = 0; paper_entries[i] && !cli_signal_caught(); i++) {
        char missing[4096];
        if (!paper_available(paper_entries[i], settings, missing, sizeof missing)) {
            fprintf(stderr, "okra paper: %s is left out: %s is not in the data folder\n",
                    paper_entries[i]->name, missing);
            continue;
        }
        int one = run_one(run, paper_entries[i], settings, results);
        status = status == CLI_DONE ? one : status;
    }
    return status;
}

static int run_paper(cli_run *run)
{
    fields f;
    int status = cli_status(run, cli_fields(run, &f));
    if (status != CLI_DONE) {
        return status;
    }
    if (f.quick && f.full) {
        return cli_usage(run, "--quick and --full exclude each other");
    }
    char command[1024] = "okra paper";
    paper_settings settings = {.data = data_folder(run),
                               .results = f.results,
                               .quick = f.quick,
                               .command = command};
    const char *first = run->operand_count ? run->operands[0] : "list";
    if (strcmp(first, "list") == 0) {
        return list(run, &settings);
    }
    for (int i = 0; i < run->operand_count; i++) {
        if (strcmp(run->operands[i], "all") != 0 && !find(run->operands[i])) {
            return unknown(run, run->operands[i]);
        }
    }
    json_t *results = json_array();
    for (int i = 0; i < run->operand_count && status == CLI_DONE; i++) {
        const char *name = run->operands[i];
        snprintf(command, sizeof command, "okra paper %s %s --seed %lld", name,
                 f.quick ? "--quick" : "--full", (long long)run->common.seed);
        status = strcmp(name, "all") == 0 ? run_all(run, &settings, results)
                                          : run_one(run, find(name), &settings, results);
    }
    if (run->common.json && status == CLI_DONE) {
        return cli_print_json(run, results);
    }
    json_decref(results);
    return status;
}

const cli_command cli_paper = {
    .name = "paper",
    .purpose = "Run tables and figures of the papers again, paper beside okra",
    .usage = "[list | NAME... | all] [flags]",
    .about =
        "Without a name, lists what can be run and what each entry needs. A result is\n"
        "printed with the paper's value, ours with its standard deviation over folds or\n"
        "repeats, their difference in standard deviations and a verdict, and written as\n"
        "JSON. Data is looked for in --data, OKRA_DATA and ../shared/data. An "
        "interrupted\n"
        "run goes on where it stopped when it is started again.\n",
    .examples = "okra paper list\n"
                "okra paper kadri-t2-left --quick --data DIR\n"
                "okra paper all --full --data DIR\n",
    .own = {"paper", rows, sizeof(fields)},
    .operands_least = 0,
    .operands_most = 60,
    .operand = "NAME",
    .run = run_paper,
};
