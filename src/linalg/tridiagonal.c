/*
 * tridiagonal.c: a symmetric matrix to tridiagonal form by reflections, and back.
 *
 * The last row is reflected first, so that every vector is a part of a row. With rows
 * i+1..m-1 of a panel reflected by v_r = row r and not yet applied to the rest,
 *
 *   row_i  -= sum_r v_ri w_r + w_ri v_r          what they would have done to it
 *   v_i     = the reflection that leaves one number beside the diagonal
 *   w_i     = tau (A v - sum_r v_r <w_r, v> + w_r <v_r, v>),  less 1/2 tau <w, v> v
 *
 * and at the end of a panel A -= V'W + W'V for the rows above it. Half of the work is
 * A v, which reads the lower triangle once for each row.
 */
#include "core/simd.h"
#include "linalg/blas.h"

#include <cblas.h>
#include <lapacke.h>

enum {
    panel = 32, /* rows that are reflected before the others follow */
    block = 64, /* reflections that are applied at once on the way back */
    strip = 64, /* vectors, at least, that a thread takes back */
};

/* Entries of a triangle that are worth a thread more: some tenths of a millisecond. */
static const double worth = 2e5;

/* ---- y = A x, the lower triangle of A read once ---- */

/* Rows first..last-1 and their mirror image, added to y. */
static inline OKRA_INLINE_ void one_row(okra_int r, const double *A, okra_int ld,
                                        const double *x, double *restrict y)
{
    const double *b = A + r * ld;
    double sum = b[r] * x[r];
    for (okra_int j = 0; j < r; j++) {
        sum += b[j] * x[j];
        y[j] += x[r] * b[j];
    }
    y[r] += sum;
}

static inline OKRA_INLINE_ void four_rows(okra_int r, const double *A, okra_int ld,
                                          const double *x, double *restrict y)
{
    const double *b[4] = {A + r * ld, A + (r + 1) * ld, A + (r + 2) * ld,
                          A + (r + 3) * ld};
    okra_lane_ s[4] = {{0}}, at, now, c[4];
    okra_int j = 0;
    for (; j + OKRA_LANES_ <= r; j += OKRA_LANES_) {
        memcpy(&at, x + j, sizeof at);
        memcpy(&now, y + j, sizeof now);
        for (int k = 0; k < 4; k++) {
            memcpy(&c[k], b[k] + j, sizeof c[k]);
            s[k] += c[k] * at;
            now += x[r + k] * c[k];
        }
        memcpy(y + j, &now, sizeof now);
    }
    for (int k = 0; k < 4; k++) {
        double sum = b[k][r + k] * x[r + k];
        for (int l = 0; l < OKRA_LANES_; l++) {
            sum += s[k][l];
        }
        for (okra_int i = j; i < r + k; i++) {
            sum += b[k][i] * x[i];
            y[i] += x[r + k] * b[k][i];
        }
        y[r + k] += sum;
    }
}

static inline OKRA_INLINE_ void rows_body(okra_int first, okra_int last, const double *A,
                                          okra_int ld, const double *x,
                                          double *restrict y, bool fused)
{
    okra_int r = first;
    for (; r + 4 <= last; r += 4) {
        four_rows(r, A, ld, x, y);
    }
    for (; r < last; r++) {
        one_row(r, A, ld, x, y);
    }
}
OKRA_VARIANTS_(add_rows, rows_body,
               (okra_int first, okra_int last, const double *A, okra_int ld,
                const double *x, double *restrict y),
               (first, last, A, ld, x, y))

typedef struct product {
    okra_mat_ A;
    const double *x;
    double *sums; /* `parts` rows of A.rows */
    okra_int parts;
} product;

/* Where part k of a triangle of n rows begins: parts have equal areas. */
static okra_int edge(okra_int n, okra_int k, okra_int parts)
{
    return (okra_int)((double)n * sqrt((double)k / (double)parts)) / 4 * 4;
}

static okra_status product_parts(void *arg, okra_int begin, okra_int end, int worker)
{
    const product *p = arg;
    okra_int n = p->A.rows;
    for (okra_int k = begin; k < end; k++) {
        okra_int last = k + 1 == p->parts ? n : edge(n, k + 1, p->parts);
        double *y = p->sums + k * n;
        memset(y, 0, (size_t)last * sizeof *y);
        add_rows(edge(n, k, p->parts), last, p->A.p, p->A.ld, p->x, y);
    }
    return OKRA_OK;
}

/* y = A x; sums: room for n numbers for each thread. */
static okra_status multiply(okra_context *ctx, okra_mat_ A, const double *x, double *sums,
                            double *y)
{
    double n = (double)A.rows;
    product p = {A, x, sums, okra_blas_team_(ctx, n * n / 2, worth)};
    if (p.parts == 1) {
        p.sums = y;
        return product_parts(&p, 0, 1, 0);
    }
    CHK(okra_parallel_(ctx, p.parts, 1, NULL, product_parts, &p));
    memcpy(y, sums + (p.parts - 1) * A.rows, (size_t)A.rows * sizeof *y);
    for (okra_int k = 0; k + 1 < p.parts; k++) {
        okra_int last = edge(A.rows, k + 1, p.parts);
        cblas_daxpy((int)last, 1, sums + k * A.rows, 1, y, 1);
    }
    return OKRA_OK;
}

/* ---- to tridiagonal form ---- */

/* V and W of the rows i+1..m-1 of a panel. */
typedef struct pending {
    int count;
    const double *V, *W;
    int ldv, ldw;
} pending;

static void add_transposed(int rows, int n, const double *M, int ld, const double *x,
                           int step, double *y)
{
    cblas_dgemv(CblasRowMajor, CblasTrans, rows, n, -1, M, ld, x, step, 1, y, 1);
}

/* row_i -= sum_r v_ri w_r + w_ri v_r, up to its diagonal */
static void catch_up(const pending *z, int i, double *row)
{
    if (z->count > 0) {
        add_transposed(z->count, i + 1, z->V, z->ldv, z->W + i, z->ldw, row);
        add_transposed(z->count, i + 1, z->W, z->ldw, z->V + i, z->ldv, row);
    }
}

/* w, which is A v without what is pending, of n numbers */
static void complete(const pending *z, int n, const double *v, double tau, double *w)
{
    double t[panel];
    if (z->count > 0) {
        cblas_dgemv(CblasRowMajor, CblasNoTrans, z->count, n, 1, z->W, z->ldw, v, 1, 0, t,
                    1);
        add_transposed(z->count, n, z->V, z->ldv, t, 1, w);
        cblas_dgemv(CblasRowMajor, CblasNoTrans, z->count, n, 1, z->V, z->ldv, v, 1, 0, t,
                    1);
        add_transposed(z->count, n, z->W, z->ldw, t, 1, w);
    }
    cblas_dscal(n, tau, w, 1);
    cblas_daxpy(n, -0.5 * tau * cblas_ddot(n, w, 1, v, 1), v, 1, w, 1);
}

/* Rows m-1 down to m-count of A, the others being up to date. W: count x A.rows. */
static okra_status reduce_panel(okra_context *ctx, okra_mat_ A, okra_int m,
                                okra_int count, double *d, double *e, double *tau,
                                okra_mat_ W, double *sums)
{
    for (okra_int i = m - 1; i >= m - count; i--) {
        okra_int after = m - 1 - i;
        double *row = A.p + i * A.ld, *w = W.p + (i - (m - count)) * W.ld;
        pending z = {(int)after, row + A.ld, w + W.ld, (int)A.ld, (int)W.ld};
        catch_up(&z, (int)i, row);
        d[i] = row[i];
        if (i == 0) {
            break;
        }
        LAPACKE_dlarfg_work((int)i, row + i - 1, row, 1, tau + i - 1);
        e[i - 1] = row[i - 1];
        row[i - 1] = 1;
        CHK(multiply(ctx, okra_mat_part_(A, 0, i, 0, i), row, sums, w));
        complete(&z, (int)i, row, tau[i - 1], w);
    }
    return OKRA_OK;
}

/* P = [V; W] and Q = [W; V] of a panel, so that V'W + W'V = P'Q. */
static okra_status stack(okra_mat_ V, okra_mat_ W, okra_mat_ P, okra_mat_ Q)
{
    okra_int k = V.rows;
    CHK(okra_mat_copy_(V, okra_mat_part_(P, 0, k, 0, V.cols)));
    CHK(okra_mat_copy_(W, okra_mat_part_(P, k, k, 0, V.cols)));
    CHK(okra_mat_copy_(W, okra_mat_part_(Q, 0, k, 0, V.cols)));
    return okra_mat_copy_(V, okra_mat_part_(Q, k, k, 0, V.cols));
}

okra_status okra_tridiagonal_(okra_context *ctx, okra_mat_ A, double *d, double *e,
                              double *tau)
{
    okra_int n = A.rows;
    OWNED double *space = NULL;
    CHK(okra_doubles_(ctx, 5 * panel + okra_workers_(ctx), n, "eigh: work space",
                      &space));
    okra_mat_ W = okra_mat_of_(space, panel, n);
    okra_mat_ P = okra_mat_of_(W.p + panel * n, 2 * (okra_int)panel, n);
    okra_mat_ Q = okra_mat_of_(P.p + 2 * panel * n, 2 * (okra_int)panel, n);
    double *sums = Q.p + 2 * panel * n;
    for (okra_int m = n; m > 0; m -= panel) {
        okra_int count = OKRA_MIN_(panel, m), rest = m - count;
        CHK(reduce_panel(ctx, A, m, count, d, e, tau, W, sums));
        if (rest > 0) {
            okra_mat_ p = okra_mat_part_(P, 0, 2 * count, 0, rest);
            okra_mat_ q = okra_mat_part_(Q, 0, 2 * count, 0, rest);
            CHK(stack(okra_mat_part_(A, rest, count, 0, rest),
                      okra_mat_part_(W, 0, count, 0, rest), p, q));
            CHK(okra_blas_lower_(ctx, -1, p, q, 1, okra_mat_part_(A, 0, rest, 0, rest)));
        }
        okra_worked_(ctx, 10 * (double)m * (double)m * (double)count);
    }
    return OKRA_OK;
}

/* ---- back ---- */

/* I - V T V' is the product of reflections first..first+count-1. */
typedef struct way_back {
    okra_context *ctx;
    okra_mat_ A, Z;
    const double *tau;
    double *T;    /* block x block for each block */
    double *work; /* block x Z.rows */
    okra_int count;
} way_back;

static int block_size(const way_back *z, okra_int k)
{
    return (int)OKRA_MIN_(block, z->count - k * block);
}

static okra_status form_blocks(void *arg, okra_int begin, okra_int end, int worker)
{
    const way_back *z = arg;
    for (okra_int k = begin; k < end; k++) {
        okra_int first = k * block;
        int size = block_size(z, k);
        LAPACKE_dlarft_work(LAPACK_COL_MAJOR, 'B', 'C', (int)first + size, size,
                            z->A.p + (first + 1) * z->A.ld, (int)z->A.ld, z->tau + first,
                            z->T + k * block * block, block);
    }
    return OKRA_OK;
}

static okra_status rotate_rows(void *arg, okra_int begin, okra_int end, int worker)
{
    const way_back *z = arg;
    int rows = (int)(end - begin);
    for (okra_int k = 0; k * block < z->count; k++) {
        okra_int first = k * block;
        int size = block_size(z, k);
        LAPACKE_dlarfb_work(LAPACK_COL_MAJOR, 'L', 'N', 'B', 'C', (int)first + size, rows,
                            size, z->A.p + (first + 1) * z->A.ld, (int)z->A.ld,
                            z->T + k * block * block, block, z->Z.p + begin * z->Z.ld,
                            (int)z->Z.ld, z->work + begin * block, rows);
        okra_worked_(z->ctx, 8 * (double)rows * (double)size * (double)(first + size));
    }
    return OKRA_OK;
}

okra_status okra_tridiagonal_rotate_(okra_context *ctx, okra_mat_ A, const double *tau,
                                     okra_mat_ Z)
{
    OWNED double *T = NULL, *work = NULL;
    okra_int n = A.rows, blocks = (n - 1 + block - 1) / block;
    okra_int each = Z.rows / (2 * (okra_int)okra_workers_(ctx)) + 1;
    CHK(okra_doubles_(ctx, blocks * block, block, "eigh: reflections", &T));
    CHK(okra_doubles_(ctx, Z.rows, block, "eigh: work space", &work));
    way_back z = {ctx, A, Z, tau, T, work, n - 1};
    CHK(okra_parallel_(ctx, blocks, 1, NULL, form_blocks, &z));
    return okra_parallel_(ctx, Z.rows, OKRA_MAX_(each, strip), NULL, rotate_rows, &z);
}
