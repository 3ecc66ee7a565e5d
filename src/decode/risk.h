/*
 * risk.h: expected losses of candidates and of objects that a decoder makes up.
 */
#ifndef OKRA_RISK_H_
#define OKRA_RISK_H_

#include "decode/pair_loss.h"
#include "candidates/nearest.h"

extern const okra_decoder_ okra_decoder_loss_;
/* The training outputs, or the candidates of the request, by expected loss. */
okra_status okra_risk_open_(okra_context *ctx, const okra_output_ *output,
                            okra_pair_loss_ *delta, const okra_decode_request_ *request,
                            void **out) OKRA_CHECK;
okra_status okra_risk_block_(okra_context *ctx, void *state,
                             const okra_block_ *block) OKRA_CHECK;
/* As okra_candidates_best_. */
const okra_near_ *okra_risk_best_(const void *state, okra_int i, okra_int *count);
/* distance[c]: the expected loss of object c under row owner[c] of W; key orders them. */
okra_status okra_risk_propose_(okra_context *ctx, okra_pair_loss_ *delta,
                               const okra_data *data, const okra_int *owner, okra_mat_ W,
                               okra_key_ *key, double *distance) OKRA_CHECK;

#endif
