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
 */
#include "linalg/backend.h"

#include <float.h>
#include <math.h>

static const double jitter_limit = 1e-4; /* of the mean diagonal: beyond, A is not PSD */

/* A backend may or may not notice a NaN; one anywhere in A reaches the diagonal of L. */
static okra_status factor(okra_context *ctx, const okra_backend_ *backend, okra_mat_ A,
                          bool *done)
{
    *done = true; /* of an empty matrix */
    okra_status st = A.rows > 0 ? backend->cholesky(ctx, A, done) : OKRA_OK;
    for (okra_int i = 0; st == OKRA_OK && *done && i < A.rows; i++) {
        *done = isfinite(A.p[i * A.ld + i]) != 0;
    }
    return st;
}

/* Lower triangle and diagonal as they were, plus delta I. */
static void restore(okra_mat_ A, const double *diagonal, double delta)
{
    for (okra_int i = 0; i < A.rows; i++) {
        for (okra_int j = 0; j < i; j++) {
            A.p[i * A.ld + j] = A.p[j * A.ld + i];
        }
        A.p[i * A.ld + i] = diagonal[i] + delta;
    }
}

/* *jitter: what was added; *share: that of the mean diagonal. */
static okra_status factor_any(okra_context *ctx, okra_mat_ A, double *jitter,
                              double *share)
{
    okra_status st = OKRA_OK;
    const okra_backend_ *backend;
    double *diagonal = NULL, mean = 0, delta = 0;
    bool done;

    TRY(okra_backend_enter_(ctx, "cholesky", "A", &A, 1, &backend));
    TRY(okra_check_square_("cholesky", 'A', A));
    ALLOC(diagonal, A.rows);
    for (okra_int i = 0; i < A.rows; i++) {
        diagonal[i] = A.p[i * A.ld + i];
        mean += diagonal[i] / (double)A.rows;
    }
    TRY(factor(ctx, backend, A, &done));
    if (!done) {
        restore(A, diagonal, 0);
        TRY(okra_check_finite_("cholesky", 'A', true, A));
    }
    for (double last = jitter_limit * mean; !done && delta < last;) {
        delta = fmin(delta > 0 ? 10 * delta : DBL_EPSILON * mean, last);
        restore(A, diagonal, delta);
        TRY(factor(ctx, backend, A, &done));
    }
    if (!done) {
        FAIL(OKRA_ENUMERIC,
             "cholesky: the %lld x %lld matrix is not positive definite, not even with "
             "%.3g (%.0e of its mean diagonal) added to the diagonal",
             (long long)A.rows, (long long)A.rows, delta, jitter_limit);
    }
    *jitter = delta;
    *share = delta / mean;
done:
    okra_free_(diagonal);
    return st;
}

okra_status okra_cholesky_quiet_(okra_context *ctx, okra_mat_ A, double *jitter)
{
    double delta = 0, share;
    okra_status st = factor_any(ctx, A, &delta, &share);
    if (st == OKRA_OK) {
        GIVE(jitter, delta);
    }
    return st;
}

okra_status okra_cholesky_(okra_context *ctx, okra_mat_ A, double *jitter)
{
    okra_status st = OKRA_OK;
    double delta, share;

    TRY(factor_any(ctx, A, &delta, &share));
    if (delta > 0) {
        okra_warn_(ctx,
                   "cholesky: the %lld x %lld matrix is not positive definite to "
                   "rounding; %.3g (%.1e of its mean diagonal) was added to the diagonal",
                   (long long)A.rows, (long long)A.rows, delta, share);
    }
    GIVE(jitter, delta);
done:
    return st;
}

okra_status okra_cholesky_try_(okra_context *ctx, okra_mat_ A, bool *done)
{
    okra_status st = OKRA_OK;
    const okra_backend_ *backend;
    double *diagonal = NULL;

    TRY(okra_backend_enter_(ctx, "cholesky", "A", &A, 1, &backend));
    TRY(okra_check_square_("cholesky", 'A', A));
    ALLOC(diagonal, A.rows);
    for (okra_int i = 0; i < A.rows; i++) {
        diagonal[i] = A.p[i * A.ld + i];
    }
    TRY(factor(ctx, backend, A, done));
    if (!*done) {
        restore(A, diagonal, 0);
    }
done:
    okra_free_(diagonal);
    return st;
}

okra_status okra_trsm_(okra_context *ctx, bool left, bool trans, okra_mat_ L, okra_mat_ B)
{
    okra_status st = OKRA_OK;
    const okra_backend_ *backend;

    TRY(okra_backend_enter_(ctx, "trsm", "LB", (okra_mat_[]){L, B}, 2, &backend));
    TRY(okra_check_square_("trsm", 'L', L));
    if (L.rows != (left ? B.rows : B.cols)) {
        FAIL(OKRA_ESHAPE, "trsm: L is %lld x %lld, B %lld x %lld, L on the %s",
             (long long)L.rows, (long long)L.cols, (long long)B.rows, (long long)B.cols,
             left ? "left" : "right");
    }
    if (B.rows > 0 && B.cols > 0) {
        TRY(backend->trsm(ctx, left, trans, L, B));
    }
done:
    return st;
}

/* B L'^-1 L^-1 */
okra_status okra_cholesky_solve_rows_(okra_context *ctx, okra_mat_ L, okra_mat_ B)
{
    okra_status st = OKRA_OK;
    TRY(okra_trsm_(ctx, false, true, L, B));
    TRY(okra_trsm_(ctx, false, false, L, B));
done:
    return st;
}

/* L'^-1 L^-1 B */
okra_status okra_cholesky_solve_(okra_context *ctx, okra_mat_ L, okra_mat_ B)
{
    okra_status st = OKRA_OK;
    TRY(okra_trsm_(ctx, true, false, L, B));
    TRY(okra_trsm_(ctx, true, true, L, B));
done:
    return st;
}
