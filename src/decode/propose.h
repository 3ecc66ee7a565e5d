/*
 * propose.h: distances of objects that a decoder makes up, each to one prediction, and
 * the best training outputs to begin from.
 */
#ifndef OKRA_PROPOSE_H_
#define OKRA_PROPOSE_H_

#include "candidates/nearest.h"
#include "decode/decode.h"

/* distance[c] = |phi(y_c) - h_r|^2, r = owner[c] a row of W, norm[r] = w_r'Lw_r; infinite
 * where l(y,y) <= 0 (an object without features lies near every small prediction), unless
 * `empty`. key[c] (NULL: not wanted) orders the objects of a row; `constant` is the
 * l(y,y) of all training outputs, or NaN. */
okra_status okra_propose_(okra_context *ctx, const okra_output_ *output,
                          const okra_data *data, const okra_int *owner, bool empty,
                          okra_mat_ W, const double *norm, double constant,
                          okra_key_ *key, double *distance) OKRA_CHECK;

/* The training outputs nearest to each prediction, or of the least expected loss (NULL:
 * none); then norms are 0. */
typedef struct okra_starts_ okra_starts_;
okra_status okra_starts_create_(okra_context *ctx, const okra_output_ *output,
                                struct okra_pair_loss_ *loss, okra_int tests,
                                okra_int top, bool empty, okra_starts_ **out) OKRA_CHECK;
void okra_starts_free_(okra_starts_ *starts);
OKRA_DROPS_(okra_starts_drop_, okra_starts_, okra_starts_free_)
/* Looks at a block of weights; norm[r] = w_r'Lw_r. */
okra_status okra_starts_block_(okra_context *ctx, okra_starts_ *starts,
                               const okra_block_ *block, double *norm) OKRA_CHECK;
/* The best of test point i, at most `top`, best first. */
const okra_near_ *okra_starts_get_(const okra_starts_ *starts, okra_int i,
                                   okra_int *count);
/* The l(y,y) of all training outputs that have features, or NaN. */
double okra_starts_constant_(const okra_starts_ *starts);

/* What `finish` hands over: one object and one distance a test point, no candidate rows.
 * Takes over `distance` (from okra_alloc_) and `objects` on success. */
okra_status okra_decoded_single_(okra_data *objects, okra_int tests, double *distance,
                                 okra_decoded_ *out) OKRA_CHECK;
/* Fails unless the block holds weights; `who` asks. */
okra_status okra_block_weights_(const okra_block_ *block, const char *who) OKRA_CHECK;

/* ---- the search among candidates, for those that begin from its best ---- */

extern const okra_decoder_ okra_decoder_candidates_;
/* Are candidates compared as if they were new? */
okra_status okra_candidates_as_new_(const okra_options *options, bool *out) OKRA_CHECK;
/* The state of the decoder; empty: candidates with l(y,y) <= 0 are kept. */
okra_status okra_candidates_open_(okra_context *ctx, void *state,
                                  const okra_output_ *output,
                                  const okra_decode_request_ *request,
                                  bool empty) OKRA_CHECK;
/* Looks at a block; norm[r] = w_r'Lw_r where that comes with it, *known: it did. */
okra_status okra_candidates_block_(okra_context *ctx, void *state,
                                   const okra_block_ *block, double *norm,
                                   bool *known) OKRA_CHECK;
const okra_nearest_ *okra_candidates_nearest_(const void *state); /* the lists so far */

#endif
