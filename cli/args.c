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

void cli_tables_add(cli_tables *t, const char *topic)
{
    size_t more = 0;
    const okra_option_table *const *library =
        topic ? okra_option_tables(topic, &more) : NULL;
    for (size_t i = 0; i < more && t->count < CLI_TABLES; i++) {
        t->all[t->count++] = library[i];
    }
}

cli_tables cli_tables_of(const cli_command *command)
{
    cli_tables t = {.all = {&command->own, &cli_common_table},
                    .count = CLI_OWN_TABLES,
                    .command = command};
    cli_tables_add(&t, command->topic);
    return t;
}

const okra_option *cli_row_in(const okra_option_table *table, const char *name)
{
    const okra_option *row = table->rows;
    while (row && row->name && strcmp(row->name, name) != 0) {
        row++;
    }
    return row && row->name ? row : NULL;
}

const okra_option *cli_next_row(cli_tables *t)
{
    for (t->table += t->table == 0; t->table <= t->count;) {
        const okra_option *rows = t->all[t->table - 1]->rows;
        const okra_option *row = rows && rows[t->row].name ? &rows[t->row] : NULL;
        bool seen = row && t->command && t->all[t->table - 1] == &cli_common_table &&
                    in_list(t->command->refuses, row->name);
        for (size_t before = 0; row && before + 1 < t->table; before++) {
            seen = seen || cli_row_in(t->all[before], row->name);
        }
        t->row = row ? t->row + 1 : 0;
        t->table += !row;
        if (row && !seen) {
            return row;
        }
    }
    return NULL;
}

static int unknown_flag(const cli_run *run, const char *name)
{
    cli_tables t = cli_tables_of(run->command);
    const char *names[512];
    size_t count = 0;
    for (const okra_option *row; count < 512 && (row = cli_next_row(&t));) {
        names[count++] = row->name;
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
static int flag(cli_run *run, int argc, char **argv, int *at)
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
    cli_tables t = cli_tables_of(run->command);
    const okra_option *row = NULL;
    size_t table = 0;
    while (table < t.count && !(row = cli_row_in(t.all[table], name))) {
        table++;
    }
    bool library = table >= CLI_OWN_TABLES;
    if (!row) {
        return unknown_flag(run, name);
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
    cli_tables t = cli_tables_of(run->command);
    bool flags = true;
    TRY(okra_options_create(t.all, CLI_OWN_TABLES, &run->options));
    if (run->command->topic) {
        TRY(okra_options_create(t.all + CLI_OWN_TABLES, t.count - CLI_OWN_TABLES,
                                &run->library));
    }
    for (int i = 0; i < argc; i++) {
        if (flags && strcmp(argv[i], "--") == 0) {
            flags = false;
        } else if (flags && argv[i][0] == '-' && argv[i][1]) {
            CHK(flag(run, argc, argv, &i));
        } else {
            REFUSE_IF(run->operand_count >= run->command->operands_most ||
                          run->operand_count >= 64,
                      "'%s' is one argument too many%s", argv[i],
                      cli_row_in(&run->command->own, "x")
                          ? ": files are given by flags, --x FILE and others"
                          : "");
            run->operands[run->operand_count++] = argv[i];
        }
    }
    return CLI_DONE;
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
