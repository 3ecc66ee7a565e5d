/*
 * pair_loss.h: a loss between objects: any metric of pairs, smaller is better.
 */
#ifndef OKRA_PAIR_LOSS_H_
#define OKRA_PAIR_LOSS_H_

#include "candidates/nearest.h"
#include "decode/decode.h"

typedef struct okra_pair_loss_ okra_pair_loss_;
/* argument: a metric as for okra score; f1 of a pair is its mean over examples. */
okra_status okra_pair_loss_create_(okra_context *ctx, const okra_output_ *output,
                                   const char *argument,
                                   okra_pair_loss_ **out) OKRA_CHECK;
void okra_pair_loss_free_(okra_pair_loss_ *delta);
OKRA_DROPS_(okra_pair_loss_drop_, okra_pair_loss_, okra_pair_loss_free_)
const char *okra_pair_loss_spec_(const okra_pair_loss_ *delta);
const okra_kernel *
okra_pair_loss_kernel_(const okra_pair_loss_ *delta); /* of kernel-loss, or NULL */
/* What the metric says of it; *power: of OKRA_SHAPE_PLACES_. */
okra_shape_ okra_pair_loss_shape_(const okra_pair_loss_ *delta, double *power);
/* The objects that okra_pair_loss_pairs_ counts; borrowed until others are, or NULL. */
okra_status okra_pair_loss_bind_(okra_context *ctx, okra_pair_loss_ *delta,
                                 const okra_data *set) OKRA_CHECK;
/* D <- losses of objects first.. (rows) and all training outputs (columns). */
okra_status okra_pair_loss_pairs_(okra_context *ctx, const okra_pair_loss_ *delta,
                                  okra_int first, okra_mat_ D) OKRA_CHECK;
/* each[i]: the loss of objects_i where truth_i is right. */
okra_status okra_pair_loss_each_(const okra_pair_loss_ *delta, const okra_data *truth,
                                 const okra_data *objects, double *each) OKRA_CHECK;

/* ---- expected losses of candidates and of objects that a decoder makes up: risk.c ----
 */

extern const okra_decoder_ okra_decoder_loss_;
/* The training outputs, or the candidates of the request, by expected loss. */
okra_status okra_risk_open_(okra_context *ctx, void *state, const okra_output_ *output,
                            okra_pair_loss_ *delta,
                            const okra_decode_request_ *request) OKRA_CHECK;
okra_status okra_risk_block_(okra_context *ctx, void *state,
                             const okra_block_ *block) OKRA_CHECK;
/* The lists so far. */
const okra_nearest_ *okra_risk_nearest_(const void *state);
/* distance[c]: the expected loss of object c under row owner[c] of W; key orders them. */
okra_status okra_risk_propose_(okra_context *ctx, okra_pair_loss_ *delta,
                               const okra_data *data, const okra_int *owner, okra_mat_ W,
                               okra_key_ *key, double *distance) OKRA_CHECK;

#endif
