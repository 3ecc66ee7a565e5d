/*
 * rulebook.h: the edits of all training pairs, how predictions vote for them, and the
 * strings that they make of another input.
 */
#ifndef OKRA_RULEBOOK_H_
#define OKRA_RULEBOOK_H_

#include "data/strings.h"
#include "decode/results.h"
#include "decode/rewriting/edits.h"

static inline okra_word_ okra_word_of_(const okra_data *data, okra_int i)
{
    okra_word_ w;
    w.code = okra_characters_(data, i, &w.length);
    return w;
}

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

/* How many changes or pairs have a hash. */
typedef struct okra_counted_ {
    uint64_t hash;
    okra_int count, place; /* place: of a feature, the pair that has it first */
} okra_counted_;

/* x and y: strings, pair by pair; borrowed. */
typedef struct okra_rulebook_ {
    const okra_data *x, *y;
    okra_int n;
    okra_prices_ prices;
    okra_script_ *scripts; /* n */
    uint8_t (*forms)[OKRA_CHANGES_MOST_];
    okra_counted_ *changes; /* forms of changes by hash */
    okra_int change_count;
    okra_counted_ *features; /* by hash */
    okra_int feature_count;
    int32_t (*of)[OKRA_ASPECTS_]; /* n: features of the pairs */
    int32_t *by[OKRA_ASPECTS_];   /* features of an aspect */
    okra_int by_count[OKRA_ASPECTS_];
} okra_rulebook_;
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

/* What the edits that have most votes make of x, and x itself, by falling score: the keys
 * are -2 scores. At most as many as the list holds. */
okra_status okra_rulebook_propose_(const okra_rulebook_ *book, okra_votes_ *votes,
                                   okra_word_ x, okra_int rules,
                                   okra_shortlist_ *list) OKRA_CHECK;

#endif
