/*
 * Matrix products: C <- alpha op(A) op(B) + beta C, and its symmetric case. 2mnk and n^2
 * k operations; componentwise error k eps |op(A)||op(B)|.
 */
#include "linalg/backend.h"

typedef struct product {
    okra_context *ctx;
    const okra_backend_ *backend;
    bool ta, tb;
    double alpha, beta;
    okra_mat_ A, B, C;
} product;

static okra_status multiply(void *arg)
{
    product *p = arg;
    return p->backend->gemm(p->ctx, p->ta, p->tb, p->alpha, p->A, p->B, p->beta, p->C);
}

static okra_status square(void *arg)
{
    product *p = arg;
    return p->backend->syrk(p->ctx, p->ta, p->alpha, p->A, p->beta, p->C);
}

okra_status okra_gemm_(okra_context *ctx, bool ta, bool tb, double alpha, okra_mat_ A,
                       okra_mat_ B, double beta, okra_mat_ C)
{
    const okra_backend_ *backend;
    okra_int m = ta ? A.cols : A.rows, k = ta ? A.rows : A.cols;
    okra_int kb = tb ? B.cols : B.rows, n = tb ? B.rows : B.cols;

    CHK(okra_backend_enter_(ctx, "gemm", "ABC", (okra_mat_[]){A, B, C}, 3, &backend));
    REFUSE_IF(k != kb || C.rows != m || C.cols != n, OKRA_ESHAPE,
              "gemm: op(A) is %lld x %lld, op(B) %lld x %lld, C %lld x %lld",
              (long long)m, (long long)k, (long long)kb, (long long)n, (long long)C.rows,
              (long long)C.cols);
    if (m > 0 && n > 0) {
        product p = {ctx, backend, ta, tb, alpha, beta, A, B, C};
        CHK(okra_linalg_watched_(ctx, backend, OKRA_WORK_PRODUCT_,
                                 2 * (double)m * (double)n * (double)k, multiply, &p));
    }
    return OKRA_OK;
}

okra_status okra_syrk_(okra_context *ctx, bool trans, double alpha, okra_mat_ A,
                       double beta, okra_mat_ C)
{
    const okra_backend_ *backend;
    okra_int n = trans ? A.cols : A.rows;

    CHK(okra_backend_enter_(ctx, "syrk", "AC", (okra_mat_[]){A, C}, 2, &backend));
    REFUSE_IF(C.rows != n || C.cols != n, OKRA_ESHAPE,
              "syrk: C is %lld x %lld, expected %lld x %lld", (long long)C.rows,
              (long long)C.cols, (long long)n, (long long)n);
    if (n > 0) {
        product p = {ctx, backend, trans, !trans, alpha, beta, A, A, C};
        double work = (double)n * (double)n * (double)(trans ? A.rows : A.cols);
        CHK(okra_linalg_watched_(ctx, backend, OKRA_WORK_PRODUCT_, work, square, &p));
        okra_mat_mirror_(C);
    }
    return OKRA_OK;
}
