/*
 * exact.h: the best strings for a row of weights, exactly.
 */
#ifndef OKRA_EXACT_STRINGS_H_
#define OKRA_EXACT_STRINGS_H_

#include "decode/results.h"

/* ---- weighted-degree ---- */

/* Is the kernel weighted-degree, scaled or normalized or not? Then its k. */
bool okra_kernel_is_degree_(const okra_kernel *kernel, okra_int *k);
/* Does any part of it ask for strings of one length? */
bool okra_kernel_one_length_(const okra_kernel *kernel);

/* The `best` nearest strings of `length` of these letters, which are borrowed.
 * OKRA_EUNSUPPORTED where tables of letters^k numbers are too large. */
typedef struct okra_degree_ okra_degree_;
okra_status okra_degree_create_(const int32_t *alphabet, okra_int letters, okra_int k,
                                okra_int length, okra_int best,
                                okra_degree_ **out) OKRA_CHECK;
void okra_degree_free_(okra_degree_ *degree);
OKRA_DROPS_(okra_degree_drop_, okra_degree_, okra_degree_free_)
/* The best strings of every row of a block of weights, with their squared distances. */
okra_status okra_degree_block_(okra_context *ctx, okra_degree_ *degree,
                               const okra_data *y, const okra_block_ *block,
                               okra_results_ *results) OKRA_CHECK;

/* ---- spectrum ---- */

/* Letters are 0..letters-1; a substring of k letters u_1..u_k has the code
 * sum_j u_j letters^(k-j). */
/* 2 sum - steps, apart so that small sums are not lost beside whole numbers. */
typedef struct okra_gain_ {
    double sum, steps;
} okra_gain_;

typedef struct okra_debruijn_ {
    okra_int letters, k, longest; /* of the strings that are searched            */
    okra_int kmers, states;       /* letters^k, letters^(k-1)                     */
    double *g;                    /* kmers: the prediction, g_u = sum_i w_i c_iu  */
    okra_gain_ *bound;            /* (longest - k + 1) x states                   */
    okra_int *counts;             /* kmers                                        */
    int32_t *path, *best;         /* longest letters each                         */
    okra_int best_length;         /* 0: there is none                             */
    okra_gain_ value;
    okra_int nodes; /* visited; the search gives up at OKRA_DEBRUIJN_NODES_ */
} okra_debruijn_;

enum { OKRA_DEBRUIJN_NODES_ = 2000000, OKRA_DEBRUIJN_KMERS_ = 1 << 20 };

/* OKRA_EUNSUPPORTED where letters^k is too many for tables. */
okra_status okra_debruijn_create_(okra_int letters, okra_int k, okra_int longest,
                                  okra_debruijn_ *out) OKRA_CHECK;
void okra_debruijn_clear_(okra_debruijn_ *d);
/* The string of the largest value sum_u (2 g_u c_u - c_u^2) from a weight of each
 * training output into `out`, room for the longest; its length. */
okra_int okra_debruijn_word_(okra_debruijn_ *d, const okra_data *y,
                             const int32_t *alphabet, const double *w, int32_t *out,
                             bool *complete);

/* ---- places that are wrong ---- */

/* code (room for `longest`) and *length: the string of at most `longest` of these letters
 * with the least sum_i w_i hamming(y, y_i), hamming as the metric of strings. */
okra_status okra_best_places_(const okra_data *y, const int32_t *alphabet,
                              okra_int letters, okra_int longest, const double *w,
                              int32_t *code, okra_int *length) OKRA_CHECK;

#endif
