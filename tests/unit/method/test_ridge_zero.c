/*
 * Ridge with lambda = 0: B is the pseudo-inverse of K, by the four conditions of Penrose;
 * operators that are invertible do not change it; what has no such solution says so.
 */
#include "ridge.h"

/* C <- A B, n x n */
static void product(okra_int n, const double *A, const double *B, double *C)
{
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            C[i * n + j] = 0;
            for (okra_int k = 0; k < n; k++) {
                C[i * n + j] += A[i * n + k] * B[k * n + j];
            }
        }
    }
}

static double asymmetry(okra_int n, const double *A)
{
    double worst = 0;
    for (okra_int i = 0; i < n * n; i++) {
        worst = fmax(worst, fabs(A[i] - A[i % n * n + i / n]));
    }
    return worst;
}

static void check_penrose(const toy *t, const double *B, double tolerance)
{
    double KB[N * N] = {0}, BK[N * N] = {0}, KBK[N * N] = {0}, BKB[N * N] = {0};
    okra_int n = t->n;
    product(n, t->K, B, KB);
    product(n, B, t->K, BK);
    product(n, KB, t->K, KBK);
    product(n, BK, B, BKB);
    CHECK_NEAR(harness_relative(n * n, KBK, t->K), 0, tolerance);
    CHECK_NEAR(harness_relative(n * n, BKB, B), 0, tolerance);
    CHECK_NEAR(asymmetry(n, KB), 0, tolerance);
    CHECK_NEAR(asymmetry(n, BK), 0, tolerance);
}

TEST(weights_are_the_pseudo_inverse)
{
    const char *settings[] = {"lambda", "0", NULL};
    for (int c = 0; c < SHAPES * 30; c++) {
        toy t = make_toy(c % SHAPES, 1 + c % N, (uint64_t)c, false);
        okra_options *o = options_of(settings);
        okra_store_ *store = NULL;
        okra_int rows = 0, cols = 0;
        CHECK_OK(fit(&t, false, o, &store));
        const double *B = okra_store_get_(store, "B", &rows, &cols);
        CHECK(B && rows == t.n && cols == t.n);
        check_penrose(&t, B, 2e-7); /* 1.3e-8 at worst: K has condition numbers to 1e8 */
        okra_store_free_(store);
        okra_options_free(o);
    }
}

TEST(operators_that_are_invertible_change_nothing)
{
    double A[D * D] = {2, 0.5, 0, 0.5, 1, 0.2, 0, 0.2, 3};
    char spec[64];
    write_matrix("matrix:", D, D, A, spec, sizeof spec);
    const char *settings[] = {"lambda", "0", "operator", spec, NULL};
    const char *plain[] = {"lambda", "0", NULL};
    const char *operators[] = {spec, "cov", "ccov"};
    for (int c = 0; c < 3 * 20; c++) {
        /* outputs of full rank: of rank 3 cov would leave out what it does not reach */
        bool matrix = c % 3 == 0;
        toy t = make_toy(RANDOM, 4, (uint64_t)c, matrix);
        double got[M * N] = {0}, want[M * N] = {0};
        okra_store_ *a = NULL, *b = NULL;
        settings[3] = operators[c % 3];
        okra_options *o = options_of(settings), *p = options_of(plain);
        CHECK_OK(fit(&t, matrix, o, &a));
        CHECK_OK(fit(&t, matrix, p, &b));
        apply(matrix ? ridge()->embed : ridge()->predict, &t, a, matrix ? D : t.n, got);
        apply(matrix ? ridge()->embed : ridge()->predict, &t, b, matrix ? D : t.n, want);
        CHECK_NEAR(harness_relative(t.m * (matrix ? D : t.n), got, want), 0, 1e-8);
        okra_store_free_(a);
        okra_store_free_(b);
        okra_options_free(o);
        okra_options_free(p);
    }
    unlink(spec + 7);
}

/* Outputs that do not depend on the inputs beyond the span of a linear kernel: the
 * coefficients are those of least squares, from the explicit features. */
TEST(weighed_pairs_keep_the_least_norm)
{
    const char *settings[] = {"lambda", "0", NULL};
    for (int c = 0; c < 20; c++) {
        toy t = make_toy(RANK_DEFICIENT, N, (uint64_t)c, true);
        double weights[N] = {0}, got[M * D] = {0}, want[M * D] = {0};
        okra_options *o = options_of(settings);
        okra_store_ *a = NULL, *b = NULL;
        for (int i = 0; i < N; i++) {
            weights[i] = 1 + i % 3;
        }
        okra_problem_ p = problem_of(&t, true);
        p.weights = weights;
        CHECK_OK(okra_store_create_(&a));
        CHECK_OK(okra_method_fit_(NULL, ridge(), &p, o, a));
        apply(ridge()->embed, &t, a, D, got);
        /* close to it, a small lambda */
        const char *small[] = {"lambda", "1e-9", NULL};
        okra_options *q = options_of(small);
        CHECK_OK(okra_store_create_(&b));
        CHECK_OK(okra_method_fit_(NULL, ridge(), &p, q, b));
        apply(ridge()->embed, &t, b, D, want);
        CHECK_NEAR(harness_relative(M * D, got, want), 0, 1e-5);
        okra_store_free_(a);
        okra_store_free_(b);
        okra_options_free(o);
        okra_options_free(q);
    }
}

TEST(says_where_zero_has_no_meaning)
{
    toy t = make_toy(RANDOM, 5, 1, true);
    okra_store_ *store = NULL;
    const char *settings[][6] = {{"lambda", "0", "operator", "diagonal(t=0.5)", NULL},
                                 {"lambda", "0", "lambda2", "0.1", NULL}};
    const char *names[] = {"which with diagonal(t=0.5) has no solution of least norm",
                           "which with lambda2 has no solution of least norm"};
    for (int i = 0; i < 2; i++) {
        okra_options *o = options_of(settings[i]);
        CHECK_FAILS(fit(&t, true, o, &store), OKRA_EARG, names[i]);
        okra_options_free(o);
    }
}

MAIN(RUN(weights_are_the_pseudo_inverse),
     RUN(operators_that_are_invertible_change_nothing),
     RUN(weighed_pairs_keep_the_least_norm), RUN(says_where_zero_has_no_meaning))
