/*
 * vote_weights.h: weights of training outputs as votes for outputs.
 */
#ifndef OKRA_VOTE_WEIGHTS_H_
#define OKRA_VOTE_WEIGHTS_H_

#include "decode/decode.h"

typedef struct okra_vote_weights_ okra_vote_weights_;
/* sharpen > 0, votes >= 0 as in vote_weights.c; *out stays NULL where weights do not
 * change. */
okra_status okra_vote_weights_create_(const okra_data *y, double sharpen, double votes,
                                      okra_vote_weights_ **out) OKRA_CHECK;
void okra_vote_weights_free_(okra_vote_weights_ *votes);
/* *out (rows and columns of W, owned by the caller): what the weights count. */
okra_status okra_vote_weights_count_(okra_context *ctx, const okra_vote_weights_ *votes,
                                     okra_mat_ W, double **out) OKRA_CHECK;

#endif
