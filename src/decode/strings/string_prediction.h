/*
 * string_prediction.h: strings against a prediction, through the features of their
 * kernel.
 */
#ifndef OKRA_STRING_PREDICTION_H_
#define OKRA_STRING_PREDICTION_H_

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
                                       okra_int longest, okra_string_kernel_ **out);
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
                                           okra_string_prediction_ **out);
void okra_string_prediction_free_(okra_string_prediction_ *pen);
OKRA_DROPS_(okra_string_prediction_drop_, okra_string_prediction_,
            okra_string_prediction_free_)
/* w: one weight per training output. Weights below OKRA_WEIGHT_LEAST_ of the largest are
 * left out. */
#define OKRA_WEIGHT_LEAST_ 1e-16
void okra_string_prediction_set_(okra_string_prediction_ *pen, const double *w);

/* <h, phi(y)> and l(y,y) of strings of places in the alphabet with one beginning; a
 * letter c that is not there has the place -1 - c. `begin` looks at a string, and
 * `edited` at one whose first `kept` letters are the first ones of that. False, and
 * nothing is set, where it is certain that self - 2 inner >= worst (self and worst less
 * `constant` where that is not NaN). */
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

/* ---- the best strings for a row of weights, exactly ---- */

/* ---- weighted-degree ---- */

/* Is the kernel weighted-degree, scaled or normalized or not? Then its k. */
bool okra_kernel_is_degree_(const okra_kernel *kernel, okra_int *k);
/* Does any part of it ask for strings of one length? */
bool okra_kernel_one_length_(const okra_kernel *kernel);

/* The `best` nearest strings of `length` of these letters, which are borrowed.
 * OKRA_EUNSUPPORTED where tables of letters^k numbers are too large. */
typedef struct okra_degree_ okra_degree_;
okra_status okra_degree_create_(const int32_t *alphabet, okra_int letters, okra_int k,
                                okra_int length, okra_int best, okra_degree_ **out);
void okra_degree_free_(okra_degree_ *degree);
OKRA_DROPS_(okra_degree_drop_, okra_degree_, okra_degree_free_)
/* The best strings of every row of a block of weights, with their squared distances. */
okra_status okra_degree_block_(okra_context *ctx, okra_degree_ *degree,
                               const okra_data *y, const okra_block_ *block,
                               okra_results_ *results);

/* ---- spectrum ---- */

/* Letters are 0..letters-1; a substring of k letters u_1..u_k has the code
 * sum_j u_j letters^(k-j). */
/* 2 sum - steps, apart so that small sums are not lost beside whole numbers. */
typedef struct okra_gain_ {
    double sum, steps;
} okra_gain_;

typedef struct okra_debruijn_ {
    okra_int letters, k, longest; /* of the strings that are searched            */
    okra_int kmers, states;       /* letters^k, letters^(k-1)                     */
    double *g;                    /* kmers: the prediction, g_u = sum_i w_i c_iu  */
    okra_gain_ *bound;            /* (longest - k + 1) x states                   */
    okra_int *counts;             /* kmers                                        */
    int32_t *path, *best;         /* longest letters each                         */
    okra_int best_length;         /* 0: there is none                             */
    okra_gain_ value;
    okra_int nodes; /* visited; the search gives up at OKRA_DEBRUIJN_NODES_ */
} okra_debruijn_;

enum { OKRA_DEBRUIJN_NODES_ = 2000000, OKRA_DEBRUIJN_KMERS_ = 1 << 20 };

/* OKRA_EUNSUPPORTED where letters^k is too many for tables. */
okra_status okra_debruijn_create_(okra_int letters, okra_int k, okra_int longest,
                                  okra_debruijn_ *out);
void okra_debruijn_clear_(okra_debruijn_ *d);
/* The string of the largest value sum_u (2 g_u c_u - c_u^2) from a weight of each
 * training output into `out`, room for the longest; its length. */
okra_int okra_debruijn_word_(okra_debruijn_ *d, const okra_data *y,
                             const int32_t *alphabet, const double *w, int32_t *out,
                             bool *complete);

/* ---- places that are wrong ---- */

/* code (room for `longest`) and *length: the string of at most `longest` of these letters
 * with the least sum_i w_i hamming(y, y_i), hamming as the metric of strings. */
okra_status okra_best_places_(const okra_data *y, const int32_t *alphabet,
                              okra_int letters, okra_int longest, const double *w,
                              int32_t *code, okra_int *length);

/* ---- writing ----
 * The search for the string nearest to a prediction, by single edits, under
 * the kernels of string_prediction.h.
 */

enum { OKRA_FRONT_ = 1024 };

/* How strings are searched. */
typedef struct okra_string_search_ {
    const okra_data *y;         /* the training outputs */
    okra_starts_ *starts;       /* those to begin from */
    int32_t *alphabet, *edited; /* distinct letters, ascending; space for one string */
    okra_int letters;
    okra_int longest, known; /* letters of a string, of a training output at most */
    bool one_length;         /* none is inserted or deleted */
    okra_int width, rounds;  /* strings that are kept, and expansions at most */
    bool empty;              /* strings with l(y,y) <= 0 are allowed */
    bool every;              /* OKRA_FRONT_ of each length at most: all are looked at */
    okra_string_kernel_ *written; /* where the kernel is one of those, else NULL */
    double sigma,
        scale; /* median.c: of the kernel scale exp(-d/sigma); sigma 0: the loss */
} okra_string_search_;

/* Who is shown the single edits of a string. */
typedef struct okra_edited_ {
    void *user;
    /* Another letter at a place of y: all of them are to be looked at. */
    okra_status (*replace)(void *user, okra_word_ y, okra_int at);
    /* y, whose first `kept` letters are those of the string. */
    okra_status (*offer)(void *user, okra_word_ y, okra_int kept);
} okra_edited_;
/* Letters replaced, neighbours exchanged, letters deleted and, where there are fewer than
 * `longest`, inserted (a place of -1 that is replaced); one_length: the first two alone.
 * e: room for y and one letter more, where they are shown. */
okra_status okra_edits_of_(okra_word_ y, bool one_length, okra_int longest, int32_t *e,
                           const okra_edited_ *to);

/* The best strings of every row, code points, and their distances; norm[r] = w_r'Lw_r.
 * more: one a row, to begin from too, in letters. */
okra_status okra_write_(okra_context *ctx, const okra_string_search_ *how,
                        const okra_word_ *more, const okra_block_ *block,
                        const double *norm, const okra_results_ *results);

/* ---- strings of the least expected edit distance, or nearest under kernel edit ---- */

/* Is the kernel scale exp(-d/sigma) of the edit distance d? */
bool okra_kernel_is_edit_(const okra_kernel *kernel, double *sigma, double *scale);

/* The best strings of every row of a block of weights, with their expected losses or
 * squared distances. */
okra_status okra_median_block_(okra_context *ctx, const okra_string_search_ *how,
                               const okra_block_ *block, const okra_results_ *results);

#endif
