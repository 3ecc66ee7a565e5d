/*
 * manual.h: what the manual pages and the completions of shells go through.
 */
#ifndef OKRA_CLI_MANUAL_H
#define OKRA_CLI_MANUAL_H

#include "cli.h"

typedef void cli_row_fn(FILE *out, const cli_command *command, const okra_option *row);
typedef void cli_head_fn(FILE *out, const char *owner);

/* Calls `each` for every flag of a command, once a name, and `head` (or NULL) before the
 * first of a table. common: with the flags of every command. */
void cli_each_row(FILE *out, const cli_command *command, bool common, cli_head_fn *head,
                  cli_row_fn *each);

#endif
