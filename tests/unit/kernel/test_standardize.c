/*
 * test_standardize.c: columns in units of their spread, against the formula written out;
 * columns that do not vary, one row, what a model keeps.
 */
#include "grams.h"
#include "kernel_data.h"

#include <math.h>

enum { N = 230, M = 9, D = 5 };

/* Columns of very different scale; the fourth is a constant that was computed, with the
 * last digits off. */
static void fill(double *x, okra_int n)
{
    static const double scale[D] = {1e-6, 1, 1e6, 0, 30};
    okra_random_ r = okra_random_create_(17, 0);
    for (okra_int i = 0; i < n * D; i++) {
        double z = okra_random_normal_(&r);
        x[i] = 0.1 + scale[i % D] * (3 + z) + (i % D == 3 ? 1e-14 * z : 0);
    }
}

/* A model keeps the mean as a double. */
static double naive(const double *x, okra_int n, const double *a, const double *b)
{
    double sum = 0;
    for (int j = 0; j < D; j++) {
        long double exact = 0, var = 0;
        for (okra_int i = 0; i < n; i++) {
            exact += (long double)x[i * D + j] / (long double)n;
        }
        for (okra_int i = 0; i < n; i++) {
            var += (x[i * D + j] - exact) * (x[i * D + j] - exact) / (long double)n;
        }
        double s = j == 3 || n == 1 ? 1 : (double)sqrtl(var), mean = (double)exact;
        sum += (a[j] - mean) / s * ((b[j] - mean) / s);
    }
    return sum;
}

TEST(against_the_formula)
{
    double *x = okra_alloc_((N + M) * D, 8), *K = okra_alloc_((N + M) * N, 8);
    okra_data *train = NULL, *test = NULL;
    fill(x, N + M);
    CHECK_OK(okra_data_dense(x, N, D, D, &train));
    CHECK_OK(okra_data_dense(x + N * D, M, D, D, &test));
    gram("standardize", train, NULL, K);
    gram("standardize", test, train, K + N * N);
    for (int i = 0; i < N + M; i++) {
        for (int j = 0; j < N; j++) { /* worst 1.8e-15 */
            CHECK_NEAR(K[i * N + j], naive(x, N, x + i * D, x + j * D), 2e-14);
        }
    }
    double trace = 0;
    for (int i = 0; i < N; i++) {
        trace += K[i * N + i];
    }
    CHECK_NEAR(trace, (double)N * (D - 1), 1e-11); /* variance 1 each; 9e-13 */
    okra_data_free(train);
    okra_data_free(test);
    okra_free_(x);
    okra_free_(K);
}

/* Rows further apart in memory than they are long, one row alone, and rbf on top. */
TEST(strides_one_row_and_pipes)
{
    double x[4 * (D + 2)], tight[4 * D], K[16], L[16];
    okra_data *wide = NULL, *packed = NULL, *one = NULL;
    fill(tight, 4);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < D + 2; j++) {
            x[i * (D + 2) + j] = j < D ? tight[i * D + j] : (double)NAN;
        }
    }
    CHECK_OK(okra_data_dense(x, 4, D, D + 2, &wide));
    CHECK_OK(okra_data_dense(tight, 4, D, D, &packed));
    CHECK_OK(okra_data_dense(tight, 1, D, D, &one));
    gram("standardize", wide, NULL, K);
    gram("standardize", packed, NULL, L);
    for (int i = 0; i < 16; i++) {
        CHECK(K[i] == L[i]);
    }
    gram("standardize | rbf(sigma=2)", packed, NULL, L);
    for (int i = 0; i < 16; i++) {
        double d2 = K[i / 4 * 5] + K[i % 4 * 5] - 2 * K[i];
        CHECK_NEAR(L[i], exp(-d2 / 8), 1e-15); /* measured 1.1e-16 */
    }
    gram("standardize", one, NULL, K);
    CHECK(K[0] == 0);
    okra_data_free(wide);
    okra_data_free(packed);
    okra_data_free(one);
}

TEST(kept_by_a_model)
{
    double x[N * D], before[M * N], after[M * N];
    okra_data *train = NULL, *test = NULL;
    okra_kernel *kernel = parse("0.5*standardize | rbf(sigma=2)");
    okra_trained_kernel_ *bound = NULL, *again = NULL, *other_set = NULL;
    okra_test_side_ *other = NULL;
    okra_store_ *store = NULL, *empty = NULL;
    fill(x, N);
    CHECK_OK(okra_data_dense(x, N, D, D, &train));
    CHECK_OK(okra_data_dense(x, M, D, D, &test));
    CHECK_OK(okra_store_create_(&store));
    CHECK_OK(okra_store_create_(&empty));
    CHECK_OK(okra_trained_kernel_create_(NULL, kernel, train, &bound));
    CHECK_OK(okra_test_side_create_(NULL, bound, test, &other));
    CHECK_OK(okra_test_side_cross_(NULL, bound, other, 0, okra_mat_of_(before, M, N)));
    okra_test_side_free_(other);
    other = NULL;
    CHECK_OK(okra_trained_kernel_save_(bound, store, "kx"));
    CHECK_OK(okra_trained_kernel_load_(NULL, kernel, train, store, "kx", &again));
    CHECK_OK(okra_test_side_create_(NULL, again, test, &other));
    CHECK_OK(okra_test_side_cross_(NULL, again, other, 0, okra_mat_of_(after, M, N)));
    for (int i = 0; i < M * N; i++) {
        CHECK(before[i] == after[i]);
    }
    okra_test_side_free_(other);
    okra_trained_kernel_free_(again);
    /* on other objects the units stay those of the training set */
    double own[M * M];
    CHECK_OK(okra_trained_kernel_again_(NULL, bound, test, &other_set));
    CHECK_OK(okra_trained_kernel_gram_(NULL, other_set, okra_mat_of_(own, M, M)));
    for (int i = 0; i < M * M; i++) {
        CHECK_NEAR(own[i], before[i / M * N + i % M], 2e-15); /* measured 2.2e-16 */
    }
    okra_trained_kernel_free_(other_set);
    CHECK_FAILS(okra_trained_kernel_check_kept_(kernel, train, N, "kx", empty),
                OKRA_EFORMAT, "the matrix 'kx.leaf0' is missing");
    CHECK_ALLOCATIONS(okra_trained_kernel_load_(NULL, kernel, train, store, "kx", &again),
                      okra_trained_kernel_free_(again));
    CHECK_ALLOCATIONS(okra_trained_kernel_create_(NULL, kernel, train, &again),
                      okra_trained_kernel_free_(again));
    okra_trained_kernel_free_(bound);
    okra_store_free_(store);
    okra_store_free_(empty);
    okra_kernel_free(kernel);
    okra_data_free(train);
    okra_data_free(test);
}

TEST(refusals)
{
    double x[2 * D] = {0}, K[4];
    okra_data *train = NULL, *narrow = NULL, *sparse = sparse_of(x, 2, D);
    okra_kernel *kernel = parse("standardize");
    fill(x, 2);
    CHECK_OK(okra_data_dense(x, 2, D, D, &train));
    CHECK_OK(okra_data_dense(x, 2, D - 1, D, &narrow));
    CHECK_FAILS(okra_gram(NULL, kernel, narrow, train, K, 2), OKRA_ESHAPE,
                "kernel standardize:");
    CHECK_FAILS(okra_gram(NULL, kernel, sparse, NULL, K, 2), OKRA_EARG,
                "kernel standardize: memory holds 2 sparse vectors");
    okra_kernel_free(kernel);
    okra_data_free(train);
    okra_data_free(narrow);
    okra_data_free(sparse);
}

/* exp(-g |z - z'|_1); written as a pipe, as a part of a sum, and with its own name. The
 * values are those of laplacian on z. Worst error: rounding of the distance. */
TEST(laplacian_of_standardized_columns)
{
    static double x[N * D], z[N * D], K[N * N], L[N * N], P[N * N];
    okra_data *a = NULL, *b = NULL;
    okra_kernel *kernel = NULL;
    fill(x, N);
    for (int j = 0; j < D; j++) {
        double mean = 0, var = 0;
        for (int i = 0; i < N; i++) {
            mean += x[i * D + j] / N;
        }
        for (int i = 0; i < N; i++) {
            var += (x[i * D + j] - mean) * (x[i * D + j] - mean) / N;
        }
        for (int i = 0; i < N; i++) {
            z[i * D + j] = (x[i * D + j] - mean) / (j == 3 ? 1 : sqrt(var));
        }
    }
    CHECK_OK(okra_data_dense(x, N, D, D, &a));
    CHECK_OK(okra_data_dense(z, N, D, D, &b));
    gram("laplacian(gamma=0.3)", b, NULL, L);
    gram("standardize | laplacian(gamma=0.3)", a, NULL, K);
    gram("2*(standardize | laplacian(gamma=0.3)) + linear", a, NULL, P);
    for (int i = 0; i < N * N; i++) {
        CHECK_NEAR(K[i], L[i], 1e-12);
    }
    gram("linear", a, NULL, L);
    CHECK_NEAR(P[1], 2 * K[1] + L[1], 1e-12 * fabs(L[1]));
    CHECK_FAILS(okra_kernel_parse("standardize + linear | laplacian(gamma=1)", &kernel),
                OKRA_EARG, "'laplacian' is a kernel, expected a transform");
    okra_data_free(a);
    okra_data_free(b);
}

MAIN(RUN(against_the_formula), RUN(laplacian_of_standardized_columns),
     RUN(strides_one_row_and_pipes), RUN(kept_by_a_model), RUN(refusals))
