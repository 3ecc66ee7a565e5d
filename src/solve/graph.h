/*
 * graph.h: the smoothness penalty of semi-supervised methods, a graph over the inputs.
 */
#ifndef OKRA_GRAPH_H_
#define OKRA_GRAPH_H_

#include "data/data.h"
#include "engine/engine.h"

enum { OKRA_GRAPH_STAGES_ = 8 };

/* What a graph's text says: SOURCE { '|' STAGE }.
 *     gram | knn(k=10) | knn(share=0.1) | file(PATH)      then any of
 *     normalized (first), power(p=5), diffusion(beta=1)                            */
typedef struct okra_graph_text_ {
    enum { OKRA_GRAPH_GRAM_, OKRA_GRAPH_KNN_, OKRA_GRAPH_FILE_ } source;
    okra_int k;   /* knn: neighbours; 0: by share */
    double share; /* knn: of the inputs           */
    char *file;   /* to be freed by the caller    */
    bool normalized;
    int stages;
    struct {
        bool diffusion; /* else power */
        double value;   /* beta, or p */
    } stage[OKRA_GRAPH_STAGES_];
} okra_graph_text_;

okra_status okra_graph_parse_(const char *text, okra_graph_text_ *out) OKRA_CHECK;

/* The penalty matrix M (N x N, symmetric, positive semi-definite). */
typedef struct okra_graph_ okra_graph_;

/* K: the Gram matrix of the N inputs, only read. */
okra_status okra_graph_create_(okra_context *ctx, const char *text, okra_mat_ K,
                               okra_graph_ **out) OKRA_CHECK;
void okra_graph_free_(okra_graph_ *graph); /* accepts NULL */
OKRA_DROPS_(okra_graph_drop_, okra_graph_, okra_graph_free_)
/* out <- X M, both r x N. */
okra_status okra_graph_apply_(okra_context *ctx, const okra_graph_ *graph, okra_mat_ X,
                              okra_mat_ out) OKRA_CHECK;
/* ---- kernels of low rank ---- */

/* The N inputs, seen through their Gram matrix or their features. */
typedef struct okra_graph_kernel_ {
    okra_mat_ K;        /* N x N, or p == NULL:                                     */
    okra_mat_ Phi;      /* N x m                                                    */
    const double *self; /* Phi: k(x, x), so that |k(x, x') - phi'phi'| is bounded by the
                           residuals of both; NULL: no such bound is known          */
} okra_graph_kernel_;

/* OKRA_EUNSUPPORTED where low rank has no form of the graph. */
okra_status okra_graph_low_check_(const char *text) OKRA_CHECK;
/* knn or file: the Laplacian in compressed rows, and the power M is of it. */
okra_status okra_graph_low_(okra_context *ctx, const char *text,
                            const okra_graph_kernel_ *kernel,
                            okra_graph_ **out) OKRA_CHECK;
okra_int okra_graph_power_(const okra_graph_ *graph);
/* out <- rows first.. of (Laplacian T), T: N x m; for graphs of okra_graph_low_. */
okra_status okra_graph_rows_(okra_context *ctx, const okra_graph_ *graph, okra_mat_ T,
                             okra_int first, okra_mat_ out) OKRA_CHECK;

/* ---- where weights come from: graph_knn.c, graph_file.c ---- */

okra_status okra_graph_weight_(okra_int i, okra_int j, double w) OKRA_CHECK; /* >= 0 */
okra_status okra_graph_knn_(okra_context *ctx, const okra_graph_text_ *text,
                            const okra_graph_kernel_ *kernel, okra_csr_ *W) OKRA_CHECK;
/* Of a dense file `dense` (n x n) is filled, or, where that is NULL, W as well. */
okra_status okra_graph_read_(okra_context *ctx, const char *file, okra_int n,
                             okra_csr_ *W, double **dense) OKRA_CHECK;
okra_status okra_graph_copy_(okra_context *ctx, okra_int n, const double *values,
                             okra_int ld, double **W) OKRA_CHECK;

/* Entries of the Laplacian that are kept: N*N when it is dense. */
okra_int okra_graph_entries_(const okra_graph_ *graph);

#endif
