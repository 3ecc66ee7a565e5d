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

typedef struct shared {
    atomic_int owners;
    const okra_data *train;
    okra_int d;
    double *stats; /* 2 x d: m, then s */
} shared;

static void unbind(void *arg)
{
    shared *sh = arg;
    if (sh && atomic_fetch_sub(&sh->owners, 1) == 1) {
        FREE(sh->stats, sh);
    }
}
OKRA_DROPS_(drop_shared, shared, unbind)

static void *share(void *arg)
{
    atomic_fetch_add(&((shared *)arg)->owners, 1);
    return arg;
}

static okra_status create(const okra_data *train, shared **out)
{
    FREED_BY(drop_shared) shared *sh = NULL;
    ZMAKE(sh, 1);
    atomic_init(&sh->owners, 1);
    sh->train = train;
    sh->d = train->d;
    ZMAKE(sh->stats, 2 * train->d);
    *out = TAKE(sh);
    return OKRA_OK;
}

/* Of columns far from 0 the mean is off by up to n eps of itself, which is much of a
 * small spread: what it leaves is measured and taken off. */
okra_status okra_standardize_measure_(const okra_data *train, double *mean,
                                      double *spread)
{
    okra_int n = train->n, d = train->d;
    double total = okra_weights_total_(train), rows = fmax(total, (double)n);
    OWNED double *left = NULL;
    ZMAKE(left, d);
    for (okra_int i = 0; i < n; i++) {
        double u = okra_weight_(train, i);
        for (okra_int j = 0; j < d; j++) {
            mean[j] += u * train->values[i * train->ld + j] / total;
        }
    }
    for (okra_int i = 0; i < n; i++) {
        double u = okra_weight_(train, i);
        for (okra_int j = 0; j < d; j++) {
            double z = train->values[i * train->ld + j] - mean[j];
            left[j] += u * z / total;
            spread[j] += u * z * z / total;
        }
    }
    for (okra_int j = 0; j < d; j++) {
        mean[j] += left[j];
        double s = sqrt(fmax(spread[j] - left[j] * left[j], 0)),
               rounding = fmax(rows * DBL_EPSILON, 3e-13) * fabs(mean[j]);
        spread[j] = s > rounding && isfinite(s) ? s : 1;
    }
    return OKRA_OK;
}

static okra_status bind_training(okra_context *ctx, const void *params,
                                 const okra_data *train, void **out)
{
    FREED_BY(drop_shared) shared *sh = NULL;
    CHK(create(train, &sh));
    CHK(okra_standardize_measure_(train, sh->stats, sh->stats + sh->d));
    *out = TAKE(sh);
    return OKRA_OK;
}

bool okra_standardize_stats_(const okra_trained_kernel_ *bound, double *mean,
                             double *spread)
{
    for (int k = 0; bound && k < bound->kernel->count; k++) {
        const shared *sh = bound->shared[k];
        if (bound->kernel->nodes[k].leaf == &okra_standardize_) {
            memcpy(mean, sh->stats, (size_t)sh->d * sizeof *mean);
            memcpy(spread, sh->stats + sh->d, (size_t)sh->d * sizeof *spread);
            return true;
        }
    }
    return false;
}

static okra_status save(const void *arg, okra_store_ *store, const char *name)
{
    const shared *sh = arg;
    return okra_store_put_copy_(store, name, sh->stats, 2, sh->d);
}

static okra_status load(okra_context *ctx, const void *params, const okra_data *train,
                        const okra_store_ *store, const char *name, void **out)
{
    okra_int rows = 0, cols = 0;
    shared *sh = NULL;
    const double *kept = okra_store_get_(store, name, &rows, &cols);
    bool good = kept && rows == 2 && cols == train->d;
    for (okra_int j = 0; good && j < 2 * cols; j++) {
        good = isfinite(kept[j]) && (j < cols || kept[j] > 0);
    }
    REFUSE_IF(!good, OKRA_EFORMAT,
              "means and deviations '%s' of kernel standardize: expected 2 x %lld finite "
              "numbers, the second row positive",
              name, (long long)train->d);
    CHK(create(train, &sh));
    memcpy(sh->stats, kept, (size_t)(2 * cols) * sizeof *kept);
    *out = sh;
    return OKRA_OK;
}

static okra_status make_side(okra_context *ctx, const void *params, const void *arg,
                             const okra_data *data, void **out)
{
    const shared *sh = arg;
    const double *mean = sh->stats, *spread = sh->stats + sh->d;
    FREED_BY(okra_feature_rows_drop_) okra_feature_rows_ *s = NULL;
    CHK(okra_widths_(ctx, "standardize", data, sh->train));
    CHK(okra_feature_rows_create_(ctx, data->n, sh->d, "standardized vectors", &s));
    for (okra_int i = 0; i < data->n; i++) {
        const double *x = data->values + i * data->ld;
        for (okra_int j = 0; j < s->d; j++) {
            s->Z[i * s->d + j] = (x[j] - mean[j]) / spread[j];
        }
    }
    *out = TAKE(s);
    return OKRA_OK;
}

static double distance2(const void *pa, okra_int i, const void *pb, okra_int j)
{
    const okra_feature_rows_ *a = pa, *b = pb;
    double sum = 0;
    for (okra_int t = 0; t < a->d; t++) {
        double z = a->Z[i * a->d + t] - b->Z[j * b->d + t];
        sum += z * z;
    }
    return sum;
}

static const okra_schema_ kept[] = {OKRA_KEEPS_MATRIX_("", 0, "2", "d"), OKRA_KEPT_END_};

const okra_kernel_class_ okra_standardize_ = {
    .name = "standardize",
    .help = "inner product of dense vectors, each column less its mean and over its "
            "standard deviation in the training set",
    .params = {"standardize", okra_no_params_, 0},
    .kinds = 1u << OKRA_DENSE,
    .bind = bind_training,
    .unbind = unbind,
    .save = save,
    .load = load,
    .kept = kept,
    .share = share,
    .side = make_side,
    OKRA_FEATURE_ROWS_HOOKS_,
    .distance2 = distance2};

/* ---- sums of differences in the same units ---- */

typedef struct laplacian_params {
    double gamma;
} laplacian_params;

static okra_status laplacian_block(okra_context *ctx, const void *params, const void *pa,
                                   okra_int i0, okra_int ni, const void *pb, okra_int j0,
                                   okra_int nj, double *out, okra_int ld)
{
    const okra_feature_rows_ *a = pa, *b = pb;
    double gamma = ((const laplacian_params *)params)->gamma;
    okra_int d = a->d;
    for (okra_int r = 0; r < ni; r++) {
        for (okra_int c = 0; c < nj; c++) {
            out[r * ld + c] = -gamma * okra_laplacian_distance_(a->Z + (i0 + r) * d,
                                                                b->Z + (j0 + c) * d, d);
        }
        okra_vexp_(nj, out + r * ld);
    }
    return OKRA_OK;
}

static const okra_option laplacian_rows[] = {{"gamma", OKRA_OPTION_NUMBER,
                                              offsetof(laplacian_params, gamma), NULL, 0,
                                              DBL_MAX, NULL, "V", "inverse width"},
                                             {.name = NULL}};

const okra_kernel_class_ okra_standardized_laplacian_ = {
    .name = "standardized-laplacian",
    .help = "standardize | laplacian: exp(-gamma |z-z'|_1), columns in units of their "
            "standard deviations",
    .params = {"standardized-laplacian", laplacian_rows, sizeof(laplacian_params)},
    .kinds = 1u << OKRA_DENSE,
    .automatic = OKRA_RULE_EXPONENT_,
    .from = &okra_standardize_,
    .as = "laplacian",
    .bind = bind_training,
    .unbind = unbind,
    .save = save,
    .load = load,
    .kept = kept,
    .share = share,
    .side = make_side,
    .free_side = okra_feature_rows_free_,
    .block = laplacian_block};
