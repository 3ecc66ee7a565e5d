/*
 * words.h: words as images of their letters, and parameters that the training fold
 * chooses.
 */
#ifndef OKRA_PAPER_WORDS_H
#define OKRA_PAPER_WORDS_H

#include "../protocol.h"

enum { FOLDS = 10 };

typedef struct words {
    paper_pairs all;
    okra_data *fold;
} words;

okra_status words_load(paper_run *run, words *w) OKRA_CHECK;
/* Fold f of the file trains, the others test. */
okra_status words_split(const words *w, okra_int f, paper_pairs *train,
                        paper_pairs *test) OKRA_CHECK;
/* Percent of characters right on the test words of fold f, letter by letter and with a
 * chain; lambda, the order of the chain and its weight are chosen on the training fold
 * alone. chosen: lambda, order, weight. */
okra_status words_chosen(paper_run *run, const words *w, okra_int f, const char *kernel,
                         double right[2], double chosen[3]) OKRA_CHECK;
/* The same of any method, without a chain: lambda by the letters of one of five parts of
 * the training fold. */
okra_status words_lambda(paper_run *run, const words *w, okra_int f, paper_options fit,
                         const double *lambda, size_t count, double *right,
                         double *chosen) OKRA_CHECK;

#endif
