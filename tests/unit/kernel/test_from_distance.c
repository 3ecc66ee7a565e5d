/*
 * test_from_distance.c: classical scaling against points whose inner products are known,
 * and its repairs on distances that are not Euclidean.
 */
#include "harness.h"

#include "kernel/kernel.h"

enum { N = 20, M = 7, D = 3 };

static char warning[512];

static void keep_warning(void *user, const char *text)
{
    (void)user;
    snprintf(warning, sizeof warning, "%s", text);
}

static okra_context *context(void)
{
    okra_context *ctx = NULL;
    CHECK_OK(okra_context_create(&ctx));
    okra_context_set_warning(ctx, keep_warning, NULL);
    warning[0] = '\0';
    return ctx;
}

static void gram_of(okra_context *ctx, const char *text, const okra_data *a,
                    const okra_data *b, double *K)
{
    okra_kernel *kernel = NULL;
    CHECK_OK(okra_kernel_parse(text, &kernel));
    CHECK_OK(okra_gram(ctx, kernel, a, b, K, okra_data_count(b ? b : a)));
    okra_kernel_free(kernel);
}

/* Euclidean distances give the inner products about the mean of the training points, for
 * new points too, and no warning; so rbf on top is rbf of the points. */
TEST(euclidean_distances_give_inner_products)
{
    static const char *const repairs[] = {"from-distance(repair=clip)",
                                          "from-distance(repair=shift)",
                                          "from-distance(repair=none)"};
    okra_random_ r = okra_random_create_(4, 4);
    double x[(N + M) * D], mean[D] = {0}, dist[(N + M) * N], K[(N + M) * N];
    okra_data *train = NULL, *all = NULL, *points = NULL, *first = NULL;
    harness_normals(&r, (N + M) * D, x);
    for (int i = 0; i < N * D; i++) {
        mean[i % D] += x[i] / N;
    }
    for (int i = 0; i < N + M; i++) {
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < D; k++) {
                sum += (x[i * D + k] - x[j * D + k]) * (x[i * D + k] - x[j * D + k]);
            }
            dist[i * N + j] = sqrt(sum);
        }
    }
    CHECK_OK(okra_data_gram(dist, N, N, N, NULL, &train));
    CHECK_OK(okra_data_gram(dist, N + M, N, N, NULL, &all));
    for (int k = 0; k < 3; k++) {
        okra_context *ctx = context();
        gram_of(ctx, repairs[k], all, train, K);
        for (int i = 0; i < N + M; i++) {
            for (int j = 0; j < N; j++) {
                double want = 0;
                for (int c = 0; c < D; c++) {
                    want += (x[i * D + c] - mean[c]) * (x[j * D + c] - mean[c]);
                }
                CHECK_NEAR(K[i * N + j], want, 5e-14); /* measured: 4.4e-15 */
            }
        }
        CHECK_TEXT(warning, "");
        okra_context_free(ctx);
    }
    double R[(N + M) * N];
    CHECK_OK(okra_data_dense(x, N + M, D, D, &points));
    CHECK_OK(okra_data_dense(x, N, D, D, &first));
    gram_of(NULL, "rbf(sigma=1)", points, first, R);
    gram_of(NULL, "from-distance | rbf(sigma=1)", all, train, K);
    CHECK(harness_relative((N + M) * N, K, R) < 2e-14); /* measured: 1.3e-15 */
    okra_data_free(train);
    okra_data_free(all);
    okra_data_free(points);
    okra_data_free(first);
}

/* Random numbers are no Euclidean distances. B is written out with H as a matrix. */
TEST(repairs_of_distances_that_are_not_euclidean)
{
    okra_random_ r = okra_random_create_(8, 8);
    static double dist[N * N], B[N * N], K[N * N], V[N * N], w[N];
    okra_data *train = NULL;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < i; j++) {
            dist[i * N + j] = dist[j * N + i] = 1 + 3 * okra_random_uniform_(&r);
        }
    }
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            long double sum = 0;
            for (int a = 0; a < N; a++) {
                for (int b = 0; b < N; b++) {
                    sum += ((a == i) - 1.0L / N) * dist[a * N + b] * dist[a * N + b] *
                           ((b == j) - 1.0L / N);
                }
            }
            B[i * N + j] = (double)(-0.5L * sum);
        }
    }
    CHECK_OK(okra_data_gram(dist, N, N, N, NULL, &train));
    okra_context *ctx = context();
    gram_of(ctx, "from-distance(repair=none)", train, NULL, K);
    CHECK(harness_relative(N * N, K, B) < 5e-15); /* measured: 4.5e-16 */
    CHECK(strstr(warning, "not Euclidean") && strstr(warning, "left"));
    memcpy(V, B, sizeof V);
    CHECK_OK(okra_eigh_(NULL, okra_mat_of_(V, N, N), w));
    /* shift: B + c H, PSD with a smallest eigenvalue of 0 */
    gram_of(ctx, "from-distance(repair=shift)", train, NULL, K);
    for (int i = 0; i < N * N; i++) {
        double want = B[i] - w[0] * ((i % (N + 1) == 0) - 1.0 / N);
        CHECK_NEAR(K[i], want, 1e-13); /* measured: 8.9e-15 */
    }
    CHECK(strstr(warning, "shifted"));
    /* clip: the difference to B is the negative part, orthogonal to K */
    gram_of(ctx, "from-distance(repair=clip)", train, NULL, K);
    CHECK(strstr(warning, "set to 0"));
    double worst = 0, trace = 0, positive = 0;
    for (int i = 0; i < N; i++) {
        positive += fmax(w[i], 0);
        trace += K[i * N + i];
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++) {
                sum += K[i * N + k] * (K[k * N + j] - B[k * N + j]);
            }
            worst = fmax(worst, fabs(sum));
        }
    }
    CHECK_NEAR(worst, 0, 2e-12);        /* measured: 1.5e-13 */
    CHECK_NEAR(trace, positive, 5e-13); /* measured: 4.3e-14 */
    CHECK_OK(okra_eigh_(NULL, okra_mat_of_(K, N, N), w));
    CHECK(w[0] > -1e-14 * w[N - 1]); /* rounding of the decomposition */
    okra_context_free(ctx);
    okra_data_free(train);
}

/* Rows of training objects given as test rows get the training values with clip, and the
 * self-similarities agree. */
TEST(training_rows_out_of_sample_agree_with_clip)
{
    okra_random_ r = okra_random_create_(6, 6);
    static double dist[N * N], K[N * N], T[N * N];
    double self[N];
    okra_data *train = NULL, *rows = NULL;
    okra_kernel *kernel = NULL;
    okra_trained_kernel_ *bound = NULL;
    okra_test_side_ *other = NULL;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < i; j++) {
            dist[i * N + j] = dist[j * N + i] = 1 + okra_random_uniform_(&r);
        }
    }
    CHECK_OK(okra_data_gram(dist, N, N, N, NULL, &train));
    CHECK_OK(okra_data_gram(dist, N, N, N, NULL, &rows));
    CHECK_OK(okra_kernel_parse("from-distance", &kernel));
    CHECK_OK(okra_trained_kernel_create_(NULL, kernel, train, &bound));
    CHECK_OK(okra_trained_kernel_gram_(NULL, bound, okra_mat_of_(K, N, N)));
    CHECK_OK(okra_test_side_create_(NULL, bound, rows, &other));
    CHECK_OK(okra_test_side_cross_(NULL, bound, other, 0, okra_mat_of_(T, N, N)));
    CHECK_OK(okra_test_side_diagonal_(NULL, bound, other, self));
    CHECK(harness_relative(N * N, T, K) < 1e-14); /* measured: 1.0e-15 */
    for (int i = 0; i < N; i++) {
        CHECK_NEAR(self[i], K[i * N + i], 3e-14); /* measured: 2.4e-15 */
    }
    okra_test_side_free_(other);
    okra_trained_kernel_free_(bound);
    okra_kernel_free(kernel);
    okra_data_free(train);
    okra_data_free(rows);
}

static void refused(double *values, okra_int n, okra_int d, const char *text)
{
    okra_data *data = NULL;
    okra_kernel *kernel = NULL;
    double K[9];
    CHECK_OK(okra_data_gram(values, n, d, d, NULL, &data));
    CHECK_OK(okra_kernel_parse("from-distance", &kernel));
    CHECK_FAILS(okra_gram(NULL, kernel, data, NULL, K, n),
                n == d ? OKRA_EARG : OKRA_ESHAPE, text);
    okra_kernel_free(kernel);
    okra_data_free(data);
}

static okra_status whole(const okra_data *data, const okra_data *train, double *K)
{
    okra_kernel *kernel = NULL;
    okra_status st = OKRA_OK;
    TRY(okra_kernel_parse("from-distance", &kernel));
    TRY(okra_gram(NULL, kernel, data, train, K, 3));
done:
    okra_kernel_free(kernel);
    return st;
}

TEST(bad_distances_are_refused)
{
    double good[] = {0, 1, 2, 1, 0, 1.5, 2, 1.5, 0}, bad[9], K[9];
    okra_data *train = NULL, *rows = NULL;
    memcpy(bad, good, sizeof bad);
    bad[1] = -1;
    refused(bad, 3, 3, "not negative");
    bad[1] = 1e151;
    refused(bad, 3, 3, "1e+151 at (0, 1), counted from 0; distances are at most 1e150");
    bad[1] = 1.1;
    refused(bad, 3, 3, "expected 1.1");
    bad[1] = 1;
    bad[4] = 0.1;
    refused(bad, 3, 3, "expected 0");
    refused(good, 2, 3, "2 x 3");
    CHECK_OK(okra_data_gram(good, 3, 3, 3, NULL, &train));
    CHECK_OK(okra_data_gram(good, 2, 2, 3, NULL, &rows));
    CHECK_FAILS(whole(rows, train, K), OKRA_ESHAPE, "2 columns");
    CHECK_ALLOCATIONS(whole(train, NULL, K), (void)0);
    okra_data_free(train);
    okra_data_free(rows);
}

MAIN(RUN(euclidean_distances_give_inner_products),
     RUN(repairs_of_distances_that_are_not_euclidean),
     RUN(training_rows_out_of_sample_agree_with_clip), RUN(bad_distances_are_refused))
