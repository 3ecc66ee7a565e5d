/*
 * Eigenvalues and singular values, judged by the equation (for_seeds in matrices.h).
 */
#include "matrices.h"

static worst_of eigh_worst = {"eigh, ||A||", 300, 0};               /* 30 */
static worst_of eigh_basis = {"eigh basis, 1", 450, 0};             /* 45 */
static worst_of large_basis = {"eigh basis (dsyevr), 1", 27000, 0}; /* 2650 */
static worst_of svd_worst = {"svd, ||A||", 70, 0};                  /* 7.1 */
static worst_of svd_basis = {"svd bases, 1", 440, 0};               /* 44 */

typedef okra_status (*eigh_fn)(okra_context *, okra_mat_, double *);

static void scale_rows(okra_mat_ A, const double *s)
{
    for (okra_int i = 0; i < A.rows; i++) {
        for (okra_int j = 0; j < A.cols; j++) {
            A.p[i * A.ld + j] *= s[i];
        }
    }
}

/* A = V' diag(w) V with only the lower triangle of A given; A is freed */
static void one_eigh(okra_context *ctx, eigh_fn eigh, okra_mat_ A)
{
    double w[65];
    okra_int n = A.rows;
    okra_mat_ V = mat_clone(A);
    okra_mat_mirror_(A);
    for (okra_int i = 0; i < n; i++) {
        okra_mat_fill_(okra_mat_part_(V, i, 1, i + 1, n - i - 1), NAN);
    }
    CHECK_OK(eigh(ctx, V, w));
    for (okra_int i = 1; i < n; i++) {
        CHECK(w[i - 1] <= w[i]);
    }
    okra_mat_ wV = mat_clone(V);
    scale_rows(wV, w);
    note(&eigh_worst, product_error(V, true, wV, false, A, norm_of(A)));
    note(eigh == okra_eigh_ ? &eigh_basis : &large_basis, orthogonality_error(V, false));
    mat_free(wV);
    mat_free(V);
    mat_free(A);
}

static void eigh_cases(okra_context *ctx, eigh_fn eigh, okra_random_ *r, okra_int n)
{
    one_eigh(ctx, eigh, mat_random(r, n, n));
    okra_mat_ zero = mat_random(r, n, n);
    okra_mat_fill_(zero, 0);
    one_eigh(ctx, eigh, zero);
    okra_mat_ ones = mat_random(r, n, n); /* rank 1 */
    okra_mat_fill_(ones, 1);
    one_eigh(ctx, eigh, ones);
    okra_mat_ graded = mat_random(r, n, n); /* sizes 1 to 1e-12 */
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            graded.p[i * graded.ld + j] *= pow(10, -6.0 * (double)(i + j) / (double)n);
        }
    }
    one_eigh(ctx, eigh, graded);
}

static void eigh_body(okra_context *ctx, okra_random_ *r)
{
    for (int t = 0; t < n_sizes; t++) {
        eigh_cases(ctx, okra_eigh_, r, sizes[t]);
        if (sizes[t] > 0) {
            eigh_cases(ctx, okra_eigh_large_, r, sizes[t]);
        }
    }
}

TEST(eigh)
{
    for_seeds(eigh_body);
    report(&eigh_worst);
    report(&eigh_basis);
    report(&large_basis);
}

static void one_svd(okra_context *ctx, okra_random_ *r, okra_mat_ A)
{
    double s[65];
    okra_int k = OKRA_MIN_(A.rows, A.cols);
    okra_mat_ work = mat_clone(A), U = mat_random(r, A.rows, k);
    okra_mat_ Vt = mat_random(r, k, A.cols);
    CHECK_OK(okra_svd_(ctx, work, U, s, Vt));
    for (okra_int i = 0; i < k; i++) {
        CHECK(s[i] >= 0 && (i == 0 || s[i - 1] >= s[i]));
    }
    note(&svd_basis, orthogonality_error(U, true));
    note(&svd_basis, orthogonality_error(Vt, false));
    scale_rows(Vt, s);
    note(&svd_worst, product_error(U, false, Vt, false, A, norm_of(A)));
    mat_free(work);
    mat_free(U);
    mat_free(Vt);
    mat_free(A);
}

/* rows of A repeat: rank half of the rows or less */
static void repeat_rows(okra_mat_ A)
{
    for (okra_int i = A.rows / 2; i < A.rows; i++) {
        CHECK_OK(okra_mat_copy_(okra_mat_part_(A, i / 2, 1, 0, A.cols),
                                okra_mat_part_(A, i, 1, 0, A.cols)));
    }
}

static void svd_body(okra_context *ctx, okra_random_ *r)
{
    for (int t = 0; t < n_sizes * n_sizes; t++) {
        okra_int m = sizes[t % n_sizes], n = sizes[t / n_sizes];
        one_svd(ctx, r, mat_random(r, m, n));
        okra_mat_ A = mat_random(r, m, n);
        repeat_rows(A);
        one_svd(ctx, r, A);
        okra_mat_ zero = mat_random(r, m, n);
        okra_mat_fill_(zero, 0);
        one_svd(ctx, r, zero);
    }
}

TEST(svd)
{
    for_seeds(svd_body);
    report(&svd_worst);
    report(&svd_basis);
}

MAIN(RUN(eigh), RUN(svd))
