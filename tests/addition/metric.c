/*
 * metric.c: the metric `worst` as an example: the largest error of a coordinate, or the
 * largest distance of a value from its interval's ends. `first` is of links: how many of
 * the five best are.
 */
#include "metric/metric.h"
#include "okra/more/ranking.h"

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

static double farther(const double bounds[2], double truth)
{
    return fmax(fabs(truth - bounds[0]), fabs(truth - bounds[1]));
}

static double first_five(const okra_ranking *ranking)
{
    return okra_ranking_precision(ranking, 5);
}

static const okra_option none[] = {{.name = NULL}};

const okra_metric_ okra_metric_worst_ = {
    .name = "worst",
    .help = "largest error of a coordinate, mean over objects",
    .params = {"worst", none, 0},
    .kinds = OKRA_METRIC_VECTORS_,
    .loss = true,
    .vectors = largest,
    .interval = farther,
};

const okra_metric_ okra_metric_first_ = {
    .name = "first",
    .help = "share of true links among the five best",
    .params = {"first", none, 0},
    .links = first_five,
};
