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

/* What fits each query: window.c. */
typedef struct okra_window_ {
    bool used;
    okra_int tests;
    bool formulas;      /* only candidates of the formula  */
    uint64_t *formula;  /* tests                           */
    double *low, *high; /* tests: masses; nothing fits where low > high */
    int filters;        /* columns with bounds */
    int column[OKRA_COLUMNS_MOST_];
    double *bound; /* tests x filters x 2 */
} okra_window_;
okra_status okra_window_open_(okra_context *ctx, const okra_index *index,
                              const okra_data *x, const okra_rank_request *request,
                              okra_window_ *out) OKRA_CHECK;
void okra_window_close_(okra_window_ *w);
/* Rows of a shard by mass; those that fit are among them. */
void okra_window_rows_(const okra_window_ *w, okra_int query, const okra_shard_ *s,
                       okra_int *begin, okra_int *end);
bool okra_window_fits_(const okra_window_ *w, okra_int query, const okra_shard_ *s,
                       okra_int row);
/* The first row of a shard whose mass is not below (above: is above) the given one. */
okra_int okra_shard_row_(const okra_shard_ *s, double mass, bool above);

typedef struct okra_ranking_ {
    okra_context *ctx;
    const okra_index *index;
    const okra_model *model;
    okra_window_ window;
    okra_int tests, n;
    double *W, *norm; /* tests x n; tests */
    okra_best_ *best; /* tests */
    okra_int *compared;
    bool bits;     /* the kernel is over bits */
    bool embedded; /* W are the vectors predicted, see bind_units */
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
/* Candidate `index` of self = l(c,c) and inner = sum_i w_i l(y_i, c) for a query. */
void okra_ranking_offer_(const okra_ranking_ *r, okra_int query, okra_int index,
                         double self, double inner);
/* All candidates by low rank, the best `list` of each query exactly; *error: the largest
 * difference of the two among these. */
okra_status okra_ranking_scan_(const okra_ranking_ *r, okra_int list,
                               double *error) OKRA_CHECK;

#endif
