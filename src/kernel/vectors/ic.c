/*
 * ic.c: information content (Brouard et al. 2016, sec. 6.1.4): the inner product of
 * vectors whose component t is multiplied by
 *
 *     w_t = -ln(training objects that carry term t / training objects)
 *
 * so that a rare term weighs more and one that all carry nothing. Components are
 * multiplied on both sides, so that k(x, y) = sum_t w_t^2 x_t y_t: the weights enter
 * squared. An object carries a
 * term when its component is not 0. A term that no training object carries weighs
 * nothing. ic | rbf(...) is the paper's Gaussian kernel. Everything else is the linear
 * kernel.
 */
#include "kernel/gram/trained_kernel.h"

typedef struct weights {
    okra_int d;
    double w[];
} weights;

static double weight(const weights *w, okra_int term)
{
    return term < w->d ? w->w[term] : 0;
}

/* The nonzeros of row i; `indices` and `values` have room for d. */
static okra_thin_ row(const okra_data *data, okra_int i, okra_int *indices,
                      double *values)
{
    if (data->kind != OKRA_DENSE) {
        return okra_row_thin_(data, i, indices);
    }
    okra_thin_ thin = {0, indices, values};
    for (okra_int j = 0; j < data->d; j++) {
        double x = data->values[i * data->ld + j];
        if (x != 0) {
            indices[thin.count] = j;
            values[thin.count++] = x;
        }
    }
    return thin;
}

static okra_status fit(okra_context *ctx, const void *params, const okra_data *train,
                       const okra_store_ *store, const char *name, void **state,
                       okra_data **mapped)
{
    OWNED okra_int *indices = NULL;
    OWNED double *values = NULL;
    OWNED weights *w =
        okra_zalloc_((okra_int)sizeof *w + train->d * (okra_int)sizeof *w->w, 1);
    GOT(w);
    w->d = train->d;
    double total = okra_weights_total_(train);
    MAKE(indices, train->d);
    MAKE(values, train->d);
    for (okra_int i = 0; i < train->n; i++) {
        okra_thin_ thin = row(train, i, indices, values);
        double u = okra_weight_(train, i);
        for (okra_int k = 0; k < thin.count; k++) {
            w->w[thin.indices[k]] += okra_thin_value_(&thin, k) != 0 ? u : 0;
        }
    }
    for (okra_int t = 0; t < w->d; t++) {
        w->w[t] = w->w[t] > 0 ? -log(fmin(w->w[t] / total, 1)) : 0;
    }
    *state = TAKE(w);
    return OKRA_OK;
}

static okra_status map_dense(okra_context *ctx, const weights *w, const okra_data *data,
                             okra_data **out)
{
    OWNED double *values = NULL;
    CHK(okra_doubles_(ctx, data->n, data->d, "weighted vectors", &values));
    for (okra_int i = 0; i < data->n; i++) {
        for (okra_int j = 0; j < data->d; j++) {
            values[i * data->d + j] = data->values[i * data->ld + j] * weight(w, j);
        }
    }
    return okra_data_adopt_dense_(&values, data->n, data->d, data->source, out);
}

static okra_status map(okra_context *ctx, const void *params, const void *state,
                       const okra_data *data, okra_data **out)
{
    OWNED okra_int *indptr = NULL, *indices = NULL, *room = NULL;
    okra_int count = 0;
    OWNED double *values = NULL;
    if (data->kind == OKRA_DENSE) {
        return map_dense(ctx, state, data, out);
    }
    MAKE(indptr, data->n + 1);
    MAKE(room, data->d);
    for (okra_int i = 0; i < data->n; i++) {
        count += okra_row_thin_(data, i, room).count;
    }
    MAKE(indices, count);
    MAKE(values, count);
    indptr[0] = count = 0;
    for (okra_int i = 0; i < data->n; i++) {
        okra_thin_ thin = okra_row_thin_(data, i, room);
        for (okra_int k = 0; k < thin.count; k++) {
            indices[count] = thin.indices[k];
            values[count++] = okra_thin_value_(&thin, k) * weight(state, thin.indices[k]);
        }
        indptr[i + 1] = count;
    }
    return okra_data_sparse(indptr, indices, values, data->n, data->d, out);
}

static const okra_through_ how = {&okra_linear_, fit, okra_free_, map, NULL};

const okra_kernel_class_ okra_ic_ = {
    .name = "ic",
    .help = "inner product of terms, each multiplied by its information content in both",
    .params = {"ic", okra_no_params_, 0},
    .kinds = OKRA_VECTORS_,
    .follows = true,
    .through = &how,
    OKRA_THROUGH_HOOKS_};
