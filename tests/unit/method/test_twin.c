/*
 * test_twin.c: HSIC matrices of elementwise powers against their definition, and the
 * properties of the learned coefficients.
 */
#include "harness.h"

#include "method/twin/twin.h"

enum { N = 40, DEGREE = 6 };

static void rbf_gram(okra_random_ *r, okra_int n, double gamma, double *x, double *K)
{
    if (x[0] == 0) { /* not given: drawn here */
        harness_normals(r, n, x);
    }
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            K[i * n + j] = exp(-gamma * (x[i] - x[j]) * (x[i] - x[j]));
        }
    }
}

static void power(okra_int n, const double *K, int p, double *out)
{
    for (okra_int i = 0; i < n * n; i++) {
        out[i] = 1;
        for (int k = 0; k < p; k++) {
            out[i] *= K[i];
        }
    }
}

/* (n-1)^-2 tr(K H G H) with H written out, in long double. */
static double biased(okra_int n, const double *K, const double *G)
{
    long double trace = 0, d = (long double)n;
    for (okra_int a = 0; a < n; a++) {
        for (okra_int b = 0; b < n; b++) {
            long double kh = 0, gh = 0;
            for (okra_int c = 0; c < n; c++) {
                kh += (long double)K[a * n + c] * ((c == b) - 1 / d);
                gh += (long double)G[b * n + c] * ((c == a) - 1 / d);
            }
            trace += kh * gh;
        }
    }
    return (double)(trace / ((d - 1) * (d - 1)));
}

/* The unbiased estimator as a sum over ordered tuples of distinct indices. */
static double unbiased(okra_int n, const double *K, const double *G)
{
    long double two = 0, three = 0, four = 0, d = (long double)n;
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            for (okra_int q = 0; q < n && i != j; q++) {
                if (q == i || q == j) {
                    continue;
                }
                three += (long double)K[i * n + j] * G[i * n + q];
                for (okra_int r = 0; r < n; r++) {
                    if (r != i && r != j && r != q) {
                        four += (long double)K[i * n + j] * G[q * n + r];
                    }
                }
            }
            two += i == j ? 0 : (long double)K[i * n + j] * G[i * n + j];
        }
    }
    return (double)(two / (d * (d - 1)) - 2 * three / (d * (d - 1) * (d - 2)) +
                    four / (d * (d - 1) * (d - 2) * (d - 3)));
}

TEST(definition)
{
    static double K[N * N], G[N * N], P[N * N], Q[N * N], C[DEGREE * DEGREE];
    double worst = 0;
    static const double gammas[] = {1e-4, 0.2, 20};
    for (int g = 0; g < 3; g++) {
        for (int both = 0; both < 2; both++) {
            okra_int n = both ? 12 : N; /* n^4 in the unbiased definition */
            okra_random_ r = okra_random_create_((uint64_t)g, 5);
            double x[N] = {0}, y[N] = {0};
            rbf_gram(&r, n, gammas[g], x, K);
            for (okra_int i = 0; i < n; i++) {
                y[i] = sin(3 * x[i]) + 0.1 * okra_random_normal_(&r);
            }
            rbf_gram(&r, n, 0.7, y, G);
            okra_twin_side_ sx = {
                .kernels = 1, .gram = {okra_mat_of_(K, n, n)}, .degree = DEGREE};
            okra_twin_side_ sy = {
                .kernels = 1, .gram = {okra_mat_of_(G, n, n)}, .degree = DEGREE - 1};
            okra_mat_ view = okra_mat_of_(C, DEGREE, DEGREE - 1);
            CHECK_OK(okra_twin_matrix_(NULL, &sx, &sy, both, view));
            for (int s = 0; s < DEGREE; s++) {
                for (int t = 0; t < DEGREE - 1; t++) {
                    power(n, K, s + 1, P);
                    power(n, G, t + 1, Q);
                    double want = both ? unbiased(n, P, Q) : biased(n, P, Q);
                    double e = fabs(C[s * (DEGREE - 1) + t] - want) / fabs(want);
                    worst = fmax(worst, e);
                }
            }
        }
    }
    printf("  worst relative error %.2g\n", worst);
    CHECK(worst < 2e-12); /* measured: 1.6e-13, at gamma 1e-4 where K is 1 - 1e-4 */
}

TEST(terms_of_several_kernels)
{
    okra_twin_side_ side = {.kernels = 3, .degree = 4};
    okra_int count = okra_twin_terms_(&side), seen = 0;
    CHECK(count == 34); /* binomial(7, 3) - 1 */
    int last = 0;
    for (okra_int t = 0; t < count; t++) {
        int p[3];
        okra_twin_exponents_(&side, t, p);
        int total = p[0] + p[1] + p[2];
        CHECK(total >= 1 && total <= 4 && total >= last);
        last = total;
        for (okra_int u = 0; u < t; u++) {
            int q[3];
            okra_twin_exponents_(&side, u, q);
            seen += memcmp(p, q, sizeof p) == 0;
        }
    }
    CHECK(seen == 0);
    okra_twin_side_ huge = {.kernels = 8, .degree = 40};
    CHECK(okra_twin_terms_(&huge) == -1);
}

TEST(products_of_kernels)
{
    static double K1[N * N], K2[N * N], G[N * N], P[N * N], Q[N * N];
    double x[N] = {0}, z[N] = {0}, y[N] = {0}, C[5], worst = 0;
    okra_random_ r = okra_random_create_(1, 1);
    rbf_gram(&r, N, 0.3, x, K1);
    rbf_gram(&r, N, 2, z, K2);
    rbf_gram(&r, N, 1, y, G);
    okra_twin_side_ sx = {.kernels = 2,
                          .gram = {okra_mat_of_(K1, N, N), okra_mat_of_(K2, N, N)},
                          .degree = 2};
    okra_twin_side_ sy = {.kernels = 1, .gram = {okra_mat_of_(G, N, N)}, .degree = 1};
    CHECK_OK(okra_twin_matrix_(NULL, &sx, &sy, false, okra_mat_of_(C, 5, 1)));
    for (int t = 0; t < 5; t++) {
        int p[2];
        okra_twin_exponents_(&sx, t, p);
        power(N, K1, p[0], P);
        power(N, K2, p[1], Q);
        for (int i = 0; i < N * N; i++) {
            P[i] *= Q[i];
        }
        worst = fmax(worst, fabs(C[t] - biased(N, P, G)) / fabs(C[t]));
    }
    CHECK(worst < 1e-12); /* measured, test engine: 2.4e-14 */ /* measured: 3e-15 */
}

/* tr(K H G H), K and G of the terms with exponents p and q, by sums of rows; without the
 * diagonals what the unbiased estimator is made of. */
static double by_sums(okra_int n, double *const K[2], const int p[2], const double *G,
                      int q, bool unbiased)
{
    long double two = 0, three = 0, sum_K = 0, sum_G = 0, d = (long double)n;
    for (okra_int i = 0; i < n; i++) {
        long double row_K = 0, row_G = 0;
        for (okra_int j = 0; j < n; j++) {
            long double k = 1, g = 1;
            for (int e = 0; e < p[0]; e++) {
                k *= K[0][i * n + j];
            }
            for (int e = 0; e < p[1]; e++) {
                k *= K[1][i * n + j];
            }
            for (int e = 0; e < q; e++) {
                g *= G[i * n + j];
            }
            if (unbiased && i == j) {
                continue;
            }
            two += k * g;
            row_K += k;
            row_G += g;
        }
        three += row_K * row_G;
        sum_K += row_K;
        sum_G += row_G;
    }
    if (unbiased) {
        two += sum_K * sum_G / ((d - 1) * (d - 2)) - 2 * three / (d - 2);
        return (double)(two / (d * (d - 3)));
    }
    two += sum_K * sum_G / (d * d) - 2 * three / d;
    return (double)(two / ((d - 1) * (d - 1)));
}

/* More objects than are taken at a time, of one kernel and of two, on several threads. */
TEST(many_objects)
{
    enum { LARGE = 600 };
    double *K[2], *G = okra_alloc_(LARGE * LARGE, sizeof *G), worst = 0;
    double *x = okra_zalloc_(3 * LARGE, sizeof *x), C[5 * 5];
    okra_random_ r = okra_random_create_(7, 7);
    okra_context *ctx = NULL;
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_threads(ctx, 2));
    for (int k = 0; k < 2; k++) {
        K[k] = okra_alloc_(LARGE * LARGE, sizeof *K[k]);
        rbf_gram(&r, LARGE, 0.3 + k, x + k * LARGE, K[k]);
    }
    for (int i = 0; i < LARGE; i++) {
        x[2 * LARGE + i] = sin(3 * x[i]) + x[LARGE + i];
    }
    rbf_gram(&r, LARGE, 1, x + 2 * LARGE, G);
    for (int c = 0; c < 4; c++) {
        int kernels = 1 + c % 2, terms = kernels == 1 ? 5 : 2; /* 5 > 4: two rounds */
        okra_twin_side_ sx = {
            .kernels = kernels,
            .gram = {okra_mat_of_(K[0], LARGE, LARGE), okra_mat_of_(K[1], LARGE, LARGE)},
            .degree = kernels == 1 ? 5 : 1};
        okra_twin_side_ sy = {
            .kernels = 1, .gram = {okra_mat_of_(G, LARGE, LARGE)}, .degree = 2};
        CHECK_OK(okra_twin_matrix_(ctx, &sx, &sy, c / 2, okra_mat_of_(C, terms, 2)));
        for (int t = 0; t < terms * 2; t++) {
            int p[2] = {0, 0};
            okra_twin_exponents_(&sx, t / 2, p);
            double want = by_sums(LARGE, K, p, G, t % 2 + 1, c / 2);
            worst = fmax(worst, fabs(C[t] - want) / fabs(want));
        }
    }
    printf("  worst relative error %.2g\n", worst);
    /* measured: 1.9e-15; the test engine, which adds up one by one: 6e-14 */
    CHECK(worst < (okra_engine_is_host_(NULL) ? 2e-14 : 1e-12));
    for (int k = 0; k < 2; k++) {
        okra_free_(K[k]);
    }
    okra_free_(G);
    okra_free_(x);
    okra_context_free(ctx);
}

/* Thin factors give what their product gives, one side or both of them in factors, also
 * of several kernels and with rows that lie apart. */
TEST(factors)
{
    enum { LARGE = 3 * N + 7, COLUMNS = 5, APART = COLUMNS + 2, TERMS = 9 };
    static double F[3][LARGE * APART], K[3][LARGE * LARGE];
    double worst = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        okra_int n = seed % 10 == 9 ? LARGE : 4 + (okra_int)seed % 20;
        okra_random_ r = okra_random_create_(seed, 5);
        okra_twin_side_ dense[2] = {{.kernels = 2, .degree = 3},
                                    {.kernels = 1, .degree = 4}};
        okra_twin_side_ thin[2] = {{.kernels = 2, .degree = 3},
                                   {.kernels = 1, .degree = 4}};
        for (int k = 0; k < 3; k++) {
            okra_int m = k + 3;
            harness_normals(&r, LARGE * APART, F[k]);
            for (okra_int i = 0; i < n * n; i++) {
                K[k][i] = 0.2 * okra_dot_(m, F[k] + i / n * APART, F[k] + i % n * APART);
            }
            for (okra_int i = 0; i < LARGE * APART; i++) {
                F[k][i] *= sqrt(0.2);
            }
            dense[k / 2].gram[k % 2] = okra_mat_of_(K[k], n, n);
            thin[k / 2].gram[k % 2] = (okra_mat_){F[k], n, m, APART};
        }
        for (int way = 1; way < 4; way++) {
            double want[TERMS * 4], got[TERMS * 4];
            okra_twin_side_ s[2];
            for (int side = 0; side < 2; side++) {
                s[side] = way >> side & 1 ? thin[side] : dense[side];
                s[side].factored = way >> side & 1;
            }
            CHECK_OK(okra_twin_matrix_(NULL, &dense[0], &dense[1], seed % 2,
                                       okra_mat_of_(want, TERMS, 4)));
            CHECK_OK(okra_twin_matrix_(NULL, &s[0], &s[1], seed % 2,
                                       okra_mat_of_(got, TERMS, 4)));
            worst = fmax(worst, harness_relative(TERMS * 4, got, want));
        }
    }
    CHECK(worst < 3e-14); /* worst of the 600 matrices: 2.4e-15 */
}

/* Unit norm, non-negative, the maximum of a'Cb: no random pair does better; and where C
 * falls (rises) along i for every column, so does alpha (Theorem 4.3). */
TEST(solution)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        okra_random_ r = okra_random_create_(seed, 2);
        static double K[N * N], G[N * N];
        double x[N] = {0}, y[N] = {0}, C[DEGREE * DEGREE], a[DEGREE], b[DEGREE], value;
        rbf_gram(&r, N, exp(okra_random_normal_(&r)), x, K);
        for (int i = 0; i < N; i++) {
            y[i] = x[i] * x[i] + 0.3 * okra_random_normal_(&r);
        }
        rbf_gram(&r, N, exp(okra_random_normal_(&r)), y, G);
        okra_twin_side_ sx = {
            .kernels = 1, .gram = {okra_mat_of_(K, N, N)}, .degree = DEGREE};
        okra_twin_side_ sy = {
            .kernels = 1, .gram = {okra_mat_of_(G, N, N)}, .degree = DEGREE};
        okra_mat_ view = okra_mat_of_(C, DEGREE, DEGREE);
        CHECK_OK(okra_twin_matrix_(NULL, &sx, &sy, false, view));
        CHECK_OK(okra_twin_solve_(NULL, view, a, b, &value));
        double na = 0, nb = 0, reached = 0;
        bool falls = true, rises = true;
        for (int i = 0; i < DEGREE; i++) {
            na += a[i] * a[i];
            nb += b[i] * b[i];
            CHECK(a[i] >= 0 && b[i] >= 0);
            for (int j = 0; j < DEGREE; j++) {
                reached += a[i] * C[i * DEGREE + j] * b[j];
                falls = falls && (i == 0 || C[i * DEGREE + j] <= C[(i - 1) * DEGREE + j]);
                rises = rises && (i == 0 || C[i * DEGREE + j] >= C[(i - 1) * DEGREE + j]);
            }
        }
        CHECK_NEAR(na, 1, 1e-14);
        CHECK_NEAR(nb, 1, 1e-14);
        CHECK_NEAR(reached, value, 1e-13 * value);
        for (int i = 1; i < DEGREE; i++) {
            CHECK(!falls || a[i] <= a[i - 1]);
            CHECK(!rises || a[i] >= a[i - 1]);
        }
        for (int k = 0; k < 100; k++) {
            double u[DEGREE], v[DEGREE], nu = 0, nv = 0, other = 0;
            for (int i = 0; i < DEGREE; i++) {
                u[i] = fabs(okra_random_normal_(&r));
                v[i] = fabs(okra_random_normal_(&r));
                nu += u[i] * u[i];
                nv += v[i] * v[i];
            }
            for (int i = 0; i < DEGREE; i++) {
                for (int j = 0; j < DEGREE; j++) {
                    other += u[i] * C[i * DEGREE + j] * v[j];
                }
            }
            CHECK(other / sqrt(nu * nv) <= value * (1 + 1e-13));
        }
    }
}

TEST(same_bits_for_any_thread_count)
{
    static double K[N * N], G[N * N];
    double x[N] = {0}, y[N] = {0}, one[4], two[4];
    okra_random_ r = okra_random_create_(4, 4);
    rbf_gram(&r, N, 1, x, K);
    rbf_gram(&r, N, 1, y, G);
    okra_twin_side_ sx = {.kernels = 1, .gram = {okra_mat_of_(K, N, N)}, .degree = 2};
    okra_twin_side_ sy = {.kernels = 1, .gram = {okra_mat_of_(G, N, N)}, .degree = 2};
    okra_context *ctx = NULL;
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_threads(ctx, 1));
    CHECK_OK(okra_twin_matrix_(ctx, &sx, &sy, true, okra_mat_of_(one, 2, 2)));
    CHECK_OK(okra_context_set_threads(ctx, 4));
    CHECK_OK(okra_twin_matrix_(ctx, &sx, &sy, true, okra_mat_of_(two, 2, 2)));
    CHECK(memcmp(one, two, sizeof one) == 0);
    okra_context_free(ctx);
}

/* A small budget: an engine then works in many blocks, of which the last is a short one.
 */
TEST(blocks)
{
    enum { LARGE = 301, TERMS = 5 };
    static double K[2][LARGE * LARGE], G[LARGE * LARGE];
    double x[3 * LARGE] = {0}, whole[2 * TERMS], parts[2 * TERMS], worst = 0;
    okra_random_ r = okra_random_create_(9, 2);
    okra_context *ctx = NULL;
    rbf_gram(&r, LARGE, 0.3, x, K[0]);
    rbf_gram(&r, LARGE, 2, x + LARGE, K[1]);
    rbf_gram(&r, LARGE, 1, x + 2 * LARGE, G);
    okra_twin_side_ sx = {
        .kernels = 2,
        .gram = {okra_mat_of_(K[0], LARGE, LARGE), okra_mat_of_(K[1], LARGE, LARGE)},
        .degree = 2};
    okra_twin_side_ sy = {
        .kernels = 1, .gram = {okra_mat_of_(G, LARGE, LARGE)}, .degree = 2};
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_threads(ctx, 1));
    for (int unbiased = 0; unbiased < 2; unbiased++) {
        okra_mat_ view = okra_mat_of_(parts, TERMS, 2);
        CHECK_OK(
            okra_twin_matrix_(NULL, &sx, &sy, unbiased, okra_mat_of_(whole, TERMS, 2)));
        for (okra_int budget = 500000; budget <= 2000000; budget *= 4) {
            CHECK_OK(okra_context_set_memory(ctx, budget));
            CHECK_OK(okra_twin_matrix_(ctx, &sx, &sy, unbiased, view));
            worst = fmax(worst, harness_relative(2 * TERMS, parts, whole));
        }
    }
    printf("  worst relative difference %.2g\n", worst);
    CHECK(worst < 1e-12); /* measured, test engine: 2.4e-14 */
    okra_context_free(ctx);
}

static okra_status learn(const double *K, double *C)
{
    okra_status st = OKRA_OK;
    double a[2], b[2], value;
    okra_twin_side_ s = {.kernels = 1, .gram = {okra_mat_view_(K, 5, 5, 5)}, .degree = 2};
    TRY(okra_twin_matrix_(NULL, &s, &s, true, okra_mat_of_(C, 2, 2)));
    TRY(okra_twin_solve_(NULL, okra_mat_of_(C, 2, 2), a, b, &value));
done:
    return st;
}

TEST(failures)
{
    double K[25], C[4], a[2], b[2], value;
    for (int i = 0; i < 25; i++) {
        K[i] = i / 5 == i % 5 ? 1 : 0.1 * (i / 5 + i % 5);
    }
    CHECK_ALLOCATIONS(learn(K, C), (void)0);
    double zero[4] = {0};
    CHECK_FAILS(okra_twin_solve_(NULL, okra_mat_of_(zero, 2, 2), a, b, &value),
                OKRA_ENUMERIC, "no dependence");
}

MAIN(RUN(definition), RUN(terms_of_several_kernels), RUN(products_of_kernels),
     RUN(many_objects), RUN(factors), RUN(solution), RUN(same_bits_for_any_thread_count),
     RUN(blocks), RUN(failures))
