/*
 * block.c: verbs on blocks of the host: the engine computes, the host keeps the numbers.
 * The host engine copies nothing; others take the operands and bring the result back.
 */
#include "engine/engine.h"

okra_status okra_engine_gemm_(okra_context *ctx, bool ta, bool tb, double alpha,
                              okra_mat_ A, okra_mat_ B, double beta, okra_mat_ C)
{
    okra_status st = OKRA_OK;
    okra_large_ *a = NULL, *b = NULL, *c = NULL;
    TRY(okra_large_borrow_(ctx, A, &a));
    TRY(okra_large_borrow_(ctx, B, &b));
    TRY(okra_large_begin_(ctx, beta != 0, C, &c));
    TRY(okra_large_gemm_(ctx, ta, tb, alpha, a, b, beta, c));
    TRY(okra_large_end_(ctx, c, C));
done:
    okra_large_free_(a);
    okra_large_free_(b);
    okra_large_free_(c);
    return st;
}

okra_status okra_engine_syrk_(okra_context *ctx, bool trans, double alpha, okra_mat_ A,
                              double beta, okra_mat_ C)
{
    okra_status st = OKRA_OK;
    okra_large_ *a = NULL, *c = NULL;
    TRY(okra_large_borrow_(ctx, A, &a));
    TRY(okra_large_begin_(ctx, beta != 0, C, &c));
    TRY(okra_large_syrk_(ctx, trans, alpha, a, beta, c));
    TRY(okra_large_end_(ctx, c, C));
done:
    okra_large_free_(a);
    okra_large_free_(c);
    return st;
}

okra_status okra_engine_cholesky_(okra_context *ctx, okra_mat_ A, double *jitter)
{
    okra_status st = OKRA_OK;
    okra_large_ *a = NULL;
    TRY(okra_large_begin_(ctx, true, A, &a));
    TRY(okra_large_cholesky_(ctx, a, jitter));
    TRY(okra_large_end_(ctx, a, A));
done:
    okra_large_free_(a);
    return st;
}

okra_status okra_engine_cholesky_try_(okra_context *ctx, okra_mat_ A, bool *done)
{
    okra_status st = OKRA_OK;
    okra_large_ *a = NULL;
    TRY(okra_large_begin_(ctx, true, A, &a));
    TRY(okra_large_cholesky_try_(ctx, a, done));
    TRY(okra_large_end_(ctx, a, A));
done:
    okra_large_free_(a);
    return st;
}

okra_status okra_engine_trsm_(okra_context *ctx, bool left, bool trans, okra_mat_ L,
                              okra_mat_ B)
{
    okra_status st = OKRA_OK;
    okra_large_ *l = NULL, *b = NULL;
    TRY(okra_large_borrow_(ctx, L, &l));
    TRY(okra_large_begin_(ctx, true, B, &b));
    TRY(okra_large_trsm_(ctx, left, trans, l, b));
    TRY(okra_large_end_(ctx, b, B));
done:
    okra_large_free_(l);
    okra_large_free_(b);
    return st;
}

static okra_status solve(okra_context *ctx, bool left, okra_mat_ L, okra_mat_ B)
{
    okra_large_ *l = NULL;
    okra_status st = okra_large_borrow_(ctx, L, &l);
    st = st == OKRA_OK ? okra_large_solve_host_(ctx, left, l, B) : st;
    okra_large_free_(l);
    return st;
}

okra_status okra_engine_cholesky_solve_(okra_context *ctx, okra_mat_ L, okra_mat_ B)
{
    return solve(ctx, true, L, B);
}

okra_status okra_engine_cholesky_solve_rows_(okra_context *ctx, okra_mat_ L, okra_mat_ B)
{
    return solve(ctx, false, L, B);
}

okra_status okra_engine_eigh_(okra_context *ctx, okra_mat_ A, double *w)
{
    okra_status st = OKRA_OK;
    okra_large_ *a = NULL;
    TRY(okra_large_begin_(ctx, true, A, &a));
    TRY(okra_large_eigh_(ctx, a, w));
    TRY(okra_large_end_(ctx, a, A));
done:
    okra_large_free_(a);
    return st;
}
