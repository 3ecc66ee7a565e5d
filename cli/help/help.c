/*
 * help.c: okra help: what a command does and what a flag takes, from the tables; topics.c
 * has the rest.
 */
#include "commands.h"

#include <string.h>

enum { WIDTH = CLI_HELP_WIDTH, COLUMN = 26 };

/* ---- text ---- */

/* `text` in lines of `width`, the first beginning at `column`, the others at `indent`. */
void cli_wrap(FILE *out, const char *text, int indent, int column, int width)
{
    const char *gap = "";
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (*gap && column + 1 + length > width) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
            gap = "";
        }
        column += fprintf(out, "%s%.*s", gap, length, text);
        text += length;
        text += strspn(text, " ");
        gap = " ";
    }
    fputc('\n', out);
}

void cli_help_row(FILE *out, const okra_option *row, const char *prefix)
{
    char left[128], text[512];
    char letter = *prefix ? cli_short(row->name) : 0;
    char first[8] = "";
    if (letter) {
        snprintf(first, sizeof first, "-%c, ", letter);
    }
    snprintf(left, sizeof left, "  %s%s%s%s%s", first, prefix, row->name,
             row->metavar && *row->metavar ? (*prefix ? " " : "=") : "",
             row->metavar ? row->metavar : "");
    bool flag = row->type == OKRA_OPTION_BOOL && row->preset &&
                strcmp(row->preset, "no") == 0 && *prefix;
    const char *note = !row->preset && *prefix ? "required" : NULL;
    bool shows = row->preset && *row->preset && !flag;
    snprintf(text, sizeof text, "%s%s%s%s%s%s%s", row->help, row->choices ? ": " : "",
             row->choices ? row->choices : "", note || shows ? " [" : "",
             note    ? note
             : shows ? "default: "
                     : "",
             shows ? row->preset : "", note || shows ? "]" : "");
    int length = fprintf(out, "%s", left);
    if (length > COLUMN - 2) {
        fputc('\n', out);
        length = 0;
    }
    fprintf(out, "%*s", COLUMN - length, "");
    cli_wrap(out, text, COLUMN, COLUMN, WIDTH);
}

void cli_help_rows(FILE *out, const okra_option_table *table, const char *prefix)
{
    for (const okra_option *row = table->rows; row && row->name; row++) {
        cli_help_row(out, row, prefix);
    }
}

static void indented(FILE *out, const char *lines, const char *before)
{
    while (*lines) {
        size_t length = strcspn(lines, "\n");
        fprintf(out, "%s%.*s\n", before, (int)length, lines);
        lines += length + (lines[length] == '\n');
    }
}

/* ---- all of a command ---- */

/* What a table of the library is of: "ridge" is a method, "decoder labels" says so. */
typedef struct group {
    const char *noun, *name;
} group;

static group group_of(const okra_option_table *table)
{
    bool decoder = strncmp(table->owner, "decoder ", 8) == 0;
    bool command = strcmp(table->owner, "fit") == 0 ||
                   strcmp(table->owner, "predict") == 0 ||
                   strcmp(table->owner, "select") == 0;
    return (group){decoder   ? "decoder"
                   : command ? ""
                             : "method",
                   decoder ? table->owner + 8 : table->owner};
}

/* Names of the groups of a noun that have flags. */
static void others(FILE *out, const okra_option_table *const *tables, size_t count,
                   const char *noun, const char *shown)
{
    char text[1024];
    int used = snprintf(text, sizeof text,
                        "Flags of %s%ss, by --help --%s NAME:", *shown ? "other " : "",
                        noun, strcmp(noun, "method") == 0 ? "method" : "decode");
    for (size_t i = 0; i < count; i++) {
        group g = group_of(tables[i]);
        if (strcmp(g.noun, noun) == 0 && strcmp(g.name, shown) != 0 && tables[i]->rows &&
            tables[i]->rows->name && used < (int)sizeof text - 64) {
            used += snprintf(text + used, sizeof text - (size_t)used, " %s", g.name);
        }
    }
    cli_wrap(out, text, 4, 0, WIDTH);
}

/* That of a fit that names none. */
static const char *default_method(void)
{
    okra_options *o = NULL;
    static char name[64];
    if (okra_fit_options(&o) == OKRA_OK) {
        snprintf(name, sizeof name, "%s", okra_options_get(o, "method"));
    }
    okra_options_free(o);
    return name;
}

/* Flags of the library: those of every method, then those of the chosen one ("": that of
 * a fit without one). */
static void library_flags(FILE *out, const cli_command *command, const char *method,
                          const char *decode)
{
    size_t count = 0;
    const okra_option_table *const *tables = okra_option_tables(command->topic, &count);
    bool methods = false, decoders = false, low = false;
    method = *method ? method : default_method();
    for (size_t i = 0; i < count; i++) {
        group g = group_of(tables[i]);
        methods = methods || strcmp(g.noun, "method") == 0;
        decoders = decoders || strcmp(g.noun, "decoder") == 0;
        bool wanted = !*g.noun || strcmp(g.name, method) == 0 ||
                      (*g.noun == 'd' && strcmp(g.name, decode) == 0);
        if (!wanted || !tables[i]->rows || !tables[i]->rows->name) {
            continue;
        }
        if (*g.noun) {
            fprintf(out, "\nFlags of %s %s:\n", g.noun, g.name);
        }
        for (const okra_option *row = tables[i]->rows; row->name; row++) {
            low = low || cli_help_low_rank(row->name);
            if (!cli_row_in(&command->own, row->name) && !cli_help_low_rank(row->name)) {
                cli_help_row(out, row, "--");
            }
        }
    }
    fputc('\n', out);
    if (methods) {
        others(out, tables, count, "method", method);
    }
    if (decoders) {
        others(out, tables, count, "decoder", decode);
    }
    if (low) {
        cli_wrap(out,
                 "Large training sets and learned kernels: 'okra help low-rank' tells "
                 "--low-rank, --solver, --twin and what goes with them",
                 4, 0, WIDTH);
    }
}

/* The flags of every command by their names alone. */
static void common_flags(FILE *out, const cli_command *command)
{
    char text[512] = "Flags of every command:";
    size_t used = strlen(text);
    for (const okra_option *row = cli_common_table.rows; row->name; row++) {
        if (!cli_refuses(command, row->name)) {
            used += (size_t)snprintf(text + used, sizeof text - used, " --%s%s%s",
                                     row->name, row->metavar && *row->metavar ? " " : "",
                                     row->metavar ? row->metavar : "");
        }
    }
    snprintf(text + used, sizeof text - used, "; 'okra help flags' tells what they do");
    fputc('\n', out);
    cli_wrap(out, text, 4, 0, WIDTH);
}

void cli_help_command(FILE *out, const cli_command *command, const char *method,
                      const char *decode)
{
    fprintf(out, "%s.\n\nUsage: okra %s %s\n", command->purpose, command->name,
            command->usage);
    if (*command->about) {
        fprintf(out, "\n%s", command->about);
    }
    fputs("\nExamples:\n", out);
    indented(out, command->examples, "  ");
    if (command->own.rows->name) {
        fputs("\nFlags:\n", out);
    }
    cli_help_rows(out, &command->own, "--");
    if (command->topic) {
        library_flags(out, command, method, decode);
    }
    common_flags(out, command);
}

/* ---- one screen of a command ---- */

static bool is_common(const cli_command *command, const char *name)
{
    char spaced[80];
    snprintf(spaced, sizeof spaced, " %s ", name);
    return strstr(command->common, spaced) != NULL;
}

/* Is " --name" in the list? Two tables may share a flag (select: decode). */
static bool is_listed(const char *text, const char *name)
{
    char flag[64];
    int length = snprintf(flag, sizeof flag, " --%s", name);
    const char *at = strstr(text, flag);
    while (at && at[length] && at[length] != ' ') {
        at = strstr(at + 1, flag);
    }
    return at != NULL;
}

/* Rows of a table that are common, or names of those that are not, into a text. */
static void some_rows(FILE *out, const cli_command *command,
                      const okra_option_table *table, char *text, size_t size)
{
    for (const okra_option *row = table->rows; row && row->name; row++) {
        size_t used = text ? strlen(text) : 0;
        bool common = is_common(command, row->name);
        bool again = table != &command->own && cli_row_in(&command->own, row->name);
        if (again || common == (text != NULL) || (text && is_listed(text, row->name))) {
            continue;
        }
        if (text) {
            snprintf(text + used, size - used, " --%s", row->name);
        } else {
            cli_help_row(out, row, "--");
        }
    }
}

/* Whole examples, until there are four lines. */
static void first_examples(FILE *out, const char *lines)
{
    bool whole = true;
    for (int count = 0; *lines && (count < 4 || !whole); count++) {
        size_t length = strcspn(lines, "\n");
        fprintf(out, "  %.*s\n", (int)length, lines);
        whole = length == 0 || lines[length - 1] != '\\';
        lines += length + (lines[length] == '\n');
    }
}

void cli_help_screen(FILE *out, const cli_command *command, const char *method,
                     const char *decode)
{
    size_t count = 0;
    const okra_option_table *const *tables =
        command->topic ? okra_option_tables(command->topic, &count) : NULL;
    char text[2048] = "More flags:";
    if (!command->common) {
        cli_help_command(out, command, method, decode);
        return;
    }
    fprintf(out, "%s.\n\nUsage: okra %s %s\n\n", command->purpose, command->name,
            command->usage);
    first_examples(out, command->examples);
    fputs("\nFlags:\n", out);
    some_rows(out, command, &command->own, NULL, 0);
    some_rows(out, command, &command->own, text, sizeof text);
    for (size_t i = 0; i < count; i++) {
        group g = group_of(tables[i]);
        if (!*g.noun) {
            some_rows(out, command, tables[i], NULL, 0);
            some_rows(out, command, tables[i], text, sizeof text);
        } else if (strcmp(g.name, *g.noun == 'm' ? method : decode) == 0) {
            fprintf(out, "Flags of %s %s:\n", g.noun, g.name);
            for (const okra_option *row = tables[i]->rows; row && row->name; row++) {
                if (!cli_row_in(&command->own, row->name)) {
                    cli_help_row(out, row, "--");
                }
            }
        }
    }
    fputc('\n', out);
    cli_wrap(out, text, 4, 0, WIDTH);
    bool decodes = strcmp(command->topic, "predict") == 0;
    snprintf(text, sizeof text,
             "'okra help %s' tells all of them, 'okra help flags' those of every "
             "command. Those "
             "of a %s: --help --%s NAME; 'okra help %ss' lists them",
             command->name, decodes ? "decoder" : "method", decodes ? "decode" : "method",
             decodes ? "decoder" : "method");
    cli_wrap(out, text, 4, 0, WIDTH);
}

/* ---- all commands ---- */

void cli_help(FILE *out)
{
    fputs("okra learns mappings between structured objects: vectors, images, strings,\n"
          "molecules, graphs, nodes of a network, labels, or anything with a kernel.\n\n"
          "Usage: okra COMMAND [flags]\n\nCommands:\n",
          out);
    for (size_t i = 0; cli_commands[i]; i++) {
        fprintf(out, "  %-10s %s\n", cli_commands[i]->name, cli_commands[i]->purpose);
    }
    fputs("\nBegin with 'okra demo'. 'okra COMMAND --help' teaches a command;\n"
          "'okra help TOPIC' lists what there is: kernels, methods, decoders, metrics,\n"
          "formats, flags, low-rank.\n",
          out);
}

/* ---- the command ---- */

typedef struct help_fields {
    bool man;
    int completion;
} help_fields;

#define FIELDS help_fields
static const okra_option rows[] = {
    ROW(BOOL, "man", man, "no", "",
        "Print the manual page, of all or of a command, for 'man -l -'"),
    CHOICE("completion", completion, "none", "none|bash|zsh", "SHELL",
           "Print the completion of a shell"),
    {0}};

static int run_help(cli_run *run)
{
    help_fields f;
    TRY(cli_fields(run, &f));
    const char *name = run->operand_count > 0 ? run->operands[0] : NULL;
    const cli_command *command = name ? cli_find_command(name) : NULL;
    if (f.man) {
        REFUSE_IF(name && !command, "there is no command '%s'; pages are of commands",
                  name);
        cli_man(stdout, command);
    } else if (f.completion == 1) {
        cli_completion_bash(stdout);
    } else if (f.completion == 2) {
        cli_completion_zsh(stdout);
    } else if (!name) {
        cli_help(stdout);
    } else if (!command) {
        return cli_help_topic(run, stdout, name);
    } else {
        cli_help_command(stdout, command, "", "");
    }
    return CLI_DONE;
}

const cli_command cli_help_me = {
    .name = "help",
    .purpose = "Teach a command, or list kernels, methods, decoders, metrics, formats",
    .usage = "[COMMAND | kernels | methods | decoders | metrics | formats | flags |\n    "
             "   low-rank | NAME of a kernel, method, decoder or metric]",
    .about = "",
    .examples = "okra help fit\n"
                "okra help kernels\n"
                "okra help margin\n"
                "okra help fit --man | man -l -\n",
    .own = {"help", rows, sizeof(help_fields)},
    .refuses = "json quiet threads memory seed data engine strict header bag",
    .operands_most = 1,
    .operand = "TOPIC",
    .run = run_help,
};
