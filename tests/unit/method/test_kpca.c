/*
 * Kernel PCA regression: against centred ridge when nothing is left out, and against a
 * projection found by power iteration when one component is kept.
 */
#include "kpca.h"

static okra_status fit(okra_context *ctx, const toy *t, const char *components,
                       const char *lambda, okra_store_ **out)
{
    return fit_with(ctx, t, "components", components, lambda, out);
}

TEST(all_components_are_centred_ridge)
{
    for (int c = 0; c < 150; c++) {
        toy t = make_toy(c % SHAPES, 1 + c % N, (uint64_t)c, false);
        okra_store_ *store = NULL;
        double W[M * N], B[N * N], want[M * N];
        CHECK_OK(fit(NULL, &t, "all", "0.3", &store));
        CHECK_OK(weigh(&t, store, W));
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
        okra_store_free_(store);
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
        okra_store_ *store = NULL;
        double W[M * N], B[N * N], U[M * N], Lc[N * N], v[N];
        CHECK_OK(fit(NULL, &t, "1", "0.1", &store));
        CHECK_OK(weigh(&t, store, W));
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
        okra_store_free_(store);
    }
}

TEST(components_give_coordinates_of_objects)
{
    for (uint64_t seed = 0; seed < 30; seed++) {
        toy t = make_toy(RANDOM, N, seed, false);
        okra_store_ *store = NULL;
        okra_components_ c;
        CHECK_OK(fit(NULL, &t, "4", "0.1", &store));
        CHECK_OK(kpca()->compares->components(store, t.n, &c));
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
        okra_store_free_(store);
    }
}

TEST(share_keeps_the_least_number)
{
    toy t = make_toy(RANDOM, N, 3, false);
    okra_store_ *store = NULL, *all = NULL;
    okra_components_ c, every;
    CHECK_OK(fit(NULL, &t, "0.7", "0.1", &store));
    CHECK_OK(fit(NULL, &t, "all", "0.1", &all));
    CHECK_OK(kpca()->compares->components(store, t.n, &c));
    CHECK_OK(kpca()->compares->components(all, t.n, &every));
    double total = 0, kept = 0;
    for (okra_int j = 0; j < every.p; j++) {
        total += every.variances[j];
        kept += j < c.p ? every.variances[j] : 0;
    }
    CHECK(every.p == N - 1);
    CHECK(c.p > 0 && c.p < every.p);
    CHECK(kept >= 0.7 * total && kept - c.variances[c.p - 1] < 0.7 * total);
    okra_store_free_(store);
    okra_store_free_(all);
}

static void heard(void *user, const char *text)
{
    snprintf(user, 300, "%s", text);
}

TEST(more_components_than_the_rank)
{
    toy t = make_toy(RANK_DEFICIENT, N, 5, true); /* L = Y Y' of rank D */
    okra_context *ctx = NULL;
    okra_store_ *store = NULL, *all = NULL;
    double W[M * N], want[M * N];
    char said[300] = "";
    CHECK_OK(okra_context_create(&ctx));
    okra_context_set_warning(ctx, heard, said);
    CHECK_OK(fit(ctx, &t, "1000000", "0.1", &store));
    CHECK(strstr(said, "1000000 components are asked for") && strstr(said, "rank 3"));
    CHECK_OK(fit(NULL, &t, "all", "0.1", &all));
    CHECK_OK(weigh(&t, store, W));
    CHECK_OK(weigh(&t, all, want));
    CHECK(memcmp(W, want, sizeof(double) * (size_t)(t.m * t.n)) == 0);
    okra_store_free_(store);
    okra_store_free_(all);
    okra_context_free(ctx);
}

TEST(equal_outputs_give_their_mean)
{
    toy t = make_toy(RANDOM, 6, 1, false);
    okra_store_ *store = NULL;
    double W[M * N];
    for (okra_int i = 0; i < t.n * t.n; i++) {
        t.L[i] = 1;
    }
    CHECK_OK(fit(NULL, &t, "all", "0.1", &store));
    CHECK_OK(weigh(&t, store, W));
    for (okra_int i = 0; i < t.m * t.n; i++) {
        CHECK(W[i] == 1.0 / 6);
    }
    okra_store_free_(store);
}

/* Numbers far from 0: one direction, no rounding of the others, the mean counted once. */
TEST(offset_of_outputs_is_the_mean)
{
    for (int c = 0; c < 60; c++) {
        double offset = pow(10, c % 6);
        toy t = make_toy(RANDOM, 2 + c % (N - 1), (uint64_t)c, false);
        okra_store_ *store = NULL;
        okra_components_ parts;
        double W[M * N] = {0}, B[N * N], want[M * N], y[N];
        for (okra_int i = 0; i < t.n; i++) {
            y[i] = offset + t.Y[i * LD];
        }
        for (okra_int i = 0; i < t.n * t.n; i++) {
            t.L[i] = y[i / t.n] * y[i % t.n];
        }
        CHECK_OK(fit(NULL, &t, "all", "0.3", &store));
        CHECK_OK(kpca()->compares->components(store, t.n, &parts));
        CHECK(parts.p == 1);
        CHECK_OK(weigh(&t, store, W));
        naive_identity(&t, 0.3, B);
        naive_weights(&t, B, true, want);
        for (okra_int r = 0; r < t.m; r++) {
            CHECK_NEAR(inner(t.n, W + r * t.n, y), inner(t.n, want + r * t.n, y),
                       1e-6 * offset);
        }
        okra_store_free_(store);
    }
}

TEST(failures)
{
    toy t = make_toy(RANDOM, N, 1, false);
    okra_store_ *store = NULL;
    static const char *const bad[] = {"0", "-1", "2.5", "nan", "many", "3x", ""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_FAILS(fit(NULL, &t, bad[i], "0.1", &store), OKRA_EARG,
                    "expected a whole number, a share");
    }
    CHECK_OK(fit(NULL, &t, "3", "0.1", &store));
    double W[M * N];
    okra_store_free_(store);
    CHECK_ALLOCATIONS(fit(NULL, &t, "3", "0.1", &store), okra_store_free_(store));
    CHECK_OK(fit(NULL, &t, "3", "0.1", &store));
    CHECK_ALLOCATIONS(weigh(&t, store, W), (void)0);
    okra_store_free_(store);
}

MAIN(RUN(all_components_are_centred_ridge), RUN(one_component_is_a_projection),
     RUN(components_give_coordinates_of_objects), RUN(share_keeps_the_least_number),
     RUN(more_components_than_the_rank), RUN(equal_outputs_give_their_mean),
     RUN(offset_of_outputs_is_the_mean), RUN(failures))
