/*
 * precomputed.c: Gram matrices given by the user. The training matrix is n x n and
 * symmetric; other collections are rows of n values against the training objects, with or
 * without their self-similarities.
 */
#include "kernel/kernels.h"

#include <math.h>

typedef struct side {
    const okra_data *data;
    bool training;
} side;

/* Symmetric to this share of the largest value: what single precision leaves. */
static const double tolerance = 1e-6;

static double largest_of(const okra_data *train)
{
    double most[4] = {0};
    for (okra_int i = 0; i < train->n; i++) {
        const double *row = train->values + i * train->ld;
        for (okra_int j = 0; j < train->n; j++) {
            double size = fabs(row[j]);
            most[j % 4] = size > most[j % 4] ? size : most[j % 4];
        }
    }
    return fmax(fmax(most[0], most[1]), fmax(most[2], most[3]));
}

/* In tiles, so that both halves are read along their rows. */
static bool is_symmetric(const okra_data *train, double slack)
{
    enum { TILE = 64 };
    bool yes = true;
    for (okra_int i0 = 0; i0 < train->n && yes; i0 += TILE) {
        for (okra_int j0 = 0; j0 <= i0; j0 += TILE) {
            for (okra_int i = i0; i < OKRA_MIN_(i0 + TILE, train->n); i++) {
                for (okra_int j = j0; j < OKRA_MIN_(j0 + TILE, i); j++) {
                    yes &= fabs(train->values[i * train->ld + j] -
                                train->values[j * train->ld + i]) <= slack;
                }
            }
        }
    }
    return yes;
}

static okra_status check_symmetric(const okra_data *train)
{
    double largest = largest_of(train);
    if (is_symmetric(train, tolerance * largest)) {
        return OKRA_OK;
    }
    for (okra_int i = 0; i < train->n; i++) {
        for (okra_int j = 0; j < i; j++) {
            double lower = train->values[i * train->ld + j];
            double upper = train->values[j * train->ld + i];
            if (!(fabs(lower - upper) <= tolerance * largest)) {
                return okra_fail_(OKRA_EARG,
                                  "kernel precomputed: %s is not symmetric: %.17g at "
                                  "(%lld, %lld), %.17g at (%lld, %lld), counted from 0",
                                  train->source, lower, (long long)i, (long long)j, upper,
                                  (long long)j, (long long)i);
            }
        }
    }
    return OKRA_OK;
}

static okra_status bind(okra_context *ctx, const void *params, const okra_data *train,
                        void **out)
{
    okra_status st = OKRA_OK;
    side *s = NULL;

    (void)ctx, (void)params;
    if (train->n != train->d) {
        FAIL(OKRA_ESHAPE,
             "kernel precomputed: %s is %lld x %lld, a training Gram matrix is square",
             train->source, (long long)train->n, (long long)train->d);
    }
    TRY(check_symmetric(train));
    ALLOC(s, 1);
    s->data = train;
    s->training = true;
    *out = s;
done:
    return st;
}

static okra_status make_side(okra_context *ctx, const void *params, const void *shared,
                             const okra_data *data, void **out)
{
    okra_status st = OKRA_OK;
    const okra_data *train = ((const side *)shared)->data;
    side *s = NULL;

    (void)ctx, (void)params;
    if (data->d != train->n) {
        FAIL(OKRA_ESHAPE,
             "kernel precomputed: %s has %lld columns, expected one for each of the %lld "
             "training objects",
             data->source, (long long)data->d, (long long)train->n);
    }
    ALLOC(s, 1);
    s->data = data;
    s->training = data == train;
    *out = s;
done:
    return st;
}

static okra_status block(okra_context *ctx, const void *params, const void *pa,
                         okra_int i0, okra_int ni, const void *pb, okra_int j0,
                         okra_int nj, double *out, okra_int ld)
{
    const okra_data *a = ((const side *)pa)->data;

    (void)ctx, (void)params, (void)pb;
    okra_mat_copy_(okra_mat_view_(a->values + i0 * a->ld + j0, ni, nj, a->ld),
                   (okra_mat_){out, ni, nj, ld});
    return OKRA_OK;
}

static okra_status diagonal(okra_context *ctx, const void *params, const void *pa,
                            okra_int n, double *out)
{
    const side *s = pa;
    const okra_data *data = s->data;

    (void)ctx, (void)params;
    if (!s->training && !data->diagonal) {
        return okra_fail_(OKRA_EUNSUPPORTED,
                          "kernel precomputed: %s has no self-similarities",
                          data->source);
    }
    for (okra_int i = 0; i < n; i++) {
        out[i] = s->training ? data->values[i * data->ld + i] : data->diagonal[i];
    }
    return OKRA_OK;
}

static const okra_option none[] = {{.name = NULL}};

const okra_kernel_class_ okra_precomputed_ = {.name = "precomputed",
                                              .help = "a Gram matrix read from a file",
                                              .params = {"precomputed", none, 0},
                                              .kinds = 1u << OKRA_GRAM,
                                              .bind = bind,
                                              .unbind = okra_free_,
                                              .side = make_side,
                                              .free_side = okra_free_,
                                              .block = block,
                                              .diagonal = diagonal};
