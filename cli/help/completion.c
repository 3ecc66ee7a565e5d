/*
 * completion.c: the completions of shells, from the tables of commands and options: names
 * of commands and flags, and what a flag or an operand may be.
 */
#include "cli.h"

#include <string.h>

/* ---- what may stand somewhere ---- */

typedef enum what {
    WHAT_ANY,     /* a number, a text: the shell cannot know */
    WHAT_CHOICES, /* of the row */
    WHAT_KERNELS,
    WHAT_METRICS,
    WHAT_METHODS,
    WHAT_DECODERS,
    WHAT_TOPICS,
    WHAT_FILES, /* with an ending, or any */
    WHAT_FOLDERS,
} what;

static const char *const variables[] = {
    [WHAT_KERNELS] = "kernels",   [WHAT_METRICS] = "metrics", [WHAT_METHODS] = "methods",
    [WHAT_DECODERS] = "decoders", [WHAT_TOPICS] = "topics",
};

/* *ending of files: "okra", "" for any. */
static what what_is(const char *metavar, const char **ending)
{
    const char *dot = strrchr(metavar, '.');
    *ending = strcmp(metavar, "MODEL") == 0    ? "okra"
              : strcmp(metavar, "RESULT") == 0 ? "json"
              : dot                            ? dot + 1
                                               : "";
    return strcmp(metavar, "DIR") == 0     ? WHAT_FOLDERS
           : strcmp(metavar, "TOPIC") == 0 ? WHAT_TOPICS
                                           : WHAT_FILES;
}

static what what_of(const okra_option *row, const char **ending)
{
    *ending = "";
    if (row->choices) {
        return WHAT_CHOICES;
    }
    if (row->type == OKRA_OPTION_READ || row->type == OKRA_OPTION_WRITTEN) {
        return what_is(row->metavar, ending);
    }
    return strcmp(row->metavar, "EXPR") == 0  ? WHAT_KERNELS
           : strcmp(row->name, "metric") == 0 ? WHAT_METRICS
           : strcmp(row->name, "method") == 0 ? WHAT_METHODS
           : strcmp(row->name, "decode") == 0 ? WHAT_DECODERS
                                              : WHAT_ANY;
}

static void put_word(FILE *out, const char *name)
{
    fprintf(out, " %s", name);
}

static void put_names(FILE *out, what which)
{
    const char *(*next)(size_t, const char **, const okra_option_table **) =
        which == WHAT_KERNELS   ? okra_kernel_name
        : which == WHAT_METRICS ? okra_metric_name
        : which == WHAT_METHODS ? okra_method_name
                                : okra_decoder_name;
    const char *name;
    if (which == WHAT_TOPICS) {
        for (size_t i = 0; cli_commands[i]; i++) {
            put_word(out, cli_commands[i]->name);
        }
        cli_each_topic(out, put_word);
        return;
    }
    for (size_t i = 0; (name = next(i, NULL, NULL)) != NULL; i++) {
        put_word(out, name);
    }
}

/* "a|b|c" with spaces between. */
static void put_choices(FILE *out, const char *choices)
{
    for (; *choices; choices++) {
        fputc(*choices == '|' ? ' ' : *choices, out);
    }
}

/* kernels=' rbf linear ...', and so on: lists that many flags share. */
static void put_variables(FILE *out, const char *indent)
{
    for (what k = WHAT_KERNELS; k <= WHAT_TOPICS; k++) {
        fprintf(out, "%slocal %s='", indent, variables[k]);
        put_names(out, k);
        fputs("'\n", out);
    }
}

/* ---- bash ---- */

static void bash_flag(FILE *out, const okra_option *row)
{
    char letter = cli_short(row->name);
    fprintf(out, " --%s", row->name);
    if (letter) {
        fprintf(out, " -%c", letter);
    }
}

/* "fit:--kx) values=$kernels files= ;;": what stands behind a flag is no operand. */
static void bash_value(FILE *out, const cli_command *command, const okra_option *row)
{
    const char *ending;
    what kind = what_of(row, &ending);
    char letter = cli_short(row->name);
    if (row->type == OKRA_OPTION_BOOL) {
        return;
    }
    fprintf(out, "    %s:--%s", command->name, row->name);
    if (letter) {
        fprintf(out, "|%s:-%c", command->name, letter);
    }
    fputs(") ", out);
    if (kind == WHAT_CHOICES) {
        fputs("files= values='", out);
        put_choices(out, row->choices);
        fputc('\'', out);
    } else if (kind == WHAT_FOLDERS) {
        fputs("values= files=-d", out);
    } else if (kind == WHAT_FILES) {
        fprintf(out, "values= files=%s", ending);
    } else if (kind == WHAT_ANY) {
        fputs("return", out);
    } else {
        fprintf(out, "files= values=$%s", variables[kind]);
    }
    fputs(" ;;\n", out);
}

/* What a command takes without a flag. */
static void bash_operand(FILE *out, const cli_command *command)
{
    const char *ending;
    what kind = what_is(command->operand ? command->operand : "", &ending);
    if (kind == WHAT_TOPICS) {
        fprintf(out, "    %s) values=$topics ;;\n", command->name);
    } else if (*ending && command->operands_most > 0) {
        fprintf(out, "    %s) files=%s ;;\n", command->name, ending);
    }
}

void cli_completion_bash(FILE *out)
{
    fputs("# Completion of okra for bash.\n_okra()\n{\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} flag=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local command=${COMP_WORDS[1]} flags= values= files= before\n",
          out);
    put_variables(out, "    ");
    fputs("    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" = 1 ]; then\n        mapfile -t COMPREPLY < "
          "<(compgen -W '",
          out);
    for (size_t i = 0; cli_commands[i]; i++) {
        put_word(out, cli_commands[i]->name);
    }
    fputs("' -- \"$word\")\n        return\n    fi\n"
          "    # --kx=r is three words\n"
          "    if [ \"$word\" = = ]; then\n        word=\n"
          "    elif [ \"$flag\" = = ]; then\n"
          "        flag=${COMP_WORDS[COMP_CWORD-2]}\n    fi\n"
          "    case $command in\n",
          out);
    for (size_t i = 0; cli_commands[i]; i++) {
        fprintf(out, "    %s) flags='", cli_commands[i]->name);
        cli_tables t = cli_tables_of(cli_commands[i]);
        for (const okra_option *row; (row = cli_next_row(&t));) {
            bash_flag(out, row);
        }
        fputs("' ;;\n", out);
    }
    fputs("    esac\n    case $command in\n", out);
    for (size_t i = 0; cli_commands[i]; i++) {
        bash_operand(out, cli_commands[i]);
    }
    fputs("    esac\n    case $command:$flag in\n"
          "    *::) files= ;; # labels:FILE\n",
          out);
    for (size_t i = 0; cli_commands[i]; i++) {
        cli_tables t = cli_tables_of(cli_commands[i]);
        for (const okra_option *row; (row = cli_next_row(&t));) {
            bash_value(out, cli_commands[i], row);
        }
    }
    fputs("    esac\n    case $word in -*) values=$flags ;; esac\n"
          "    if [ -n \"$values\" ]; then # several metrics have commas between them\n"
          "        before=${word%\"${word##*,}\"}\n"
          "        mapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$values\" -- "
          "\"${word##*,}\")\n        return\n    fi\n"
          "    compopt -o filenames 2>/dev/null\n"
          "    case $files in\n"
          "    '') mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n"
          "    -d) mapfile -t COMPREPLY < <(compgen -d -- \"$word\") ;;\n"
          "    *) mapfile -t COMPREPLY < <(compgen -f -X \"!*.$files\" -- \"$word\"\n"
          "        compgen -d -- \"$word\") ;;\n    esac\n}\n"
          "complete -F _okra okra\n",
          out);
}

/* ---- zsh ---- */

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

/* ":(a b c)", ":_files -g \"*.okra\"", ":" */
static void zsh_values(FILE *out, what kind, const char *ending, const char *choices)
{
    fputc(':', out);
    if (kind == WHAT_FILES && *ending) {
        fprintf(out, "_files -g \"*.%s\"", ending);
    } else if (kind == WHAT_FILES || kind == WHAT_FOLDERS) {
        fputs(kind == WHAT_FILES ? "_files" : "_files -/", out);
    } else if (kind == WHAT_CHOICES) {
        fputc('(', out);
        put_choices(out, choices);
        fputc(')', out);
    } else if (kind == WHAT_METRICS) { /* with commas between */
        fputs("_sequence compadd - ${=metrics}", out);
    } else if (kind != WHAT_ANY) {
        fprintf(out, "compadd - ${=%s}", variables[kind]);
    }
}

static void zsh_row(FILE *out, const okra_option *row)
{
    const char *ending;
    what kind = what_of(row, &ending);
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
            zsh_text(out, *row->metavar ? row->metavar : row->name);
            zsh_values(out, kind, ending, row->choices);
        }
        fputc('\'', out);
    }
}

void cli_completion_zsh(FILE *out)
{
    fputs("#compdef okra\n# Completion of okra for zsh.\n_okra() {\n", out);
    put_variables(out, "    ");
    fputs("    if (( CURRENT == 2 )); then\n        local -a commands\n"
          "        commands=(",
          out);
    for (size_t i = 0; cli_commands[i]; i++) {
        fprintf(out, "\n            '%s:", cli_commands[i]->name);
        zsh_text(out, cli_commands[i]->purpose);
        fputc('\'', out);
    }
    fputs(")\n        _describe command commands\n        return\n    fi\n"
          "    local command=$words[2]\n"
          "    shift words\n    (( CURRENT-- ))\n"
          "    case $command in\n",
          out);
    for (size_t i = 0; cli_commands[i]; i++) {
        const char *operand = cli_commands[i]->operand, *ending;
        what kind = what_is(operand ? operand : "", &ending);
        fprintf(out, "    %s)\n        _arguments", cli_commands[i]->name);
        cli_tables t = cli_tables_of(cli_commands[i]);
        for (const okra_option *row; (row = cli_next_row(&t));) {
            zsh_row(out, row);
        }
        fputs(" \\\n            '*:", out);
        zsh_text(out, operand ? operand : "file");
        zsh_values(out, kind, ending, NULL);
        fputs("'\n        ;;\n", out);
    }
    fputs("    esac\n}\n_okra \"$@\"\n", out);
}
