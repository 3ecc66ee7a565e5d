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
/* Whether a smaller value of this metric is better. */
OKRA_API okra_status okra_metric_is_loss(const char *spec, bool *loss) OKRA_CHECK;
/* Names and help: index 0, 1, ... until NULL. */
OKRA_API const char *okra_metric_name(size_t index, const char **help,
                                      const okra_option_table **parameters);

#ifdef __cplusplus
}
#endif
#endif
