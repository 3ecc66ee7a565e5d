/*
 * debruijn.h: the string nearest to a prediction under the spectrum kernel.
 */
#ifndef OKRA_DEBRUIJN_H_
#define OKRA_DEBRUIJN_H_

#include "data/data.h"

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
 * training output, as letters that the caller frees. */
okra_status okra_debruijn_word_(okra_debruijn_ *d, const okra_data *y,
                                const int32_t *alphabet, const double *w, int32_t **out,
                                okra_int *length, bool *complete) OKRA_CHECK;

#endif
