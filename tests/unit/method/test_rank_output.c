/*
 * The option rank-output of kernel PCA regression, against directions of the fitted
 * outputs found by Jacobi rotations.
 */
#include "kpca.h"

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
        okra_store_ *store = NULL;
        if (p == 0) { /* equal outputs */
            continue;
        }
        char asked[16], text[16];
        snprintf(asked, sizeof asked, "%d", (int)p);
        snprintf(text, sizeof text, "%g", lambda);
        CHECK_OK(fit_with(NULL, &t, "rank-output", asked, text, &store));
        CHECK_OK(weigh(&t, store, W));
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
        okra_store_free_(store);
    }
}

TEST(all_directions_of_fitted_outputs_are_centred_ridge)
{
    for (int c = 0; c < 150; c++) {
        toy t = make_toy(c % SHAPES, 1 + c % N, (uint64_t)c, false);
        okra_store_ *store = NULL;
        double W[M * N], B[N * N], want[M * N];
        CHECK_OK(fit_with(NULL, &t, "rank-output", "all", "0.3", &store));
        CHECK_OK(weigh(&t, store, W));
        naive_identity(&t, 0.3, B);
        naive_weights(&t, B, true, want);
        for (okra_int r = 0; r < t.m; r++) {
            CHECK_NEAR(apart(&t, W + r * t.n, want + r * t.n), 0, 1e-14);
        }
        okra_store_free_(store);
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
        okra_store_ *store = NULL;
        CHECK_OK(fit_with(NULL, &t, "rank-output", "auto", "0.2", &store));
        CHECK(okra_store_get_number_(store, "rank-output", &found));
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
        okra_store_free_(store);
    }
    CHECK(inner_ones > 20); /* the choice is one */
}

TEST(failures)
{
    toy t = make_toy(RANDOM, N, 1, false);
    okra_store_ *store = NULL;
    CHECK_FAILS(fit_with(NULL, &t, "rank-output", "some", "0.1", &store), OKRA_EARG,
                "rank-output is 'some', expected a whole number");
    CHECK_ALLOCATIONS(fit_with(NULL, &t, "rank-output", "auto", "0.1", &store),
                      okra_store_free_(store));
}

MAIN(RUN(rank_projects_on_directions_of_fitted_outputs),
     RUN(all_directions_of_fitted_outputs_are_centred_ridge),
     RUN(auto_rank_is_the_best_of_leave_one_out), RUN(failures))
