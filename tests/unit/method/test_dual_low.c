/*
 * Losses of the distance on thin factors: the gap by primal and dual values written out
 * in full, and the method against the dense one on the same kernel of low rank.
 */
#include "low.h"
#include "method/margin/margin.h"

static double loss_of(okra_loss_ loss, double w, double r)
{
    return loss == OKRA_LOSS_TUBE_ ? fmax(0, r - w) : r <= w ? r * r : 2 * w * r - w * w;
}

static double length(const double *a)
{
    return sqrt(okra_dot_(D, a, a));
}

/* Primal value of X, dual value of alpha, from Phi. alpha'K alpha is |Phi'alpha|^2 and
 * not taken from K: with a tiny lambda it is a small rest of large terms, and the
 * rounding of K, divided by lambda, is more than the gap (8.6e-10 of 1.2e-9 at lambda =
 * 1e-8). */
static void naive_values(const task *t, const okra_dual_low_ *o, const double *alpha,
                         const double *X, double *primal, double *dual)
{
    okra_int n = t->n, m = t->in.map->rank;
    double most = o->loss == OKRA_LOSS_TUBE_ ? 1 : 2 * o->width;
    long double quadratic = 0, linear = 0;
    *primal = o->lambda * okra_dot_(m * D, X, X);
    for (okra_int i = 0; i < n; i++) {
        double r[D], size = length(alpha + i * D);
        CHECK(size <= most * (1 + 1e-14));
        for (okra_int j = 0; j < D; j++) {
            double root = o->g ? sqrt(o->g[j]) : 1, h = 0;
            for (okra_int k = 0; k < m; k++) {
                h += t->Phi[i * m + k] * X[k * D + j] * root;
            }
            r[j] = t->y[i * LD + j] - h;
            linear += (long double)alpha[i * D + j] * t->y[i * LD + j];
        }
        *primal += loss_of(o->loss, o->width, length(r));
        linear -= o->loss == OKRA_LOSS_TUBE_ ? o->width * size : size * size / 4;
    }
    for (okra_int k = 0; k < m * D; k++) {
        long double along = 0;
        for (okra_int i = 0; i < n; i++) {
            along += (long double)t->Phi[i * m + k / D] * alpha[i * D + k % D];
        }
        quadratic += (o->g ? o->g[k % D] : 1) * along * along;
    }
    *dual = (double)(linear - quadratic / (4 * o->lambda));
}

/* The gap is that of the two functions written out, so that X is within it of the least.
 * Ten times the worst over 21,600 problems, 1.7e-13. */
TEST(distances_close_the_gap)
{
    static const double lambda[] = {0.003, 0.3, 30}, widths[] = {0, 0.3, 1.5};
    static const double g[D] = {2, 0.3, 0};
    static const okra_int sizes[] = {N, 2, 1};
    for (int c = 0; c < SHAPES * KINDS * 3 * 3 * SEEDS * 2; c++) {
        task t;
        double alpha[N * D] = {0}, X[N * D] = {0}, primal, dual;
        okra_factors_ f = {0};
        okra_dual_report_ r;
        int rest = c, shape = pick(&rest, SHAPES), sort = pick(&rest, KINDS);
        double weight = lambda[pick(&rest, 3)];
        okra_int size = sizes[pick(&rest, 3)];
        okra_dual_low_ o = {c % 3 ? NULL : g, c % 2 ? OKRA_LOSS_TUBE_ : OKRA_LOSS_HUBER_,
                            widths[c / 7 % 3], weight, 1e-10};
        o.width = o.loss == OKRA_LOSS_HUBER_ ? fmax(o.width, 0.1) : o.width;
        make(shape, size, (uint64_t)c, kinds[shape == FLAT || size < N ? 1 : sort], &t);
        okra_problem_ p = problem_of(&t, 1);
        okra_factors_as_ as = {.unit = 1};
        CHECK_OK(okra_factors_create_(one, &p, &as, &f));
        CHECK_OK(okra_dual_low_solve_(&f, &o, alpha, X, &r));
        CHECK(r.converged && r.gap <= 1e-10 * fmax(1, fabs(r.dual)));
        naive_values(&t, &o, alpha, X, &primal, &dual);
        CHECK_NEAR(primal, r.primal, 1.7e-12 * fmax(1, primal));
        CHECK_NEAR(dual, r.dual, 1.7e-12 * fmax(1, primal));
        okra_factors_clear_(&f);
        clear(&t);
    }
}

/* From a lambda that leaves no loss to one that leaves all: the gap is small beside the
 * value, or beside rounding. */
TEST(converged_means_so_at_every_lambda)
{
    double worst = 0, least = INFINITY;
    for (int c = 0; c < 16 * 4; c++) {
        task t;
        double alpha[N * D] = {0}, X[N * D] = {0}, primal, dual, size = 0;
        double lambda = pow(10, (int)(c / 4) - 12);
        okra_factors_ f = {0};
        okra_dual_report_ r;
        okra_dual_low_ o = {NULL, c % 2 ? OKRA_LOSS_TUBE_ : OKRA_LOSS_HUBER_,
                            c % 4 < 2 ? 0.5 : 0.01, lambda, 1e-8};
        make(RANDOM, N, (uint64_t)c % 4, kinds[1], &t);
        okra_problem_ p = problem_of(&t, 1);
        okra_factors_as_ as = {.unit = 1};
        CHECK_OK(okra_factors_create_(one, &p, &as, &f));
        CHECK_OK(okra_dual_low_solve_(&f, &o, alpha, X, &r));
        naive_values(&t, &o, alpha, X, &primal, &dual);
        for (okra_int i = 0; i < N; i++) {
            size += length(t.y + i * LD);
        }
        double allowed = 1e-8 * dual + 1e-13 * size;
        CHECK(r.converged == (r.gap <= r.goal) && (r.converged || lambda < 1e-9));
        if (r.converged) { /* Huber's loss and a tiny lambda: alpha is lost in rounding */
            worst = fmax(worst, (primal - dual) / allowed);
            least = fmin(least, dual);
        }
        okra_factors_clear_(&f);
        clear(&t);
    }
    printf("  worst gap %.2g of what is allowed, least value %.2g\n", worst, least);
    CHECK(worst <= 1.01 && least < 1e-4);
}

/* Two models each within a gap of the least primal value: lambda |X - X*|^2 <= gap for
 * both, and |h(x)|^2 <= g k(x, x) |X|^2. Rounding apart, which is 1e-9 of h at worst,
 * also where a gap is 0. */
static void check_near(const task *t, const double *a, double gap_a, const double *b,
                       double gap_b, double dual, double lambda, double g)
{
    double told = 1.7e-13 * fmax(1, fabs(dual));
    double far =
        (sqrt(fmax(gap_a, 0) + told) + sqrt(fmax(gap_b, 0) + told)) / sqrt(lambda);
    for (okra_int i = 0; i < t->n; i++) {
        double step[D], allowed = sqrt(g * t->K[i * t->n + i]) * far;
        for (okra_int j = 0; j < D; j++) {
            step[j] = a[i * D + j] - b[i * D + j];
        }
        CHECK(length(step) <= allowed);
    }
}

TEST(distances_equal_dense_on_the_same_kernel)
{
    static const double lambda[] = {0.05, 2};
    for (int c = 0; c < SHAPES * KINDS * 4 * SEEDS / 3; c++) {
        task t;
        int rest = c, shape = pick(&rest, SHAPES), sort = pick(&rest, KINDS);
        bool matrix = pick(&rest, 2);
        double scale = c / 3 % 2 ? 1 : 0.25;
        okra_store_ *stores[2];
        write_operator((uint64_t)c);
        double g = (matrix ? operator_trace : 1) / scale;
        okra_options *o = options_of("1e-12", matrix, 1 + pick(&rest, 2));
        make(shape, N, (uint64_t)c, kinds[shape == FLAT ? 1 : sort], &t);
        CHECK_OK(path(one, &t, o, scale, lambda, 2, stores));
        for (int l = 0; l < 2; l++) {
            double want[N * D], got[N * D], cold[N * D], dual, gap;
            okra_store_ *alone;
            dense(&t, o, scale, lambda[l], want, &dual, &gap);
            fitted(&t, stores[l], true, got);
            CHECK_OK(path(one, &t, o, scale, &lambda[l], 1, &alone));
            fitted(&t, alone, true, cold);
            double own = number(alone, "gap"), along = number(stores[l], "gap");
            CHECK(fmax(own, along) <= 1e-11 * fmax(1, fabs(dual)));
            check_near(&t, cold, own, want, gap, dual, lambda[l], g);
            check_near(&t, cold, own, got, along, dual, lambda[l], g);
            CHECK_NEAR(number(alone, "dual"), dual,
                       fmax(own, 0) + fmax(gap, 0) + 1e-11 * fmax(1, fabs(dual)));
            okra_store_free_(alone);
            okra_store_free_(stores[l]);
        }
        okra_options_free(o);
        clear(&t);
    }
}

int main(void)
{
    const harness_test tests[] = {RUN(distances_close_the_gap),
                                  RUN(converged_means_so_at_every_lambda),
                                  RUN(distances_equal_dense_on_the_same_kernel)};
    return low_main(tests, sizeof tests / sizeof *tests);
}
