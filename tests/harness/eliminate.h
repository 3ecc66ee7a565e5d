/*
 * eliminate.h: linear systems solved naively.
 */
#ifndef OKRA_TEST_ELIMINATE_H
#define OKRA_TEST_ELIMINATE_H

#include "core/core.h"

#include <math.h>

/* X <- A^-1 X with pivots, A: n x n, X: n x m; A is destroyed. */
static inline void eliminate(okra_int n, double *A, okra_int m, double *X)
{
    for (okra_int k = 0; k < n; k++) {
        okra_int pivot = k;
        double most = 0;
        for (okra_int i = k; i < n; i++) {
            pivot = fabs(A[i * n + k]) > most ? i : pivot;
            most = fmax(most, fabs(A[i * n + k]));
        }
        for (okra_int j = 0; j < n; j++) {
            double a = A[k * n + j];
            A[k * n + j] = A[pivot * n + j];
            A[pivot * n + j] = a;
        }
        for (okra_int j = 0; j < m; j++) {
            double x = X[k * m + j];
            X[k * m + j] = X[pivot * m + j];
            X[pivot * m + j] = x;
        }
        for (okra_int i = 0; i < n; i++) {
            double f = i == k ? 0 : A[i * n + k] / A[k * n + k];
            for (okra_int j = 0; j < n; j++) {
                A[i * n + j] -= f * A[k * n + j];
            }
            for (okra_int j = 0; j < m; j++) {
                X[i * m + j] -= f * X[k * m + j];
            }
        }
    }
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < m; j++) {
            X[i * m + j] /= A[i * n + i];
        }
    }
}

#endif
