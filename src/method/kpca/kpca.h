/*
 * kpca.h: what kpca.c (the method), kpca_rank.c (directions of fitted outputs) and
 * kpca_low.c (the factored form) share.
 */
#ifndef OKRA_KPCA_H_
#define OKRA_KPCA_H_

#include "method/method.h"

/* Directions of the outputs, and what they come from. */
typedef struct okra_axes_ {
    okra_int n, p;
    okra_large_ *L; /* n x n: the centred Gram matrix of outputs, while it is needed */
    double *mean, scale;     /* n: its row means before; the largest l(y_i, y_i)     */
    double *S, *mu, *offset; /* n x p, p, p */
    okra_large_ *T;   /* S where it stays on the engine (kpca_apart.c), or NULL        */
    double *D;        /* n x p: duals where these are not S, or NULL              */
    double *s, total; /* n: roots of the weights of pairs, or NULL; their sum */
} okra_axes_;
void okra_axes_drop_(okra_axes_ *axes); /* the directions alone */
/* v (n, ascending) becomes descending; the number of those above rounding. */
okra_int okra_axes_rank_(okra_context *ctx, okra_int n, double scale, double *v);
/* How many of the `rank` directions (mu descending) the text asks for; `what`: the option
 * that has the text. */
okra_status okra_kpca_choose_(okra_context *ctx, const char *what, const char *text,
                              const double *mu, okra_int rank, okra_int *p) OKRA_CHECK;
/* sum_i s_i row_i = 0, as centred outputs have it but for rounding. */
void okra_kpca_center_(const okra_axes_ *axes, double *row);
/* kpca_apart.c: S on the engine, from the eigenvectors in the rows of V (v descending);
 * what fits with the factor G keep of it. */
okra_status okra_kpca_take_apart_(okra_context *ctx, const okra_large_ *V,
                                  const double *v, okra_axes_ *axes) OKRA_CHECK;
okra_status okra_kpca_put_apart_(okra_context *ctx, const okra_axes_ *axes,
                                 const okra_large_ *G, okra_bag_ *bag) OKRA_CHECK;
/* The directions of the fitted outputs that `text` (rank-output) asks for, in `axes`; G:
 * the factor of K + lambda I. */
okra_status okra_kpca_rank_(okra_context *ctx, const char *text, const okra_large_ *K,
                            const okra_large_ *G, okra_axes_ *axes) OKRA_CHECK;
/* For problems with map_x: bags hold "coefficients" and "mean" as those of ridge, and
 * "axes" and "offset" (okra_components_). */
okra_status okra_kpca_low_(okra_context *ctx, const okra_problem_ *problem,
                           const char *components, const char *rank, const double *lambda,
                           size_t count, okra_bag_ *const *bags) OKRA_CHECK;

#endif
