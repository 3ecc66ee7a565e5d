/*
 * Symmetric eigenvalues by cyclic Jacobi rotations (Golub & Van Loan, Matrix
 * Computations, 4th ed., sec. 8.5.3): rotate pairs (p, q) until every off-diagonal
 * element is below eps ||A||_F / n. O(n^3) a sweep, quadratic convergence, as accurate as
 * any method.
 */
#include "linalg/backend.h"

#include <float.h>
#include <math.h>

enum { most_sweeps = 60 }; /* 5 to 10 are usual */

/* Rows p and q of M <- (c p - s q, s p + c q) */
static void rotate_rows(okra_mat_ M, okra_int p, okra_int q, double c, double s)
{
    double *a = M.p + p * M.ld, *b = M.p + q * M.ld;
    for (okra_int k = 0; k < M.cols; k++) {
        double x = a[k], y = b[k];
        a[k] = c * x - s * y;
        b[k] = s * x + c * y;
    }
}

static void rotate_columns(okra_mat_ M, okra_int p, okra_int q, double c, double s)
{
    for (okra_int k = 0; k < M.rows; k++) {
        double *a = M.p + k * M.ld + p, *b = M.p + k * M.ld + q, x = *a, y = *b;
        *a = c * x - s * y;
        *b = s * x + c * y;
    }
}

/* One sweep; false when there was nothing left to rotate. V collects the rotations. */
static bool sweep(okra_mat_ A, okra_mat_ V, double floor)
{
    bool rotated = false;
    for (okra_int p = 0; p < A.rows; p++) {
        for (okra_int q = p + 1; q < A.rows; q++) {
            double apq = A.p[p * A.ld + q];
            if (fabs(apq) <= floor) {
                continue;
            }
            /* t = tan of the angle that makes a_pq zero, the smaller root (8.5.3) */
            double tau = (A.p[q * A.ld + q] - A.p[p * A.ld + p]) / (2 * apq);
            double t = (tau >= 0 ? 1 : -1) / (fabs(tau) + hypot(1, tau));
            double c = 1 / hypot(1, t), s = t * c;
            rotate_rows(A, p, q, c, s);
            rotate_columns(A, p, q, c, s);
            A.p[p * A.ld + q] = A.p[q * A.ld + p] = 0;
            rotate_rows(V, p, q, c, s);
            rotated = true;
        }
    }
    return rotated;
}

/* Ascending, by selection: n swaps of rows at most. */
static void sort(okra_mat_ V, double *w)
{
    for (okra_int i = 0; i < V.rows; i++) {
        okra_int least = i;
        for (okra_int k = i + 1; k < V.rows; k++) {
            least = w[k] < w[least] ? k : least;
        }
        if (least != i) {
            double t = w[i];
            w[i] = w[least];
            w[least] = t;
            rotate_rows(V, i, least, 0, 1);
        }
    }
}

okra_status okra_ref_eigh_(okra_context *ctx, okra_mat_ A, double *w)
{
    okra_status st = OKRA_OK;
    okra_int n = A.rows;
    double *v = NULL, norm = 0;

    TRY(okra_doubles_(ctx, n, n, "eigh: eigenvectors", &v));
    okra_mat_ V = okra_mat_of_(v, n, n);
    okra_mat_fill_(V, 0);
    okra_mat_add_diagonal_(V, 1);
    okra_mat_mirror_(A);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            norm = hypot(norm, A.p[i * A.ld + j]);
        }
    }
    /* off-diagonal rest of at most eps ||A||_F in all */
    double floor = DBL_EPSILON * norm / (double)n;
    for (int round = 0; sweep(A, V, floor); round++) {
        if (round == most_sweeps) {
            FAIL(OKRA_ENUMERIC, "eigh: no convergence in %d Jacobi sweeps",
                 (int)most_sweeps);
        }
        TRY(okra_cancelled_(ctx));
    }
    for (okra_int i = 0; i < n; i++) {
        w[i] = A.p[i * A.ld + i];
    }
    sort(V, w);
    okra_mat_copy_(V, A);
done:
    okra_free_(v);
    return st;
}
