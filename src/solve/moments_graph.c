/*
 * moments_graph.c: the smoothness penalty of semi-supervised ridge in factored form:
 *     Phi'P Phi = C + 2 lambda_2 Phi'M Phi,   P = J'J + 2 lambda_2 M (semi.c),
 * C over the labelled inputs, M of graph.c over all N inputs.
 *
 * gram: W = Phi Phi', s = Phi'1, G = Phi'Phi; M = diag(W 1) - W gives
 *     Phi'M Phi = Phi' diag(Phi s) Phi - G G.
 * gram | normalized: d_i = phi_i's, loops included, and with e_i = d_i^-1/2 (0 where d_i
 * is 0)
 *     Phi'M Phi = Phi' diag(d_i > 0) Phi - G G,   G = Phi' diag(e) Phi.
 * W must be >= 0, as in graph.c; what is seen of it are its row sums, which are checked.
 *
 * knn, file: a sparse Laplacian Lap, M = Lap^p. T = Lap^a Phi, a = p / 2 rounded down,
 * by a products of rows; then Phi'M Phi is T'T, or T'(Lap T) where p is odd.
 *
 * Cost: gram two passes over the inputs, 3 N m^2 and 2 m^3, memory 2 m^2 and a block. The
 * others: one pass, the neighbours (graph_knn.c: N^2 m), 2 p m a weight, 2 N m^2; Phi
 * (N x m; from p = 2 on two of that size) is kept, in a file where it is large.
 */
#include "solve/moments.h"

#include "kernel/lowrank/lowrank.h"
#include "solve/graph.h"

typedef struct penalty {
    bool normalized;
    okra_mat_ G, Q; /* m x m: as above, and the first term */
    double *s;      /* m */
    double total;   /* 1'W 1 = |s|^2 */
    double *scaled; /* ROWS x m */
} penalty;

enum { ROWS = 1024 };

/* ---- gram ---- */

static okra_status first(okra_context *ctx, void *user, okra_int at, okra_mat_ Phi,
                         okra_mat_ Psi)
{
    penalty *z = user;
    (void)Psi;
    if (!z->normalized) {
        CHK(okra_syrk_(ctx, true, 1, Phi, at > 0, z->G));
    }
    for (okra_int i = 0; i < Phi.rows; i++) {
        for (okra_int j = 0; j < Phi.cols; j++) {
            z->s[j] += Phi.p[i * Phi.ld + j];
        }
    }
    return OKRA_OK;
}

/* The weight of input i in the first term, and in G. */
static okra_status weigh(const penalty *z, okra_int i, okra_int m, const double *phi,
                         double weight[2])
{
    double sum = okra_dot_(m, phi, z->s);
    REFUSE_IF(sum < -1e-8 * z->total, OKRA_EARG,
              "graph gram: the kernel of input %lld with all others sums to %g, expected "
              "a kernel whose values are not below 0",
              (long long)i, sum);
    weight[0] = sum;
    weight[1] = 1;
    if (z->normalized) {
        weight[0] = sum > 0;
        weight[1] = sum > 0 ? 1 / sqrt(sum) : 0;
    }
    return OKRA_OK;
}

static okra_status second(okra_context *ctx, void *user, okra_int at, okra_mat_ Phi,
                          okra_mat_ Psi)
{
    penalty *z = user;
    okra_int m = Phi.cols;
    (void)Psi;
    for (okra_int i0 = 0; i0 < Phi.rows; i0 += ROWS) {
        okra_int some = OKRA_MIN_(ROWS, Phi.rows - i0);
        okra_mat_ P = okra_mat_part_(Phi, i0, some, 0, m);
        okra_mat_ S = okra_mat_of_(z->scaled, some, m);
        for (int term = 0; term < 1 + z->normalized; term++) {
            for (okra_int i = 0; i < some; i++) {
                const double *phi = P.p + i * P.ld;
                double weight[2];
                CHK(weigh(z, at + i0 + i, m, phi, weight));
                for (okra_int j = 0; j < m; j++) {
                    S.p[i * m + j] = weight[term] * phi[j];
                }
            }
            CHK(okra_gemm_(ctx, true, false, 1, P, S, at + i0 > 0, term ? z->G : z->Q));
        }
    }
    return OKRA_OK;
}

static okra_status by_gram(okra_context *ctx, const okra_problem_ *all, penalty *z)
{
    OWNS(&z->s, &z->scaled);
    okra_int m = z->Q.rows;
    OWNED double *G = NULL;
    CHK(okra_doubles_(ctx, m, m, "the moments of all inputs", &G));
    CHK(okra_doubles_(ctx, OKRA_MIN_(ROWS, all->n), m, "a block of features",
                      &z->scaled));
    ZMAKE(z->s, m);
    z->G = okra_mat_of_(G, m, m);
    CHK(okra_moments_pass_(ctx, all, "moments of all inputs", true, first, z));
    z->total = okra_dot_(m, z->s, z->s);
    CHK(okra_moments_pass_(ctx, all, "smoothness", true, second, z));
    return okra_gemm_(ctx, false, true, -1, z->G, z->G, 1, z->Q);
}

/* ---- sparse graphs ---- */

static okra_status keep(okra_context *ctx, void *user, okra_int at, okra_mat_ Phi,
                        okra_mat_ Psi)
{
    (void)ctx;
    (void)Psi;
    if (Phi.ld == Phi.cols) {
        return okra_scratch_write_(user, at, Phi.rows, Phi.p);
    }
    for (okra_int i = 0; i < Phi.rows; i++) {
        CHK(okra_scratch_write_(user, at + i, 1, Phi.p + i * Phi.ld));
    }
    return OKRA_OK;
}

static okra_mat_ matrix_of(const okra_scratch_ *s)
{
    return okra_mat_view_(s->p, s->rows, s->cols, s->cols);
}

/* T <- Lap T */
static okra_status advance(okra_context *ctx, const okra_graph_ *graph, okra_scratch_ *T,
                           okra_mat_ block)
{
    FREED_BY(okra_scratch_clear_) okra_scratch_ next = {0};
    CHK(okra_scratch_create_(ctx, T->rows, T->cols, "a product with the graph", &next));
    for (okra_int i = 0; i < T->rows; i += block.rows) {
        okra_mat_ some =
            okra_mat_part_(block, 0, OKRA_MIN_(block.rows, T->rows - i), 0, block.cols);
        CHK(okra_graph_rows_(ctx, graph, matrix_of(T), i, some));
        CHK(okra_scratch_write_(&next, i, some.rows, some.p));
    }
    okra_scratch_clear_(T);
    *T = next;
    next = (okra_scratch_){0};
    return OKRA_OK;
}

static okra_status apply(okra_context *ctx, const okra_graph_ *graph, okra_scratch_ *T,
                         okra_mat_ Q)
{
    okra_int N = T->rows, m = T->cols, power = okra_graph_power_(graph);
    okra_int rows = okra_block_rows_(ctx, N, m);
    OWNED double *block = NULL;
    CHK(okra_doubles_(ctx, rows, m, "a block of features", &block));
    for (okra_int k = 0; k < power / 2; k++) {
        CHK(advance(ctx, graph, T, okra_mat_of_(block, rows, m)));
    }
    for (okra_int i = 0; i < N; i += rows) {
        okra_int some = OKRA_MIN_(rows, N - i);
        okra_mat_ A = okra_mat_part_(matrix_of(T), i, some, 0, m), B = A;
        CHK(okra_cancelled_(ctx));
        if (power % 2) {
            B = okra_mat_of_(block, some, m);
            CHK(okra_graph_rows_(ctx, graph, matrix_of(T), i, B));
        }
        CHK(okra_gemm_(ctx, true, false, 1, A, B, i > 0, Q));
    }
    return OKRA_OK;
}

static okra_status by_weights(okra_context *ctx, const okra_problem_ *all,
                              const char *text, okra_mat_ Q)
{
    OWNED double *self = NULL;
    FREED_BY(okra_scratch_clear_) okra_scratch_ Phi = {0};
    FREED_BY(okra_graph_drop_) okra_graph_ *graph = NULL;
    CHK(okra_scratch_create_(ctx, all->n, Q.rows, "the features of the inputs", &Phi));
    CHK(okra_moments_pass_(ctx, all, "features", true, keep, &Phi));
    if (!all->map_x->kernel) { /* waves are no projection: no bound */
        MAKE(self, all->x->n);
        CHK(okra_map_self_(ctx, all->map_x, all->x, self));
    }
    okra_graph_kernel_ kernel = {.Phi = matrix_of(&Phi), .self = self};
    CHK(okra_graph_low_(ctx, text, &kernel, &graph));
    return apply(ctx, graph, &Phi, Q);
}

/* ---- both ---- */

okra_status okra_moments_smooth_(okra_context *ctx, const okra_problem_ *p,
                                 const char *graph, double lambda2, okra_moments_ *t)
{
    okra_int m = t->m;
    OWNED double *Q = NULL;
    okra_graph_text_ text = {0};
    OWNS(&text.file);
    okra_problem_ all = *p; /* every input, and no outputs */
    all.n += all.unlabelled;
    all.map_y = NULL;
    all.features = NULL;
    all.weights = NULL; /* the graph holds each input once */
    CHK(okra_graph_low_check_(graph));
    CHK(okra_graph_parse_(graph, &text));
    CHK(okra_doubles_(ctx, m, m, "the smoothness penalty", &Q));
    penalty z = {.normalized = text.normalized, .Q = okra_mat_of_(Q, m, m)};
    CHK(text.source == OKRA_GRAPH_GRAM_ ? by_gram(ctx, &all, &z)
                                        : by_weights(ctx, &all, graph, z.Q));
    for (okra_int i = 0; i < m; i++) {
        for (okra_int j = 0; j <= i; j++) { /* symmetric to the last bit */
            double q = lambda2 * (Q[i * m + j] + Q[j * m + i]);
            t->C[i * m + j] += q;
            t->C[j * m + i] = t->C[i * m + j];
        }
    }
    return OKRA_OK;
}
