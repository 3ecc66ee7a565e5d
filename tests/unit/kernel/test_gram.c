/*
 * Gram matrices against the definitions written as double loops, on dense, sparse and
 * packed data, random and degenerate; and the properties of kernels.
 */
#include "harness.h"
#include "kernel/kernel.h"
#include "kernel_data.h"

/* The definition of each kernel, one pair at a time. */
typedef double (*definition)(const double *x, const double *y, okra_int d);

static double dot(const double *x, const double *y, okra_int d)
{
    double sum = 0;
    for (okra_int j = 0; j < d; j++) {
        sum += x[j] * y[j];
    }
    return sum;
}

static double square_distance(const double *x, const double *y, okra_int d)
{
    double sum = 0;
    for (okra_int j = 0; j < d; j++) {
        sum += (x[j] - y[j]) * (x[j] - y[j]);
    }
    return sum;
}

static double rbf_definition(const double *x, const double *y, okra_int d)
{
    return exp(-square_distance(x, y, d) / (2 * 1.5 * 1.5));
}

static double gamma_definition(const double *x, const double *y, okra_int d)
{
    return exp(-0.2 * square_distance(x, y, d));
}

static double poly_definition(const double *x, const double *y, okra_int d)
{
    return pow(0.5 * dot(x, y, d) + 2, 3);
}

static double cosine_definition(const double *x, const double *y, okra_int d)
{
    double a = dot(x, x, d), b = dot(y, y, d);
    return a > 0 && b > 0 ? dot(x, y, d) / (sqrt(a) * sqrt(b)) : 0;
}

static double tanimoto_definition(const double *x, const double *y, okra_int d)
{
    double k = dot(x, y, d), either = dot(x, x, d) + dot(y, y, d) - k;
    return either > 0 ? k / either : 1;
}

static double laplacian_definition(const double *x, const double *y, okra_int d)
{
    double sum = 0;
    for (okra_int j = 0; j < d; j++) {
        sum += fabs(x[j] - y[j]);
    }
    return exp(-0.3 * sum);
}

static double zero_one_definition(const double *x, const double *y, okra_int d)
{
    return square_distance(x, y, d) == 0;
}

static double series_definition(const double *x, const double *y, okra_int d)
{
    double k = dot(x, y, d);
    return 0.5 + 0.25 * k + 2 * k * k * k;
}

static double power_definition(const double *x, const double *y, okra_int d)
{
    return pow(dot(x, y, d), 5);
}

static double exp_definition(const double *x, const double *y, okra_int d)
{
    return exp(0.1 * dot(x, y, d));
}

static double mixed_definition(const double *x, const double *y, okra_int d)
{
    return 0.5 * dot(x, y, d) + rbf_definition(x, y, d) * cosine_definition(x, y, d) * 3 +
           0.25;
}

static double nested_definition(const double *x, const double *y, okra_int d)
{
    /* normalize, then rbf(sigma=0.5) of the distance in that feature space */
    double self = cosine_definition(x, x, d) + cosine_definition(y, y, d);
    return exp(-(self - 2 * cosine_definition(x, y, d)) / (2 * 0.25));
}

/* Tolerances: ten times the worst relative error over 100 seeds (in parentheses). */
static const struct {
    const char *text;
    definition value;
    double tolerance;
} cases[] = {
    {"linear", dot, 7e-15},                                             /* 6.8e-16 */
    {"rbf(sigma=1.5)", rbf_definition, 6e-15},                          /* 5.9e-16 */
    {"rbf(gamma=0.2)", gamma_definition, 6e-15},                        /* 5.4e-16 */
    {"poly(degree=3,gamma=0.5,coef0=2)", poly_definition, 9e-15},       /* 8.5e-16 */
    {"cosine", cosine_definition, 9e-15},                               /* 8.4e-16 */
    {"tanimoto", tanimoto_definition, 1e-14},                           /* 9.3e-16 */
    {"laplacian(gamma=0.3)", laplacian_definition, 3e-14},              /* 2.5e-15 */
    {"zero-one", zero_one_definition, 0},                               /* 0       */
    {"linear | poly-series(0.5,0.25,0,2)", series_definition, 1.2e-14}, /* 1.2e-15 */
    {"linear | power(p=5)", power_definition, 3e-14},                   /* 3.3e-15 */
    {"linear | exp(scale=0.1)", exp_definition, 3e-15},                 /* 2.2e-16 */
    {"0.5*linear + rbf(sigma=1.5)*cosine*3 + 0.25", mixed_definition,
     7e-15},                                                 /* 6.7e-16 */
    {"cosine | rbf(sigma=0.5)", nested_definition, 1.5e-14}, /* 1.5e-15 */
};
enum { CASES = sizeof cases / sizeof *cases };

static double worst[CASES]; /* printed when OKRA_TEST_WORST is set */

static void check_case(size_t k, const okra_data *a, const okra_data *b, const double *x,
                       const double *y, okra_int m, okra_int n, okra_int d)
{
    okra_kernel *kernel = NULL;
    okra_int ld = n + 3;
    double *K = okra_alloc_(m * ld, sizeof *K), *want = okra_alloc_(m * n, sizeof *want);
    double *got = okra_alloc_(m * n, sizeof *got);
    CHECK_OK(okra_kernel_parse(cases[k].text, &kernel));
    CHECK_OK(okra_gram(NULL, kernel, a, b, K, ld));
    for (okra_int i = 0; i < m; i++) {
        for (okra_int j = 0; j < n; j++) {
            want[i * n + j] = cases[k].value(x + i * d, y + j * d, d);
            got[i * n + j] = K[i * ld + j];
        }
    }
    double error = harness_relative(m * n, got, want);
    worst[k] = fmax(worst[k], error);
    if (!(error <= cases[k].tolerance)) {
        printf("    %s\n", cases[k].text);
    }
    CHECK_NEAR(error, 0, cases[k].tolerance);
    okra_kernel_free(kernel);
    okra_free_(got);
    okra_free_(want);
    okra_free_(K);
}

/* Every kernel on every pair of kinds that can hold the values. */
static void check_kinds(const double *x, const double *y, okra_int m, okra_int n,
                        okra_int d, bool bits)
{
    okra_data *a[3] = {NULL}, *b[3] = {NULL};
    int kinds = bits ? 3 : 2;
    for (int k = 0; k < kinds; k++) {
        a[k] = data_of((okra_kind)k, x, m, d);
        b[k] = data_of((okra_kind)k, y, n, d);
    }
    for (size_t k = 0; k < CASES; k++) {
        for (int i = 0; i < kinds; i++) {
            check_case(k, a[i], NULL, x, x, m, m, d);
            for (int j = 0; j < kinds; j++) {
                check_case(k, a[i], b[j], x, y, m, n, d);
            }
        }
    }
    for (int k = 0; k < kinds; k++) {
        okra_data_free(a[k]);
        okra_data_free(b[k]);
    }
}

TEST(definitions_on_random_data)
{
    const okra_int shapes[][3] = {
        {7, 5, 3}, {1, 1, 1}, {2, 1, 4}, {33, 65, 17}, {4, 9, 130}};
    int seeds = getenv("OKRA_TEST_WORST") ? 100 : 3;
    for (int seed = 0; seed < seeds; seed++) {
        okra_random_ r = okra_random_create_((uint64_t)seed, 0);
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            okra_int m = shapes[s][0], n = shapes[s][1], d = shapes[s][2];
            double *x = random_values(&r, m * d, 0.6, false);
            double *y = random_values(&r, n * d, 0.6, false);
            for (okra_int i = 0; i < m * d; i++) {
                x[i] /= sqrt((double)d);
            }
            for (okra_int i = 0; i < n * d; i++) {
                y[i] /= sqrt((double)d);
            }
            check_kinds(x, y, m, n, d, false);
            okra_free_(y);
            okra_free_(x);
        }
    }
    for (size_t k = 0; getenv("OKRA_TEST_WORST") && k < CASES; k++) {
        printf("%-50s %.2g\n", cases[k].text, worst[k]);
    }
}

/* 0/1 vectors: packed when dense, as bits, and sparse; rows without a bit, equal rows. */
TEST(definitions_on_bits)
{
    okra_random_ r = okra_random_create_(5, 0);
    const okra_int widths[] = {1, 3, 64, 65, 200};
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        okra_int m = 9, n = 40, d = widths[w];
        double *x = random_values(&r, m * d, 0.3, true);
        double *y = random_values(&r, n * d, 0.3, true);
        memset(x, 0, (size_t)d * sizeof *x);
        memset(y + d, 0, (size_t)d * sizeof *y);
        memcpy(x + d, y, (size_t)d * sizeof *x);
        check_kinds(x, y, m, n, d, true);
        okra_free_(y);
        okra_free_(x);
    }
}

/* Dense data that are not 0/1 meet packed training rows, and the other way round. */
TEST(packed_meets_dense)
{
    okra_random_ r = okra_random_create_(6, 0);
    okra_int m = 6, n = 5, d = 70;
    double *x = random_values(&r, m * d, 0.5, false);
    double *y = random_values(&r, n * d, 0.5, true);
    for (okra_int i = 0; i < m * d; i++) {
        x[i] /= sqrt((double)d);
    }
    okra_data *dense = data_of(OKRA_DENSE, x, m, d),
              *sparse = data_of(OKRA_SPARSE, x, m, d);
    okra_data *zero_one = data_of(OKRA_DENSE, y, n, d),
              *bits = data_of(OKRA_BITS, y, n, d);
    for (size_t k = 0; k < CASES; k++) {
        check_case(k, dense, zero_one, x, y, m, n, d);
        check_case(k, zero_one, dense, y, x, n, m, d);
        check_case(k, dense, bits, x, y, m, n, d);
        check_case(k, bits, dense, y, x, n, m, d);
        check_case(k, sparse, bits, x, y, m, n, d);
        check_case(k, bits, sparse, y, x, n, m, d);
    }
    okra_data_free(bits);
    okra_data_free(zero_one);
    okra_data_free(sparse);
    okra_data_free(dense);
    okra_free_(y);
    okra_free_(x);
}

/* Far from the origin d^2 by products loses all digits unless the origin is moved; equal
 * rows have similarity exactly 1 with themselves and nearly so with each other. */
TEST(distances_far_from_the_origin)
{
    enum { N = 20, D = 8 };
    okra_random_ r = okra_random_create_(7, 0);
    double x[N * D], K[N * N];
    okra_kernel *kernel = NULL;
    harness_normals(&r, N * D, x);
    for (int i = 0; i < N * D; i++) {
        x[i] += 1e6;
    }
    memcpy(x + D, x, D * sizeof *x);
    okra_data *data = data_of(OKRA_DENSE, x, N, D);
    CHECK_OK(okra_kernel_parse("rbf(sigma=1.5)", &kernel));
    CHECK_OK(okra_gram(NULL, kernel, data, NULL, K, N));
    for (int i = 0; i < N; i++) {
        CHECK(K[i * N + i] == 1);
        for (int j = 0; j < N; j++) {
            /* worst over 20 seeds 7.8e-16 */
            CHECK_NEAR(K[i * N + j], rbf_definition(x + i * D, x + j * D, D), 8e-15);
        }
    }
    okra_kernel_free(kernel);
    okra_data_free(data);
}

MAIN(RUN(definitions_on_random_data), RUN(definitions_on_bits), RUN(packed_meets_dense),
     RUN(distances_far_from_the_origin))
