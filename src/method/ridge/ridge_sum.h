/*
 * ridge_sum.h: moments that a model of ridge of low rank keeps, so that others can be
 * added to them.
 */
#ifndef OKRA_RIDGE_SUM_H_
#define OKRA_RIDGE_SUM_H_

#include "method/ridge/moments.h"
#include "method/ridge/ridge.h"

/* ridge_low.c: the model of these moments, which are consumed. */
okra_status okra_ridge_of_moments_(okra_ridge_ *r, const okra_operator_ *op,
                                   double epsilon, okra_moments_ *t) OKRA_CHECK;
/* Copies of the moments (not centred), of A (NULL: none) and of what the map of inputs is
 * beside its objects; keys of the inputs. */
okra_status okra_ridge_keep_moments_(const okra_problem_ *p, const okra_moments_ *t,
                                     const double *A, okra_bag_ *bag) OKRA_CHECK;

/* Moments, and what is told of them. */
typedef struct okra_total_ {
    okra_moments_ t;         /* sums in phi and psi, where bags add up */
    double trace_x, trace_y; /* tr(K), tr(L); < 0: not told            */
    double rounding;         /* of C                                   */
    double *of_R, of_D;      /* d: of the columns of R; of D           */
    double *keys;            /* n: of the inputs, or NULL: not told    */
} okra_total_;

/* ridge_kept.c: copies of the n pairs' moments, sums `times` those in phi and psi; of A
 * (NULL: none); of what the map is beside its objects. */
okra_status okra_total_keep_(const okra_total_ *z, double times, const double *A,
                             okra_int n, const struct okra_map_ *map,
                             okra_bag_ *bag) OKRA_CHECK;
/* tr(K) of what features keep of it and the share that they miss; < 0: not told. */
double okra_total_trace_(double kept, double error);
/* Keys of the inputs of pairs, by which they are known when they go. */
void okra_total_keys_(const okra_problem_ *p, double *keys);
/* squares (d) += sums of squares of the output features: of each, or of all where they
 * are of a map, whose features are alike in size. */
void okra_total_squares_(const okra_problem_ *p, okra_int d, double kept,
                         double *squares);
/* What moments of pairs come with, added to what is there. */
okra_status okra_total_round_(const okra_problem_ *p, const okra_moments_ *t,
                              okra_total_ *z) OKRA_CHECK;

/* The hooks `sum` and `check`. */
okra_status okra_ridge_sum_(okra_context *ctx, okra_sum_ *sum,
                            const okra_options *options, okra_bag_ *bag) OKRA_CHECK;
okra_status okra_ridge_check_(const okra_bag_ *bag, const okra_facts_ *facts) OKRA_CHECK;

/* Rows of the table of what is kept: m features of the inputs, d of the outputs. */
/* clang-format off */
#define OKRA_RIDGE_KEEPS_MOMENTS_ \
    OKRA_KEEPS_MATRIX_("basis.factor", OKRA_KEPT_OPTIONAL_ | OKRA_KEPT_FACTOR_, "m", "m"), \
    OKRA_KEEPS_MATRIX_("basis.sketch", OKRA_KEPT_OPTIONAL_, "c", "m"), \
    OKRA_KEEPS_MATRIX_("basis.value", OKRA_KEPT_OPTIONAL_, "1", "e"), \
    OKRA_KEEPS_VALUES_("basis.column", OKRA_KEPT_OPTIONAL_ | OKRA_KEPT_WHOLE_, "1", "e", "0", "m-1"), \
    OKRA_KEEPS_VALUES_("basis.start", OKRA_KEPT_OPTIONAL_ | OKRA_KEPT_WHOLE_, "1", "c+1", "0", "e"), \
    OKRA_KEEPS_NUMBER_("basis.scale", OKRA_KEPT_OPTIONAL_ | OKRA_KEPT_POSITIVE_, NULL, NULL), \
    OKRA_KEEPS_MATRIX_("moments.C", OKRA_KEPT_OPTIONAL_, "m", "m"), \
    OKRA_KEEPS_MATRIX_("moments.R", OKRA_KEPT_OPTIONAL_, "m", "d"), \
    OKRA_KEEPS_MATRIX_("moments.D", OKRA_KEPT_OPTIONAL_, "d", "d"), \
    OKRA_KEEPS_MATRIX_("moments.A", OKRA_KEPT_OPTIONAL_, "d", "d"), \
    OKRA_KEEPS_MATRIX_("moments.phi", OKRA_KEPT_OPTIONAL_, "1", "m"), \
    OKRA_KEEPS_MATRIX_("moments.psi", OKRA_KEPT_OPTIONAL_, "1", "d"), \
    OKRA_KEEPS_NUMBER_("moments.total", OKRA_KEPT_OPTIONAL_ | OKRA_KEPT_POSITIVE_, NULL, NULL), \
    OKRA_KEEPS_NUMBER_("moments.kept-y", OKRA_KEPT_OPTIONAL_, NULL, NULL), \
    OKRA_KEEPS_NUMBER_("moments.trace-x", OKRA_KEPT_OPTIONAL_, NULL, NULL), \
    OKRA_KEEPS_NUMBER_("moments.trace-y", OKRA_KEPT_OPTIONAL_, NULL, NULL), \
    OKRA_KEEPS_NUMBER_("moments.rounding", OKRA_KEPT_OPTIONAL_, "0", NULL), \
    OKRA_KEEPS_NUMBER_("moments.rounding-D", OKRA_KEPT_OPTIONAL_, "0", NULL), \
    OKRA_KEEPS_VALUES_("moments.rounding-R", OKRA_KEPT_OPTIONAL_, "1", "d", "0", NULL), \
    OKRA_KEEPS_VALUES_("moments.keys", OKRA_KEPT_OPTIONAL_ | OKRA_KEPT_WHOLE_, "1", "n", \
                       "0", "9007199254740991")
/* clang-format on */

#endif
