/*
 * stream.h: okra predict from standard input, answered as it comes, in bounded memory.
 */
#ifndef OKRA_CLI_STREAM_H
#define OKRA_CLI_STREAM_H

#include "cli.h"

typedef struct cli_stream {
    const okra_model *model;
    const okra_data *candidates; /* or NULL */
    const okra_int *row;    /* of each among those that were given, or NULL: it is it */
    const char *x, *output; /* as typed */
    okra_int top;           /* 0: not asked for */
    long long failed;       /* lines answered with an error */
} cli_stream;

/* Are rows of that spec lines of text from standard input, and is what goes to `output`
 * text? */
bool cli_stream_fits(const char *x, const char *output);
/* Lines in, lines out. *whole: not a line was read, as the first bytes are those of
 * another format; they and all others are in an unnamed file, whose spec is in `spec`. */
int cli_stream_text(cli_run *run, const cli_stream *s, bool *whole, char *spec,
                    size_t size);
/* JSON lines in, JSON lines out. */
int cli_stream_json(cli_run *run, const cli_stream *s);

/* stream_json.c: a line answered by a line. */
int cli_stream_answer(cli_run *run, cli_stream *s, const char *line);
/* Would any line be answered? What is wrong with flags is wrong before the first one. */
int cli_stream_check(cli_run *run, const cli_stream *s, bool json);

#endif
