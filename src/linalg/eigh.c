/*
 * eigh.c: symmetric eigendecomposition A = V' diag(w) V, row i of V the eigenvector of
 * w_i. About 9 n^3 operations. Eigenvalues to a few eps ||A|| absolutely, V orthogonal to
 * a few n eps; an eigenvector is only as good as the gap of its eigenvalue. One thread:
 * LAPACK. Several: the steps of blas.h.
 *
 * LAPACK is column-major: a row-major matrix with row stride ld is its transpose, so the
 * lower triangle is LAPACK's upper one and nothing is copied. LAPACKE's *_work entry
 * points are used with work space of our own, so that all memory is asked of the budget.
 */
#include "linalg/blas.h"

#include <lapacke.h>

enum { eigh_most = 32766 }; /* LAPACK counts work space, 1 + 6n + 2n^2, in ints */

/* Operations that are worth a thread more. */
static const double thread_work = 1e9;

/* ---- by LAPACK ---- */

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
        LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'U', (int)n, A.p, okra_blas_stride_(A),
                            w, work, (int)lwork, iwork, (int)liwork);
    REFUSE_IF(info != 0, OKRA_ENUMERIC, "eigh: LAPACK dsyevd did not converge (info %d)",
              (int)info);
    return OKRA_OK;
}

/* With relatively robust representations, which want n^2 doubles. The one place where
 * BLAS's own threads help, and spin: above eigh_most this takes minutes to hours. */
okra_status okra_eigh_large_(okra_context *ctx, okra_mat_ A, double *w)
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
        LAPACK_COL_MAJOR, 'V', 'A', 'U', (int)n, A.p, okra_blas_stride_(A), 0, 0, 0, 0, 0,
        &found, w, v, (int)n, iwork + liwork, work, (int)lwork, iwork, (int)liwork);
    okra_blas_release_();
    REFUSE_IF(info != 0 || found != n, OKRA_ENUMERIC,
              "eigh: LAPACK dsyevr found %d of %lld eigenvalues (info %d)", (int)found,
              (long long)n, (int)info);
    return okra_mat_copy_(okra_mat_of_(v, n, n), A);
}

/* ---- on several threads ---- */

/* A power of two that brings the largest of the numbers near one: products neither
 * overflow nor vanish, and no digit is lost. */
static int scale_of(double largest)
{
    int exponent = 0;
    frexp(largest, &exponent);
    return largest > 0 ? exponent : 0;
}

static double largest_of(okra_int n, const double *x, double so_far)
{
    for (okra_int i = 0; i < n; i++) {
        so_far = fmax(so_far, fabs(x[i]));
    }
    return so_far;
}

static void scale(okra_int n, int exponent, double *x)
{
    for (okra_int i = 0; i < n; i++) {
        x[i] = ldexp(x[i], exponent);
    }
}

/* The lower triangle, where its numbers are far from one; what it was divided by. */
static int scale_matrix(okra_mat_ A)
{
    enum { far = 300 };
    double largest = 0;
    for (okra_int i = 0; i < A.rows; i++) {
        largest = largest_of(i + 1, A.p + i * A.ld, largest);
    }
    int exponent = scale_of(largest);
    if (exponent > -far && exponent < far) {
        return 0;
    }
    for (okra_int i = 0; i < A.rows; i++) {
        scale(i + 1, -exponent, A.p + i * A.ld);
    }
    return exponent;
}

typedef struct result {
    okra_mat_ Z, A;
    const int *order;
} result;

static okra_status copy_rows(void *arg, okra_int begin, okra_int end, int worker)
{
    const result *r = arg;
    (void)worker;
    for (okra_int i = begin; i < end; i++) {
        memcpy(r->A.p + i * r->A.ld, r->Z.p + (r->order[i] - 1) * r->Z.ld,
               (size_t)r->A.cols * sizeof(double));
    }
    return OKRA_OK;
}

okra_status okra_eigh_team_(okra_context *ctx, int team, okra_mat_ A, double *w)
{
    okra_int n = A.rows;
    OWNED double *space = NULL, *z = NULL;
    OWNED int *order = NULL;
    CHK(okra_doubles_(ctx, n, n, "eigh: eigenvectors", &z));
    MAKE(space, 3 * n);
    MAKE(order, n);
    double *d = space, *e = space + n, *tau = space + 2 * n;
    okra_mat_ Z = okra_mat_of_(z, n, n);

    int outer = scale_matrix(A);
    CHK(okra_tridiagonal_(ctx, A, d, e, tau));
    int inner = scale_of(largest_of(n - 1, e, largest_of(n, d, 0)));
    scale(n, -inner, d);
    scale(n - 1, -inner, e);
    CHK(okra_divide_(ctx, team, d, e, Z, order));
    CHK(okra_tridiagonal_rotate_(ctx, A, tau, Z));
    for (okra_int i = 0; i < n; i++) {
        w[i] = ldexp(d[order[i] - 1], inner + outer);
    }
    result r = {Z, A, order};
    return okra_parallel_(ctx, n, 64, NULL, copy_rows, &r);
}

/* ---- the choice ---- */

typedef struct decomposition {
    okra_context *ctx;
    okra_mat_ A;
    double *w;
} decomposition;

static okra_status run_eigh(void *arg)
{
    const decomposition *d = arg;
    okra_int n = d->A.rows;
    int team = okra_blas_team_(d->ctx, 9 * pow((double)n, 3), thread_work);
    if (n > eigh_most) {
        return okra_eigh_large_(d->ctx, d->A, d->w);
    }
    okra_blas_hold_(1);
    okra_status st = team > 1 ? okra_eigh_team_(d->ctx, team, d->A, d->w)
                              : eigh_alone(d->ctx, d->A, d->w);
    okra_blas_release_();
    return st;
}

okra_status okra_eigh_(okra_context *ctx, okra_mat_ A, double *w)
{
    decomposition d = {ctx, A, w};
    CHK(okra_blas_enter_(ctx, "eigh", 1, &A));
    CHK(okra_blas_finite_("eigh", true, A));
    return A.rows == 0 ? OKRA_OK
                       : okra_blas_watched_(ctx, OKRA_WORK_EIGEN_,
                                            9 * pow((double)A.rows, 3), run_eigh, &d);
}
