/*
 * Left-out predictions of factored ridge against refitting without the input, the
 * features being the same.
 */
#include "harness.h"
#include "kernel/lowrank.h"
#include "method/method.h"

enum { N = 15, P = 2, D = 3, LAMBDAS = 2 };
static const double lambda[LAMBDAS] = {0.03, 2};

typedef struct task {
    double x[N * P], y[N * D];
    okra_data *data;
    okra_kernel *kernel;
    okra_map_ *map;
} task;

static void make(uint64_t seed, const char *text, task *t)
{
    okra_random_ r = okra_random_create_(seed, 7);
    okra_low_ low;
    harness_normals(&r, N * P, t->x);
    harness_normals(&r, N * D, t->y);
    CHECK_OK(okra_data_dense(t->x, N, P, P, &t->data));
    CHECK_OK(okra_kernel_parse("rbf(sigma=1)", &t->kernel));
    CHECK_OK(okra_low_parse_(text, &low));
    CHECK_OK(okra_map_create_(NULL, t->kernel, t->data, &low, seed, &t->map));
}

static void clear(task *t)
{
    okra_map_free_(t->map);
    okra_kernel_free(t->kernel);
    okra_data_free(t->data);
}

static okra_options *options_of(bool center)
{
    const okra_option_table *table = &okra_method_find_("ridge")->options;
    okra_options *o = NULL;
    CHECK_OK(okra_options_create(&table, 1, &o));
    CHECK_OK(okra_options_set(o, "center-output", center ? "yes" : "no"));
    return o;
}

/* The model without input i, at x_i. */
static void refit(const task *t, okra_int i, const okra_options *o, double value,
                  double *h)
{
    double y[N * D], V[4 * N * N];
    okra_int index[N], k = 0;
    okra_data *rest = NULL;
    okra_bag_ *bag = NULL;
    for (okra_int j = 0; j < N; j++) {
        if (j != i) {
            memcpy(y + k * D, t->y + j * D, D * sizeof *y);
            index[k++] = j;
        }
    }
    CHECK_OK(okra_data_take(t->data, index, N - 1, &rest));
    okra_problem_ p = {.n = N - 1,
                       .x = rest,
                       .features = y,
                       .d = D,
                       .features_ld = D,
                       .feature_scale = 1,
                       .map_x = t->map};
    const okra_method_ *ridge = okra_method_find_("ridge");
    CHECK_OK(okra_bag_create_(&bag));
    CHECK_OK(ridge->path(NULL, &p, o, &value, 1, &bag));
    okra_mat_ Vm = okra_mat_of_(V, 1, t->map->columns);
    CHECK_OK(okra_map_values_(NULL, t->map, t->data, i, Vm));
    okra_query_ q = {.m = 1, .n = N - 1, .Kx = Vm};
    CHECK_OK(ridge->predict(NULL, bag, &q, okra_mat_of_(h, 1, D)));
    okra_bag_free_(bag);
    okra_data_free(rest);
}

typedef struct caught {
    double H[LAMBDAS][N * D];
    size_t count;
} caught;

static okra_status catch_left(okra_context *ctx, void *user, const okra_left_ *left)
{
    caught *c = user;
    (void)ctx;
    CHECK(left->lambda == c->count && !left->W.p && left->slack);
    okra_mat_copy_(left->H, okra_mat_of_(c->H[c->count++], N, D));
    return OKRA_OK;
}

static okra_problem_ problem_of(const task *t)
{
    return (okra_problem_){.n = N,
                           .x = t->data,
                           .features = t->y,
                           .d = D,
                           .features_ld = D,
                           .feature_scale = 1,
                           .map_x = t->map};
}

static const char *const kinds[] = {"nystrom(rank=6)", "nystrom(rank=15)",
                                    "sketch(rank=5,p=0.4)", "rff(rank=10)"};

/* Ten times the worst over 100 seeds, which was 1.1e-13. */
TEST(left_out_equals_refitted)
{
    for (int c = 0; c < 4 * 2 * 3; c++) {
        task t;
        double want[N * D];
        make((uint64_t)c, kinds[c % 4], &t);
        okra_options *o = options_of(c / 4 % 2);
        okra_problem_ p = problem_of(&t);
        okra_parts_ parts = {N, NULL};
        caught got = {.count = 0};
        CHECK_OK(okra_method_find_("ridge")->leave(NULL, &p, o, lambda, LAMBDAS, &parts,
                                                   true, catch_left, &got));
        CHECK(got.count == LAMBDAS);
        for (int l = 0; l < LAMBDAS; l++) {
            for (okra_int i = 0; i < N; i++) {
                refit(&t, i, o, lambda[l], want + i * D);
            }
            CHECK_NEAR(harness_relative(N * D, got.H[l], want), 0, 1.1e-12);
        }
        okra_options_free(o);
        clear(&t);
    }
}

static okra_status leave(const task *t, const okra_options *o, const okra_parts_ *parts,
                         bool explicitly)
{
    okra_problem_ p = problem_of(t);
    caught got = {.count = 0};
    return okra_method_find_("ridge")->leave(NULL, &p, o, lambda, LAMBDAS, parts,
                                             explicitly, catch_left, &got);
}

TEST(what_has_no_closed_form)
{
    task t;
    okra_int part[N] = {0};
    make(1, kinds[0], &t);
    okra_options *o = options_of(false);
    okra_parts_ single = {N, NULL}, folds = {1, part};
    CHECK_FAILS(leave(&t, o, &folds, true), OKRA_EUNSUPPORTED, "single inputs");
    CHECK_FAILS(leave(&t, o, &single, false), OKRA_EUNSUPPORTED, "explicit");
    CHECK_ALLOCATIONS(leave(&t, o, &single, true), (void)0);
    CHECK_OK(okra_options_set(o, "operator", "cov"));
    CHECK_FAILS(leave(&t, o, &single, true), OKRA_EUNSUPPORTED, "operator cov");
    okra_options_free(o);
    clear(&t);
}

MAIN(RUN(left_out_equals_refitted), RUN(what_has_no_closed_form))
