/*
 * orders.h: the best ranking of d items for a row of weights over training rankings y.
 */
#ifndef OKRA_ORDERS_H_
#define OKRA_ORDERS_H_

#include "decode/decode.h"

/* code[j]: the rank of item j, from 1. */

/* The order of the scores, the least first. */
okra_status okra_order_ascending_(const double *score, okra_int d, int32_t *code);
/* Borda: in the order of sum_i w_i y_i, which maximises sum_i w_i <y_i, y>. */
okra_status okra_order_sorted_(const okra_data *y, const double *w, int32_t *code);
/* Most pairs of items as in the training rankings, weighted: the `top` best rankings of
 * at most OKRA_PAIRED_MOST_ items, best first, codes: top x d; 2^d d, and top d^2
 * log(top) and as many bytes for each of the best. */
enum { OKRA_PAIRED_MOST_ = 18 };
okra_int okra_order_paired_bytes_(okra_int d);
okra_status okra_order_paired_(const okra_data *y, const double *w, okra_int top,
                               int32_t *codes, okra_int *count);
/* The least sum of |rank - y_ij|^power, weighted; power 0: of ranks that differ. */
okra_status okra_order_assigned_(const okra_context *ctx, const okra_data *y,
                                 const double *w, double power, int32_t *code);

/* place[j], a permutation of 0..d-1 with the least sum of cost[j d + place[j]]; costs are
 * finite. Shortest augmenting paths with potentials (Jonker and Volgenant 1987): d^3. */
okra_status okra_assignment_(okra_int d, const double *cost, okra_int *place);

#endif
