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
 *   normalized   M = D^-1/2 (D - W) D^-1/2; a node without weights has a row of 0
 *   power(p)     M <- M^p: the Laplacian iterated to degree p (sec. 6.2.2)
 *   diffusion    M <- exp(-beta M) (sec. 6.1.1); as in the paper, this weighs smooth
 *                directions most (1 for constants), where M itself weighs them least
 *
 * W must be >= 0: otherwise M need not be positive semi-definite and the penalty would
 * reward roughness. Loops W_ii cancel in D - W, and count in D where that is divided by:
 * `gram` has the loops K_ii, knn has none, a file has what stands in it.
 *
 * Sparse Laplacians (knn, sparse files) stay in compressed rows, also when normalized or
 * raised to a power, which is applied as p products; diffusion makes a dense matrix by
 * one eigendecomposition, O(N^3).
 *
 * A kernel of low rank, K = Phi Phi' (N x m), has its sparse Laplacians by
 * products by rows, so that nothing of size N x N is formed
 * (low.c, which also has `gram`); diffusion, a dense matrix, it has not.
 */
#include "solve/graph.h"

#include "kernel/expression/expr.h"

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
        FREE(graph->dense, graph);
    }
}

okra_int okra_graph_entries_(const okra_graph_ *graph)
{
    return graph->dense ? graph->n * graph->n : graph->csr.indptr[graph->n];
}

/* ---- the Laplacian ---- */

/* W becomes D - W, or D^-1/2 (D - W) D^-1/2, in place. */
static okra_status laplacian_dense(okra_graph_ *g, bool normalized)
{
    okra_int n = g->n;
    OWNED double *degree = NULL;
    ZMAKE(degree, n);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            degree[i] += i == j && !normalized ? 0 : g->dense[i * n + j];
        }
    }
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            double *m = &g->dense[i * n + j], scale = sqrt(degree[i] * degree[j]);
            *m = i == j ? degree[i] - (normalized ? *m : 0) : -*m;
            *m = !normalized ? *m : scale > 0 ? *m / scale : 0;
        }
    }
    return OKRA_OK;
}

static okra_status laplacian_sparse(okra_graph_ *g, bool normalized)
{
    okra_int n = g->n, at = 0;
    OWNED double *loop = NULL, *degree = NULL;
    FREED_BY(okra_csr_free_) okra_csr_ M = {0};
    okra_csr_ *W = &g->csr;
    ZMAKE(degree, n);
    ZMAKE(loop, n);
    MAKE(M.indptr, n + 1);
    MAKE(M.indices, W->indptr[n] + n);
    MAKE(M.values, W->indptr[n] + n);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int e = W->indptr[i]; e < W->indptr[i + 1]; e++) {
            bool own = W->indices[e] == i;
            degree[i] += own && !normalized ? 0 : W->values[e];
            loop[i] += own && normalized ? W->values[e] : 0;
        }
    }
    for (okra_int i = 0; i < n; i++) {
        M.indptr[i] = at;
        M.indices[at] = i;
        double own = degree[i] - loop[i];
        M.values[at++] = !normalized ? own : degree[i] > 0 ? own / degree[i] : 0;
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
    *W = TAKE(M);
    return OKRA_OK;
}

static okra_status densify(okra_context *ctx, okra_graph_ *g)
{
    okra_int n = g->n;
    if (!g->dense) {
        CHK(okra_doubles_(ctx, n, n, "the graph of a diffusion", &g->dense));
        okra_mat_fill_(okra_mat_of_(g->dense, n, n), 0);
        for (okra_int i = 0; i < n; i++) {
            for (okra_int e = g->csr.indptr[i]; e < g->csr.indptr[i + 1]; e++) {
                g->dense[i * n + g->csr.indices[e]] = g->csr.values[e];
            }
        }
        okra_csr_free_(&g->csr);
        g->csr = (okra_csr_){0};
    }
    return OKRA_OK;
}

/* M = V' f(w) V, f the stages one after the other: R'R with R = f(w)^1/2 V. */
static okra_status by_spectrum(okra_context *ctx, const okra_graph_text_ *t,
                               okra_graph_ *g)
{
    okra_int n = g->n;
    OWNED double *w = NULL, *M = NULL;
    MAKE(w, n);
    CHK(densify(ctx, g));
    CHK(okra_engine_eigh_(ctx, okra_mat_of_(g->dense, n, n), w));
    CHK(okra_doubles_(ctx, n, n, "the graph of a diffusion", &M));
    for (okra_int i = 0; i < n; i++) {
        double f = fmax(w[i], 0);
        for (int k = 0; k < t->stages; k++) {
            f = t->stage[k].diffusion ? exp(-t->stage[k].value * f)
                                      : pow(f, t->stage[k].value);
        }
        okra_scale_(n, sqrt(f), g->dense + i * n);
    }
    CHK(okra_engine_syrk_(ctx, true, 1, okra_mat_of_(g->dense, n, n), 0,
                          okra_mat_of_(M, n, n)));
    okra_free_(g->dense);
    g->dense = TAKE(M);
    return OKRA_OK;
}

okra_status okra_graph_create_(okra_context *ctx, const char *text,
                               const okra_graph_kernel_ *kernel, okra_graph_ **out)
{
    okra_graph_text_ t = {0};
    OWNS(&t.file);
    FREED_BY(okra_graph_drop_) okra_graph_ *g = NULL;
    okra_mat_ K = kernel->K;
    bool diffuses = false;
    CHK(okra_graph_parse_(text, &t));
    ZMAKE(g, 1);
    g->n = K.p ? K.rows : kernel->Phi.rows;
    g->power = 1;
    if (t.source == OKRA_GRAPH_KNN_) {
        CHK(okra_graph_knn_(ctx, &t, kernel, &g->csr));
    } else if (t.source == OKRA_GRAPH_FILE_) {
        CHK(okra_graph_read_(ctx, t.file, g->n, &g->csr, K.p ? &g->dense : NULL));
    } else {
        CHK(okra_graph_copy_(ctx, g->n, K.p, K.ld, &g->dense));
    }
    CHK(g->dense ? laplacian_dense(g, t.normalized) : laplacian_sparse(g, t.normalized));
    for (int k = 0; k < t.stages; k++) {
        diffuses = diffuses || t.stage[k].diffusion;
        g->power *= t.stage[k].diffusion ? 1 : (okra_int)t.stage[k].value;
    }
    if (diffuses) {
        g->power = 1;
        CHK(by_spectrum(ctx, &t, g));
    }
    *out = TAKE(g);
    return OKRA_OK;
}

okra_status okra_graph_low_check_(const char *text)
{
    okra_graph_text_ t = {0};
    OWNS(&t.file);
    CHK(okra_graph_parse_(text, &t));
    for (int k = 0; k < t.stages; k++) {
        REFUSE_IF(
            t.stage[k].diffusion || t.source == OKRA_GRAPH_GRAM_, OKRA_EUNSUPPORTED,
            "graph: '%s': %s needs a matrix of all pairs of inputs, which low-rank-x "
            "does not form",
            text, t.stage[k].diffusion ? "diffusion" : "a power of gram");
    }
    return OKRA_OK;
}

okra_int okra_graph_power_(const okra_graph_ *graph)
{
    return graph->power;
}

/* ---- products ---- */

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
            OKRA_SWAP_(from, to);
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
    product p = {g, X, out, NULL};
    OWNS(&p.pads);
    CHK(okra_doubles_(ctx, 2 * LANES * okra_workers_(ctx), g->n,
                      "a product with the graph", &p.pads));
    return okra_parallel_(ctx, X.rows, 2 * LANES, "graph", rows_times_sparse, &p);
}

static okra_status apply_dense(okra_context *ctx, const okra_graph_ *g, okra_mat_ X,
                               okra_mat_ out)
{
    FREED_BY(okra_mat_drop_) okra_mat_ other = {0};
    okra_mat_ M = okra_mat_of_(g->dense, g->n, g->n);
    CHK(okra_engine_gemm_(ctx, false, false, 1, X, M, 0, out));
    if (g->power > 1) {
        CHK(okra_mat_room_(ctx, X.rows, g->n, "a product with the graph", &other));
        for (okra_int k = 1; k < g->power; k++) {
            CHK(okra_mat_copy_(out, other));
            CHK(okra_engine_gemm_(ctx, false, false, 1, other, M, 0, out));
        }
    }
    return OKRA_OK;
}

okra_status okra_graph_apply_(okra_context *ctx, const okra_graph_ *graph, okra_mat_ X,
                              okra_mat_ out)
{
    return graph->dense ? apply_dense(ctx, graph, X, out)
                        : apply_sparse(ctx, graph, X, out);
}

typedef struct rows_product {
    const okra_csr_ *csr;
    okra_int first;
    okra_mat_ T, out;
} rows_product;

static okra_status sparse_rows(void *arg, okra_int begin, okra_int end, int worker)
{
    const rows_product *p = arg;
    for (okra_int i = begin; i < end; i++) {
        double *to = p->out.p + i * p->out.ld;
        memset(to, 0, (size_t)p->out.cols * sizeof *to);
        okra_int row = p->first + i;
        for (okra_int e = p->csr->indptr[row]; e < p->csr->indptr[row + 1]; e++) {
            const double *from = p->T.p + p->csr->indices[e] * p->T.ld;
            double w = p->csr->values[e];
            okra_axpy_(p->out.cols, w, from, to);
        }
    }
    return OKRA_OK;
}

okra_status okra_graph_rows_(okra_context *ctx, const okra_graph_ *graph, okra_mat_ T,
                             okra_int first, okra_mat_ out)
{
    rows_product p = {&graph->csr, first, T, out};
    return okra_parallel_(ctx, out.rows, 16, "graph", sparse_rows, &p);
}

/* ---- its text ---- */

typedef struct values {
    okra_int k, p;
    double share, beta;
} values;

static const okra_option knn_rows[] = {
    {"k", OKRA_OPTION_INT, offsetof(values, k), "0", 0, 9e15, NULL, "N", "Neighbours"},
    {"share", OKRA_OPTION_NUMBER, offsetof(values, share), "0", 0, 1, NULL, "V",
     "Neighbours as a share of the inputs"},
    {0}};
static const okra_option power_rows[] = {
    {"p", OKRA_OPTION_INT, offsetof(values, p), "5", 1, 64, NULL, "N", "Exponent"}, {0}};
static const okra_option diffusion_rows[] = {{"beta", OKRA_OPTION_NUMBER,
                                              offsetof(values, beta), "1", 1e-300, 1e300,
                                              NULL, "V", "Time of diffusion"},
                                             {0}};
static const okra_option no_rows[] = {{0}};

/* Sources, then stages. */
static const okra_option_table tables[] = {
    {"gram", no_rows, sizeof(values)},     {"knn", knn_rows, sizeof(values)},
    {"file", no_rows, sizeof(values)},     {"normalized", no_rows, sizeof(values)},
    {"power", power_rows, sizeof(values)}, {"diffusion", diffusion_rows, sizeof(values)},
};
enum { GRAM, KNN, FILE_NAME, NORMALIZED, POWER, DIFFUSION, NAMES };

/* One of the tables first..end-1, and its parameters; of a file the name alone. */
static okra_status read_part(okra_parser_ *p, int first, int end, int *which, values *v)
{
    okra_parse_next_(p);
    size_t length = okra_parse_name_(p->text + p->at);
    for (*which = first; *which < end; ++*which) {
        const char *name = tables[*which].owner;
        if (strlen(name) == length && strncmp(name, p->text + p->at, length) == 0) {
            p->at += length;
            return *which == FILE_NAME ? OKRA_OK
                                       : okra_parse_params_(p, &tables[*which], false, v);
        }
    }
    return okra_parse_fail_(p, OKRA_EARG, p->at, "expected %s",
                            first == GRAM
                                ? "gram, knn(k=N), knn(share=V) or file(PATH)"
                                : "normalized, power(p=N) or diffusion(beta=V)");
}

/* (PATH), which may hold brackets itself */
static okra_status read_path(okra_parser_ *p, char **file)
{
    static const char spaces[] = " \t\n";
    PARSE_REFUSE_IF(okra_parse_next_(p) != '(', p->at, "expected file(PATH)");
    const char *begin = p->text + p->at + 1, *end = begin + strcspn(begin, "|");
    while (end > begin && *end != ')') {
        end--;
    }
    size_t at = p->at;
    p->at = (size_t)(end + 1 - p->text);
    begin += strspn(begin, spaces);
    while (end > begin && strchr(spaces, end[-1])) {
        end--;
    }
    PARSE_REFUSE_IF(end <= begin, at, "file() names no file");
    GOT(*file = okra_strndup_(begin, (size_t)(end - begin)));
    return OKRA_OK;
}

static okra_status read_source(okra_parser_ *p, okra_graph_text_ *out)
{
    values v = {0};
    int which = 0;
    CHK(read_part(p, GRAM, NORMALIZED, &which, &v));
    out->source = which == GRAM  ? OKRA_GRAPH_GRAM_
                  : which == KNN ? OKRA_GRAPH_KNN_
                                 : OKRA_GRAPH_FILE_;
    out->k = v.k;
    out->share = v.share;
    PARSE_REFUSE_IF(which == KNN && (v.k > 0) == (v.share > 0), p->at,
                    "knn takes either k=N or share=V");
    return which == FILE_NAME ? read_path(p, &out->file) : OKRA_OK;
}

static okra_status read_stage(okra_parser_ *p, okra_graph_text_ *out)
{
    values v = {0};
    int which = 0;
    CHK(read_part(p, NORMALIZED, NAMES, &which, &v));
    if (which == NORMALIZED) {
        PARSE_REFUSE_IF(out->normalized || out->stages > 0, p->at,
                        "normalized stands once, right after the graph");
        out->normalized = true;
        return OKRA_OK;
    }
    PARSE_REFUSE_IF(out->stages == OKRA_GRAPH_STAGES_, p->at, "more than %d stages",
                    OKRA_GRAPH_STAGES_);
    out->stage[out->stages].diffusion = which == DIFFUSION;
    out->stage[out->stages++].value = which == DIFFUSION ? v.beta : (double)v.p;
    return OKRA_OK;
}

okra_status okra_graph_parse_(const char *text, okra_graph_text_ *out)
{
    okra_graph_text_ g = {0};
    OWNS(&g.file);
    okra_parser_ parser = {.text = text, .what = "graph"}, *p = &parser;
    CHK(read_source(p, &g));
    while (okra_parse_next_(p) == '|') {
        p->at++;
        CHK(read_stage(p, &g));
    }
    PARSE_REFUSE_IF(text[p->at], p->at, "expected a pipe, or the end");
    *out = TAKE(g);
    return OKRA_OK;
}
