/*
 * single.c: a Cholesky factor in single precision, as a preconditioner.
 *
 * A = L L', A symmetric and positive definite, n x n. n^3/3 operations at the rate of
 * single precision and n^2/2 floats: L lies in rows of blocks of SINGLE x SINGLE, row i
 * of them at SINGLE^2 i (i + 1) / 2, up to its diagonal block, row-major. Rows that fill
 * up the last block are those of the identity. (L L')^-1 A differs from I by some 6e-8
 * |A| / (the least eigenvalue of A): whoever wants more refines (solve/mixed.c).
 *
 * Block column by block column, each from those before it. Blocks depend on n alone, so
 * that any number of threads has the same bits.
 */
#include "linalg/blas.h"

#include <cblas.h>
#include <lapacke.h>

enum { SINGLE = OKRA_SINGLE_, AREA = SINGLE * SINGLE };

typedef struct single {
    okra_context *ctx;
    okra_int blocks, k; /* k: of the step */
    float *L, *B;       /* B: blocks * SINGLE x c */
    okra_int c;
    bool *done, trans;
} single;

static okra_int blocks_of(okra_int n)
{
    return (n + SINGLE - 1) / SINGLE;
}

okra_int okra_single_count_(okra_int n)
{
    return AREA * (blocks_of(n) * (blocks_of(n) + 1) / 2);
}

float *okra_single_block_(float *L, okra_int i, okra_int j, okra_int *ld)
{
    *ld = (i + 1) * SINGLE;
    return L + AREA * (i * (i + 1) / 2) + j * SINGLE;
}

/* ---- the factor ---- */

/* Block (i, k) less what the columns before it bring: one product, long in the middle. */
static void reduce(const single *s, okra_int i, okra_int k)
{
    okra_int ld, other;
    float *C = okra_single_block_(s->L, i, k, &ld);
    const float *B = okra_single_block_(s->L, k, 0, &other);
    if (k > 0) {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, SINGLE, SINGLE,
                    (int)(k * SINGLE), -1, C - k * SINGLE, (int)ld, B, (int)other, 1, C,
                    (int)ld);
    }
    okra_worked_(s->ctx, 2.0 * AREA * SINGLE * (double)k);
}

static void factor_diagonal(const single *s, okra_int k)
{
    okra_int ld;
    float *A = okra_single_block_(s->L, k, k, &ld);
    reduce(s, k, k);
    bool done = LAPACKE_spotrf_work(LAPACK_COL_MAJOR, 'U', SINGLE, A, (int)ld) == 0;
    for (okra_int i = 0; i < SINGLE && done; i++) {
        done = isfinite(A[i * ld + i]) != 0;
    }
    *s->done = done;
}

/* Blocks of column k below the diagonal; the first goes on to the next diagonal block. */
static okra_status column(void *arg, okra_int begin, okra_int end, int worker)
{
    const single *s = arg;
    okra_int own, ld;
    const float *diagonal = okra_single_block_(s->L, s->k, s->k, &own);
    for (okra_int i = s->k + 1 + begin; i < s->k + 1 + end; i++) {
        float *A = okra_single_block_(s->L, i, s->k, &ld);
        reduce(s, i, s->k);
        cblas_strsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit,
                    SINGLE, SINGLE, 1, diagonal, (int)own, A, (int)ld);
        if (i == s->k + 1) {
            factor_diagonal(s, i);
        }
    }
    return OKRA_OK;
}

static okra_status run_factor(void *arg)
{
    single *s = arg;
    okra_blas_hold_(1);
    factor_diagonal(s, 0);
    okra_blas_release_();
    for (s->k = 0; s->k < s->blocks - 1 && *s->done; s->k++) {
        CHK(okra_parallel_(s->ctx, s->blocks - s->k - 1, 1, NULL, column, s));
    }
    return OKRA_OK;
}

okra_status okra_single_factor_(okra_context *ctx, okra_int n, float *L, bool *done)
{
    single s = {.ctx = ctx, .blocks = blocks_of(n), .L = L, .done = done};
    okra_mat_ shape = {NULL, n, n, n};
    *done = true;
    if (n == 0) {
        return OKRA_OK;
    }
    CHK(okra_blas_enter_(ctx, "cholesky", 1, &shape));
    return okra_blas_watched_(ctx, OKRA_WORK_FACTOR_, pow((double)n, 3) / 6, run_factor,
                              &s);
}

/* ---- solves ---- */

/* Block i of B less what block k of the solution brings it: L_ik B_k, i > k, or L_ki'
 * B_k, i < k. */
static okra_status others(void *arg, okra_int begin, okra_int end, int worker)
{
    const single *s = arg;
    for (okra_int at = begin; at < end; at++) {
        okra_int ld, i = s->trans ? at : s->k + 1 + at;
        const float *A =
            okra_single_block_(s->L, OKRA_MAX_(i, s->k), OKRA_MIN_(i, s->k), &ld);
        cblas_sgemm(CblasRowMajor, s->trans ? CblasTrans : CblasNoTrans, CblasNoTrans,
                    SINGLE, (int)s->c, SINGLE, -1, A, (int)ld,
                    s->B + s->k * SINGLE * s->c, (int)s->c, 1, s->B + i * SINGLE * s->c,
                    (int)s->c);
    }
    return OKRA_OK;
}

/* B <- L^-1 B, or L'^-1 B */
static okra_status substitute(single *s, bool trans)
{
    okra_int ld;
    s->trans = trans;
    for (okra_int step = 0; step < s->blocks; step++) {
        s->k = trans ? s->blocks - 1 - step : step;
        const float *A = okra_single_block_(s->L, s->k, s->k, &ld);
        okra_blas_hold_(1);
        cblas_strsm(CblasRowMajor, CblasLeft, CblasLower,
                    trans ? CblasTrans : CblasNoTrans, CblasNonUnit, SINGLE, (int)s->c, 1,
                    A, (int)ld, s->B + s->k * SINGLE * s->c, (int)s->c);
        okra_blas_release_();
        CHK(okra_parallel_(s->ctx, s->blocks - 1 - step, 1, NULL, others, s));
    }
    return OKRA_OK;
}

/* Columns are scaled, so that the residuals of small outputs are no denormal numbers. */
okra_status okra_single_solve_(okra_context *ctx, okra_int n, const float *L, okra_mat_ B)
{
    OWNED float *copy = NULL;
    OWNED double *scale = NULL;
    okra_int rows = blocks_of(n) * SINGLE, c = B.cols;
    ZMAKE(copy, rows * c);
    ZMAKE(scale, c);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < c; j++) {
            scale[j] = fmax(scale[j], fabs(B.p[i * B.ld + j]));
        }
    }
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < c; j++) {
            copy[i * c + j] = (float)(scale[j] > 0 ? B.p[i * B.ld + j] / scale[j] : 0);
        }
    }
    single s = {.ctx = ctx, .blocks = blocks_of(n), .B = copy, .c = c};
    s.L = (float *)(uintptr_t)L;
    CHK(substitute(&s, false));
    CHK(substitute(&s, true));
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < c; j++) {
            B.p[i * B.ld + j] = (double)copy[i * c + j] * scale[j];
        }
    }
    return OKRA_OK;
}
