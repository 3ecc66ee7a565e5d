/*
 * graph_knn.c: the k nearest neighbours of N inputs in the space of a kernel, as a graph:
 * W_ij = K_ij where j is among the nearest of i or i among those of j.
 *
 * Distances are K_jj - 2 K_ij (K_ii is the same for all j), ties go to the lower index;
 * of features, whose products are rounded, ties are to 1e-10 of the largest K_ii.
 * Features Phi (N x m), K = Phi Phi': blocks of pairs by products, each of them once and
 * looked at from both sides, N^2 m operations; nothing of size N^2 is kept.
 *
 * Values below 0. K = Phi Phi' of low rank may have them where the kernel has none: by
 * the Schur complement |k(x_i,x_j) - K_ij| <= sqrt(r_i r_j), r_i = k(x_i,x_i) - K_ii.
 * Such a weight is 0; one that must be negative for the kernel itself is refused, as in
 * the dense form.
 *
 * Memory: N k indices and distances; then at most 2 N k entries. O(N^2) comparisons, and
 * O(k) for each neighbour that is found nearer than those before.
 */
#include "solve/graph.h"

/* ---- weights of a graph from a file, and checks of weights.
 */

/* Symmetric to this share of the largest weight: what single precision leaves. */
static const double SYMMETRY = 1e-6;

static okra_status edge_weight(okra_int i, okra_int j, double w)
{
    return w >= 0 ? OKRA_OK
                  : okra_fail_(OKRA_EARG,
                               "graph: the weight of inputs %lld and %lld (counted from "
                               "0) is %.6g, expected 0 or more",
                               (long long)i, (long long)j, w);
}

static double weight_at(const okra_data *data, okra_int i, okra_int j)
{
    if (data->kind != OKRA_SPARSE) {
        return data->values[i * data->ld + j];
    }
    const okra_csr_ *w = &data->csr;
    const okra_int *found =
        bsearch(&j, w->indices + w->indptr[i], (size_t)(w->indptr[i + 1] - w->indptr[i]),
                sizeof j, okra_by_int_);
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

static okra_status open_rows(okra_context *ctx, okra_int n, okra_int entries,
                             okra_csr_ *W)
{
    CHK(okra_budget_ask_(ctx, 32.0 * (double)entries + 24.0 * (double)n,
                         "a graph of %lld entries", (long long)entries));
    MAKE(W->indptr, n + 1);
    MAKE(W->indices, entries);
    MAKE(W->values, entries);
    return OKRA_OK;
}

static okra_status copy_sparse(okra_context *ctx, const okra_data *data, okra_csr_ *W)
{
    okra_int n = data->n;
    CHK(open_rows(ctx, n, data->csr.indptr[n], W));
    memcpy(W->indptr, data->csr.indptr, (size_t)(n + 1) * sizeof *W->indptr);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int e = W->indptr[i]; e < W->indptr[i + 1]; e++) {
            W->indices[e] = data->csr.indices[e];
            W->values[e] = data->csr.values[e];
            CHK(edge_weight(i, W->indices[e], W->values[e]));
            CHK(check_symmetric(data, i, W->indices[e], W->values[e]));
        }
    }
    return OKRA_OK;
}

/* What is not 0 of a dense file. */
static okra_status gather_dense(okra_context *ctx, const okra_data *data, okra_csr_ *W)
{
    okra_int n = data->n, entries = 0;
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            entries += i != j && data->values[i * data->ld + j] != 0;
        }
    }
    CHK(open_rows(ctx, n, entries, W));
    W->indptr[0] = 0;
    for (okra_int i = 0, at = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            double w = data->values[i * data->ld + j];
            if (i != j && w != 0) {
                CHK(edge_weight(i, j, w));
                W->indices[at] = j;
                W->values[at++] = w;
            }
        }
        W->indptr[i + 1] = at;
    }
    return OKRA_OK;
}

okra_status okra_graph_copy_(okra_context *ctx, okra_int n, const double *values,
                             okra_int ld, double **W)
{
    CHK(okra_doubles_(ctx, n, n, "the graph", W));
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            (*W)[i * n + j] = values[i * ld + j];
            CHK(i == j ? OKRA_OK : edge_weight(i, j, values[i * ld + j]));
        }
    }
    return OKRA_OK;
}

okra_status okra_graph_read_(okra_context *ctx, const char *file, okra_int n,
                             okra_csr_ *W, double **dense)
{
    FREED_BY(okra_data_drop_) okra_data *data = NULL;
    char found[120];
    CHK(okra_data_read(ctx, file, &data));
    bool sparse = data->kind == OKRA_SPARSE;
    REFUSE_IF((!sparse && data->kind != OKRA_DENSE && data->kind != OKRA_GRAM) ||
                  data->n != n || data->d != n,
              OKRA_ESHAPE,
              "graph: %s holds %s, expected a matrix of %lld x %lld, one row per input, "
              "labelled or not",
              file, okra_data_describe_(data, found, sizeof found), (long long)n,
              (long long)n);
    if (sparse) {
        CHK(copy_sparse(ctx, data, W));
        return OKRA_OK;
    }
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < i; j++) {
            CHK(check_symmetric(data, i, j, data->values[i * data->ld + j]));
        }
    }
    return dense ? okra_graph_copy_(ctx, n, data->values, data->ld, dense)
                 : gather_dense(ctx, data, W);
}

enum { ROWS = 256 };

typedef struct search {
    const okra_graph_kernel_ *kernel;
    okra_int n, k;
    okra_int *near;   /* N x k: by distance, then each row okra_by_int_ */
    okra_int *held;   /* N: how many are there yet */
    double *distance; /* N x k */
    double *diagonal; /* N: K_ii */
    double tie;       /* distances that differ by no more are the same */
    okra_mat_ T;      /* K at rows i0.. and columns j0.. */
    okra_int i0, j0;
    bool turned;
} search;

/* Offered in the order of j. */
static void offer(const search *s, okra_int i, okra_int j, double d)
{
    okra_int *near = s->near + i * s->k, held = s->held[i], at = held;
    double *distance = s->distance + i * s->k;
    while (at > 0 && d + s->tie < distance[at - 1]) {
        at--;
    }
    if (at == s->k || j == i) {
        return;
    }
    s->held[i] = held = OKRA_MIN_(held + 1, s->k);
    memmove(near + at + 1, near + at, (size_t)(held - 1 - at) * sizeof *near);
    memmove(distance + at + 1, distance + at, (size_t)(held - 1 - at) * sizeof *distance);
    near[at] = j;
    distance[at] = d;
}

/* Row r of T (turned: column r) is offered all that it meets, in their order. */
static okra_status offer_all(void *arg, okra_int begin, okra_int end, int worker)
{
    const search *s = arg;
    okra_int own = s->turned ? s->j0 : s->i0, other = s->turned ? s->i0 : s->j0;
    okra_int down = s->turned ? 1 : s->T.ld, along = s->turned ? s->T.ld : 1;
    for (okra_int r = begin; r < end; r++) {
        for (okra_int c = 0; c < (s->turned ? s->T.rows : s->T.cols); c++) {
            double k = s->T.p[r * down + c * along];
            offer(s, own + r, other + c, s->diagonal[other + c] - 2 * k);
        }
    }
    return OKRA_OK;
}

/* Row i meets the blocks above the diagonal from its column, then those right of it: in
 * the order of indices. */
static okra_status by_blocks(okra_context *ctx, search *s)
{
    okra_mat_ Phi = s->kernel->Phi;
    okra_int n = s->n, m = Phi.cols, most = OKRA_MIN_(ROWS, n);
    OWNED double *T = NULL;
    CHK(okra_doubles_(ctx, most, most, "a block of distances", &T));
    for (s->i0 = 0; s->i0 < n; s->i0 += ROWS) {
        okra_mat_ A = okra_mat_part_(Phi, s->i0, OKRA_MIN_(ROWS, n - s->i0), 0, m);
        CHK(okra_cancelled_(ctx));
        for (s->j0 = s->i0; s->j0 < n; s->j0 += ROWS) {
            okra_mat_ B = okra_mat_part_(Phi, s->j0, OKRA_MIN_(ROWS, n - s->j0), 0, m);
            s->T = okra_mat_of_(T, A.rows, B.rows);
            CHK(okra_gemm_(ctx, false, true, 1, A, B, 0, s->T));
            s->turned = false;
            CHK(okra_parallel_(ctx, A.rows, 16, NULL, offer_all, s));
            s->turned = s->j0 > s->i0;
            CHK(okra_parallel_(ctx, s->turned ? B.rows : 0, 16, NULL, offer_all, s));
        }
        okra_progress_(ctx, "neighbours", s->i0 + A.rows, n);
    }
    return OKRA_OK;
}

static okra_status find(okra_context *ctx, search *s)
{
    okra_mat_ K = s->kernel->K, Phi = s->kernel->Phi;
    okra_int n = s->n;
    CHK(okra_budget_ask_(ctx, 16.0 * (double)n * ((double)s->k + 1),
                         "%lld neighbours of each of %lld inputs", (long long)s->k,
                         (long long)n));
    MAKE(s->near, n * s->k);
    MAKE(s->distance, n * s->k);
    MAKE(s->diagonal, n);
    ZMAKE(s->held, n);
    for (okra_int i = 0; i < n; i++) {
        const double *phi = Phi.p ? Phi.p + i * Phi.ld : NULL;
        s->diagonal[i] = K.p ? K.p[i * K.ld + i] : okra_dot_(Phi.cols, phi, phi);
        s->tie = K.p ? 0 : fmax(s->tie, 1e-10 * s->diagonal[i]);
    }
    s->T = K;
    CHK(K.p ? okra_parallel_(ctx, n, 16, "neighbours", offer_all, s) : by_blocks(ctx, s));
    okra_free_at_(&s->distance);
    return OKRA_OK;
}

/* ---- the graph ---- */

static bool among(const search *s, okra_int i, okra_int j)
{
    return bsearch(&j, s->near + i * s->k, (size_t)s->k, sizeof j, okra_by_int_) != NULL;
}

static okra_status weigh(const search *s, okra_int i, okra_int j, double *w)
{
    okra_mat_ K = s->kernel->K, Phi = s->kernel->Phi;
    const double *self = s->kernel->self;
    if (K.p) {
        *w = K.p[i * K.ld + j];
        return edge_weight(i, j, *w);
    }
    *w = okra_dot_(Phi.cols, Phi.p + i * Phi.ld, Phi.p + j * Phi.ld);
    if (*w < 0 && self) {
        double bound = sqrt(fmax(self[i] - s->diagonal[i], 0)) *
                       sqrt(fmax(self[j] - s->diagonal[j], 0));
        double rounding = 1e-8 * sqrt(self[i] * self[j]);
        if (*w + bound < -rounding) {
            return edge_weight(i, j, *w);
        }
    }
    *w = fmax(*w, 0);
    return OKRA_OK;
}

/* The union of both directions. */
static okra_status unite(okra_context *ctx, const search *s, okra_csr_ *W)
{
    OWNED okra_int *fill = NULL;
    okra_int n = s->n;
    ZMAKE(W->indptr, n + 1);
    for (okra_int i = 0; i < n; i++) {
        qsort(s->near + i * s->k, (size_t)s->k, sizeof *s->near, okra_by_int_);
    }
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
                double w = 0;
                CHK(weigh(s, i, j, &w));
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
            CHK(okra_budget_ask_(ctx, 32.0 * (double)W->indptr[n] + 24.0 * (double)n,
                                 "a graph of %lld entries", (long long)W->indptr[n]));
            MAKE(W->indices, W->indptr[n]);
            MAKE(W->values, W->indptr[n]);
            MAKE(fill, n);
            memcpy(fill, W->indptr, (size_t)n * sizeof *fill);
        }
    }
    return OKRA_OK;
}

okra_status okra_graph_knn_(okra_context *ctx, const okra_graph_text_ *t,
                            const okra_graph_kernel_ *kernel, okra_csr_ *W)
{
    okra_int n = kernel->K.p ? kernel->K.rows : kernel->Phi.rows;
    search s = {.kernel = kernel, .n = n, .k = t->k};
    OWNS(&s.near, &s.held, &s.distance, &s.diagonal);
    if (t->share > 0) {
        s.k = OKRA_MAX_(1, OKRA_MIN_(n - 1, (okra_int)llround(t->share * (double)n)));
    }
    REFUSE_IF(s.k > n - 1, OKRA_EARG,
              "graph: knn with k = %lld among %lld inputs, expected at most %lld",
              (long long)s.k, (long long)n, (long long)(n - 1));
    CHK(find(ctx, &s));
    return unite(ctx, &s, W);
}
