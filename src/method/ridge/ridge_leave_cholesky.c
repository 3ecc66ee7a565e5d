/*
 * ridge_leave_cholesky.c: left-out predictions of ridge_leave.c by a factor of K + lambda
 * I for each lambda, where these are few.
 *
 *     K + lambda I = L L',   B Y by two solves,   B_ii = |row i of L^-T|^2
 *
 * Cost of each lambda: n^3/3 for L and n^3 for its inverse, at the speed of products. One
 * eigendecomposition, which serves all lambda, takes about 9 n^3 at a fraction of that
 * speed. On the host products and decompositions are not so far apart, and one
 * decomposition is taken. It is taken too where K with the least lambda has no factor: K
 * is then not positive semi-definite, and its negative eigenvalues count as 0.
 */
#include "method/ridge/ridge_leave.h"

/* As many factors as one decomposition takes the time of, and a bit less: measured on an
 * H200, bench/bench_cuda.py. */
static size_t factors_in_a_decomposition(okra_int n)
{
    return n < 8 ? 0 : n < 1024 ? 5 : n < 2048 ? 7 : n < 4096 ? 9 : n < 8192 ? 13 : 16;
}

bool okra_leave_by_cholesky_(const okra_leaving_ *z)
{
    for (size_t l = 0; l < z->r->count; l++) {
        if (z->r->lambda[l] == 0) { /* the rank decides */
            return false;
        }
    }
    return !okra_engine_is_host_(z->r->ctx) && z->parts.largest == 1 &&
           z->r->count <= factors_in_a_decomposition(z->n);
}

typedef struct factoring {
    okra_large_ *K, *L, *X; /* X <- L^-T, then its squares */
    double *YE;             /* n x each: Y (and 1)         */
    double *C, *H, *q, *mean;
} factoring;

static okra_status prepare(okra_leaving_ *z, okra_int each, factoring *f)
{
    okra_context *ctx = z->r->ctx;
    okra_int n = z->n, d = z->d;
    CHK(okra_ridge_K_(z->r, &f->K));
    CHK(okra_large_create_(ctx, n, n, "the factor of a lambda", &f->L));
    CHK(okra_large_create_(ctx, n, n, "its inverse", &f->X));
    CHK(okra_doubles_(ctx, n, each, "the outputs", &f->YE));
    CHK(okra_doubles_(ctx, n, each, "the coefficients", &f->C));
    CHK(okra_doubles_(ctx, n, d, "the left-out predictions", &f->H));
    CHK(okra_doubles_(ctx, 1, each, "a part", &z->panel));
    MAKE(f->q, n);
    MAKE(f->mean, d);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < each; j++) {
            f->YE[i * each + j] = j < d ? z->r->Y[i * d + j] : okra_ridge_root_(z->r, i);
        }
    }
    return OKRA_OK;
}

/* L <- the factor of K + lambda I, if it has one. */
static okra_status factor(okra_context *ctx, double lambda, factoring *f, bool *done)
{
    CHK(okra_large_copy_(ctx, false, f->K, f->L));
    CHK(okra_large_add_diagonal_(ctx, lambda, f->L));
    return okra_large_cholesky_try_(ctx, f->L, done);
}

/* C <- B Y (and B 1), q <- the diagonal of B. */
static okra_status invert(const okra_leaving_ *z, double lambda, factoring *f,
                          okra_mat_ C)
{
    okra_context *ctx = z->r->ctx;
    bool done = false;
    CHK(factor(ctx, lambda, f, &done));
    REFUSE_IF(!done, OKRA_ENUMERIC, "ridge: no factor for lambda %g, one for a smaller",
              lambda);
    CHK(okra_large_fill_(ctx, 0, f->X));
    CHK(okra_large_add_diagonal_(ctx, 1, f->X));
    CHK(okra_large_trsm_(ctx, false, true, f->L, f->X));
    CHK(okra_large_combine_(ctx, OKRA_COMBINE_PRODUCT_, 0, 0, NULL, NULL, f->X, f->X));
    CHK(okra_large_row_sums_(ctx, f->X, f->q));
    CHK(okra_mat_copy_(okra_mat_of_(f->YE, C.rows, C.cols), C));
    return okra_large_solve_host_(ctx, true, f->L, C);
}

okra_status okra_leave_cholesky_(okra_leaving_ *z, bool *done)
{
    okra_status st = OKRA_OK;
    okra_int n = z->n, d = z->d, each = d + z->r->center;
    factoring f = {0};
    double least = z->r->lambda[0];
    for (size_t l = 1; l < z->r->count; l++) {
        least = OKRA_MIN_(least, z->r->lambda[l]);
    }
    TRY(prepare(z, each, &f));
    TRY(factor(z->r->ctx, least, &f, done));
    for (size_t l = 0; *done && l < z->r->count; l++) {
        TRY(okra_cancelled_(z->r->ctx));
        okra_mat_ C = okra_mat_of_(f.C, n, each), H = okra_mat_of_(f.H, n, d);
        TRY(invert(z, z->r->lambda[l], &f, C));
        for (okra_int i = 0; i < n; i++) {
            z->slack[i] = z->r->lambda[l] * f.q[i];
        }
        TRY(okra_leave_residuals_(z, z->r->lambda + l, 1, C, f.q, f.mean, f.H));
        okra_left_ left = {.lambda = l, .H = H, .slack = z->r->center ? NULL : z->slack};
        TRY(z->leave->sink(z->r->ctx, z->leave->user, &left));
    }
    if (!*done) { /* another way begins anew */
        okra_free_(z->panel);
        z->panel = NULL;
    }
done:
    okra_large_free_(f.K);
    okra_large_free_(f.L);
    okra_large_free_(f.X);
    FREE(f.YE, f.C, f.H, f.q, f.mean);
    return st;
}
