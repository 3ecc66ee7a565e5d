/*
 * okra/metric.h: how far predictions are from the truth.
 */
#ifndef OKRA_METRIC_H
#define OKRA_METRIC_H

#include "okra/data.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `spec` is a metric's name and its parameters: "mse", "rbf-loss:sigma=12",
 * "f1:average=macro", "kernel-loss:kernel=EXPR". *value is the mean over objects;
 * `each` (may be NULL) gets one value an object where the metric has them (`*has_each`,
 * may be NULL, says whether). */
OKRA_API okra_status okra_score(okra_context *context, const char *spec,
                                const okra_data *truth, const okra_data *predicted,
                                double *value, double *each, bool *has_each) OKRA_CHECK;
/* The same for lists of candidates (hit-rate, mrr) and sets of them (coverage, set-size):
 * lists is n x width, numbers of candidates in order, -1 after the last; truth[i] is the
 * number of the right one, -1 where it is none of them (okra_data_match finds it). */
OKRA_API okra_status okra_score_lists(okra_context *context, const char *spec,
                                      const okra_int *truth, const okra_int *lists,
                                      okra_int n, okra_int width, double *value,
                                      double *each) OKRA_CHECK;
/* The same for intervals (coverage; set-size: their length): bounds is n x d x 2, truth n
 * x d with row stride ld, NaN where it is not known. *value is the mean over all n d,
 * each[i] (may be NULL) over those of object i, NaN where none counts. */
OKRA_API okra_status okra_score_intervals(okra_context *context, const char *spec,
                                          const double *truth, okra_int ld,
                                          const double *bounds, okra_int n, okra_int d,
                                          double *value, double *each) OKRA_CHECK;
/* Whether a smaller value of this metric is better. */
OKRA_API okra_status okra_metric_is_loss(const char *spec, bool *loss) OKRA_CHECK;
/* Names and help: index 0, 1, ... until NULL. */
OKRA_API const char *okra_metric_name(size_t index, const char **help,
                                      const okra_option_table **parameters);
/* What a metric is, by its specification; false for an unknown one. Those of predictions
 * that are not decoded (feature-loss, relative-loss) belong to selection: they are not
 * listed above, and okra_score does not know them. */
typedef enum okra_metric_trait {
    OKRA_METRIC_UNDECODED, /* of predictions in the feature space of the outputs       */
    OKRA_METRIC_RELATIVE,  /* each output over its variance                            */
    OKRA_METRIC_LINKS,     /* of a ranking of links                                    */
    OKRA_METRIC_LISTS,     /* of lists or sets of candidates                           */
    OKRA_METRIC_INTERVALS, /* of intervals                                             */
} okra_metric_trait;
OKRA_API bool okra_metric_has(const char *spec, okra_metric_trait trait);

#ifdef __cplusplus
}
#endif
#endif
