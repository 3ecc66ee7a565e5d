/*
 * QR by Householder reflections and LU with partial pivoting (Golub & Van Loan, Matrix
 * Computations, 4th ed., sec. 5.2.2 and 3.4), unblocked. 4 m n^2 and 2 n^3 / 3
 * operations.
 */
#include "linalg/backend.h"

#include <math.h>

/* Rows j.. of columns j+1.. (and on) of A <- (I - tau v v') A, v stored from (j, j) down
 * in column j with v_0 = 1 understood. */
static void reflect(okra_mat_ A, okra_int j, double tau, okra_int first)
{
    for (okra_int c = first; c < A.cols; c++) {
        double sum = A.p[j * A.ld + c];
        for (okra_int i = j + 1; i < A.rows; i++) {
            sum += A.p[i * A.ld + j] * A.p[i * A.ld + c];
        }
        A.p[j * A.ld + c] -= tau * sum;
        for (okra_int i = j + 1; i < A.rows; i++) {
            A.p[i * A.ld + c] -= tau * sum * A.p[i * A.ld + j];
        }
    }
}

/* Column j below the diagonal becomes v; the diagonal gets R_jj = +-norm. Returns tau. */
static double reflector(okra_mat_ A, okra_int j)
{
    double *x = A.p + j * A.ld + j, norm = 0;
    for (okra_int i = 0; i < A.rows - j; i++) {
        norm = hypot(norm, x[i * A.ld]);
    }
    if (norm == 0) {
        return 0;
    }
    double r = *x > 0 ? -norm : norm; /* the sign without cancellation */
    double tau = (r - *x) / r, scale = 1 / (*x - r);
    for (okra_int i = 1; i < A.rows - j; i++) {
        x[i * A.ld] *= scale;
    }
    *x = r;
    return tau;
}

/* Signs are chosen at the end so that R_jj >= 0: the factorisation is then unique. */
okra_status okra_ref_orthonormal_(okra_mat_ A)
{
    OWNED double *tau = NULL, *sign = NULL;
    MAKE(tau, A.cols);
    MAKE(sign, A.cols);
    for (okra_int j = 0; j < A.cols; j++) {
        tau[j] = reflector(A, j);
        reflect(A, j, tau[j], j + 1);
        sign[j] = A.p[j * A.ld + j] < 0 ? -1 : 1;
    }
    /* Q = H_0 ... H_n-1 applied to the leading columns of I, last reflection first */
    for (okra_int j = A.cols - 1; j >= 0; j--) {
        for (okra_int k = j + 1; k < A.cols; k++) {
            A.p[j * A.ld + k] = 0;
        }
        reflect(A, j, tau[j], j + 1);
        A.p[j * A.ld + j] = 1 - tau[j];
        for (okra_int i = j + 1; i < A.rows; i++) {
            A.p[i * A.ld + j] *= -tau[j];
        }
    }
    for (okra_int i = 0; i < A.rows; i++) {
        for (okra_int j = 0; j < A.cols; j++) {
            A.p[i * A.ld + j] *= sign[j];
        }
    }
    return OKRA_OK;
}

static void swap_rows(okra_mat_ A, okra_int i, okra_int k)
{
    for (okra_int j = 0; j < A.cols; j++) {
        double t = A.p[i * A.ld + j];
        A.p[i * A.ld + j] = A.p[k * A.ld + j];
        A.p[k * A.ld + j] = t;
    }
}

/* row i <- row i - factor * row k, from column `first` on */
static void eliminate(okra_mat_ A, okra_int i, okra_int k, double factor, okra_int first)
{
    for (okra_int j = first; j < A.cols; j++) {
        A.p[i * A.ld + j] -= factor * A.p[k * A.ld + j];
    }
}

/* L (unit) and U in place of A, every row exchange also in B, so that L U X = B follows.
 */
static okra_status lu(okra_mat_ A, okra_mat_ B)
{
    for (okra_int k = 0; k < A.rows; k++) {
        okra_int pivot = k;
        for (okra_int i = k + 1; i < A.rows; i++) {
            if (fabs(A.p[i * A.ld + k]) > fabs(A.p[pivot * A.ld + k])) {
                pivot = i;
            }
        }
        REFUSE_IF(A.p[pivot * A.ld + k] == 0, OKRA_ENUMERIC,
                  "solve: the %lld x %lld matrix is singular (pivot %lld is 0)",
                  (long long)A.rows, (long long)A.rows, (long long)k + 1);
        swap_rows(A, k, pivot);
        swap_rows(B, k, pivot);
        for (okra_int i = k + 1; i < A.rows; i++) {
            A.p[i * A.ld + k] /= A.p[k * A.ld + k];
            eliminate(A, i, k, A.p[i * A.ld + k], k + 1);
        }
    }
    return OKRA_OK;
}

static void substitute(okra_mat_ LU, okra_mat_ B)
{
    for (okra_int i = 0; i < LU.rows; i++) {
        for (okra_int k = 0; k < i; k++) {
            eliminate(B, i, k, LU.p[i * LU.ld + k], 0);
        }
    }
    for (okra_int i = LU.rows - 1; i >= 0; i--) {
        for (okra_int k = i + 1; k < LU.rows; k++) {
            eliminate(B, i, k, LU.p[i * LU.ld + k], 0);
        }
        for (okra_int j = 0; j < B.cols; j++) {
            B.p[i * B.ld + j] /= LU.p[i * LU.ld + i];
        }
    }
}

/* largest column sum of absolute values */
static double norm_one(okra_mat_ A)
{
    double norm = 0;
    for (okra_int j = 0; j < A.cols; j++) {
        double sum = 0;
        for (okra_int i = 0; i < A.rows; i++) {
            sum += fabs(A.p[i * A.ld + j]);
        }
        norm = fmax(norm, sum);
    }
    return norm;
}

/* The condition number is computed from the inverse itself: exact, where others estimate.
 * The rows of B are exchanged as those of A, and so are the rows of P, which becomes
 * U^-1 L^-1 P = A^-1. */
okra_status okra_ref_solve_(okra_context *ctx, okra_mat_ A, okra_mat_ B, double *rcond)
{
    okra_int n = A.rows, cols = B.cols;
    OWNED double *work = NULL;
    double norm = norm_one(A);

    CHK(okra_doubles_(ctx, n, n + cols, "solve: the inverse", &work));
    okra_mat_ BP = okra_mat_of_(work, n, cols + n); /* [B P] */
    okra_mat_ inverse = okra_mat_part_(BP, 0, n, cols, n);
    CHK(okra_mat_copy_(B, okra_mat_part_(BP, 0, n, 0, cols)));
    okra_mat_fill_(inverse, 0);
    okra_mat_add_diagonal_(inverse, 1);
    CHK(lu(A, BP));
    substitute(A, BP);
    CHK(okra_mat_copy_(okra_mat_part_(BP, 0, n, 0, cols), B));
    *rcond = 1 / (norm * norm_one(inverse));
    return OKRA_OK;
}
