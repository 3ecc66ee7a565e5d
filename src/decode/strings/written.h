/*
 * written.h: strings against a prediction, through the features of their kernel.
 */
#ifndef OKRA_WRITTEN_H_
#define OKRA_WRITTEN_H_

#include "candidates/nearest.h"
#include "decode/rewriting/edits.h"

/* How an output kernel of strings is made of substrings and subsequences. */
typedef struct okra_written_ okra_written_;
/* *out = NULL where the kernel is not one of those that are known, has too many features
 * (letters^length above OKRA_WRITTEN_MOST_), or strings may be longer than words are. */
enum { OKRA_WRITTEN_MOST_ = 1 << 21, OKRA_WRITTEN_LONGEST_ = 96 };
okra_status okra_written_create_(const okra_output_ *output, const int32_t *alphabet,
                                 okra_int letters, okra_int longest,
                                 okra_written_ **out) OKRA_CHECK;
void okra_written_free_(okra_written_ *written);
OKRA_DROPS_(okra_written_drop_, okra_written_, okra_written_free_)
/* Letters of the shortest string that has features, and of the longest there may be. */
okra_int okra_written_shortest_(const okra_written_ *written);
okra_int okra_written_longest_(const okra_written_ *written);

/* One prediction, as coefficients of features; one a worker. */
typedef struct okra_pen_ okra_pen_;
okra_status okra_pen_create_(const okra_written_ *written, okra_pen_ **out) OKRA_CHECK;
void okra_pen_free_(okra_pen_ *pen);
OKRA_DROPS_(okra_pen_drop_, okra_pen_, okra_pen_free_)
/* w: one weight per training output. Weights below OKRA_WEIGHT_LEAST_ of the largest are
 * left out. */
#define OKRA_WEIGHT_LEAST_ 1e-16
void okra_pen_set_(okra_pen_ *pen, const double *w);

/* <h, phi(y)> and l(y,y) of strings of places in the alphabet that begin alike; a letter
 * c that is not there has the place -1 - c. `begin` looks at a string, and `edited` at
 * one whose first `kept` letters are the first ones of that. False, and nothing is told,
 * where it is certain that self - 2 inner >= worst (self and worst less `constant` where
 * that is not NaN). */
void okra_pen_begin_(okra_pen_ *pen, okra_word_ y);
bool okra_pen_edited_(okra_pen_ *pen, okra_word_ y, okra_int kept, double constant,
                      double worst, double *inner, double *self);
/* The same for all letters at one place: y with a letter that is not there at `at`, and
 * then y with each letter there. */
void okra_pen_open_(okra_pen_ *pen, okra_word_ y, okra_int at);
bool okra_pen_filled_(okra_pen_ *pen, okra_word_ y, okra_int at, double constant,
                      double worst, double *inner, double *self);

#endif
