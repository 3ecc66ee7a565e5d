/*
 * pairs.h: ridge regression over pairs (row, column) with sums of products of kernels.
 */
#ifndef OKRA_PAIRS_H_
#define OKRA_PAIRS_H_

#include "engine/engine.h"
#include "okra/more/pairs.h"

/* A (n x n), B (m x m): borrowed; their eigenvalues and rows of eigenvectors. */
typedef struct okra_pair_term_ {
    double *A, *B, *a, *b, *U, *V;
} okra_pair_term_;

/* K((i,j),(k,l)) = sum_t A_t(i,k) B_t(j,l). */
typedef struct okra_pair_solver_ {
    okra_context *ctx;
    okra_int n, m, known; /* rows, columns, pairs with a value and a weight above 0 */
    int terms;
    okra_pair_term_ *of;
    const double *Y, *W;  /* n x m: values, NaN: none; weights, NULL: 1 each */
    bool center, product; /* less the mean; one term, no gap, no weights */
} okra_pair_solver_;

static inline bool okra_pair_known_(const okra_pair_solver_ *s, okra_int p)
{
    return !isnan(s->Y[p]) && !(s->W && s->W[p] <= 0);
}
static inline double okra_pair_weight_(const okra_pair_solver_ *s, okra_int p)
{
    return s->W ? s->W[p] : 1;
}
/* C <- U' (D o U X V') V of the first term, D = 1 / (a b' + lambda); T: n x m. */
okra_status okra_pair_invert_(const okra_pair_solver_ *s, double lambda, const double *X,
                              double *T, double *C);

enum { OKRA_PAIR_DENSE_MOST_ = 1000 }; /* pairs, of which a matrix is made */

/* How a left-out prediction was found. */
typedef enum okra_pair_how_ {
    OKRA_PAIR_CLOSED_, /* two decompositions, exact         */
    OKRA_PAIR_DENSE_,  /* the matrix of few pairs, exact    */
    OKRA_PAIR_FOLDS_,  /* groups left out together, by conjugate gradients */
} okra_pair_how_;

/* A, B, Y and W are borrowed; the matrices stay as they are. */
okra_status okra_pair_solver_create_(okra_context *ctx, okra_int n, okra_int m, int terms,
                                     double *const *A, double *const *B, const double *Y,
                                     const double *W, bool center,
                                     okra_pair_solver_ *out);
void okra_pair_solver_clear_(okra_pair_solver_ *s);

/* (K + lambda diag(1/W)) C = Y - mean over the pairs that are known and not in `left` (n
 * x m, NULL: none are). C (n x m) is where conjugate gradients begin; they end when a
 * step moves predictions by no more than the tolerance, as a share of these, and C at all
 * other pairs is then as near 0. *steps of them were taken, 0: two decompositions did. */
okra_status okra_pair_solve_(const okra_pair_solver_ *s, double lambda, const bool *left,
                             double tolerance, double *C, double *mean, okra_int *steps);
/* F (n x m) <- mean + sum_t A_t C B_t */
okra_status okra_pair_fitted_(const okra_pair_solver_ *s, const double *C, double mean,
                              double *F);
/* F_ij <- the prediction of a model that has not seen the pair, its row, its column, or
 * both; NaN where nothing else is known, and at gaps. Of one product without gaps, or of
 * few pairs (a matrix of them is made). */
okra_status okra_pair_leave_(const okra_pair_solver_ *s, double lambda,
                             okra_pair_setting setting, double *F, okra_pair_how_ *how);
/* The problem without a group of rows and columns, and where conjugate gradients begin;
 * {0} at first. */
typedef struct okra_pair_fold_ {
    okra_pair_solver_ rest;
    double *grams, *values, *C;
    okra_int *rows, *columns; /* that stay; rest.n, rest.m */
} okra_pair_fold_;
void okra_pair_fold_clear_(okra_pair_fold_ *fold);
/* The same by groups, whatever the problem, each by conjugate gradients; `some`: two of
 * them, the rest is NaN. folds (okra_pair_folds_ of them, or NULL) are left for the next
 * lambda, of the same setting and kernels. */
okra_status okra_pair_leave_folds_(const okra_pair_solver_ *s, double lambda,
                                   okra_pair_setting setting, bool some, double tolerance,
                                   okra_pair_fold_ *folds, double *F);
okra_int okra_pair_folds_(const okra_pair_solver_ *s, okra_pair_setting setting);

/* Mean squared error over the pairs with both values, weighted, and the share of pairs of
 * them with different values whose predictions are in the same order (ties: half). */
okra_status okra_pair_score_(okra_int count, const double *y, const double *f,
                             const double *w, double *error, double *concordance);

#endif
