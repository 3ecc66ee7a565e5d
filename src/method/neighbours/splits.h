/*
 * splits.h: which of many splits of a node can be the best one (output-kernel trees).
 */
#ifndef OKRA_SPLITS_H_
#define OKRA_SPLITS_H_

#include "method/method.h"

/* What okra_splits_keep_ works with, for this many features, items
 * and splits at most. */
typedef struct okra_splits_ {
    okra_int splits;
    float *tiles;   /* the centred outputs of a node, in blocks, lower triangle */
    float *sums;    /* splits x a block                                          */
    uint64_t *side; /* blocks x splits: the items of the smaller side, one bit each */
    /* The splits by ascending features: where those of a feature begin, which they are,
     * what they are, and the left items of a block of them, one bit each. */
    okra_int *begin, *place, *feature;
    double *cut;
    uint64_t *words;
    double *mean;   /* items  */
    double *gain;   /* splits */
    okra_int *size; /* splits: of the left side, then of the smaller one */
} okra_splits_;

okra_status okra_splits_create_(okra_context *ctx, okra_int features, okra_int items,
                                okra_int splits, okra_splits_ *w);
void okra_splits_free_(okra_splits_ *w);

/* A node: its s items, ascending, of the Gram matrices K of the inputs and L_S (s x s) of
 * its outputs. Item i goes left where K[at[i], feature] < cut. */
typedef struct okra_node_items_ {
    okra_mat_ K, L;
    const okra_int *at;
    okra_int s, leaf;
} okra_node_items_;

/* Keeps, in their order, of `count` splits those that may reduce the variance most and
 * leave `leaf` items on both sides, and a few more where that are less than `least`. How
 * many: 0 where no split leaves enough items. */
okra_int okra_splits_keep_(okra_splits_ *w, const okra_node_items_ *node, okra_int count,
                           okra_int least, okra_int *feature, double *cut);

/* z[i] <- 1 where K's row of the feature is below the cut at item at[i], else 0 */
void okra_splits_left_(const double *row, double cut, okra_int s, const okra_int *at,
                       double *z);

#endif
