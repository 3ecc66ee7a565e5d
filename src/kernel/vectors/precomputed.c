/*
 * precomputed.c: Gram matrices given by the user. The training matrix is n x n and
 * symmetric; other collections are rows of n values against the training objects, with or
 * without their self-similarities.
 */
#include "kernel/kernel.h"

typedef struct side {
    const okra_data *data;
    bool training;
} side;

/* Symmetric to this share of the largest value: what single precision leaves. */
static const double tolerance = 1e-6;

enum { TILE = 64 };

typedef struct extremes {
    const okra_data *train;
    double *of; /* a worker: the largest value, the largest difference across */
} extremes;

/* Rows begin..end-1 left of the diagonal and what lies across it, in tiles, so that both
 * are read along their rows. */
static okra_status look(void *arg, okra_int begin, okra_int end, int worker)
{
    const extremes *e = arg;
    const double *K = e->train->values;
    okra_int ld = e->train->ld;
    double most = e->of[2 * worker], apart = e->of[2 * worker + 1];
    for (okra_int j0 = 0; j0 < end; j0 += TILE) {
        for (okra_int i = begin; i < end; i++) {
            for (okra_int j = j0; j < OKRA_MIN_(j0 + TILE, i + 1); j++) {
                double lower = K[i * ld + j], upper = K[j * ld + i];
                double size = fabs(lower), off = fabs(lower - upper);
                most = size > most ? size : most;
                apart = off > apart ? off : apart;
            }
        }
    }
    e->of[2 * worker] = most;
    e->of[2 * worker + 1] = apart;
    return OKRA_OK;
}

static okra_status check_symmetric(okra_context *ctx, const okra_data *train)
{
    extremes e = {train, NULL};
    OWNS(&e.of);
    double largest = 0, apart = 0;
    ZMAKE(e.of, 2 * okra_workers_(ctx));
    CHK(okra_parallel_(ctx, train->n, TILE, NULL, look, &e));
    for (int w = 0; w < okra_workers_(ctx); w++) {
        largest = fmax(largest, e.of[2 * w]);
        apart = fmax(apart, e.of[2 * w + 1]);
    }
    if (apart <= tolerance * largest) {
        return OKRA_OK;
    }
    for (okra_int i = 0; i < train->n; i++) {
        for (okra_int j = 0; j < i; j++) {
            double lower = train->values[i * train->ld + j];
            double upper = train->values[j * train->ld + i];
            REFUSE_IF(!(fabs(lower - upper) <= tolerance * largest), OKRA_EARG,
                      "kernel precomputed: %s is not symmetric: %.17g at (%lld, %lld), "
                      "%.17g at (%lld, %lld), counted from 0",
                      train->source, lower, (long long)i, (long long)j, upper,
                      (long long)j, (long long)i);
        }
    }
    return OKRA_OK;
}

static okra_status bind_training(okra_context *ctx, const void *params,
                                 const okra_data *train, void **out)
{
    REFUSE_IF(train->n != train->d, OKRA_ESHAPE,
              "kernel precomputed: %s is %lld x %lld, a training Gram matrix is square",
              train->source, (long long)train->n, (long long)train->d);
    CHK(check_symmetric(ctx, train));
    *out = (okra_data *)(uintptr_t)train;
    return OKRA_OK;
}

static okra_status make_side(okra_context *ctx, const void *params, const void *shared,
                             const okra_data *data, void **out)
{
    const okra_data *train = shared;
    side *s = NULL;
    REFUSE_IF(data->d != train->n, OKRA_ESHAPE,
              "kernel precomputed: %s has %lld columns, expected one for each of the "
              "%lld training objects",
              data->source, (long long)data->d, (long long)train->n);
    MAKE(s, 1);
    s->data = data;
    s->training = data == train;
    *out = s;
    return OKRA_OK;
}

static okra_status block(okra_context *ctx, const void *params, const void *pa,
                         okra_int i0, okra_int ni, const void *pb, okra_int j0,
                         okra_int nj, double *out, okra_int ld)
{
    const okra_data *a = ((const side *)pa)->data;
    return okra_mat_copy_(okra_mat_view_(a->values + i0 * a->ld + j0, ni, nj, a->ld),
                          (okra_mat_){out, ni, nj, ld});
}

static okra_status diagonal(okra_context *ctx, const void *params, const void *pa,
                            okra_int n, double *out)
{
    const side *s = pa;
    const okra_data *data = s->data;
    REFUSE_IF(!s->training && !data->diagonal, OKRA_EUNSUPPORTED,
              "kernel precomputed: %s has no self-similarities", data->source);
    for (okra_int i = 0; i < n; i++) {
        out[i] = s->training ? data->values[i * data->ld + i] : data->diagonal[i];
    }
    return OKRA_OK;
}

const okra_kernel_class_ okra_precomputed_ = {
    .name = "precomputed",
    .help = "a Gram matrix read from a file",
    .params = {"precomputed", okra_no_params_, 0},
    .kinds = 1u << OKRA_GRAM,
    .shape = OKRA_SHAPE_GIVEN_,
    .bind = bind_training,
    .side = make_side,
    .free_side = okra_free_,
    .block = block,
    .diagonal = diagonal};
