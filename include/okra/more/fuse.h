/*
 * okra/more/fuse.h: the rankings of several models combined.
 */
#ifndef OKRA_MORE_FUSE_H
#define OKRA_MORE_FUSE_H

#include "okra/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Candidates and distances that one model gave, tests and entries in any order, each
 * candidate of a test once. */
typedef struct okra_list {
    size_t size; /* OKRA_SIZED(okra_list) */
    okra_int count;
    const okra_int *test, *candidate; /* from 0 */
    const double *distance;
} okra_list;
typedef struct okra_fused okra_fused;
/* The candidates of all lists. The distances of a test in a list become z = (mean -
 * distance) / deviation, 0 where they are all the same; a candidate that a list does not
 * have gets the smallest z of the test there. The score of a candidate is the sum of
 * weight times z over the lists; weights are at least 0, not all 0. */
OKRA_EXPERIMENTAL okra_status okra_fuse(const okra_list *lists, int count,
                                        const double *weights,
                                        okra_fused **out) OKRA_CHECK;
OKRA_EXPERIMENTAL void okra_fused_free(okra_fused *fused);
/* Entries by test, then by falling score (of equal ones the lower candidate first); how
 * many. */
OKRA_EXPERIMENTAL okra_int okra_fused_entries(const okra_fused *fused,
                                              const okra_int **test,
                                              const okra_int **candidate,
                                              const double **score);
/* The weights, tenths that add up to 1, whose mean of 1 over the rank of truth[test] (-1:
 * not known, left out) is largest; candidates of the same score are before the truth. Of
 * equal ones the most even weights. At most 5 lists. */
OKRA_EXPERIMENTAL okra_status okra_fuse_weights(const okra_list *lists, int count,
                                                const okra_int *truth, okra_int tests,
                                                double *weights, double *mrr) OKRA_CHECK;

#ifdef __cplusplus
}
#endif
#endif
