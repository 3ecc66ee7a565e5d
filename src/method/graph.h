/*
 * graph.h: the smoothness penalty of semi-supervised methods, a graph over the inputs.
 */
#ifndef OKRA_GRAPH_H_
#define OKRA_GRAPH_H_

#include "linalg/linalg.h"

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
/* out <- X M, both r x N. */
okra_status okra_graph_apply_(okra_context *ctx, const okra_graph_ *graph, okra_mat_ X,
                              okra_mat_ out) OKRA_CHECK;
/* Entries of the Laplacian that are kept: N*N when it is dense. */
okra_int okra_graph_entries_(const okra_graph_ *graph);

#endif
