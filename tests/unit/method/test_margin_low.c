/*
 * Margin in factored form: the box programme on thin factors by its conditions of
 * optimality, with the quadratic form written out in full, and the method against the
 * dense one on the same kernel of low rank.
 */
#include "low.h"
#include "method/margin/margin.h"

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
                           .besides =
                               okra_boxqp_low_doubles_(ctx, p->n, p->map_x->rank, D)};
    okra_status st = okra_factors_create_(ctx, p, &as, &f);
    kept_rows = f.Phi.memory != NULL;
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
        int rest = c, shape = pick(&rest, SHAPES), sort = pick(&rest, KINDS);
        double l = lambda[pick(&rest, 3)];
        okra_int size = sizes[pick(&rest, 3)];
        const char *kind = kinds[shape == FLAT || size < N ? 1 : sort];
        make(shape, size, (uint64_t)c, kind, &t);
        okra_int n = t.n, m = t.in.map->rank;
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

/* From a lambda that leaves no loss (a best value of 1e-11) to one that leaves all: the
 * gap is small beside the value, or beside rounding. */
TEST(converged_means_so_at_every_lambda)
{
    double worst = 0, least = INFINITY;
    for (int c = 0; c < 16 * 4; c++) {
        task t;
        double Q[N * N], a[N] = {0}, A[N * D], kkt, dual;
        double lambda = pow(10, (int)(c / 4) - 12);
        okra_boxqp_report_ r;
        make(RANDOM, N, (uint64_t)c % 4, kinds[1], &t);
        okra_problem_ p = problem_of(&t, 1);
        CHECK_OK(solve(one, &p, lambda, 1e-8, a, A, &r));
        form(&t, lambda, Q);
        double gap = naive_gap(N, Q, a, &kkt, &dual);
        double allowed = 1e-8 * dual + 1e-13 * N;
        CHECK(r.converged && r.gap <= r.goal);
        worst = fmax(worst, gap / allowed);
        least = fmin(least, dual);
        clear(&t);
    }
    printf("  worst gap %.2g of what is allowed, least value %.2g\n", worst, least);
    CHECK(worst <= 1.01 && least < 1e-9);
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
        int rest = c, shape = pick(&rest, SHAPES), sort = pick(&rest, KINDS);
        double scale = c / 3 % 2 ? 1 : 0.25;
        okra_store_ *stores[LAMBDAS];
        write_operator((uint64_t)c);
        okra_options *o = options_of("1e-13", pick(&rest, 2), 0);
        make(shape, N, (uint64_t)c, kinds[shape == FLAT ? 1 : sort], &t);
        CHECK_OK(path(one, &t, o, scale, lambda, LAMBDAS, stores));
        for (int l = 0; l < LAMBDAS; l++) {
            double want[N * D], got[N * D], cold[N * D], dual, gap;
            okra_store_ *alone;
            dense(&t, o, scale, lambda[l], want, &dual, &gap);
            fitted(&t, stores[l], true, got);
            CHECK_OK(path(one, &t, o, scale, &lambda[l], 1, &alone));
            fitted(&t, alone, true, cold);
            CHECK_NEAR(harness_relative(t.n * D, cold, want), 0, 4.2e-10);
            CHECK_NEAR(harness_relative(t.n * D, got, cold), 0, 4.2e-10);
            CHECK_NEAR(number(alone, "dual"), dual, 9.4e-13 * fmax(1, fabs(dual)));
            CHECK(number(alone, "converged") == 1 && number(stores[l], "converged") == 1);
            CHECK(number(alone, "gap") <= 1e-13 * fmax(1, fabs(dual)));
            CHECK(number(alone, "lambda") == lambda[l]);
            CHECK(number(alone, "x.rank") == (double)t.in.map->rank);
            okra_store_free_(alone);
            okra_store_free_(stores[l]);
        }
        okra_options_free(o);
        clear(&t);
    }
}

/* ---- memory, failures ---- */

enum { MANY = 1500 };

static okra_status solve_many(okra_context *ctx, const okra_problem_ *p, double *A,
                              okra_boxqp_report_ *r)
{
    OWNED double *a = NULL;
    ZMAKE(a, MANY);
    return solve(ctx, p, 0.2, 1e-12, a, A, r);
}

/* Whatever the budget: refused, or the same solution, from rows in memory or in a file.
 * Ten times the worst over six seeds, 1.6e-9. */
TEST(any_budget)
{
    enum { RANK = 16 };
    double *x = okra_alloc_(MANY * P, sizeof *x), *y = okra_alloc_(MANY * D, sizeof *y);
    double want[RANK * D], got[RANK * D];
    okra_random_ random = okra_random_create_(4, 4);
    okra_context *ctx = NULL;
    okra_boxqp_report_ r;
    int refused = 0, again = 0, kept = 0;
    harness_normals(&random, MANY * P, x);
    harness_normals(&random, MANY * D, y);
    thin in = thin_open(x, MANY, P, P, "rbf(sigma=1)", "nystrom(rank=16)", 1);
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_threads(ctx, 1));
    okra_problem_ p = thin_problem(&in, MANY, y, D, D);
    CHECK_OK(solve_many(one, &p, want, &r));
    CHECK(r.converged);
    for (okra_int room = 20000; room < 2000000; room += room / 4) {
        CHECK_OK(okra_context_set_memory(ctx, okra_account_bytes_(ctx) + room));
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
    thin_close(&in);
    okra_free_(x);
    okra_free_(y);
}

TEST(allocations)
{
    static const double lambda[] = {0.1};
    write_operator(3);
    for (int k = 0; k < 6 * KINDS; k++) {
        task t;
        okra_store_ *store;
        make(RANDOM, N, 5, kinds[k / 6], &t);
        okra_options *o = options_of("1e-8", k % 2, k % 3);
        CHECK_ALLOCATIONS(path(one, &t, o, 1, lambda, 1, &store),
                          okra_store_free_(store));
        okra_options_free(o);
        clear(&t);
    }
}

TEST(refused_and_cancelled)
{
    static const double lambda[] = {0.1};
    for (int loss = 0; loss < 3; loss++) {
        task t;
        okra_store_ *store;
        okra_context *ctx = NULL;
        okra_options *o = options_of("1e-8", false, loss);
        make(RANDOM, N, 2, kinds[0], &t);
        CHECK_OK(okra_context_create(&ctx));
        CHECK_OK(okra_context_set_memory(ctx, okra_account_bytes_(ctx) + 8000));
        CHECK_FAILS(path(ctx, &t, o, 1, lambda, 1, &store), OKRA_EBUDGET,
                    "the margin of 40 pairs at rank 9 needs");
        CHECK_OK(okra_context_set_memory(ctx, (okra_int)1 << 30));
        okra_context_cancel(ctx);
        CHECK_FAILS(path(ctx, &t, o, 1, lambda, 1, &store), OKRA_ECANCELLED, NULL);
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
    okra_store_ *store;
    okra_context *ctx = NULL;
    okra_options *o = options_of("1e-300", false, loss);
    make(RANDOM, N, 1, kinds[0], &t);
    CHECK_OK(okra_context_create(&ctx));
    okra_context_set_warning(ctx, count_warnings, NULL);
    CHECK_OK(path(ctx, &t, o, 1, lambda, 1, &store));
    CHECK(warned == (number(store, "converged") == 0));
    CHECK(number(store, "gap") <= 1e-10 * fmax(1, number(store, "dual")));
    told += warned;
    warned = 0;
    okra_store_free_(store);
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

static bool has_factors(const char *name, const char *value, bool features, bool matrix)
{
    task t;
    okra_options *o = options_of("1e-8", matrix, 0);
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
    CHECK(has_factors("lambda", "1", true, false));
    CHECK(has_factors("lambda", "1", true, true));
    CHECK(!has_factors("lambda", "1", false, false));
    CHECK(has_factors("loss", "huber", true, true));
    CHECK(has_factors("lambda2", "1", true, false));
    CHECK(!has_factors("lambda2", "1", true, true));
    CHECK(has_factors("graph", "gram|diffusion(beta=1)", true, false)); /* no lambda2 */
}

int main(void)
{
    const harness_test tests[] = {RUN(the_conditions_of_optimality),
                                  RUN(converged_means_so_at_every_lambda),
                                  RUN(equals_dense_on_the_same_kernel),
                                  RUN(any_budget),
                                  RUN(allocations),
                                  RUN(refused_and_cancelled),
                                  RUN(what_cannot_be_reached_is_told),
                                  RUN(what_has_factors)};
    return low_main(tests, sizeof tests / sizeof *tests);
}
