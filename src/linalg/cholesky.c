/*
 * Cholesky factorisation with measured jitter, and the triangular solves that use it.
 *
 * Problem: A = L L', A symmetric (n x n, both triangles given). n^3/3 operations;
 * backward error ||A - L L'|| of a few eps ||A||, whatever n. A Gram matrix is positive
 * semi-definite in exact arithmetic but rounding can make a pivot negative. Then A +
 * delta I is factored instead, delta = eps mean(diag A) 10^k, k = 0, 1, ..., at most 1e-4
 * mean(diag A): the smallest power that does, and it is reported. The factor is written
 * to the lower triangle, so the upper one and a saved diagonal are all that is needed to
 * start again: n doubles of work space.
 *
 * On several threads by halves: L11 from A11, L21 = A21 L11'^-1, then A22 - L21 L21',
 * down to blocks of `leaf` rows.
 */
#include "linalg/blas.h"

#include <lapacke.h>

static const double jitter_limit = 1e-4; /* of the mean diagonal: beyond, A is not PSD */

/* ---- the rule ---- */

static okra_status add_jitter(okra_context *warned, okra_int n,
                              const okra_cholesky_steps_ *steps, const double *diagonal,
                              double *jitter)
{
    OWNED double *moved = NULL;
    double mean = 0, delta = 0;
    bool done = false;
    for (okra_int i = 0; i < n; i++) {
        mean += diagonal[i] / (double)n;
    }
    MAKE(moved, n);
    for (double last = jitter_limit * mean; !done && delta < last;) {
        delta = fmin(delta > 0 ? 10 * delta : DBL_EPSILON * mean, last);
        for (okra_int i = 0; i < n; i++) {
            moved[i] = diagonal[i] + delta;
        }
        CHK(steps->restore(steps->user, moved));
        CHK(steps->factor(steps->user, &done));
    }
    REFUSE_IF(!done, OKRA_ENUMERIC,
              "cholesky: the %lld x %lld matrix is not positive definite, not even with "
              "%.3g (%.0e of its mean diagonal) added to the diagonal",
              (long long)n, (long long)n, delta, jitter_limit);
    okra_warn_(warned,
               "cholesky: the %lld x %lld matrix is not positive definite to "
               "rounding; %.3g (%.1e of its mean diagonal) was added to the diagonal",
               (long long)n, (long long)n, delta, delta / mean);
    *jitter = delta;
    return OKRA_OK;
}

/* The condition number of A = L L' is at least (max_i l_ii / min_i l_ii)^2. */
static void warn_condition(okra_context *warned, okra_int n, const double *pivot)
{
    double least = (double)INFINITY, most = 0;
    for (okra_int i = 0; i < n; i++) {
        least = fmin(least, pivot[i]);
        most = fmax(most, pivot[i]);
    }
    double condition = n > 0 ? most / least * (most / least) : 1;
    if (condition * DBL_EPSILON > 1e-3) {
        okra_warn_(
            warned,
            "cholesky: the condition number of the %lld x %lld matrix is %.1e or "
            "more, which leaves %d right digits at most; a larger lambda, or fewer "
            "rows that are copies of others, helps",
            (long long)n, (long long)n, condition,
            (int)fmax(0, -log10(condition * DBL_EPSILON)));
    }
}

okra_status okra_cholesky_by_(okra_context *warned, okra_int n,
                              const okra_cholesky_steps_ *steps, double *jitter,
                              bool *done)
{
    OWNED double *diagonal = NULL;
    double delta = 0;
    bool first = n == 0;
    MAKE(diagonal, n);
    if (n > 0) {
        CHK(steps->diagonal(steps->user, diagonal));
        CHK(steps->factor(steps->user, &first));
    }
    if (!first) {
        CHK(steps->restore(steps->user, diagonal));
    }
    if (!first && jitter) {
        CHK(steps->finite(steps->user));
        CHK(add_jitter(warned, n, steps, diagonal, &delta));
    }
    if (first && jitter && warned && n > 0) {
        CHK(steps->diagonal(steps->user, diagonal));
        warn_condition(warned, n, diagonal);
    }
    GIVE(jitter, delta);
    *done = first || jitter;
    return OKRA_OK;
}

/* ---- a matrix in memory ---- */

static const double thread_work = 2e7; /* operations that are worth a thread more */
enum { leaf = 192, unit = 16 };

static okra_status factor_halves(okra_context *ctx, okra_mat_ A, bool *done)
{
    double n = (double)A.rows;
    if (A.rows <= leaf || okra_blas_team_(ctx, n * n * n / 3, thread_work) == 1) {
        okra_blas_hold_(1);
        lapack_int info = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (int)A.rows, A.p,
                                              okra_blas_stride_(A));
        okra_blas_release_();
        REFUSE_IF(info < 0, OKRA_EINTERNAL, "cholesky: LAPACK refused its argument %d",
                  -(int)info);
        *done = info == 0;
        okra_worked_(ctx, n * n * n / 3);
        return OKRA_OK;
    }
    okra_int half = (A.rows / 2 + unit - 1) / unit * unit, rest = A.rows - half;
    okra_mat_ A11 = okra_mat_part_(A, 0, half, 0, half);
    okra_mat_ A21 = okra_mat_part_(A, half, rest, 0, half);
    okra_mat_ A22 = okra_mat_part_(A, half, rest, half, rest);
    CHK(factor_halves(ctx, A11, done));
    if (*done) {
        CHK(okra_blas_trsm_(ctx, false, true, A11, A21));
        CHK(okra_blas_syrk_(ctx, false, -1, A21, 1, A22));
        CHK(factor_halves(ctx, A22, done));
    }
    return OKRA_OK;
}

typedef struct dense {
    okra_context *ctx;
    okra_mat_ A;
    bool *done;
} dense;

static okra_status run_factor(void *arg)
{
    dense *z = arg;
    return factor_halves(z->ctx, z->A, z->done);
}

okra_status okra_factor_(okra_context *ctx, okra_mat_ A, bool *done)
{
    dense z = {ctx, A, done};
    CHK(okra_blas_enter_(ctx, "cholesky", 1, &A));
    return okra_blas_watched_(ctx, OKRA_WORK_FACTOR_, pow((double)A.rows, 3) / 3,
                              run_factor, &z);
}

static okra_status diagonal_of(void *user, double *d)
{
    okra_mat_ A = ((dense *)user)->A;
    for (okra_int i = 0; i < A.rows; i++) {
        d[i] = A.p[i * A.ld + i];
    }
    return OKRA_OK;
}

/* LAPACK may or may not notice a NaN; one anywhere in A reaches the diagonal of L. */
static okra_status factor(void *user, bool *done)
{
    dense *z = user;
    CHK(okra_factor_(z->ctx, z->A, done));
    for (okra_int i = 0; *done && i < z->A.rows; i++) {
        *done = isfinite(z->A.p[i * z->A.ld + i]) != 0;
    }
    return OKRA_OK;
}

static okra_status restore(void *user, const double *d)
{
    okra_mat_restore_(((dense *)user)->A, d);
    return OKRA_OK;
}

static okra_status check_finite(void *user)
{
    return okra_blas_finite_("cholesky", true, ((dense *)user)->A);
}

static okra_status in_memory(okra_context *ctx, okra_context *warned, okra_mat_ A,
                             double *jitter, bool *done)
{
    dense z = {.ctx = ctx, .A = A};
    okra_cholesky_steps_ steps = {diagonal_of, factor, restore, check_finite, &z};
    CHK(okra_blas_enter_(ctx, "cholesky", 1, &A));
    return okra_cholesky_by_(warned, A.rows, &steps, jitter, done);
}

okra_status okra_cholesky_(okra_context *ctx, okra_mat_ A, double *jitter)
{
    double added;
    bool done;
    return in_memory(ctx, ctx, A, jitter ? jitter : &added, &done);
}

okra_status okra_cholesky_quiet_(okra_context *ctx, okra_mat_ A, double *jitter)
{
    double added;
    bool done;
    return in_memory(ctx, NULL, A, jitter ? jitter : &added, &done);
}

okra_status okra_cholesky_try_(okra_context *ctx, okra_mat_ A, bool *done)
{
    return in_memory(ctx, NULL, A, NULL, done);
}

/* ---- solves ---- */

/* B L'^-1 L^-1 */
okra_status okra_cholesky_solve_rows_(okra_context *ctx, okra_mat_ L, okra_mat_ B)
{
    CHK(okra_trsm_(ctx, false, true, L, B));
    return okra_trsm_(ctx, false, false, L, B);
}

/* L'^-1 L^-1 B */
okra_status okra_cholesky_solve_(okra_context *ctx, okra_mat_ L, okra_mat_ B)
{
    CHK(okra_trsm_(ctx, true, false, L, B));
    return okra_trsm_(ctx, true, true, L, B);
}
