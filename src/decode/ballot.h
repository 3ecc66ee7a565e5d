/*
 * ballot.h: weights of training outputs as votes for outputs.
 */
#ifndef OKRA_BALLOT_H_
#define OKRA_BALLOT_H_

#include "decode/decode.h"

typedef struct okra_ballot_ okra_ballot_;
/* sharpen > 0, votes >= 0 as in ballot.c; *out stays NULL where weights do not change. */
okra_status okra_ballot_create_(const okra_data *y, double sharpen, double votes,
                                okra_ballot_ **out) OKRA_CHECK;
void okra_ballot_free_(okra_ballot_ *votes);
/* *out (rows and columns of W, owned by the caller): what the weights count. */
okra_status okra_ballot_count_(okra_context *ctx, const okra_ballot_ *votes, okra_mat_ W,
                               double **out) OKRA_CHECK;

#endif
