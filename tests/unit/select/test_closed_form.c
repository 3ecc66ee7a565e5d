/*
 * Closed forms against refitting: the same cells with and without the method's shortcut.
 */
#include "toy.h"

#include <unistd.h>

typedef struct result {
    double values[16][PAIRS], error[16];
    bool closed;
} result;

/* All cells of the options (one group), folds: NULL part for leave-one-out. */
static void run(const toy *t, const okra_options *options, const okra_folds_ *folds,
                const char *metric, bool shortcut, result *out)
{
    static const okra_select_request nothing = {OKRA_SIZED(okra_select_request)};
    okra_space_ *space = NULL;
    CHECK_OK(okra_space_create_(options, &space));
    okra_method_ method = *space->method;
    method.leave = shortcut ? method.leave : NULL;
    space->method = &method;
    okra_pairs_ source = {.x = t->inputs,
                          .y = t->outputs,
                          .n = t->outputs->n,
                          .inputs = t->inputs->n,
                          .request = &nothing};
    okra_task_ task = {
        .source = &source, .space = space, .folds = *folds, .metric = metric};
    okra_cell_ cells[16], *list[16];
    for (okra_int i = 0; i < space->cells; i++) {
        cells[i] = (okra_cell_){.values = out->values[i], .error = (double)NAN};
        list[i] = &cells[i];
        CHECK_OK(okra_space_setting_(space, i, &cells[i].setting));
    }
    CHECK_OK(okra_group_run_(NULL, &task, list, (size_t)space->cells));
    for (okra_int i = 0; i < space->cells; i++) {
        out->error[i] = cells[i].error;
        okra_setting_free_(&cells[i].setting);
    }
    out->closed = task.closed;
    okra_source_clear_(&source);
    okra_space_free_(space);
}

/* Every other problem has weights of pairs. */
static void weigh_some(toy *t, int c)
{
    okra_random_ r = okra_random_create_((uint64_t)c, 9);
    double weights[PAIRS] = {0};
    okra_data *with = NULL;
    for (int i = 0; i < PAIRS; i++) {
        weights[i] = 0.2 + 2 * okra_random_uniform_(&r);
    }
    if (okra_random_below_(&r, 2)) {
        CHECK_OK(okra_data_weigh(t->outputs, weights, t->outputs->n, &with));
        okra_data_free(t->outputs);
        t->outputs = with;
    }
}

/* Largest relative difference of the values; 0/0 is 0. */
static double differ(okra_int cells, okra_int values, const result *a, const result *b)
{
    double worst = 0;
    for (okra_int i = 0; i < cells; i++) {
        double e = harness_relative(values, a->values[i], b->values[i]);
        double s = harness_relative(1, &a->error[i], &b->error[i]);
        s = isnan(a->error[i]) && isnan(b->error[i]) ? 0 : s;
        bool rounding = fmax(a->error[i], b->error[i]) < 1e-13 * fabs(a->values[i][0]);
        s = rounding ? 0 : s; /* two pairs whose losses are equal */
        worst = e <= worst ? worst : e;
        worst = s <= worst ? worst : s;
    }
    return worst;
}

typedef struct model {
    const char *ky, *operator_text, *center, *lambda2, *decode, *metric;
    bool parts; /* k-fold has a closed form too */
} model;

static const model models[] = {
    {"linear", "identity", "no", NULL, "candidates", "feature-loss", true},
    {"linear", "identity", "yes", NULL, "explicit", "mse", true},
    {"rbf(sigma=1)", "identity", "no", NULL, "candidates", "feature-loss", true},
    {"rbf(sigma=1)", "identity", "yes", NULL, "candidates", "mse", true},
    {"linear", "identity", "no", NULL, "candidates", "zero-one", true},
    {"linear", "MATRIX", "no", NULL, "explicit", "feature-loss", false},
    {"linear", "MATRIX", "yes", NULL, "candidates", "mae", false},
    {"linear", "identity", "no", "0.3", "explicit", "feature-loss", true},
    {"rbf(sigma=1)", "identity", "yes", "0.3", "candidates", "feature-loss", true},
    {"linear", "MATRIX", "no", "0.3", "explicit", "feature-loss", false},
    {"linear", "MATRIX", "yes", "0.3", "explicit", "mse", false},
};
enum { MODELS = sizeof models / sizeof *models };

static okra_options *options_of(const model *m, const char *matrix, const char *kx)
{
    const char *pairs[] = {"kx",
                           kx,
                           "ky",
                           m->ky,
                           "lambda",
                           "1e-2,1",
                           "decode",
                           m->decode,
                           "operator",
                           m->operator_text[0] == 'M' ? matrix : m->operator_text,
                           "center-output",
                           m->center,
                           m->lambda2 ? "lambda2" : NULL,
                           m->lambda2,
                           NULL};
    return select_options(pairs);
}

TEST(equals_refitting)
{
    static const okra_int sizes[] = {2, 3, 8, PAIRS};
    static const char *const kernels[] = {"rbf(sigma=1)", "poly(degree=2,coef0=0)"};
    char path[] = "/tmp/okra-select-XXXXXX.csv", matrix[64];
    int fd = mkstemps(path, 4);
    CHECK(fd >= 0 && write(fd, "2,1\n1,1\n", 8) == 8);
    close(fd);
    snprintf(matrix, sizeof matrix, "matrix:%s", path);
    double worst = 0;
    for (int c = 0; c < MODELS * 4 * 2 * 2 * 2; c++) {
        int rest = c;
        const model *m = &models[pick(&rest, MODELS)];
        okra_int n = sizes[pick(&rest, 4)];
        bool kfold = pick(&rest, 2), odd = pick(&rest, 2);
        const char *kx = kernels[pick(&rest, 2)];
        if (kfold && n < 8) {
            continue;
        }
        toy *t = make_toy(n, m->lambda2 ? 6 : 0, odd, odd, (uint64_t)c);
        weigh_some(t, c);
        okra_options *o = options_of(m, matrix, kx);
        static const okra_keys_ free_folds = {NULL, NULL, NULL};
        okra_folds_ folds;
        CHECK_OK(okra_folds_create_(&free_folds, NULL, n, kfold ? 3 : n, 1 + kfold, 5,
                                    &folds));
        static result a, b;
        run(t, o, &folds, m->metric, true, &a);
        run(t, o, &folds, m->metric, false, &b);
        CHECK(a.closed == (!kfold || m->parts) && !b.closed);
        double e = differ(2, kfold ? 6 : 1, &a, &b);
        worst = e <= worst ? worst : e;
        okra_folds_free_(&folds);
        okra_options_free(o);
        free_toy(t);
    }
    remove(path);
    /* ten times the worst of the cases above, 6.3e-12 */
    CHECK_NEAR(worst, 0, 6e-11);
}

/* Low rank: the factor is that of all inputs, so that at full rank the closed form is the
 * dense one; below it no input is left out of the basis. */
TEST(low_rank_leaves_single_pairs_out)
{
    static const struct {
        const char *low, *ky, *decode, *metric, *center, *graph;
    } cases[] = {
        {"nystrom(rank=20)", "linear", "candidates", "feature-loss", "no", NULL},
        {"nystrom(rank=20)", "linear", "explicit", "mse", "yes", NULL},
        {"chol(rank=20,tol=0)", "rbf(sigma=1)", "candidates", "feature-loss", "yes",
         NULL},
        {"nystrom(rank=20,pivots=centres)", "rbf(sigma=1)", "candidates", "mse", "no",
         NULL},
        {"nystrom(rank=40)", "linear", "explicit", "mse", "yes", "knn(k=3)|normalized"},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    static const okra_keys_ free_folds = {NULL, NULL, NULL};
    double worst = 0;
    for (int c = 0; c < CASES * 10; c++) {
        const char *graph = cases[c % CASES].graph;
        toy *t = make_toy(PAIRS, graph ? 3 : 0, false, false, (uint64_t)c);
        weigh_some(t, c);
        const char *pairs[] = {"kx",
                               "rbf(sigma=1)",
                               "ky",
                               cases[c % CASES].ky,
                               "lambda",
                               "1e-2,1",
                               "decode",
                               cases[c % CASES].decode,
                               "center-output",
                               cases[c % CASES].center,
                               "lambda2",
                               graph ? "0.1" : NULL,
                               "graph",
                               graph,
                               NULL,
                               NULL,
                               NULL};
        int last = graph ? 14 : 10;
        pairs[last] = "low-rank";
        pairs[last + 1] = cases[c % CASES].low;
        pairs[last + 2] = NULL;
        okra_options *low = select_options(pairs);
        pairs[last] = NULL;
        okra_options *dense = select_options(pairs);
        okra_folds_ folds;
        static result a, b;
        CHECK_OK(okra_folds_create_(&free_folds, NULL, PAIRS, PAIRS, 1, 5, &folds));
        run(t, low, &folds, cases[c % CASES].metric, true, &a);
        run(t, dense, &folds, cases[c % CASES].metric, true, &b);
        CHECK(a.closed && b.closed);
        double e = differ(2, 1, &a, &b);
        worst = e <= worst ? worst : e;
        okra_folds_free_(&folds);
        CHECK_OK(okra_folds_create_(&free_folds, NULL, PAIRS, 4, 1, 5, &folds));
        run(t, low, &folds, cases[c % CASES].metric, true, &a);
        CHECK(!a.closed && a.values[0][3] > 0); /* parts are fitted anew */
        okra_folds_free_(&folds);
        okra_options_free(low);
        okra_options_free(dense);
        free_toy(t);
    }
    /* ten times the worst of the cases above, 2.9e-13 */
    CHECK_NEAR(worst, 0, 3e-12);
}

/* What must be fitted anew. */
TEST(refits_where_training_statistics_change)
{
    static const char *const settings[][8] = {
        {"kx", "rbf(sigma=1) | center", NULL},
        {"ky", "rbf(sigma=1) | center", NULL},
        {"operator", "cov", NULL},
        {"operator", "ccov", "epsilon", "0.1", NULL},
        {"method", "knn", "k", "2", NULL},
        {"low-rank-x", "nystrom(rank=4)", "ky", "rbf(sigma=1)", NULL},
        {"low-rank", "nystrom(rank=4)", "operator", "cov", NULL},
    };
    static const okra_keys_ free_folds = {NULL, NULL, NULL};
    for (size_t c = 0; c < sizeof settings / sizeof *settings; c++) {
        toy *t = make_toy(8, 0, false, false, c);
        okra_options *o = select_options(settings[c]);
        okra_folds_ folds;
        static result a;
        CHECK_OK(okra_folds_create_(&free_folds, NULL, 8, 8, 1, 5, &folds));
        run(t, o, &folds, "feature-loss", true, &a);
        CHECK(!a.closed && a.values[0][0] > 0 && a.error[0] > 0);
        okra_folds_free_(&folds);
        okra_options_free(o);
        free_toy(t);
    }
}

MAIN(RUN(equals_refitting), RUN(low_rank_leaves_single_pairs_out),
     RUN(refits_where_training_statistics_change))
