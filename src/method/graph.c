/*
 * graph.c: the matrix M of the smoothness penalty
 *
 *     2 lambda_2 sum_ij M_ij <h(x_i), h(x_j)> = lambda_2 sum_ij W_ij |h(x_i) - h(x_j)|^2
 *
 * over all N inputs (Brouard et al. 2016 eq. 6), for M = D - W, D_ii = sum_j W_ij.
 *
 *   gram         W = K
 *   knn          W_ij = K_ij where j is among the k nearest of i or i among those of j,
 *                by feature-space distance K_ii + K_jj - 2 K_ij, itself excluded, ties by
 *                index; share: k = round(share N), at least 1
 *   file(PATH)   W read from a file, N x N
 *   normalized   M = D^-1/2 (D - W) D^-1/2; nodes without neighbours have a row of 0
 *   power(p)     M <- M^p: the Laplacian iterated to degree p (sec. 6.2.2)
 *   diffusion    M <- exp(-beta M) (sec. 6.1.1); as in the paper, this weighs smooth
 *                directions most (1 for constants), where M itself weighs them least
 *
 * W must be >= 0: otherwise M need not be positive semi-definite and the penalty would
 * reward roughness. Loops W_ii cancel in D - W.
 *
 * Sparse Laplacians (knn, sparse files) stay in compressed rows, also when normalized or
 * raised to a power, which is applied as p products; diffusion makes a dense matrix by
 * one eigendecomposition, O(N^3). k-NN search: O(N^2 log k) at most, N k memory.
 */
#include "method/graph.h"

#include "data/data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct okra_graph_ {
    okra_int n;
    okra_csr_ csr; /* the Laplacian, or NULL pointers where `dense` holds it */
    double *dense;
    okra_int power; /* M is that power of it */
};

void okra_graph_free_(okra_graph_ *graph)
{
    if (graph) {
        okra_csr_free_(&graph->csr);
        okra_free_(graph->dense);
        okra_free_(graph);
    }
}

okra_int okra_graph_entries_(const okra_graph_ *graph)
{
    return graph->dense ? graph->n * graph->n : graph->csr.indptr[graph->n];
}

static okra_status check_weight(okra_int i, okra_int j, double w)
{
    return w >= 0 ? OKRA_OK
                  : okra_fail_(OKRA_EARG,
                               "graph: the weight of inputs %lld and %lld (counted from "
                               "0) is %.6g, expected 0 or more",
                               (long long)i, (long long)j, w);
}

/* ---- k nearest neighbours ------------------------------------------------------------
 */

typedef struct search {
    okra_mat_ K;
    okra_int k;
    okra_int *near;   /* N x k, each row ascending */
    double *distance; /* k a worker */
} search;

static int ascending(const void *a, const void *b)
{
    okra_int x = *(const okra_int *)a, y = *(const okra_int *)b;
    return (x > y) - (x < y);
}

static okra_status nearest(void *arg, okra_int begin, okra_int end, int worker)
{
    const search *s = arg;
    double *distance = s->distance + worker * s->k;
    for (okra_int i = begin; i < end; i++) {
        okra_int *near = s->near + i * s->k, held = 0;
        for (okra_int j = 0; j < s->K.rows; j++) {
            double d = s->K.p[j * s->K.ld + j] - 2 * s->K.p[i * s->K.ld + j];
            okra_int at = held;
            while (at > 0 && d < distance[at - 1]) {
                at--;
            }
            if (at == s->k || j == i) {
                continue;
            }
            held = OKRA_MIN_(held + 1, s->k);
            memmove(near + at + 1, near + at, (size_t)(held - 1 - at) * sizeof *near);
            memmove(distance + at + 1, distance + at,
                    (size_t)(held - 1 - at) * sizeof *distance);
            near[at] = j;
            distance[at] = d;
        }
        qsort(near, (size_t)held, sizeof *near, ascending);
    }
    return OKRA_OK;
}

static bool among(const search *s, okra_int i, okra_int j)
{
    return bsearch(&j, s->near + i * s->k, (size_t)s->k, sizeof j, ascending) != NULL;
}

/* W in compressed rows: the union of both directions. */
static okra_status neighbours(const search *s, okra_csr_ *W)
{
    okra_status st = OKRA_OK;
    okra_int n = s->K.rows, *fill = NULL;
    ZALLOC(W->indptr, n + 1);
    for (okra_int pass = 0; pass < 2; pass++) {
        for (okra_int i = 0; i < n; i++) {
            for (okra_int c = 0; c < s->k; c++) {
                okra_int j = s->near[i * s->k + c];
                bool lone = !among(s, j, i); /* then row j learns of i here */
                if (pass == 0) {
                    W->indptr[i + 1]++;
                    W->indptr[j + 1] += lone;
                    continue;
                }
                double w = s->K.p[i * s->K.ld + j];
                TRY(check_weight(i, j, w));
                W->indices[fill[i]] = j;
                W->values[fill[i]++] = w;
                if (lone) {
                    W->indices[fill[j]] = i;
                    W->values[fill[j]++] = w;
                }
            }
        }
        if (pass == 0) {
            for (okra_int i = 0; i < n; i++) {
                W->indptr[i + 1] += W->indptr[i];
            }
            ALLOC(W->indices, W->indptr[n]);
            ALLOC(W->values, W->indptr[n]);
            ALLOC(fill, n);
            memcpy(fill, W->indptr, (size_t)n * sizeof *fill);
        }
    }
done:
    okra_free_(fill);
    return st;
}

static okra_status make_knn(okra_context *ctx, const okra_graph_text_ *t, okra_mat_ K,
                            okra_csr_ *W)
{
    okra_status st = OKRA_OK;
    okra_int n = K.rows;
    search s = {.K = K, .k = t->k};
    if (t->share > 0) {
        s.k = OKRA_MAX_(1, OKRA_MIN_(n - 1, (okra_int)llround(t->share * (double)n)));
    }
    if (s.k > n - 1) {
        FAIL(OKRA_EARG,
             "graph: knn with k = %lld among %lld inputs, expected at most %lld",
             (long long)s.k, (long long)n, (long long)(n - 1));
    }
    ALLOC(s.near, n * s.k);
    ALLOC(s.distance, okra_workers_(ctx) * s.k);
    TRY(okra_parallel_(ctx, n, 16, NULL, nearest, &s));
    TRY(neighbours(&s, W));
done:
    okra_free_(s.near);
    okra_free_(s.distance);
    return st;
}

/* ---- files ---------------------------------------------------------------------------
 */

/* Symmetric to this share of the largest weight: what single precision leaves. */
static const double SYMMETRY = 1e-6;

static double weight_at(const okra_data *data, okra_int i, okra_int j)
{
    if (data->kind != OKRA_SPARSE) {
        return data->values[i * data->ld + j];
    }
    const okra_csr_ *w = &data->csr;
    const okra_int *found =
        bsearch(&j, w->indices + w->indptr[i], (size_t)(w->indptr[i + 1] - w->indptr[i]),
                sizeof j, ascending);
    return found ? w->values[found - w->indices] : 0;
}

static okra_status check_symmetric(const okra_data *data, okra_int i, okra_int j,
                                   double w)
{
    double other = weight_at(data, j, i);
    return fabs(w - other) <= SYMMETRY * fmax(fabs(w), fabs(other))
               ? OKRA_OK
               : okra_fail_(OKRA_EARG,
                            "graph: %s: the weight at (%lld, %lld) is %.10g but %.10g at "
                            "(%lld, %lld), expected a symmetric matrix",
                            data->source, (long long)i, (long long)j, w, other,
                            (long long)j, (long long)i);
}

static okra_status copy_sparse(const okra_data *data, okra_csr_ *W)
{
    okra_status st = OKRA_OK;
    okra_int n = data->n, entries = data->csr.indptr[n];
    ALLOC(W->indptr, n + 1);
    ALLOC(W->indices, entries);
    ALLOC(W->values, entries);
    memcpy(W->indptr, data->csr.indptr, (size_t)(n + 1) * sizeof *W->indptr);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int e = W->indptr[i]; e < W->indptr[i + 1]; e++) {
            W->indices[e] = data->csr.indices[e];
            W->values[e] = data->csr.values[e];
            TRY(check_weight(i, W->indices[e], W->values[e]));
            TRY(check_symmetric(data, i, W->indices[e], W->values[e]));
        }
    }
done:
    return st;
}

static okra_status copy_dense(okra_context *ctx, okra_int n, const double *values,
                              okra_int ld, double **W)
{
    okra_status st = OKRA_OK;
    TRY(okra_doubles_(ctx, n, n, "the graph", W));
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            (*W)[i * n + j] = values[i * ld + j];
            TRY(i == j ? OKRA_OK : check_weight(i, j, values[i * ld + j]));
        }
    }
done:
    return st;
}

static okra_status read_file(okra_context *ctx, const char *file, okra_graph_ *g)
{
    okra_status st = OKRA_OK;
    okra_data *data = NULL;
    char found[120];
    TRY(okra_data_read(ctx, file, &data));
    bool sparse = data->kind == OKRA_SPARSE;
    if ((!sparse && data->kind != OKRA_DENSE && data->kind != OKRA_GRAM) ||
        data->n != g->n || data->d != g->n) {
        FAIL(OKRA_ESHAPE,
             "graph: %s holds %s, expected a matrix of %lld x %lld, one row an input, "
             "labelled or not",
             file, okra_data_describe_(data, found, sizeof found), (long long)g->n,
             (long long)g->n);
    }
    if (sparse) {
        TRY(copy_sparse(data, &g->csr));
        goto done;
    }
    for (okra_int i = 0; i < g->n; i++) {
        for (okra_int j = 0; j < i; j++) {
            TRY(check_symmetric(data, i, j, data->values[i * data->ld + j]));
        }
    }
    TRY(copy_dense(ctx, g->n, data->values, data->ld, &g->dense));
done:
    okra_data_free(data);
    return st;
}

/* ---- the Laplacian -------------------------------------------------------------------
 */

/* W becomes D - W, or D^-1/2 (D - W) D^-1/2, in place. */
static okra_status laplacian_dense(okra_graph_ *g, bool normalized)
{
    okra_status st = OKRA_OK;
    okra_int n = g->n;
    double *degree = NULL;
    ZALLOC(degree, n);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            degree[i] += i == j ? 0 : g->dense[i * n + j];
        }
    }
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            double *m = &g->dense[i * n + j], scale = sqrt(degree[i] * degree[j]);
            *m = i == j ? degree[i] : -*m;
            *m = !normalized ? *m : scale > 0 ? *m / scale : 0;
        }
    }
done:
    okra_free_(degree);
    return st;
}

static okra_status laplacian_sparse(okra_graph_ *g, bool normalized)
{
    okra_status st = OKRA_OK;
    okra_int n = g->n, at = 0;
    okra_csr_ *W = &g->csr, M = {0};
    double *degree = NULL;
    ZALLOC(degree, n);
    ALLOC(M.indptr, n + 1);
    ALLOC(M.indices, W->indptr[n] + n);
    ALLOC(M.values, W->indptr[n] + n);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int e = W->indptr[i]; e < W->indptr[i + 1]; e++) {
            degree[i] += W->indices[e] == i ? 0 : W->values[e];
        }
    }
    for (okra_int i = 0; i < n; i++) {
        M.indptr[i] = at;
        M.indices[at] = i;
        M.values[at++] = normalized ? degree[i] > 0 : degree[i];
        for (okra_int e = W->indptr[i]; e < W->indptr[i + 1]; e++) {
            okra_int j = W->indices[e];
            double scale = normalized ? sqrt(degree[i] * degree[j]) : 1;
            if (j != i && W->values[e] > 0) {
                M.indices[at] = j;
                M.values[at++] = -W->values[e] / scale;
            }
        }
    }
    M.indptr[n] = at;
    okra_csr_free_(W);
    *W = M;
    M = (okra_csr_){0};
done:
    okra_csr_free_(&M);
    okra_free_(degree);
    return st;
}

static okra_status densify(okra_context *ctx, okra_graph_ *g)
{
    okra_status st = OKRA_OK;
    okra_int n = g->n;
    if (!g->dense) {
        TRY(okra_doubles_(ctx, n, n, "the graph of a diffusion", &g->dense));
        okra_mat_fill_(okra_mat_of_(g->dense, n, n), 0);
        for (okra_int i = 0; i < n; i++) {
            for (okra_int e = g->csr.indptr[i]; e < g->csr.indptr[i + 1]; e++) {
                g->dense[i * n + g->csr.indices[e]] = g->csr.values[e];
            }
        }
        okra_csr_free_(&g->csr);
        g->csr = (okra_csr_){0};
    }
done:
    return st;
}

/* M = V' f(w) V, f the stages one after the other: R'R with R = f(w)^1/2 V. */
static okra_status by_spectrum(okra_context *ctx, const okra_graph_text_ *t,
                               okra_graph_ *g)
{
    okra_status st = OKRA_OK;
    okra_int n = g->n;
    double *w = NULL, *M = NULL;
    ALLOC(w, n);
    TRY(densify(ctx, g));
    TRY(okra_eigh_(ctx, okra_mat_of_(g->dense, n, n), w));
    TRY(okra_doubles_(ctx, n, n, "the graph of a diffusion", &M));
    for (okra_int i = 0; i < n; i++) {
        double f = fmax(w[i], 0);
        for (int k = 0; k < t->stages; k++) {
            f = t->stage[k].diffusion ? exp(-t->stage[k].value * f)
                                      : pow(f, t->stage[k].value);
        }
        for (okra_int j = 0; j < n; j++) {
            g->dense[i * n + j] *= sqrt(f);
        }
    }
    TRY(okra_syrk_(ctx, true, 1, okra_mat_of_(g->dense, n, n), 0, okra_mat_of_(M, n, n)));
    okra_free_(g->dense);
    g->dense = M;
    M = NULL;
done:
    okra_free_(w);
    okra_free_(M);
    return st;
}

okra_status okra_graph_create_(okra_context *ctx, const char *text, okra_mat_ K,
                               okra_graph_ **out)
{
    okra_status st = OKRA_OK;
    okra_graph_text_ t = {0};
    okra_graph_ *g = NULL;
    bool diffuses = false;
    TRY(okra_graph_parse_(text, &t));
    ZALLOC(g, 1);
    g->n = K.rows;
    g->power = 1;
    if (t.source == OKRA_GRAPH_KNN_) {
        TRY(make_knn(ctx, &t, K, &g->csr));
    } else if (t.source == OKRA_GRAPH_FILE_) {
        TRY(read_file(ctx, t.file, g));
    } else {
        TRY(copy_dense(ctx, g->n, K.p, K.ld, &g->dense));
    }
    TRY(g->dense ? laplacian_dense(g, t.normalized) : laplacian_sparse(g, t.normalized));
    for (int k = 0; k < t.stages; k++) {
        diffuses = diffuses || t.stage[k].diffusion;
        g->power *= t.stage[k].diffusion ? 1 : (okra_int)t.stage[k].value;
    }
    if (diffuses) {
        g->power = 1;
        TRY(by_spectrum(ctx, &t, g));
    }
    *out = g;
    g = NULL;
done:
    okra_free_(t.file);
    okra_graph_free_(g);
    return st;
}

/* ---- products ------------------------------------------------------------------------
 */

/* Rows of X are taken LANES at a time, side by side, so that an entry of M meets LANES
 * numbers that follow one another in memory. */
enum { LANES = 8 };

typedef struct product {
    const okra_graph_ *g;
    okra_mat_ X, out;
    double *pads; /* 2 N LANES a worker */
} product;

static void sparse_times(const okra_csr_ *M, okra_int n, const double *from, double *to)
{
    for (okra_int i = 0; i < n; i++) {
        double sum[LANES] = {0};
        for (okra_int e = M->indptr[i]; e < M->indptr[i + 1]; e++) {
            const double w = M->values[e], *x = from + M->indices[e] * LANES;
            for (int l = 0; l < LANES; l++) {
                sum[l] += w * x[l];
            }
        }
        memcpy(to + i * LANES, sum, sizeof sum);
    }
}

static okra_status rows_times_sparse(void *arg, okra_int begin, okra_int end, int worker)
{
    const product *p = arg;
    okra_int n = p->g->n;
    double *from = p->pads + 2 * worker * n * LANES, *to = from + n * LANES;
    for (okra_int r = begin; r < end; r += LANES) {
        okra_int lanes = OKRA_MIN_(LANES, end - r);
        for (okra_int i = 0; i < n * LANES; i++) {
            okra_int l = i % LANES;
            from[i] = l < lanes ? p->X.p[(r + l) * p->X.ld + i / LANES] : 0;
        }
        for (okra_int k = 0; k < p->g->power; k++) {
            sparse_times(&p->g->csr, n, from, to);
            double *swap = from;
            from = to;
            to = swap;
        }
        for (okra_int l = 0; l < lanes; l++) {
            for (okra_int i = 0; i < n; i++) {
                p->out.p[(r + l) * p->out.ld + i] = from[i * LANES + l];
            }
        }
    }
    return OKRA_OK;
}

static okra_status apply_sparse(okra_context *ctx, const okra_graph_ *g, okra_mat_ X,
                                okra_mat_ out)
{
    okra_status st = OKRA_OK;
    product p = {g, X, out, NULL};
    TRY(okra_doubles_(ctx, 2 * LANES * okra_workers_(ctx), g->n,
                      "a product with the graph", &p.pads));
    TRY(okra_parallel_(ctx, X.rows, 2 * LANES, NULL, rows_times_sparse, &p));
done:
    okra_free_(p.pads);
    return st;
}

static okra_status apply_dense(okra_context *ctx, const okra_graph_ *g, okra_mat_ X,
                               okra_mat_ out)
{
    okra_status st = OKRA_OK;
    double *other = NULL;
    okra_mat_ M = okra_mat_of_(g->dense, g->n, g->n);
    TRY(okra_gemm_(ctx, false, false, 1, X, M, 0, out));
    if (g->power > 1) {
        TRY(okra_doubles_(ctx, X.rows, g->n, "a product with the graph", &other));
        okra_mat_ T = okra_mat_of_(other, X.rows, g->n);
        for (okra_int k = 1; k < g->power; k++) {
            okra_mat_copy_(out, T);
            TRY(okra_gemm_(ctx, false, false, 1, T, M, 0, out));
        }
    }
done:
    okra_free_(other);
    return st;
}

okra_status okra_graph_apply_(okra_context *ctx, const okra_graph_ *graph, okra_mat_ X,
                              okra_mat_ out)
{
    return graph->dense ? apply_dense(ctx, graph, X, out)
                        : apply_sparse(ctx, graph, X, out);
}
