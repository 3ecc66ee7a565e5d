/*
 * Eigenvalues and singular values by Jacobi rotations (Golub & Van Loan, Matrix
 * Computations, 4th ed., sec. 8.5.3 and 8.6.4): O(n^3) a sweep, quadratic convergence.
 *
 * eigh: two-sided; pairs (p, q) are rotated until every off-diagonal element is below
 *       eps ||A||_F / n. Eigenvalues to a few eps ||A||.
 * svd:  one-sided; rows of X, the wide one of A and A', are rotated until they are
 *       orthogonal: G X0 = X = diag(s) Y, so X0 = G' diag(s) Y.
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

/* Cosine and sine of the rotation that makes [pp pq; pq qq] diagonal; t, its tangent, is
 * the smaller root of t^2 + 2 tau t - 1 = 0. */
static void angle(double pp, double pq, double qq, double *c, double *s)
{
    double tau = (qq - pp) / (2 * pq);
    double t = (tau >= 0 ? 1 : -1) / (fabs(tau) + hypot(1, tau));
    *c = 1 / hypot(1, t);
    *s = t * *c;
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
            double c, s;
            angle(A.p[p * A.ld + p], apq, A.p[q * A.ld + q], &c, &s);
            rotate_rows(A, p, q, c, s);
            rotate_columns(A, p, q, c, s);
            A.p[p * A.ld + q] = A.p[q * A.ld + p] = 0;
            rotate_rows(V, p, q, c, s);
            rotated = true;
        }
    }
    return rotated;
}

/* Sorts by selection, n swaps at most: values ascending (sign = 1) or descending (-1),
 * and the rows of V with them. */
static void sort(double sign, double *w, okra_mat_ V)
{
    for (okra_int i = 0; i < V.rows; i++) {
        okra_int first = i;
        for (okra_int k = i + 1; k < V.rows; k++) {
            first = sign * w[k] < sign * w[first] ? k : first;
        }
        if (first != i) {
            double t = w[i];
            w[i] = w[first];
            w[first] = t;
            rotate_rows(V, i, first, 0, 1);
        }
    }
}

okra_status okra_ref_eigh_(okra_context *ctx, okra_mat_ A, double *w)
{
    okra_int n = A.rows;
    OWNED double *v = NULL;
    double norm = 0;

    CHK(okra_doubles_(ctx, n, n, "eigh: eigenvectors", &v));
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
        REFUSE_IF(round == most_sweeps, OKRA_ENUMERIC,
                  "eigh: no convergence in %d Jacobi sweeps", (int)most_sweeps);
        CHK(okra_cancelled_(ctx));
    }
    for (okra_int i = 0; i < n; i++) {
        w[i] = A.p[i * A.ld + i];
    }
    sort(1, w, V);
    return okra_mat_copy_(V, A);
}

/* One sweep over the rows of [X G], rotated together, whose first `cols` columns are X;
 * inner products below eps |x_p| |x_q|, or below the floor, count as 0. */
static bool sweep_rows(okra_mat_ XG, okra_int cols, double floor)
{
    bool rotated = false;
    for (okra_int p = 0; p < XG.rows; p++) {
        for (okra_int q = p + 1; q < XG.rows; q++) {
            const double *xp = XG.p + p * XG.ld, *xq = XG.p + q * XG.ld;
            double pp = okra_dot_(cols, xp, xp), qq = okra_dot_(cols, xq, xq);
            double pq = okra_dot_(cols, xp, xq), c, s;
            /* 4: the rounding of the inner products themselves */
            if (fabs(pq) > 4 * DBL_EPSILON * sqrt(pp) * sqrt(qq) && fabs(pq) > floor) {
                angle(pp, pq, qq, &c, &s);
                rotate_rows(XG, p, q, c, s);
                rotated = true;
            }
        }
    }
    return rotated;
}

/* X = diag(s) Y. Rows of norm s_i near 0 have no direction of their own: Y' is made
 * orthonormal by QR with R_ii >= 0, which leaves good rows alone and completes the rest.
 */
static okra_status orthonormal(okra_mat_ X, double tiny, const double *s, okra_mat_ Yt)
{
    okra_status st = okra_mat_transpose_(X, Yt);
    for (okra_int i = 0; st == OKRA_OK && i < Yt.rows; i++) {
        for (okra_int j = 0; j < Yt.cols; j++) {
            Yt.p[i * Yt.ld + j] *= s[j] > tiny ? 1 / s[j] : 0;
        }
    }
    return st == OKRA_OK ? okra_ref_orthonormal_(Yt) : st;
}

okra_status okra_ref_svd_(okra_context *ctx, okra_mat_ A, okra_mat_ U, double *s,
                          okra_mat_ Vt)
{
    bool tall = A.rows > A.cols;
    okra_int k = OKRA_MIN_(A.rows, A.cols), l = OKRA_MAX_(A.rows, A.cols);
    OWNED double *xg = NULL, *y = NULL;
    double square = 0;

    CHK(okra_doubles_(ctx, k, l + k, "svd: work space", &xg));
    CHK(okra_doubles_(ctx, l, k, "svd: singular vectors", &y));
    okra_mat_ XG = okra_mat_of_(xg, k, l + k), Yt = okra_mat_of_(y, l, k);
    okra_mat_ X = okra_mat_part_(XG, 0, k, 0, l), G = okra_mat_part_(XG, 0, k, l, k);
    CHK((tall ? okra_mat_transpose_ : okra_mat_copy_)(A, X));
    okra_mat_fill_(G, 0);
    okra_mat_add_diagonal_(G, 1);
    for (okra_int i = 0; i < k; i++) {
        square += okra_dot_(l, X.p + i * X.ld, X.p + i * X.ld);
    }
    double tiny = DBL_EPSILON * sqrt(square);
    for (int round = 0; sweep_rows(XG, l, tiny * tiny); round++) {
        REFUSE_IF(round == most_sweeps, OKRA_ENUMERIC,
                  "svd: no convergence in %d Jacobi sweeps", (int)most_sweeps);
        CHK(okra_cancelled_(ctx));
    }
    for (okra_int i = 0; i < k; i++) {
        s[i] = sqrt(okra_dot_(l, X.p + i * X.ld, X.p + i * X.ld));
    }
    sort(-1, s, XG);
    CHK(orthonormal(X, tiny, s, Yt));
    CHK((tall ? okra_mat_copy_ : okra_mat_transpose_)(tall ? Yt : G, U));
    return (tall ? okra_mat_copy_ : okra_mat_transpose_)(tall ? G : Yt, Vt);
}
