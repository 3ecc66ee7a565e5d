/*
 * ridge_sum.h: moments that a model of ridge of low rank keeps, so that others can be
 * added to them.
 */
#ifndef OKRA_RIDGE_SUM_H_
#define OKRA_RIDGE_SUM_H_

#include "solve/moments.h"
#include "solve/ridge.h"

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

#endif
