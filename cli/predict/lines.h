/*
 * lines.h: lines of standard input, as they come.
 */
#ifndef OKRA_CLI_LINES_H
#define OKRA_CLI_LINES_H

#include "cli.h"

typedef struct cli_lines {
    char *p;
    size_t begin, used, room;
    bool end;
    long long line; /* of what is at `begin`, counted from 1 */
} cli_lines;

/* Waits for more; at the end `end` is set. */
int cli_lines_more(cli_run *run, cli_lines *in);
/* Calls `each` with every line. */
int cli_lines_each(cli_run *run, cli_lines *in, void *user,
                   int (*each)(cli_run *run, void *user, const char *text, size_t size,
                               long long line));

#endif
