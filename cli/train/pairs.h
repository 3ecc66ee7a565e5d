/*
 * pairs.h: fit and predict of pairs of a row and a column (--rows, --columns).
 */
#ifndef OKRA_CLI_PAIRS_H
#define OKRA_CLI_PAIRS_H

#include "cli.h"

typedef struct cli_pairs {
    const char *rows, *columns, *own, *weight;
    int setting;
} cli_pairs;

/* Is the operand a model of pairs? */
bool cli_pairs_is(cli_run *run);
int cli_pairs_info(cli_run *run);
/* lambda 0: chosen. */
int cli_pairs_fit(cli_run *run, const cli_pairs *p, const char *y, const char *kernel,
                  double lambda, double calibration, const char *output);
/* top 0: the matrix; alpha 0: no intervals. */
int cli_pairs_predict(cli_run *run, const char *rows, const char *columns, okra_int top,
                      double alpha, const char *output);

#endif
