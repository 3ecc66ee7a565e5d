/*
 * lu.c: the general square solve A X = B by LU with partial pivoting, by LAPACK.
 *
 * LAPACK factors A' = P L U, so A = U' L' P': in our rows U' is the lower triangle and L'
 * the upper one with unit diagonal. Right-hand sides are rows of numbers, solved in
 * place, and the row exchanges P come last, in reverse order. Backward stable but for
 * contrived matrices. On one thread: BLAS's own wait by spinning.
 */
#include "linalg/blas.h"

#include <cblas.h>
#include <lapacke.h>

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

typedef struct equations {
    okra_mat_ A, B;
} equations;

static okra_status run_solve(void *arg)
{
    const equations *s = arg;
    int n = (int)s->A.rows;
    OWNED lapack_int *pivot = NULL;

    MAKE(pivot, n);
    okra_blas_hold_(1);
    lapack_int singular = LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, s->A.p,
                                              okra_blas_stride_(s->A), pivot);
    if (singular == 0) {
        solve_rows(s->A, pivot, s->B);
    }
    okra_blas_release_();
    REFUSE_IF(singular != 0, OKRA_ENUMERIC,
              "solve: the %d x %d matrix is singular (pivot %d is 0)", n, n,
              (int)singular);
    return OKRA_OK;
}

okra_status okra_solve_general_(okra_context *ctx, okra_mat_ A, okra_mat_ B)
{
    equations s = {A, B};
    CHK(okra_blas_enter_(ctx, "solve", 2, (okra_mat_[]){A, B}));
    CHK(okra_blas_finite_("solve", false, A));
    return A.rows == 0 ? OKRA_OK
                       : okra_blas_watched_(ctx, OKRA_WORK_FACTOR_,
                                            pow((double)A.rows, 3), run_solve, &s);
}
