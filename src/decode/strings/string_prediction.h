/*
 * string_prediction.h: strings against a prediction, through the features of their
 * kernel.
 */
#ifndef OKRA_STRING_PREDICTION_H_
#define OKRA_STRING_PREDICTION_H_

#include "candidates/nearest.h"
#include "data/strings.h"
#include "decode/rewriting/edits.h"
#include "kernel/expression/expr.h"
#include "kernel/strings/string_kernels.h"

/* ---- how an output kernel of strings is made of substrings and subsequences ---- */

enum { OKRA_FEATURES_NODES_ = 32, OKRA_FEATURES_LENGTH_ = 8 };

typedef enum okra_leaf_sort_ {
    OKRA_LEAF_SSK_,
    OKRA_LEAF_SPECTRUM_,
    OKRA_LEAF_MISMATCH_,
    OKRA_LEAF_POSITION_,
} okra_leaf_sort_;

/* A leaf. Tables of a level hold letters^level numbers, the last letter of a word first;
 * those of mismatch have one letter more, which is none of the alphabet. */
typedef struct okra_leaf_ {
    okra_leaf_sort_ sort;
    int node, low, high; /* levels low..high */
    double decay;
    okra_int offset[OKRA_FEATURES_LENGTH_ + 1]; /* of the levels in the tables */
    okra_int size, top; /* mismatch: cells; places that may differ at most, */
    double shared[OKRA_MISMATCH_TOP_ + 1]; /* words shared by how many do */
} okra_leaf_;

typedef struct okra_string_kernel_ {
    const okra_kernel *kernel;
    const okra_data *y;
    okra_int letters, longest, cells; /* longest of y and of what is written */
    int leaves;
    okra_leaf_ leaf[OKRA_FEATURES_NODES_];
    int leaf_of[OKRA_FEATURES_NODES_];
    double *power[OKRA_FEATURES_NODES_]; /* a leaf: decay^k */
    double
        *least[OKRA_FEATURES_NODES_]; /* a leaf: the least self-similarity of m letters */
    double
        *factor[OKRA_FEATURES_NODES_]; /* a leaf: 1 / prod sqrt(self_i) of the outputs */
    int32_t *places;                   /* the letters of the outputs */
    bool strange; /* outputs have letters that are not in the alphabet */
    bool whole;   /* the root alone normalizes, or nothing does */
} okra_string_kernel_;
/* *out = NULL where the kernel is not one of those that are known, has too many features
 * (letters^length above OKRA_FEATURES_MOST_), or strings may be longer than words are. */
enum { OKRA_FEATURES_MOST_ = 1 << 21, OKRA_FEATURES_LONGEST_ = 96 };
okra_status okra_string_kernel_create_(const okra_output_ *output,
                                       const int32_t *alphabet, okra_int letters,
                                       okra_int longest,
                                       okra_string_kernel_ **out) OKRA_CHECK;
void okra_string_kernel_free_(okra_string_kernel_ *written);
OKRA_DROPS_(okra_string_kernel_drop_, okra_string_kernel_, okra_string_kernel_free_)
/* Letters of the shortest string that has features. */
okra_int okra_string_kernel_shortest_(const okra_string_kernel_ *written);

/* ---- leaves.c ---- */

/* The sum of the features of a leaf that end in letter m - 1; `add` to each of them. */
double okra_leaf_last_(const okra_string_kernel_ *w, int number, const double *table,
                       const int32_t *y, okra_int m);
void okra_leaf_add_(const okra_string_kernel_ *w, int number, double *table,
                    const int32_t *y, okra_int m, double add);
/* Counts of substrings in the table of a leaf of mismatch become what a substring shares
 * with all of them; room: top + 1 times the size. */
void okra_leaf_spread_(const okra_string_kernel_ *w, const okra_leaf_ *leaf,
                       double *table, double *room);
/* The sum of the features of a leaf that contain letter `at`. */
double okra_leaf_through_(const okra_string_kernel_ *w, int number, const double *table,
                          okra_word_ y, okra_int at);
/* l(y,y) of a leaf; B: OKRA_FEATURES_LENGTH_ numbers per letter. */
double okra_leaf_self_(const okra_leaf_ *l, okra_word_ y, double *B);
/* ---- one prediction ---- */

/* One prediction, as coefficients of features; one a worker. */
typedef struct okra_string_prediction_ okra_string_prediction_;
okra_status okra_string_prediction_create_(const okra_string_kernel_ *written,
                                           okra_string_prediction_ **out) OKRA_CHECK;
void okra_string_prediction_free_(okra_string_prediction_ *pen);
OKRA_DROPS_(okra_string_prediction_drop_, okra_string_prediction_,
            okra_string_prediction_free_)
/* w: one weight per training output. Weights below OKRA_WEIGHT_LEAST_ of the largest are
 * left out. */
#define OKRA_WEIGHT_LEAST_ 1e-16
void okra_string_prediction_set_(okra_string_prediction_ *pen, const double *w);

/* <h, phi(y)> and l(y,y) of strings of places in the alphabet that begin alike; a letter
 * c that is not there has the place -1 - c. `begin` looks at a string, and `edited` at
 * one whose first `kept` letters are the first ones of that. False, and nothing is told,
 * where it is certain that self - 2 inner >= worst (self and worst less `constant` where
 * that is not NaN). */
void okra_string_prediction_begin_(okra_string_prediction_ *pen, okra_word_ y);
bool okra_string_prediction_edited_(okra_string_prediction_ *pen, okra_word_ y,
                                    okra_int kept, double constant, double worst,
                                    double *inner, double *self);
/* The same for all letters at one place: y with a letter that is not there at `at`, and
 * then y with each letter there. */
void okra_string_prediction_open_(okra_string_prediction_ *pen, okra_word_ y,
                                  okra_int at);
bool okra_string_prediction_filled_(okra_string_prediction_ *pen, okra_word_ y,
                                    okra_int at, double constant, double worst,
                                    double *inner, double *self);

#endif
