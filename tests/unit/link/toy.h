/*
 * toy.h: small networks with descriptions of their nodes, and the textbook forms that
 * links must agree with: exponentials by their series, systems by elimination.
 */
#ifndef OKRA_TEST_LINK_TOY_H
#define OKRA_TEST_LINK_TOY_H

#include "eliminate.h"
#include "harness.h"
#include "okra/kernel.h"
#include "okra/more/link.h"
#include "okra/model.h"

enum { NODES = 14, FEATURES = 3, EDGES = NODES * NODES, SQUARE = NODES * NODES };

typedef struct toy {
    okra_int labelled[NODES], n; /* n labelled nodes, in an order of their own */
    okra_int fresh[NODES], m;    /* the others, ascending                      */
    double x[NODES * FEATURES], K[SQUARE];
    okra_link edges[EDGES], truth[EDGES];
    okra_int edge_count, truth_count;
    double A[SQUARE]; /* adjacency of the labelled nodes, by their places */
    okra_data *data;
    okra_link_task task;
} toy;

static inline double toy_rbf(const double *a, const double *b)
{
    double d2 = 0;
    for (int j = 0; j < FEATURES; j++) {
        d2 += (a[j] - b[j]) * (a[j] - b[j]);
    }
    return exp(-0.5 * d2);
}
#define TOY_KX "rbf(gamma=0.5)"

/* density 0 leaves one edge: a network of many components. */
static inline void toy_make(toy *t, uint64_t seed, okra_int n, double density)
{
    okra_random_ r = okra_random_create_(seed, 0);
    okra_int order[NODES], place[NODES];
    *t = (toy){.n = n};
    harness_normals(&r, NODES * FEATURES, t->x);
    for (okra_int i = 0; i < NODES; i++) {
        order[i] = i;
    }
    okra_random_shuffle_(&r, NODES, order);
    for (okra_int i = 0; i < NODES; i++) {
        place[i] = -1;
    }
    for (okra_int i = 0; i < n; i++) {
        t->labelled[i] = order[i];
        place[order[i]] = i;
    }
    for (okra_int i = 0; i < NODES; i++) {
        if (place[i] < 0) {
            t->fresh[t->m++] = i;
        }
        for (okra_int j = 0; j < NODES; j++) {
            t->K[i * NODES + j] = toy_rbf(t->x + i * FEATURES, t->x + j * FEATURES);
        }
    }
    for (okra_int i = 0; i < NODES; i++) {
        for (okra_int j = 0; j < i; j++) {
            bool first = t->edge_count == 0 && place[i] >= 0 && place[j] >= 0;
            if (first || okra_random_uniform_(&r) < density) {
                double weight = 0.5 + okra_random_uniform_(&r);
                t->truth[t->truth_count++] = (okra_link){i, j, 1};
                if (place[i] >= 0 && place[j] >= 0) {
                    t->edges[t->edge_count++] = (okra_link){i, j, weight};
                    t->A[place[i] * n + place[j]] = t->A[place[j] * n + place[i]] =
                        weight;
                }
            }
        }
    }
    CHECK_OK(okra_data_dense(t->x, NODES, FEATURES, FEATURES, &t->data));
    t->task = (okra_link_task){t->data, t->labelled, n, t->edges, t->edge_count, NULL};
}

static inline void toy_free(toy *t)
{
    okra_data_free(t->data);
}

static inline void multiply(okra_int n, const double *A, const double *B, double *C)
{
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            double sum = 0;
            for (okra_int k = 0; k < n; k++) {
                sum += A[i * n + k] * B[k * n + j];
            }
            C[i * n + j] = sum;
        }
    }
}

/* exp(-beta (D - A)) by the series of a 1024th part of it, squared ten times. */
static inline void toy_diffusion(const toy *t, double beta, double *L)
{
    okra_int n = t->n;
    double M[SQUARE], term[SQUARE], next[SQUARE];
    for (okra_int i = 0; i < n; i++) {
        double degree = 0;
        for (okra_int j = 0; j < n; j++) {
            degree += t->A[i * n + j];
            M[i * n + j] = beta / 1024 * t->A[i * n + j];
        }
        M[i * n + i] -= beta / 1024 * degree;
    }
    for (okra_int i = 0; i < n * n; i++) {
        L[i] = term[i] = i % (n + 1) == 0;
    }
    for (int k = 1; k < 20; k++) {
        multiply(n, term, M, next);
        for (okra_int i = 0; i < n * n; i++) {
            term[i] = next[i] / k;
            L[i] += term[i];
        }
    }
    for (int k = 0; k < 10; k++) {
        multiply(n, L, L, next);
        memcpy(L, next, (size_t)(n * n) * sizeof *L);
    }
}

/* X <- A^-1 B, B: n x m. A and B are destroyed. */
static inline void solve(okra_int n, double *A, okra_int m, double *B, double *X)
{
    eliminate(n, A, m, B);
    for (okra_int i = 0; i < n * m; i++) {
        X[i] = B[i];
    }
}

/* K + lambda I of the labelled nodes. */
static inline void toy_ridge(const toy *t, double lambda, double *A)
{
    for (okra_int i = 0; i < t->n; i++) {
        for (okra_int j = 0; j < t->n; j++) {
            A[i * t->n + j] =
                t->K[t->labelled[i] * NODES + t->labelled[j]] + (i == j ? lambda : 0);
        }
    }
}

/* W: NODES x n, the ridge weights (K + lambda I)^-1 k_u of every node. */
static inline void toy_weights(const toy *t, double lambda, double *W)
{
    double A[SQUARE], B[SQUARE], X[SQUARE];
    toy_ridge(t, lambda, A);
    for (okra_int i = 0; i < t->n; i++) {
        for (okra_int u = 0; u < NODES; u++) {
            B[i * NODES + u] = t->K[t->labelled[i] * NODES + u];
        }
    }
    solve(t->n, A, NODES, B, X);
    for (okra_int i = 0; i < t->n; i++) {
        for (okra_int u = 0; u < NODES; u++) {
            W[u * t->n + i] = X[i * NODES + u];
        }
    }
}

/* S: NODES x NODES = W L W'. */
static inline void toy_scores(const toy *t, const double *W, const double *L, double *S)
{
    for (okra_int u = 0; u < NODES; u++) {
        for (okra_int v = 0; v < NODES; v++) {
            double sum = 0;
            for (okra_int i = 0; i < t->n * t->n; i++) {
                sum += W[u * t->n + i / t->n] * L[i] * W[v * t->n + i % t->n];
            }
            S[u * NODES + v] = sum;
        }
    }
}

/* Options of fit as "name=value" texts ended by NULL. */
static inline okra_options *toy_options(const char *const *texts)
{
    okra_options *o = NULL;
    char name[32];
    CHECK_OK(okra_fit_options(&o));
    for (; *texts; texts++) {
        const char *equals = strchr(*texts, '=');
        snprintf(name, sizeof name, "%.*s", (int)(equals - *texts), *texts);
        CHECK_OK(okra_options_set(o, name, equals + 1));
    }
    return o;
}

/* All pairs of the kind by okra_link_rank against S; returns how many there were. */
static inline okra_int toy_compare(okra_links *links, okra_link_pairs which,
                                   const double *S, double tolerance)
{
    okra_link *list = NULL;
    okra_int count = 0;
    CHECK_OK(okra_link_rank(NULL, links, which, 0, -(double)INFINITY, &list, &count));
    CHECK(count == okra_link_count(links, which));
    double worst = 0, scale = 0;
    for (okra_int k = 0; k < count; k++) {
        double want = S[list[k].a * NODES + list[k].b];
        worst = fmax(worst, fabs(list[k].value - want));
        scale = fmax(scale, fabs(want));
        CHECK(k == 0 || list[k - 1].value >= list[k].value);
    }
    CHECK_NEAR(worst, 0, tolerance * fmax(scale, 1));
    okra_link_list_free(list);
    return count;
}

static inline okra_links *toy_fit(const toy *t, const char *const *texts,
                                  const okra_link_settings *settings)
{
    okra_links *links = NULL;
    okra_options *o = toy_options(texts);
    CHECK_OK(okra_link_fit(NULL, &t->task, o, settings, &links));
    okra_options_free(o);
    return links;
}

/* L(i,j) / sqrt(L(i,i) L(j,j)) */
static inline void toy_normalize(const toy *t, double *L)
{
    double size[NODES];
    for (okra_int i = 0; i < t->n; i++) {
        size[i] = sqrt(L[i * t->n + i]);
    }
    for (okra_int i = 0; i < t->n * t->n; i++) {
        L[i] /= size[i / t->n] * size[i % t->n];
    }
}

#endif
