/*
 * forest.h: small problems for trees, and the trees that have not seen a pair by plain
 * sums.
 */
#ifndef OKRA_TEST_FOREST_H
#define OKRA_TEST_FOREST_H

#include "harness.h"
#include "method/neighbours/trees.h"

enum { N = 24, P = 4, D = 3, M = 5, TREES = 11, LD = P + 1 };
enum { PLAIN, CONSTANT, COPIES, ONE, ZERO_ONE, SHAPES };

typedef struct toy {
    okra_int n, d;
    double X[(N + M) * LD], Y[N * D], K[N * N], L[N * N], Kx[M * N];
    okra_data *x, *q;
} toy;

static inline double rbf(const double *a, const double *b, okra_int d)
{
    double sum = 0;
    for (okra_int j = 0; j < d; j++) {
        sum += (a[j] - b[j]) * (a[j] - b[j]);
    }
    return exp(-0.2 * sum);
}

static inline void make(int shape, okra_int n, uint64_t seed, toy *t)
{
    okra_random_ r = okra_random_create_(seed, (uint64_t)shape);
    *t = (toy){.n = n, .d = shape == ONE ? 1 : D};
    harness_normals(&r, (n + M) * LD, t->X);
    harness_normals(&r, n * D, t->Y);
    for (okra_int i = 0; i < n; i++) {
        if (shape == CONSTANT) {
            t->X[i * LD] = t->X[i * LD + 1] = 3;
        }
        if (shape == COPIES && i % 2 == 1) {
            memcpy(t->X + i * LD, t->X + (i - 1) * LD, sizeof(double) * LD);
        }
        for (okra_int j = 0; j < D; j++) {
            double *y = &t->Y[i * D + j];
            *y = (double)j + sin(t->X[i * LD + j]) + 0.3 * *y;
            *y = shape == ZERO_ONE ? *y > (double)j : *y;
        }
    }
    for (okra_int i = 0; i < n + M; i++) {
        for (okra_int j = 0; j < n; j++) {
            double *to = i < n ? t->K + i * n : t->Kx + (i - n) * n;
            to[j] = rbf(t->X + i * LD, t->X + j * LD, P);
            if (i < n) {
                t->L[i * n + j] = rbf(t->Y + i * D, t->Y + j * D, t->d);
            }
        }
    }
    CHECK_OK(okra_data_dense(t->X, n, P, LD, &t->x));
    CHECK_OK(okra_data_dense(t->X + n * LD, M, P, LD, &t->q));
}

static inline void drop(toy *t)
{
    okra_data_free(t->x);
    okra_data_free(t->q);
}

static inline okra_problem_ problem_of(const toy *t, bool features)
{
    okra_problem_ p = {.n = t->n,
                       .x = t->x,
                       .given_K = t->K,
                       .given_L = t->L,
                       .given_K_ld = t->n,
                       .given_L_ld = t->n,
                       .feature_scale = 1};
    if (features) {
        p.features = t->Y;
        p.d = t->d;
        p.features_ld = D;
    }
    return p;
}

static inline okra_query_ query_of(toy *t)
{
    return (okra_query_){
        .m = M, .n = t->n, .Kx = okra_mat_of_(t->Kx, M, t->n), .x = t->q};
}

static inline okra_status fit(okra_context *ctx, const char *name, const toy *t,
                              bool features, const char *const *set, okra_store_ **out)
{
    const okra_method_ *method = okra_method_find_(name);
    FREED_BY(okra_options_drop_) okra_options *o = NULL;
    FREED_BY(okra_store_drop_) okra_store_ *store = NULL;
    const okra_option_table *tables[] = {&method->options,
                                         &okra_method_find_("ridge")->options};
    okra_problem_ p = problem_of(t, features);
    CHK(okra_options_create(tables, 2, &o));
    for (; *set; set += 2) {
        CHK(okra_options_set(o, set[0], set[1]));
    }
    CHK(okra_store_create_(&store));
    CHK(okra_method_fit_(ctx, method, &p, o, store));
    *out = TAKE(store);
    return OKRA_OK;
}

static inline okra_status fit_columns(okra_context *ctx, const toy *t, bool features,
                                      const char *leaf, const char *parts,
                                      okra_store_ **out)
{
    const char *const set[] = {"splits", "columns", "trees", "11", "leaf",
                               leaf,     "parts",   parts,   NULL};
    return fit(ctx, "ok3", t, features, set, out);
}

/* ---- unseen pairs ---- */

/* Coordinates whose inner products are L, by the library; what they are is checked by
 * the products. */
typedef struct unseen {
    okra_judged_ judged;
    double E[N * N], W[N * N], count[N], noise[N];
} unseen;

/* By plain sums over all trees that have not seen i: e = t_i - f_i. */
static inline void naive_unseen(const toy *t, const okra_store_ *store, okra_mat_ F,
                                unseen *z)
{
    okra_mat_ nodes = okra_store_mat_(store, "nodes"),
              roots = okra_store_mat_(store, "roots"),
              items = okra_store_mat_(store, "items");
    okra_int n = t->n, r = F.cols;
    memset(z->E, 0, sizeof z->E);
    memset(z->W, 0, sizeof z->W);
    for (okra_int i = 0; i < n; i++) {
        double each[TREES][N] = {{0}};
        okra_int m = 0;
        for (okra_int k = 0; k < items.rows; k++) {
            okra_int at = (okra_int)roots.p[k], place = 0;
            const double *row = items.p + k * n;
            while ((okra_int)row[place] != i) {
                place++;
            }
            if (place < (okra_int)nodes.p[at * OKRA_NODE_FIELDS_ + OKRA_NODE_END_]) {
                continue; /* seen */
            }
            const double *node = nodes.p + at * OKRA_NODE_FIELDS_;
            while (node[OKRA_NODE_FEATURE_] >= 0) {
                bool low = t->X[i * LD + (okra_int)node[OKRA_NODE_FEATURE_]] <
                           node[OKRA_NODE_CUT_];
                node = nodes.p +
                       OKRA_NODE_FIELDS_ *
                           (okra_int)node[low ? OKRA_NODE_LEFT_ : OKRA_NODE_RIGHT_];
            }
            double s = node[OKRA_NODE_END_] - node[OKRA_NODE_BEGIN_];
            for (okra_int a = (okra_int)node[OKRA_NODE_BEGIN_];
                 a < (okra_int)node[OKRA_NODE_END_]; a++) {
                z->W[i * n + (okra_int)row[a]] += 1 / s;
                for (okra_int j = 0; j < r; j++) {
                    each[m][j] += F.p[(okra_int)row[a] * r + j] / s;
                }
            }
            m++;
        }
        z->count[i] = (double)m;
        z->noise[i] = 0;
        for (okra_int j = 0; j < r; j++) {
            double mean = 0;
            for (okra_int k = 0; k < m; k++) {
                mean += each[k][j] / (double)m;
            }
            for (okra_int k = 0; k < m && m > 1; k++) {
                z->noise[i] += pow(each[k][j] - mean, 2) / (double)(m - 1);
            }
            z->E[i * r + j] = mean - F.p[i * r + j];
        }
        for (okra_int j = 0; j < n && m > 0; j++) {
            z->W[i * n + j] /= (double)m;
        }
    }
}

#endif
