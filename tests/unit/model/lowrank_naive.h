/* lowrank_naive.h: a Gram matrix of low rank, written out. */
#ifndef OKRA_TEST_LOWRANK_NAIVE_H
#define OKRA_TEST_LOWRANK_NAIVE_H

#include "harness.h"

/* G <- K_wP K_PP^-1 K_Pw of K (w x w), P the `rank` objects of those in `among` (count of
 * them) that incomplete Cholesky with the largest residuals first chooses. */
static inline void lowrank_naive(okra_int w, const double *K, const okra_int *among,
                                 okra_int count, okra_int rank, double *G)
{
    double *R = okra_alloc_(w * w, sizeof *R); /* what is left of K */
    memcpy(R, K, (size_t)(w * w) * sizeof *R);
    memset(G, 0, (size_t)(w * w) * sizeof *G);
    for (okra_int m = 0; m < rank; m++) {
        okra_int p = among[0];
        for (okra_int i = 1; i < count; i++) {
            p = R[among[i] * (w + 1)] > R[p * (w + 1)] ? among[i] : p;
        }
        double pivot = R[p * (w + 1)];
        double *row = okra_alloc_(w, sizeof *row);
        memcpy(row, R + p * w, (size_t)w * sizeof *row);
        for (okra_int i = 0; i < w * w; i++) {
            double part = row[i / w] * row[i % w] / pivot;
            G[i] += part;
            R[i] -= part;
        }
        for (okra_int i = 0; i < w; i++) { /* exactly: it is not chosen again */
            R[p * w + i] = R[i * w + p] = 0;
        }
        okra_free_(row);
    }
    okra_free_(R);
}

#endif
