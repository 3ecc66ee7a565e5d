/*
 * rank.h: a ranking of an index's candidates under way.
 */
#ifndef OKRA_INDEX_RANK_H_
#define OKRA_INDEX_RANK_H_

#include "index/index.h"

struct okra_ranked {
    okra_int tests, top;
    okra_int *index;
    double *distance;
    okra_int *compared; /* tests */
    double error;
};

/* The nearest so far of one query, sorted. */
typedef struct okra_best_ {
    okra_int *index;
    double *distance;
    okra_int count, top;
} okra_best_;
void okra_best_offer_(okra_best_ *best, okra_int index, double distance);

/* Masses within share * m + dalton of a query's. */
typedef struct okra_window_ {
    bool used;
    double share, dalton;
} okra_window_;

typedef struct okra_ranking_ {
    okra_context *ctx;
    const okra_index *index;
    const okra_model *model;
    okra_window_ window;
    okra_int tests, n;
    double *mass, *W, *norm; /* tests; tests x n; tests */
    okra_best_ *best;        /* tests */
    okra_int *compared;
    bool bits; /* the kernel is over bits */
    okra_bit_kernel_ kernel;
    okra_data *outputs;
    okra_bound_ *own;
    const okra_bound_ *bound;
} okra_ranking_;

/* G (rows of W x count) = sum_i w_i l(y_i, c) and self = l(c,c) of candidates: rows[0..]
 * of a shard, or first..first+count-1 where rows == NULL. */
okra_status okra_ranking_measure_(const okra_ranking_ *r, const okra_shard_ *shard,
                                  const okra_int *rows, okra_int first, okra_int count,
                                  okra_mat_ W, double *G, double *self) OKRA_CHECK;
/* All candidates by low rank, the best `list` of each query exactly; *error: the largest
 * difference of the two among these. */
okra_status okra_ranking_scan_(const okra_ranking_ *r, okra_int list,
                               double *error) OKRA_CHECK;

#endif
