/*
 * pairs.h: the inside of a model of pairs.
 */
#ifndef OKRA_SELECT_PAIRS_H_
#define OKRA_SELECT_PAIRS_H_

#include "model/model.h"
#include "solve/pairs.h"

enum { OKRA_PAIR_TERMS_ = 16 };
/* How left-out predictions were found, by okra_pair_how_. */
#define OKRA_PAIR_HOWS_ "closed form", "exact", "groups"

/* One side of one term: a kernel bound to the training objects of its side. */
typedef struct okra_pair_side_ {
    okra_kernel *kernel;
    okra_trained_kernel_ *bound;
} okra_pair_side_;

struct okra_pairs {
    okra_data *side[2]; /* rows, columns */
    int terms;
    okra_pair_side_ of[2][OKRA_PAIR_TERMS_];
    double scale[OKRA_PAIR_TERMS_]; /* of the terms */
    double own[2];                  /* added to the diagonals of each side */
    double lambda, mean;
    okra_int units; /* that were held back, 0: none */
    okra_pair_setting setting;
    okra_store_ *store; /* C (n x m), left (count x 2), statistics of the kernels */
    json_t *scores;     /* and how they came about: for people */
    char *json;
    okra_archive_ *archive; /* of a loaded one, or NULL */
};
OKRA_DROPS_(okra_pairs_drop_, okra_pairs, okra_pairs_free)

/* pairs_text.c: 'V * E1 * E2 + ...' as scales and kernels, side by side; auto by rule. */
okra_status okra_pairs_parse_(okra_context *ctx, const char *text, okra_pairs *pairs);
/* pairs_file.c: the text of okra_pairs_json. */
okra_status okra_pairs_describe_(okra_pairs *pairs);

#endif
