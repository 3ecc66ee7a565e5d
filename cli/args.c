/*
 * args.c: flags from option tables. "--name VALUE", "--name=VALUE", "--name" for
 * yes-or-no flags, "-o" for the few that have a letter; "--" ends the flags.
 */
#include "cli.h"
#include "okra/program.h"

#include <stdlib.h>
#include <string.h>

#define FIELDS cli_common
static const okra_option common_rows[] = {
    ROW(BOOL, "json", json, "no", "", "Print what happened as JSON on standard output"),
    ROW(BOOL, "quiet", quiet, "no", "",
        "No progress, no warnings, no summary; what was asked for is still printed"),
    RANGE(INT, "threads", threads, "0", 0, 1024, "N", "Threads to use; 0: every core"),
    ROW(TEXT, "memory", memory, "", "SIZE",
        "Memory budget, e.g. 8G; three quarters of the machine's if not given"),
    RANGE(INT, "seed", seed, "0", 0, 9e18, "N",
          "Seed of everything random: same seed, same result"),
    ROW(TEXT, "engine", engine, "host", "NAME[:DEVICE]",
        "Where large matrices live; 'okra version --build-info' lists the engines"),
    ROW(READ, "data", data, "", "DIR",
        "Folder in which data files are looked for when they are not found as typed; the "
        "environment variable OKRA_DATA if not given"),
    CHOICE("header", header, "auto", "auto|yes|no", "",
           "Is the first line of a table the names of its columns? auto: what stands "
           "below it decides"),
    ROW(TEXT, "bag", bag, "", "FIELD",
        "Inputs that have the same text in this field of spectra (INCHIKEY) or column of "
        "a table are one bag, with one output"),
    ROW(BOOL, "strict", strict, "no", "",
        "A broken spectrum or candidate of a file is an error; else okra skips it and "
        "says how many it skipped"),
    ROW(BOOL, "help", help, "no", "", "Show this help"),
    {0}};
const okra_option_table cli_common_table = {"flags", common_rows, sizeof(cli_common)};

static const struct {
    char letter;
    const char *name;
} letters[] = {{'o', "output"}, {'h', "help"}, {'q', "quiet"}};
enum { LETTERS = sizeof letters / sizeof *letters };

char cli_short(const char *name)
{
    for (size_t i = 0; i < LETTERS; i++) {
        if (strcmp(letters[i].name, name) == 0) {
            return letters[i].letter;
        }
    }
    return 0;
}

/* Is the name a word of the list? */
static bool in_list(const char *list, const char *name)
{
    size_t length = strlen(name), word;
    for (const char *at = list ? list : ""; *at; at += word + (at[word] == ' ')) {
        word = strcspn(at, " ");
        if (word == length && memcmp(at, name, length) == 0) {
            return true;
        }
    }
    return false;
}

bool cli_refuses(const cli_command *command, const char *name)
{
    return in_list(command->refuses, name);
}

/* The tables of a command: its own, the common one, the library's. */
typedef struct tables {
    const okra_option_table *all[80];
    size_t count, own; /* the first `own` are the program's */
} tables;

static tables tables_of(const cli_command *command)
{
    tables t = {.own = 2, .count = 2};
    t.all[0] = &command->own;
    t.all[1] = &cli_common_table;
    size_t more = 0;
    const okra_option_table *const *library =
        command->topic ? okra_option_tables(command->topic, &more) : NULL;
    for (size_t i = 0; i < more && t.count < 80; i++) {
        t.all[t.count++] = library[i];
    }
    return t;
}

static const okra_option *find_row(const tables *t, const char *name, bool *library)
{
    for (size_t i = 0; i < t->count; i++) {
        for (const okra_option *row = t->all[i]->rows; row && row->name; row++) {
            if (strcmp(row->name, name) == 0) {
                *library = i >= t->own;
                return row;
            }
        }
    }
    return NULL;
}

static int unknown_flag(const cli_run *run, const tables *t, const char *name)
{
    const char *names[512];
    size_t count = 0;
    for (size_t i = 0; i < t->count; i++) {
        for (const okra_option *row = t->all[i]->rows; row && row->name && count < 512;
             row++) {
            names[count++] = row->name;
        }
    }
    const char *near = okra_nearest(name, names, count);
    return near
               ? cli_usage(run, "there is no flag --%s; did you mean --%s?", name, near)
               : cli_usage(run, "there is no flag --%s; 'okra %s --help' lists the flags",
                           name, run->command->name);
}

/* Flags that may be repeated gather their values in a list: metrics between commas, the
 * flags that the command names on lines of their own. */
static okra_status set(const cli_command *command, okra_options *options,
                       const okra_option *row, const char *value)
{
    char separator = in_list(command->gathers, row->name) ? '\n'
                     : strcmp(row->name, "metric") == 0   ? ','
                                                          : 0;
    if (!separator || !okra_options_is_set(options, row->name)) {
        return okra_options_set(options, row->name, value);
    }
    const char *before = okra_options_get(options, row->name);
    size_t size = strlen(before) + strlen(value) + 2;
    char *list = malloc(size);
    if (!list) {
        return OKRA_EMEM;
    }
    snprintf(list, size, "%s%c%s", before, separator, value);
    okra_status st = okra_options_set(options, row->name, list);
    free(list);
    return st;
}

/* One flag; *at is moved past its value. */
static int flag(cli_run *run, const tables *t, int argc, char **argv, int *at)
{
    const char *arg = argv[*at], *value = NULL;
    char name[64] = "";
    if (arg[1] == '-') {
        size_t length = strcspn(arg + 2, "=");
        snprintf(name, sizeof name, "%.*s", (int)(length < 63 ? length : 63), arg + 2);
        value = arg[2 + length] ? arg + 3 + length : NULL;
    } else {
        for (size_t i = 0; i < LETTERS; i++) {
            if (arg[1] == letters[i].letter && !arg[2]) {
                snprintf(name, sizeof name, "%s", letters[i].name);
            }
        }
        REFUSE_IF(!*name, "there is no flag %s", arg);
    }
    bool library = false;
    const okra_option *row = find_row(t, name, &library);
    if (!row) {
        return unknown_flag(run, t, name);
    }
    REFUSE_IF(!library && in_list(run->command->refuses, name), "--%s has no use here",
              name);
    bool yes = row->type == OKRA_OPTION_BOOL ||
               (row->choices && strncmp(row->choices, "no|yes|", 7) == 0);
    if (!value && yes) { /* another choice comes after '=' */
        value = "yes";
    } else if (!value) {
        REFUSE_IF(*at + 1 >= argc, "%s needs a value: %s", arg, row->metavar);
        value = argv[++*at];
    }
    return cli_status(
        run, set(run->command, library ? run->library : run->options, row, value));
}

int cli_parse(cli_run *run, int argc, char **argv)
{
    tables t = tables_of(run->command);
    int status = cli_status(run, okra_options_create(t.all, t.own, &run->options));
    if (status == CLI_DONE && run->command->topic) {
        status = cli_status(
            run, okra_options_create(t.all + t.own, t.count - t.own, &run->library));
    }
    bool flags = true;
    for (int i = 0; i < argc && status == CLI_DONE; i++) {
        if (flags && strcmp(argv[i], "--") == 0) {
            flags = false;
        } else if (flags && argv[i][0] == '-' && argv[i][1]) {
            status = flag(run, &t, argc, argv, &i);
        } else if (run->operand_count >= run->command->operands_most ||
                   run->operand_count >= 64) {
            bool files = false;
            for (const okra_option *row = run->command->own.rows; row->name; row++) {
                files = files || strcmp(row->name, "x") == 0;
            }
            status =
                cli_usage(run, "'%s' is one argument too many%s", argv[i],
                          files ? ": files are given by flags, --x FILE and others" : "");
        } else {
            run->operands[run->operand_count++] = argv[i];
        }
    }
    return status;
}

int cli_check_required(const cli_run *run)
{
    REFUSE_IF(run->operand_count < run->command->operands_least,
              "%s is missing: okra %s %s", run->command->operand, run->command->name,
              run->command->usage);
    for (const okra_option *row = run->command->own.rows; row && row->name; row++) {
        if (!row->preset && !okra_options_is_set(run->options, row->name)) {
            char letter = cli_short(row->name);
            return letter ? cli_usage(run, "-%c %s is missing: %s", letter, row->metavar,
                                      row->help)
                          : cli_usage(run, "--%s %s is missing: %s", row->name,
                                      row->metavar, row->help);
        }
    }
    return CLI_DONE;
}

okra_status cli_fields(const cli_run *run, void *fields)
{
    return okra_options_read(run->options, &run->command->own, fields);
}
