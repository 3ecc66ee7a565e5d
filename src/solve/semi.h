/*
 * semi.h: the linear algebra that semi-supervised ridge and margin share.
 */
#ifndef OKRA_SEMI_H_
#define OKRA_SEMI_H_

#include "solve/graph.h"
#include "solve/problem.h"

/* (lambda I + g P K)^-1 for every lambda and g, from a factor of K and an
 * eigendecomposition; semi.c. */
typedef struct okra_semi_ {
    okra_int n, N, rank;
    double *t;       /* rank: eigenvalues of F' P F, K = F F'  */
    double *E3, *E2; /* rank x N: (F U)' and (P F U)'           */
    double *G;       /* one lambda: rank x rank, the factor of lambda I + F' P F; NULL */
} okra_semi_;

/* P = J'J + 2 lambda2 M (`labelled`), or 2 lambda2 M alone. K (N x N) is destroyed.
 * scale (n, or NULL): all of it in units of scale_i h(x_i) at the labelled inputs, that
 * is rows and columns of K times scale and those of M divided by it. only: the one lambda
 * that will be asked for, with g = 1, which is cheaper; 0: any. */
okra_status okra_semi_create_(okra_context *ctx, okra_mat_ K, okra_int n,
                              const double *scale, const okra_graph_ *M, double lambda2,
                              bool labelled, double only, okra_semi_ *out) OKRA_CHECK;
void okra_semi_clear_(okra_semi_ *s);
/* What the condition number of lambda I + T, and so of the system, is at least. */
double okra_semi_condition_(const okra_semi_ *s, double lambda);
/* Rows are right-hand sides: X_i <- R_i (lambda I + g_i K P)^-1, R: r x N, destroyed; g
 * == NULL: all are 1. */
okra_status okra_semi_solve_rows_(okra_context *ctx, const okra_semi_ *s, double lambda,
                                  const double *g, okra_mat_ R, okra_mat_ X) OKRA_CHECK;
/* S (n x n) <- J K (lambda I + g P K)^-1 J', symmetric. */
okra_status okra_semi_gram_(okra_context *ctx, const okra_semi_ *s, double lambda,
                            double g, okra_mat_ S) OKRA_CHECK;

/* For methods with the options lambda2 and graph: fails where there are inputs without
 * outputs but no lambda2 to use them, or a graph without lambda2. */
okra_status okra_semi_check_(const char *who, const okra_problem_ *p,
                             const okra_options *options) OKRA_CHECK;

#endif
