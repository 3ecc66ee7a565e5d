/*
 * vectors.c: errors of vectors y (truth) and z (prediction), d coordinates.
 *
 *   mse       mean over objects and coordinates of (y_j - z_j)^2
 *   mae       mean over objects and coordinates of |y_j - z_j|
 *             both of the known y_j alone, NaN of an object without any
 *   rbf-loss  |phi(y) - phi(z)|^2 = 2 - 2 exp(-|y-z|^2 / (2 sigma^2)) in the feature
 *             space of an RBF kernel (Weston et al. 2003, footnote 1);
 *             gamma = 1 / (2 sigma^2)
 */
#include "metric/metric.h"

/* Of the known coordinates. */
static double mean_error(okra_int d, const double *y, const double *z, bool square)
{
    double sum = 0;
    okra_int known = 0;
    for (okra_int j = 0; j < d; j++) {
        double e = fabs(y[j] - z[j]);
        sum += isnan(y[j]) ? 0 : square ? e * e : e;
        known += !isnan(y[j]);
    }
    return sum / (double)known;
}

static double mean_square(const void *params, okra_int d, const double *y,
                          const double *z)
{
    return mean_error(d, y, z, true);
}

static double mean_absolute(const void *params, okra_int d, const double *y,
                            const double *z)
{
    return mean_error(d, y, z, false);
}

typedef struct rbf_params {
    double sigma, gamma;
} rbf_params;

static const okra_option rbf_rows[] = {
    {"sigma", OKRA_OPTION_NUMBER, offsetof(rbf_params, sigma), NULL, 1e-150, 1e150, NULL,
     "V", "width: 2 - 2 exp(-|y-z|^2 / (2 sigma^2))"},
    {"gamma", OKRA_OPTION_NUMBER, offsetof(rbf_params, gamma), NULL, 1e-300, 1e300, NULL,
     "V", "instead of sigma: 2 - 2 exp(-gamma |y-z|^2)"},
    {0},
};

static okra_status rbf_check(const void *params)
{
    const rbf_params *p = params;
    if ((p->sigma > 0) != (p->gamma > 0)) {
        return OKRA_OK;
    }
    return okra_fail_(OKRA_EARG,
                      "metric rbf-loss: expected one of sigma and gamma, found %s",
                      p->sigma > 0 ? "both" : "neither");
}

/* expm1 keeps small losses accurate. */
static double rbf_one(const void *params, okra_int d, const double *y, const double *z)
{
    const rbf_params *p = params;
    double gamma = p->gamma > 0 ? p->gamma : 0.5 / (p->sigma * p->sigma);
    return -2 * expm1(-gamma * okra_distance2_(d, y, z));
}

const okra_metric_ okra_metric_mse_ = {
    .name = "mse",
    .help = "mean squared error over objects and coordinates",
    .params = {"metric mse", NULL, 0},
    .kinds = OKRA_METRIC_VECTORS_,
    .loss = true,
    .gaps = true,
    .shape = OKRA_SHAPE_PLACES_,
    .power = 2,
    .vectors = mean_square,
};

const okra_metric_ okra_metric_mae_ = {
    .name = "mae",
    .help = "mean absolute error over objects and coordinates",
    .params = {"metric mae", NULL, 0},
    .kinds = OKRA_METRIC_VECTORS_,
    .loss = true,
    .gaps = true,
    .shape = OKRA_SHAPE_PLACES_,
    .power = 1,
    .vectors = mean_absolute,
};

const okra_metric_ okra_metric_rbf_loss_ = {
    .name = "rbf-loss",
    .help = "squared distance in the feature space of an RBF kernel, 0 to 2",
    .params = {"metric rbf-loss", rbf_rows, sizeof(rbf_params)},
    .kinds = OKRA_METRIC_VECTORS_,
    .loss = true,
    .check = rbf_check,
    .vectors = rbf_one,
};
