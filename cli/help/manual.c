/*
 * manual.c: the manual page and the completions of shells, from the tables of commands
 * and options.
 */
#include "cli.h"

#include <string.h>

/* Calls `each` for every flag of a command, once a name. */
typedef void (*row_fn)(FILE *out, const okra_option *row);

static bool seen_before(const okra_option_table *const *tables, size_t upto,
                        const char *name)
{
    for (size_t t = 0; t < upto; t++) {
        for (const okra_option *row = tables[t]->rows; row && row->name; row++) {
            if (strcmp(row->name, name) == 0) {
                return true;
            }
        }
    }
    return false;
}

static void each_row(FILE *out, const cli_command *command, bool common, row_fn each)
{
    const okra_option_table *tables[80] = {&command->own, &cli_common_table};
    size_t count = 2, more = 0;
    const okra_option_table *const *library =
        command->topic ? okra_option_tables(command->topic, &more) : NULL;
    for (size_t i = 0; i < more && count < 80; i++) {
        tables[count++] = library[i];
    }
    for (size_t t = 0; t < count; t++) {
        for (const okra_option *row = tables[t]->rows;
             row && row->name && (common || t != 1); row++) {
            if (!seen_before(tables, t, row->name) &&
                !(t == 1 && cli_refuses(command, row->name))) {
                each(out, row);
            }
        }
    }
}

/* ---- the manual page ---- */

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

static void man_command(FILE *out, const cli_command *command)
{
    fputs(".SS \"okra ", out);
    roff(out, command->name);
    fputc(' ', out);
    roff(out, command->usage);
    fputs("\"\n", out);
    roff(out, command->purpose);
    fputs(".\n", out);
    if (*command->about) {
        fputs(".PP\n", out);
        roff(out, command->about);
    }
    fputs(".PP\n.nf\n.RS\n", out);
    roff(out, command->examples);
    fputs(".RE\n.fi\n", out);
    each_row(out, command, false, man_row);
}

void cli_man(FILE *out)
{
    fprintf(out, ".TH OKRA 1 \"\" \"okra %s\" \"User Commands\"\n", okra_version());
    fputs(
        ".SH NAME\nokra \\- output kernel regression for any structure\n"
        ".SH SYNOPSIS\n.B okra\n\\fICOMMAND\\fR [\\fIflags\\fR]\n"
        ".SH DESCRIPTION\nokra learns mappings between structured objects. Every method "
        "turns an input into\nweights over the training outputs; decoders turn such a "
        "prediction into an object.\n.SH COMMANDS\n",
        out);
    for (size_t i = 0; cli_commands[i]; i++) {
        man_command(out, cli_commands[i]);
    }
    fputs(".SH \"FLAGS OF EVERY COMMAND\"\n", out);
    for (const okra_option *row = cli_common_table.rows; row->name; row++) {
        man_row(out, row);
    }
    fputs(".SH \"EXIT STATUS\"\n0 when done, 1 on failure, 2 on wrong usage, 130 when "
          "interrupted.\n"
          ".SH ENVIRONMENT\n.TP\n.B OKRA_DATA\nThe folder of \\-\\-data when that is not "
          "given.\n",
          out);
}

/* ---- completion ---- */

static void word(FILE *out, const okra_option *row)
{
    char letter = cli_short(row->name);
    fprintf(out, " --%s", row->name);
    if (letter) {
        fprintf(out, " -%c", letter);
    }
}

static void command_names(FILE *out)
{
    for (size_t i = 0; cli_commands[i]; i++) {
        fprintf(out, "%s%s", i ? " " : "", cli_commands[i]->name);
    }
}

void cli_completion_bash(FILE *out)
{
    fputs("# Completion of okra for bash.\n_okra()\n{\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} flags=\n"
          "    if [ \"$COMP_CWORD\" = 1 ]; then\n        mapfile -t COMPREPLY < "
          "<(compgen -W '",
          out);
    command_names(out);
    fputs("' -- \"$word\")\n        return\n    fi\n"
          "    case ${COMP_WORDS[1]} in\n",
          out);
    for (size_t i = 0; cli_commands[i]; i++) {
        fprintf(out, "    %s) flags='", cli_commands[i]->name);
        each_row(out, cli_commands[i], true, word);
        fputs("' ;;\n", out);
    }
    fputs("    esac\n    case $word in\n"
          "    -*) mapfile -t COMPREPLY < <(compgen -W \"$flags\" -- \"$word\") ;;\n"
          "    *) mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n    esac\n}\n"
          "complete -o filenames -F _okra okra\n",
          out);
}

/* A text inside an _arguments specification in single quotes. */
static void zsh_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'') {
            fputs("'\\''", out);
        } else if (strchr("[]:\\", *text)) {
            fprintf(out, "\\%c", *text);
        } else {
            fputc(*text, out);
        }
    }
}

static void zsh_row(FILE *out, const okra_option *row)
{
    char letter = cli_short(row->name);
    for (int form = letter ? 0 : 1; form < 2; form++) {
        fputs(" \\\n            '", out);
        if (form == 0) {
            fprintf(out, "-%c[", letter);
        } else {
            fprintf(out, "--%s[", row->name);
        }
        zsh_text(out, row->help);
        fputc(']', out);
        if (row->type != OKRA_OPTION_BOOL) {
            fputc(':', out);
            zsh_text(out, row->metavar);
            fputs(row->type == OKRA_OPTION_READ || row->type == OKRA_OPTION_WRITTEN
                      ? ":_files"
                      : ":",
                  out);
        }
        fputc('\'', out);
    }
}

void cli_completion_zsh(FILE *out)
{
    fputs(
        "#compdef okra\n# Completion of okra for zsh.\n_okra() {\n"
        "    if (( CURRENT == 2 )); then\n        local -a commands\n        commands=(",
        out);
    for (size_t i = 0; cli_commands[i]; i++) {
        fprintf(out, "\n            '%s:", cli_commands[i]->name);
        zsh_text(out, cli_commands[i]->purpose);
        fputc('\'', out);
    }
    fputs(")\n        _describe command commands\n        return\n    fi\n"
          "    case $words[2] in\n",
          out);
    for (size_t i = 0; cli_commands[i]; i++) {
        fprintf(out, "    %s)\n        _arguments", cli_commands[i]->name);
        each_row(out, cli_commands[i], true, zsh_row);
        fputs(" \\\n            '*:file:_files'\n        ;;\n", out);
    }
    fputs("    esac\n}\n_okra \"$@\"\n", out);
}
