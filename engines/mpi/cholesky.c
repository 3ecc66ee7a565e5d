/*
 * cholesky.c: A = L L', A symmetric in blocks over the ranks; of A the lower triangle is
 * read and written, L in its place.
 *
 * Right-looking, one column of blocks (a panel) after the other:
 *     L_kk L_kk' = A_kk,   L_ik = A_ik L_kk^-T (i > k),   A_ij -= L_ik L_jk' (i >= j > k)
 * The grid's row that has panel k + 1 brings it up to date first, factors it and sends it
 * on its way; then all ranks do the rest of step k. So nobody waits for a panel: pdpotrf
 * of ScaLAPACK has no such step ahead (bench/bench_libraries_mpi.py compares).
 *
 * A rank wants L_ik of its rows i, which another rank of its column of the grid has, and
 * L_jk of its columns j, which the ranks of its row of the grid have by then.
 *
 * Cost: n^3 / 3P flops on each rank; 4 n^2 (r + c - 2) bytes in all, on a grid of r x c.
 */
#include "ranks.h"

#include <math.h>
#include <string.h>

void dpotrf_(const char *uplo, const int *n, double *A, const int *ld, int *info);
void dtrsm_(const char *side, const char *uplo, const char *trans, const char *diag,
            const int *m, const int *n, const double *alpha, const double *A,
            const int *lda, double *B, const int *ldb);
void dgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k,
            const double *alpha, const double *A, const int *lda, const double *B,
            const int *ldb, const double *beta, double *C, const int *ldc);
void dsyrk_(const char *uplo, const char *trans, const int *n, const int *k,
            const double *alpha, const double *A, const int *lda, const double *beta,
            double *C, const int *ldc);

/* L_ik of some rows i of A, k one panel: `size` columns of so many numbers as there are
 * rows. BLAS takes half of the time for a panel that lies in columns. */
typedef struct panel_ {
    okra_int k, size;
    double *rows; /* those i > k that this rank has rows of, `high` of them */
    double *cols; /* those that it has columns of, `wide` of them           */
    double *send;
    okra_int high, wide;
    MPI_Request request;
} panel_;

typedef struct factor_ {
    const ranks_ *g;
    ranks_body_ *A;
    okra_int blocks;
    MPI_Comm down, along; /* of a column of the grid, of a row of it */
    double *diagonal;     /* L_kk, block x block                     */
    int *counts;          /* 2 pc                                    */
    int info;
} factor_;

static okra_int size_of(const factor_ *f, okra_int k)
{
    return OKRA_MIN_(f->g->block, f->A->rows - k * f->g->block);
}

/* Where the rows of this rank from block k of A on begin, and its columns. */
static okra_int row_from(const factor_ *f, okra_int k)
{
    return ranks_count_(f->g, OKRA_MIN_(k * f->g->block, f->A->rows), f->g->col,
                        f->g->pc);
}

static okra_int col_from(const factor_ *f, okra_int k)
{
    return ranks_count_(f->g, OKRA_MIN_(k * f->g->block, f->A->rows), f->g->row,
                        f->g->pr);
}

/* The first block from k on that `me` of `procs` has. */
static okra_int next_block(okra_int k, int me, int procs)
{
    return k + ((okra_int)me - k % procs + procs) % procs;
}

/* M(j, i) -= L_jk L_ik' of all j of this rank from block j0 on and below block j1, and
 * the rows i of `count` of its blocks from i0 on, all of them below j1. */
static void multiply(const factor_ *f, const panel_ *p, okra_int j0, okra_int j1,
                     okra_int i0, okra_int count)
{
    const double minus = -1, unit = 1;
    const ranks_ *g = f->g;
    okra_int j = col_from(f, j0), i = row_from(f, i0);
    okra_int end = row_from(f, OKRA_MIN_(i0 + (count - 1) * g->pc + 1, f->blocks));
    int m = (int)(col_from(f, j1) - j), n = (int)(end - i), size = (int)p->size;
    int wide = (int)p->wide, high = (int)p->high, ld = f->A->desc[8];
    if (m > 0 && n > 0) {
        dgemm_("N", "T", &m, &n, &size, &minus, p->cols + j - col_from(f, p->k + 1),
               &wide, p->rows + i - row_from(f, p->k + 1), &high, &unit,
               f->A->p + i * f->A->lm + j, &ld);
    }
}

/* The diagonal block i, of which this rank writes the triangle that counts. */
static void multiply_diagonal(const factor_ *f, const panel_ *p, okra_int i)
{
    const double minus = -1, unit = 1;
    int n = (int)size_of(f, i), size = (int)p->size, high = (int)p->high,
        ld = f->A->desc[8];
    if (i % f->g->pr == f->g->row && i % f->g->pc == f->g->col) {
        dsyrk_("U", "N", &n, &size, &minus,
               p->rows + row_from(f, i) - row_from(f, p->k + 1), &high, &unit,
               f->A->p + row_from(f, i) * f->A->lm + col_from(f, i), &ld);
    }
}

/* Step p->k on the triangle of `count` of this rank's blocks of rows from i on: its
 * halves, and the rectangle between them, so that products are as large as can be. */
static void update_triangle(const factor_ *f, const panel_ *p, okra_int i, okra_int count)
{
    okra_int half = count / 2, middle = i + half * f->g->pc;
    if (count == 1) {
        multiply_diagonal(f, p, i);
        return;
    }
    update_triangle(f, p, i, half);
    multiply(f, p, i, middle, middle, count - half);
    update_triangle(f, p, middle, count - half);
}

/* Step p->k on all columns from block j0 on; `next` is on its way meanwhile. */
static void update(const factor_ *f, const panel_ *p, okra_int j0, panel_ *next)
{
    enum { GROUP = 8 }; /* blocks of rows: products of a good size */
    const ranks_ *g = f->g;
    for (okra_int i = next_block(j0, g->col, g->pc); i < f->blocks; i += GROUP * g->pc) {
        okra_int last = OKRA_MIN_(i + (GROUP - 1) * g->pc, f->blocks - 1);
        okra_int count = (last - i) / g->pc + 1;
        int done;
        multiply(f, p, j0, i, i, count);
        update_triangle(f, p, i, count);
        if (next->request != MPI_REQUEST_NULL) {
            MPI_Test(&next->request, &done, MPI_STATUS_IGNORE);
        }
    }
}

/* A_ik of panel p, brought up to date by the panel before it (`last`, or NULL). */
static void read_panel(const factor_ *f, const panel_ *last, const panel_ *p)
{
    const double minus = -1, unit = 1;
    okra_int after = row_from(f, p->k + 1), here = col_from(f, p->k);
    int m = (int)p->high, n = (int)p->size;
    ranks_transpose_(f->A->p + after * f->A->lm + here, f->A->lm, p->high, p->size,
                     p->rows, p->high);
    if (last && m > 0) {
        int size = (int)last->size, high = (int)last->high, wide = (int)last->wide;
        dgemm_("N", "T", &m, &n, &size, &minus,
               last->rows + after - row_from(f, last->k + 1), &high,
               last->cols + here - col_from(f, last->k + 1), &wide, &unit, p->rows, &m);
    }
}

/* L_kk, on all ranks of this row of the grid. */
static void factor_diagonal(factor_ *f, okra_int k)
{
    const ranks_ *g = f->g;
    int s = (int)size_of(f, k), info = 0, ld = f->A->desc[8];
    if (k % g->pc == g->col) {
        double *D = f->A->p + row_from(f, k) * f->A->lm + col_from(f, k);
        dpotrf_("U", &s, D, &ld, &info);
        f->info = info && !f->info ? (int)(k * g->block) + info : f->info;
        for (int c = 0; c < s; c++) {
            memcpy(f->diagonal + (size_t)c * (size_t)s, D + c * f->A->lm,
                   (size_t)s * sizeof *D);
        }
    }
    MPI_Bcast(f->diagonal, s * s, MPI_DOUBLE, (int)(k % g->pc), f->along);
}

/* Panel k to L_ik, and on its way down the columns of the grid. */
static void begin_panel(factor_ *f, okra_int k, const panel_ *last, panel_ *p)
{
    const ranks_ *g = f->g;
    ranks_body_ *A = f->A;
    const double unit = 1;
    bool mine = k % g->pr == g->row;
    okra_int after = row_from(f, k + 1);
    p->k = k;
    p->size = size_of(f, k);
    p->high = A->ln - after;
    p->wide = A->lm - col_from(f, k + 1);
    int s = (int)p->size, m = (int)p->high;
    if (mine) {
        if (last) {
            multiply_diagonal(f, last, k);
        }
        read_panel(f, last, p);
        factor_diagonal(f, k);
        if (m > 0) {
            dtrsm_("R", "U", "N", "N", &m, &s, &unit, f->diagonal, &s, p->rows, &m);
        }
    }
    MPI_Ibcast(p->rows, s * m, MPI_DOUBLE, (int)(k % g->pr), f->down, &p->request);
    if (mine) {
        ranks_transpose_(p->rows, p->high, p->size, p->high,
                         A->p + after * A->lm + col_from(f, k), A->lm);
    }
}

static void copy(const double *from, okra_int ld, okra_int rows, okra_int cols,
                 double *to, okra_int ld_to)
{
    for (okra_int c = 0; c < cols; c++) {
        memcpy(to + c * ld_to, from + c * ld, (size_t)rows * sizeof *to);
    }
}

/* L_jk of this rank's columns: of those rows of the ranks beside it that it also has as
 * columns. */
static void gather_columns(factor_ *f, panel_ *p)
{
    const ranks_ *g = f->g;
    int *counts = f->counts, *places = counts + g->pc, used = 0;
    okra_int first = row_from(f, p->k + 1), start = col_from(f, p->k + 1);
    memset(counts, 0, (size_t)g->pc * sizeof *counts);
    for (okra_int i = next_block(p->k + 1, g->row, g->pr); i < f->blocks; i += g->pr) {
        okra_int n = size_of(f, i);
        const double *from = p->rows + row_from(f, i) - first;
        if (g->pc == 1) {
            copy(from, p->high, n, p->size, p->cols + col_from(f, i) - start, p->wide);
        } else if (i % g->pc == g->col) {
            copy(from, p->high, n, p->size, p->send + counts[g->col], n);
        }
        counts[i % g->pc] += (int)(n * p->size);
    }
    if (g->pc == 1) {
        return;
    }
    for (int c = 0; c < g->pc; c++) {
        places[c] = used;
        used += counts[c];
    }
    double *all = p->send + counts[g->col];
    MPI_Allgatherv(p->send, counts[g->col], MPI_DOUBLE, all, counts, places, MPI_DOUBLE,
                   f->along);
    for (okra_int i = next_block(p->k + 1, g->row, g->pr); i < f->blocks; i += g->pr) {
        okra_int n = size_of(f, i);
        copy(all + places[i % g->pc], n, n, p->size, p->cols + col_from(f, i) - start,
             p->wide);
        places[i % g->pc] += (int)(n * p->size);
    }
}

static void end_panel(factor_ *f, panel_ *p)
{
    MPI_Wait(&p->request, MPI_STATUS_IGNORE);
    gather_columns(f, p);
}

static void run(factor_ *f, panel_ *p)
{
    begin_panel(f, 0, NULL, &p[0]);
    end_panel(f, &p[0]);
    for (okra_int k = 0; k + 1 < f->blocks; k++) {
        panel_ *now = &p[k % 2], *next = &p[(k + 1) % 2];
        begin_panel(f, k + 1, now, next);
        update(f, now, k + 2, next);
        end_panel(f, next);
    }
}

static double *room(const ranks_ *g, okra_int count)
{
    return g->host->alloc(count + 1, sizeof(double));
}

/* *info: of dpotrf, on the rank that has the block; 0 elsewhere. */
okra_status ranks_factor_(ranks_ *g, ranks_body_ *A, int *info)
{
    okra_status st = OKRA_OK;
    factor_ f = {.g = g, .A = A, .blocks = (A->rows + g->block - 1) / g->block};
    panel_ p[2] = {{.request = MPI_REQUEST_NULL}, {.request = MPI_REQUEST_NULL}};
    bool good = true;
    for (int k = 0; k < 2; k++) {
        p[k].rows = room(g, A->ln * g->block);
        p[k].cols = room(g, A->lm * g->block);
        p[k].send = k == 0 ? room(g, 2 * (A->lm + g->block) * g->block) : p[0].send;
        good = good && p[k].rows && p[k].cols && p[k].send;
    }
    f.diagonal = room(g, (okra_int)g->block * g->block);
    f.counts = g->host->alloc((okra_int)2 * g->pc, sizeof *f.counts);
    good = good && f.diagonal && f.counts;
    TRY(ranks_agree_(g, good ? OKRA_OK : OKRA_EMEM, "room for a factor",
                     (uint64_t)A->rows, 0));
    MPI_Comm_split(g->comm, g->col, g->row, &f.down);
    MPI_Comm_split(g->comm, g->row, g->col, &f.along);
    run(&f, p);
    *info = f.info;
    MPI_Comm_free(&f.down);
    MPI_Comm_free(&f.along);
done:
    for (int k = 0; k < 2; k++) {
        g->host->free(p[k].rows);
        g->host->free(p[k].cols);
    }
    g->host->free(p[0].send);
    g->host->free(f.diagonal);
    g->host->free(f.counts);
    return st;
}
