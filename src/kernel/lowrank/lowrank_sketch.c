/*
 * lowrank_sketch.c: random matrices S (objects x rank) that a sketch sees a kernel
 * through, K ~ K S (S'KS)^-1 S'K, and the products with them.
 *
 *   gaussian   S_ij ~ N(0,1): dense, products by gemm
 *   sparse     entries are kept with probability p (p-sparsified, El Ahmad et al. 2023);
 *              rows without an entry are dropped, and at p = 20/n, about 20 entries a
 *              column, most of the others have one. S is kept by rows: entries
 *              start[k]..start[k+1]-1 are those of row k.
 *
 * Cost of a sparse S of e entries: 16 e + 8 rows bytes, V S 2 e operations a row of V,
 * S A 2 e a column of A. Rows of the result are independent and sums go in the order of
 * the entries: the same bits whatever the number of threads.
 */
#include "kernel/lowrank/lowrank.h"

#include "kernel/gram/trained_kernel.h"

OKRA_SHARED_FREES_(okra_sketch_free_, okra_sketch_, it->start, it->column, it->value)

/* ---- drawing ---- */

typedef struct drawing {
    okra_context *ctx;
    bool sparse;
    okra_int n;
    okra_sketch_ *S;
    okra_int *index;
    okra_int rows, entries; /* that there is room for */
} drawing;

static okra_status resize(drawing *z, okra_int rows, okra_int entries)
{
    okra_sketch_ *S = z->S;
    RESIZE(z->index, rows);
    RESIZE(S->value, entries);
    if (z->sparse) {
        RESIZE(S->start, rows + 1);
        RESIZE(S->column, entries);
        S->start[0] = 0;
    }
    z->rows = rows;
    z->entries = entries;
    return OKRA_OK;
}

/* Room for one row more, and for its entries. */
static okra_status make_room(drawing *z)
{
    okra_int m = z->S->cols, rows = z->rows, entries = z->entries;
    if (z->S->rows == rows) {
        rows = z->sparse ? OKRA_MIN_(z->n, 2 * rows + 64) : z->n;
    }
    if (entries - z->S->entries < m) {
        entries = z->sparse ? OKRA_MIN_(z->n * m, 2 * entries + m) : z->n * m;
    }
    if (rows > z->rows || entries > z->entries) {
        CHK(okra_budget_ask_(z->ctx,
                             (z->sparse ? 16.0 : 8.0) * ((double)rows + (double)entries),
                             "a sketch"));
        CHK(resize(z, rows, entries));
    }
    return OKRA_OK;
}

static void drawing_clear(drawing *z)
{
    okra_free_(z->index);
    okra_sketch_free_(z->S);
}

okra_status okra_sketch_draw_(okra_context *ctx, const okra_low_ *low, okra_int n,
                              okra_int rank, okra_random_ *random, okra_int **index,
                              okra_sketch_ **out)
{
    double p = !low->sparse ? 1 : low->p > 0 ? low->p : fmin(1, 20 / (double)n);
    FREED_BY(drawing_clear) drawing z = {.ctx = ctx, .sparse = low->sparse, .n = n};
    ZMAKE(z.S, 1);
    okra_sketch_ *S = z.S;
    S->cols = rank;
    for (okra_int i = 0; i < n; i++) {
        okra_int before = S->entries;
        CHK(make_room(&z));
        for (okra_int j = 0; j < rank; j++) {
            if (p >= 1 || okra_random_uniform_(random) < p) {
                if (low->sparse) {
                    S->column[S->entries] = j;
                }
                S->value[S->entries++] = okra_random_normal_(random);
            }
        }
        if (S->entries > before) {
            z.index[S->rows++] = i;
            if (low->sparse) {
                S->start[S->rows] = S->entries;
            }
        }
    }
    REFUSE_IF(S->rows == 0, OKRA_EARG,
              "sketch: no entry of %lld x %lld was kept at p = %g", (long long)n,
              (long long)rank, p);
    CHK(resize(&z, S->rows, S->entries));
    *index = z.index;
    *out = S;
    z = (drawing){0};
    return OKRA_OK;
}

/* ---- products ---- */

typedef struct product {
    const okra_sketch_ *S;
    okra_int first; /* row of S that column 0 of V meets */
    bool add;
    okra_mat_ in, out;
} product;

static okra_status right_rows(void *arg, okra_int begin, okra_int end, int worker)
{
    const product *z = arg;
    const okra_int *start = z->S->start + z->first, *column = z->S->column;
    const double *value = z->S->value;
    if (!z->add) {
        okra_mat_fill_(okra_mat_part_(z->out, begin, end - begin, 0, z->out.cols), 0);
    }
    for (okra_int i = begin; i < end; i++) {
        const double *v = z->in.p + i * z->in.ld;
        double *u = z->out.p + i * z->out.ld;
        for (okra_int k = 0; k < z->in.cols; k++) {
            for (okra_int e = start[k]; e < start[k + 1]; e++) {
                u[column[e]] += v[k] * value[e];
            }
        }
    }
    return OKRA_OK;
}

okra_status okra_sketch_right_(okra_context *ctx, okra_mat_ V, const okra_sketch_ *S,
                               okra_int first, bool add, okra_mat_ U)
{
    enum { ROWS = 16 };
    product z = {S, first, add, V, U};
    return S->start
               ? okra_parallel_(ctx, V.rows, ROWS, NULL, right_rows, &z)
               : okra_gemm_(ctx, false, false, 1, V,
                            okra_mat_of_(S->value + first * S->cols, V.cols, S->cols),
                            add, U);
}

static okra_status left_rows(void *arg, okra_int begin, okra_int end, int worker)
{
    const product *z = arg;
    const okra_sketch_ *S = z->S;
    okra_mat_fill_(okra_mat_part_(z->out, begin, end - begin, 0, z->out.cols), 0);
    for (okra_int k = begin; k < end; k++) {
        double *x = z->out.p + k * z->out.ld;
        for (okra_int e = S->start[k]; e < S->start[k + 1]; e++) {
            const double *a = z->in.p + S->column[e] * z->in.ld;
            okra_axpy_(z->in.cols, S->value[e], a, x);
        }
    }
    return OKRA_OK;
}

okra_status okra_sketch_left_(okra_context *ctx, const okra_sketch_ *S, okra_mat_ A,
                              okra_mat_ X)
{
    enum { ROWS = 64 };
    product z = {.S = S, .in = A, .out = X};
    return S->start ? okra_parallel_(ctx, S->rows, ROWS, NULL, left_rows, &z)
                    : okra_gemm_(ctx, false, false, 1,
                                 okra_mat_of_(S->value, S->rows, S->cols), A, 0, X);
}

okra_status okra_sketch_gram_(okra_context *ctx, const okra_trained_kernel_ *bound,
                              const okra_sketch_ *S, okra_mat_ G)
{
    OWNED double *K = NULL, *T = NULL, *Tt = NULL;
    okra_int n = S->rows, m = S->cols, rows = okra_block_rows_(ctx, n, n + 2 * m);
    CHK(okra_doubles_(ctx, rows, n, "rows of a Gram matrix", &K));
    CHK(okra_doubles_(ctx, rows, m, "rows of a sketch", &T));
    CHK(okra_doubles_(ctx, m, rows, "rows of a sketch", &Tt));
    for (okra_int i = 0; i < n; i += rows) {
        okra_int some = OKRA_MIN_(rows, n - i);
        okra_mat_ Km = okra_mat_of_(K, some, n), Tm = okra_mat_of_(T, some, m);
        okra_mat_ Ttm = okra_mat_of_(Tt, m, some);
        CHK(okra_cancelled_(ctx));
        CHK(okra_tiles_(ctx, bound, bound->kernel->count - 1, &bound->train, i, some,
                        OKRA_TARGET_FULL_, NULL, Km));
        CHK(okra_sketch_right_(ctx, Km, S, 0, false, Tm)); /* T = K S, S'T = (T'S)' */
        CHK(okra_mat_transpose_(Tm, Ttm));
        CHK(okra_sketch_right_(ctx, Ttm, S, i, i > 0, G));
    }
    for (okra_int i = 0; i < m; i++) { /* symmetric to the last bit */
        for (okra_int j = 0; j < i; j++) {
            G.p[i * G.ld + j] = (G.p[i * G.ld + j] + G.p[j * G.ld + i]) / 2;
        }
    }
    okra_mat_mirror_(G);
    return OKRA_OK;
}
