/* The verbs of an engine that multiply, factor, solve and decompose, against naive loops:
 * as test_conformance.c. */
#include "pairs_of.h"

static double element(const pair *a, bool trans, okra_int i, okra_int j)
{
    return trans ? a->p[j * a->cols + i] : a->p[i * a->cols + j];
}

TEST(products)
{
    setup();
    for (int s = 0; s < SIZES; s++) {
        for (int form = 0; form < 4; form++) {
            bool ta = form & 1, tb = form & 2;
            okra_int m = sizes[s], k = m + 1, n = m + 4;
            pair a = ta ? random_pair(k, m) : random_pair(m, k);
            pair b = tb ? random_pair(n, k) : random_pair(k, n), c = random_pair(m, n);
            for (int beta = 0; beta < 3; beta++) {
                CHECK_OK(okra_matrix_gemm_(ctx, ta, tb, 0.5, a.A, b.A, beta, c.A));
                for (okra_int e = 0; e < m * n; e++) {
                    double sum = 0;
                    for (okra_int t = 0; t < k; t++) {
                        sum += element(&a, ta, e / n, t) * element(&b, tb, t, e % n);
                    }
                    c.p[e] = 0.5 * sum + beta * c.p[e];
                }
                CHECK_NEAR(far(&c), 0, CLOSE);
            }
            pair g = random_pair(m, m);
            CHECK_OK(okra_matrix_syrk_(ctx, ta, 2, a.A, 0, g.A));
            for (okra_int e = 0; e < m * m; e++) {
                g.p[e] = 0;
                for (okra_int t = 0; t < k; t++) {
                    g.p[e] += 2 * element(&a, ta, e / m, t) * element(&a, ta, e % m, t);
                }
            }
            CHECK_NEAR(far(&g), 0, CLOSE);
            drop(&a);
            drop(&b);
            drop(&c);
            drop(&g);
        }
    }
    finish();
}

/* A X = B by both sides of a Cholesky factor. */
TEST(factor_and_solve)
{
    setup();
    for (int s = 0; s < SIZES; s++) {
        okra_int n = sizes[s];
        pair a = definite_pair(n, (double)n), x = random_pair(n, 3),
             y = random_pair(3, n);
        double *B = okra_zalloc_(3 * n, sizeof *B), *C = okra_zalloc_(3 * n, sizeof *C);
        double jitter = 1;
        for (okra_int i = 0; i < n; i++) {
            for (okra_int j = 0; j < 3; j++) {
                for (okra_int k = 0; k < n; k++) {
                    B[i * 3 + j] += a.p[i * n + k] * x.p[k * 3 + j];
                    C[j * n + i] += y.p[j * n + k] * a.p[k * n + i];
                }
            }
        }
        CHECK_OK(okra_matrix_put_(ctx, okra_mat_of_(B, n, 3), 0, 0, x.A));
        CHECK_OK(okra_matrix_put_(ctx, okra_mat_of_(C, 3, n), 0, 0, y.A));
        CHECK_OK(okra_matrix_cholesky_(ctx, a.A, &jitter));
        CHECK(jitter == 0);
        CHECK_OK(okra_matrix_solve_(ctx, true, a.A, x.A));
        CHECK_OK(okra_matrix_solve_(ctx, false, a.A, y.A));
        CHECK_NEAR(far(&x), 0, 10 * CLOSE);
        CHECK_NEAR(far(&y), 0, 10 * CLOSE);
        okra_free_(B);
        okra_free_(C);
        drop(&a);
        drop(&x);
        drop(&y);
    }
    finish();
}

TEST(jitter_is_added_and_told)
{
    double ones[16], jitter = 0;
    bool done = true;
    okra_matrix_ *A = NULL;
    setup();
    CHECK_OK(okra_matrix_create_(ctx, 4, 4, "a test", &A));
    for (int k = 0; k < 16; k++) {
        ones[k] = 1 - (k / 4 == k % 4 ? 1e-15 : 0); /* not positive semi-definite */
    }
    CHECK_OK(okra_matrix_put_(ctx, okra_mat_of_(ones, 4, 4), 0, 0, A));
    CHECK_OK(okra_matrix_cholesky_try_(ctx, A, &done));
    CHECK(!done);
    double back[16];
    CHECK_OK(okra_matrix_get_(ctx, A, 0, 0, okra_mat_of_(back, 4, 4)));
    CHECK(harness_relative(16, back, ones) == 0);
    CHECK_OK(okra_matrix_cholesky_(ctx, A, &jitter));
    CHECK(jitter > 0 && jitter < 1e-12);
    for (int k = 0; k < 16; k++) {
        ones[k] = k / 4 == k % 4 ? 1 : -5;
    }
    CHECK_OK(okra_matrix_put_(ctx, okra_mat_of_(ones, 4, 4), 0, 0, A));
    CHECK_FAILS(okra_matrix_cholesky_(ctx, A, &jitter), OKRA_ENUMERIC,
                "not positive definite");
    ones[9] = ones[6] = NAN;
    CHECK_OK(okra_matrix_put_(ctx, okra_mat_of_(ones, 4, 4), 0, 0, A));
    CHECK_FAILS(okra_matrix_cholesky_(ctx, A, &jitter), OKRA_ENUMERIC, "nan");
    okra_matrix_free_(A);
    finish();
}

/* V A V' = diag(w), V V' = I, w ascending. */
TEST(eigenvectors)
{
    setup();
    for (int s = 0; s < SIZES; s++) {
        okra_int n = sizes[s];
        pair a = definite_pair(n, 0);
        double *w = okra_alloc_(n, sizeof *w), *V = okra_alloc_(n * n, sizeof *V);
        double top = 0, worst = 0;
        CHECK_OK(okra_matrix_eigh_(ctx, a.A, w));
        CHECK_OK(okra_matrix_get_(ctx, a.A, 0, 0, okra_mat_of_(V, n, n)));
        for (okra_int i = 0; i < n; i++) {
            CHECK(i == 0 || w[i - 1] <= w[i]);
            top = fmax(top, fabs(w[i]));
            for (okra_int j = 0; j < n; j++) { /* A v_i = w_i v_i; v_i'v_j */
                double sum = 0, inner = 0;
                for (okra_int k = 0; k < n; k++) {
                    sum += a.p[j * n + k] * V[i * n + k];
                    inner += V[i * n + k] * V[j * n + k];
                }
                worst = fmax(worst, fabs(sum - w[i] * V[i * n + j]));
                CHECK_NEAR(inner, i == j, 1e-12);
            }
        }
        CHECK_NEAR(worst / top, 0, 1e-12);
        okra_free_(w);
        okra_free_(V);
        drop(&a);
    }
    finish();
}

MAIN(RUN(products), RUN(factor_and_solve), RUN(jitter_is_added_and_told),
     RUN(eigenvectors))
