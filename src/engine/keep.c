/*
 * keep.c: matrices of a model that stay on their engine.
 *
 * Where several processes share a matrix none of them need hold all of it
 * (okra_context_set_apart). A model just fitted then keeps it where it lies: its file is
 * written from blocks of rows, predictions use the matrix there, and whoever wants single
 * entries asks for its values first. It holds its engine, which may so outlive the
 * context.
 */
#include "engine/open.h"

typedef struct kept {
    okra_large_ *A;
    bool lower;
} kept;

static okra_status get(okra_context *ctx, const void *self, okra_int first,
                       okra_mat_ block)
{
    const kept *k = self;
    CHK(okra_large_get_(ctx, k->A, first, 0, block));
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
    okra_large_free_(k->A);
    okra_engine_drop_(engine);
    okra_free_(k);
}

okra_status okra_large_keep_(okra_context *ctx, okra_large_ **A, bool lower,
                             const char *what, const char *name, okra_bag_ *bag)
{
    okra_int rows = (*A)->rows, cols = (*A)->cols;
    OWNED double *values = NULL;
    OWNED kept *k = NULL;
    if ((*A)->engine->verbs->share && okra_context_apart_(ctx)) {
        okra_engine_ *engine = (okra_engine_ *)(uintptr_t)(*A)->engine;
        ZMAKE(k, 1);
        *k = (kept){*A, lower};
        CHK(okra_bag_put_rows_(bag, name, (okra_rows_){get, let_go, k}, rows, cols));
        atomic_fetch_add(&engine->references, 1);
        k = NULL;
        *A = NULL;
        return OKRA_OK;
    }
    CHK(okra_large_take_(ctx, A, what, &values));
    for (okra_int i = 0; lower && i < rows; i++) {
        okra_mat_fill_(okra_mat_of_(values + i * cols + i + 1, 1, cols - i - 1), 0);
    }
    return okra_bag_put_(bag, name, &values, rows, cols);
}

okra_large_ *okra_large_kept_(const okra_bag_ *bag, const char *name)
{
    const okra_rows_ *rows = okra_bag_rows_(bag, name);
    const kept *k = rows && rows->get == get ? rows->self : NULL;
    return k ? k->A : NULL;
}

okra_status okra_large_settle_(okra_context *ctx, okra_bag_ *bag, bool all)
{
    okra_mat_ A;
    const char *name;
    for (size_t i = 0; (name = okra_bag_each_(bag, i, &A)); i++) {
        const okra_large_ *large = okra_large_kept_(bag, name);
        if (large && (all || large->engine != okra_engine_of_(ctx))) {
            CHK(okra_bag_settle_(ctx, bag, name));
        }
    }
    return OKRA_OK;
}
