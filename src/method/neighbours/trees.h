/*
 * trees.h: averaged trees over training pairs, whatever their splits look at: what a
 * model keeps of them, the weights of a query, and trees that split on columns.
 *
 *     w_i(x) = (1/T) sum_t [x and x_i in one leaf of t] / |leaf|
 */
#ifndef OKRA_TREES_H_
#define OKRA_TREES_H_

#include "method/method.h"

/* As stored, one row per node: all numbers are exact in doubles. FEATURE -1: a leaf, with
 * the members items[BEGIN..END-1]. Inputs whose feature is below CUT go left. */
enum {
    OKRA_NODE_FEATURE_,
    OKRA_NODE_CUT_,
    OKRA_NODE_LEFT_,
    OKRA_NODE_RIGHT_,
    OKRA_NODE_BEGIN_,
    OKRA_NODE_END_,
    OKRA_NODE_REDUCTION_,
    OKRA_NODE_FIELDS_
};

typedef struct okra_tree_ {
    double *node;
    okra_int count;
} okra_tree_;

/* T trees over n pairs. `items` (T x n) are ordered by leaves; those behind the END of a
 * root were left out of that tree. */
typedef struct okra_trees_ {
    okra_int count, n;
    okra_tree_ *trees;
    double *items;
} okra_trees_;
void okra_trees_clear_(okra_trees_ *trees);

/* The best split of s items: left where the feature, whose values at all pairs are `row`,
 * is below the cut. feature -1: none. */
typedef struct okra_split_ {
    okra_int feature;
    const double *row;
    double cut, reduction;
} okra_split_;
typedef struct okra_growing_trees_ {
    okra_int count, n, leaf;
    uint64_t stream; /* of random numbers: tree t has stream + t */
    okra_int
        hands; /* each leaves one of so many random parts of the units out; 0: none */
    const okra_parts_ *units; /* part NULL, or NULL: pairs */
    okra_status (*split)(void *forest, int worker, okra_random_ *random,
                         const double *item, okra_int s, okra_split_ *out);
    void (*begin)(void *forest, int worker); /* of a tree, or NULL */
    void *forest;
} okra_growing_trees_;
okra_status okra_trees_grow_(okra_context *ctx, const okra_growing_trees_ *how,
                             okra_trees_ *out);

/* Moves the trees into a store: "nodes" (children numbered over all trees), "roots",
 * "items". */
okra_status okra_trees_keep_(okra_context *ctx, okra_trees_ *trees, okra_store_ *store);
/* Rows of tables of what is kept. */
#define OKRA_TREES_KEPT_                                                     \
    OKRA_KEEPS_MATRIX_("nodes", 0, "t", "7"),                                \
        OKRA_KEEPS_VALUES_("roots", OKRA_KEPT_WHOLE_, "1", "T", "0", "t-1"), \
        OKRA_KEEPS_VALUES_("items", OKRA_KEPT_WHOLE_, "T", "n", "0", "n-1"), \
        OKRA_KEEPS_SAME_("inputs", "c", "n")
/* A model file may be altered: indices must stay inside, and children come after. */
okra_status okra_trees_check_(const okra_store_ *store, okra_int n, okra_int features);
/* The leaf of x, whose features it holds, from a root on. */
static inline const double *okra_tree_leaf_(const double *nodes, double root,
                                            const double *x)
{
    const double *node = nodes + (okra_int)root * OKRA_NODE_FIELDS_;
    while (node[OKRA_NODE_FEATURE_] >= 0) {
        bool left = x[(okra_int)node[OKRA_NODE_FEATURE_]] < node[OKRA_NODE_CUT_];
        node = nodes + (okra_int)node[left ? OKRA_NODE_LEFT_ : OKRA_NODE_RIGHT_] *
                           OKRA_NODE_FIELDS_;
    }
    return node;
}
/* out (m x n) <- weights of m queries, whose features are the rows of X. */
okra_status okra_trees_weights_(okra_context *ctx, const okra_store_ *store, okra_mat_ X,
                                okra_mat_ out);

/* ---- columns.c: splits on the columns of dense inputs ---- */

typedef struct okra_columns_options_ {
    okra_int trees, features, leaf, parts;
} okra_columns_options_;

/* Coordinates of the outputs in which splits are judged, F (n x r): explicit features in
 * units of their deviations (unit, r of them, each 1 where all are 0 or 1); else a factor
 * of the output Gram matrix (unit NULL). */
typedef struct okra_judged_ {
    okra_mat_ F;
    double *unit;
} okra_judged_;
okra_status okra_judged_create_(okra_context *ctx, const okra_problem_ *problem,
                                okra_judged_ *out);
void okra_judged_clear_(okra_judged_ *judged);

/* Grows trees on the columns of dense inputs. Each leaves out one of `o->parts` random
 * parts of the `units` (part NULL: pairs), which differ from tree to tree; 0: none. */
okra_status okra_columns_grow_(okra_context *ctx, const okra_problem_ *problem,
                               okra_mat_ F, const okra_columns_options_ *o,
                               const okra_parts_ *units, okra_store_ *store);
/* The dense test inputs of a query. */
okra_status okra_columns_query_(const okra_query_ *query, okra_mat_ *out);

/* What the trees predict at each training input that they have not seen, less its own
 * output, in the coordinates F: E (n x r). W (n x n, or p NULL): the weights. count (n):
 * trees that have not seen it; where there is none, the row is the mean of all pairs of
 * other units. noise (n): squared distance of single trees from their mean; 0 of one. */
typedef struct okra_unseen_ {
    okra_mat_ W, E;
    double *count, *noise;
} okra_unseen_;
okra_status okra_columns_unseen_(okra_context *ctx, const okra_store_ *store,
                                 const okra_data *x, okra_mat_ F,
                                 const okra_parts_ *units, const okra_unseen_ *out);

#endif
