/*
 * twin_solve.c: the coefficients of twin kernel learning: the leading pair of singular
 * vectors of C >= 0, which maximises alpha' C beta over unit vectors and has no negative
 * entries (Perron and Frobenius; Tonde and Elgammal, Theorem 4.2). Cost: an SVD of C.
 */
#include "method/twin/twin.h"

#include <math.h>
#include <string.h>

/* The sign that makes the vector's sum positive; then what is below 0 is rounding. */
static void non_negative(okra_int n, double *v)
{
    double sum = 0, norm = 0;
    for (okra_int i = 0; i < n; i++) {
        sum += v[i];
    }
    for (okra_int i = 0; i < n; i++) {
        v[i] = fmax(0, sum < 0 ? -v[i] : v[i]);
        norm += v[i] * v[i];
    }
    for (okra_int i = 0; norm > 0 && i < n; i++) {
        v[i] /= sqrt(norm);
    }
}

okra_status okra_twin_solve_(okra_context *ctx, okra_mat_ C, double *alpha, double *beta,
                             double *value)
{
    okra_int k = OKRA_MIN_(C.rows, C.cols);
    OWNED double *A = NULL, *U = NULL, *V = NULL, *s = NULL;
    MAKE(A, C.rows * C.cols);
    MAKE(U, C.rows * k);
    MAKE(V, k * C.cols);
    MAKE(s, k);
    for (okra_int i = 0; i < C.rows * C.cols; i++) {
        /* HSIC is not negative, the unbiased estimate of it can be. */
        A[i] = fmax(0, C.p[i / C.cols * C.ld + i % C.cols]);
    }
    CHK(okra_svd_(ctx, okra_mat_of_(A, C.rows, C.cols), okra_mat_of_(U, C.rows, k), s,
                  okra_mat_of_(V, k, C.cols)));
    REFUSE_IF(!(s[0] > 0), OKRA_ENUMERIC,
              "twin: inputs and outputs show no dependence: no HSIC is above 0");
    for (okra_int i = 0; i < C.rows; i++) {
        alpha[i] = U[i * k];
    }
    memcpy(beta, V, (size_t)C.cols * sizeof *beta);
    non_negative(C.rows, alpha);
    non_negative(C.cols, beta);
    *value = s[0];
    return OKRA_OK;
}
