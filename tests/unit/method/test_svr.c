/*
 * test_svr.c: support vector regression by its optimality conditions.
 */
#include "harness.h"

#include "method/svr.h"

enum { N = 30, D = 4 };

static void problem(uint64_t seed, double *K, double *y)
{
    double x[N * D];
    okra_random_ r = okra_random_create_(seed, 0);
    harness_normals(&r, N * D, x);
    harness_normals(&r, N, y);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < D; k++) {
                s += (x[i * D + k] - x[j * D + k]) * (x[i * D + k] - x[j * D + k]);
            }
            K[i * N + j] = exp(-0.2 * s);
        }
    }
}

/* Every condition in words of residuals r = y - Kb. */
TEST(optimality)
{
    static const double boxes[] = {0.1, 1, 100}, tubes[] = {0, 0.1, 0.5};
    for (uint64_t seed = 0; seed < 5; seed++) {
        for (int c = 0; c < 9; c++) {
            double K[N * N], y[N], b[N], violation;
            okra_svr_ s = {boxes[c / 3], tubes[c % 3], 1e-9, 200000};
            problem(seed, K, y);
            CHECK_OK(okra_svr_solve_(NULL, &s, okra_mat_of_(K, N, N), y, b, &violation));
            CHECK(violation <= 1e-9);
            for (int i = 0; i < N; i++) {
                double r = y[i] - okra_dot_(N, K + i * N, b), slack = 1e-8;
                CHECK(fabs(b[i]) <= s.box);
                if (fabs(b[i]) == s.box) { /* outside the tube, on the side of b */
                    CHECK(r * (b[i] > 0 ? 1 : -1) >= s.tube - slack);
                } else if (b[i] != 0) { /* on its edge */
                    CHECK_NEAR(r, b[i] > 0 ? s.tube : -s.tube, slack);
                } else {
                    CHECK(fabs(r) <= s.tube + slack);
                }
            }
        }
    }
}

TEST(degenerate)
{
    double K[4] = {0, 0, 0, 2}, y[2] = {1, 3}, b[2], violation;
    okra_svr_ s = {10, 1, 1e-12, 10};
    CHECK_OK(okra_svr_solve_(NULL, &s, okra_mat_of_(K, 2, 2), y, b, &violation));
    CHECK(b[0] == 0); /* a row of zeros tells nothing */
    CHECK_NEAR(b[1], 1, 1e-15);
    s.tube = 5;
    CHECK_OK(okra_svr_solve_(NULL, &s, okra_mat_of_(K, 2, 2), y, b, &violation));
    CHECK(b[0] == 0 && b[1] == 0 && violation == 0);
    CHECK_OK(okra_svr_solve_(NULL, &s, okra_mat_of_(K, 0, 0), y, b, &violation));
    s = (okra_svr_){10, 0, 1e-12, 0};
    CHECK_OK(okra_svr_solve_(NULL, &s, okra_mat_of_(K, 2, 2), y, b, &violation));
    double full[N * N], t[N], c[N];
    problem(1, full, t);
    s = (okra_svr_){100, 0, 1e-12, 1}; /* one pass is not enough, and it says so */
    CHECK_OK(okra_svr_solve_(NULL, &s, okra_mat_of_(full, N, N), t, c, &violation));
    CHECK(violation > 1e-3);
    CHECK_ALLOCATIONS(
        okra_svr_solve_(NULL, &s, okra_mat_of_(full, N, N), t, c, &violation), (void)0);
}

MAIN(RUN(optimality), RUN(degenerate))
