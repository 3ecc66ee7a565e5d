/*
 * algebra.c: products, factors and solves, by PBLAS and ScaLAPACK, which see M = A' in
 * the place of A (ranks.h). So C = op(A) op(B)    is   C' = op(B)' op(A)': the operands
 * change places A = L L'           is   M = U'U with U = L': its upper triangle is our
 * lower one op(L)^-1 B         is   B' op(L)'^-1, from the other side
 */
#include "ranks.h"

void pdgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k,
             const double *alpha, const double *A, const int *ia, const int *ja,
             const int *da, const double *B, const int *ib, const int *jb, const int *db,
             const double *beta, double *C, const int *ic, const int *jc, const int *dc);
void pdsyrk_(const char *uplo, const char *trans, const int *n, const int *k,
             const double *alpha, const double *A, const int *ia, const int *ja,
             const int *da, const double *beta, double *C, const int *ic, const int *jc,
             const int *dc);
void pdpotrf_(const char *uplo, const int *n, double *A, const int *ia, const int *ja,
              const int *da, int *info);
void dpotrf_(const char *uplo, const int *n, double *A, const int *ld, int *info);
void pdtrsm_(const char *side, const char *uplo, const char *trans, const char *diag,
             const int *m, const int *n, const double *alpha, const double *A,
             const int *ia, const int *ja, const int *da, double *B, const int *ib,
             const int *jb, const int *db);
/* Where BLAS is OpenBLAS. */
extern int openblas_get_num_threads(void) __attribute__((weak));
extern void openblas_set_num_threads(int threads) __attribute__((weak));

static const int one = 1;

int ranks_threads_(const ranks_ *g, const okra_context *ctx)
{
    int before = openblas_get_num_threads ? openblas_get_num_threads() : 0;
    int wanted = g->host->workers(ctx);
    ranks_busy_(true);
    if (openblas_set_num_threads && before != wanted) {
        openblas_set_num_threads(wanted);
    }
    return before;
}

void ranks_threads_back_(int threads)
{
    ranks_busy_(false);
    if (openblas_set_num_threads && openblas_get_num_threads() != threads) {
        openblas_set_num_threads(threads);
    }
}

static okra_status enter(ranks_ *g, okra_context *ctx, const char *what,
                         const ranks_body_ *A, const ranks_body_ *B)
{
    return ranks_agree_(g, g->host->cancelled(ctx), what,
                        (uint64_t)(A->rows * 31 + A->cols),
                        (uint64_t)(B->rows * 31 + B->cols));
}

/* ---- products ---- */

okra_status ranks_gemm_(void *e, okra_context *ctx, bool ta, bool tb, double alpha,
                        const void *A, const void *B, double beta, void *C)
{
    okra_status st = OKRA_OK;
    ranks_ *g = e;
    const ranks_body_ *a = A, *b = B;
    ranks_body_ *c = C;
    int m = (int)c->cols, n = (int)c->rows, k = (int)(ta ? a->rows : a->cols);
    TRY(enter(g, ctx, "a product", a, b));
    int before = ranks_threads_(g, ctx);
    pdgemm_(tb ? "T" : "N", ta ? "T" : "N", &m, &n, &k, &alpha, b->p, &one, &one, b->desc,
            a->p, &one, &one, a->desc, &beta, c->p, &one, &one, c->desc);
    ranks_threads_back_(before);
done:
    return st;
}

okra_status ranks_syrk_(void *e, okra_context *ctx, bool trans, double alpha,
                        const void *A, double beta, void *C)
{
    okra_status st = OKRA_OK;
    ranks_ *g = e;
    const ranks_body_ *a = A;
    ranks_body_ *c = C;
    int n = (int)c->rows, k = (int)(trans ? a->rows : a->cols);
    TRY(enter(g, ctx, "a product with its transpose", a, c));
    int before = ranks_threads_(g, ctx);
    pdsyrk_("U", trans ? "N" : "T", &n, &k, &alpha, a->p, &one, &one, a->desc, &beta,
            c->p, &one, &one, c->desc);
    ranks_threads_back_(before);
    TRY(ranks_mirror_(g, &(ranks_half_){.up = false}, c));
done:
    return st;
}

/* ---- factors ---- */

okra_status ranks_cholesky_(void *e, okra_context *ctx, void *A, bool *done)
{
    okra_status st = OKRA_OK;
    ranks_ *g = e;
    ranks_body_ *a = A;
    int n = (int)a->rows, info = 0;
    TRY(enter(g, ctx, "Cholesky", a, a));
    int before = ranks_threads_(g, ctx);
    if (g->ranks == 1) { /* less than half of the time */
        dpotrf_("U", &n, a->p, &a->desc[8], &info);
    } else if (g->scalapack) {
        pdpotrf_("U", &n, a->p, &one, &one, a->desc, &info);
    } else {
        st = ranks_factor_(g, a, &info);
    }
    ranks_threads_back_(before);
    TRY(st);
    MPI_Allreduce(MPI_IN_PLACE, &info, 1, MPI_INT, MPI_MAX, g->comm);
    *done = info == 0;
done:
    return st;
}

okra_status ranks_restore_(void *e, okra_context *ctx, const double *d, void *A)
{
    okra_status st = OKRA_OK;
    ranks_ *g = e;
    ranks_body_ *a = A;
    TRY(enter(g, ctx, "restore", a, a));
    TRY(ranks_mirror_(g, &(ranks_half_){.up = true}, a));
    RANKS_ROWS(g, a, i, row)
    {
        okra_int at, local, count;
        if (ranks_span_(g, i, i + 1, g->row, g->pr, &at, &local, &count)) {
            row[local] = d[i];
        }
    }
done:
    return st;
}

okra_status ranks_trsm_(void *e, okra_context *ctx, bool left, bool trans, const void *L,
                        void *B)
{
    okra_status st = OKRA_OK;
    ranks_ *g = e;
    const ranks_body_ *l = L;
    ranks_body_ *b = B;
    int m = (int)b->cols, n = (int)b->rows;
    const double unit = 1;
    TRY(enter(g, ctx, "a triangular solve", l, b));
    int before = ranks_threads_(g, ctx);
    pdtrsm_(left ? "R" : "L", "U", trans ? "T" : "N", "N", &m, &n, &unit, l->p, &one,
            &one, l->desc, b->p, &one, &one, b->desc);
    ranks_threads_back_(before);
done:
    return st;
}
