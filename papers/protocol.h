/*
 * protocol.h: steps that protocols share: slices of data, folds, fit and score.
 */
#ifndef OKRA_PAPER_PROTOCOL_H
#define OKRA_PAPER_PROTOCOL_H

#include "paper.h"

/* Pairs of one task. Collections are owned. */
typedef struct paper_pairs {
    okra_data *x, *y;
} paper_pairs;
void paper_pairs_clear(paper_pairs *pairs);

/* The chosen pairs, in that order. */
okra_status paper_pairs_take(const paper_pairs *from, const okra_int *index,
                             okra_int count, paper_pairs *out) OKRA_CHECK;
/* Fold f of `folds` equal stretches of the pairs in file order: inside is the fold
 * itself, outside everything else. */
okra_status paper_fold(const paper_pairs *all, okra_int folds, okra_int f,
                       paper_pairs *inside, paper_pairs *outside) OKRA_CHECK;

/* Options as "name=value" texts, ended by NULL: "kx=rbf(sigma=4)", "operator=ccov". */
typedef const char *const *paper_options;
okra_status paper_set_options(okra_options *options, paper_options texts) OKRA_CHECK;

/* Fits on `train` for every lambda (one decomposition for all), decodes `test` by
 * `decode` (options of predict), and scores against the truth by `metric`: values[i] is
 * that of lambda[i]. */
okra_status paper_fit_score(paper_run *run, const paper_pairs *train,
                            const paper_pairs *test, paper_options fit,
                            paper_options decode, const char *metric,
                            const double *lambda, size_t count,
                            double *values) OKRA_CHECK;

/* The same of one lambda and `count` ways to decode: values[i] is that of decode[i]. */
okra_status paper_fit_ways(paper_run *run, const paper_pairs *train,
                           const paper_pairs *test, paper_options fit, double lambda,
                           const paper_options *decode, size_t count, const char *metric,
                           double *values) OKRA_CHECK;

/* The same of one model, with the lambda that `fit` says. */
okra_status paper_fit_one(paper_run *run, const paper_pairs *train,
                          const paper_pairs *test, paper_options fit,
                          paper_options decode, const char *metric,
                          double *value) OKRA_CHECK;

/* A copy of n x d values, row by row, as data that owns its memory. */
okra_status paper_dense(const double *values, okra_int n, okra_int d,
                        okra_data **out) OKRA_CHECK;

/* Columns c0..c0+width-1 of a dense matrix, each value times `scale`, as data that owns
 * its memory. */
okra_status paper_columns(const okra_data *from, okra_int rows, okra_int c0,
                          okra_int width, double scale, okra_data **out) OKRA_CHECK;

#endif
