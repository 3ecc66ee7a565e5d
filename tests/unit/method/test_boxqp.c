/*
 * test_boxqp.c: the margin solver against its optimality conditions and brute force.
 */
#include "harness.h"

#include "method/margin/margin.h"

enum { N_MOST = 160 };
#define ROUNDING 1e-14 /* of one loss */

/* Q = s (A A') o (B B') for random A (n x r), B (n x q): PSD, of limited rank. */
static void random_form(okra_random_ *r, okra_int n, okra_int rank, double scale,
                        double *Q)
{
    double *A = okra_alloc_(n * rank, sizeof *A);
    harness_normals(r, n * rank, A);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            double dot = 0, distance = 0;
            for (okra_int k = 0; k < rank; k++) {
                double e = A[i * rank + k] - A[j * rank + k];
                dot += A[i * rank + k] * A[j * rank + k];
                distance += e * e;
            }
            Q[i * n + j] = scale * exp(-distance / (double)(8 * rank)) *
                           (1 + dot * dot / (double)(rank * rank));
        }
    }
    okra_free_(A);
}

/* The worst violation of: g_i >= 1 where a_i = 0, g_i <= 1 where a_i = 1, g_i = 1 inside.
 */
static double kkt(okra_int n, const double *Q, const double *a)
{
    double worst = 0;
    for (okra_int i = 0; i < n; i++) {
        double slope = -1;
        for (okra_int j = 0; j < n; j++) {
            slope += Q[i * n + j] * a[j];
        }
        double v = a[i] <= 0 ? fmax(0, -slope) : a[i] >= 1 ? fmax(0, slope) : fabs(slope);
        worst = fmax(worst, v);
    }
    return worst;
}

TEST(optimality)
{
    static const okra_int sizes[] = {1, 2, 3, 17, 64, N_MOST};
    static const double scales[] = {1e-3, 0.1, 1, 30, 1e3};
    static double Q[N_MOST * N_MOST], a[N_MOST];
    double worst = 0, worst_gap = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        for (size_t k = 0; k < 6; k++) {
            for (size_t s = 0; s < 5; s++) {
                okra_random_ r = okra_random_create_(seed, k);
                okra_int n = sizes[k];
                random_form(&r, n, 1 + (okra_int)(seed % 5), scales[s], Q);
                okra_boxqp_report_ report;
                memset(a, 0, sizeof a);
                CHECK_OK(okra_boxqp_bounded_(NULL, okra_mat_of_(Q, n, n), NULL, 1e-9, a,
                                             &report));
                CHECK(report.converged);
                worst = fmax(worst, kkt(n, Q, a));
                worst_gap = fmax(worst_gap, report.gap);
                CHECK(report.gap > -1e-9);
            }
        }
    }
    printf("  worst KKT violation %.2g, worst gap %.2g\n", worst, worst_gap);
    CHECK(worst < 1e-8);     /* measured: 9e-10 */
    CHECK(worst_gap < 1e-8); /* measured: 9e-10 */
}

/* Stopped early, the gap that is reported is that of the point returned, and what was
 * asked for. */
TEST(the_gap_is_true)
{
    static double Q[N_MOST * N_MOST], a[N_MOST];
    double most = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        okra_random_ r = okra_random_create_(seed, 4);
        okra_int n = 64;
        double primal = 0, dual = 0;
        okra_boxqp_report_ report;
        random_form(&r, n, 3, 0.1, Q);
        memset(a, 0, sizeof a);
        CHECK_OK(
            okra_boxqp_bounded_(NULL, okra_mat_of_(Q, n, n), NULL, 1e-2, a, &report));
        for (okra_int i = 0; i < n; i++) {
            double g = 0;
            for (okra_int j = 0; j < n; j++) {
                g += Q[i * n + j] * a[j];
            }
            primal += fmax(0, 1 - g) + a[i] * g / 2;
            dual += a[i] - a[i] * g / 2;
        }
        CHECK_NEAR(report.dual, dual, 1e-12 * fabs(dual));
        CHECK_NEAR(report.gap, primal - dual, 5e-14); /* worst: 4.4e-15 */
        CHECK(report.converged && report.gap <= 1e-2 * fmax(1, dual));
        most = fmax(most, report.gap);
    }
    CHECK(most > 1e-6); /* or nothing was tried */
}

/* Q / lambda from a lambda that leaves no loss (a best value of 1e-11) to one that
 * leaves all: the gap, in long double, is small beside the value or beside rounding. */
TEST(converged_means_so_at_every_lambda)
{
    static double Q[N_MOST * N_MOST], a[N_MOST];
    double least = INFINITY, worst = 0;
    for (int c = 0; c < 16 * 8; c++) {
        okra_random_ r = okra_random_create_((uint64_t)c % 8, 5);
        okra_int n = 40;
        okra_boxqp_report_ report;
        long double gap = 0, dual = 0;
        random_form(&r, n, 4, pow(10, 12 - (int)(c / 8)), Q);
        memset(a, 0, sizeof a);
        CHECK_OK(
            okra_boxqp_bounded_(NULL, okra_mat_of_(Q, n, n), NULL, 1e-8, a, &report));
        for (okra_int i = 0; i < n; i++) {
            long double g = 0;
            for (okra_int j = 0; j < n; j++) {
                g += (long double)Q[i * n + j] * a[j];
            }
            gap += fmaxl(0, 1 - g) + a[i] * g - a[i];
            dual += a[i] - a[i] * g / 2;
        }
        CHECK(report.converged && report.gap <= report.goal);
        double allowed = 1e-8 * (double)dual + ROUNDING * (double)n;
        worst = fmax(worst, (double)gap / allowed);
        least = fmin(least, (double)dual);
    }
    printf("  worst gap %.2g of what is allowed, least value %.2g\n", worst, least);
    CHECK(worst <= 1.01 && least < 1e-9);
}

/* Two variables: the optimum is on a fine grid, or between grid points no better. */
TEST(grid_search)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        okra_random_ r = okra_random_create_(seed, 9);
        double Q[4], a[2] = {0.5, 0.5}, best = INFINITY;
        random_form(&r, 2, 2, exp(okra_random_normal_(&r)), Q);
        for (int i = 0; i <= 400; i++) {
            for (int j = 0; j <= 400; j++) {
                double u = i / 400.0, v = j / 400.0;
                best = fmin(best,
                            (Q[0] * u * u + 2 * Q[1] * u * v + Q[3] * v * v) / 2 - u - v);
            }
        }
        okra_boxqp_report_ report;
        CHECK_OK(
            okra_boxqp_bounded_(NULL, okra_mat_of_(Q, 2, 2), NULL, 1e-10, a, &report));
        CHECK(-report.dual <= best + 1e-9);
        /* f changes by at most |slope| * step over half a grid step */
        CHECK(-report.dual >= best - (fabs(Q[0]) + fabs(Q[1]) + fabs(Q[3]) + 2) / 400);
    }
}

TEST(zero_and_linear)
{
    double Q[4] = {0, 0, 0, 0}, a[2] = {0, 0.3};
    okra_boxqp_report_ report;
    CHECK_OK(okra_boxqp_bounded_(NULL, okra_mat_of_(Q, 2, 2), NULL, 1e-10, a, &report));
    CHECK(a[0] == 1 && a[1] == 1 && report.converged);
    CHECK_OK(okra_boxqp_bounded_(NULL, okra_mat_of_(Q, 0, 0), NULL, 1e-10, a, &report));
    CHECK(report.converged && report.dual == 0);
}

TEST(warm_start_is_no_slower)
{
    static double Q[N_MOST * N_MOST], a[N_MOST];
    okra_random_ r = okra_random_create_(3, 1);
    random_form(&r, N_MOST, 3, 1, Q);
    okra_boxqp_report_ cold, warm;
    memset(a, 0, sizeof a);
    CHECK_OK(
        okra_boxqp_bounded_(NULL, okra_mat_of_(Q, N_MOST, N_MOST), NULL, 1e-9, a, &cold));
    CHECK_OK(
        okra_boxqp_bounded_(NULL, okra_mat_of_(Q, N_MOST, N_MOST), NULL, 1e-9, a, &warm));
    CHECK(warm.steps == 0 && warm.converged && cold.steps > 0);
    CHECK_NEAR(warm.dual, cold.dual, 1e-12 * fabs(cold.dual));
}

static okra_status solve_small(void)
{
    double Q[9] = {2, 1, 0.5, 1, 3, 1, 0.5, 1, 2}, a[3] = {0.1, 0.1, 0.1};
    okra_boxqp_report_ report;
    return okra_boxqp_bounded_(NULL, okra_mat_of_(Q, 3, 3), NULL, 1e-12, a, &report);
}

TEST(failing_allocations)
{
    CHECK_ALLOCATIONS(solve_small(), (void)0);
}

MAIN(RUN(optimality), RUN(the_gap_is_true), RUN(converged_means_so_at_every_lambda),
     RUN(grid_search), RUN(zero_and_linear), RUN(warm_start_is_no_slower),
     RUN(failing_allocations))
