/*
 * Margin: the robust losses by the value of the primal, which no perturbation may lower,
 * and by ridge, which Huber's loss becomes.
 */
#include "margin.h"

/* Huber with a large delta is ridge, also without explicit features. */
TEST(huber_becomes_ridge)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        toy t = make_toy((int)(seed % SHAPES), N, seed, seed % 2);
        double got[M * N], want[M * N];
        const char *huber[] = {"loss",      "huber", "delta", "1e6",
                               "tolerance", "1e-14", NULL};
        okra_store_ *a = NULL, *b = NULL;
        CHECK_OK(fit("margin", &t, N, false, huber, &a));
        CHECK_OK(fit("ridge", &t, N, false, NULL, &b));
        predict("margin", &t, t.Kx, M, N, a, false, N, got);
        predict("ridge", &t, t.Kx, M, N, b, false, N, want);
        CHECK_NEAR(harness_relative(M * N, got, want), 0, 1e-13); /* worst 8.3e-15 */
        okra_store_free_(a);
        okra_store_free_(b);
    }
}

/* sum L(|y_i - h(x_i)|) + lambda |h|^2 of h(x) = sum_i (B k_x)_i y_i, written out: |h|^2
 * = sum_ij L_ij (B K B')_ij. */
static double primal(const toy *t, const double *B, bool huber, double width,
                     double lambda)
{
    double KB[N * N], BKB[N * N], value = 0; /* KB = K B' */
    okra_int n = t->n;
    for (okra_int i = 0; i < n * n; i++) {
        KB[i] = inner(n, t->K + i / n * n, B + i % n * n);
    }
    times(n, n, n, B, KB, BKB);
    for (okra_int i = 0; i < n; i++) {
        double e[N], r2 = 0; /* e: coefficients of y_i - h(x_i) */
        for (okra_int j = 0; j < n; j++) {
            e[j] = (i == j) - KB[i * n + j];
        }
        for (okra_int j = 0; j < n * n; j++) {
            r2 += e[j / n] * e[j % n] * t->L[j];
        }
        double r = sqrt(fmax(r2, 0));
        value += !huber      ? fmax(0, r - width)
                 : r > width ? 2 * width * r - width * width
                             : r2;
    }
    return value + lambda * inner(n * n, t->L, BKB);
}

TEST(robust_losses_are_minimal)
{
    for (uint64_t seed = 0; seed < 2 * SEEDS; seed++) {
        bool huber = seed % 2;
        for (int s = 0; s < SHAPES; s++) {
            toy t = make_toy((int)s, seed % 5 == 0 ? 2 : N, seed, seed % 3 == 0);
            okra_int n = t.n, r = 0, c = 0;
            const char *width = seed % 4 < 2 ? "0.3" : huber ? "0.05" : "0";
            const char *pairs[] = {"loss", huber ? "huber" : "epsilon",
                                   huber ? "delta" : "tube", width, NULL};
            okra_store_ *store = NULL;
            double B[N * N], other[N * N];
            CHECK_OK(fit("margin", &t, n, false, pairs, &store));
            const double *found = okra_store_get_(store, "B", &r, &c);
            CHECK(r == n && c == n);
            memcpy(B, found, (size_t)(n * n) * sizeof *B);
            double best = primal(&t, B, huber, atof(width), 0.1);
            /* The value is what the dual says, to the gap that was reported. */
            /* Interpolated outputs: the root of a rounded 0 is 1e-8 each, seen 4e-8. */
            double noise = atof(width) == 0 ? 4e-7 : 1e-10;
            CHECK_NEAR(best, number(store, "dual"), 1e-8 * fmax(1, best) + noise);
            CHECK_NEAR(best - number(store, "dual"), number(store, "gap"), noise);
            CHECK(number(store, "converged") == 1);
            okra_random_ random = okra_random_create_(seed, 9);
            for (int k = 0; k < 20; k++) {
                for (okra_int i = 0; i < n * n; i++) {
                    other[i] =
                        B[i] + (k % 2 ? 1e-2 : 1e-4) * okra_random_normal_(&random);
                }
                CHECK(primal(&t, other, huber, atof(width), 0.1) > best - 1e-8 - noise);
            }
            okra_store_free_(store);
        }
    }
}

/* With a general operator the solution is checked by its duality gap, which margin
 * measures from scratch, and by the matrix that only mixes equal coordinates. */
TEST(robust_losses_with_a_matrix_operator)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        okra_random_ r = okra_random_create_(seed, 6);
        double root[D * D], A[D * D];
        harness_normals(&r, D * D, root);
        for (okra_int i = 0; i < D * D; i++) {
            root[i] = seed % 2 && i >= D * (D - 1) ? 0 : root[i]; /* or singular */
        }
        for (okra_int i = 0; i < D * D; i++) {
            A[i] = inner(D, root + i / D * D, root + i % D * D);
        }
        write_operator(A);
        for (int k = 0; k < 4; k++) {
            toy t = make_toy(k % 2 ? DUPLICATED : RANDOM, N, seed, true);
            const char *pairs[] = {"loss",      k < 2 ? "huber" : "epsilon",
                                   "operator",  operator_text,
                                   "tolerance", "1e-9",
                                   "lambda2",   "0.3",
                                   NULL};
            okra_store_ *store = NULL;
            CHECK_OK(fit("margin", &t, LABELLED, true, pairs, &store));
            CHECK(number(store, "converged") == 1 && number(store, "gap") > -1e-12);
            CHECK(number(store, "gap") <= 1e-9 * fmax(1, number(store, "dual")));
            okra_store_free_(store);
        }
        /* Huber with a large delta is ridge with the same operator. */
        toy t = make_toy(RANDOM, N, seed, true);
        double got[M * D], want[M * D];
        const char *huber[] = {"loss",      "huber", "delta",    "1e6",
                               "tolerance", "1e-13", "operator", operator_text,
                               "lambda2",   "0.3",   NULL};
        const char *ridge[] = {"operator", operator_text, "lambda2", "0.3", NULL};
        okra_store_ *a = NULL, *b = NULL;
        CHECK_OK(fit("margin", &t, LABELLED, true, huber, &a));
        CHECK_OK(fit("ridge", &t, LABELLED, true, ridge, &b));
        predict("margin", &t, t.Kx, M, LABELLED, a, true, D, got);
        predict("ridge", &t, t.Kx, M, LABELLED, b, true, D, want);
        CHECK_NEAR(harness_relative(M * D, got, want), 0, 7e-6); /* worst 6.6e-7 */
        okra_store_free_(a);
        okra_store_free_(b);
    }
}

int main(void)
{
    name_operator();
    const harness_test tests[] = {RUN(huber_becomes_ridge),
                                  RUN(robust_losses_are_minimal),
                                  RUN(robust_losses_with_a_matrix_operator)};
    int rc = harness_main(tests, sizeof tests / sizeof *tests);
    unlink(operator_file);
    return rc;
}
