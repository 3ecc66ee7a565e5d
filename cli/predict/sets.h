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
    const char *groups, *test_groups, *cuts, *weights, *test_weights, *truth;
    okra_int folds;
} cli_sets;

/* The rows, whose fields lie `at` bytes into the command's own. */
/* clang-format off */
#define CLI_SETS_ROW(at, name, kind, field, preset, low, high, metavar, help) \
    {name, OKRA_OPTION_##kind, (at) + offsetof(cli_sets, field), preset, low, high, NULL, \
     metavar, help}
#define CLI_SETS_ROWS(at) \
    CLI_SETS_ROW(at, "set", NUMBER, set, "0", 0, 1, "ALPHA", \
     "Write every candidate that cannot be excluded: the set holds the truth with " \
     "probability 1 - ALPHA"), \
    CLI_SETS_ROW(at, "interval", NUMBER, interval, "0", 0, 1, "ALPHA", \
     "Vectors: an interval of each coordinate that holds the truth with " \
     "probability 1 - ALPHA, and the radius of a ball for the whole vector"), \
    CLI_SETS_ROW(at, "reject", NUMBER, reject, "0", 0, 1, "ALPHA", \
     "Answer only where the set of level ALPHA is a single candidate: at most a " \
     "share ALPHA of all test inputs gets a wrong answer"), \
    CLI_SETS_ROW(at, "bounds", WRITTEN, bounds, "", 1, 0, "FILE", \
     "Intervals as .npy, n_test x d x 2"), \
    CLI_SETS_ROW(at, "set-p-values", WRITTEN, p_values, "", 1, 0, "FILE", \
     "The p-values of all candidates, n_test x candidates"), \
    CLI_SETS_ROW(at, "conformal", TEXT, conformal, "auto", 1, 0, "HOW", \
     "split (needs a model fitted with --calibration, or --calibrate-x and " \
     "--calibrate-y), full, jackknife+ or cv+ (ridge); auto: split where there are " \
     "pairs for it, else full"), \
    CLI_SETS_ROW(at, "conformal-score", TEXT, score, "auto", 1, 0, "SCORE", \
     "distance, normalized, residual (full), rank or a metric (split); auto: normalized, " \
     "and of split distance where that makes smaller sets of left-out training pairs"), \
    CLI_SETS_ROW(at, "conformal-folds", INT, folds, "10", 2, 1e9, "N", \
     "Folds of cv+"), \
    CLI_SETS_ROW(at, "calibrate-x", READ, calibrate_x, "", 1, 0, "FILE", \
     "Inputs that the fit has not seen, for split"), \
    CLI_SETS_ROW(at, "calibrate-y", READ, calibrate_y, "", 1, 0, "FILE", \
     "Their outputs"), \
    CLI_SETS_ROW(at, "groups", READ, groups, "", 1, 0, "FILE", \
     "Labels of the pairs that calibrate: the guarantee holds in every group; " \
     "`class`: the outputs themselves"), \
    CLI_SETS_ROW(at, "test-groups", READ, test_groups, "", 1, 0, "FILE", \
     "Labels of the test inputs, with --groups FILE"), \
    CLI_SETS_ROW(at, "group-cuts", TEXT, cuts, "", 1, 0, "V[,V...]", \
     "--groups and --test-groups are numbers, such as a mass: cut them into groups at " \
     "these values"), \
    CLI_SETS_ROW(at, "shift-weights", READ, weights, "", 1, 0, "FILE", \
     "Covariate shift: density of the test inputs over that of the pairs that " \
     "calibrate, one number per pair"), \
    CLI_SETS_ROW(at, "test-shift-weights", READ, test_weights, "", 1, 0, "FILE", \
     "The same for the test inputs"), \
    CLI_SETS_ROW(at, "truth", READ, truth, "", 1, 0, "FILE", \
     "True outputs of the test inputs: tell how many sets and intervals hold them; " \
     "with --json a result for okra report")
/* clang-format on */

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
