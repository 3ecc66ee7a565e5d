/*
 * sets.h: prediction sets and intervals of okra predict.
 */
#ifndef OKRA_SETS_H
#define OKRA_SETS_H

#include "cli.h"

/* Flags of okra predict, as their rows in predict.c say. */
typedef struct cli_sets {
    double set, interval, reject;
    const char *bounds, *p_values, *conformal, *score, *calibrate_x, *calibrate_y;
    const char *groups, *test_groups, *cuts, *weights, *test_weights, *truth;
    okra_int folds;
} cli_sets;

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

/* An object as people know it, nothing where there is no text. separator: of a table,
 * ',' (in quotes where it is needed), or tab; control characters become \xNN. 0: as it
 * is. */
void cli_print_object(FILE *out, const okra_data *data, okra_int i, char separator);
json_t *cli_object_text(const okra_data *data, okra_int i); /* as it is, for JSON */
/* Numbers of a dense vector; members `j` of a set, or `j:value`; spaces between. */
void cli_print_vector(FILE *out, const okra_data *data, okra_int i);
/* A text, the numbers of a dense vector, {"index": value} of sparse vectors and bits, the
 * code of a label; null. */
json_t *cli_object_json(const okra_data *data, okra_int i);
/* Is any of them asked for? */
bool cli_sets_wanted(const cli_sets *sets);
/* Levels between 0 and 1, and no flag without a use. */
int cli_sets_check(const cli_run *run, const cli_sets *sets);
/* Predicts and writes all that they ask for, `output` (may be "") among it. */
int cli_sets_write(cli_run *run, const cli_sets *sets, const okra_model *model,
                   const okra_data *x, const okra_data *candidates, const char *output);

#endif
