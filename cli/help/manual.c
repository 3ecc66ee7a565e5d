/*
 * manual.c: the manual pages, okra(1) and one per command, from the tables of commands
 * and options.
 */
#include "cli.h"

#include <ctype.h>
#include <string.h>

/* Characters that roff would take for itself. */
static void roff(FILE *out, const char *text)
{
    for (const char *at = text; *at; at++) {
        if (*at == '\\') {
            fputs("\\e", out);
        } else if (*at == '-') {
            fputs("\\-", out);
        } else if (*at == '\'' || (*at == '.' && (at == text || at[-1] == '\n'))) {
            fprintf(out, "\\&%c", *at);
        } else {
            fputc(*at, out);
        }
    }
}

static void man_row(FILE *out, const okra_option *row)
{
    char letter = cli_short(row->name);
    fputs(".TP\n", out);
    if (letter) {
        fprintf(out, "\\fB\\-%c\\fR, ", letter);
    }
    fputs("\\fB\\-\\-", out);
    roff(out, row->name);
    fputs("\\fR", out);
    if (row->metavar && *row->metavar) {
        fputs(" \\fI", out);
        roff(out, row->metavar);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    roff(out, row->help);
    if (row->choices) {
        fputs(": ", out);
        roff(out, row->choices);
    }
    if (row->preset && *row->preset && row->type != OKRA_OPTION_BOOL) {
        fputs(" [", out);
        roff(out, row->preset);
        fputc(']', out);
    }
    fputc('\n', out);
}

/* The flags of a command, table by table: its own, those of fit, of a method, a decoder.
 */
static void man_flags(FILE *out, const cli_command *command)
{
    cli_tables t = cli_tables_of(command);
    size_t headed = 0;
    for (const okra_option *row; (row = cli_next_row(&t)); headed = t.table) {
        if (t.table != headed) {
            fputs(".SS \"Flags of ", out);
            roff(out, t.all[t.table - 1]->owner);
            fputs("\"\n", out);
        }
        man_row(out, row);
    }
}

static void man_begin(FILE *out, const char *command)
{
    fputs(".TH OKRA", out);
    for (const char *at = command; *at; at++) {
        fprintf(out, at == command ? "\\-%c" : "%c", toupper((unsigned char)*at));
    }
    fprintf(out, " 1 \"\" \"okra %s\" \"User Commands\"\n.SH NAME\nokra%s",
            okra_version(), *command ? "\\-" : "");
    roff(out, command);
    fputs(" \\- ", out);
}

static void man_end(FILE *out, const cli_command *command)
{
    fputs(".SH \"EXIT STATUS\"\n0 when done, 1 on failure, 2 on wrong usage, 130 when "
          "interrupted.\n"
          ".SH ENVIRONMENT\n.TP\n.B OKRA_DATA\nThe folder of \\-\\-data when that is not "
          "given.\n.SH \"SEE ALSO\"\n",
          out);
    if (command) {
        fputs(".BR okra (1),\n", out);
    }
    for (size_t i = 0; cli_commands[i]; i++) {
        if (cli_commands[i] != command) {
            fputs(".BR okra\\-", out);
            roff(out, cli_commands[i]->name);
            fprintf(out, " (1)%s\n", cli_commands[i + 1] ? "," : "");
        }
    }
}

static void man_command(FILE *out, const cli_command *command)
{
    man_begin(out, command->name);
    roff(out, command->purpose);
    fputs("\n.SH SYNOPSIS\n.B okra ", out);
    roff(out, command->name);
    fputc('\n', out);
    roff(out, command->usage);
    fputs("\n.SH DESCRIPTION\n", out);
    roff(out, command->purpose);
    fputs(".\n", out);
    if (*command->about) {
        fputs(".PP\n", out);
        roff(out, command->about);
    }
    fputs(".SH EXAMPLES\n.nf\n.RS\n", out);
    roff(out, command->examples);
    fputs(".RE\n.fi\n.SH FLAGS\n", out);
    man_flags(out, command);
    man_end(out, command);
}

static void man_all(FILE *out)
{
    man_begin(out, "");
    fputs(
        "output kernel regression for any structure\n"
        ".SH SYNOPSIS\n.B okra\n\\fICOMMAND\\fR [\\fIflags\\fR]\n"
        ".SH DESCRIPTION\nokra learns mappings between structured objects. Every method "
        "turns an input into\nweights over the training outputs; decoders turn such a "
        "prediction into an object.\n.SH COMMANDS\nEach has a page of its own.\n",
        out);
    for (size_t i = 0; cli_commands[i]; i++) {
        fputs(".TP\n.BR okra\\-", out);
        roff(out, cli_commands[i]->name);
        fputs(" (1)\n", out);
        roff(out, cli_commands[i]->purpose);
        fputc('\n', out);
    }
    fputs(".SH \"FLAGS OF EVERY COMMAND\"\n", out);
    for (const okra_option *row = cli_common_table.rows; row->name; row++) {
        man_row(out, row);
    }
    man_end(out, NULL);
}

void cli_man(FILE *out, const cli_command *command)
{
    if (command) {
        man_command(out, command);
    } else {
        man_all(out);
    }
}
