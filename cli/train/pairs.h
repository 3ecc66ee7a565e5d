/*
 * pairs.h: fit and predict of pairs of a row and a column (--rows, --columns).
 */
#ifndef OKRA_CLI_PAIRS_H
#define OKRA_CLI_PAIRS_H

#include "cli.h"

typedef struct cli_pairs {
    const char *rows, *columns, *own;
    int setting;
} cli_pairs;

/* Their rows in the table of fit, fields beginning at `at`. */
#define CLI_PAIRS_ROWS(at)                                                              \
    {"rows",                                                                            \
     OKRA_OPTION_READ,                                                                  \
     (at) + offsetof(cli_pairs, rows),                                                  \
     "",                                                                                \
     1,                                                                                 \
     0,                                                                                 \
     NULL,                                                                              \
     "FILE",                                                                            \
     "Pairs: objects of the rows of --y, in place of --x; --y holds a number for each " \
     "row and column, or lines of row, column (from 0), value"},                        \
        {"columns",                                                                     \
         OKRA_OPTION_READ,                                                              \
         (at) + offsetof(cli_pairs, columns),                                           \
         "",                                                                            \
         1,                                                                             \
         0,                                                                             \
         NULL,                                                                          \
         "FILE",                                                                        \
         "Pairs: objects of the columns of --y; --kx is then 'E1 * E2', a kernel of "   \
         "rows times one of columns, or a sum of such products"},                       \
        {"setting",                                                                     \
         OKRA_OPTION_CHOICE,                                                            \
         (at) + offsetof(cli_pairs, setting),                                           \
         "pair",                                                                        \
         1,                                                                             \
         0,                                                                             \
         "pair|row|column|both",                                                        \
         "WHAT",                                                                        \
         "Pairs: what will be new: lambda is chosen, and --calibration holds back, by " \
         "it"},                                                                         \
    {                                                                                   \
        "own", OKRA_OPTION_TEXT, (at) + offsetof(cli_pairs, own), "auto", 1, 0, NULL,   \
            "V",                                                                        \
            "Pairs: added to k(x, x) of each training object, for what it does not "    \
            "share with others; auto: 0 or a third, by left-out error"                  \
    }

/* lambda 0: chosen. */
int cli_pairs_fit(cli_run *run, const cli_pairs *p, const char *y, const char *kernel,
                  double lambda, double calibration, const char *output);
/* top 0: the matrix; alpha 0: no intervals. */
int cli_pairs_predict(cli_run *run, const char *rows, const char *columns, okra_int top,
                      double alpha, const char *output);

#endif
