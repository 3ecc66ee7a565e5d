/*
 * kernel.c: the kernel `smaller` as an example: k(x, y) = sum_j min(x_j, y_j) over dense
 * vectors of numbers that are not negative, the histogram intersection.
 */
#include "kernel/kernel.h"

#include <math.h>

/* What is known of one collection: here the collection itself. */
static okra_status make_side(okra_context *ctx, const void *params, const void *shared,
                             const okra_data *data, void **side)
{
    (void)ctx;
    (void)params;
    (void)shared;
    *side = okra_data_retain(data);
    return OKRA_OK;
}

static void free_side(void *side)
{
    okra_data_free(side);
}

static double intersection(const double *x, const double *y, okra_int d)
{
    double sum = 0;
    for (okra_int j = 0; j < d; j++) {
        sum += fmin(x[j], y[j]);
    }
    return sum;
}

static okra_status block(okra_context *ctx, const void *params, const void *pa,
                         okra_int i0, okra_int ni, const void *pb, okra_int j0,
                         okra_int nj, double *out, okra_int ld)
{
    const okra_data *a = pa, *b = pb;
    (void)ctx;
    (void)params;
    if (a->d != b->d) {
        return okra_fail_(OKRA_ESHAPE, "kernel smaller: vectors of %lld and of %lld",
                          (long long)a->d, (long long)b->d);
    }
    for (okra_int r = 0; r < ni; r++) {
        for (okra_int c = 0; c < nj; c++) {
            out[r * ld + c] = intersection(a->values + (i0 + r) * a->ld,
                                           b->values + (j0 + c) * b->ld, a->d);
        }
    }
    return OKRA_OK;
}

static okra_status diagonal(okra_context *ctx, const void *params, const void *pa,
                            okra_int n, double *out)
{
    const okra_data *a = pa;
    (void)ctx;
    (void)params;
    for (okra_int i = 0; i < n; i++) {
        const double *x = a->values + i * a->ld;
        out[i] = intersection(x, x, a->d);
    }
    return OKRA_OK;
}

static const okra_option none[] = {{.name = NULL}};

const okra_kernel_class_ okra_smaller_ = {
    .name = "smaller",
    .help = "sum of the smaller of two numbers, place by place",
    .params = {"smaller", none, 0},
    .kinds = 1u << OKRA_DENSE,
    .side = make_side,
    .free_side = free_side,
    .block = block,
    .diagonal = diagonal,
};
