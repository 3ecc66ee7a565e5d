/*
 * block.c: verbs on blocks of the host: the engine computes, the host keeps the numbers.
 * The host engine copies nothing; others take the operands and bring the result back.
 */
#include "engine/engine.h"

okra_status okra_matrix_begin_(okra_context *ctx, bool keep, okra_mat_ block,
                               okra_matrix_ **out)
{
    bool here = okra_engine_of_(ctx)->verbs == &okra_engine_host_class_;
    return keep || here ? okra_matrix_borrow_(ctx, block, out)
                        : okra_matrix_create_(ctx, block.rows, block.cols,
                                              "a result for the host", out);
}

okra_status okra_matrix_end_(okra_context *ctx, const okra_matrix_ *A, okra_mat_ block)
{
    return A->engine->verbs == &okra_engine_host_class_
               ? OKRA_OK
               : okra_matrix_get_(ctx, A, 0, 0, block);
}

okra_status okra_matrix_times_(okra_context *ctx, bool ta, bool tb, double alpha,
                               const okra_matrix_ *A, const okra_matrix_ *B, okra_mat_ C)
{
    FREED_BY(okra_matrix_drop_) okra_matrix_ *c = NULL;
    CHK(okra_matrix_begin_(ctx, false, C, &c));
    CHK(okra_matrix_gemm_(ctx, ta, tb, alpha, A, B, 0, c));
    return okra_matrix_end_(ctx, c, C);
}

okra_status okra_matrix_left_(okra_context *ctx, bool ta, bool tb, double alpha,
                              const okra_matrix_ *A, okra_mat_ B, okra_mat_ C)
{
    FREED_BY(okra_matrix_drop_) okra_matrix_ *b = NULL;
    CHK(okra_matrix_borrow_(ctx, B, &b));
    return okra_matrix_times_(ctx, ta, tb, alpha, A, b, C);
}

okra_status okra_matrix_right_(okra_context *ctx, bool ta, bool tb, double alpha,
                               okra_mat_ A, const okra_matrix_ *B, okra_mat_ C)
{
    FREED_BY(okra_matrix_drop_) okra_matrix_ *a = NULL;
    CHK(okra_matrix_borrow_(ctx, A, &a));
    return okra_matrix_times_(ctx, ta, tb, alpha, a, B, C);
}

okra_status okra_matrix_solve_host_(okra_context *ctx, bool left, const okra_matrix_ *L,
                                    okra_mat_ B)
{
    FREED_BY(okra_matrix_drop_) okra_matrix_ *b = NULL;
    CHK(okra_matrix_begin_(ctx, true, B, &b));
    CHK(okra_matrix_solve_(ctx, left, L, b));
    return okra_matrix_end_(ctx, b, B);
}

okra_status okra_matrix_gram_host_(okra_context *ctx, const okra_entries_ *entries,
                                   okra_int first, okra_mat_ block)
{
    FREED_BY(okra_matrix_drop_) okra_matrix_ *A = NULL;
    CHK(okra_matrix_begin_(ctx, false, block, &A));
    CHK(okra_matrix_gram_(ctx, entries, first, A));
    return okra_matrix_end_(ctx, A, block);
}

/* ---- what linalg.h has of these names ---- */

okra_status okra_engine_gemm_(okra_context *ctx, bool ta, bool tb, double alpha,
                              okra_mat_ A, okra_mat_ B, double beta, okra_mat_ C)
{
    FREED_BY(okra_matrix_drop_) okra_matrix_ *a = NULL, *b = NULL, *c = NULL;
    CHK(okra_matrix_borrow_(ctx, A, &a));
    CHK(okra_matrix_borrow_(ctx, B, &b));
    CHK(okra_matrix_begin_(ctx, beta != 0, C, &c));
    CHK(okra_matrix_gemm_(ctx, ta, tb, alpha, a, b, beta, c));
    return okra_matrix_end_(ctx, c, C);
}

okra_status okra_engine_syrk_(okra_context *ctx, bool trans, double alpha, okra_mat_ A,
                              double beta, okra_mat_ C)
{
    FREED_BY(okra_matrix_drop_) okra_matrix_ *a = NULL, *c = NULL;
    CHK(okra_matrix_borrow_(ctx, A, &a));
    CHK(okra_matrix_begin_(ctx, beta != 0, C, &c));
    CHK(okra_matrix_syrk_(ctx, trans, alpha, a, beta, c));
    return okra_matrix_end_(ctx, c, C);
}

okra_status okra_engine_cholesky_(okra_context *ctx, okra_mat_ A, double *jitter)
{
    FREED_BY(okra_matrix_drop_) okra_matrix_ *a = NULL;
    CHK(okra_matrix_begin_(ctx, true, A, &a));
    CHK(okra_matrix_cholesky_(ctx, a, jitter));
    return okra_matrix_end_(ctx, a, A);
}

okra_status okra_engine_cholesky_try_(okra_context *ctx, okra_mat_ A, bool *done)
{
    FREED_BY(okra_matrix_drop_) okra_matrix_ *a = NULL;
    CHK(okra_matrix_begin_(ctx, true, A, &a));
    CHK(okra_matrix_cholesky_try_(ctx, a, done));
    return okra_matrix_end_(ctx, a, A);
}

okra_status okra_engine_trsm_(okra_context *ctx, bool left, bool trans, okra_mat_ L,
                              okra_mat_ B)
{
    FREED_BY(okra_matrix_drop_) okra_matrix_ *l = NULL, *b = NULL;
    CHK(okra_matrix_borrow_(ctx, L, &l));
    CHK(okra_matrix_begin_(ctx, true, B, &b));
    CHK(okra_matrix_trsm_(ctx, left, trans, l, b));
    return okra_matrix_end_(ctx, b, B);
}

static okra_status solve(okra_context *ctx, bool left, okra_mat_ L, okra_mat_ B)
{
    FREED_BY(okra_matrix_drop_) okra_matrix_ *l = NULL;
    CHK(okra_matrix_borrow_(ctx, L, &l));
    return okra_matrix_solve_host_(ctx, left, l, B);
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
    FREED_BY(okra_matrix_drop_) okra_matrix_ *a = NULL;
    CHK(okra_matrix_begin_(ctx, true, A, &a));
    CHK(okra_matrix_eigh_(ctx, a, w));
    return okra_matrix_end_(ctx, a, A);
}

okra_status okra_matrix_solve_(okra_context *ctx, bool left, const okra_matrix_ *L,
                               okra_matrix_ *B)
{
    CHK(okra_matrix_trsm_(ctx, left, !left, L, B));
    return okra_matrix_trsm_(ctx, left, left, L, B);
}

/* ---- several processes ---- */

void okra_engine_share_(okra_context *ctx, okra_int n, okra_int *first, okra_int *count)
{
    const okra_engine_ *e = okra_engine_of_(ctx);
    *first = 0;
    *count = n;
    if (e->verbs->share) {
        e->verbs->share(e->state, n, first, count);
    }
}

okra_status okra_engine_sum_(okra_context *ctx, okra_int count, double *values)
{
    const okra_engine_ *e = okra_engine_of_(ctx);
    return e->verbs->sum && count > 0 ? e->verbs->sum(e->state, ctx, count, values)
                                      : OKRA_OK;
}

/* ---- matrices of a model that stay on their engine ---- */

/* Where several processes share a matrix none of them need hold all of it
 * (okra_context_set_distributed). A model just fitted then keeps it where it lies: its
 * file is written from blocks of rows, predictions use the matrix there, and whoever
 * wants single entries asks for its values first. It holds its engine, which may so
 * outlive the context. */

typedef struct kept {
    okra_matrix_ *A;
    bool lower;
} kept;

static okra_status get(okra_context *ctx, const void *self, okra_int first,
                       okra_mat_ block)
{
    const kept *k = self;
    CHK(okra_matrix_get_(ctx, k->A, first, 0, block));
    for (okra_int i = 0; k->lower && i < block.rows; i++) {
        okra_int from = OKRA_MIN_(first + i + 1, block.cols);
        okra_mat_fill_(okra_mat_part_(block, i, 1, from, block.cols - from), 0);
    }
    return OKRA_OK;
}

static void let_go(void *self)
{
    kept *k = self;
    okra_engine_ *engine = (okra_engine_ *)(uintptr_t)k->A->engine;
    okra_matrix_free_(k->A);
    okra_engine_drop_(engine);
    okra_free_(k);
}

okra_status okra_matrix_keep_(okra_context *ctx, okra_matrix_ **A, bool lower,
                              const char *what, const char *name, okra_store_ *store)
{
    okra_int rows = (*A)->rows, cols = (*A)->cols;
    OWNED double *values = NULL;
    OWNED kept *k = NULL;
    if ((*A)->engine->verbs->share && ctx && ctx->apart) {
        okra_engine_ *engine = (okra_engine_ *)(uintptr_t)(*A)->engine;
        ZMAKE(k, 1);
        *k = (kept){*A, lower};
        okra_store_item_ item = {.A = {NULL, rows, cols, cols},
                                 .source = {get, let_go, k}};
        CHK(okra_store_add_(store, name, item));
        atomic_fetch_add(&engine->references, 1);
        k = NULL;
        *A = NULL;
        return OKRA_OK;
    }
    CHK(okra_matrix_take_(ctx, A, what, &values));
    for (okra_int i = 0; lower && i < rows; i++) {
        okra_mat_fill_(okra_mat_of_(values + i * cols + i + 1, 1, cols - i - 1), 0);
    }
    return okra_store_put_(store, name, &values, rows, cols);
}

okra_matrix_ *okra_matrix_kept_(const okra_store_ *store, const char *name)
{
    const okra_store_item_ *item = okra_store_find_(store, OKRA_KEPT_MATRIX_, name);
    return item && item->source.get == get ? ((kept *)item->source.self)->A : NULL;
}

okra_status okra_matrix_to_host_(okra_context *ctx, okra_store_ *store, bool all)
{
    for (okra_int i = 0; i < store->count; i++) {
        const char *name = store->items[i].name;
        const okra_matrix_ *large = okra_matrix_kept_(store, name);
        if (large && (all || large->engine != okra_engine_of_(ctx))) {
            CHK(okra_store_settle_(ctx, store, name));
        }
    }
    return OKRA_OK;
}
