/*
 * Kernels of distances where some rows are far from all others: every value is right to
 * 1e-10, whatever the rows and their scale. Worst found: 2e-11, of values that are taken
 * for 0.
 *
 * The truth is a sum of differences in long double.
 */
#include "grams.h"

enum { N = 60, D = 3, TESTS = 7 };

static double naive(const double *x, const double *y, double gamma)
{
    long double sum = 0;
    for (int t = 0; t < D; t++) {
        long double z = (long double)x[t] - (long double)y[t];
        sum += z * z;
    }
    return (double)expl(-(long double)gamma * sum);
}

static okra_data *collection(const double *x, okra_int n, bool sparse)
{
    okra_data *data = NULL;
    okra_int indptr[N + 1], indices[N * D];
    for (okra_int i = 0; i <= n; i++) {
        indptr[i] = i * D;
    }
    for (okra_int k = 0; k < n * D; k++) {
        indices[k] = k % D;
    }
    CHECK_OK(sparse ? okra_data_sparse(indptr, indices, x, n, D, &data)
                    : okra_data_dense(x, n, D, D, &data));
    return data;
}

/* The Gram matrix of the training rows, and the rows of tests, against the truth. */
static void compare(const double *x, const double *tests, double sigma, bool sparse)
{
    char text[64];
    double *K = okra_alloc_(N * N, sizeof *K), gamma = 0.5 / sigma / sigma, worst = 0;
    okra_data *train = collection(x, N, sparse),
              *other = collection(tests, TESTS, sparse);
    snprintf(text, sizeof text, "rbf(sigma=%.17g)", sigma);
    gram(text, train, NULL, K);
    for (int i = 0; i < N * N; i++) {
        worst = fmax(worst, fabs(K[i] - naive(x + i / N * D, x + i % N * D, gamma)));
    }
    CHECK_NEAR(worst, 0, 1e-10);
    worst = 0;
    gram(text, other, train, K);
    for (int i = 0; i < TESTS * N; i++) {
        worst = fmax(worst, fabs(K[i] - naive(tests + i / N * D, x + i % N * D, gamma)));
    }
    CHECK_NEAR(worst, 0, 1e-10);
    okra_data_free(train);
    okra_data_free(other);
    okra_free_(K);
}

static void normal_rows(okra_random_ *random, okra_int n, double scale, double *x)
{
    for (okra_int k = 0; k < n * D; k++) {
        x[k] = scale * okra_random_normal_(random);
    }
}

TEST(one_large_value)
{
    double x[N * D], tests[TESTS * D];
    for (int power = 0; power <= 150; power += power < 20 ? 1 : 13) {
        okra_random_ random = okra_random_create_((uint64_t)power, 1);
        normal_rows(&random, N, 1, x);
        normal_rows(&random, TESTS, 1, tests);
        x[17] = pow(10, power);
        tests[4] = -pow(10, power);
        compare(x, tests, 1, false);
        compare(x, tests, 1, true);
        x[30] = 2 * pow(10, power); /* two rows that are far, and their own neighbours */
        memcpy(x + 33, x + 30, D * sizeof *x);
        x[34] += 0.5;
        compare(x, tests, 1, false);
    }
}

TEST(clusters_far_from_one_another)
{
    double x[N * D], tests[TESTS * D];
    for (int power = 1; power <= 14; power++) {
        okra_random_ random = okra_random_create_((uint64_t)power, 2);
        normal_rows(&random, N, 1, x);
        normal_rows(&random, TESTS, 1, tests);
        for (int k = 0; k < N; k++) {
            x[k * D + k % D] += (k % 4) * pow(10, power);
        }
        for (int k = 0; k < TESTS; k++) {
            tests[k * D + k % D] += (k % 4) * pow(10, power);
        }
        compare(x, tests, 1, false);
        compare(x, tests, 1, true);
        compare(x, tests, 30, false);
        compare(x, tests, 0.05, false); /* most values are 0 */
        compare(x, tests, 0.05, true);
    }
}

TEST(rows_of_every_scale)
{
    double x[N * D], tests[TESTS * D];
    for (int power = -150; power <= 150; power += 25) {
        double scale = pow(10, power);
        okra_random_ random = okra_random_create_((uint64_t)(power + 200), 3);
        normal_rows(&random, N, scale, x);
        normal_rows(&random, TESTS, scale, tests);
        compare(x, tests, scale, false);
        compare(x, tests, scale / 64, false);
        if (power > 125) {
            break; /* squares of what follows have no room in a double: refused */
        }
        for (int k = 0; k < N * D; k++) {
            x[k] += 1e7 * scale;
        }
        for (int k = 0; k < TESTS * D; k++) {
            tests[k] += 1e7 * scale;
        }
        compare(x, tests, scale, false);
        compare(x, tests, scale, true);
    }
}

TEST(standardized_rows_and_shifted_images)
{
    double x[N * D], *K = okra_alloc_(N * N, sizeof *K),
                     *J = okra_alloc_(N * N, sizeof *J);
    okra_random_ random = okra_random_create_(1, 4);
    okra_data *train = NULL;
    normal_rows(&random, N, 1, x);
    for (int k = 0; k < N * D; k++) {
        x[k] += k < 3 * N ? 1e9 : 0; /* two clusters; images of one row of D pixels */
    }
    CHECK_OK(okra_data_dense(x, N, D, D, &train));
    gram("jitter(sigma=1,width=3,shift=0)", train, NULL, J);
    gram("standardize | rbf(sigma=1e-9)", train, NULL, K);
    for (int i = 0; i < N * N; i++) {
        const double *a = x + i / N * D, *b = x + i % N * D;
        CHECK_NEAR(J[i], naive(a, b, 0.5), 1e-10);
        CHECK(K[i] >= 0 && K[i] <= 1 && (i / N != i % N || K[i] == 1));
    }
    okra_data_free(train);
    okra_free_(K);
    okra_free_(J);
}

/* exp(-gamma |a-b|_1), and Gaussians over what is made of inner products: worst of N
 * training rows by N. `root`: the distance of the kernel is that of rows times it. */
static double worst_of(const char *text, const double *x, double gamma, bool absolute)
{
    double worst = 0, *K = okra_alloc_(N * N, sizeof *K);
    okra_data *train = collection(x, N, false);
    gram(text, train, NULL, K);
    for (int i = 0; i < N * N; i++) {
        const double *a = x + i / N * D, *b = x + i % N * D;
        long double sum = 0;
        for (int t = 0; t < D; t++) {
            long double z = fabsl((long double)a[t] - (long double)b[t]);
            sum += absolute ? z : z * z;
        }
        worst = fmax(worst, fabs(K[i] - (double)expl(-(long double)gamma * sum)));
    }
    okra_data_free(train);
    okra_free_(K);
    return worst;
}

TEST(every_kernel_of_distances)
{
    double x[N * D];
    for (int power = -150; power <= 150; power += 15) {
        double scale = pow(10, power), gamma = 0.5 / scale / scale;
        char text[6][128];
        snprintf(text[0], 128, "laplacian(gamma=%.17g)", 1 / scale);
        snprintf(text[1], 128, "rbf(gamma=%.17g)", gamma);
        snprintf(text[2], 128, "linear | rbf(gamma=%.17g)", gamma);
        snprintf(text[3], 128, "2*linear | rbf(gamma=%.17g)", gamma / 2);
        snprintf(text[4], 128, "linear + linear | rbf(gamma=%.17g)", gamma / 2);
        snprintf(text[5], 128, "linear | center | rbf(gamma=%.17g)", gamma);
        for (int large = 0; large < 3; large++) {
            okra_random_ random = okra_random_create_((uint64_t)(power + 200), 5);
            normal_rows(&random, N, scale, x);
            for (int k = 0; large == 2 && k < N * D; k++) {
                x[k] += power < 130 ? 1e6 * scale : 0;
            }
            if (large == 1 && power < 130) { /* two rows, near to one another */
                x[17] = x[20] = 1e9 * scale;
            }
            for (int k = 0; k < 6; k++) {
                double worst = worst_of(text[k], x, k == 0 ? 1 / scale : gamma, k == 0);
                if (!(worst <= 1e-10)) {
                    printf("  %s, large %d: %g\n", text[k], large, worst);
                }
                CHECK_NEAR(worst, 0, 1e-10);
            }
        }
    }
}

/* Spreads of columns far from 0: the mean itself is off by much of them. */
TEST(standardized_columns_far_from_0)
{
    double x[N * D], *K = okra_alloc_(N * N, sizeof *K);
    for (int power = 0; power <= 12; power += 3) {
        okra_random_ random = okra_random_create_((uint64_t)power, 6);
        normal_rows(&random, N, 1, x);
        long double gamma[D], worst = 0;
        for (int t = 0; t < D; t++) {
            long double mean = 0, square = 0;
            for (int i = 0; i < N; i++) {
                x[i * D + t] += pow(10, power);
                mean += (long double)x[i * D + t] / N;
            }
            for (int i = 0; i < N; i++) {
                square += (x[i * D + t] - mean) * (x[i * D + t] - mean) / N;
            }
            gamma[t] = 0.5L / square;
        }
        okra_data *train = collection(x, N, false);
        gram("standardize | rbf(sigma=1)", train, NULL, K);
        for (int i = 0; i < N * N; i++) {
            long double sum = 0;
            for (int t = 0; t < D; t++) {
                long double z = (long double)x[i / N * D + t] - x[i % N * D + t];
                sum += gamma[t] * z * z;
            }
            worst = fmaxl(worst, fabsl(K[i] - expl(-sum)));
        }
        CHECK_NEAR((double)worst, 0, 1e-10);
        okra_data_free(train);
    }
    okra_free_(K);
}

/* Inner products about the mean, and their cosines, of rows far from 0. */
TEST(centred_rows_far_from_0)
{
    double x[N * D], *K = okra_alloc_(N * N, sizeof *K);
    const char *const text[] = {"linear | center", "linear | center | normalize",
                                "0.5*linear + (0.5*linear | center) | center"};
    for (int power = 0; power <= 12; power += 3) {
        okra_random_ random = okra_random_create_((uint64_t)power, 8);
        normal_rows(&random, N, 1, x);
        for (int k = 0; k < N * D; k++) {
            x[k] += pow(10, power);
        }
        long double mean[D] = {0};
        for (int k = 0; k < N * D; k++) {
            mean[k % D] += ((long double)x[k] - x[k % D]) / N; /* from row 0 */
        }
        okra_data *train = collection(x, N, false);
        for (int c = 0; c < 3; c++) {
            long double worst = 0;
            gram(text[c], train, NULL, K);
            for (int i = 0; i < N * N; i++) {
                const double *a = x + i / N * D, *b = x + i % N * D;
                long double aa = 0, bb = 0, ab = 0;
                for (int t = 0; t < D; t++) {
                    long double u = (long double)a[t] - x[t] - mean[t],
                                v = (long double)b[t] - x[t] - mean[t];
                    aa += u * u;
                    bb += v * v;
                    ab += u * v;
                }
                ab /= c == 1 ? sqrtl(aa) * sqrtl(bb) : 1;
                worst = fmaxl(worst, fabsl(K[i] - ab));
            }
            CHECK_NEAR((double)worst, 0, 1e-10);
        }
        okra_data_free(train);
    }
    okra_free_(K);
}

/* What a model keeps of it; files of 0.1.0 keep means about 0. */
TEST(kept_means_are_about_the_same_origin)
{
    double x[N * D], old[N] = {0}, want = 1, /* of rows 0 and 1 */
                                       *K = okra_alloc_(2 * N * N, sizeof *K);
    okra_random_ random = okra_random_create_(1, 10);
    normal_rows(&random, N, 1, x);
    for (int k = 0; k < N * D; k++) {
        x[k] += 1e3;
    }
    okra_kernel *kernel = NULL;
    CHECK_OK(okra_kernel_parse("linear | center | poly(degree=1)", &kernel));
    okra_data *train = collection(x, N, false);
    double grand = 0;
    for (int i = 0; i < N * N; i++) {
        for (int t = 0; t < D; t++) {
            double part = x[i / N * D + t] * x[i % N * D + t] / N;
            old[i / N] += part;
            grand += part / N;
        }
    }
    for (int i = 0; i < N; i++) {
        old[i] -= grand / 2;
    }
    for (int version = 0; version < 2; version++) {
        okra_trained_kernel_ *bound = NULL, *again = NULL;
        okra_store_ *store = NULL;
        CHECK_OK(okra_store_create_(&store));
        if (version == 0) {
            CHECK_OK(okra_store_put_copy_(store, "k.center1", old, N, 1));
            CHECK_OK(okra_store_put_number_(store, "k.center1", grand));
        } else {
            CHECK_OK(okra_trained_kernel_create_(NULL, kernel, train, &bound));
            CHECK_OK(okra_trained_kernel_save_(bound, store, "k"));
            CHECK(okra_store_has_(store, "k.middle1"));
        }
        CHECK_OK(okra_trained_kernel_check_kept_(kernel, train, N, "k", store));
        CHECK_OK(okra_trained_kernel_load_(NULL, kernel, train, store, "k", &again));
        CHECK_OK(okra_trained_kernel_gram_(NULL, again,
                                           okra_mat_of_(K + version * N * N, N, N)));
        okra_trained_kernel_free_(again);
        okra_trained_kernel_free_(bound);
        okra_store_free_(store);
    }
    for (int t = 0; t < D; t++) {
        double mean = 0;
        for (int i = 0; i < N; i++) {
            mean += (x[i * D + t] - 1e3) / N;
        }
        want += (x[t] - 1e3 - mean) * (x[D + t] - 1e3 - mean);
    }
    CHECK_NEAR(K[1], want, 1e-10);
    CHECK(memcmp(K, K + N * N, N * N * sizeof *K) == 0);
    okra_data_free(train);
    okra_kernel_free(kernel);
    okra_free_(K);
}

/* Squares of these columns have no room in a double, their quotients have. */
TEST(standardized_columns_of_every_scale)
{
    double x[N * D], *K = okra_alloc_(N * N, sizeof *K),
                     *one = okra_alloc_(N * N, sizeof *one);
    const char *const text[] = {"standardize | rbf(sigma=1)",
                                "standardized-laplacian(gamma=1)"};
    for (int power = 0; power <= 1000; power += 125) {
        for (int sign = -1; sign <= 1; sign += 2) {
            for (int c = 0; c < 2; c++) {
                okra_random_ random = okra_random_create_(1, 9);
                normal_rows(&random, N, 1, x);
                okra_data *train = collection(x, N, false);
                gram(text[c], train, NULL, one);
                okra_data_free(train);
                for (int k = 0; k < N * D; k++) {
                    x[k] = ldexp(x[k], sign * power);
                }
                train = collection(x, N, false);
                gram(text[c], train, NULL, K);
                CHECK(memcmp(K, one, N * N * sizeof *K) == 0);
                okra_data_free(train);
            }
        }
    }
    okra_free_(K);
    okra_free_(one);
}

static void count_warning(void *arg, const char *message)
{
    *(int *)arg += strstr(message, "leave few digits of distances") != NULL;
}

/* Distances of products and powers come from differences of values alone: where these
 * have no digits left, okra says so. */
TEST(lost_distances_are_told)
{
    double x[N * D], *K = okra_alloc_(N * N, sizeof *K);
    for (int power = 0; power <= 9; power += 9) {
        okra_random_ random = okra_random_create_(1, 7);
        okra_context *ctx = NULL;
        CHECK_OK(okra_context_create(&ctx));
        int told = 0;
        normal_rows(&random, N, 1, x);
        for (int k = 0; k < N * D; k++) {
            x[k] += power ? pow(10, power) : 0;
        }
        okra_context_set_warning(ctx, count_warning, &told);
        okra_data *train = collection(x, N, false);
        CHECK_OK(try_gram(ctx, "poly(degree=2,coef0=1) | rbf(sigma=1)", train, NULL, K));
        CHECK(told == (power > 0));
        okra_data_free(train);
        okra_context_free(ctx);
    }
    okra_free_(K);
}

MAIN(RUN(standardized_columns_far_from_0), RUN(centred_rows_far_from_0),
     RUN(kept_means_are_about_the_same_origin), RUN(standardized_columns_of_every_scale),
     RUN(lost_distances_are_told), RUN(every_kernel_of_distances), RUN(one_large_value),
     RUN(clusters_far_from_one_another), RUN(rows_of_every_scale),
     RUN(standardized_rows_and_shifted_images))
