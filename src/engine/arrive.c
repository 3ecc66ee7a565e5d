/*
 * arrive.c: the verbs of engine.h that bring numbers to the host, checked as in large.c,
 * and so are the numbers of an engine that is a plugin: a NaN, or the number of a column
 * that does not exist, would do its harm far from there. Cost: a look at what was copied.
 * Sums, inner products and best values may be no numbers; whoever asks says more of them.
 */
#include "engine/open.h"

#include <math.h>

okra_status okra_arrived_(const okra_engine_ *engine, const char *verb,
                          const double *values, okra_int rows, okra_int cols, okra_int ld)
{
    bool host = engine->verbs == &okra_engine_host_class_;
    for (okra_int i = 0; !host && i < rows; i++) {
        for (okra_int j = 0; j < cols; j++) {
            REFUSE_IF(isnan(values[i * ld + j]), OKRA_ENUMERIC,
                      "engine %s: %s gave a value that is no number, at (%lld, %lld)",
                      engine->verbs->name, verb, (long long)i, (long long)j);
        }
    }
    return OKRA_OK;
}

okra_status okra_arrived_places_(const okra_engine_ *engine, const char *verb,
                                 okra_int least, okra_int most, okra_int count,
                                 const okra_int *index)
{
    for (okra_int k = 0; k < count; k++) {
        REFUSE_IF(index[k] < least || index[k] >= most, OKRA_EINTERNAL,
                  "engine %s: %s gave number %lld, of %lld", engine->verbs->name, verb,
                  (long long)index[k], (long long)most);
    }
    return OKRA_OK;
}

/* ---- blocks ---- */

okra_status okra_large_get_(okra_context *ctx, const okra_large_ *A, okra_int i,
                            okra_int j, okra_mat_ block)
{
    CHK(okra_part_check_("get", A, i, j, block));
    if (block.rows == 0 || block.cols == 0) {
        return OKRA_OK;
    }
    CHK(CALL(A, get, A->body, i, j, block));
    return okra_arrived_(A->engine, "get", block.p, block.rows, block.cols, block.ld);
}

okra_status okra_large_take_(okra_context *ctx, okra_large_ **A, const char *what,
                             double **out)
{
    okra_large_ *a = *A;
    OWNED double *p = NULL;
    if (a->engine->verbs->release && !okra_large_empty_(a)) {
        p = a->engine->verbs->release(a->engine->state, a->body);
        a->body = NULL;
        CHK(okra_arrived_(a->engine, "release", p, a->rows, a->cols, a->cols));
    } else {
        CHK(okra_doubles_(ctx, a->rows, a->cols, what, &p));
        CHK(okra_large_get_(ctx, a, 0, 0, okra_mat_of_(p, a->rows, a->cols)));
    }
    okra_large_free_(a);
    *A = NULL;
    *out = TAKE(p);
    return OKRA_OK;
}

/* ---- a number for each row ---- */

okra_status okra_large_diagonal_(okra_context *ctx, const okra_large_ *A, double *out)
{
    okra_int n = OKRA_MIN_(A->rows, A->cols);
    if (n == 0) {
        return OKRA_OK;
    }
    CHK(CALL(A, diagonal, A->body, out));
    return okra_arrived_(A->engine, "diagonal", out, 1, n, n);
}

okra_status okra_large_center_(okra_context *ctx, double *mean, okra_large_ *A)
{
    CHK(okra_square_check_("center", A));
    if (okra_large_empty_(A)) {
        return OKRA_OK;
    }
    CHK(CALL(A, center, mean, A->body));
    return okra_arrived_(A->engine, "center", mean, mean != NULL, A->rows, A->rows);
}

okra_status okra_large_row_sums_(okra_context *ctx, const okra_large_ *A, double *out)
{
    if (okra_large_empty_(A)) {
        for (okra_int i = 0; i < A->rows; i++) {
            out[i] = 0;
        }
        return OKRA_OK;
    }
    return CALL(A, row_sums, A->body, out);
}

/* ---- inner products ---- */

okra_status okra_large_dot_(okra_context *ctx, const okra_large_ *A, const okra_large_ *B,
                            double *out)
{
    if (A->rows != B->rows || A->cols != B->cols) {
        return okra_shapes_refuse_("dot", A, B);
    }
    if (okra_large_empty_(A)) {
        *out = 0;
        return OKRA_OK;
    }
    return CALL(A, dot, A->body, B->body, out);
}

okra_status okra_large_dots_(okra_context *ctx, okra_int p, okra_large_ *const *X,
                             okra_int q, okra_large_ *const *Y, double *out)
{
    OWNED const void **bodies = NULL;
    okra_int pairs = p * q;
    for (okra_int k = 0; pairs > 0 && k < p + q; k++) {
        const okra_large_ *A = k < p ? X[k] : Y[k - p];
        if (A->rows != X[0]->rows || A->cols != X[0]->cols) {
            return okra_shapes_refuse_("dots", X[0], A);
        }
    }
    if (pairs == 0 || okra_large_empty_(X[0]) || !X[0]->engine->verbs->dots) {
        for (okra_int k = 0; k < pairs; k++) {
            CHK(okra_large_dot_(ctx, X[k / q], Y[k % q], &out[k]));
        }
        return OKRA_OK;
    }
    MAKE(bodies, p + q);
    for (okra_int k = 0; k < p + q; k++) {
        bodies[k] = (k < p ? X[k] : Y[k - p])->body;
    }
    return CALL(X[0], dots, p, bodies, q, bodies + p, out);
}

/* ---- the best ---- */

okra_status okra_large_best_(okra_context *ctx, const okra_large_ *A,
                             const double *offset, okra_int k, okra_int *index,
                             double *value)
{
    REFUSE_IF(k < 0 || k > A->cols, OKRA_ESHAPE, "best: %lld of %lld columns",
              (long long)k, (long long)A->cols);
    if (okra_large_empty_(A) || k == 0) {
        return OKRA_OK;
    }
    CHK(CALL(A, best, A->body, offset, k, index, value));
    return okra_arrived_places_(A->engine, "best", -1, A->cols, A->rows * k, index);
}

okra_status okra_engine_top_(okra_context *ctx, const okra_entries_ *entries, okra_mat_ W,
                             const bool *skip, okra_int k, okra_int *index, double *value,
                             bool *done)
{
    const okra_engine_ *engine = okra_engine_of_(ctx);
    *done = false;
    REFUSE_IF(W.cols != entries->cols, OKRA_ESHAPE,
              "top: weights of %lld outputs, %lld expected", (long long)W.cols,
              (long long)entries->cols);
    if (!engine->verbs->top || W.rows == 0 || W.cols == 0 || k <= 0) {
        return OKRA_OK;
    }
    CHK(engine->verbs->top(engine->state, ctx, entries, W, skip, k, index, value, done));
    return *done
               ? okra_arrived_places_(engine, "top", -1, entries->rows, W.rows * k, index)
               : OKRA_OK;
}
