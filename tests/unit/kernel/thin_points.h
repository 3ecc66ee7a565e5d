/*
 * thin_points.h: points, their Gram matrix, and thin factors of it.
 */
#ifndef OKRA_TEST_THIN_POINTS_H
#define OKRA_TEST_THIN_POINTS_H

#include "kernel/lowrank/lowrank.h"
#include "kernel_data.h"

enum { N = 40, P = 3 };

typedef struct points {
    double x[N * (P + 1)];
    okra_data *data;
    okra_kernel *kernel;
    double K[N * N], self[N];
} points;

/* Rows P + 1 apart; `repeats`: the second half repeats the first. */
static inline void make(uint64_t seed, okra_int n, bool repeats, const char *kernel,
                        points *p)
{
    okra_random_ r = okra_random_create_(seed, 3);
    harness_normals(&r, N * (P + 1), p->x);
    for (okra_int i = n / 2; repeats && i < n; i++) {
        memcpy(p->x + i * (P + 1), p->x + (i - n / 2) * (P + 1), P * sizeof(double));
    }
    CHECK_OK(okra_data_dense(p->x, n, P, P + 1, &p->data));
    CHECK_OK(okra_kernel_parse(kernel, &p->kernel));
    CHECK_OK(okra_gram(NULL, p->kernel, p->data, NULL, p->K, n));
}

static inline void clear(points *p)
{
    okra_data_free(p->data);
    okra_kernel_free(p->kernel);
}

static inline okra_status map_from(const points *p, const char *text, okra_map_ **map)
{
    okra_low_ low;
    okra_status st = okra_low_parse_(text, &low);
    return st == OKRA_OK ? okra_map_create_(NULL, p->kernel, p->data, &low, 1, NULL, map)
                         : st;
}

static const char *const full[] = {"chol(rank=40,tol=0)",
                                   "nystrom(rank=40)",
                                   "nystrom(rank=40,pivots=leverage)",
                                   "nystrom(rank=40,pivots=kmeans)",
                                   "nystrom(rank=40,pivots=greedy)",
                                   "nystrom(rank=40,pivots=centres)",
                                   "sketch(rank=40,p=0.5)",
                                   "sketch(rank=40,kind=gaussian)"};
enum { FULL = sizeof full / sizeof *full };

#endif
