/*
 * svd.c: thin singular value decomposition, by LAPACK. Backward stable: ||A - U S Vt|| of
 * a few eps ||A||, and orthonormal factors to a few eps. 8 m n min(m, n) operations.
 */
#include "linalg/blas.h"

#include <lapacke.h>

enum { svd_most = 23169 }; /* LAPACK counts work space, 4k^2 + 7k, in ints */

/* LAPACK multiplies stride and length of a row in 32 bits where it reflects rows. */
static okra_status check_extent(char name, okra_mat_ A)
{
    REFUSE_IF(
        A.rows > INT_MAX / okra_blas_stride_(A), OKRA_EUNSUPPORTED,
        "svd: %c is %lld x %lld with row stride %d; LAPACK takes at most %d elements",
        name, (long long)A.rows, (long long)A.cols, okra_blas_stride_(A), INT_MAX);
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
    lapack_int info = LAPACKE_dgesdd_work(
        LAPACK_COL_MAJOR, 'S', (int)A.cols, (int)A.rows, A.p, okra_blas_stride_(A), s,
        Vt.p, okra_blas_stride_(Vt), U.p, okra_blas_stride_(U), &best, -1, iwork);
    okra_int lwork = OKRA_MIN_(OKRA_MAX_((okra_int)best, least), INT_MAX);
    CHK(okra_doubles_(ctx, lwork, 1, "svd: work space", &work));
    okra_blas_hold_(1);
    info = LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'S', (int)A.cols, (int)A.rows, A.p,
                               okra_blas_stride_(A), s, Vt.p, okra_blas_stride_(Vt), U.p,
                               okra_blas_stride_(U), work, (int)lwork, iwork);
    okra_blas_release_();
    REFUSE_IF(info != 0, OKRA_ENUMERIC, "svd: LAPACK dgesdd did not converge (info %d)",
              (int)info);
    return OKRA_OK;
}

typedef struct decomposition {
    okra_context *ctx;
    okra_mat_ A, U, Vt;
    double *s;
} decomposition;

static okra_status run_svd(void *arg)
{
    decomposition *d = arg;
    return svd(d->ctx, d->A, d->U, d->s, d->Vt);
}

okra_status okra_svd_(okra_context *ctx, okra_mat_ A, okra_mat_ U, double *s,
                      okra_mat_ Vt)
{
    decomposition d = {ctx, A, U, Vt, s};
    okra_int k = OKRA_MIN_(A.rows, A.cols);
    double work = 8 * (double)A.rows * (double)A.cols * (double)k;
    CHK(okra_blas_enter_(ctx, "svd", 3, (okra_mat_[]){A, U, Vt}));
    CHK(okra_blas_finite_("svd", false, A));
    return k == 0 ? OKRA_OK
                  : okra_blas_watched_(ctx, OKRA_WORK_SINGULAR_, work, run_svd, &d);
}
