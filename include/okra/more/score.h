/*
 * okra/more/score.h: metrics of lists of candidates and of intervals.
 */
#ifndef OKRA_MORE_SCORE_H
#define OKRA_MORE_SCORE_H

#include "okra/metric.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The same for lists of candidates (hit-rate, mrr) and sets of them (coverage, set-size):
 * lists is n x width, numbers of candidates in order, -1 after the last; truth[i] is the
 * number of the right one, -1 where it is none of them (okra_data_match finds it). */
OKRA_EXPERIMENTAL okra_status okra_score_lists(okra_context *context, const char *spec,
                                               const okra_int *truth,
                                               const okra_int *lists, okra_int n,
                                               okra_int width, double *value,
                                               double *each) OKRA_CHECK;
/* The same for intervals (coverage; set-size: their length): bounds is n x d x 2, truth n
 * x d with row stride ld, NaN where it is not known. *value is the mean over all n d,
 * each[i] (may be NULL) over those of object i, NaN where none counts. */
OKRA_EXPERIMENTAL okra_status okra_score_intervals(okra_context *context,
                                                   const char *spec, const double *truth,
                                                   okra_int ld, const double *bounds,
                                                   okra_int n, okra_int d, double *value,
                                                   double *each) OKRA_CHECK;

#ifdef __cplusplus
}
#endif
#endif
