/*
 * table.h: tables with a header, field by field.
 */
#ifndef OKRA_CLI_TABLE_H
#define OKRA_CLI_TABLE_H

#include <stdbool.h>

/* All of a file, ended by NUL, for free(); NULL: errno says why. */
char *cli_slurp(const char *path);
/* The k-th field of a line, from 0; between quotes a comma is none. False: there are
 * fewer. */
bool cli_field(const char *line, char separator, int k, const char **begin,
               const char **end);
/* Where the line ends, without "\r\n" or "\n". */
const char *cli_line_end(const char *line);
/* The field of a heading that has that name, whatever its case; -1: none has. */
int cli_column(const char *heading, char separator, const char *name);

#endif
