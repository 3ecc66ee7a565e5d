/*
 * The backend on CBLAS and LAPACK: decompositions. The rest is in blas_tiles.c.
 *
 * CBLAS takes row-major views as they are. LAPACK is column-major: a row-major matrix
 * with row stride ld is its transpose, so the lower triangle is LAPACK's upper one and
 * nothing is copied. LAPACKE's *_work entry points are used with work space of our own,
 * so that all memory is asked of the budget and counted.
 */
#include "linalg/backend.h"
#include "core/threads.h"

#include <cblas.h>
#include <lapacke.h>
#include <limits.h>
#include <math.h>

/* LAPACK counts work space in ints: 1 + 6n + 2n^2 of dsyevd and 4k^2 + 7k of dgesdd. */
enum { eigh_most = 32766, svd_most = 23169 };

/* Operations that are worth a thread more in an eigendecomposition. */
static const double thread_work = 1e9;

/* Sizes were checked against `limit` on entry; BLAS wants strides of at least 1. */
static int narrow(okra_int n)
{
    return (int)n;
}

static int stride(okra_mat_ A)
{
    return narrow(OKRA_MAX_(A.ld, 1));
}

/* LAPACK's columns of eigenvectors are our rows. Divide and conquer, the fastest, wants
 * 2 n^2 doubles of work space. */
static okra_status eigh_alone(okra_context *ctx, okra_mat_ A, double *w)
{
    okra_int n = A.rows, lwork = 1 + 6 * n + 2 * n * n, liwork = 3 + 5 * n;
    OWNED double *work = NULL;
    OWNED lapack_int *iwork = NULL;

    CHK(okra_doubles_(ctx, lwork, 1, "eigh: work space", &work));
    MAKE(iwork, liwork);
    lapack_int info =
        LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'U', narrow(n), A.p, stride(A), w,
                            work, narrow(lwork), iwork, narrow(liwork));
    REFUSE_IF(info != 0, OKRA_ENUMERIC, "eigh: LAPACK dsyevd did not converge (info %d)",
              (int)info);
    return OKRA_OK;
}

static okra_status eigh(okra_context *ctx, okra_mat_ A, double *w)
{
    int team = okra_blas_team_(ctx, 9 * pow((double)A.rows, 3), thread_work);
    if (A.rows > eigh_most) {
        return okra_blas_eigh_large_(ctx, A, w);
    }
    okra_blas_hold_(1);
    okra_status st =
        team > 1 ? okra_blas_eigh_team_(ctx, team, A, w) : eigh_alone(ctx, A, w);
    okra_blas_release_();
    return st;
}

/* With relatively robust representations, which want n^2 doubles. The one place where
 * BLAS's own threads help, and spin: above eigh_most this takes minutes to hours. */
okra_status okra_blas_eigh_large_(okra_context *ctx, okra_mat_ A, double *w)
{
    okra_int n = A.rows, lwork = 26 * n, liwork = 10 * n;
    OWNED double *work = NULL, *v = NULL;
    OWNED lapack_int *iwork = NULL;
    lapack_int found = 0;

    CHK(okra_doubles_(ctx, n, n, "eigh: eigenvectors", &v));
    MAKE(work, lwork);
    MAKE(iwork, liwork + 2 * n);
    okra_blas_hold_(okra_blas_team_(ctx, 9 * pow((double)n, 3), thread_work));
    lapack_int info = LAPACKE_dsyevr_work(
        LAPACK_COL_MAJOR, 'V', 'A', 'U', narrow(n), A.p, stride(A), 0, 0, 0, 0, 0, &found,
        w, v, narrow(n), iwork + liwork, work, narrow(lwork), iwork, narrow(liwork));
    okra_blas_release_();
    REFUSE_IF(info != 0 || found != n, OKRA_ENUMERIC,
              "eigh: LAPACK dsyevr found %d of %lld eigenvalues (info %d)", (int)found,
              (long long)n, (int)info);
    return okra_mat_copy_(okra_mat_of_(v, n, n), A);
}

/* LAPACK multiplies stride and length of a row in 32 bits where it reflects rows. */
static okra_status check_extent(char name, okra_mat_ A)
{
    REFUSE_IF(
        A.rows > INT_MAX / stride(A), OKRA_EUNSUPPORTED,
        "svd: %c is %lld x %lld with row stride %d; LAPACK takes at most %d elements",
        name, (long long)A.rows, (long long)A.cols, stride(A), INT_MAX);
    return OKRA_OK;
}

/* A = U S Vt reads A' = V S U' in columns: LAPACK's U is our Vt and the reverse, both in
 * place. On one thread: two of BLAS's own take an eighth less time on a quiet machine and
 * four times as much beside a busy process. */
static okra_status svd(okra_context *ctx, okra_mat_ A, okra_mat_ U, double *s,
                       okra_mat_ Vt)
{
    okra_int k = OKRA_MIN_(A.rows, A.cols);
    OWNED double *work = NULL;
    double best = 0;
    OWNED lapack_int *iwork = NULL;

    REFUSE_IF(k > svd_most, OKRA_EUNSUPPORTED,
              "svd: A is %lld x %lld; LAPACK finds at most %d singular values",
              (long long)A.rows, (long long)A.cols, (int)svd_most);
    CHK(check_extent('A', A));
    CHK(check_extent('U', U));
    CHK(check_extent('V', Vt));
    okra_int least = 4 * k * k + 7 * k;
    MAKE(iwork, 8 * k);
    lapack_int info = LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'S', narrow(A.cols),
                                          narrow(A.rows), A.p, stride(A), s, Vt.p,
                                          stride(Vt), U.p, stride(U), &best, -1, iwork);
    okra_int lwork = OKRA_MIN_(OKRA_MAX_((okra_int)best, least), INT_MAX);
    CHK(okra_doubles_(ctx, lwork, 1, "svd: work space", &work));
    okra_blas_hold_(1);
    info = LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'S', narrow(A.cols), narrow(A.rows), A.p,
                               stride(A), s, Vt.p, stride(Vt), U.p, stride(U), work,
                               narrow(lwork), iwork);
    okra_blas_release_();
    REFUSE_IF(info != 0, OKRA_ENUMERIC, "svd: LAPACK dgesdd did not converge (info %d)",
              (int)info);
    return OKRA_OK;
}

const okra_backend_ okra_backend_blas_ = {
    .name = "blas",
    .limit = INT_MAX,
    .gemm = okra_blas_gemm_,
    .syrk = okra_blas_syrk_,
    .cholesky = okra_blas_cholesky_,
    .trsm = okra_blas_trsm_,
    .eigh = eigh,
    .svd = svd,
    .solve = okra_blas_solve_,
};
