/*
 * lu.c: the general square solve A X = B by LU with partial pivoting.
 *
 * LAPACK factors A' = P L U, so A = U' L' P': in our rows U' is the lower triangle and L'
 * the upper one with unit diagonal. Right-hand sides are rows of numbers, solved in
 * place, and the row exchanges P come last, in reverse order.
 *
 * On several threads by halves, with M = A' in columns: the left half [M11; M21] is
 * factored, its exchanges and L11^-1 are applied to the right one in strips, and
 * M22 - M21 M12 is the rest. Backward stable but for contrived matrices; the forward
 * error is eps / rcond.
 */
#include "linalg/blas.h"

#include <cblas.h>
#include <lapacke.h>

/* Operations that are worth a thread more, columns that one thread factors, and those of
 * a strip. */
static const double thread_work = 2e7;
enum { leaf = 128, strip = 64 };

/* Columns of M, which are rows here, and what the factors of others do to them. */
typedef struct follower {
    okra_mat_ factored, rows;
    const lapack_int *pivot;
} follower;

static okra_status follow(void *arg, okra_int begin, okra_int end, int worker)
{
    const follower *f = arg;
    okra_int k = f->factored.rows;
    int count = (int)(end - begin);
    double *first = f->rows.p + begin * f->rows.ld;
    LAPACKE_dlaswp_work(LAPACK_COL_MAJOR, count, first, okra_blas_stride_(f->rows), 1,
                        (int)k, f->pivot, 1);
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasUpper, CblasNoTrans, CblasUnit, count,
                (int)k, 1, f->factored.p, okra_blas_stride_(f->factored), first,
                okra_blas_stride_(f->rows));
    return OKRA_OK;
}

/* M, in rows of A; *singular: the first pivot that is 0, from 1. */
static okra_status factor(okra_context *ctx, int team, okra_mat_ A, lapack_int *pivot,
                          lapack_int *singular)
{
    okra_int n = A.rows, half = n / 2, rest = n - half;
    if (team == 1 || n <= leaf) {
        lapack_int info = LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, (int)A.cols, (int)n, A.p,
                                              okra_blas_stride_(A), pivot);
        *singular = *singular == 0 && info > 0 ? info : *singular;
        return OKRA_OK;
    }
    okra_mat_ left = okra_mat_part_(A, 0, half, 0, A.cols);
    okra_mat_ right = okra_mat_part_(A, half, rest, 0, A.cols);
    okra_mat_ below = okra_mat_part_(A, half, rest, half, A.cols - half);
    lapack_int later = 0;
    CHK(factor(ctx, team, left, pivot, singular));
    follower f = {left, right, pivot};
    CHK(okra_parallel_least_(ctx, (double)half * (double)half * (double)rest, rest, strip,
                             NULL, follow, &f));
    CHK(okra_blas_gemm_(ctx, false, false, -1, okra_mat_part_(right, 0, rest, 0, half),
                        okra_mat_part_(left, 0, half, half, A.cols - half), 1, below));
    CHK(factor(ctx, team, below, pivot + half, &later));
    LAPACKE_dlaswp_work(LAPACK_COL_MAJOR, (int)half, A.p + half, okra_blas_stride_(A), 1,
                        (int)rest, pivot + half, 1);
    for (okra_int i = half; i < n; i++) {
        pivot[i] += (lapack_int)half;
    }
    *singular = *singular == 0 && later > 0 ? later + (lapack_int)half : *singular;
    return OKRA_OK;
}

static void solve_rows(okra_mat_ A, const lapack_int *pivot, okra_mat_ B)
{
    int n = (int)A.rows, cols = (int)B.cols;
    if (cols == 0) {
        return;
    }
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, n, cols,
                1, A.p, okra_blas_stride_(A), B.p, okra_blas_stride_(B));
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasUnit, n, cols, 1,
                A.p, okra_blas_stride_(A), B.p, okra_blas_stride_(B));
    for (okra_int i = A.rows - 1; i >= 0; i--) {
        cblas_dswap(cols, B.p + i * B.ld, 1, B.p + (pivot[i] - 1) * B.ld, 1);
    }
}

/* The 1-norm of A is the infinity norm of A'. */
static double norm_of(okra_mat_ A)
{
    double norm = 0;
    for (okra_int j = 0; j < A.cols; j++) {
        norm = fmax(norm, cblas_dasum((int)A.rows, A.p + j, okra_blas_stride_(A)));
    }
    return norm;
}

typedef struct equations {
    okra_context *ctx;
    okra_mat_ A, B;
    double rcond;
} equations;

static okra_status solve_held(equations *s)
{
    okra_int n = s->A.rows;
    OWNED lapack_int *pivot = NULL;
    OWNED double *work = NULL;
    lapack_int singular = 0;
    MAKE(pivot, 2 * n);
    MAKE(work, 4 * n);
    double norm = norm_of(s->A);
    int team = okra_blas_team_(s->ctx, pow((double)n, 3), thread_work);
    CHK(factor(s->ctx, team, s->A, pivot, &singular));
    REFUSE_IF(singular > 0, OKRA_ENUMERIC,
              "solve: the %lld x %lld matrix is singular (pivot %d is 0)", (long long)n,
              (long long)n, (int)singular);
    lapack_int info =
        LAPACKE_dgecon_work(LAPACK_COL_MAJOR, 'I', (int)n, s->A.p,
                            okra_blas_stride_(s->A), norm, &s->rcond, work, pivot + n);
    REFUSE_IF(info != 0, OKRA_EINTERNAL, "solve: LAPACK refused its argument %d",
              -(int)info);
    solve_rows(s->A, pivot, s->B);
    return OKRA_OK;
}

static okra_status run_solve(void *arg)
{
    okra_blas_hold_(1);
    okra_status st = solve_held(arg);
    okra_blas_release_();
    return st;
}

okra_status okra_solve_general_(okra_context *ctx, okra_mat_ A, okra_mat_ B,
                                double *rcond)
{
    equations s = {ctx, A, B, 1}; /* 1: of an empty matrix */
    CHK(okra_blas_enter_(ctx, "solve", 2, (okra_mat_[]){A, B}));
    CHK(okra_blas_finite_("solve", false, A));
    if (A.rows > 0) {
        CHK(okra_blas_watched_(ctx, OKRA_WORK_FACTOR_, pow((double)A.rows, 3), run_solve,
                               &s));
    }
    GIVE(rcond, s.rcond);
    return OKRA_OK;
}
