/*
 * orders.h: the best ranking of d items for a row of weights over training rankings y.
 */
#ifndef OKRA_ORDERS_H_
#define OKRA_ORDERS_H_

#include "decode/decode.h"

/* code[j]: the rank of item j, from 1. */

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

/* A loss that falls by the gains of items, each times a discount of its place that falls
 * with the place (ndcg): for all orders at once the best one is that of the expected
 * losses of orders in which one item is first and all others are tied. */
typedef struct okra_gains_ okra_gains_;
/* ranks: objects are rankings; else scores, larger is first. */
okra_status okra_gains_create_(okra_context *ctx, const okra_output_ *output,
                               struct okra_pair_loss_ *loss, okra_int tests, bool ranks,
                               okra_gains_ **out);
void okra_gains_free_(okra_gains_ *gains);
okra_status okra_gains_block_(okra_context *ctx, okra_gains_ *gains,
                              const okra_block_ *block);
/* Rankings; or scores, what item j is worth where it is first and the others come in any
 * order. Their distances are the expected losses. */
okra_status okra_gains_give_(okra_gains_ *gains, okra_decoded_ *out);

#endif
