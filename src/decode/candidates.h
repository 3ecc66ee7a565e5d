/*
 * candidates.h: the search among candidates, for decoders that begin from its best.
 */
#ifndef OKRA_CANDIDATES_H_
#define OKRA_CANDIDATES_H_

#include "candidates/nearest.h"
#include "decode/decode.h"

extern const okra_decoder_ okra_decoder_candidates_;
/* The state of the decoder; empty: candidates with l(y,y) <= 0 are kept. */
okra_status okra_candidates_open_(okra_context *ctx, const okra_output_ *output,
                                  const okra_decode_request_ *request, bool empty,
                                  void **out) OKRA_CHECK;
/* Looks at a block; norm[r] = w_r'Lw_r where that comes with it, *known: it did. */
okra_status okra_candidates_block_(okra_context *ctx, void *state,
                                   const okra_block_ *block, double *norm,
                                   bool *known) OKRA_CHECK;
/* The best of test point i so far, best first; *count: how many. */
const okra_near_ *okra_candidates_best_(const void *state, okra_int i, okra_int *count);

#endif
