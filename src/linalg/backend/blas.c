/*
 * The backend on CBLAS and LAPACK.
 *
 * CBLAS takes row-major views as they are. LAPACK is column-major: a row-major matrix
 * with row stride ld is its transpose, so the lower triangle is LAPACK's upper one and
 * nothing is copied. LAPACKE's *_work entry points are used with work space of our own,
 * so that all memory is asked of the budget and counted.
 */
#include "linalg/backend.h"

#include <cblas.h>
#include <lapacke.h>
#include <limits.h>

/* Sizes were checked against `limit` on entry; BLAS wants strides of at least 1. */
static int narrow(okra_int n)
{
    return (int)n;
}

static int stride(okra_mat_ A)
{
    return narrow(OKRA_MAX_(A.ld, 1));
}

static CBLAS_TRANSPOSE op(bool trans)
{
    return trans ? CblasTrans : CblasNoTrans;
}

static void gemm(bool ta, bool tb, double alpha, okra_mat_ A, okra_mat_ B, double beta,
                 okra_mat_ C)
{
    cblas_dgemm(CblasRowMajor, op(ta), op(tb), narrow(C.rows), narrow(C.cols),
                narrow(ta ? A.rows : A.cols), alpha, A.p, stride(A), B.p, stride(B), beta,
                C.p, stride(C));
}

static void syrk(bool trans, double alpha, okra_mat_ A, double beta, okra_mat_ C)
{
    cblas_dsyrk(CblasRowMajor, CblasLower, op(trans), narrow(C.rows),
                narrow(trans ? A.rows : A.cols), alpha, A.p, stride(A), beta, C.p,
                stride(C));
}

static bool cholesky(okra_mat_ A)
{
    return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', narrow(A.rows), A.p, stride(A)) ==
           0;
}

static void trsm(bool left, bool trans, okra_mat_ L, okra_mat_ B)
{
    cblas_dtrsm(CblasRowMajor, left ? CblasLeft : CblasRight, CblasLower, op(trans),
                CblasNonUnit, narrow(B.rows), narrow(B.cols), 1, L.p, stride(L), B.p,
                stride(B));
}

/* LAPACK's columns of eigenvectors are our rows. Divide and conquer, the fastest, wants
 * 2 n^2 doubles of work space, whose number must fit an int; above that (n > 32766) the
 * relatively robust representations with n^2. */
static okra_status eigh(okra_context *ctx, okra_mat_ A, double *w)
{
    okra_status st = OKRA_OK;
    okra_int n = A.rows, lwork = 1 + 6 * n + 2 * n * n, liwork = 3 + 5 * n;
    double *work = NULL;
    lapack_int *iwork = NULL;

    if (lwork > INT_MAX) {
        return okra_blas_eigh_large_(ctx, A, w);
    }
    TRY(okra_doubles_(ctx, lwork, 1, "eigh: work space", &work));
    ALLOC(iwork, liwork);
    lapack_int info =
        LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'U', narrow(n), A.p, stride(A), w,
                            work, narrow(lwork), iwork, narrow(liwork));
    if (info != 0) {
        FAIL(OKRA_ENUMERIC, "eigh: LAPACK dsyevd did not converge (info %d)", (int)info);
    }
done:
    okra_free_(iwork);
    okra_free_(work);
    return st;
}

okra_status okra_blas_eigh_large_(okra_context *ctx, okra_mat_ A, double *w)
{
    okra_status st = OKRA_OK;
    okra_int n = A.rows, lwork = 26 * n, liwork = 10 * n;
    double *work = NULL, *v = NULL;
    lapack_int *iwork = NULL, found = 0;

    TRY(okra_doubles_(ctx, n, n, "eigh: eigenvectors", &v));
    ALLOC(work, lwork);
    ALLOC(iwork, liwork + 2 * n);
    lapack_int info = LAPACKE_dsyevr_work(
        LAPACK_COL_MAJOR, 'V', 'A', 'U', narrow(n), A.p, stride(A), 0, 0, 0, 0, 0, &found,
        w, v, narrow(n), iwork + liwork, work, narrow(lwork), iwork, narrow(liwork));
    if (info != 0 || found != n) {
        FAIL(OKRA_ENUMERIC, "eigh: LAPACK dsyevr found %d of %lld eigenvalues (info %d)",
             (int)found, (long long)n, (int)info);
    }
    okra_mat_copy_(okra_mat_of_(v, n, n), A);
done:
    okra_free_(iwork);
    okra_free_(work);
    okra_free_(v);
    return st;
}

const okra_backend_ okra_backend_blas_ = {
    .name = "blas",
    .limit = INT_MAX,
    .gemm = gemm,
    .syrk = syrk,
    .cholesky = cholesky,
    .trsm = trsm,
    .eigh = eigh,
};
