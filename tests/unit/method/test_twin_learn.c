/*
 * test_twin_learn.c: the learned kernels as expressions: their Gram matrices are the
 * polynomials that the coefficients say, and their HSIC is the one promised.
 */
#include "harness.h"

#include "data/data.h"
#include "engine/engine.h"
#include "okra/more/twin.h"

enum { N = 40, D = 3 };

typedef struct setup {
    okra_data *x, *y;
    okra_kernel *k[4];
} setup;

static setup make(uint64_t seed, okra_int n)
{
    setup s = {NULL, NULL, {NULL}};
    okra_random_ r = okra_random_create_(seed, 0);
    double *x = okra_alloc_(n * D, sizeof *x), *y = okra_alloc_(n * D, sizeof *y);
    harness_normals(&r, n * D, x);
    for (okra_int i = 0; i < n * D; i++) {
        y[i] = sin(x[i]) + 0.1 * okra_random_normal_(&r);
    }
    CHECK_OK(okra_data_adopt_dense_(&x, n, D, "x", &s.x));
    CHECK_OK(okra_data_adopt_dense_(&y, n, D, "y", &s.y));
    CHECK_OK(okra_kernel_parse("rbf(gamma=0.2)", &s.k[0]));
    CHECK_OK(okra_kernel_parse("0.5*cosine + 0.25", &s.k[1]));
    CHECK_OK(okra_kernel_parse("rbf(gamma=1)", &s.k[2]));
    CHECK_OK(okra_kernel_parse("linear", &s.k[3]));
    return s;
}

static void clear(setup *s)
{
    okra_data_free(s->x);
    okra_data_free(s->y);
    for (int k = 0; k < 4; k++) {
        okra_kernel_free(s->k[k]);
    }
}

static okra_twin_base base(const okra_kernel *const *k, size_t count, int degree)
{
    okra_twin_base b = {k, count, degree, NULL};
    return b;
}

static double biased(const double *K, const double *G)
{
    double sum = 0;
    static double A[N * N];
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            double row = 0, col = 0, all = 0;
            for (int k = 0; k < N; k++) {
                row += K[i * N + k] / N;
                col += K[k * N + j] / N;
                for (int l = 0; l < N; l++) {
                    all += K[k * N + l] / N / N;
                }
            }
            A[i * N + j] = K[i * N + j] - row - col + all;
        }
    }
    for (int i = 0; i < N * N; i++) {
        sum += A[i] * G[i];
    }
    return sum / (N - 1) / (N - 1);
}

/* Gram matrix of a learned side against the sum over its terms, written out. */
static void compare(const okra_twin *twin, okra_side side, const okra_data *data,
                    const okra_twin_base *b, double *learned)
{
    static double want[N * N], K[4][N * N];
    okra_int terms;
    okra_kernel *kernel = NULL;
    const double *c = okra_twin_coefficients(twin, side, &terms);
    double norm = 0;
    memset(want, 0, sizeof want);
    for (size_t k = 0; k < b->count; k++) {
        CHECK_OK(okra_gram(NULL, b->kernels[k], data, NULL, K[k], N));
    }
    for (okra_int t = 0; t < terms; t++) {
        norm += c[t] * c[t];
        CHECK(c[t] >= 0);
        for (int i = 0; i < N * N; i++) {
            double value = c[t];
            for (size_t k = 0; k < b->count; k++) {
                value *= pow(K[k][i], okra_twin_exponent(twin, side, t, k));
            }
            want[i] += value;
        }
    }
    CHECK_NEAR(norm, 1, 5e-15); /* 4.5e-16 */
    CHECK_OK(okra_kernel_parse(okra_twin_kernel(twin, side), &kernel));
    CHECK_OK(okra_gram(NULL, kernel, data, NULL, learned, N));
    okra_kernel_free(kernel);
    /* worst over 20 seeds: 4.6e-16 */
    CHECK_NEAR(harness_relative(N * N, learned, want), 0, 5e-15);
}

TEST(expressions)
{
    static double K[N * N], G[N * N];
    static const int degrees[][2] = {{1, 11}, {11, 11}, {16, 1}, {1, 1}, {3, 2}};
    for (uint64_t seed = 0; seed < 3; seed++) {
        setup s = make(seed, N);
        const okra_kernel *const *k = (const okra_kernel *const *)s.k;
        for (int d = 0; d < 5; d++) {
            for (size_t count = 1; count < 4; count += 2) {
                if (count == 3 && degrees[d][0] * degrees[d][1] > 6) {
                    continue;
                }
                okra_twin *twin = NULL;
                okra_twin_base x = base(k, count, degrees[d][0]);
                okra_twin_base y = base(k + 2, 1, degrees[d][1]);
                CHECK_OK(okra_twin_learn(NULL, s.x, s.y, &x, &y, false, &twin));
                compare(twin, OKRA_SIDE_X, s.x, &x, K);
                compare(twin, OKRA_SIDE_Y, s.y, &y, G);
                /* worst over 20 seeds: 5.3e-15 */
                CHECK_NEAR(biased(K, G) / okra_twin_after(twin), 1, 5e-14);
                CHECK(okra_twin_after(twin) >= okra_twin_before(twin) * (1 - 1e-14));
                okra_twin_free(twin);
            }
        }
        clear(&s);
    }
}

/* Theorem 4.3: where a column of C grows (falls) with the power for every power of the
 * other side, the coefficients grow (fall) too; identity for degree 1. */
TEST(monotone)
{
    int told = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        setup s = make(seed, 60);
        const okra_kernel *const *k = (const okra_kernel *const *)s.k;
        okra_twin *twin = NULL;
        okra_twin_base x = base(k, 1, 6), y = base(k + 2, 1, 6);
        okra_int rows, cols, terms;
        CHECK_OK(okra_twin_learn(NULL, s.x, s.y, &x, &y, seed % 2, &twin));
        const double *C = okra_twin_matrix(twin, &rows, &cols);
        const double *a = okra_twin_coefficients(twin, OKRA_SIDE_X, &terms);
        CHECK(rows == 6 && cols == 6 && terms == 6);
        for (int i = 0; i + 1 < 6; i++) {
            int up = 0, down = 0;
            for (int j = 0; j < 6; j++) {
                up += C[(i + 1) * 6 + j] > C[i * 6 + j];
                down += C[(i + 1) * 6 + j] < C[i * 6 + j];
            }
            CHECK(up < 6 || a[i + 1] > a[i]);
            CHECK(down < 6 || a[i + 1] < a[i]);
            told += up == 6 || down == 6;
        }
        okra_twin_free(twin);
        clear(&s);
    }
    CHECK(told > 50);
}

TEST(bad_input)
{
    setup s = make(7, N);
    const okra_kernel *const *k = (const okra_kernel *const *)s.k;
    okra_twin *twin = NULL;
    okra_twin_base one = base(k, 1, 2), two = base(k + 2, 1, 2);
    okra_twin_base zero = base(k, 1, 0), high = base(k, 1, 17), none = base(k, 0, 1);
    okra_twin_base huge = base(k + 3, 1, 16), many = base(k, 3, 15);
    CHECK_FAILS(okra_twin_learn(NULL, s.x, s.y, &zero, &two, false, &twin), OKRA_EARG,
                "the degree of the inputs is 0, expected 1 to 16");
    CHECK_FAILS(okra_twin_learn(NULL, s.x, s.y, &one, &high, false, &twin), OKRA_EARG,
                "the degree of the outputs is 17, expected 1 to 16");
    CHECK_FAILS(okra_twin_learn(NULL, s.x, s.y, &none, &two, false, &twin), OKRA_EARG,
                "0 kernels of the inputs, expected 1 to 8");
    CHECK_FAILS(okra_twin_learn(NULL, s.x, s.y, &many, &two, false, &twin), OKRA_EARG,
                "815 terms are more than a kernel expression can hold");
    okra_twin_base more = base(k, 3, 100);
    CHECK_FAILS(okra_twin_learn(NULL, s.x, s.y, &more, &two, false, &twin), OKRA_EARG,
                "too many terms");

    okra_data *few = NULL, *constant = NULL, *large = NULL;
    static const okra_int index[] = {0, 1, 2};
    double *same = okra_alloc_(N * 4, sizeof *same);
    double *big = okra_alloc_(N * 1, sizeof *big);
    for (int i = 0; i < N * 4; i++) {
        same[i] = 0.3; /* sums of its square round, and centring leaves some eps */
    }
    for (int i = 0; i < N; i++) {
        big[i] = 1e12 * i;
    }
    CHECK_OK(okra_data_take(s.x, index, 3, &few));
    CHECK_OK(okra_data_adopt_dense_(&same, N, 4, "same", &constant));
    CHECK_OK(okra_data_adopt_dense_(&big, N, 1, "big", &large));
    CHECK_FAILS(okra_twin_learn(NULL, few, s.y, &one, &two, false, &twin), OKRA_ESHAPE,
                "x has 3 dense vectors of length 3, y has 40");
    CHECK_FAILS(okra_twin_learn(NULL, few, few, &one, &two, true, &twin), OKRA_ESHAPE,
                "3 examples, expected at least 4");
    okra_twin_base alike[] = {two, base(k + 2, 2, 2), base(k + 3, 1, 2), two};
    alike[3].low_rank = "chol(rank=5)";
    for (int unbiased = 0; unbiased < 2; unbiased++) {
        for (int c = 0; c < 4; c++) {
            CHECK_FAILS(
                okra_twin_learn(NULL, s.x, constant, &one, &alike[c], unbiased, &twin),
                OKRA_ENUMERIC, "the outputs are all the same to their kernel");
            CHECK_FAILS(
                okra_twin_learn(NULL, constant, s.y, &alike[c], &two, unbiased, &twin),
                OKRA_ENUMERIC, "the inputs are all the same to their kernel");
        }
    }
    CHECK_FAILS(okra_twin_learn(NULL, large, s.y, &huge, &two, false, &twin),
                OKRA_ENUMERIC,
                "term 12 of the inputs and term 1 of the outputs (from 1) is not finite");
    okra_data_free(few);
    okra_data_free(constant);
    okra_data_free(large);
    clear(&s);
}

static void count_warnings(void *user, const char *text)
{
    *(int *)user += strstr(text, "not positive semi-definite") != NULL;
}

/* A Gram matrix of the user's with negative eigenvalues, -K: its odd powers count for
 * nothing, its even ones are learned from, and it is told. Of odd ones alone nothing can
 * be learned. */
TEST(not_psd)
{
    setup s = make(3, N);
    static double K[N * N];
    okra_context *ctx = NULL;
    okra_data *gram = NULL;
    okra_kernel *given = NULL;
    okra_twin *twin = NULL;
    okra_int terms;
    int warnings = 0;
    CHECK_OK(okra_context_create(&ctx));
    okra_context_set_warning(ctx, count_warnings, &warnings);
    CHECK_OK(okra_gram(NULL, s.k[2], s.y, NULL, K, N));
    for (int i = 0; i < N * N; i++) {
        K[i] = -K[i];
    }
    CHECK_OK(okra_data_gram(K, N, N, N, NULL, &gram));
    CHECK_OK(okra_kernel_parse("precomputed", &given));
    const okra_kernel *k[] = {given, s.k[2]};
    okra_twin_base one = base(k, 1, 1), x = base(k, 1, 3), y = base(k + 1, 1, 3);
    CHECK_FAILS(okra_twin_learn(ctx, gram, s.y, &one, &y, false, &twin), OKRA_ENUMERIC,
                "no dependence: no HSIC is above 0");
    CHECK(warnings == 1);
    CHECK_OK(okra_twin_learn(ctx, gram, s.y, &x, &y, false, &twin));
    CHECK(warnings == 2);
    const double *a = okra_twin_coefficients(twin, OKRA_SIDE_X, &terms);
    CHECK(terms == 3 && a[0] == 0 && a[1] == 1 && a[2] == 0);
    CHECK(okra_twin_before(twin) < 0 && okra_twin_after(twin) > 0);
    okra_twin_free(twin);
    okra_kernel_free(given);
    okra_data_free(gram);
    okra_context_free(ctx);
    clear(&s);
}

TEST(memory)
{
    enum { LARGE = 400 };
    setup s = make(5, LARGE);
    const okra_kernel *const *k = (const okra_kernel *const *)s.k;
    okra_twin_base x = base(k, 1, 16), y = base(k + 2, 1, 16);
    okra_twin *twin = NULL;
    okra_context *ctx = NULL;
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_threads(ctx, 2));
    okra_int live = okra_alloc_live_bytes_();
    okra_alloc_reset_peak_();
    CHECK_OK(okra_twin_learn(ctx, s.x, s.y, &x, &y, false, &twin));
    double square = LARGE * LARGE * sizeof(double);
    double used = (double)(okra_alloc_peak_bytes_() - live) / square;
    /* 2.48 measured; the share beyond 2 falls as 1/n. Other engines have their own. */
    CHECK(!okra_engine_is_host_(ctx) || (used > 2 && used < 3));
    okra_twin_free(twin);
    okra_context_free(ctx);
    clear(&s);
}

/* Of full rank the factors say what the Gram matrices say; of low rank no n x n matrix is
 * held, and what is learned is near. */
TEST(low_rank)
{
    enum { LARGE = 1500 };
    static const char *const full[] = {"chol(rank=40,tol=0)", "nystrom(rank=40)",
                                       "sketch(rank=40)"};
    double worst = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        setup s = make(seed, N);
        const okra_kernel *const *k = (const okra_kernel *const *)s.k;
        okra_twin *a = NULL, *b = NULL;
        okra_int terms, cols;
        okra_twin_base x = base(k, 2, 2), y = base(k + 2, 1, 3);
        CHECK_OK(okra_twin_learn(NULL, s.x, s.y, &x, &y, seed % 2, &a));
        x.low_rank = full[seed % 3];
        y.low_rank = full[seed / 3 % 3];
        CHECK_OK(okra_twin_learn(NULL, s.x, s.y, &x, &y, seed % 2, &b));
        const double *want = okra_twin_matrix(a, &terms, &cols);
        worst = fmax(worst, harness_relative(terms * cols,
                                             okra_twin_matrix(b, &terms, &cols), want));
        okra_twin_free(a);
        okra_twin_free(b);
        clear(&s);
    }
    CHECK(worst < 2e-10); /* worst of the 20: 1.3e-11 */

    setup s = make(5, LARGE);
    const okra_kernel *const *k = (const okra_kernel *const *)s.k;
    okra_twin_base x = base(k, 1, 5), y = base(k + 2, 1, 5);
    okra_twin *exact = NULL, *low = NULL;
    okra_context *ctx = NULL;
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_threads(ctx, 2));
    CHECK_OK(okra_twin_learn(ctx, s.x, s.y, &x, &y, false, &exact));
    x.low_rank = y.low_rank = "chol(rank=60,tol=0)";
    okra_int live = okra_alloc_live_bytes_(), terms;
    okra_alloc_reset_peak_();
    CHECK_OK(okra_twin_learn(ctx, s.x, s.y, &x, &y, false, &low));
    double used = (double)(okra_alloc_peak_bytes_() - live);
    double near = harness_relative(5, okra_twin_coefficients(low, OKRA_SIDE_Y, &terms),
                                   okra_twin_coefficients(exact, OKRA_SIDE_Y, &terms));
    CHECK(near < 0.1); /* measured: 0.018 */
    CHECK(!okra_engine_is_host_(ctx) ||
          used < 0.25 * sizeof(double) * LARGE * LARGE); /* measured: 0.18 of it */
    okra_twin_free(low);
    x.low_rank = "chul(rank=60)";
    CHECK_FAILS(okra_twin_learn(ctx, s.x, s.y, &x, &y, false, &low), OKRA_EARG, "chul");
    okra_twin_free(exact);
    okra_context_free(ctx);
    clear(&s);
}

TEST(allocations)
{
    setup s = make(1, 12);
    const okra_kernel *const *k = (const okra_kernel *const *)s.k;
    okra_twin_base x = base(k, 2, 2), y = base(k + 2, 1, 2);
    okra_twin *twin = NULL;
    CHECK_ALLOCATIONS(okra_twin_learn(NULL, s.x, s.y, &x, &y, true, &twin),
                      okra_twin_free(twin));
    x.low_rank = "sketch(rank=4)";
    y.low_rank = "chol(rank=4)";
    CHECK_ALLOCATIONS(okra_twin_learn(NULL, s.x, s.y, &x, &y, true, &twin),
                      okra_twin_free(twin));
    clear(&s);
}

MAIN(RUN(expressions), RUN(monotone), RUN(bad_input), RUN(not_psd), RUN(memory),
     RUN(low_rank), RUN(allocations))
