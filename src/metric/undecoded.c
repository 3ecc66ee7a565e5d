/*
 * undecoded.c: metrics of predictions that are not decoded.
 *
 *   feature-loss   |phi(y) - h(x)|^2 in the feature space of the output kernel
 *   relative-loss  the same of dense outputs, each over its variance
 *
 * They need the model, and so selection computes them (select/score.c, prepare.c).
 */
#include "metric/metric.h"

extern const okra_metric_ okra_metric_feature_loss_, okra_metric_relative_loss_;

const okra_metric_ okra_metric_feature_loss_ = {
    .name = "feature-loss",
    .help = "squared distance in the feature space of the output kernel",
    .params = {"metric feature-loss", NULL, 0},
    .loss = true,
    .undecoded = true,
};

const okra_metric_ okra_metric_relative_loss_ = {
    .name = "relative-loss",
    .help = "the same, each output over its variance",
    .params = {"metric relative-loss", NULL, 0},
    .loss = true,
    .undecoded = true,
    .relative = true,
};
