/*
 * Singular values, QR and the general square solve: checks, then the backend.
 *
 * SVD and QR are backward stable: ||A - U S Vt|| and ||A - Q R|| of a few eps ||A||, and
 * orthonormal factors to a few eps. LU with partial pivoting is so but for contrived
 * matrices; the forward error is eps / rcond.
 */
#include "linalg/backend.h"

okra_status okra_svd_(okra_context *ctx, okra_mat_ A, okra_mat_ U, double *s,
                      okra_mat_ Vt)
{
    okra_status st = OKRA_OK;
    const okra_backend_ *backend;
    okra_int k = OKRA_MIN_(A.rows, A.cols);

    TRY(okra_backend_enter_(ctx, "svd", "AUV", (okra_mat_[]){A, U, Vt}, 3, &backend));
    if (U.rows != A.rows || U.cols != k || Vt.rows != k || Vt.cols != A.cols) {
        FAIL(OKRA_ESHAPE,
             "svd: A is %lld x %lld, U %lld x %lld, Vt %lld x %lld; expected %lld "
             "singular "
             "values",
             (long long)A.rows, (long long)A.cols, (long long)U.rows, (long long)U.cols,
             (long long)Vt.rows, (long long)Vt.cols, (long long)k);
    }
    TRY(okra_check_finite_("svd", 'A', false, A));
    if (k > 0) {
        TRY(backend->svd(ctx, A, U, s, Vt));
    }
done:
    return st;
}

okra_status okra_qr_(okra_context *ctx, okra_mat_ A, okra_mat_ *R)
{
    okra_status st = OKRA_OK;
    const okra_backend_ *backend;

    TRY(okra_backend_enter_(ctx, "qr", "AR", (okra_mat_[]){A, R ? *R : A}, 2, &backend));
    if (A.rows < A.cols) {
        FAIL(OKRA_ESHAPE,
             "qr: A is %lld x %lld, expected at least as many rows as columns",
             (long long)A.rows, (long long)A.cols);
    }
    if (R && (R->rows != A.cols || R->cols != A.cols)) {
        FAIL(OKRA_ESHAPE, "qr: R is %lld x %lld, expected %lld x %lld",
             (long long)R->rows, (long long)R->cols, (long long)A.cols,
             (long long)A.cols);
    }
    TRY(okra_check_finite_("qr", 'A', false, A));
    if (R) {
        okra_mat_fill_(*R, 0);
    }
    if (A.cols > 0) {
        TRY(backend->qr(ctx, A, R));
    }
done:
    return st;
}

okra_status okra_solve_general_(okra_context *ctx, okra_mat_ A, okra_mat_ B,
                                double *rcond)
{
    okra_status st = OKRA_OK;
    const okra_backend_ *backend;
    double estimate = 1; /* of an empty matrix */

    TRY(okra_backend_enter_(ctx, "solve", "AB", (okra_mat_[]){A, B}, 2, &backend));
    TRY(okra_check_square_("solve", 'A', A));
    if (A.rows != B.rows) {
        FAIL(OKRA_ESHAPE, "solve: A is %lld x %lld, B %lld x %lld", (long long)A.rows,
             (long long)A.cols, (long long)B.rows, (long long)B.cols);
    }
    TRY(okra_check_finite_("solve", 'A', false, A));
    if (A.rows > 0) {
        TRY(backend->solve(ctx, A, B, &estimate));
    }
    if (rcond) {
        *rcond = estimate;
    }
done:
    return st;
}
