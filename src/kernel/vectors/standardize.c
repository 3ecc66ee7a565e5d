/*
 * standardize.c: inner products of dense vectors in units of the training set's spread,
 *
 *     <z, z'>,   z_j = (x_j - m_j) / s_j,
 *
 * m and s the mean and the standard deviation (divisor n) of column j over the training
 * set, an object of weight u counting u times; s_j = 1 for a column that does not vary
 * beyond rounding, n eps |m_j| of the mean, or 3e-13 |m_j| of numbers that were computed:
 * what is left of a constant must not become a column of noise. So `standardize |
 * rbf(sigma=3)` compares inputs whose columns have different units. A model keeps m and
 * s. Within a selection they are those of all its inputs, as widths chosen by auto are:
 * outputs have no part in them.
 * `standardize | laplacian(gamma=g)` is exp(-g |z - z'|_1).
 *
 * Cost: n d once a collection, 2 d a pair. Memory: n d doubles for the moved copy.
 */
#include "kernel/gram/trained_kernel.h"

typedef struct statistics {
    const okra_data *train;
    double of[]; /* 2 x d: m, then s */
} statistics;

/* Of columns far from 0 the mean is off by up to n eps of itself, which is much of a
 * small spread: what it leaves is measured and taken off. Squares are of numbers in units
 * of a power of 2 near the column's largest, so that they have room at any scale. */
okra_status okra_standardize_measure_(const okra_data *train, double *mean,
                                      double *spread)
{
    okra_int n = train->n, d = train->d;
    double total = okra_weights_total_(train), rows = fmax(total, (double)n);
    OWNED double *left = NULL, *unit = NULL;
    ZMAKE(left, d);
    ZMAKE(unit, d);
    for (okra_int i = 0; i < n; i++) {
        double u = okra_weight_(train, i);
        for (okra_int j = 0; j < d; j++) {
            mean[j] += u * train->values[i * train->ld + j] / total;
        }
    }
    for (okra_int i = 0; i < n; i++) {
        const double *x = train->values + i * train->ld;
        for (okra_int j = 0; j < d; j++) {
            unit[j] = fmax(unit[j], fabs(x[j] - mean[j]));
        }
    }
    for (okra_int j = 0; j < d; j++) {
        unit[j] = unit[j] > 0 ? ldexp(1, ilogb(unit[j])) : 1;
    }
    for (okra_int i = 0; i < n; i++) {
        double u = okra_weight_(train, i);
        for (okra_int j = 0; j < d; j++) {
            double z = (train->values[i * train->ld + j] - mean[j]) / unit[j];
            left[j] += u * z / total;
            spread[j] += u * z * z / total;
        }
    }
    for (okra_int j = 0; j < d; j++) {
        mean[j] += left[j] * unit[j];
        double s = unit[j] * sqrt(fmax(spread[j] - left[j] * left[j], 0)),
               rounding = fmax(rows * DBL_EPSILON, 3e-13) * fabs(mean[j]);
        spread[j] = s > rounding && isfinite(s) ? s : 1;
    }
    return OKRA_OK;
}

static okra_status fit(okra_context *ctx, const void *params, const okra_data *train,
                       const okra_store_ *store, const char *name, void **state,
                       okra_data **mapped)
{
    okra_int d = train->d, rows = 0, cols = 0;
    OWNED statistics *s =
        okra_zalloc_((okra_int)sizeof *s + 2 * d * (okra_int)sizeof *s->of, 1);
    GOT(s);
    s->train = train;
    if (store) {
        OKRA_COPY_(s->of, okra_store_get_(store, name, &rows, &cols), 2 * d);
    } else {
        CHK(okra_standardize_measure_(train, s->of, s->of + d));
    }
    for (okra_int j = d; j < 2 * d; j++) {
        REFUSE_IF(!(s->of[j] > 0), OKRA_EFORMAT,
                  "the deviations '%s' of kernel standardize are not all above 0", name);
    }
    *state = TAKE(s);
    return OKRA_OK;
}

static okra_status map(okra_context *ctx, const void *params, const void *state,
                       const okra_data *data, okra_data **out)
{
    const statistics *s = state;
    OWNED double *z = NULL;
    okra_int d = data->d;
    CHK(okra_widths_(ctx, "standardize", data, s->train));
    CHK(okra_doubles_(ctx, data->n, d, "standardized vectors", &z));
    for (okra_int i = 0; i < data->n; i++) {
        const double *x = data->values + i * data->ld;
        for (okra_int j = 0; j < d; j++) {
            z[i * d + j] = (x[j] - s->of[j]) / s->of[d + j];
        }
    }
    return okra_data_adopt_dense_(&z, data->n, d, data->source, out);
}

static okra_status save(const void *state, okra_store_ *store, const char *name)
{
    const statistics *s = state;
    return okra_store_put_copy_(store, name, s->of, 2, s->train->d);
}

bool okra_standardize_stats_(const okra_trained_kernel_ *bound, double *mean,
                             double *spread)
{
    for (int k = 0; bound && k < bound->kernel->count; k++) {
        const okra_through_shared_ *sh = bound->shared[k];
        if (bound->kernel->nodes[k].leaf == &okra_standardize_) {
            const statistics *s = sh->state;
            OKRA_COPY_(mean, s->of, s->train->d);
            OKRA_COPY_(spread, s->of + s->train->d, s->train->d);
            return true;
        }
    }
    return false;
}

static const okra_schema_ kept[] = {OKRA_KEEPS_MATRIX_("", 0, "2", "d"), OKRA_KEPT_END_};

static const okra_through_ products = {&okra_linear_, fit, okra_free_, map, save},
                           differences = {&okra_laplacian_, fit, okra_free_, map, save};

const okra_kernel_class_ okra_standardize_ = {
    .name = "standardize",
    .help = "inner product of dense vectors, each column less its mean and over its "
            "standard deviation in the training set",
    .params = {"standardize", okra_no_params_, 0},
    .kinds = 1u << OKRA_DENSE,
    .through = &products,
    .save = okra_through_save_,
    .kept = kept,
    .share = okra_through_share_,
    OKRA_THROUGH_HOOKS_,
    .distance2 = okra_through_distance2_};

/* Sums of differences in the same units. */
static const okra_option laplacian_rows[] = {
    {"gamma", OKRA_OPTION_NUMBER, 0, NULL, 0, DBL_MAX, NULL, "V", "inverse width"},
    {.name = NULL}};

const okra_kernel_class_ okra_standardized_laplacian_ = {
    .name = "standardized-laplacian",
    .help = "standardize | laplacian: exp(-gamma |z-z'|_1), columns in units of their "
            "standard deviations",
    .params = {"standardized-laplacian", laplacian_rows, sizeof(double)},
    .kinds = 1u << OKRA_DENSE,
    .automatic = OKRA_RULE_EXPONENT_,
    .from = &okra_standardize_,
    .as = "laplacian",
    .through = &differences,
    .save = okra_through_save_,
    .kept = kept,
    .share = okra_through_share_,
    OKRA_THROUGH_HOOKS_};
