/*
 * nested.h: parameters chosen by an inner cross-validation, scored on the outer test set.
 */
#ifndef OKRA_PAPER_NESTED_H
#define OKRA_PAPER_NESTED_H

#include "protocol.h"

/* What is scored of a prediction: smaller is better. `train`, `test` are the pairs of the
 * prediction; index holds the candidate row of each test point (training pairs), -1 for
 * objects that are none. */
typedef okra_status (*paper_score)(paper_run *run, void *user, const paper_pairs *train,
                                   const paper_pairs *test, const okra_data *predicted,
                                   const okra_int *index, double *value);

typedef struct paper_family {
    const paper_options *settings; /* `count` lists of options of fit */
    size_t count;
    const double *lambda; /* tried with every setting; NULL: the method has none */
    size_t lambdas;
    paper_options decode;
    const char *metric; /* what the inner folds minimise */
    okra_int folds;     /* inner ones */
    /* Ways to decode, tried with every member; NULL: `decode` alone. */
    const paper_options *decodes;
    size_t decode_count;
} paper_family;

/* Fits the member of the family that is best over the inner folds of `train` to all of
 * it, decodes `test`, and gives `metric` there; `other` (may be NULL) is scored too. */
okra_status paper_nested(paper_run *run, const paper_family *family,
                         const paper_pairs *train, const paper_pairs *test, double *value,
                         paper_score other, void *user, double *other_value) OKRA_CHECK;

/* The same for the first `used` of so many folds, each of which trains once and the
 * others test; finished folds are kept. */
okra_status paper_nested_folds(paper_run *run, const paper_family *family,
                               const paper_pairs *all, const char *key, okra_int folds,
                               okra_int used, double *values) OKRA_CHECK;

/* What a user gets who says nothing: okra chooses kernels, lambda and decoder on `train`
 * alone; `metric` of its predictions on `test`. Tables call it PAPER_OWN. */
#define PAPER_OWN "okra, no options"
okra_status paper_own(paper_run *run, const paper_pairs *train, const paper_pairs *test,
                      const char *metric, double *value) OKRA_CHECK;
/* The same for the first `used` of so many folds, as paper_nested_folds. */
okra_status paper_own_folds(paper_run *run, const paper_pairs *all, const char *key,
                            const char *metric, okra_int folds, okra_int used,
                            double *values) OKRA_CHECK;

#endif
