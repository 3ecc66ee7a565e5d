/*
 * okra/more/ranking.h: how well scores rank the positives before the negatives.
 */
#ifndef OKRA_MORE_RANKING_H
#define OKRA_MORE_RANKING_H

#include "okra/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Scored items sorted by score, equal scores together. */
typedef struct okra_ranking okra_ranking;

/* Larger scores first; positive[i] != 0 marks the positives. At least one positive and
 * one negative are needed; NaN is refused. Cost: O(n log n). */
OKRA_EXPERIMENTAL okra_status okra_ranking_create(okra_int n, const double *score,
                                                  const unsigned char *positive,
                                                  okra_ranking **out) OKRA_CHECK;
OKRA_EXPERIMENTAL void okra_ranking_free(okra_ranking *ranking);

OKRA_EXPERIMENTAL okra_int okra_ranking_positives(const okra_ranking *ranking);
/* The share of (positive, negative) pairs in the right order, equal scores for half. */
OKRA_EXPERIMENTAL double okra_ranking_auc_roc(const okra_ranking *ranking);
/* Average precision: the sum over distinct scores of (recall gained) x (precision there),
 * that is the area under the precision-recall curve as steps, without interpolation. */
OKRA_EXPERIMENTAL double okra_ranking_auc_pr(const okra_ranking *ranking);
/* The share of positives among the first k (1 <= k <= n; a larger k is taken as n), the
 * expected one where equal scores lie across the border. */
OKRA_EXPERIMENTAL double okra_ranking_precision(const okra_ranking *ranking, okra_int k);
/* The score whose "at least" gives the largest F1 (the highest such score), and that F1
 * (may be NULL). */
OKRA_EXPERIMENTAL double okra_ranking_threshold(const okra_ranking *ranking, double *f1);

/* The precision-recall curve as at most `most` steps: step k is at precision[k] from
 * recall[k - 1] (0 at first) to recall[k]. Points are where recall changes; where they
 * are more than `most`, neighbours are merged so that the area, that of
 * okra_ranking_auc_pr, stays. Returns how many there are. */
OKRA_EXPERIMENTAL okra_int okra_ranking_steps(const okra_ranking *ranking, okra_int most,
                                              double *recall, double *precision);
/* Point i (0 <= i < count) of a curve thinned to `count` points (at least 2): at the
 * score *score, false-positive rate, recall and precision, each may be NULL. Point 0 is
 * that of the highest score, the last one that of all items; the points between are
 * spread evenly in false-positive rate. */
OKRA_EXPERIMENTAL void okra_ranking_point(const okra_ranking *ranking, okra_int i,
                                          okra_int count, double *score,
                                          double *false_positive_rate, double *recall,
                                          double *precision);

/* ---- rankings of several models as one ---- */

#ifdef __cplusplus
}
#endif
#endif
