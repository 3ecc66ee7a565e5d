/*
 * beam.h: a search among sequences of codes for the one nearest to a prediction.
 */
#ifndef OKRA_BEAM_H_
#define OKRA_BEAM_H_

#include "decode/propose.h"

/* Where sequences are proposed; those seen before are dropped. */
typedef struct okra_offer_ okra_offer_;
okra_status okra_offer_put_(okra_offer_ *offer, const int32_t *codes,
                            okra_int length) OKRA_CHECK;

/* What the sequences mean. */
typedef struct okra_moves_ {
    const void *user;
    /* Proposes every neighbour of a sequence. */
    okra_status (*neighbours)(const void *user, const int32_t *codes, okra_int length,
                              okra_offer_ *offer);
    /* `count` sequences as objects of the output kernel's kind; sequence i has codes
     * offsets[i]..offsets[i+1]-1. */
    okra_status (*objects)(const void *user, const int32_t *codes,
                           const okra_int *offsets, okra_int count, okra_data **out);
    okra_int width, rounds; /* of the beam; how often it is expanded at most */
    bool empty;             /* objects with l(y,y) <= 0 are allowed          */
} okra_moves_;

/* Proposes the sequences from which row r of W begins. */
typedef okra_status (*okra_begin_)(void *arg, okra_int r, okra_offer_ *offer);
/* Receives the best sequence of row r; length -1: none has features. */
typedef okra_status (*okra_best_)(void *arg, okra_int r, const int32_t *codes,
                                  okra_int length, double distance);

okra_status okra_beam_(okra_context *ctx, const okra_output_ *output,
                       const okra_moves_ *moves, okra_mat_ W, const double *norm,
                       okra_begin_ begin, okra_best_ best, void *arg) OKRA_CHECK;

#endif
