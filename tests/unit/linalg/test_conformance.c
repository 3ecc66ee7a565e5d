/*
 * Products and solves over row strides above the width and all transposes, judged by the
 * equation (for_seeds in matrices.h).
 */
#include "matrices.h"

/* ---- products ---- */

static worst_of gemm_worst = {"gemm, |A||B|+|C|", 30, 0};  /* 2.8 */
static worst_of syrk_worst = {"syrk, |A||A'|+|C|", 50, 0}; /* 5.1 */

/* entrywise, against alpha P + beta C0 in long double; got may be in either triangle */
static double update_error(double alpha, long double p, long double size, double beta,
                           double c0, double got)
{
    long double want = (long double)alpha * p, scale = fabsl((long double)alpha) * size;
    if (beta != 0) {
        want += (long double)beta * (long double)c0;
        scale += fabsl((long double)beta * (long double)c0);
    }
    double e = (double)fabsl(want - (long double)got);
    return e == 0 ? 0 : e / (DBL_EPSILON * (double)scale);
}

static void one_gemm(okra_context *ctx, okra_random_ *r, const okra_int *mnk, bool ta,
                     bool tb)
{
    static const double factors[][2] = {{1, 0}, {-0.5, 1}, {2, -0.25}, {0, 3}};
    okra_int m = mnk[0], n = mnk[1], k = mnk[2];
    okra_mat_ A = mat_random(r, ta ? k : m, ta ? m : k);
    okra_mat_ B = mat_random(r, tb ? n : k, tb ? k : n);
    const double *f = factors[okra_random_below_(r, 4)];
    okra_mat_ C = mat_random(r, m, n);
    if (f[1] == 0) {
        okra_mat_fill_(C, NAN);
    }
    okra_mat_ C0 = mat_clone(C);
    CHECK_OK(okra_gemm_(ctx, ta, tb, f[0], A, B, f[1], C));
    double worst = 0;
    for (okra_int i = 0; i < m; i++) {
        for (okra_int j = 0; j < n; j++) {
            long double size, p = product_at(A, ta, B, tb, i, j, &size);
            double e = update_error(f[0], p, size, f[1], at(C0, false, i, j),
                                    at(C, false, i, j));
            worst = e <= worst ? worst : e;
        }
    }
    note(&gemm_worst, worst);
    mat_free(A);
    mat_free(B);
    mat_free(C);
    mat_free(C0);
}

static void gemm_body(okra_context *ctx, okra_random_ *r)
{
    for (int t = 0; t < n_sizes * n_sizes * n_sizes; t++) {
        okra_int mnk[] = {sizes[t % n_sizes], sizes[t / n_sizes % n_sizes],
                          sizes[t / n_sizes / n_sizes]};
        for (int op = 0; op < 4; op++) {
            one_gemm(ctx, r, mnk, op & 1, op & 2);
        }
    }
}

TEST(gemm)
{
    for_seeds(gemm_body);
    report(&gemm_worst);
}

static void one_syrk(okra_context *ctx, okra_random_ *r, okra_int n, okra_int k,
                     bool trans)
{
    double beta = okra_random_below_(r, 2) ? 0 : -0.7;
    okra_mat_ A = mat_random(r, trans ? k : n, trans ? n : k);
    okra_mat_ C = mat_random(r, n, n);
    okra_mat_mirror_(C);
    if (beta == 0) {
        okra_mat_fill_(C, NAN);
    }
    okra_mat_ C0 = mat_clone(C);
    CHECK_OK(okra_syrk_(ctx, trans, 1.5, A, beta, C));
    double worst = 0;
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            long double size, p = product_at(A, trans, A, !trans, i, j, &size);
            double e =
                update_error(1.5, p, size, beta, at(C0, false, i, j), at(C, false, i, j));
            worst = e <= worst ? worst : e;
        }
    }
    note(&syrk_worst, worst);
    mat_free(A);
    mat_free(C);
    mat_free(C0);
}

static void syrk_body(okra_context *ctx, okra_random_ *r)
{
    for (int t = 0; t < n_sizes * n_sizes; t++) {
        one_syrk(ctx, r, sizes[t % n_sizes], sizes[t / n_sizes], false);
        one_syrk(ctx, r, sizes[t % n_sizes], sizes[t / n_sizes], true);
    }
}

TEST(syrk)
{
    for_seeds(syrk_body);
    report(&syrk_worst);
}

/* ---- Cholesky and triangular solves ---- */

static worst_of cholesky_worst = {"cholesky, max|A|", 15, 0};    /* 1.4 */
static worst_of trsm_worst = {"trsm, |L||X|", 30, 0};            /* 2.7 */
static worst_of solve_worst = {"cholesky_solve, |A||X|", 25, 0}; /* 2.3 */

/* A positive definite matrix whose condition number is about 1e4. */
static okra_mat_ definite(okra_context *ctx, okra_random_ *r, okra_int n)
{
    okra_mat_ X = mat_random(r, n, n), A = mat_random(r, n, n);
    CHECK_OK(okra_syrk_(ctx, false, 1, X, 0, A));
    okra_mat_add_diagonal_(A, 0.01);
    mat_free(X);
    return A;
}

/* largest |(op(A) X - B)_ij| / (eps (|op(A)| |X|)_ij), or of X op(A) */
static double residual(okra_mat_ A, bool trans, bool left, okra_mat_ X, okra_mat_ B)
{
    double worst = 0;
    for (okra_int i = 0; i < B.rows; i++) {
        for (okra_int j = 0; j < B.cols; j++) {
            long double size, p = left ? product_at(A, trans, X, false, i, j, &size)
                                       : product_at(X, false, A, trans, i, j, &size);
            double e = (double)fabsl(p - (long double)at(B, false, i, j));
            e = e == 0 ? 0 : e / (DBL_EPSILON * (double)size);
            worst = e <= worst ? worst : e;
        }
    }
    return worst;
}

static void cholesky_of(okra_context *ctx, okra_random_ *r, okra_int n, okra_mat_ *A,
                        okra_mat_ *L)
{
    double jitter = -1;
    *A = definite(ctx, r, n);
    *L = mat_clone(*A);
    CHECK_OK(okra_cholesky_(ctx, *L, &jitter));
    CHECK(jitter == 0);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = i + 1; j < n; j++) {
            CHECK(at(*L, false, i, j) == at(*A, false, i, j));
            L->p[i * L->ld + j] = 0; /* now L is the factor alone */
        }
    }
}

static void cholesky_body(okra_context *ctx, okra_random_ *r)
{
    for (int t = 0; t < n_sizes; t++) {
        okra_mat_ A, L;
        double top = 1e-300;
        cholesky_of(ctx, r, sizes[t], &A, &L);
        for (okra_int i = 0; i < A.rows; i++) {
            top = fmax(top, at(A, false, i, i));
        }
        note(&cholesky_worst, product_error(L, false, L, true, A, top));
        mat_free(A);
        mat_free(L);
    }
}

TEST(cholesky)
{
    for_seeds(cholesky_body);
    report(&cholesky_worst);
}

static void trsm_body(okra_context *ctx, okra_random_ *r)
{
    for (int t = 0; t < 4 * n_sizes * n_sizes; t++) {
        bool left = t & 1, trans = t & 2;
        okra_int n = sizes[t / 4 % n_sizes], m = sizes[t / 4 / n_sizes];
        okra_mat_ A, L;
        cholesky_of(ctx, r, n, &A, &L);
        okra_mat_ B = mat_random(r, left ? n : m, left ? m : n), X = mat_clone(B);
        okra_mat_ dirty = mat_clone(L); /* the upper triangle must not be read */
        for (okra_int i = 0; i < n; i++) {
            okra_mat_fill_(okra_mat_part_(dirty, i, 1, i + 1, n - i - 1), NAN);
        }
        CHECK_OK(okra_trsm_(ctx, left, trans, dirty, X));
        note(&trsm_worst, residual(L, trans, left, X, B));
        mat_free(dirty);
        mat_free(A);
        mat_free(L);
        mat_free(B);
        mat_free(X);
    }
}

TEST(trsm)
{
    for_seeds(trsm_body);
    report(&trsm_worst);
}

/* Few right-hand sides of a large triangle are solved in halves of it. */
TEST(trsm_in_halves)
{
    okra_random_ r = okra_random_create_(71, 0);
    okra_context *ctx = new_context();
    okra_mat_ A, L;
    CHECK_OK(okra_context_set_threads(ctx, 2));
    cholesky_of(ctx, &r, 1001, &A, &L);
    for (int t = 0; t < 3 * 4; t++) {
        static const okra_int counts[] = {2, 70, 110};
        bool left = t & 1, trans = t & 2;
        okra_int m = counts[t / 4];
        okra_mat_ B = mat_random(&r, left ? 1001 : m, left ? m : 1001), X = mat_clone(B);
        CHECK_OK(okra_trsm_(ctx, left, trans, L, X));
        note(&trsm_worst, residual(L, trans, left, X, B));
        mat_free(B);
        mat_free(X);
    }
    report(&trsm_worst);
    mat_free(A);
    mat_free(L);
    okra_context_free(ctx);
}

static void cholesky_solve_body(okra_context *ctx, okra_random_ *r)
{
    for (int t = 0; t < 2 * n_sizes * n_sizes; t++) {
        bool rows = t & 1;
        okra_int n = sizes[t / 2 % n_sizes], m = sizes[t / 2 / n_sizes];
        okra_mat_ A, L;
        cholesky_of(ctx, r, n, &A, &L);
        okra_mat_ B = mat_random(r, rows ? m : n, rows ? n : m), X = mat_clone(B);
        CHECK_OK(rows ? okra_cholesky_solve_rows_(ctx, L, X)
                      : okra_cholesky_solve_(ctx, L, X));
        note(&solve_worst, residual(A, false, !rows, X, B));
        mat_free(A);
        mat_free(L);
        mat_free(B);
        mat_free(X);
    }
}

TEST(cholesky_solve)
{
    for_seeds(cholesky_solve_body);
    report(&solve_worst);
}

/* ---- LU ---- */

static worst_of lu_worst = {"solve_general, |A||X|", 65, 0}; /* 6.5 */

static void lu_body(okra_context *ctx, okra_random_ *r)
{
    for (int t = 0; t < n_sizes * n_sizes; t++) {
        okra_int n = sizes[t % n_sizes], m = sizes[t / n_sizes];
        okra_mat_ A = mat_random(r, n, n), B = mat_random(r, n, m);
        if (n > 1) {
            A.p[0] = 0; /* no solution without an exchange of rows */
        }
        okra_mat_ LU = mat_clone(A), X = mat_clone(B);
        CHECK_OK(okra_solve_general_(ctx, LU, X));
        note(&lu_worst, residual(A, false, true, X, B));
        mat_free(A);
        mat_free(B);
        mat_free(LU);
        mat_free(X);
    }
}

TEST(solve_general)
{
    for_seeds(lu_body);
    report(&lu_worst);
}

MAIN(RUN(gemm), RUN(syrk), RUN(cholesky), RUN(trsm), RUN(trsm_in_halves),
     RUN(cholesky_solve), RUN(solve_general))
