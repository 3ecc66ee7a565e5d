/*
 * table.h: tables with a header, field by field.
 */
#ifndef OKRA_CLI_TABLE_H
#define OKRA_CLI_TABLE_H

#include "cli.h"

/* All of a file, ended by NUL, for free(); NULL: errno says why, EFBIG: beyond the memory
 * budget. */
char *cli_slurp(const cli_run *run, const char *path);
/* The k-th field of a line, from 0; between quotes a comma is none. False: there are
 * fewer. */
bool cli_field(const char *line, char separator, int k, const char **begin,
               const char **end);
/* Where the line ends, without "\r\n" or "\n". */
const char *cli_line_end(const char *line);
/* The field of a heading that has that name, whatever its case; -1: none has. */
int cli_column(const char *heading, char separator, const char *name);

/* Numbers of a table, by the names of their columns. */
enum { CLI_COLUMNS = 8 };
typedef struct cli_columns {
    const char *path, *heading;
    char *text; /* the file */
    char separator;
    int column[CLI_COLUMNS]; /* where each stands; -1: nowhere */
    double *values;          /* count x columns; NaN where a field is no number */
    const char **line;
    long long *number; /* of the line, from 1 */
    okra_int count;
} cli_columns;
int cli_columns_read(cli_run *run, const char *path, const char *const *names,
                     int columns, cli_columns *out);
/* A failure where field k of row i is no number, or no whole one though it must be. */
int cli_columns_check(const cli_run *run, const cli_columns *c, okra_int i, int k,
                      int columns, const char *name, bool whole);
void cli_columns_clear(cli_columns *c);

#endif
