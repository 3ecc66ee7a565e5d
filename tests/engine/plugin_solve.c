/*
 * plugin_solve.c: factors, triangular systems and eigenvectors of the test engine.
 */
#include "plugin.h"

#include <math.h>

okra_status test_cholesky(void *e, okra_context *ctx, void *A, bool *done)
{
    body *b = A;
    (void)ctx;
    MINE(A);
    *done = false;
    ((state *)e)->factors++;
    for (okra_int i = 0; i < b->rows; i++) {
        for (okra_int j = 0; j <= i; j++) {
            double rest = *at(A, i, j);
            for (okra_int k = 0; k < j; k++) {
                rest -= *at(A, i, k) * *at(A, j, k);
            }
            if (i == j && !(rest > 0)) {
                return OKRA_OK;
            }
            *at(A, i, j) = i == j ? sqrt(rest) : rest / *at(A, j, j);
        }
    }
    *done = true;
    return OKRA_OK;
}

okra_status test_restore(void *e, okra_context *ctx, const double *d, void *A)
{
    body *b = A;
    (void)ctx;
    MINE(A);
    for (okra_int i = 0; i < b->rows; i++) {
        for (okra_int j = 0; j < i; j++) {
            *at(A, i, j) = *at(A, j, i);
        }
        *at(A, i, i) = d[i];
    }
    return OKRA_OK;
}

okra_status test_trsm(void *e, okra_context *ctx, bool left, bool trans, const void *L,
                      void *B)
{
    body *b = B;
    okra_int n = ((const body *)L)->rows, count = left ? b->cols : b->rows;
    bool flip = left ? trans : !trans; /* the matrix M = op(L) on the left is L' */
    (void)ctx;
    MINE(L);
    MINE(B);
    for (okra_int c = 0; c < count; c++) {
        for (okra_int t = 0; t < n; t++) {
            okra_int i = flip ? n - 1 - t : t;
            double *x = left ? at(B, i, c) : at(B, c, i);
            for (okra_int k = flip ? i + 1 : 0; k < (flip ? n : i); k++) {
                *x -= (flip ? *at(L, k, i) : *at(L, i, k)) *
                      (left ? *at(B, k, c) : *at(B, c, k));
            }
            *x /= *at(L, i, i);
        }
    }
    return OKRA_OK;
}

/* One rotation of Jacobi's method on rows and columns p, q of A (by rows), rows of V. */
static void rotate(okra_int n, double *A, double *V, okra_int p, okra_int q)
{
    double apq = A[p * n + q];
    if (apq == 0) {
        return;
    }
    double theta = (A[q * n + q] - A[p * n + p]) / (2 * apq);
    double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (okra_int k = 0; k < n; k++) {
        double x = A[k * n + p], y = A[k * n + q];
        A[k * n + p] = c * x - s * y;
        A[k * n + q] = s * x + c * y;
    }
    for (okra_int k = 0; k < n; k++) {
        double x = A[p * n + k], y = A[q * n + k];
        A[p * n + k] = c * x - s * y;
        A[q * n + k] = s * x + c * y;
        x = V[p * n + k], y = V[q * n + k];
        V[p * n + k] = c * x - s * y;
        V[q * n + k] = s * x + c * y;
    }
}

static void jacobi(okra_int n, double *A, double *V)
{
    for (int sweep = 0; sweep < 60; sweep++) {
        double off = 0, all = 0;
        for (okra_int k = 0; k < n * n; k++) {
            off += k / n != k % n ? A[k] * A[k] : 0;
            all += A[k] * A[k];
        }
        if (off <= 1e-32 * all) {
            break;
        }
        for (okra_int p = 0; p < n; p++) {
            for (okra_int q = p + 1; q < n; q++) {
                rotate(n, A, V, p, q);
            }
        }
    }
}

okra_status test_eigh(void *e, okra_context *ctx, void *A, double *w)
{
    const state *s = e;
    body *b = A;
    okra_int n = b->rows;
    (void)ctx;
    MINE(A);
    double *G = s->host->alloc(2 * n * n, sizeof *G), *V = G ? G + n * n : NULL;
    if (!G) {
        return OKRA_EMEM;
    }
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            G[i * n + j] = i >= j ? *at(A, i, j) : *at(A, j, i);
            V[i * n + j] = i == j;
        }
    }
    jacobi(n, G, V);
    for (okra_int i = 0; i < n; i++) { /* ascending, by selection */
        okra_int least = i;
        for (okra_int j = i + 1; j < n; j++) {
            least = G[j * n + j] < G[least * n + least] ? j : least;
        }
        double swap = G[i * n + i];
        w[i] = G[least * n + least];
        G[least * n + least] = swap;
        for (okra_int k = 0; k < n; k++) {
            swap = V[i * n + k];
            *at(A, i, k) = V[i * n + k] = V[least * n + k];
            V[least * n + k] = swap;
        }
    }
    s->host->free(G);
    return OKRA_OK;
}
