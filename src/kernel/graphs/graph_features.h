/*
 * graph_features.h: kernels that count features of graphs or strings.
 *
 * A feature is a sequence of numbers, built up step by step: code' = fold(code, a, b).
 * With `bits` = 0 codes are exact: a dictionary gives every distinct sequence a code of
 * its own, so that two features are equal if and only if their sequences are. With bits
 * > 0 the code is a 64-bit hash that says which of `bits` places the feature goes to, and
 * different features may share a place.
 *
 *     k(a, b) = sum over features f of c_f(a) c_f(b),    c_f: how often, or 0/1
 *
 * To add a kernel of this sort: an `okra_extract_` function, and a class with it and
 * OKRA_FEATURE_CLASS_.
 */
#ifndef OKRA_GRAPH_FEATURES_H_
#define OKRA_GRAPH_FEATURES_H_

#include "kernel/kernel.h"

typedef struct okra_coder_ okra_coder_;

/* The features of one object so far. */
typedef struct okra_collector_ {
    okra_coder_ *coder;
    uint64_t *codes;
    okra_int count, room;
} okra_collector_;

enum { OKRA_CODE_ROOT_ = 0 }; /* the empty sequence */

okra_status okra_fold_(okra_collector_ *c, uint64_t code, uint64_t a, uint64_t b,
                       uint64_t *out);
/* Counts the feature once more. */
okra_status okra_collect_(okra_collector_ *c, uint64_t code);

/* One graph with neighbours by node, labels as codes of one meaning in every object. */
typedef struct okra_graph_view_ {
    okra_int nodes, edges;
    const int32_t *letters; /* of a string, `nodes` of them; it has nothing else     */
    const uint64_t *label;  /* of the nodes                                          */
    const int32_t *atom;    /* nodes x 4, see data/graphs.h, or NULL                  */
    const okra_int *first;  /* neighbours of i: first[i]..first[i+1]-1                */
    const int32_t *other;   /* the node at the other end                              */
    const int32_t *edge;    /* which edge                                             */
    const uint64_t *edge_label; /* by place among the neighbours */
} okra_graph_view_;

/* Room for the largest graph of a collection, and the view of one of them. */
typedef struct okra_graph_space_ {
    okra_graph_view_ view;
    uint64_t *label, *edge_label;
    okra_int *first;
    int32_t *other, *edge;
} okra_graph_space_;
okra_status okra_graph_space_create_(const okra_data *data, okra_graph_space_ *space);
void okra_graph_space_clear_(okra_graph_space_ *space);
/* space->view <- graph i; its labels are coded by the collector. */
okra_status okra_graph_view_make_(const okra_data *data, okra_int i, okra_collector_ *c,
                                  okra_graph_space_ *space);

/* Puts all features of a graph into the collector. */
typedef okra_status (*okra_extract_)(const void *params, const okra_graph_view_ *graph,
                                     okra_collector_ *c);

/* The leading parameters of every such kernel. */
typedef struct okra_feature_params_ {
    bool count;    /* how often; else 0/1 */
    okra_int bits; /* 0: exact */
} okra_feature_params_;

okra_status okra_features_bind_(okra_context *ctx, const okra_kernel_class_ *class,
                                const void *params, const okra_data *train,
                                void **shared);
void okra_features_unbind_(void *shared);
okra_status okra_features_side_(okra_context *ctx, const void *params, const void *shared,
                                const okra_data *data, void **side);
void okra_features_free_side_(void *side);
okra_status okra_features_block_(okra_context *ctx, const void *params, const void *a,
                                 okra_int i0, okra_int ni, const void *b, okra_int j0,
                                 okra_int nj, double *out, okra_int ld);
okra_status okra_features_diagonal_(okra_context *ctx, const void *params, const void *a,
                                    okra_int n, double *out);

/* Hashed features as bits: rows[i] (`words` = ceil(bits/64) words each, zeroed here) gets
 * the places of the features of graph i. For classes with `extract`, bits > 0. */
okra_status okra_features_bits_(okra_context *ctx, const okra_kernel_class_ *class,
                                const void *params, const okra_data *data,
                                uint64_t *rows);

/* The same as counts: compressed rows of places, which the caller frees. */
okra_status okra_features_counts_(okra_context *ctx, const okra_kernel_class_ *class,
                                  const void *params, const okra_data *data,
                                  okra_csr_ *out);

/* What the classes of such kernels have in common. */
#define OKRA_FEATURE_CLASS_(kind)                                                        \
    .kinds = 1u << (kind), .unbind = okra_features_unbind_, .side = okra_features_side_, \
    .free_side = okra_features_free_side_, .block = okra_features_block_,                \
    .diagonal = okra_features_diagonal_
/* clang-format off */
#define OKRA_FEATURE_ROWS_(type, preset_)                                               \
    {"count", OKRA_OPTION_BOOL, offsetof(type, how.count), preset_, 0, 1, NULL, "0|1",  \
     "count features (1) or only tell whether they are there (0)"},                     \
    {"bits", OKRA_OPTION_INT, offsetof(type, how.bits), "0", 0, 1 << 24, NULL, "N",     \
     "hash features to N places; 0: keep all features"}
/* clang-format on */

/* ---- codes ---- */

/* base: codes known already, only read; NULL for none. hash: no dictionary at all. */
okra_status okra_coder_create_(const okra_coder_ *base, bool hash, okra_coder_ **out);
void okra_coder_free_(okra_coder_ *coder);
OKRA_DROPS_(okra_coder_drop_, okra_coder_, okra_coder_free_)

/* ---- one round of label refinement, shared by wl and ecfp ---- */

/* A neighbour as it is seen: the label of the edge and the code of the node. */
typedef struct okra_neighbour_ {
    uint64_t edge, node;
} okra_neighbour_;

/* Room for the neighbours of any one node. */
okra_status okra_neighbours_(const okra_graph_view_ *g, okra_neighbour_ **out);

/* next[i] <- code of (round, code[i], sorted neighbours of i as they are seen). */
okra_status okra_refine_(const okra_graph_view_ *g, okra_collector_ *c, uint64_t round,
                         const uint64_t *code, okra_neighbour_ *around, uint64_t *next);

#endif
