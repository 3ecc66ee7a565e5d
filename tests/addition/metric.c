/*
 * metric.c: the metric `worst` as an example: the largest error of a coordinate.
 */
#include "metric/metric.h"

#include <math.h>

static double largest(const void *params, okra_int d, const double *y, const double *z)
{
    double worst = 0;
    (void)params;
    for (okra_int j = 0; j < d; j++) {
        worst = fmax(worst, fabs(y[j] - z[j]));
    }
    return worst;
}

static okra_status score(okra_context *ctx, const void *params, okra_scores_ *s)
{
    (void)ctx;
    return okra_metric_pairs_(s, params, largest);
}

static const okra_option none[] = {{.name = NULL}};

const okra_metric_ okra_metric_worst_ = {
    .name = "worst",
    .help = "largest error of a coordinate, mean over objects",
    .params = {"worst", none, 0},
    .kinds = OKRA_METRIC_VECTORS_,
    .loss = true,
    .score = score,
};
