/*
 * thin.h: inputs with a kernel of low rank, and problems on them.
 */
#ifndef OKRA_TEST_THIN_H
#define OKRA_TEST_THIN_H

#include "harness.h"
#include "kernel/lowrank/lowrank.h"
#include "method/method.h"

typedef struct thin {
    okra_data *data; /* n x width, a view */
    okra_kernel *kernel;
    okra_map_ *map;
} thin;

/* x: rows ld apart. */
static inline thin thin_open(const double *x, okra_int n, okra_int width, okra_int ld,
                             const char *kernel, const char *low_rank, uint64_t seed)
{
    thin t = {NULL, NULL, NULL};
    okra_low_ low;
    CHECK_OK(okra_data_dense(x, n, width, ld, &t.data));
    CHECK_OK(okra_kernel_parse(kernel, &t.kernel));
    CHECK_OK(okra_low_parse_(low_rank, &low));
    CHECK_OK(okra_map_create_(NULL, t.kernel, t.data, &low, seed, NULL, &t.map));
    return t;
}

static inline void thin_close(thin *t)
{
    okra_map_free_(t->map);
    okra_kernel_free(t->kernel);
    okra_data_free(t->data);
}

/* The first n inputs have outputs y of d numbers each, rows ld apart. */
static inline okra_problem_ thin_problem(const thin *t, okra_int n, const double *y,
                                         okra_int d, okra_int ld)
{
    return (okra_problem_){.n = n,
                           .x = t->data,
                           .features = y,
                           .d = d,
                           .features_ld = ld,
                           .feature_scale = 1,
                           .map_x = t->map};
}

#endif
