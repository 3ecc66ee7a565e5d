/*
 * test_libsvm.c: machines by their optimality conditions, on all rows and on some.
 */
#include "harness.h"

#include "method/structured/libsvm.h"

enum { N = 30, D = 4 };

static void gram(uint64_t seed, okra_random_ *r, double *K)
{
    double x[N * D];
    *r = okra_random_create_(seed, 0);
    harness_normals(r, N * D, x);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < D; k++) {
                s += (x[i * D + k] - x[j * D + k]) * (x[i * D + k] - x[j * D + k]);
            }
            K[i * N + j] = exp(-0.2 * s);
        }
    }
}

/* Rows seed % 3, seed % 3 + 2, ... : some of the matrix, in its order. */
static okra_int some(uint64_t seed, okra_int *index)
{
    okra_int count = 0;
    for (okra_int i = (okra_int)(seed % 3); i < N; i += 2) {
        index[count++] = i;
    }
    return count;
}

/* The coefficients sum to 0, lie in the box, and say where a residual may be. */
TEST(regression)
{
    static const double costs[] = {0.1, 1, 100}, tubes[] = {0, 0.1, 0.5};
    double worst = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        double K[N * N], y[N], c[N], bias, sum = 0;
        okra_int index[N], count = N;
        okra_random_ r;
        okra_svm_gram_ g;
        okra_svm_ s = {.regression = true,
                       .cost = costs[seed % 3],
                       .tube = tubes[seed / 3 % 3],
                       .tolerance = 1e-9};
        gram(seed, &r, K);
        harness_normals(&r, N, y);
        for (okra_int i = 0; i < N; i++) {
            index[i] = i;
        }
        if (seed % 2) {
            count = some(seed, index);
        }
        CHECK_OK(okra_svm_gram_create_(NULL, "t", okra_mat_of_(K, N, N), &g));
        CHECK_OK(okra_svm_train_(&g, &s, seed % 2 ? index : NULL, count, y, c, &bias));
        okra_svm_gram_clear_(&g);
        for (okra_int k = 0; k < count; k++) {
            okra_int i = index[k];
            double residual = y[k] - okra_dot_(N, K + i * N, c) - bias, off = 0;
            sum += c[i];
            CHECK(fabs(c[i]) <= s.cost * (1 + 1e-12));
            if (fabs(c[i]) >= s.cost * (1 - 1e-12)) {
                off = fmax(0, s.tube - residual * (c[i] > 0 ? 1 : -1));
            } else if (c[i] != 0) {
                off = fabs(residual - (c[i] > 0 ? s.tube : -s.tube));
            } else {
                off = fmax(0, fabs(residual) - s.tube);
            }
            worst = fmax(worst, off);
        }
        for (okra_int k = 0; k < count; k++) {
            c[index[k]] = 0;
        }
        worst = fmax(worst, fabs(sum) / s.cost);
        for (int i = 0; i < N; i++) {
            CHECK(c[i] == 0); /* nothing on rows that were not asked for */
        }
    }
    /* worst of the 200 problems: 8.6e-6; LIBSVM works on floats of K, 6e-8 times C */
    CHECK_NEAR(worst, 0, 9e-5);
}

/* Equal costs and dear positives: margins of the classes. */
TEST(classes)
{
    double worst = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        double K[N * N], y[N], c[N], bias, sum = 0;
        okra_random_ r;
        okra_svm_gram_ g;
        okra_svm_ s = {
            .cost = seed % 2 ? 1 : 10, .positive = seed % 3 ? 1 : 4, .tolerance = 1e-9};
        gram(seed, &r, K);
        for (int i = 0; i < N; i++) {
            /* the class of the first row is what LIBSVM's signs hang on */
            y[i] = (okra_random_uniform_(&r) < 0.3) == (seed % 5 > 1) ? 1 : -1;
        }
        y[1] = -y[0];
        CHECK_OK(okra_svm_gram_create_(NULL, "t", okra_mat_of_(K, N, N), &g));
        CHECK_OK(okra_svm_train_(&g, &s, NULL, N, y, c, &bias));
        okra_svm_gram_clear_(&g);
        for (int i = 0; i < N; i++) {
            double most = s.cost * (y[i] > 0 ? s.positive : 1), a = c[i] * y[i];
            double short_of = 1 - y[i] * (okra_dot_(N, K + i * N, c) + bias);
            sum += c[i];
            CHECK(a >= 0 && a <= most * (1 + 1e-12));
            worst = fmax(worst, a > 0 && a < most * (1 - 1e-12) ? fabs(short_of)
                                : a == 0                        ? short_of
                                                                : -short_of);
        }
        worst = fmax(worst, fabs(sum) / s.cost);
    }
    CHECK_NEAR(worst, 0, 2e-5); /* worst of the 200 problems: 1.9e-6 */
}

static okra_status whole(const double *K, double *y)
{
    okra_status st = OKRA_OK;
    okra_svm_gram_ g = {0, NULL};
    okra_svm_ s = {.cost = 1, .positive = 1, .tolerance = 1e-3};
    double c[N], bias;
    TRY(okra_svm_gram_create_(NULL, "t", okra_mat_view_(K, N, N, N), &g));
    TRY(okra_svm_train_(&g, &s, NULL, N, y, c, &bias));
done:
    okra_svm_gram_clear_(&g);
    return st;
}

TEST(degenerate)
{
    double K[N * N], y[N], c[N], bias = 7;
    okra_random_ r;
    okra_svm_gram_ g;
    okra_svm_ s = {.regression = true, .cost = 1, .tolerance = 1e-3};
    gram(1, &r, K);
    for (int i = 0; i < N; i++) {
        y[i] = 2.5;
        c[i] = 1;
    }
    CHECK_OK(okra_svm_gram_create_(NULL, "t", okra_mat_of_(K, N, N), &g));
    CHECK_OK(okra_svm_train_(&g, &s, NULL, N, y, c, &bias));
    CHECK(bias == 2.5 && c[0] == 0 && c[N - 1] == 0);
    CHECK_OK(okra_svm_train_(&g, &s, NULL, 0, y, c, &bias));
    CHECK(bias == 0);
    y[0] = 1;
    s.cost = 0;
    CHECK_FAILS(okra_svm_train_(&g, &s, NULL, N, y, c, &bias), OKRA_EARG,
                "LIBSVM refuses its settings: C <= 0");
    okra_svm_gram_clear_(&g);
    okra_mat_ huge = {K, (okra_int)1 << 31, (okra_int)1 << 31, (okra_int)1 << 31};
    CHECK_FAILS(okra_svm_gram_create_(NULL, "t", huge, &g), OKRA_EUNSUPPORTED,
                "t: 2147483648 training pairs are more than LIBSVM can count");
    okra_context *ctx = NULL;
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_memory(ctx, 1000));
    CHECK_FAILS(okra_svm_gram_create_(ctx, "t", okra_mat_of_(K, N, N), &g), OKRA_EBUDGET,
                "LIBSVM's copy of the Gram matrix");
    okra_context_free(ctx);
    for (int i = 0; i < N; i++) {
        y[i] = i % 2 ? 1 : -1;
    }
    CHECK_ALLOCATIONS(whole(K, y), (void)0);
}

MAIN(RUN(regression), RUN(classes), RUN(degenerate))
