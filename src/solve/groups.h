/*
 * groups.h: ridge with an operator that is diagonal, the coordinates of the output in
 * groups that have a kernel each.
 */
#ifndef OKRA_GROUPS_H_
#define OKRA_GROUPS_H_

#include "kernel/positions/pieces.h"
#include "solve/problem.h"

/*     K(x,x') = diag_j k_g(j)(x,x'),   k_g(x,x') = sum_p S_gp k_p(x,x')
 * k_p the kernel of the inputs at position p alone (pieces.h). */
typedef struct okra_groups_ {
    okra_int n, d, count, positions;
    double *S;    /* count x positions, none negative       */
    okra_int *of; /* d: the group of a coordinate           */
    double *K;    /* positions Gram matrices of n x n       */
} okra_groups_;
/* Room for S and `of`, which the caller fills, and all Gram matrices. */
okra_status okra_groups_create_(okra_context *ctx, const okra_pieces_ *pieces, okra_int n,
                                okra_int d, okra_int count, okra_groups_ *out) OKRA_CHECK;
void okra_groups_clear_(okra_groups_ *g);
/* K (n x n) <- the Gram matrix of group k. */
void okra_groups_gram_(const okra_groups_ *g, okra_int k, double *K);

/* Outputs Y (n x d), less their mean where it is not NULL. */
typedef struct okra_grouped_ {
    okra_context *ctx;
    const okra_groups_ *groups;
    const double *Y, *mean;
    const double *lambda;
    size_t count;
} okra_grouped_;
/* (K_g(j) + lambda I) c_j = y_j: every store gets C and what a prediction needs. */
okra_status okra_grouped_ridge_(const okra_grouped_ *r,
                                okra_store_ *const *stores) OKRA_CHECK;
/* Predictions left out one by one, for every lambda. */
okra_status okra_grouped_leave_(const okra_grouped_ *r, okra_left_fn_ sink,
                                void *user) OKRA_CHECK;
/* *C (n x d) goes into the store, beside the groups, the mean and lambda. */
okra_status okra_grouped_put_(const okra_grouped_ *r, double lambda, double **C,
                              okra_store_ *store) OKRA_CHECK;

/* What the methods that keep such stores share. */
/* h_j(x) = mean_j + sum_i k_g(j)(x, x_i) C_ij */
okra_status okra_grouped_predict_(okra_context *ctx, const okra_store_ *store,
                                  okra_query_ *query, okra_mat_ out) OKRA_CHECK;

#endif
