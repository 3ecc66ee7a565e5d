/*
 * ranks.h: the engine `mpi`, as its own files see it.
 *
 * Every process (rank) runs the same program on the same inputs, and each verb of an
 * engine (engine/engine.h) is called by all of them. What is small lies in the memory of
 * every rank, the same bits in each. A large matrix A lies in blocks of `block` x `block`
 * entries, dealt to a grid of pr x pc ranks in turn, as ScaLAPACK wants it; no rank holds
 * all of it.
 *
 * ScaLAPACK is column-major, so what it sees is M = A': rows of M are columns of A. The
 * rows of M are dealt to the rows of the grid, its columns (the rows of A) to the
 * columns. On a rank, row i of A is contiguous but for the columns that other ranks have.
 *
 * A verb that may fail on one rank alone, or that waits for others, begins with
 * ranks_agree_: all are here, none has failed, and all do the same. Where one has failed
 * the verb fails on all, and so does every later one. So no rank waits for one that has
 * gone.
 */
#ifndef OKRA_RANKS_H_
#define OKRA_RANKS_H_

#include "engine/engine.h"

#include <mpi.h>

typedef struct ranks_ {
    const okra_engine_host_ *host;
    MPI_Comm comm; /* MPI_COMM_NULL before join */
    int rank, ranks, here;
    int pr, pc, row, col; /* the grid, and this rank's place in it */
    int handle, grid;     /* of BLACS                              */
    int block;
    bool scalapack; /* factors and eigenvectors are those of ScaLAPACK */
    int failed;     /* the rank that failed first, or -1       */
    double used;    /* bytes of matrices on the rank that has most */
} ranks_;

typedef struct ranks_body_ {
    okra_int rows, cols; /* of A                                 */
    okra_int lm, ln;     /* of M on this rank: lm x ln, columns of lm */
    double bytes;        /* on the rank that has most            */
    int desc[9];
    double *p;
    void *base; /* of the memory, and its bytes */
    size_t mapped;
} ranks_body_;

/* ---- group.c ---- */

okra_status ranks_open_(const okra_engine_host_ *host, const char *device, void **e);
void ranks_close_(void *e);
void ranks_describe_(void *e, char *text, size_t size);
okra_status ranks_join_(void *e, okra_context *ctx, okra_processes_ *group);
/* Do all ranks come here with OKRA_OK, and with the same `what`, a and b? OKRA_OK or, on
 * every rank, a failure. */
okra_status ranks_agree_(ranks_ *g, okra_status status, const char *what, uint64_t a,
                         uint64_t b) OKRA_CHECK;
okra_status ranks_end_(void *e, okra_status status, const char *what, bool *talks);
void ranks_share_(void *e, okra_int n, okra_int *first, okra_int *count);
okra_status ranks_sum_(void *e, okra_context *ctx, okra_int count, double *values);

/* Code that is not okra's begins or ends: where it ends the process, all processes end.
 */
void ranks_busy_(bool begins);

/* ---- matrix.c ---- */

okra_status ranks_create_(void *e, okra_context *ctx, okra_int rows, okra_int cols,
                          const char *what, void **body);
void ranks_destroy_(void *e, void *body);
okra_status ranks_put_(void *e, okra_context *ctx, okra_mat_ block, okra_int i,
                       okra_int j, void *A);
okra_status ranks_get_(void *e, okra_context *ctx, const void *A, okra_int i, okra_int j,
                       okra_mat_ block);
/* Their memories change places. */
void ranks_swap_(ranks_body_ *a, ranks_body_ *b);
/* How many of n indices the process `me` of `procs` has. */
okra_int ranks_count_(const ranks_ *g, okra_int n, int me, int procs);
/* The first index from `g0` on, below `end`, of a block that `me` of `procs` has; *local
 * is its place there and *count how many follow each other. False: there is none. */
bool ranks_span_(const ranks_ *g, okra_int g0, okra_int end, int me, int procs,
                 okra_int *first, okra_int *local, okra_int *count);

/* Walks over the rows of A that this rank has parts of: `i` of A, `row` where it lies. */
#define RANKS_ROWS(g, A, i, row)                                                      \
    for (okra_int i##_l = 0, i = 0;                                                   \
         i##_l < (A)->ln && (i = ranks_global_((g), i##_l, (g)->col, (g)->pc), true); \
         i##_l++)                                                                     \
        for (double *row = (A)->p + i##_l * (A)->lm; row; row = NULL)
static inline okra_int ranks_global_(const ranks_ *g, okra_int local, int me, int procs)
{
    return (local / g->block * procs + me) * g->block + local % g->block;
}

/* ---- elementwise.c ---- */

okra_status ranks_copy_(void *e, okra_context *ctx, bool trans, const void *A, void *B);
okra_status ranks_fill_(void *e, okra_context *ctx, double value, void *A);
okra_status ranks_add_diagonal_(void *e, okra_context *ctx, double value, void *A);
okra_status ranks_scale_(void *e, okra_context *ctx, const double *r, const double *c,
                         void *A);
okra_status ranks_center_(void *e, okra_context *ctx, double *mean, void *A);
okra_status ranks_combine_(void *e, okra_context *ctx, okra_combine_ how, double s,
                           double t, const double *r, const double *c, const void *B,
                           void *A);

/* ---- reduce.c ---- */

okra_status ranks_diagonal_(void *e, okra_context *ctx, const void *A, double *out);
okra_status ranks_row_sums_(void *e, okra_context *ctx, const void *A, double *out);
okra_status ranks_dot_(void *e, okra_context *ctx, const void *A, const void *B,
                       double *out);
okra_status ranks_best_(void *e, okra_context *ctx, const void *A, const double *offset,
                        okra_int k, okra_int *index, double *value);

/* ---- gram.c ---- */

okra_status ranks_gram_(void *e, okra_context *ctx, const okra_entries_ *entries,
                        okra_int first, okra_int rows, void *A);

/* ---- mirror.c ---- */

/* Which blocks of a symmetric matrix are there: those of the lower triangle, or of the
 * upper one (up), or those that a table says. The diagonal ones always are. */
typedef struct ranks_half_ {
    bool up;
    okra_int blocks;      /* of the table, blocks x blocks   */
    unsigned char *table; /* who has made it frees it; or NULL */
} ranks_half_;
/* Is block (i, j)? */
bool ranks_has_half_(const ranks_half_ *half, okra_int i, okra_int j);
/* The table of an n x n matrix by which all ranks have as much to compute, or nearly. */
okra_status ranks_deal_(const ranks_ *g, okra_int n, ranks_half_ *half) OKRA_CHECK;
/* The other blocks of A, symmetric, from these. */
okra_status ranks_mirror_(ranks_ *g, const ranks_half_ *half, ranks_body_ *A) OKRA_CHECK;

/* to (cols x rows) <- from' (rows x cols), in parts that stay in the cache */
void ranks_transpose_(const double *from, okra_int ld, okra_int rows, okra_int cols,
                      double *to, okra_int ld_to);

/* ---- cholesky.c ---- */

/* L in the lower triangle of A; *info is not 0 on a rank that has found a pivot that is
 * not positive. */
okra_status ranks_factor_(ranks_ *g, ranks_body_ *A, int *info) OKRA_CHECK;

/* ---- algebra.c, eigen.c ---- */

okra_status ranks_gemm_(void *e, okra_context *ctx, bool ta, bool tb, double alpha,
                        const void *A, const void *B, double beta, void *C);
okra_status ranks_syrk_(void *e, okra_context *ctx, bool trans, double alpha,
                        const void *A, double beta, void *C);
okra_status ranks_cholesky_(void *e, okra_context *ctx, void *A, bool *done);
okra_status ranks_restore_(void *e, okra_context *ctx, const double *d, void *A);
okra_status ranks_trsm_(void *e, okra_context *ctx, bool left, bool trans, const void *L,
                        void *B);
okra_status ranks_eigh_(void *e, okra_context *ctx, void *A, double *w);
/* Before and after code of others: the threads of BLAS are those of the run. */
int ranks_threads_(const ranks_ *g, const okra_context *ctx);
void ranks_threads_back_(int threads);
void ranks_eigen_version_(char *text, size_t size);

#endif
