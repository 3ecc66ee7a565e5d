/*
 * ranker.h: the proposals of the decoder rewrite, and their distances among outputs.
 */
#ifndef OKRA_RANKER_H_
#define OKRA_RANKER_H_

#include "decode/propose.h"

enum { OKRA_RANK_BOTH_, OKRA_RANK_OUTPUTS_, OKRA_RANK_EDITS_ };

/* The proposals of one prediction. */
typedef struct okra_made_up_ {
    int32_t *codes;
    okra_int *offsets;
    double *score;  /* among edits */
    double *value;  /* what they are ranked by */
    double *far;    /* distances */
    okra_int count; /* that are ranked */
    okra_int total; /* that there were */
    double norm;    /* of the prediction among edits */
} okra_made_up_;

void okra_made_up_clear_(okra_made_up_ *made);

typedef struct okra_ranker_ {
    const okra_output_ *output;
    bool both; /* distances are added to those among edits, else take their place */
    okra_int tests;
    okra_panels_ *training;
    double constant, scale; /* of l(y,y): as for candidates; the mean */
} okra_ranker_;
okra_status okra_ranker_create_(okra_context *ctx, const okra_output_ *output, bool both,
                                okra_int tests, okra_ranker_ *out) OKRA_CHECK;
void okra_ranker_clear_(okra_ranker_ *ranker);
/* The values and distances of all proposals of a block, made: one a row. A proposal
 * without features comes after all others. */
okra_status okra_ranker_measure_(okra_context *ctx, const okra_ranker_ *ranker,
                                 const okra_block_ *block,
                                 okra_made_up_ *made) OKRA_CHECK;

#endif
