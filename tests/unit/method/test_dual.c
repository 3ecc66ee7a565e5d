/*
 * The dual of losses of a distance at a size where descent by blocks alone does not
 * arrive: the duality gap from plain sums, and Newton's step at and near the solution.
 */
#include "method/margin/margin.h"

#include "harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 300, Q = 3 };

/* S = K / lambda of a Gaussian kernel on random points; outputs with outliers. */
static void make(uint64_t seed, okra_int n, double lambda, double *S, double *Y)
{
    okra_random_ r = okra_random_create_(seed, 3);
    double *x = malloc((size_t)(n * 4) * sizeof *x);
    harness_normals(&r, n * 4, x);
    harness_normals(&r, n * Q, Y);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int k = 0; k < n; k++) {
            double d2 = 0;
            for (int j = 0; j < 4; j++) {
                d2 += (x[i * 4 + j] - x[k * 4 + j]) * (x[i * 4 + j] - x[k * 4 + j]);
            }
            S[i * n + k] = exp(-d2 / 8) / lambda;
        }
        for (int j = 0; j < Q; j++) {
            Y[i * Q + j] = sin((j + 1) * x[i * 4]) + (i % 5 ? 0.1 : 1.5) * Y[i * Q + j];
        }
    }
    free(x);
}

/* P - D from the definitions; *longest: the longest alpha_i. */
static double naive_gap(const okra_dual_ *d, const double *alpha, double *dual,
                        double *longest)
{
    double P = 0, D = 0;
    *longest = 0;
    for (okra_int i = 0; i < d->n; i++) {
        double r2 = 0, a2 = 0, ah = 0, ay = 0;
        for (okra_int j = 0; j < d->q; j++) {
            double a = alpha[i * d->q + j], y = d->Y[i * d->q + j], h = 0;
            for (okra_int k = 0; k < d->n; k++) {
                h += (d->g ? d->g[j] : 1) * d->S[0][i * d->n + k] * alpha[k * d->q + j] /
                     2;
            }
            r2 += (y - h) * (y - h);
            a2 += a * a;
            ah += a * h;
            ay += a * y;
        }
        double r = sqrt(r2), w = d->width;
        bool huber = d->loss == OKRA_LOSS_HUBER_;
        P += ah / 2 + (huber ? r < w ? r2 : 2 * w * r - w * w : r > w ? r - w : 0);
        D += ay - ah / 2 - (huber ? a2 / 4 : w * sqrt(a2));
        *longest = fmax(*longest, sqrt(a2));
    }
    *dual = D;
    return P - D;
}

typedef struct set {
    double S[N * N], Y[N * Q], alpha[N * Q], H[N * Q], step[N * Q];
    const double *forms[1];
} set;

static okra_dual_ dual_of(set *s, okra_int n, okra_loss_ loss, double width)
{
    s->forms[0] = s->S;
    memset(s->alpha, 0, sizeof s->alpha);
    return (okra_dual_){n, Q, s->Y, NULL, s->forms, 1, loss, width, 1e-8, 0, NULL};
}

TEST(the_gap_closes_where_sweeps_are_slow)
{
    static const struct {
        okra_loss_ loss;
        double width, lambda;
    } cases[] = {{OKRA_LOSS_HUBER_, 1, 0.1},    {OKRA_LOSS_HUBER_, 0.1, 0.01},
                 {OKRA_LOSS_TUBE_, 0.1, 0.1},   {OKRA_LOSS_TUBE_, 0.3, 0.1},
                 {OKRA_LOSS_TUBE_, 0.05, 0.01}, {OKRA_LOSS_TUBE_, 0, 0.1}};
    const double g[Q] = {2, 0.5, 0};
    set *s = malloc(sizeof *s);
    for (size_t c = 0; c < 2 * sizeof cases / sizeof *cases; c++) {
        size_t k = c % 6;
        okra_int n = c >= 6 ? 60 : k < 3 ? N : 100; /* 60: with an operator */
        okra_dual_report_ report = {0};
        double longest, value;
        make(c, n, cases[k].lambda, s->S, s->Y);
        okra_dual_ d = dual_of(s, n, cases[k].loss, cases[k].width);
        d.g = c < 6 ? NULL : g;
        CHECK_OK(okra_dual_solve_(NULL, &d, s->alpha, s->H, &report));
        double gap = naive_gap(&d, s->alpha, &value, &longest);
        CHECK(report.converged);
        CHECK(gap <= 1.01e-8 * fmax(1, value)); /* the sums differ by rounding */
        CHECK_NEAR(report.dual, value, 1e-10 * value);
        CHECK(longest <= (d.loss == OKRA_LOSS_HUBER_ ? 2 * d.width : 1) * (1 + 1e-12));
    }
    free(s);
}

/* From a lambda that leaves no loss to one that leaves all: the gap is small beside the
 * value, whatever that is, or beside rounding of the outputs. */
TEST(converged_means_so_at_every_lambda)
{
    set *s = malloc(sizeof *s);
    double worst = 0, least = INFINITY;
    for (int c = 0; c < 16 * 4; c++) {
        okra_int n = 40;
        okra_dual_report_ report = {0};
        double longest, value, size = 0;
        make((uint64_t)c % 4, n, pow(10, (int)(c / 4) - 12), s->S, s->Y);
        okra_dual_ d = dual_of(s, n, c % 2 ? OKRA_LOSS_HUBER_ : OKRA_LOSS_TUBE_,
                               c % 4 < 2 ? 0.5 : 0);
        d.width = c % 4 == 3 ? 2 : d.width;
        CHECK_OK(okra_dual_solve_(NULL, &d, s->alpha, s->H, &report));
        double gap = naive_gap(&d, s->alpha, &value, &longest);
        for (okra_int i = 0; i < n * Q; i++) {
            size += fabs(s->Y[i]);
        }
        CHECK(report.converged && report.gap <= report.goal);
        worst = fmax(worst, gap / (1e-8 * value + 1e-12 * size));
        least = fmin(least, value);
    }
    printf("  worst gap %.2g of what is allowed, least value %.2g\n", worst, least);
    CHECK(worst <= 1.01 && least < 1e-8);
    free(s);
}

TEST(newton_stays_at_the_solution_and_squares_the_error)
{
    okra_dual_newton_ *newton = NULL;
    set *s = malloc(sizeof *s);
    CHECK_OK(okra_dual_newton_create_(NULL, 40, Q, &newton));
    for (int k = 0; k < 4; k++) {
        okra_dual_report_ report = {0};
        double error[2] = {0, 0}, solution[40 * Q];
        bool found = false;
        make(20 + (uint64_t)k, 40, 0.1, s->S, s->Y);
        okra_dual_ d =
            dual_of(s, 40, k % 2 ? OKRA_LOSS_HUBER_ : OKRA_LOSS_TUBE_, k < 2 ? 0.2 : 0.4);
        d.tolerance = 1e-14;
        CHECK_OK(okra_dual_solve_(NULL, &d, s->alpha, s->H, &report));
        memcpy(solution, s->alpha, sizeof solution);
        CHECK_OK(
            okra_dual_newton_step_(NULL, newton, &d, s->alpha, s->H, s->step, &found));
        CHECK(found);
        for (int i = 0; i < 40 * Q; i++) {
            CHECK_NEAR(s->step[i], 0, 5e-7); /* worst 5.3e-8 */
            s->alpha[i] *= 1 + 1e-4 * sin(i);
            error[0] = fmax(error[0], fabs(s->alpha[i] - solution[i]));
        }
        CHECK_OK(okra_dual_measure_(NULL, &d, s->alpha, s->H, &report));
        CHECK_OK(
            okra_dual_newton_step_(NULL, newton, &d, s->alpha, s->H, s->step, &found));
        for (int i = 0; i < 40 * Q; i++) {
            error[1] = fmax(error[1], fabs(s->alpha[i] + s->step[i] - solution[i]));
        }
        CHECK(found && error[1] < 0.02 * error[0]); /* worst 0.0024 */
    }
    okra_dual_newton_free_(newton);
    free(s);
}

TEST(no_step_from_a_system_that_has_no_solution)
{
    okra_dual_newton_ *newton = NULL;
    set *s = malloc(sizeof *s);
    bool found = true;
    make(1, 5, 0.1, s->S, s->Y);
    okra_dual_ d = dual_of(s, 5, OKRA_LOSS_HUBER_, 1);
    for (okra_int i = 0; i < 25; i++) {
        s->S[i] = i % 6 == 0 ? -1000 : 0; /* not positive semi-definite */
    }
    memset(s->H, 0, sizeof s->H);
    CHECK_OK(okra_dual_newton_create_(NULL, 5, Q, &newton));
    CHECK_OK(okra_dual_newton_step_(NULL, newton, &d, s->alpha, s->H, s->step, &found));
    CHECK(!found);
    okra_dual_newton_free_(newton);
    free(s);
}

/* Block after block with H from sums written out, against a sweep, which lets H follow in
 * groups: one form for all coordinates, and one for each. */
TEST(sweeps_are_block_after_block)
{
    static double S[Q][N * N], Y[N * Q];
    static const okra_int sizes[] = {1, OKRA_DUAL_GROUP_, 150};
    for (int c = 0; c < 12; c++) {
        static double alpha[N * Q], H[N * Q], want[N * Q], naive[N * Q],
            step[OKRA_DUAL_GROUP_ * Q];
        static const double g[Q] = {2, 0.5, 0};
        okra_int n = sizes[c % 3];
        double v[Q] = {0}, D[Q] = {0}, rho = 0;
        for (int j = 0; j < Q; j++) {
            make((uint64_t)(c + j), n, 0.1 * (j + 1), S[j], Y);
        }
        const double *const forms[] = {S[0], S[1], S[2]};
        okra_dual_ d = {.n = n,
                        .q = Q,
                        .Y = Y,
                        .g = c % 2 ? g : NULL,
                        .S = forms,
                        .count = c < 6 ? 1 : Q,
                        .loss = c % 4 < 2 ? OKRA_LOSS_TUBE_ : OKRA_LOSS_HUBER_,
                        .width = 0.3,
                        .ridge = c % 3 ? 0.2 : 0};
        memset(alpha, 0, sizeof alpha);
        memset(H, 0, sizeof H);
        memset(want, 0, sizeof want);
        memset(naive, 0, sizeof naive);
        CHECK_OK(okra_dual_sweep_(NULL, &d, alpha, H, v, D, step));
        for (okra_int i = 0; i <= n; i++) {
            for (okra_int k = 0; k < n * Q; k++) {
                okra_int j = k % Q;
                naive[k] = d.ridge * want[k];
                for (okra_int l = 0; l < i; l++) {
                    naive[k] += (d.g ? g[j] : 1) *
                                forms[d.count == 1 ? 0 : j][l * n + k / Q] *
                                want[l * Q + j] / 2;
                }
            }
            if (i < n) {
                okra_dual_shrinkage_(&d, want, naive, i, v, D, &rho);
            }
            for (okra_int j = 0; i < n && j < Q; j++) {
                want[i * Q + j] = isinf(rho) ? 0 : v[j] / (D[j] + rho);
            }
        }
        CHECK_NEAR(harness_relative(n * Q, alpha, want), 0, 1e-12);
        CHECK_NEAR(harness_relative(n * Q, H, naive), 0, 1e-12);
    }
}

int main(void)
{
    const harness_test tests[] = {RUN(the_gap_closes_where_sweeps_are_slow),
                                  RUN(sweeps_are_block_after_block),
                                  RUN(converged_means_so_at_every_lambda),
                                  RUN(newton_stays_at_the_solution_and_squares_the_error),
                                  RUN(no_step_from_a_system_that_has_no_solution)};
    return harness_main(tests, sizeof tests / sizeof *tests);
}
