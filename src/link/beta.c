/*
 * beta.c: how long to diffuse.
 *
 * For small beta exp(-beta L) is the identity, for large beta all nodes of a component
 * look the same: neither tells anything of the network. Between them the similarities
 *     c_ij = k_ij / sqrt(k_ii k_jj),  i < j,
 * take many different values. beta is chosen so that the entropy of their histogram (50
 * equal bins from the smallest to the largest) is greatest. Brouard et al. 2016 (sec.
 * 6.1.2) take "an information criterion" without its formula: this one is ours.
 *
 * One eigendecomposition, L = V' diag(x) V; then 2 s n^2 a value of beta for the rows of
 * s <= 400 nodes. Candidates are 1/d times 41 values from 0.1 to 1000, log-spaced, d the
 * mean degree.
 */
#include "link/link.h"

#include "kernel/networks/network.h"

enum { ROWS = 400, CANDIDATES = 41 };

/* V' diag(x) V in the place of the Laplacian. */
static okra_status laplacian(okra_context *ctx, const okra_network_ *network, okra_mat_ A,
                             double *x)
{
    const okra_csr_ *w = &network->adjacency;
    okra_mat_fill_(A, 0);
    for (okra_int i = 0; i < network->nodes; i++) {
        for (okra_int k = w->indptr[i]; k < w->indptr[i + 1]; k++) {
            A.p[i * A.ld + w->indices[k]] = -w->values[k];
            A.p[i * A.ld + i] += w->values[k];
        }
    }
    return okra_engine_eigh_(ctx, A, x);
}

/* Rows i0.. of the kernel: a row of V holds an eigenvector. self[j] = k_jj. */
static okra_status kernel_rows(okra_context *ctx, okra_mat_ V, const double *x,
                               double beta, okra_mat_ scaled, okra_mat_ K, double *self)
{
    okra_int n = V.rows;
    okra_fill_(n, 0, self);
    for (okra_int r = 0; r < n; r++) {
        double e = exp(-beta * fmax(x[r], 0));
        const double *v = V.p + r * V.ld;
        for (okra_int j = 0; j < n; j++) {
            scaled.p[r * scaled.ld + j] = e * v[j];
            self[j] += e * v[j] * v[j];
        }
    }
    return okra_engine_gemm_(ctx, true, false, 1, okra_mat_part_(V, 0, n, 0, K.rows),
                             scaled, 0, K);
}

okra_status okra_link_beta(okra_context *context, okra_int nodes, const okra_link *edges,
                           okra_int edge_count, double *beta)
{
    if (edge_count > 0) {
        NOT_NULL(edges);
    }
    NOT_NULL(beta);
    FREED_BY(okra_network_drop_) okra_network_ *network = NULL;
    OWNED okra_link_ *list = NULL;
    OWNED double *V = NULL, *scaled = NULL, *K = NULL, *x = NULL, *self = NULL;
    double degree = 0;
    double best = -1, chosen = 0;
    REFUSE_IF(edge_count < 1, OKRA_EARG, "there is no edge to choose beta by");
    MAKE(list, edge_count);
    for (okra_int k = 0; k < edge_count; k++) {
        list[k] = (okra_link_){edges[k].a, edges[k].b, edges[k].value};
        degree += 2 * edges[k].value / (double)nodes;
    }
    CHK(okra_network_create_(nodes, list, edge_count, NULL, NULL, &network));
    okra_int rows = OKRA_MIN_(nodes, ROWS);
    CHK(okra_doubles_(context, nodes, nodes, "the Laplacian of the network", &V));
    CHK(okra_doubles_(context, nodes, nodes, "scaled eigenvectors", &scaled));
    CHK(okra_doubles_(context, rows, nodes, "rows of the kernel", &K));
    MAKE(x, nodes);
    MAKE(self, nodes);
    okra_mat_ vectors = okra_mat_of_(V, nodes, nodes), k = okra_mat_of_(K, rows, nodes);
    CHK(laplacian(context, network, vectors, x));
    for (int c = 0; c < CANDIDATES; c++) {
        double candidate = pow(10, -1 + 0.1 * c) / degree;
        CHK(okra_cancelled_(context));
        CHK(kernel_rows(context, vectors, x, candidate,
                        okra_mat_of_(scaled, nodes, nodes), k, self));
        double information = okra_similarity_entropy_(k, self);
        if (information > best) {
            best = information;
            chosen = candidate;
        }
        okra_progress_(context, "choose beta", c + 1, CANDIDATES);
    }
    *beta = chosen;
    return OKRA_OK;
}
