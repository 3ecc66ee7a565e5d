/*
 * edits.h: what changes from one string to another, as rules that apply elsewhere.
 */
#ifndef OKRA_EDITS_H_
#define OKRA_EDITS_H_

#include "data/strings.h"
#include "decode/decode.h"

typedef enum okra_where_ {
    OKRA_WHERE_START_, /* at the beginning of the string   */
    OKRA_WHERE_INNER_, /* kept letters before and behind it */
    OKRA_WHERE_END_,   /* at its end, or all of it          */
} okra_where_;

/* Letters x0..x1-1 of x become letters y0..y1-1 of y. */
typedef struct okra_alter_ {
    okra_int x0, x1, y0, y1;
    okra_where_ where;
} okra_alter_;

enum { OKRA_CHANGES_MOST_ = 8 };
typedef struct okra_script_ {
    int count;
    okra_alter_ changes[OKRA_CHANGES_MOST_]; /* by ascending place */
    okra_int cost;                           /* in eighths, 16 a letter */
} okra_script_;

/* A string as code points. */
typedef struct okra_word_ {
    const int32_t *code;
    okra_int length;
} okra_word_;

/* Scratch that alignments share; zeroed at first, cleared at last. */
typedef struct okra_aligner_ {
    int32_t *cost;
    uint8_t *from;
    int32_t *price; /* of the letters of x, then of those of y */
    okra_int room;
} okra_aligner_;
void okra_aligner_clear_(okra_aligner_ *aligner);

/* What letters cost to take away or put: more where they are rare. */
typedef struct okra_prices_ {
    int32_t *letters[2]; /* of the inputs and of the outputs, ascending */
    double *seen[2];     /* how often */
    okra_int count[2];
    double total, mean; /* all letters; the mean of -log of their shares */
} okra_prices_;
void okra_prices_clear_(okra_prices_ *prices);
struct okra_data;
okra_status okra_prices_open_(const struct okra_data *x, const struct okra_data *y,
                              okra_prices_ *out);

/* The cheapest script from x to y; prices NULL: all letters cost the same. */
okra_status okra_align_(okra_aligner_ *aligner, const okra_prices_ *prices, okra_word_ x,
                        okra_word_ y, okra_script_ *out);

/* ---- rules ---- */

/* What a change puts in place: letters, or (below 0) references to letters of x beside
 * the change: OKRA_LEFT_ - k is the letter k before it, OKRA_RIGHT_ - k the one k behind
 * it, OKRA_WHOLE_ all of x. */
enum { OKRA_LEFT_ = -1, OKRA_RIGHT_ = -101, OKRA_WHOLE_ = -201, OKRA_REACH_ = 100 };

enum { OKRA_FORMS_ = 7, OKRA_TOKENS_MOST_ = 32 };
typedef struct okra_tokens_ {
    okra_int count;
    int32_t item[OKRA_TOKENS_MOST_];
} okra_tokens_;
/* Form f of a change, 0: the letters themselves; others refer to letters of x. False
 * where the change has no such form. Form 0 of a change of more than OKRA_TOKENS_MOST_
 * letters has none either: it is read from y. */
bool okra_change_form_(okra_word_ x, okra_word_ y, const okra_alter_ *change, int form,
                       okra_tokens_ *out);
/* What names a change in one of its forms. */
uint64_t okra_change_hash_(okra_word_ x, okra_word_ y, const okra_alter_ *change,
                           int form);

/* A change of one training pair, to be made to another string. */
typedef struct okra_rule_ {
    okra_word_ x, y; /* the pair */
    okra_alter_ change;
    int form;
} okra_rule_;

/* Where made-up strings go; true: no more are wanted. */
typedef struct okra_made_ {
    void *user;
    okra_status (*take)(void *user, okra_word_ y, bool *enough);
} okra_made_;

/* Scratch for one string that is being made. */
typedef struct okra_maker_ {
    int32_t *code;
    okra_int count, room;
} okra_maker_;
void okra_maker_clear_(okra_maker_ *maker);
/* Every string that the rules (by ascending place, at most one at the start and one at
 * the end) make of x: an inner rule may fit in several places. */
okra_status okra_rules_apply_(okra_maker_ *maker, okra_word_ x, const okra_rule_ *rules,
                              int count, const okra_made_ *made);

/* ---- rulebook ----
 * The edits of all training pairs, how predictions vote for them, and the
 * strings that they make of another input.
 */

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
                                  okra_rulebook_ **out);
void okra_rulebook_free_(okra_rulebook_ *book);
OKRA_DROPS_(okra_rulebook_drop_, okra_rulebook_, okra_rulebook_free_)

/* A prediction seen among edits: h = sum_i w_i psi(x_i -> y_i). */
typedef struct okra_votes_ {
    double *of;  /* one a feature */
    double norm; /* |h|^2 */
    okra_aligner_ aligner;
    okra_maker_ maker;
} okra_votes_;
okra_status okra_votes_create_(const okra_rulebook_ *book, okra_votes_ *out);
void okra_votes_clear_(okra_votes_ *votes);
void okra_votes_count_(const okra_rulebook_ *book, const double *w, okra_votes_ *votes);
/* <h, psi(x -> y)>; |psi|^2 is 1. */
okra_status okra_votes_score_(const okra_rulebook_ *book, okra_votes_ *votes,
                              okra_word_ x, okra_word_ y, double *score);

/* What the edits that have most votes make of x, and x itself, by falling score: the keys
 * are -2 scores. At most as many as the list holds. */
okra_status okra_rulebook_propose_(const okra_rulebook_ *book, okra_votes_ *votes,
                                   okra_word_ x, okra_int rules, okra_shortlist_ *list);

#endif
