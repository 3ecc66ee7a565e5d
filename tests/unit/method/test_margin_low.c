/*
 * Margin in factored form: the box programme on thin factors by its conditions of
 * optimality, with the quadratic form written out in full, and the method against the
 * dense one on the same kernel of low rank.
 */
#include "harness.h"
#include "kernel/lowrank.h"
#include "method/boxqp_low.h"
#include "method/dual_low.h"
#include "method/method.h"

#include <unistd.h>

enum { N = 40, P = 2, D = 3, LD = D + 1, SEEDS = 6 };

static okra_context *one; /* one thread: the problems are tiny */

enum { RANDOM, REPEATED, ZERO, ONE_CLASS, FLAT, SHAPES };

static const char *const kinds[] = {"nystrom(rank=9)", "chol(rank=40,tol=0)",
                                    "sketch(rank=7,p=0.2)", "rff(rank=10)"};
enum { KINDS = 4 };

typedef struct task {
    okra_int n;
    double x[N * P], y[N * LD];
    double Phi[N * N], K[N * N];
    okra_data *data;
    okra_kernel *kernel;
    okra_map_ *map;
} task;

/* REPEATED: pairs twice; ZERO: every third output; ONE_CLASS: one output for all; FLAT: a
 * kernel of rank 1. */
static void make(int shape, okra_int n, uint64_t seed, const char *kind, task *t)
{
    okra_random_ r = okra_random_create_(seed, (uint64_t)shape);
    okra_low_ low;
    double V[N * 2 * N];
    t->n = n;
    harness_normals(&r, N * P, t->x);
    harness_normals(&r, N * LD, t->y);
    for (okra_int i = 0; i < n; i++) {
        if (shape == REPEATED && i >= n / 2) {
            memcpy(t->x + i * P, t->x + (i - n / 2) * P, P * sizeof *t->x);
            memcpy(t->y + i * LD, t->y + (i - n / 2) * LD, LD * sizeof *t->y);
        }
        for (okra_int j = 0; j < D; j++) {
            double *y = &t->y[i * LD + j];
            *y = (shape == ZERO && i % 3 == 0) ? 0 : shape == ONE_CLASS ? t->y[j] : *y;
        }
    }
    CHECK_OK(okra_data_dense(t->x, n, shape == FLAT ? 1 : P, P, &t->data));
    CHECK_OK(okra_kernel_parse(shape == FLAT ? "linear" : "rbf(sigma=1)", &t->kernel));
    CHECK_OK(okra_low_parse_(kind, &low));
    CHECK_OK(okra_map_create_(NULL, t->kernel, t->data, &low, seed, &t->map));
    okra_mat_ Vm = okra_mat_of_(V, n, t->map->columns);
    okra_int m = t->map->rank;
    CHECK_OK(okra_map_values_(NULL, t->map, t->data, 0, Vm));
    CHECK_OK(okra_map_features_(NULL, t->map, Vm, okra_mat_of_(t->Phi, n, m)));
    for (okra_int i = 0; i < n * n; i++) {
        t->K[i] = okra_dot_(m, t->Phi + i / n * m, t->Phi + i % n * m);
    }
}

static void clear(task *t)
{
    okra_map_free_(t->map);
    okra_kernel_free(t->kernel);
    okra_data_free(t->data);
}

static okra_problem_ problem_of(const task *t, double scale)
{
    return (okra_problem_){.n = t->n,
                           .x = t->data,
                           .features = t->y,
                           .d = D,
                           .features_ld = LD,
                           .feature_scale = scale,
                           .map_x = t->map};
}

static void form(const task *t, double lambda, double *Q)
{
    okra_int n = t->n;
    for (okra_int i = 0; i < n * n; i++) {
        Q[i] =
            okra_dot_(D, t->y + i / n * LD, t->y + i % n * LD) * t->K[i] / (2 * lambda);
    }
}

/* Gap and violation, both from Q; dual: sum(a) - a'Qa/2. */
static double naive_gap(okra_int n, const double *Q, const double *a, double *kkt,
                        double *dual)
{
    double gap = 0;
    *kkt = *dual = 0;
    for (okra_int i = 0; i < n; i++) {
        double g = okra_dot_(n, Q + i * n, a);
        CHECK(a[i] >= 0 && a[i] <= 1);
        gap += fmax(0, 1 - g) + a[i] * g - a[i];
        *dual += a[i] - a[i] * g / 2;
        *kkt = fmax(*kkt, a[i] <= 0 ? 1 - g : a[i] >= 1 ? g - 1 : fabs(g - 1));
    }
    return gap;
}

static bool kept_rows; /* of the last solution */

static okra_status solve(okra_context *ctx, const okra_problem_ *p, double lambda,
                         double tolerance, double *a, double *A, okra_boxqp_report_ *r)
{
    okra_factors_ f = {0};
    okra_factors_as_ as = {.unit = sqrt(p->feature_scale),
                           .besides = okra_boxqp_low_doubles_(p->n, p->map_x->rank, D)};
    okra_status st = okra_factors_create_(ctx, p, &as, &f);
    kept_rows = f.Phi != NULL;
    st = st ? st : okra_boxqp_low_(&f, lambda, tolerance, a, A, r);
    okra_factors_clear_(&f);
    return st;
}

/* Ten times the worst over 14,400 problems: where the gap is 1e-10, gradients are wrong
 * by 2.5e-8; A and the dual value by 1.4e-12 and 7.7e-14. */
TEST(the_conditions_of_optimality)
{
    static const double lambda[] = {0.003, 0.3, 30};
    static const okra_int sizes[] = {N, 2, 1};
    for (int c = 0; c < SHAPES * KINDS * 3 * 3 * SEEDS; c++) {
        task t;
        double Q[N * N], a[N], A[N * D], want[N * D], kkt, dual;
        okra_boxqp_report_ r;
        int shape = c % SHAPES;
        okra_int size = sizes[c / SHAPES / KINDS / 3 % 3];
        const char *kind =
            shape == FLAT || size < N ? kinds[1] : kinds[c / SHAPES % KINDS];
        double l = lambda[c / SHAPES / KINDS % 3];
        make(shape, size, (uint64_t)c, kind, &t);
        okra_int n = t.n, m = t.map->rank;
        okra_problem_ p = problem_of(&t, 1);
        for (okra_int i = 0; i < n; i++) {
            a[i] = (c % 7 == 0) * 3 - (double)(i % 2); /* any start */
        }
        CHECK_OK(solve(one, &p, l, 1e-10, a, A, &r));
        form(&t, l, Q);
        CHECK(r.converged);
        double gap = naive_gap(n, Q, a, &kkt, &dual);
        double goal = 1e-10 * fmax(1, fabs(dual));
        CHECK(gap <= goal + 1e-11 * (double)n && r.gap <= goal);
        CHECK_NEAR(r.dual, dual, 7.7e-13 * fmax(1, fabs(dual)));
        CHECK(kkt <= 2.5e-7);
        for (okra_int i = 0; i < m * D; i++) {
            want[i] = 0;
            for (okra_int k = 0; k < n; k++) {
                want[i] += a[k] * t.Phi[k * m + i / D] * t.y[k * LD + i % D] / (2 * l);
            }
        }
        CHECK_NEAR(harness_relative(m * D, A, want), 0, 1.4e-11);
        clear(&t);
    }
}

/* ---- the method -----------------------------------------------------------------------
 */

static char operator_file[64], operator_text[80];
static double operator_trace;

static void write_operator(uint64_t seed)
{
    okra_random_ r = okra_random_create_(seed, 9);
    double G[D * 2];
    FILE *f = fopen(operator_file, "w");
    harness_normals(&r, D * 2, G);
    operator_trace = okra_dot_(D * 2, G, G);
    for (okra_int i = 0; f && i < D * D; i++) { /* of rank 2 */
        double v = G[i / D * 2] * G[i % D * 2] + G[i / D * 2 + 1] * G[i % D * 2 + 1];
        fprintf(f, "%.17g%c", v, i % D == D - 1 ? '\n' : ',');
    }
    CHECK(f && fclose(f) == 0);
}

static const char *const losses[] = {"hinge", "epsilon", "huber"};

static okra_options *options_of(const char *tolerance, bool matrix, int loss)
{
    const okra_option_table *table = &okra_method_find_("margin")->options;
    okra_options *o = NULL;
    CHECK_OK(okra_options_create(&table, 1, &o));
    CHECK_OK(okra_options_set(o, "tolerance", tolerance));
    CHECK_OK(okra_options_set(o, "loss", losses[loss]));
    CHECK_OK(okra_options_set(o, "operator", matrix ? operator_text : "identity"));
    return o;
}

static double number(const okra_bag_ *bag, const char *name)
{
    double value = NAN;
    CHECK(okra_bag_get_number_(bag, name, &value));
    return value;
}

/* h of the training inputs: n x D. */
static void fitted(const task *t, const okra_bag_ *bag, bool low, double *h)
{
    const okra_method_ *margin = okra_method_find_("margin");
    double V[N * 2 * N];
    okra_mat_ Vm = okra_mat_of_(V, t->n, low ? t->map->columns : t->n);
    if (low) {
        CHECK_OK(okra_map_values_(NULL, t->map, t->data, 0, Vm));
        CHECK(margin->form(bag) == OKRA_FORM_EMBEDDING && margin->width(bag) == D);
    } else {
        memcpy(V, t->K, (size_t)(t->n * t->n) * sizeof *V);
    }
    okra_query_ q = {.m = t->n, .n = t->n, .Kx = Vm};
    CHECK_OK(
        (low ? margin->predict : margin->embed)(one, bag, &q, okra_mat_of_(h, t->n, D)));
}

/* The dense form on K = Phi Phi'. */
static void dense(const task *t, const okra_options *o, double scale, double lambda,
                  double *h, double *dual, double *gap)
{
    okra_bag_ *bag = NULL;
    double L[N * N];
    okra_problem_ p = problem_of(t, scale);
    for (okra_int i = 0; i < t->n * t->n; i++) {
        L[i] = scale * okra_dot_(D, t->y + i / t->n * LD, t->y + i % t->n * LD);
    }
    p.map_x = NULL;
    p.given_K = t->K;
    p.given_L = L;
    p.given_K_ld = p.given_L_ld = t->n;
    CHECK_OK(okra_bag_create_(&bag));
    CHECK_OK(okra_method_find_("margin")->path(one, &p, o, &lambda, 1, &bag));
    fitted(t, bag, false, h);
    *dual = number(bag, "dual");
    *gap = number(bag, "gap");
    okra_bag_free_(bag);
}

static okra_status path(okra_context *ctx, const task *t, const okra_options *o,
                        double scale, const double *lambda, size_t count,
                        okra_bag_ **bags)
{
    okra_status st = OKRA_OK;
    okra_problem_ p = problem_of(t, scale);
    for (size_t l = 0; l < count; l++) {
        bags[l] = NULL;
    }
    for (size_t l = 0; l < count; l++) {
        TRY(okra_bag_create_(&bags[l]));
    }
    TRY(okra_method_find_("margin")->path(ctx, &p, o, lambda, count, bags));
    return OKRA_OK;
done:
    for (size_t l = 0; l < count; l++) {
        okra_bag_free_(bags[l]);
    }
    return st;
}

/* h is unique, and within root(gap / lambda) of the best; so are dense and factored, cold
 * and along a path. Ten times the worst over 3,200 problems, 4.2e-11 both, and 9.4e-14
 * of dual values. */
TEST(equals_dense_on_the_same_kernel)
{
    static const double lambda[] = {0.01, 0.2, 5};
    enum { LAMBDAS = 3 };
    for (int c = 0; c < SHAPES * KINDS * 2 * SEEDS; c++) {
        task t;
        int shape = c % SHAPES;
        double scale = c / 3 % 2 ? 1 : 0.25;
        okra_bag_ *bags[LAMBDAS];
        write_operator((uint64_t)c);
        okra_options *o = options_of("1e-13", c / SHAPES / KINDS % 2, 0);
        make(shape, N, (uint64_t)c, kinds[shape == FLAT ? 1 : c / SHAPES % KINDS], &t);
        CHECK_OK(path(one, &t, o, scale, lambda, LAMBDAS, bags));
        for (int l = 0; l < LAMBDAS; l++) {
            double want[N * D], got[N * D], cold[N * D], dual, gap;
            okra_bag_ *alone;
            dense(&t, o, scale, lambda[l], want, &dual, &gap);
            fitted(&t, bags[l], true, got);
            CHECK_OK(path(one, &t, o, scale, &lambda[l], 1, &alone));
            fitted(&t, alone, true, cold);
            CHECK_NEAR(harness_relative(t.n * D, cold, want), 0, 4.2e-10);
            CHECK_NEAR(harness_relative(t.n * D, got, cold), 0, 4.2e-10);
            CHECK_NEAR(number(alone, "dual"), dual, 9.4e-13 * fmax(1, fabs(dual)));
            CHECK(number(alone, "converged") == 1 && number(bags[l], "converged") == 1);
            CHECK(number(alone, "gap") <= 1e-13 * fmax(1, fabs(dual)));
            CHECK(number(alone, "lambda") == lambda[l]);
            CHECK(number(alone, "x.rank") == (double)t.map->rank);
            okra_bag_free_(alone);
            okra_bag_free_(bags[l]);
        }
        okra_options_free(o);
        clear(&t);
    }
}

/* ---- losses of the distance
 * ------------------------------------------------------------
 */

static double loss_of(okra_loss_ loss, double w, double r)
{
    return loss == OKRA_LOSS_TUBE_ ? fmax(0, r - w) : r <= w ? r * r : 2 * w * r - w * w;
}

static double length(const double *a)
{
    return sqrt(okra_dot_(D, a, a));
}

/* Primal value of X from Phi, dual value of alpha from K. */
static void naive_values(const task *t, const okra_dual_low_ *o, const double *alpha,
                         const double *X, double *primal, double *dual)
{
    okra_int n = t->n, m = t->map->rank;
    double most = o->loss == OKRA_LOSS_TUBE_ ? 1 : 2 * o->width;
    *primal = o->lambda * okra_dot_(m * D, X, X);
    *dual = 0;
    for (okra_int i = 0; i < n; i++) {
        double r[D], size = length(alpha + i * D);
        CHECK(size <= most * (1 + 1e-14));
        for (okra_int j = 0; j < D; j++) {
            double root = o->g ? sqrt(o->g[j]) : 1, h = 0;
            for (okra_int k = 0; k < m; k++) {
                h += t->Phi[i * m + k] * X[k * D + j] * root;
            }
            r[j] = t->y[i * LD + j] - h;
            *dual += alpha[i * D + j] * t->y[i * LD + j];
            for (okra_int k = 0; k < n; k++) {
                *dual -= root * root * t->K[i * n + k] * alpha[i * D + j] *
                         alpha[k * D + j] / (4 * o->lambda);
            }
        }
        *primal += loss_of(o->loss, o->width, length(r));
        *dual -= o->loss == OKRA_LOSS_TUBE_ ? o->width * size : size * size / 4;
    }
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
        int shape = c % SHAPES;
        okra_int size = sizes[c / SHAPES / KINDS / 3 % 3];
        okra_dual_low_ o = {c % 3 ? NULL : g, c % 2 ? OKRA_LOSS_TUBE_ : OKRA_LOSS_HUBER_,
                            widths[c / 7 % 3], lambda[c / SHAPES / KINDS % 3], 1e-10};
        o.width = o.loss == OKRA_LOSS_HUBER_ ? fmax(o.width, 0.1) : o.width;
        make(shape, size, (uint64_t)c,
             kinds[shape == FLAT || size < N ? 1 : c / SHAPES % KINDS], &t);
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
        int shape = c % SHAPES;
        bool matrix = c / SHAPES / KINDS % 2;
        double scale = c / 3 % 2 ? 1 : 0.25;
        okra_bag_ *bags[2];
        write_operator((uint64_t)c);
        double g = (matrix ? operator_trace : 1) / scale;
        okra_options *o = options_of("1e-12", matrix, 1 + c / SHAPES / KINDS / 2 % 2);
        make(shape, N, (uint64_t)c, kinds[shape == FLAT ? 1 : c / SHAPES % KINDS], &t);
        CHECK_OK(path(one, &t, o, scale, lambda, 2, bags));
        for (int l = 0; l < 2; l++) {
            double want[N * D], got[N * D], cold[N * D], dual, gap;
            okra_bag_ *alone;
            dense(&t, o, scale, lambda[l], want, &dual, &gap);
            fitted(&t, bags[l], true, got);
            CHECK_OK(path(one, &t, o, scale, &lambda[l], 1, &alone));
            fitted(&t, alone, true, cold);
            double own = number(alone, "gap"), along = number(bags[l], "gap");
            CHECK(fmax(own, along) <= 1e-11 * fmax(1, fabs(dual)));
            check_near(&t, cold, own, want, gap, dual, lambda[l], g);
            check_near(&t, cold, own, got, along, dual, lambda[l], g);
            CHECK_NEAR(number(alone, "dual"), dual,
                       fmax(own, 0) + fmax(gap, 0) + 1e-11 * fmax(1, fabs(dual)));
            okra_bag_free_(alone);
            okra_bag_free_(bags[l]);
        }
        okra_options_free(o);
        clear(&t);
    }
}

/* ---- memory, failures -----------------------------------------------------------------
 */

enum { MANY = 1500 };

static okra_status solve_many(okra_context *ctx, const okra_problem_ *p, double *A,
                              okra_boxqp_report_ *r)
{
    okra_status st = OKRA_OK;
    double *a = NULL;
    ZALLOC(a, MANY);
    TRY(solve(ctx, p, 0.2, 1e-12, a, A, r));
done:
    okra_free_(a);
    return st;
}

/* Whatever the budget: refused, or the same solution, from rows kept or made again.
 * Ten times the worst over six seeds, 1.6e-9. */
TEST(any_budget)
{
    enum { RANK = 16 };
    double *x = okra_alloc_(MANY * P, sizeof *x), *y = okra_alloc_(MANY * D, sizeof *y);
    double want[RANK * D], got[RANK * D];
    okra_random_ random = okra_random_create_(4, 4);
    okra_data *data = NULL;
    okra_kernel *kernel = NULL;
    okra_map_ *map = NULL;
    okra_context *ctx = NULL;
    okra_low_ low;
    okra_boxqp_report_ r;
    int refused = 0, again = 0, kept = 0;
    harness_normals(&random, MANY * P, x);
    harness_normals(&random, MANY * D, y);
    CHECK_OK(okra_data_dense(x, MANY, P, P, &data));
    CHECK_OK(okra_kernel_parse("rbf(sigma=1)", &kernel));
    CHECK_OK(okra_low_parse_("nystrom(rank=16)", &low));
    CHECK_OK(okra_map_create_(NULL, kernel, data, &low, 1, &map));
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_threads(ctx, 1));
    okra_problem_ p = {.n = MANY,
                       .x = data,
                       .features = y,
                       .d = D,
                       .features_ld = D,
                       .feature_scale = 1,
                       .map_x = map};
    CHECK_OK(solve_many(one, &p, want, &r));
    CHECK(r.converged);
    for (okra_int room = 20000; room < 2000000; room += room / 4) {
        CHECK_OK(okra_context_set_memory(ctx, okra_alloc_live_bytes_() + room));
        okra_status st = solve_many(ctx, &p, got, &r);
        if (st == OKRA_EBUDGET) {
            CHECK(strstr(okra_message(), "the memory budget is"));
            CHECK(again + kept == 0);
            refused++;
            continue;
        }
        CHECK_OK(st);
        CHECK(r.converged);
        CHECK_NEAR(harness_relative(RANK * D, got, want), 0, 1.6e-8);
        again += !kept_rows;
        kept += kept_rows;
    }
    CHECK(refused > 0 && again > 0 && kept > 0);
    okra_context_cancel(ctx);
    CHECK_FAILS(solve_many(ctx, &p, got, &r), OKRA_ECANCELLED, NULL);
    okra_context_free(ctx);
    okra_map_free_(map);
    okra_kernel_free(kernel);
    okra_data_free(data);
    okra_free_(x);
    okra_free_(y);
}

TEST(allocations)
{
    static const double lambda[] = {0.1};
    write_operator(3);
    for (int k = 0; k < 6 * KINDS; k++) {
        task t;
        okra_bag_ *bag;
        make(RANDOM, N, 5, kinds[k / 6], &t);
        okra_options *o = options_of("1e-8", k % 2, k % 3);
        CHECK_ALLOCATIONS(path(one, &t, o, 1, lambda, 1, &bag), okra_bag_free_(bag));
        okra_options_free(o);
        clear(&t);
    }
}

TEST(refused_and_cancelled)
{
    static const double lambda[] = {0.1};
    for (int loss = 0; loss < 3; loss++) {
        task t;
        okra_bag_ *bag;
        okra_context *ctx = NULL;
        okra_options *o = options_of("1e-8", false, loss);
        make(RANDOM, N, 2, kinds[0], &t);
        CHECK_OK(okra_context_create(&ctx));
        CHECK_OK(okra_context_set_memory(ctx, okra_alloc_live_bytes_() + 8000));
        CHECK_FAILS(path(ctx, &t, o, 1, lambda, 1, &bag), OKRA_EBUDGET,
                    "the margin of 40 pairs at rank 9 needs");
        CHECK_OK(okra_context_set_memory(ctx, (okra_int)1 << 30));
        okra_context_cancel(ctx);
        CHECK_FAILS(path(ctx, &t, o, 1, lambda, 1, &bag), OKRA_ECANCELLED, NULL);
        okra_context_free(ctx);
        okra_options_free(o);
        clear(&t);
    }
}

static int warned, told;

static void count_warnings(void *user, const char *text)
{
    (void)user;
    warned += strstr(text, "stopped with a duality gap") != NULL;
}

/* A tolerance that rounding does not allow ends with a warning, not in a loop. */
static void reach(int loss)
{
    static const double lambda[] = {1e-2};
    task t;
    okra_bag_ *bag;
    okra_context *ctx = NULL;
    okra_options *o = options_of("1e-300", false, loss);
    make(RANDOM, N, 1, kinds[0], &t);
    CHECK_OK(okra_context_create(&ctx));
    okra_context_set_warning(ctx, count_warnings, NULL);
    CHECK_OK(path(ctx, &t, o, 1, lambda, 1, &bag));
    CHECK(warned == (number(bag, "converged") == 0));
    CHECK(number(bag, "gap") <= 1e-10 * fmax(1, number(bag, "dual")));
    told += warned;
    warned = 0;
    okra_bag_free_(bag);
    okra_options_free(o);
    okra_context_free(ctx);
    clear(&t);
}

TEST(what_cannot_be_reached_is_told)
{
    for (int loss = 0; loss < 3; loss++) {
        reach(loss);
    }
    CHECK(told > 0);
}

static bool has_factors(const char *name, const char *value, bool features)
{
    task t;
    okra_options *o = options_of("1e-8", false, 0);
    make(RANDOM, 2, 1, kinds[0], &t);
    CHECK_OK(okra_options_set(o, name, value));
    okra_problem_ p = problem_of(&t, 1);
    p.features = features ? p.features : NULL;
    bool found = okra_method_factored_(okra_method_find_("margin"), &p, o);
    okra_options_free(o);
    clear(&t);
    return found;
}

TEST(what_has_factors)
{
    CHECK(has_factors("lambda", "1", true) && has_factors("loss", "hinge", true));
    CHECK(!has_factors("lambda", "1", false));
    CHECK(has_factors("loss", "huber", true) && has_factors("loss", "epsilon", true));
    CHECK(has_factors("lambda2", "1", true));
}

int main(void)
{
    snprintf(operator_file, sizeof operator_file, "margin-low-%d.csv", (int)getpid());
    snprintf(operator_text, sizeof operator_text, "matrix:%s", operator_file);
    CHECK_OK(okra_context_create(&one));
    CHECK_OK(okra_context_set_threads(one, 1));
    const harness_test tests[] = {RUN(the_conditions_of_optimality),
                                  RUN(distances_close_the_gap),
                                  RUN(distances_equal_dense_on_the_same_kernel),
                                  RUN(equals_dense_on_the_same_kernel),
                                  RUN(any_budget),
                                  RUN(allocations),
                                  RUN(refused_and_cancelled),
                                  RUN(what_cannot_be_reached_is_told),
                                  RUN(what_has_factors)};
    int failed = harness_main(tests, sizeof tests / sizeof *tests);
    unlink(operator_file);
    okra_context_free(one);
    return failed;
}
