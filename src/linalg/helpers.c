/*
 * Copies, transposes and the like: plain C, no BLAS, O(rows cols).
 */
#include "linalg/linalg.h"

okra_status okra_mat_room_(const okra_context *ctx, okra_int rows, okra_int cols,
                           const char *what, okra_mat_ *out)
{
    double *p = NULL;
    CHK(okra_doubles_(ctx, rows, cols, what, &p));
    *out = okra_mat_of_(p, rows, cols);
    return OKRA_OK;
}

void okra_mat_units_(okra_mat_ A, okra_int first)
{
    okra_mat_fill_(A, 0);
    for (okra_int i = 0; i < A.rows; i++) {
        A.p[i * A.ld + first + i] = 1;
    }
}

void okra_mat_fill_(okra_mat_ A, double value)
{
    for (okra_int i = 0; i < A.rows; i++) {
        for (okra_int j = 0; j < A.cols; j++) {
            A.p[i * A.ld + j] = value;
        }
    }
}

static okra_status mismatch(const char *what, okra_mat_ A, okra_mat_ B)
{
    return okra_fail_(OKRA_ESHAPE, "%s: a matrix of %lld x %lld does not fit %lld x %lld",
                      what, (long long)A.rows, (long long)A.cols, (long long)B.rows,
                      (long long)B.cols);
}

okra_status okra_mat_copy_(okra_mat_ A, okra_mat_ B)
{
    if (A.rows != B.rows || A.cols != B.cols) {
        return mismatch("copy", A, B);
    }
    for (okra_int i = 0; i < A.rows && A.cols > 0; i++) {
        memcpy(B.p + i * B.ld, A.p + i * A.ld, (size_t)A.cols * sizeof *A.p);
    }
    return OKRA_OK;
}

/* Blocks of 32 x 32: two of them, 16 KiB, stay in the first-level cache. */
enum { block = 32 };

static void transpose_block(okra_mat_ A, okra_mat_ B)
{
    for (okra_int i = 0; i < A.rows; i++) {
        for (okra_int j = 0; j < A.cols; j++) {
            B.p[j * B.ld + i] = A.p[i * A.ld + j];
        }
    }
}

okra_status okra_mat_transpose_(okra_mat_ A, okra_mat_ B)
{
    if (A.rows != B.cols || A.cols != B.rows) {
        return mismatch("transpose", A, B);
    }
    for (okra_int i = 0; i < A.rows; i += block) {
        okra_int ni = OKRA_MIN_(block, A.rows - i);
        for (okra_int j = 0; j < A.cols; j += block) {
            okra_int nj = OKRA_MIN_(block, A.cols - j);
            transpose_block(okra_mat_part_(A, i, ni, j, nj),
                            okra_mat_part_(B, j, nj, i, ni));
        }
    }
    return OKRA_OK;
}

void okra_mat_add_diagonal_(okra_mat_ A, double value)
{
    for (okra_int i = 0; i < OKRA_MIN_(A.rows, A.cols); i++) {
        A.p[i * A.ld + i] += value;
    }
}

void okra_mat_mirror_(okra_mat_ A)
{
    for (okra_int i = 0; i < A.rows; i += block) {
        okra_int ni = OKRA_MIN_(block, A.rows - i);
        for (okra_int j = 0; j < i; j += block) {
            transpose_block(okra_mat_part_(A, i, ni, j, block),
                            okra_mat_part_(A, j, block, i, ni));
        }
        for (okra_int r = i; r < i + ni; r++) {
            for (okra_int c = i; c < r; c++) {
                A.p[c * A.ld + r] = A.p[r * A.ld + c];
            }
        }
    }
}

void okra_mat_center_(okra_mat_ A, double *mean)
{
    okra_int n = A.rows;
    double all = 0;
    for (okra_int i = 0; i < n; i++) {
        mean[i] = 0;
        for (okra_int j = 0; j < n; j++) {
            mean[i] += A.p[i * A.ld + j] / (double)n;
        }
        all += mean[i] / (double)n;
    }
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            A.p[i * A.ld + j] += all - mean[i] - mean[j];
        }
    }
}

double okra_dot_(okra_int n, const double *a, const double *b)
{
    /* four sums in a fixed order: as fast as the loads, and the same bits everywhere */
    double s[4] = {0, 0, 0, 0};
    okra_int i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int k = 0; k < 4; k++) {
            s[k] += a[i + k] * b[i + k];
        }
    }
    for (; i < n; i++) {
        s[0] += a[i] * b[i];
    }
    return (s[0] + s[1]) + (s[2] + s[3]);
}

void okra_mat_restore_(okra_mat_ A, const double *d)
{
    for (okra_int i = 0; i < A.rows; i++) {
        for (okra_int j = 0; j < i; j++) {
            A.p[i * A.ld + j] = A.p[j * A.ld + i];
        }
        A.p[i * A.ld + i] = d[i];
    }
}
