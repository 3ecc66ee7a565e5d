/*
 * Singular values, QR and the general square solve: checks, then the backend.
 *
 * SVD and QR are backward stable: ||A - U S Vt|| and ||A - Q R|| of a few eps ||A||, and
 * orthonormal factors to a few eps. LU with partial pivoting is so but for contrived
 * matrices; the forward error is eps / rcond.
 */
#include "linalg/backend.h"

typedef struct factors {
    okra_context *ctx;
    const okra_backend_ *backend;
    okra_mat_ A, B, C;
    double *out;
} factors;

static okra_status run_svd(void *arg)
{
    factors *f = arg;
    return f->backend->svd(f->ctx, f->A, f->B, f->out, f->C);
}

static okra_status run_solve(void *arg)
{
    factors *f = arg;
    return f->backend->solve(f->ctx, f->A, f->B, f->out);
}

static okra_status watched(const factors *f, okra_work_ kind, double each,
                           okra_call_ call)
{
    double rows = (double)f->A.rows, cols = (double)f->A.cols;
    return okra_linalg_watched_(f->ctx, f->backend, kind,
                                each * rows * cols * OKRA_MIN_(rows, cols), call,
                                (void *)(uintptr_t)f);
}

okra_status okra_svd_(okra_context *ctx, okra_mat_ A, okra_mat_ U, double *s,
                      okra_mat_ Vt)
{
    const okra_backend_ *backend;
    okra_int k = OKRA_MIN_(A.rows, A.cols);

    CHK(okra_backend_enter_(ctx, "svd", "AUV", (okra_mat_[]){A, U, Vt}, 3, &backend));
    REFUSE_IF(U.rows != A.rows || U.cols != k || Vt.rows != k || Vt.cols != A.cols,
              OKRA_ESHAPE,
              "svd: A is %lld x %lld, U %lld x %lld, Vt %lld x %lld; expected %lld "
              "singular values",
              (long long)A.rows, (long long)A.cols, (long long)U.rows, (long long)U.cols,
              (long long)Vt.rows, (long long)Vt.cols, (long long)k);
    CHK(okra_check_finite_("svd", 'A', false, A));
    if (k > 0) {
        factors f = {ctx, backend, A, U, Vt, s};
        CHK(watched(&f, OKRA_WORK_SINGULAR_, 8, run_svd));
    }
    return OKRA_OK;
}

okra_status okra_solve_general_(okra_context *ctx, okra_mat_ A, okra_mat_ B,
                                double *rcond)
{
    const okra_backend_ *backend;
    double estimate = 1; /* of an empty matrix */

    CHK(okra_backend_enter_(ctx, "solve", "AB", (okra_mat_[]){A, B}, 2, &backend));
    CHK(okra_check_square_("solve", 'A', A));
    REFUSE_IF(A.rows != B.rows, OKRA_ESHAPE, "solve: A is %lld x %lld, B %lld x %lld",
              (long long)A.rows, (long long)A.cols, (long long)B.rows, (long long)B.cols);
    CHK(okra_check_finite_("solve", 'A', false, A));
    if (A.rows > 0) {
        factors f = {.ctx = ctx, .backend = backend, .A = A, .B = B, .out = &estimate};
        CHK(watched(&f, OKRA_WORK_FACTOR_, 1, run_solve));
    }
    GIVE(rcond, estimate);
    return OKRA_OK;
}
