/*
 * Matrix products: C <- alpha op(A) op(B) + beta C, and its symmetric case. 2mnk and n^2
 * k operations; componentwise error k eps |op(A)||op(B)|.
 */
#include "linalg/backend.h"

okra_status okra_gemm_(okra_context *ctx, bool ta, bool tb, double alpha, okra_mat_ A,
                       okra_mat_ B, double beta, okra_mat_ C)
{
    okra_status st = OKRA_OK;
    const okra_backend_ *backend;
    okra_int m = ta ? A.cols : A.rows, k = ta ? A.rows : A.cols;
    okra_int kb = tb ? B.cols : B.rows, n = tb ? B.rows : B.cols;

    TRY(okra_backend_enter_(ctx, "gemm", "ABC", (okra_mat_[]){A, B, C}, 3, &backend));
    if (k != kb || C.rows != m || C.cols != n) {
        FAIL(OKRA_ESHAPE, "gemm: op(A) is %lld x %lld, op(B) %lld x %lld, C %lld x %lld",
             (long long)m, (long long)k, (long long)kb, (long long)n, (long long)C.rows,
             (long long)C.cols);
    }
    if (m > 0 && n > 0) {
        TRY(backend->gemm(ctx, ta, tb, alpha, A, B, beta, C));
    }
done:
    return st;
}

okra_status okra_syrk_(okra_context *ctx, bool trans, double alpha, okra_mat_ A,
                       double beta, okra_mat_ C)
{
    okra_status st = OKRA_OK;
    const okra_backend_ *backend;
    okra_int n = trans ? A.cols : A.rows;

    TRY(okra_backend_enter_(ctx, "syrk", "AC", (okra_mat_[]){A, C}, 2, &backend));
    if (C.rows != n || C.cols != n) {
        FAIL(OKRA_ESHAPE, "syrk: C is %lld x %lld, expected %lld x %lld",
             (long long)C.rows, (long long)C.cols, (long long)n, (long long)n);
    }
    if (n > 0) {
        TRY(backend->syrk(ctx, trans, alpha, A, beta, C));
        okra_mat_mirror_(C);
    }
done:
    return st;
}
