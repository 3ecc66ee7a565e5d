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

/* ---- tiles.c: a matrix of so many numbers is met by one row or column without BLAS ----
 */

enum { OKRA_VECTOR_LEAST_ = 1 << 16 };

#endif
