/*
 * beam.h: a search among sequences of codes for the one nearest to a prediction.
 */
#ifndef OKRA_BEAM_H_
#define OKRA_BEAM_H_

#include "decode/results.h"
#include "decode/propose.h"

/* Where sequences are proposed; those seen before are dropped. */
typedef struct okra_offer_ okra_offer_;
okra_status okra_offer_put_(okra_offer_ *offer, const int32_t *codes,
                            okra_int length) OKRA_CHECK;

/* What the sequences mean. */
typedef struct okra_moves_ {
    const char *decoder, *what; /* for messages: "decoder labels", "set" */
    void *user;
    /* Proposes a training output by its number. */
    okra_status (*start)(void *user, okra_int index, okra_offer_ *offer);
    /* Proposes what else a row of weights begins from; NULL: nothing. */
    okra_status (*begin)(void *user, const double *w, okra_offer_ *offer);
    /* Proposes every neighbour of a sequence. */
    okra_status (*neighbours)(const void *user, const int32_t *codes, okra_int length,
                              okra_offer_ *offer);
    okra_results_ *results;       /* receives the best of every test point */
    okra_int width, rounds;       /* of the beam; how often it is expanded at most */
    bool empty;                   /* objects with l(y,y) <= 0 are allowed          */
    struct okra_pair_loss_ *loss; /* of the request: in the place of distances, or NULL */
} okra_moves_;

/* A search for all test points of `results`, from the `width` nearest training outputs
 * each, or as many as are to be found. */
typedef struct okra_beam_ okra_beam_;
okra_status okra_beam_create_(okra_context *ctx, const okra_output_ *output,
                              const okra_moves_ *moves, okra_beam_ **out) OKRA_CHECK;
void okra_beam_free_(okra_beam_ *beam);
OKRA_DROPS_(okra_beam_drop_, okra_beam_, okra_beam_free_)
okra_status okra_beam_block_(okra_context *ctx, okra_beam_ *beam,
                             const okra_block_ *block) OKRA_CHECK;

#endif
