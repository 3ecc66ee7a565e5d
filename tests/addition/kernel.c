/*
 * kernel.c: the kernel `smaller` as an example: k(x, y) = sum_j min(x_j, y_j)^power over
 * dense vectors of numbers that are not negative, the histogram intersection. Its row of
 * parameters is all that smaller(power=2) needs, in the program, in grids and in Python.
 */
#include "kernel/kernel.h"

#include <math.h>

typedef struct params {
    double power;
} params;

/* What is known of one collection: here the collection itself. */
static okra_status make_side(okra_context *ctx, const void *given, const void *shared,
                             const okra_data *data, void **side)
{
    (void)ctx;
    (void)given;
    (void)shared;
    *side = okra_data_retain(data);
    return OKRA_OK;
}

static void free_side(void *side)
{
    okra_data_free(side);
}

static double intersection(const double *x, const double *y, okra_int d, double power)
{
    double sum = 0;
    for (okra_int j = 0; j < d; j++) {
        sum += pow(fmin(x[j], y[j]), power);
    }
    return sum;
}

static okra_status block(okra_context *ctx, const void *given, const void *pa,
                         okra_int i0, okra_int ni, const void *pb, okra_int j0,
                         okra_int nj, double *out, okra_int ld)
{
    const okra_data *a = pa, *b = pb;
    const params *p = given;
    (void)ctx;
    if (a->d != b->d) {
        return okra_fail_(OKRA_ESHAPE, "kernel smaller: vectors of %lld and of %lld",
                          (long long)a->d, (long long)b->d);
    }
    for (okra_int r = 0; r < ni; r++) {
        for (okra_int c = 0; c < nj; c++) {
            out[r * ld + c] = intersection(a->values + (i0 + r) * a->ld,
                                           b->values + (j0 + c) * b->ld, a->d, p->power);
        }
    }
    return OKRA_OK;
}

static okra_status diagonal(okra_context *ctx, const void *given, const void *pa,
                            okra_int n, double *out)
{
    const okra_data *a = pa;
    const params *p = given;
    (void)ctx;
    for (okra_int i = 0; i < n; i++) {
        const double *x = a->values + i * a->ld;
        out[i] = intersection(x, x, a->d, p->power);
    }
    return OKRA_OK;
}

/* Name, type, field, default, range, choices, what help calls the value, help. */
static const okra_option rows[] = {{"power", OKRA_OPTION_NUMBER, offsetof(params, power),
                                    "1", 0.1, 10, NULL, "P", "Power of each number"},
                                   {0}};

const okra_kernel_class_ okra_smaller_ = {
    .name = "smaller",
    .help = "sum of the smaller of two numbers, place by place",
    .params = {"smaller", rows, sizeof(params)},
    .kinds = 1u << OKRA_DENSE,
    .side = make_side,
    .free_side = free_side,
    .block = block,
    .diagonal = diagonal,
};
