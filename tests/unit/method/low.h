/*
 * low.h: small problems of low rank for the margin, regular and degenerate, fitted in
 * factored form and in the dense form on the same kernel.
 */
#ifndef OKRA_TEST_LOW_H
#define OKRA_TEST_LOW_H

#include "thin.h"

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
    thin in;
} task;

/* REPEATED: pairs twice; ZERO: every third output; ONE_CLASS: one output for all; FLAT: a
 * kernel of rank 1. */
static inline void make(int shape, okra_int n, uint64_t seed, const char *kind, task *t)
{
    okra_random_ r = okra_random_create_(seed, (uint64_t)shape);
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
    t->in = thin_open(t->x, n, shape == FLAT ? 1 : P, P,
                      shape == FLAT ? "linear" : "rbf(sigma=1)", kind, seed);
    okra_mat_ Vm = okra_mat_of_(V, n, t->in.map->columns);
    okra_int m = t->in.map->rank;
    CHECK_OK(okra_map_values_(NULL, t->in.map, t->in.data, 0, Vm));
    CHECK_OK(okra_map_features_(NULL, t->in.map, Vm, okra_mat_of_(t->Phi, n, m)));
    for (okra_int i = 0; i < n * n; i++) {
        t->K[i] = okra_dot_(m, t->Phi + i / n * m, t->Phi + i % n * m);
    }
}

static inline void clear(task *t)
{
    thin_close(&t->in);
}

static inline okra_problem_ problem_of(const task *t, double scale)
{
    okra_problem_ p = thin_problem(&t->in, t->n, t->y, D, LD);
    p.feature_scale = scale;
    return p;
}

static char operator_file[64], operator_text[80];
static double operator_trace;

static inline void write_operator(uint64_t seed)
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

static inline okra_options *options_of(const char *tolerance, bool matrix, int loss)
{
    const okra_option_table *table = &okra_method_find_("margin")->options;
    okra_options *o = NULL;
    CHECK_OK(okra_options_create(&table, 1, &o));
    CHECK_OK(okra_options_set(o, "tolerance", tolerance));
    CHECK_OK(okra_options_set(o, "loss", losses[loss]));
    CHECK_OK(okra_options_set(o, "operator", matrix ? operator_text : "identity"));
    return o;
}

static inline double number(const okra_store_ *store, const char *name)
{
    double value = NAN;
    CHECK(okra_store_get_number_(store, name, &value));
    return value;
}

/* h of the training inputs: n x D. */
static inline void fitted(const task *t, const okra_store_ *store, bool low, double *h)
{
    const okra_method_ *margin = okra_method_find_("margin");
    double V[N * 2 * N];
    okra_mat_ Vm = okra_mat_of_(V, t->n, low ? t->in.map->columns : t->n);
    if (low) {
        CHECK_OK(okra_map_values_(NULL, t->in.map, t->in.data, 0, Vm));
        CHECK(margin->form(store) == OKRA_FORM_EMBEDDING && margin->width(store) == D);
    } else {
        memcpy(V, t->K, (size_t)(t->n * t->n) * sizeof *V);
    }
    okra_query_ q = {.m = t->n, .n = t->n, .Kx = Vm};
    CHECK_OK((low ? margin->predict : margin->embed)(one, store, &q,
                                                     okra_mat_of_(h, t->n, D)));
}

/* The dense form on K = Phi Phi'. */
static inline void dense(const task *t, const okra_options *o, double scale,
                         double lambda, double *h, double *dual, double *gap)
{
    okra_store_ *store = NULL;
    double L[N * N];
    okra_problem_ p = problem_of(t, scale);
    for (okra_int i = 0; i < t->n * t->n; i++) {
        L[i] = scale * okra_dot_(D, t->y + i / t->n * LD, t->y + i % t->n * LD);
    }
    p.map_x = NULL;
    p.given_K = t->K;
    p.given_L = L;
    p.given_K_ld = p.given_L_ld = t->n;
    CHECK_OK(okra_store_create_(&store));
    CHECK_OK(okra_method_find_("margin")->path(one, &p, o, &lambda, 1, &store));
    fitted(t, store, false, h);
    *dual = number(store, "dual");
    *gap = number(store, "gap");
    okra_store_free_(store);
}

static inline okra_status path(okra_context *ctx, const task *t, const okra_options *o,
                               double scale, const double *lambda, size_t count,
                               okra_store_ **stores)
{
    okra_status st = OKRA_OK;
    okra_problem_ p = problem_of(t, scale);
    for (size_t l = 0; l < count; l++) {
        stores[l] = NULL;
    }
    for (size_t l = 0; l < count; l++) {
        TRY(okra_store_create_(&stores[l]));
    }
    TRY(okra_method_find_("margin")->path(ctx, &p, o, lambda, count, stores));
    return OKRA_OK;
done:
    for (size_t l = 0; l < count; l++) {
        okra_store_free_(stores[l]);
    }
    return st;
}

/* Runs tests with one thread and a name for the operator's file. */
static inline int low_main(const harness_test *tests, size_t count)
{
    snprintf(operator_file, sizeof operator_file, "margin-low-%d.csv", (int)getpid());
    snprintf(operator_text, sizeof operator_text, "matrix:%s", operator_file);
    CHECK_OK(okra_context_create(&one));
    CHECK_OK(okra_context_set_threads(one, 1));
    int failed = harness_main(tests, count);
    unlink(operator_file);
    okra_context_free(one);
    return failed;
}

#endif
