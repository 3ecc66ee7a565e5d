/*
 * rankings.c: how far two rankings, or the orders of any values, are apart, from 0
 * (equal) to 1 (reversed).
 *
 *   kendall   the share of pairs of items that are in another order; a pair that is tied
 *             on one side alone counts half
 *   spearman  3 sum_j (r_j - r'_j)^2 / (d (d^2 - 1)), r the ranks, ties at their mean
 * rank: (1 - Spearman's correlation) / 2 where there are no ties
 */
#include "metric/metric.h"

static double sign(double a, double b)
{
    return (a > b) - (a < b);
}

static double pairs(const void *params, okra_int d, const double *y, const double *z)
{
    double apart = 0;
    for (okra_int a = 0; a < d; a++) {
        for (okra_int b = a + 1; b < d; b++) {
            double gap = sign(y[a], y[b]) - sign(z[a], z[b]);
            apart += gap < 0 ? -gap : gap;
        }
    }
    return d > 1 ? apart / (double)(d * (d - 1)) : 0;
}

/* Twice the rank of item j, from its place among all others. */
static double rank(const double *y, okra_int d, okra_int j)
{
    double sum = 0;
    for (okra_int k = 0; k < d; k++) {
        sum += 1 + sign(y[j], y[k]);
    }
    return sum;
}

static double ranks(const void *params, okra_int d, const double *y, const double *z)
{
    double sum = 0, n = (double)d;
    for (okra_int j = 0; j < d; j++) {
        double gap = (rank(y, d, j) - rank(z, d, j)) / 2;
        sum += gap * gap;
    }
    return d > 1 ? 3 * sum / (n * (n * n - 1)) : 0;
}

const okra_metric_ okra_metric_kendall_ = {
    .name = "kendall",
    .help = "share of pairs of items that are in another order",
    .params = {"metric kendall", NULL, 0},
    .kinds = OKRA_METRIC_VECTORS_,
    .loss = true,
    .shape = OKRA_SHAPE_PAIRS_,
    .vectors = pairs,
};

const okra_metric_ okra_metric_spearman_ = {
    .name = "spearman",
    .help = "squared differences of ranks, from 0 (equal) to 1 (reversed)",
    .params = {"metric spearman", NULL, 0},
    .kinds = OKRA_METRIC_VECTORS_,
    .loss = true,
    .shape = OKRA_SHAPE_RANKS_,
    .vectors = ranks,
};
