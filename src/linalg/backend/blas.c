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

/* LAPACK calls BLAS from within, so that only BLAS's own threads can help; they are let
 * in where each has at least this many operations, about 0.1 s. */
static const double thread_work = 1e9;

static void hold(okra_context *ctx, double work)
{
    okra_blas_hold_(okra_blas_team_(ctx, work, thread_work));
}

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
 * 2 n^2 doubles of work space; above eigh_most the relatively robust representations with
 * n^2. */
static okra_status eigh(okra_context *ctx, okra_mat_ A, double *w)
{
    okra_int n = A.rows;
    OWNED double *work = NULL;
    OWNED lapack_int *iwork = NULL;

    if (n > eigh_most) {
        return okra_blas_eigh_large_(ctx, A, w);
    }
    okra_int lwork = 1 + 6 * n + 2 * n * n, liwork = 3 + 5 * n;
    CHK(okra_doubles_(ctx, lwork, 1, "eigh: work space", &work));
    MAKE(iwork, liwork);
    hold(ctx, 9 * pow((double)n, 3));
    lapack_int info =
        LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'U', narrow(n), A.p, stride(A), w,
                            work, narrow(lwork), iwork, narrow(liwork));
    okra_blas_release_();
    REFUSE_IF(info != 0, OKRA_ENUMERIC, "eigh: LAPACK dsyevd did not converge (info %d)",
              (int)info);
    return OKRA_OK;
}

okra_status okra_blas_eigh_large_(okra_context *ctx, okra_mat_ A, double *w)
{
    okra_int n = A.rows, lwork = 26 * n, liwork = 10 * n;
    OWNED double *work = NULL, *v = NULL;
    OWNED lapack_int *iwork = NULL;
    lapack_int found = 0;

    CHK(okra_doubles_(ctx, n, n, "eigh: eigenvectors", &v));
    MAKE(work, lwork);
    MAKE(iwork, liwork + 2 * n);
    hold(ctx, 9 * pow((double)n, 3));
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
 * place. */
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
    hold(ctx, 8 * (double)k * (double)A.rows * (double)A.cols);
    info = LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'S', narrow(A.cols), narrow(A.rows), A.p,
                               stride(A), s, Vt.p, stride(Vt), U.p, stride(U), work,
                               narrow(lwork), iwork);
    okra_blas_release_();
    REFUSE_IF(info != 0, OKRA_ENUMERIC, "svd: LAPACK dgesdd did not converge (info %d)",
              (int)info);
    return OKRA_OK;
}

/* LAPACK factors A' = P L U, so A = U' L' P': in our rows U' is the lower triangle and L'
 * the upper one with unit diagonal. Right-hand sides are rows of numbers, solved in
 * place, and the row exchanges P come last, in reverse order. */
static okra_status solve(okra_context *ctx, okra_mat_ A, okra_mat_ B, double *rcond)
{
    okra_status st = OKRA_OK;
    okra_int n = A.rows;
    lapack_int *pivot = NULL;
    double *work = NULL, norm = 0;
    bool held = false;

    ALLOC(pivot, 2 * n);
    ALLOC(work, 4 * n);
    hold(ctx, pow((double)n, 3));
    held = true;
    for (okra_int j = 0; j < n; j++) {
        norm = fmax(norm, cblas_dasum(narrow(n), A.p + j, stride(A)));
    }
    lapack_int info = LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, narrow(n), narrow(n), A.p,
                                          stride(A), pivot);
    if (info > 0) {
        FAIL(OKRA_ENUMERIC, "solve: the %lld x %lld matrix is singular (pivot %d is 0)",
             (long long)n, (long long)n, (int)info);
    }
    /* the 1-norm of A is the infinity norm of A' */
    info = LAPACKE_dgecon_work(LAPACK_COL_MAJOR, 'I', narrow(n), A.p, stride(A), norm,
                               rcond, work, pivot + n);
    if (info != 0) {
        FAIL(OKRA_EINTERNAL, "solve: LAPACK refused its argument %d", -(int)info);
    }
    if (B.cols > 0) {
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit,
                    narrow(n), narrow(B.cols), 1, A.p, stride(A), B.p, stride(B));
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasUnit,
                    narrow(n), narrow(B.cols), 1, A.p, stride(A), B.p, stride(B));
        for (okra_int i = n - 1; i >= 0; i--) {
            cblas_dswap(narrow(B.cols), B.p + i * B.ld, 1, B.p + (pivot[i] - 1) * B.ld,
                        1);
        }
    }
done:
    if (held) {
        okra_blas_release_();
    }
    FREE(work, pivot);
    return st;
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
    .solve = solve,
};
