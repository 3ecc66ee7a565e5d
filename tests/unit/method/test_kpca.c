/*
 * Kernel PCA regression: against centred ridge when nothing is left out, and against a
 * projection found by power iteration when one component is kept.
 */
#include "naive.h"

static const okra_method_ *kpca(void)
{
    return okra_method_find_("kpca");
}

static okra_status fit_with(okra_context *ctx, const toy *t, const char *option,
                            const char *components, const char *lambda, okra_bag_ **out)
{
    okra_status st = OKRA_OK;
    const okra_option_table *table = &kpca()->options;
    okra_options *o = NULL;
    okra_bag_ *bag = NULL;
    okra_problem_ p = problem_of(t, false);
    TRY(okra_options_create(&table, 1, &o));
    TRY(okra_options_set(o, option, components));
    TRY(okra_options_set(o, "lambda", lambda));
    TRY(okra_bag_create_(&bag));
    TRY(okra_method_fit_(ctx, kpca(), &p, o, bag));
    *out = bag;
    bag = NULL;
done:
    okra_bag_free_(bag);
    okra_options_free(o);
    return st;
}

static okra_status fit(okra_context *ctx, const toy *t, const char *components,
                       const char *lambda, okra_bag_ **out)
{
    return fit_with(ctx, t, "components", components, lambda, out);
}

static okra_status weigh(const toy *t, const okra_bag_ *bag, double *W)
{
    okra_query_ q = {.m = t->m, .n = t->n};
    double Kx[M * N];
    memcpy(Kx, t->Kx, sizeof Kx);
    q.Kx = okra_mat_of_(Kx, t->m, t->n);
    return kpca()->predict(NULL, bag, &q, okra_mat_of_(W, t->m, t->n));
}

/* |sum_i (a_i - b_i) phi(y_i)|^2 */
static double apart(const toy *t, const double *a, const double *b)
{
    double sum = 0;
    for (okra_int i = 0; i < t->n; i++) {
        for (okra_int j = 0; j < t->n; j++) {
            sum += (a[i] - b[i]) * t->L[i * t->n + j] * (a[j] - b[j]);
        }
    }
    return sum;
}

TEST(all_components_are_centred_ridge)
{
    for (int c = 0; c < 150; c++) {
        toy t = make_toy(c % SHAPES, 1 + c % N, (uint64_t)c, false);
        okra_bag_ *bag = NULL;
        double W[M * N], B[N * N], want[M * N];
        CHECK_OK(fit(NULL, &t, "all", "0.3", &bag));
        CHECK_OK(weigh(&t, bag, W));
        naive_identity(&t, 0.3, B);
        naive_weights(&t, B, true, want);
        for (okra_int r = 0; r < t.m; r++) {
            /* the same point: 6e-16 at worst over these toys */
            CHECK_NEAR(apart(&t, W + r * t.n, want + r * t.n), 0, 1e-14);
        }
        if (c % SHAPES == RANDOM) {
            /* full rank: the same weights, 8e-13 at worst */
            CHECK(harness_relative(t.m * t.n, W, want) < 1e-11);
        }
        okra_bag_free_(bag);
    }
}

/* The leading eigenvector of a symmetric matrix. */
static void leading(okra_int n, const double *A, double *v)
{
    for (okra_int i = 0; i < n; i++) {
        v[i] = 1 + 0.1 * (double)i;
    }
    for (int step = 0; step < 3000; step++) {
        double next[N], norm = 0;
        for (okra_int i = 0; i < n; i++) {
            next[i] = inner(n, A + i * n, v);
            norm += next[i] * next[i];
        }
        for (okra_int i = 0; i < n; i++) {
            v[i] = next[i] / sqrt(norm);
        }
    }
}

TEST(one_component_is_a_projection)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        toy t = make_toy(RANDOM, 3 + (okra_int)seed % (N - 2), seed, false);
        okra_int n = t.n;
        okra_bag_ *bag = NULL;
        double W[M * N], B[N * N], U[M * N], Lc[N * N], v[N];
        CHECK_OK(fit(NULL, &t, "1", "0.1", &bag));
        CHECK_OK(weigh(&t, bag, W));
        naive_identity(&t, 0.1, B);
        naive_weights(&t, B, false, U);
        naive_center(n, t.L, Lc);
        leading(n, Lc, v);
        for (okra_int r = 0; r < t.m; r++) {
            double along = inner(n, v, U + r * n);
            for (okra_int i = 0; i < n; i++) {
                /* 7e-14 at worst */
                CHECK_NEAR(W[r * n + i], along * v[i] + 1 / (double)n, 1e-12);
            }
        }
        okra_bag_free_(bag);
    }
}

TEST(components_give_coordinates_of_objects)
{
    for (uint64_t seed = 0; seed < 30; seed++) {
        toy t = make_toy(RANDOM, N, seed, false);
        okra_bag_ *bag = NULL;
        okra_components_ c;
        CHECK_OK(fit(NULL, &t, "4", "0.1", &bag));
        CHECK_OK(kpca()->components(bag, t.n, &c));
        CHECK(c.p == 4);
        for (okra_int i = 0; i < t.n; i++) {
            for (okra_int j = 0; j < c.p; j++) {
                double a = -c.offset[j];
                for (okra_int k = 0; k < t.n; k++) {
                    a += c.scores[k * c.p + j] * t.L[k * t.n + i] / c.variances[j];
                }
                CHECK_NEAR(a, c.scores[i * c.p + j], 1e-13); /* 5e-15 at worst */
            }
        }
        CHECK_FAILS(kpca()->components(bag, t.n + 1, &c), OKRA_EFORMAT, "do not fit 10");
        okra_bag_free_(bag);
    }
}

TEST(share_keeps_the_least_number)
{
    toy t = make_toy(RANDOM, N, 3, false);
    okra_bag_ *bag = NULL, *all = NULL;
    okra_components_ c, every;
    CHECK_OK(fit(NULL, &t, "0.7", "0.1", &bag));
    CHECK_OK(fit(NULL, &t, "all", "0.1", &all));
    CHECK_OK(kpca()->components(bag, t.n, &c));
    CHECK_OK(kpca()->components(all, t.n, &every));
    double total = 0, kept = 0;
    for (okra_int j = 0; j < every.p; j++) {
        total += every.variances[j];
        kept += j < c.p ? every.variances[j] : 0;
    }
    CHECK(every.p == N - 1);
    CHECK(c.p > 0 && c.p < every.p);
    CHECK(kept >= 0.7 * total && kept - c.variances[c.p - 1] < 0.7 * total);
    okra_bag_free_(bag);
    okra_bag_free_(all);
}

static void heard(void *user, const char *text)
{
    snprintf(user, 300, "%s", text);
}

TEST(more_components_than_the_rank)
{
    toy t = make_toy(RANK_DEFICIENT, N, 5, true); /* L = Y Y' of rank D */
    okra_context *ctx = NULL;
    okra_bag_ *bag = NULL, *all = NULL;
    double W[M * N], want[M * N];
    char said[300] = "";
    CHECK_OK(okra_context_create(&ctx));
    okra_context_set_warning(ctx, heard, said);
    CHECK_OK(fit(ctx, &t, "1000000", "0.1", &bag));
    CHECK(strstr(said, "1000000 components are asked for") && strstr(said, "rank 3"));
    CHECK_OK(fit(NULL, &t, "all", "0.1", &all));
    CHECK_OK(weigh(&t, bag, W));
    CHECK_OK(weigh(&t, all, want));
    CHECK(memcmp(W, want, sizeof(double) * (size_t)(t.m * t.n)) == 0);
    okra_bag_free_(bag);
    okra_bag_free_(all);
    okra_context_free(ctx);
}

TEST(equal_outputs_give_their_mean)
{
    toy t = make_toy(RANDOM, 6, 1, false);
    okra_bag_ *bag = NULL;
    double W[M * N];
    for (okra_int i = 0; i < t.n * t.n; i++) {
        t.L[i] = 1;
    }
    CHECK_OK(fit(NULL, &t, "all", "0.1", &bag));
    CHECK_OK(weigh(&t, bag, W));
    for (okra_int i = 0; i < t.m * t.n; i++) {
        CHECK(W[i] == 1.0 / 6);
    }
    okra_bag_free_(bag);
}

/* Numbers far from 0: one direction, no rounding of the others, the mean counted once. */
TEST(offset_of_outputs_is_the_mean)
{
    for (int c = 0; c < 60; c++) {
        double offset = pow(10, c % 6);
        toy t = make_toy(RANDOM, 2 + c % (N - 1), (uint64_t)c, false);
        okra_bag_ *bag = NULL;
        okra_components_ parts;
        double W[M * N] = {0}, B[N * N], want[M * N], y[N];
        for (okra_int i = 0; i < t.n; i++) {
            y[i] = offset + t.Y[i * LD];
        }
        for (okra_int i = 0; i < t.n * t.n; i++) {
            t.L[i] = y[i / t.n] * y[i % t.n];
        }
        CHECK_OK(fit(NULL, &t, "all", "0.3", &bag));
        CHECK_OK(kpca()->components(bag, t.n, &parts));
        CHECK(parts.p == 1);
        CHECK_OK(weigh(&t, bag, W));
        naive_identity(&t, 0.3, B);
        naive_weights(&t, B, true, want);
        for (okra_int r = 0; r < t.m; r++) {
            CHECK_NEAR(inner(t.n, W + r * t.n, y), inner(t.n, want + r * t.n, y),
                       1e-6 * offset);
        }
        okra_bag_free_(bag);
    }
}

/* ---- rank-output, against directions found by Jacobi rotations ---- */

/* Eigenvalues v (descending) and eigenvectors in the columns of E; A is lost. */
static void jacobi(okra_int n, double *A, double *v, double *E)
{
    identity(n, E);
    for (int sweep = 0; sweep < 60; sweep++) {
        for (okra_int p = 0; p < n; p++) {
            for (okra_int q = p + 1; q < n; q++) {
                double angle = 0.5 * atan2(2 * A[p * n + q], A[q * n + q] - A[p * n + p]);
                double c = cos(angle), s = sin(angle);
                for (okra_int k = 0; k < n; k++) {
                    double a = A[k * n + p], b = A[k * n + q];
                    double e = E[k * n + p], f = E[k * n + q];
                    A[k * n + p] = c * a - s * b;
                    A[k * n + q] = s * a + c * b;
                    E[k * n + p] = c * e - s * f;
                    E[k * n + q] = s * e + c * f;
                }
                for (okra_int k = 0; k < n; k++) {
                    double a = A[p * n + k], b = A[q * n + k];
                    A[p * n + k] = c * a - s * b;
                    A[q * n + k] = s * a + c * b;
                }
            }
        }
    }
    for (okra_int j = 0; j < n; j++) {
        v[j] = A[j * n + j];
    }
    for (okra_int j = 0; j < n; j++) {
        for (okra_int k = j + 1; k < n; k++) {
            if (v[k] > v[j]) {
                double a = v[j];
                v[j] = v[k];
                v[k] = a;
                for (okra_int i = 0; i < n; i++) {
                    a = E[i * n + j];
                    E[i * n + j] = E[i * n + k];
                    E[i * n + k] = a;
                }
            }
        }
    }
}

/* Directions of the fitted outputs as weights of centred outputs, in the columns of E,
 * and how many of them are above rounding. */
static okra_int naive_directions(const toy *t, double lambda, double *E)
{
    okra_int n = t->n, rank = 0;
    double B[N * N], A[N * N], Lc[N * N], T[N * N], Mx[N * N], U[N * N], v[N];
    naive_identity(t, lambda, B);
    times(n, n, n, t->K, B, A);
    naive_center(n, t->L, Lc);
    times(n, n, n, A, Lc, T);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            Mx[i * n + j] = inner(n, T + i * n, A + j * n);
        }
    }
    jacobi(n, Mx, v, U);
    while (rank < n && v[rank] > 1e-11 * fmax(v[0], 1e-10)) {
        rank++;
    }
    times(n, n, n, A, U, E);
    for (okra_int i = 0; i < n * n; i++) {
        E[i] /= i % n < rank ? sqrt(v[i % n]) : 1;
    }
    return rank;
}

/* Lc, centred weights of a point: its coordinates along the first p columns of E. */
static void along(const toy *t, const double *E, okra_int p, const double *w, double *out)
{
    double Lc[N * N], g[N];
    naive_center(t->n, t->L, Lc);
    for (okra_int i = 0; i < t->n; i++) {
        g[i] = inner(t->n, Lc + i * t->n, w);
    }
    for (okra_int j = 0; j < p; j++) {
        out[j] = 0;
        for (okra_int i = 0; i < t->n; i++) {
            out[j] += E[i * t->n + j] * g[i];
        }
    }
}

TEST(rank_projects_on_directions_of_fitted_outputs)
{
    for (int c = 0; c < 300; c++) {
        toy t = make_toy(c % SHAPES, 2 + c % (N - 1), (uint64_t)c, c % 2 == 0);
        okra_int n = t.n;
        double lambda = c % 4 == 0 ? 3 : 0.2;
        double E[N * N], B[N * N], U[M * N], W[M * N];
        okra_int rank = naive_directions(&t, lambda, E);
        okra_int p = OKRA_MIN_(rank, 1 + c % 3);
        okra_bag_ *bag = NULL;
        if (p == 0) { /* equal outputs */
            continue;
        }
        char asked[16], text[16];
        snprintf(asked, sizeof asked, "%d", (int)p);
        snprintf(text, sizeof text, "%g", lambda);
        CHECK_OK(fit_with(NULL, &t, "rank-output", asked, text, &bag));
        CHECK_OK(weigh(&t, bag, W));
        naive_identity(&t, lambda, B);
        naive_weights(&t, B, false, U);
        for (okra_int r = 0; r < t.m; r++) {
            double a[N] = {0}, want[N], sum = 0;
            along(&t, E, p, U + r * n, a);
            for (okra_int i = 0; i < n; i++) {
                want[i] = 0;
                for (okra_int j = 0; j < p; j++) {
                    want[i] += E[i * n + j] * a[j];
                }
                sum += want[i];
            }
            for (okra_int i = 0; i < n; i++) {
                want[i] += (1 - sum) / (double)n;
            }
            CHECK_NEAR(apart(&t, W + r * n, want), 0, 1e-16);
        }
        okra_bag_free_(bag);
    }
}

TEST(all_directions_of_fitted_outputs_are_centred_ridge)
{
    for (int c = 0; c < 150; c++) {
        toy t = make_toy(c % SHAPES, 1 + c % N, (uint64_t)c, false);
        okra_bag_ *bag = NULL;
        double W[M * N], B[N * N], want[M * N];
        CHECK_OK(fit_with(NULL, &t, "rank-output", "all", "0.3", &bag));
        CHECK_OK(weigh(&t, bag, W));
        naive_identity(&t, 0.3, B);
        naive_weights(&t, B, true, want);
        for (okra_int r = 0; r < t.m; r++) {
            CHECK_NEAR(apart(&t, W + r * t.n, want + r * t.n), 0, 1e-14);
        }
        okra_bag_free_(bag);
    }
}

/* Squared error at x_i of ridge without pair i, projected on p directions. */
static double left_out(const toy *t, double lambda, const double *E, okra_int p,
                       okra_int i)
{
    okra_int n = t->n, m = 0, keep[N];
    double G[N * N], k[N], w[N] = {0}, own[N] = {0}, a[N] = {0}, s[N] = {0}, sum = 0;
    for (okra_int j = 0; j < n; j++) {
        if (j != i) {
            keep[m++] = j;
        }
    }
    for (okra_int j = 0; j < m; j++) {
        k[j] = t->K[keep[j] * n + i];
        for (okra_int l = 0; l < m; l++) {
            G[j * m + l] = t->K[keep[j] * n + keep[l]] + (j == l ? lambda : 0);
        }
    }
    eliminate(m, G, 1, k);
    for (okra_int j = 0; j < m; j++) {
        w[keep[j]] = k[j];
    }
    own[i] = 1;
    along(t, E, p, w, a);
    along(t, E, p, own, s);
    for (okra_int j = 0; j < p; j++) {
        sum += (s[j] - a[j]) * (s[j] - a[j]) - s[j] * s[j];
    }
    return sum;
}

TEST(auto_rank_is_the_best_of_leave_one_out)
{
    int inner_ones = 0;
    for (int c = 0; c < 120; c++) {
        toy t = make_toy(c % SHAPES, 3 + c % (N - 2), (uint64_t)c, c % 2 == 0);
        double E[N * N], errors[N + 1] = {0}, least = INFINITY, found = 0;
        okra_int rank = naive_directions(&t, 0.2, E);
        okra_bag_ *bag = NULL;
        CHECK_OK(fit_with(NULL, &t, "rank-output", "auto", "0.2", &bag));
        CHECK(okra_bag_get_number_(bag, "rank-output", &found));
        for (okra_int p = 1; p <= rank; p++) {
            for (okra_int i = 0; i < t.n; i++) {
                errors[p] += left_out(&t, 0.2, E, p, i);
            }
            least = fmin(least, errors[p]);
        }
        CHECK(found >= (double)(rank > 0) && found <= (double)N);
        if (rank > 0 && found <= (double)rank) {
            CHECK_NEAR(errors[(int)found], least, 1e-9);
        }
        inner_ones += found < (double)rank;
        okra_bag_free_(bag);
    }
    CHECK(inner_ones > 20); /* the choice is one */
}

TEST(failures)
{
    toy t = make_toy(RANDOM, N, 1, false);
    okra_bag_ *bag = NULL;
    static const char *const bad[] = {"0", "-1", "2.5", "nan", "many", "3x", ""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_FAILS(fit(NULL, &t, bad[i], "0.1", &bag), OKRA_EARG,
                    "expected a whole number, a share");
    }
    CHECK_FAILS(fit_with(NULL, &t, "rank-output", "some", "0.1", &bag), OKRA_EARG,
                "rank-output is 'some', expected a whole number");
    CHECK_ALLOCATIONS(fit_with(NULL, &t, "rank-output", "auto", "0.1", &bag),
                      okra_bag_free_(bag));
    CHECK_OK(fit(NULL, &t, "3", "0.1", &bag));
    toy small = make_toy(RANDOM, N - 1, 1, false);
    double W[M * N];
    CHECK_FAILS(weigh(&small, bag, W), OKRA_EFORMAT, "do not fit 8");
    okra_bag_free_(bag);
    CHECK_ALLOCATIONS(fit(NULL, &t, "3", "0.1", &bag), okra_bag_free_(bag));
    CHECK_OK(fit(NULL, &t, "3", "0.1", &bag));
    CHECK_ALLOCATIONS(weigh(&t, bag, W), (void)0);
    okra_bag_free_(bag);
}

MAIN(RUN(all_components_are_centred_ridge), RUN(one_component_is_a_projection),
     RUN(components_give_coordinates_of_objects), RUN(share_keeps_the_least_number),
     RUN(more_components_than_the_rank), RUN(equal_outputs_give_their_mean),
     RUN(offset_of_outputs_is_the_mean),
     RUN(rank_projects_on_directions_of_fitted_outputs),
     RUN(all_directions_of_fitted_outputs_are_centred_ridge),
     RUN(auto_rank_is_the_best_of_leave_one_out), RUN(failures))
