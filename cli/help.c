/*
 * help.c: okra help: what a command does, what a flag takes, which kernels, methods,
 * decoders, metrics and file formats there are; all from the tables.
 */
#include "commands.h"

#include <string.h>

enum { WIDTH = 80, COLUMN = 26 };

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

static void help_row(FILE *out, const okra_option *row, const char *prefix)
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
        help_row(out, row, prefix);
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

/* ---- one command, all commands ---- */

/* Flags that a page of their own tells. */
static const char low_rank[] =
    " twin low-rank low-rank-x low-rank-y solver cg-tolerance cg-iterations checkpoint ";

static bool among(const char *list, const char *name)
{
    char spaced[80];
    snprintf(spaced, sizeof spaced, " %s ", name);
    return strstr(list, spaced) != NULL;
}

static bool in_table(const okra_option_table *table, const char *name)
{
    for (const okra_option *row = table->rows; row && row->name; row++) {
        if (strcmp(row->name, name) == 0) {
            return true;
        }
    }
    return false;
}

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

/* Flags of the library: those of every method, then those of the chosen one. */
static void library_flags(FILE *out, const cli_command *command, const char *method,
                          const char *decode)
{
    size_t count = 0;
    const okra_option_table *const *tables = okra_option_tables(command->topic, &count);
    bool methods = false, decoders = false, low = false;
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
            low = low || among(low_rank, row->name);
            if (!in_table(&command->own, row->name) && !among(low_rank, row->name)) {
                help_row(out, row, "--");
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

/* ---- topics ---- */

typedef const char *(*lister)(size_t index, const char **help,
                              const okra_option_table **parameters);

static void list(FILE *out, lister next, const char *prefix)
{
    const char *help, *name;
    const okra_option_table *parameters;
    for (size_t i = 0; (name = next(i, &help, &parameters)); i++) {
        fprintf(out, "%s\n", name);
        fputs("    ", out);
        cli_wrap(out, help, 4, 4, WIDTH);
        if (parameters) {
            cli_help_rows(out, parameters, prefix);
        }
    }
}

static void help_kernels(FILE *out)
{
    fputs("A kernel is written as an expression:\n"
          "  name(param=value,...)     rbf(sigma=4)   linear   poly(degree=3,coef0=1)\n"
          "  0.5*A + 0.5*B,  A * B     sums, products, scalings; ( ) groups\n"
          "  A | normalize | rbf(...)  a pipe transforms the values of the Gram matrix\n"
          "\nKernels:\n\n",
          out);
    list(out, okra_kernel_name, "");
    fputs("\nTransformations, after a pipe:\n\n", out);
    list(out, okra_transform_name, "");
}

static const struct {
    okra_trait trait;
    const char *text;
} traits[] = {
    {OKRA_TRAIT_MISSING, "outputs with missing values"},
    {OKRA_TRAIT_UNLABELLED, "inputs without outputs"},
    {OKRA_TRAIT_LOW_RANK, "low rank without n x n matrices"},
    {OKRA_TRAIT_PATH, "several lambdas together"},
    {OKRA_TRAIT_LEAVE_OUT, "leaving out in closed form"},
    {OKRA_TRAIT_VARIANCE, "variance of a prediction"},
    {OKRA_TRAIT_WEIGHTS, "weights of pairs"},
    {OKRA_TRAIT_LINKS, "links alone"},
};

static void help_methods(FILE *out)
{
    fputs("Methods of 'okra fit --method NAME', with their flags:\n\n", out);
    list(out, okra_method_name, "--");
    fputs("\nWhat they can do:\n\n", out);
    for (size_t t = 0; t < sizeof traits / sizeof *traits; t++) {
        fprintf(out, "  %s:", traits[t].text);
        const char *name;
        for (size_t i = 0; (name = okra_method_name(i, NULL, NULL)) != NULL; i++) {
            if (okra_method_has(name, traits[t].trait)) {
                fprintf(out, " %s", name);
            }
        }
        fputc('\n', out);
    }
}

static void help_decoders(FILE *out)
{
    fputs("Decoders of 'okra predict --decode NAME', with their flags:\n\n", out);
    list(out, okra_decoder_name, "--");
}

static void help_metrics(FILE *out)
{
    fputs("Metrics of 'okra score --metric NAME:param=value,...':\n\n", out);
    list(out, okra_metric_name, "");
}

static void help_formats(FILE *out)
{
    fputs(
        "A file's extension tells its format; 'type:FILE' overrides it; '-' is standard\n"
        "input or output.\n\n",
        out);
    fputs(okra_data_formats(), out);
    fputs(cli_ends(okra_data_formats(), "\n") ? "" : "\n", out);
}

static void help_flags(FILE *out)
{
    fputs("Flags of every command:\n\n", out);
    cli_help_rows(out, &cli_common_table, "--");
}

static void help_low_rank(FILE *out)
{
    size_t count = 0;
    const okra_option_table *const *tables = okra_option_tables("fit", &count);
    fputs("Flags of 'okra fit' and 'okra select' for large training sets, where kernels "
          "are\n"
          "of low rank, and for kernels that are learned:\n\n",
          out);
    for (size_t i = 0; i < 2 && i < count; i++) { /* those of fit, then of ridge */
        for (const okra_option *row = tables[i]->rows; row && row->name; row++) {
            if (among(low_rank, row->name)) {
                help_row(out, row, "--");
            }
        }
    }
}

static const struct {
    const char *name;
    void (*print)(FILE *out);
} topics[] = {
    {"kernels", help_kernels},   {"methods", help_methods}, {"decoders", help_decoders},
    {"metrics", help_metrics},   {"formats", help_formats}, {"flags", help_flags},
    {"low-rank", help_low_rank},
};
enum { TOPICS = sizeof topics / sizeof *topics };

/* ---- the command ---- */

typedef struct help_fields {
    bool man;
    int completion;
} help_fields;

static const okra_option rows[] = {
    {"man", OKRA_OPTION_BOOL, offsetof(help_fields, man), "no", 1, 0, NULL, "",
     "Print the manual page, for 'man -l -'"},
    {"completion", OKRA_OPTION_CHOICE, offsetof(help_fields, completion), "none", 1, 0,
     "none|bash|zsh", "SHELL", "Print the completion of a shell"},
    {0}};

static int unknown_topic(const cli_run *run, const char *name)
{
    const char *names[TOPICS + 64];
    size_t count = 0;
    for (; count < TOPICS; count++) {
        names[count] = topics[count].name;
    }
    for (size_t i = 0; cli_commands[i] && i < 64; i++) {
        names[count++] = cli_commands[i]->name;
    }
    const char *near = okra_nearest(name, names, count);
    return near ? cli_usage(run, "there is no topic '%s'; did you mean '%s'?", name, near)
                : cli_usage(
                      run,
                      "there is no topic '%s'; expected a command, kernels, methods, "
                      "decoders, metrics, formats, flags or low-rank",
                      name);
}

static int run_help(cli_run *run)
{
    help_fields f;
    int status = cli_status(run, cli_fields(run, &f));
    if (status != CLI_DONE) {
        return status;
    }
    if (f.man) {
        cli_man(stdout);
    } else if (f.completion == 1) {
        cli_completion_bash(stdout);
    } else if (f.completion == 2) {
        cli_completion_zsh(stdout);
    } else if (run->operand_count == 0) {
        cli_help(stdout);
    } else {
        const char *name = run->operands[0];
        for (size_t i = 0; i < TOPICS; i++) {
            if (strcmp(topics[i].name, name) == 0) {
                topics[i].print(stdout);
                return CLI_DONE;
            }
        }
        const cli_command *command = cli_find_command(name);
        if (!command) {
            return unknown_topic(run, name);
        }
        cli_help_command(stdout, command, "ridge", "");
    }
    return CLI_DONE;
}

const cli_command cli_help_me = {
    .name = "help",
    .purpose = "Teach a command, or list kernels, methods, decoders, metrics, formats",
    .usage = "[COMMAND | kernels | methods | decoders | metrics | formats | flags |\n    "
             "   low-rank]",
    .about = "",
    .examples = "okra help fit\n"
                "okra help kernels\n"
                "okra help --man | man -l -\n",
    .own = {"help", rows, sizeof(help_fields)},
    .refuses = "json quiet threads memory seed data engine strict",
    .operands_most = 1,
    .operand = "TOPIC",
    .run = run_help,
};
