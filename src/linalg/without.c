/*
 * without.c: the Cholesky factor of a matrix after some of its rows and columns are taken
 * out.
 *
 * A = L L' (n x n). Without the rows and columns of R (r of them) what stays of A is
 *
 *     G G' + X X',   G: L without the rows and columns of R,  X: the columns of R of L
 *
 * in the rows that stay, so that nothing is subtracted: the new factor is G after a
 * rank-r update by plane rotations, which makes [G X] lower triangular with X = 0. Rows
 * before the first of R do not change, to the bit. A rotation of column k and the q-th
 * column of X is orthogonal, so the error is a few eps |A|, whatever A's condition
 * (Golub and Van Loan 2013, sec. 6.5.4).
 *
 * Columns of G are treated in blocks: the rotations of a block come from its own rows,
 * one after the other; the rows below then apply them, each by itself, four at a time to
 * hide the latency of the chain along a row. Cost: 3 r t^2 operations, t the rows from
 * the first of R on; one pass over the factor. Same bits for any number of threads.
 */
#include "linalg/linalg.h"

enum { BLOCK = 128, ROWS = 4, GRAIN = 64 };

typedef struct taking {
    okra_mat_ L, G;
    const okra_int *removed; /* ascending */
    okra_int count;
    double *X; /* G.rows x count */
    /* The block of columns at work and its rotations, BLOCK x count each. */
    okra_int first, last;
    double *c, *s;
} taking;

/* The row of L that row i of G comes from. */
static okra_int source_row(const taking *t, okra_int i)
{
    okra_int row = i, low = 0, high = t->count;
    while (low < high) { /* how many are removed up to it */
        okra_int mid = (low + high) / 2;
        if (t->removed[mid] - mid <= i) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return row + low;
}

static okra_status take_rows(void *arg, okra_int begin, okra_int end, int worker)
{
    const taking *t = arg;
    for (okra_int i = begin; i < end; i++) {
        okra_int from = source_row(t, i), at = 0, to = 0, q = 0;
        const double *row = t->L.p + from * t->L.ld;
        double *out = t->G.p + i * t->G.ld, *x = t->X + i * t->count;
        for (; q < t->count && t->removed[q] < from; q++) {
            okra_int some = t->removed[q] - at;
            memcpy(out + to, row + at, (size_t)some * sizeof *out);
            to += some;
            at = t->removed[q] + 1;
            x[q] = row[t->removed[q]];
        }
        memcpy(out + to, row + at, (size_t)(from + 1 - at) * sizeof *out);
        memset(x + q, 0, (size_t)(t->count - q) * sizeof *x);
    }
    return OKRA_OK;
}

/* The rotations of columns first..upto-1 onto `rows` rows of G and X from row i. */
static void rotate(const taking *t, okra_int i, int rows, okra_int upto)
{
    okra_int r = t->count;
    double *g[ROWS], *x[ROWS];
    for (int a = 0; a < ROWS; a++) { /* where there are fewer, the last one stands in */
        okra_int row = i + (a < rows ? a : rows - 1);
        g[a] = t->G.p + row * t->G.ld;
        x[a] = t->X + row * r;
    }
    for (okra_int k = t->first; k < upto; k++) {
        const double *c = t->c + (k - t->first) * r, *s = t->s + (k - t->first) * r;
        double v[ROWS];
        for (int a = 0; a < ROWS; a++) {
            v[a] = g[a][k];
        }
        for (okra_int q = 0; q < r; q++) {
            double old[ROWS];
            for (int a = 0; a < ROWS; a++) {
                old[a] = x[a][q];
            }
            for (int a = 0; a < ROWS; a++) {
                x[a][q] = c[q] * old[a] - s[q] * v[a];
                v[a] = c[q] * v[a] + s[q] * old[a];
            }
        }
        for (int a = 0; a < ROWS; a++) {
            g[a][k] = v[a];
        }
    }
}

/* Rotations that make row i of X zero, with G_ii. */
static void find(const taking *t, okra_int i)
{
    double *g = t->G.p + i * t->G.ld + i, *x = t->X + i * t->count;
    double *c = t->c + (i - t->first) * t->count, *s = t->s + (i - t->first) * t->count;
    for (okra_int q = 0; q < t->count; q++) {
        double length = hypot(*g, x[q]);
        c[q] = length > 0 ? *g / length : 1;
        s[q] = length > 0 ? x[q] / length : 0;
        *g = length;
        x[q] = 0;
    }
}

static okra_status rotate_below(void *arg, okra_int begin, okra_int end, int worker)
{
    const taking *t = arg;
    for (okra_int i = begin; i < end; i += ROWS) {
        rotate(t, t->last + i, (int)OKRA_MIN_(ROWS, end - i), t->last);
    }
    return OKRA_OK;
}

static okra_status update(okra_context *ctx, taking *t)
{
    OWNS(&t->c, &t->s);
    okra_int n = t->G.rows;
    MAKE(t->c, BLOCK * t->count);
    MAKE(t->s, BLOCK * t->count);
    for (t->first = t->removed[0]; t->first < n; t->first = t->last) {
        t->last = OKRA_MIN_(t->first + BLOCK, n);
        for (okra_int i = t->first; i < t->last; i++) {
            rotate(t, i, 1, i);
            find(t, i);
        }
        double work = 6.0 * (double)(n - t->last) * BLOCK * (double)t->count;
        CHK(okra_cancelled_(ctx));
        CHK(okra_parallel_least_(ctx, work, n - t->last, GRAIN, NULL, rotate_below, t));
    }
    return OKRA_OK;
}

okra_status okra_factor_without_(okra_context *ctx, okra_mat_ L, const okra_int *removed,
                                 okra_int count, okra_mat_ G)
{
    taking t = {.L = L, .G = G, .removed = removed, .count = count};
    OWNS(&t.X);
    REFUSE_IF(L.rows != L.cols || G.rows != G.cols || G.rows != L.rows - count,
              OKRA_ESHAPE,
              "factor: %lld of %lld rows are taken out, and there is room for %lld",
              (long long)count, (long long)L.rows, (long long)G.rows);
    for (okra_int q = 0; q < count; q++) {
        REFUSE_IF(removed[q] < 0 || removed[q] >= L.rows ||
                      (q > 0 && removed[q] <= removed[q - 1]),
                  OKRA_EARG, "factor: row %lld of %lld cannot be taken out",
                  (long long)removed[q], (long long)L.rows);
    }
    CHK(okra_doubles_(ctx, G.rows, count, "columns of the rows that go", &t.X));
    CHK(okra_parallel_least_(ctx, (double)G.rows * (double)G.rows / 2, G.rows, GRAIN,
                             NULL, take_rows, &t));
    return count > 0 && removed[0] < G.rows ? update(ctx, &t) : OKRA_OK;
}
