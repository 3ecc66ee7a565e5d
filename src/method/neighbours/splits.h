/*
 * splits.h: which of many splits of a node can be the best one (output-kernel trees).
 */
#ifndef OKRA_SPLITS_H_
#define OKRA_SPLITS_H_

#include "method/method.h"

#include <stdint.h>

/* What okra_splits_keep_ works with, for so many items and splits at most. */
typedef struct okra_splits_ {
    okra_int splits;
    float *tiles;   /* the centred outputs of a node, in blocks, lower triangle */
    float *sums;    /* splits x a block                                          */
    uint64_t *side; /* blocks x splits: the items of the smaller side, one bit each */
    double *mean;   /* items  */
    double *gain;   /* splits */
    okra_int *size; /* splits: of the left side, then of the smaller one */
} okra_splits_;

okra_status okra_splits_create_(okra_context *ctx, okra_int items, okra_int splits,
                                okra_splits_ *w) OKRA_CHECK;
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

#endif
