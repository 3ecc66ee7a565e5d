/*
 * smoother.h: what is left of outputs when ridge has had its part.
 *
 * Ridge maps outputs linearly, Y -> G Y at the training inputs. M = I - G gives
 * everything that leaving out needs (leave.c); how M is applied is all that differs
 * between a dense kernel, a graph, a kernel of low rank and an engine.
 *
 * A column has a lambda of its own: with a matrix operator A = E' diag(g) E the columns
 * of Y E' are ridges with lambda / g_j (infinite where g_j is 0), and so are outputs with
 * their own lambda. M is scaled by a positive number per column where that is easier.
 */
#ifndef OKRA_SMOOTHER_H_
#define OKRA_SMOOTHER_H_

#include "solve/ridge.h"

typedef struct okra_smoother_ okra_smoother_;
struct okra_smoother_ {
    void *self;
    okra_int n;
    /* Before all others; U (n x c) stays where it is, p == NULL: the identity, n x n. */
    okra_status (*begin)(void *self, okra_mat_ U);
    /* out (n x some c) <- M U, `some` times, column j under lambda[j]; q (some k x n) <-
     * for each of these times the diagonals of M under the first k lambdas. */
    okra_status (*apply)(void *self, const double *lambda, okra_mat_ out, okra_mat_ q);
    /* R <- M_SS^-1 R, S the inputs in[0..R.rows-1]; all columns under one lambda. */
    okra_status (*solve)(void *self, double lambda, const okra_int *in, okra_mat_ R);
    void (*free)(void *self);
};

/* K = V' diag(v) V, or with a graph M = I - S of semi.c. */
okra_status okra_smoother_dense_(okra_ridge_ *r, const char *graph, double lambda2,
                                 okra_smoother_ *out) OKRA_CHECK;
/* A Cholesky factor for each lambda: few lambdas, on an engine that multiplies fast. */
bool okra_smoother_factors_well_(const okra_ridge_ *r, okra_int largest);
okra_status okra_smoother_factor_(okra_ridge_ *r, bool *done,
                                  okra_smoother_ *out) OKRA_CHECK;
/* K = Phi Phi' of low rank; r->Y and r->mean become those of the outputs' features.
 * rows: features are kept, so that parts can be solved. */
okra_status okra_smoother_low_(okra_ridge_ *r, bool rows, okra_int *d,
                               okra_smoother_ *out) OKRA_CHECK;

#endif
