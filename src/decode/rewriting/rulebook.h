/*
 * rulebook.h: the edits of all training pairs, how predictions vote for them, and the
 * strings that they make of another input.
 */
#ifndef OKRA_RULEBOOK_H_
#define OKRA_RULEBOOK_H_

#include "data/data.h"
#include "decode/rewriting/edits.h"

/* What is compared of two edits: the changes together; those at the start, within and at
 * the end; and of those within the letters before and behind, and the places from the
 * start and from the end. */
enum {
    OKRA_ASPECT_WHOLE_,
    OKRA_ASPECT_START_,
    OKRA_ASPECT_INNER_,
    OKRA_ASPECT_END_,
    OKRA_ASPECT_BEFORE_,
    OKRA_ASPECT_BEHIND_,
    OKRA_ASPECT_FROM_START_,
    OKRA_ASPECT_FROM_END_,
    OKRA_ASPECTS_
};

/* x and y: strings, pair by pair; borrowed. */
typedef struct okra_rulebook_ okra_rulebook_;
okra_status okra_rulebook_create_(const okra_data *x, const okra_data *y,
                                  okra_rulebook_ **out) OKRA_CHECK;
void okra_rulebook_free_(okra_rulebook_ *book);
OKRA_DROPS_(okra_rulebook_drop_, okra_rulebook_, okra_rulebook_free_)

/* A prediction seen among edits: h = sum_i w_i psi(x_i -> y_i). */
typedef struct okra_votes_ {
    double *of;  /* one a feature */
    double norm; /* |h|^2 */
    okra_aligner_ aligner;
    okra_maker_ maker;
} okra_votes_;
okra_status okra_votes_create_(const okra_rulebook_ *book, okra_votes_ *out) OKRA_CHECK;
void okra_votes_clear_(okra_votes_ *votes);
void okra_votes_count_(const okra_rulebook_ *book, const double *w, okra_votes_ *votes);
/* <h, psi(x -> y)>; |psi|^2 is 1. */
okra_status okra_votes_score_(const okra_rulebook_ *book, okra_votes_ *votes,
                              okra_word_ x, okra_word_ y, double *score) OKRA_CHECK;

/* Different strings with their scores, the best first once they are sorted; those of one
 * score as they came. */
typedef struct okra_proposals_ {
    int32_t *codes;
    okra_int *offsets; /* count + 1 */
    double *score;
    okra_int *order; /* places by descending score */
    okra_int count, most, codes_room;
} okra_proposals_;
okra_status okra_proposals_create_(okra_int most, okra_proposals_ *out) OKRA_CHECK;
void okra_proposals_clear_(okra_proposals_ *list);
okra_word_ okra_proposals_get_(const okra_proposals_ *list, okra_int rank);
/* What the edits that have most votes make of x, and x itself. */
okra_status okra_rulebook_propose_(const okra_rulebook_ *book, okra_votes_ *votes,
                                   okra_word_ x, okra_int rules,
                                   okra_proposals_ *list) OKRA_CHECK;

#endif
