/*
 * eigh.h: the steps of a symmetric eigendecomposition on several threads.
 *
 *   A = H T H'      H orthogonal, T tridiagonal      tridiagonal.c
 *   T = Z W Z'      by halves                        divide.c
 *   H Z             the eigenvectors of A            tridiagonal.c
 *
 * LAPACK's dsyevd does the same, but only BLAS's own threads could help it, and they wait
 * by spinning. Here every loop is one of okra_parallel_.
 */
#ifndef OKRA_EIGH_H_
#define OKRA_EIGH_H_

#include "linalg/linalg.h"

/* A, of which the lower triangle counts, becomes T, with diagonal d[0..n-1] and e[0..n-2]
 * beside it, and H = H_{n-2} ... H_0, where H_k = I - tau_k v v': v is row k + 1 of A up
 * to column k, its last entry 1. Above the diagonal A is overwritten. */
okra_status okra_tridiagonal_(okra_context *ctx, okra_mat_ A, double *d, double *e,
                              double *tau);

/* Rows of Z become rows of Z H', A and tau being those of okra_tridiagonal_. */
okra_status okra_tridiagonal_rotate_(okra_context *ctx, okra_mat_ A, const double *tau,
                                     okra_mat_ Z);

/* Row order[k] - 1 of Z becomes an eigenvector of T, whose eigenvalue d[order[k] - 1]
 * grows with k. Overwrites e; has work space of n^2 numbers. At least `leaves` parts are
 * solved side by side. */
okra_status okra_divide_(okra_context *ctx, okra_int leaves, double *d, double *e,
                         okra_mat_ Z, int *order);

/* okra_eigh_ by the steps above, and above the sizes that LAPACK's first choice can take;
 * tests call both at any size. eigh.c */
okra_status okra_eigh_team_(okra_context *ctx, int team, okra_mat_ A, double *w);
okra_status okra_eigh_large_(okra_context *ctx, okra_mat_ A, double *w);

#endif
