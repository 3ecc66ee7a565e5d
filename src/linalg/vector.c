/*
 * vector.c: products and triangular solves of one row or column, which read a matrix
 * once and are bound by memory. BLAS would copy the matrix into its own order first.
 *
 *   y = x'B    rows of B are added up, four at a time, in strips of columns
 *   y = B x    inner products of the rows of B, four at a time
 *   L z = b    blocks of rows: what is known is taken off (inner products), then the
 *              block on the diagonal is solved, in smaller blocks
 *   L'z = b    from the last block: it is solved, then taken off the others (rows added)
 *
 * Every element is summed in one order, whatever its place and the number of threads:
 * equal columns give equal sums.
 */
#include "core/simd.h"
#include "linalg/blas.h"

#include <string.h>

enum {
    strip = 1024, /* columns of a task */
    lines = 64,   /* rows of a task */
    block = 512,  /* rows of a triangular block */
    small = 64,   /* rows of a block within it */
};

/* ---- the two inner loops ---- */

/* y[0..n-1] += sum_i x_i B_i, rows of `count` */
static inline OKRA_INLINE_ void add_body(okra_int count, okra_int n, const double *x,
                                         const double *B, okra_int ld, double *restrict y,
                                         bool fused)
{
    okra_int i = 0;
    (void)fused;
    for (; i + 4 <= count; i += 4) {
        const double *b0 = B + i * ld, *b1 = b0 + ld, *b2 = b1 + ld, *b3 = b2 + ld;
        double x0 = x[i], x1 = x[i + 1], x2 = x[i + 2], x3 = x[i + 3];
        for (okra_int j = 0; j < n; j++) {
            y[j] += (x0 * b0[j] + x1 * b1[j]) + (x2 * b2[j] + x3 * b3[j]);
        }
    }
    for (; i < count; i++) {
        for (okra_int j = 0; j < n; j++) {
            y[j] += x[i] * B[i * ld + j];
        }
    }
}
OKRA_VARIANTS_(add_rows, add_body,
               (okra_int count, okra_int n, const double *x, const double *B, okra_int ld,
                double *restrict y),
               (count, n, x, B, ld, y))

/* out_r = <B_r, x> of `rows` rows, 1 or 4, in one order */
static inline OKRA_INLINE_ void dots_of(int rows, okra_int n, const double *B,
                                        okra_int ld, const double *x, double *out)
{
    okra_lane_ s[4] = {{0}};
    okra_int j = 0;
    for (; j + OKRA_LANES_ <= n; j += OKRA_LANES_) {
        okra_lane_ b, at;
        memcpy(&at, x + j, sizeof at);
        for (int r = 0; r < rows; r++) {
            memcpy(&b, B + r * ld + j, sizeof b);
            s[r] += b * at;
        }
    }
    for (int r = 0; r < rows; r++) {
        okra_lane_ t = s[r];
        double rest = 0;
        for (okra_int k = j; k < n; k++) {
            rest += B[r * ld + k] * x[k];
        }
        out[r] = ((t[0] + t[1]) + (t[2] + t[3])) + ((t[4] + t[5]) + (t[6] + t[7])) + rest;
    }
}
static inline OKRA_INLINE_ void dots_body(int rows, okra_int n, const double *B,
                                          okra_int ld, const double *x, double *out,
                                          bool fused)
{
    (void)fused;
    if (rows == 4) {
        dots_of(4, n, B, ld, x, out);
        return;
    }
    for (int r = 0; r < rows; r++) {
        dots_of(1, n, B + r * ld, ld, x, out + r);
    }
}
OKRA_VARIANTS_(dots, dots_body,
               (int rows, okra_int n, const double *B, okra_int ld, const double *x,
                double *out),
               (rows, n, B, ld, x, out))

/* ---- products ---- */

typedef struct task {
    double alpha, beta;
    const double *x;
    okra_mat_ B;
    double *y;
} task;

static okra_status columns_part(void *arg, okra_int begin, okra_int end, int worker)
{
    const task *t = arg;
    (void)worker;
    for (okra_int first = begin; first < end; first += strip) {
        okra_int n = OKRA_MIN_(strip, end - first);
        double sum[strip] = {0};
        add_rows(t->B.rows, n, t->x, t->B.p + first, t->B.ld, sum);
        for (okra_int j = 0; j < n; j++) {
            double *y = t->y + first + j;
            *y = t->alpha * sum[j] + (t->beta == 0 ? 0 : t->beta * *y);
        }
    }
    return OKRA_OK;
}

static okra_status rows_part(void *arg, okra_int begin, okra_int end, int worker)
{
    const task *t = arg;
    (void)worker;
    for (okra_int i = begin; i < end; i += 4) {
        int rows = (int)OKRA_MIN_(4, end - i);
        double sum[4] = {0};
        dots(rows, t->B.cols, t->B.p + i * t->B.ld, t->B.ld, t->x, sum);
        for (int r = 0; r < rows; r++) {
            double *y = t->y + i + r;
            *y = t->alpha * sum[r] + (t->beta == 0 ? 0 : t->beta * *y);
        }
    }
    return OKRA_OK;
}

/* Numbers that are worth a thread more: some tenths of a millisecond to read. */
static const double worth = 5e5;

/* y <- alpha op(B) x + beta y */
static okra_status multiply(okra_context *ctx, bool trans, double alpha, okra_mat_ B,
                            const double *x, double beta, double *y)
{
    task t = {alpha, beta, x, B, y};
    okra_int count = trans ? B.cols : B.rows;
    if (okra_blas_team_(ctx, (double)B.rows * (double)B.cols, worth) == 1) {
        return (trans ? columns_part : rows_part)(&t, 0, count, 0);
    }
    return okra_parallel_(ctx, count, trans ? strip : lines, NULL,
                          trans ? columns_part : rows_part, &t);
}

bool okra_blas_vector_gemm_(okra_context *ctx, bool ta, bool tb, double alpha,
                            okra_mat_ A, okra_mat_ B, double beta, okra_mat_ C,
                            okra_status *status)
{
    if (C.rows != 1 || ta || (double)B.rows * (double)B.cols < OKRA_VECTOR_LEAST_) {
        return false;
    }
    *status = multiply(ctx, !tb, alpha, B, A.p, beta, C.p);
    return true;
}

/* ---- triangular solves ---- */

/* L z = b, or L'z = b of one small block, in place. */
static void solve_block(bool trans, okra_mat_ L, double *z)
{
    for (okra_int k = 0; k < L.rows; k++) {
        okra_int i = trans ? L.rows - 1 - k : k;
        const double *row = L.p + i * L.ld;
        if (!trans) {
            z[i] = (z[i] - okra_dot_(i, row, z)) / row[i];
            continue;
        }
        double x = z[i] / row[i];
        z[i] = x;
        for (okra_int j = 0; j < i; j++) {
            z[j] -= x * row[j];
        }
    }
}

/* In blocks, and each of those in small ones. */
static okra_status solve(okra_context *ctx, bool trans, okra_mat_ L, double *z)
{
    okra_int side = L.rows > block ? block : small;
    okra_int blocks = (L.rows + side - 1) / side;
    if (L.rows <= small) {
        solve_block(trans, L, z);
        return OKRA_OK;
    }
    for (okra_int k = 0; k < blocks; k++) {
        okra_int first = (trans ? blocks - 1 - k : k) * side;
        okra_int rows = OKRA_MIN_(side, L.rows - first);
        okra_mat_ before = okra_mat_part_(L, first, rows, 0, first);
        okra_mat_ own = okra_mat_part_(L, first, rows, first, rows);
        if (!trans && first > 0) {
            CHK(multiply(ctx, false, -1, before, z, 1, z + first));
        }
        CHK(solve(ctx, trans, own, z + first));
        if (trans && first > 0) {
            CHK(multiply(ctx, true, -1, before, z + first, 1, z));
        }
    }
    return OKRA_OK;
}

bool okra_blas_vector_trsm_(okra_context *ctx, bool left, bool trans, okra_mat_ L,
                            okra_mat_ B, okra_status *status)
{
    bool row = !left && B.rows == 1, column = left && B.cols == 1 && B.ld == 1;
    if (!(row || column) || (double)L.rows * (double)L.rows < OKRA_VECTOR_LEAST_) {
        return false;
    }
    /* B L^-1 is L'z = b */
    *status = solve(ctx, left ? trans : !trans, L, B.p);
    return true;
}
