/*
 * sets.h: prediction sets and intervals of okra predict.
 */
#ifndef OKRA_SETS_H
#define OKRA_SETS_H

#include "cli.h"

/* Flags of okra predict, as their rows in sets.c say. */
typedef struct cli_sets {
    double set, interval, reject;
    const char *bounds, *p_values, *conformal, *score, *calibrate_x, *calibrate_y;
    const char *groups, *test_groups, *weights, *test_weights, *truth;
    okra_int folds;
} cli_sets;

/* The rows, whose fields lie `at` bytes into the command's own. */
#define CLI_SETS_ROWS(at)                                                                \
    {"set",                                                                              \
     OKRA_OPTION_NUMBER,                                                                 \
     (at) + offsetof(cli_sets, set),                                                     \
     "0",                                                                                \
     0,                                                                                  \
     1,                                                                                  \
     NULL,                                                                               \
     "ALPHA",                                                                            \
     "Write every candidate that cannot be excluded: the set holds the truth with "      \
     "probability 1 - ALPHA"},                                                           \
        {"interval",                                                                     \
         OKRA_OPTION_NUMBER,                                                             \
         (at) + offsetof(cli_sets, interval),                                            \
         "0",                                                                            \
         0,                                                                              \
         1,                                                                              \
         NULL,                                                                           \
         "ALPHA",                                                                        \
         "Vectors: an interval of each coordinate that holds the truth with "            \
         "probability "                                                                  \
         "1 - ALPHA, and the radius of a ball for the whole vector"},                    \
        {"reject",                                                                       \
         OKRA_OPTION_NUMBER,                                                             \
         (at) + offsetof(cli_sets, reject),                                              \
         "0",                                                                            \
         0,                                                                              \
         1,                                                                              \
         NULL,                                                                           \
         "ALPHA",                                                                        \
         "Answer only where the set of level ALPHA is a single candidate: at most a "    \
         "share "                                                                        \
         "ALPHA of all test inputs gets a wrong answer"},                                \
        {"bounds", OKRA_OPTION_TEXT, (at) + offsetof(cli_sets, bounds),  "", 1, 0,       \
         NULL,     "FILE",           "Intervals as .npy, n_test x d x 2"},               \
        {"p-values",                                                                     \
         OKRA_OPTION_TEXT,                                                               \
         (at) + offsetof(cli_sets, p_values),                                            \
         "",                                                                             \
         1,                                                                              \
         0,                                                                              \
         NULL,                                                                           \
         "FILE",                                                                         \
         "The p-values of all candidates, n_test x candidates"},                         \
        {"conformal",                                                                    \
         OKRA_OPTION_TEXT,                                                               \
         (at) + offsetof(cli_sets, conformal),                                           \
         "auto",                                                                         \
         1,                                                                              \
         0,                                                                              \
         NULL,                                                                           \
         "HOW",                                                                          \
         "split (needs --calibrate-x and --calibrate-y), full, jackknife+ or cv+ "       \
         "(ridge); "                                                                     \
         "auto: split where there are pairs for it, else full"},                         \
        {"conformal-score",                                                              \
         OKRA_OPTION_TEXT,                                                               \
         (at) + offsetof(cli_sets, score),                                               \
         "distance",                                                                     \
         1,                                                                              \
         0,                                                                              \
         NULL,                                                                           \
         "SCORE",                                                                        \
         "distance, normalized, residual (full), rank or a metric (split)"},             \
        {"conformal-folds",                                                              \
         OKRA_OPTION_INT,                                                                \
         (at) + offsetof(cli_sets, folds),                                               \
         "10",                                                                           \
         2,                                                                              \
         1e9,                                                                            \
         NULL,                                                                           \
         "N",                                                                            \
         "Folds of cv+"},                                                                \
        {"calibrate-x",                                                                  \
         OKRA_OPTION_TEXT,                                                               \
         (at) + offsetof(cli_sets, calibrate_x),                                         \
         "",                                                                             \
         1,                                                                              \
         0,                                                                              \
         NULL,                                                                           \
         "FILE",                                                                         \
         "Inputs that the fit has not seen, for split"},                                 \
        {"calibrate-y",                                                                  \
         OKRA_OPTION_TEXT,                                                               \
         (at) + offsetof(cli_sets, calibrate_y),                                         \
         "",                                                                             \
         1,                                                                              \
         0,                                                                              \
         NULL,                                                                           \
         "FILE",                                                                         \
         "Their outputs"},                                                               \
        {"groups",                                                                       \
         OKRA_OPTION_TEXT,                                                               \
         (at) + offsetof(cli_sets, groups),                                              \
         "",                                                                             \
         1,                                                                              \
         0,                                                                              \
         NULL,                                                                           \
         "FILE",                                                                         \
         "Labels of the pairs that calibrate: the guarantee holds in every group; "      \
         "`class`: "                                                                     \
         "the outputs themselves"},                                                      \
        {"test-groups",                                                                  \
         OKRA_OPTION_TEXT,                                                               \
         (at) + offsetof(cli_sets, test_groups),                                         \
         "",                                                                             \
         1,                                                                              \
         0,                                                                              \
         NULL,                                                                           \
         "FILE",                                                                         \
         "Labels of the test inputs, with --groups FILE"},                               \
        {"shift-weights",                                                                \
         OKRA_OPTION_TEXT,                                                               \
         (at) + offsetof(cli_sets, weights),                                             \
         "",                                                                             \
         1,                                                                              \
         0,                                                                              \
         NULL,                                                                           \
         "FILE",                                                                         \
         "Covariate shift: density of the test inputs over that of the pairs that "      \
         "calibrate, one number per pair"},                                              \
    {                                                                                    \
        "test-shift-weights", OKRA_OPTION_TEXT, (at) + offsetof(cli_sets, test_weights), \
            "", 1, 0, NULL, "FILE", "The same for the test inputs"                       \
    }

/* What a report is made of: p-values of the candidates (tests x count) and the candidate
 * that is the truth (-1: none), or bounds (tests x d x 2) and true values. */
typedef struct cli_sets_result {
    okra_int tests, count, d;
    double alpha;
    const double *p, *bounds, *values;
    okra_int values_ld;
    const okra_int *truth;
    const okra_data *groups; /* of the test inputs, or NULL */
    const char *how;
} cli_sets_result;
/* sets_report.c: the share of test inputs whose truth is held. */
double cli_sets_coverage(const cli_sets_result *r);
/* Tables and figures as docs/results-format.md has them. */
json_t *cli_sets_json(const cli_run *run, const cli_sets_result *r);

/* Is any of them asked for? */
bool cli_sets_wanted(const cli_sets *sets);
/* Predicts and writes all that they ask for, `output` (may be "") among it. */
int cli_sets_write(cli_run *run, const cli_sets *sets, const okra_model *model,
                   const okra_data *x, const okra_data *candidates, const char *output);

#endif
