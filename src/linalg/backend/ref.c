/*
 * The plain-C backend: the textbook form of every operation, for reading and as the
 * oracle of the tests. No blocking, no vector code.
 */
#include "linalg/backend.h"

#include <math.h>
#include <stdint.h>

/* element (i, j) of op(A) */
static double at(okra_mat_ A, bool trans, okra_int i, okra_int j)
{
    return trans ? A.p[j * A.ld + i] : A.p[i * A.ld + j];
}

static okra_status gemm(okra_context *ctx, bool ta, bool tb, double alpha, okra_mat_ A,
                        okra_mat_ B, double beta, okra_mat_ C)
{
    (void)ctx;
    okra_int inner = ta ? A.rows : A.cols;
    for (okra_int i = 0; i < C.rows; i++) {
        for (okra_int j = 0; j < C.cols; j++) {
            double sum = 0, *c = C.p + i * C.ld + j;
            for (okra_int k = 0; k < inner; k++) {
                sum += at(A, ta, i, k) * at(B, tb, k, j);
            }
            *c = alpha * sum + (beta == 0 ? 0 : beta * *c);
        }
    }
    return OKRA_OK;
}

static okra_status syrk(okra_context *ctx, bool trans, double alpha, okra_mat_ A,
                        double beta, okra_mat_ C)
{
    (void)ctx;
    okra_int inner = trans ? A.rows : A.cols;
    for (okra_int i = 0; i < C.rows; i++) {
        for (okra_int j = 0; j <= i; j++) {
            double sum = 0, *c = C.p + i * C.ld + j;
            for (okra_int k = 0; k < inner; k++) {
                sum += at(A, trans, i, k) * at(A, trans, j, k);
            }
            *c = alpha * sum + (beta == 0 ? 0 : beta * *c);
        }
    }
    return OKRA_OK;
}

/* L_ij = (A_ij - sum_k<j L_ik L_jk) / L_jj, row by row */
static okra_status cholesky(okra_context *ctx, okra_mat_ A, bool *done)
{
    (void)ctx;
    *done = false;
    for (okra_int i = 0; i < A.rows; i++) {
        double *ai = A.p + i * A.ld;
        for (okra_int j = 0; j <= i; j++) {
            const double *aj = A.p + j * A.ld;
            double rest = ai[j] - okra_dot_(j, ai, aj);
            if (i == j && !(rest > 0)) {
                return OKRA_OK;
            }
            ai[j] = i == j ? sqrt(rest) : rest / aj[j];
        }
    }
    *done = true;
    return OKRA_OK;
}

/* Substitution: x_i = (b_i - sum_k M_ik x_k) / M_ii over the k already solved, M = op(L)
 * on the left; on the right the rows of B are solved with M = op(L)'. */
static okra_status trsm(okra_context *ctx, bool left, bool trans, okra_mat_ L,
                        okra_mat_ B)
{
    (void)ctx;
    bool flip = left ? trans : !trans; /* M = L' : backward, else forward */
    okra_int n = L.rows, count = left ? B.cols : B.rows;
    okra_int step = left ? B.ld : 1, next = left ? 1 : B.ld;
    for (okra_int c = 0; c < count; c++) {
        double *x = B.p + c * next;
        for (okra_int t = 0; t < n; t++) {
            okra_int i = flip ? n - 1 - t : t;
            double rest = x[i * step];
            for (okra_int k = flip ? i + 1 : 0; k < (flip ? n : i); k++) {
                rest -= at(L, flip, i, k) * x[k * step];
            }
            x[i * step] = rest / L.p[i * L.ld + i];
        }
    }
    return OKRA_OK;
}

const okra_backend_ okra_backend_ref_ = {
    .name = "ref",
    .limit = INT64_MAX / 2,
    .gemm = gemm,
    .syrk = syrk,
    .cholesky = cholesky,
    .trsm = trsm,
    .eigh = okra_ref_eigh_,
    .svd = okra_ref_svd_,
    .solve = okra_ref_solve_,
};
