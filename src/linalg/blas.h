/*
 * blas.h: what the files of this folder share.
 *
 * okra_NAME_ of linalg.h checks that sizes fit BLAS, whether the run was cancelled, and
 * reports progress; okra_blas_NAME_ is the bare operation, as the others are made of it.
 */
#ifndef OKRA_BLAS_H_
#define OKRA_BLAS_H_

#include "linalg/linalg.h"

/* ---- blas.c: what every operation shares ---- */

/* The entry of every operation: each of the `count` views must fit the integers of BLAS
 * (the one place where sizes are narrowed), and the run must not be cancelled. */
okra_status okra_blas_enter_(okra_context *ctx, const char *op, int count,
                             const okra_mat_ *views);

typedef enum okra_work_ {
    OKRA_WORK_PRODUCT_,
    OKRA_WORK_FACTOR_,
    OKRA_WORK_SOLVE_,
    OKRA_WORK_EIGEN_,
    OKRA_WORK_SINGULAR_,
} okra_work_;

/* Calls `call`, of `work` operations, and reports progress where it is long. */
okra_status okra_blas_watched_(okra_context *ctx, okra_work_ kind, double work,
                               okra_call_ call, void *arg);

/* Fails with OKRA_ENUMERIC at the first NaN or infinity of A (lower: of its lower
 * triangle), which iterative LAPACK routines do not survive. */
okra_status okra_blas_finite_(const char *op, bool lower, okra_mat_ A);

/* How many threads `work` operations deserve where each thread should have `each`. */
int okra_blas_team_(okra_context *ctx, double work, double each);

/* The row stride for BLAS, which wants at least 1. */
static inline int okra_blas_stride_(okra_mat_ A)
{
    return (int)OKRA_MAX_(A.ld, 1);
}

/* ---- tiles.c ---- */

okra_status okra_blas_gemm_(okra_context *ctx, bool ta, bool tb, double alpha,
                            okra_mat_ A, okra_mat_ B, double beta, okra_mat_ C);
/* The lower triangle alone. */
okra_status okra_blas_syrk_(okra_context *ctx, bool trans, double alpha, okra_mat_ A,
                            double beta, okra_mat_ C);
/* The lower triangle of C <- alpha A'B + beta C, where that is symmetric; some entries
 * above the diagonal change too. */
okra_status okra_blas_lower_(okra_context *ctx, double alpha, okra_mat_ A, okra_mat_ B,
                             double beta, okra_mat_ C);
okra_status okra_blas_trsm_(okra_context *ctx, bool left, bool trans, okra_mat_ L,
                            okra_mat_ B);

/* ---- tiles.c: a matrix of this many numbers is met by one row or column without BLAS
 * ----
 */

enum { OKRA_VECTOR_LEAST_ = 1 << 16 };

/* ---- eigh ----
 * The steps of a symmetric eigendecomposition on several threads.
 *
 *   A = H T H'      H orthogonal, T tridiagonal      tridiagonal.c
 *   T = Z W Z'      by halves                        eigh.c
 *   H Z             the eigenvectors of A            tridiagonal.c
 *
 * LAPACK's dsyevd does the same, but only BLAS's own threads could help it, and they wait
 * by spinning. Here every loop is one of okra_parallel_.
 */

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
