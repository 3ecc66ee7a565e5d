/*
 * ranked.h: okra predict --top: the best candidates of each test point, as a table.
 */
#ifndef OKRA_CLI_RANKED_H
#define OKRA_CLI_RANKED_H

#include "cli.h"

/* Each different candidate once. */
typedef struct cli_distinct {
    okra_data *objects; /* NULL: all of them, as they were given */
    okra_int *row;      /* of each among those given             */
} cli_distinct;

/* candidates: those given, or the training outputs. */
int cli_distinct_make(cli_run *run, const okra_data *candidates, cli_distinct *out);
void cli_distinct_clear(cli_distinct *distinct);

/* Columns test, rank, candidate, distance and, where objects have a text, object; by the
 * name of the file .csv, .json or else .tsv. */
int cli_ranked_write(cli_run *run, const okra_prediction *prediction,
                     const okra_data *candidates, const cli_distinct *distinct,
                     const char *file);

#endif
