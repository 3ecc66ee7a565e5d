/*
 * matrix.c: the verbs of engine.h. An empty matrix has no body, and no verb is called for
 * it. A verb that the engine does not have fails with OKRA_EUNSUPPORTED. All operands
 * come from one context, and so from one engine.
 */
#include "engine/engine.h"

#include "kernel/gram/trained_kernel.h"

static bool is_empty(const okra_matrix_ *A)
{
    return A->rows == 0 || A->cols == 0;
}

static bool is_host(const okra_matrix_ *A)
{
    return A->engine->verbs == &okra_engine_host_class_;
}

/* The verb of A's engine or, where there is none, a failure; `ctx` is in scope. */
#define CALL(A, verb, ...)                                                \
    ((A)->engine->verbs->verb                                             \
         ? (A)->engine->verbs->verb((A)->engine->state, ctx, __VA_ARGS__) \
         : missing((A), #verb))

static okra_status missing(const okra_matrix_ *A, const char *verb)
{
    return okra_fail_(OKRA_EUNSUPPORTED,
                      "engine %s cannot do what this asks for (%s); engine host can",
                      A->engine->verbs->name, verb);
}

/* ---- matrices ---- */

static okra_status make(const okra_engine_ *engine, okra_int rows, okra_int cols,
                        okra_matrix_ **out)
{
    okra_matrix_ *A = NULL;
    ZMAKE(A, 1);
    *A = (okra_matrix_){engine, NULL, rows, cols};
    *out = A;
    return OKRA_OK;
}

okra_status okra_matrix_create_(okra_context *ctx, okra_int rows, okra_int cols,
                                const char *what, okra_matrix_ **out)
{
    FREED_BY(okra_matrix_drop_) okra_matrix_ *A = NULL;
    CHK(make(okra_engine_of_(ctx), rows, cols, &A));
    if (!is_empty(A)) {
        CHK(CALL(A, create, rows, cols, what, &A->body));
    }
    *out = TAKE(A);
    return OKRA_OK;
}

okra_status okra_matrix_borrow_(okra_context *ctx, okra_mat_ block, okra_matrix_ **out)
{
    FREED_BY(okra_matrix_drop_) okra_matrix_ *A = NULL;
    CHK(make(okra_engine_of_(ctx), block.rows, block.cols, &A));
    if (!is_empty(A) && A->engine->verbs->borrow) {
        CHK(CALL(A, borrow, block, &A->body));
    } else if (!is_empty(A)) {
        CHK(CALL(A, create, block.rows, block.cols, "a block of the host", &A->body));
        CHK(CALL(A, put, block, 0, 0, A->body));
    }
    *out = TAKE(A);
    return OKRA_OK;
}

void okra_matrix_free_(okra_matrix_ *A)
{
    if (A && A->body) {
        A->engine->verbs->destroy(A->engine->state, A->body);
    }
    okra_free_(A);
}

/* ---- Gram matrices ---- */

/* In the words of the host, where the entries are of a kernel. */
static okra_status bad_entry(const char *what, const okra_entries_ *entries, okra_int i,
                             okra_int j, double value)
{
    const okra_test_side_ *other = NULL;
    const okra_trained_kernel_ *bound =
        entries ? okra_entries_bound_(entries, &other) : NULL;
    return bound ? okra_bad_value_(bound->kernel, i, j, value)
                 : okra_fail_(OKRA_ENUMERIC, "%s: element (%lld, %lld) is %g", what,
                              (long long)i, (long long)j, value);
}

/* The host engine has looked at each tile; of others a sum that is not finite tells. */
static okra_status check_finite(okra_context *ctx, const char *what,
                                const okra_entries_ *entries, okra_int first,
                                const okra_matrix_ *A)
{
    OWNED double *row = NULL;
    double all = 0;
    if (is_empty(A)) {
        return OKRA_OK;
    }
    CHK(CALL(A, dot, A->body, A->body, &all));
    if (isfinite(all)) {
        return OKRA_OK;
    }
    MAKE(row, A->cols);
    for (okra_int i = 0; i < A->rows; i++) {
        CHK(CALL(A, get, A->body, i, 0, okra_mat_of_(row, 1, A->cols)));
        for (okra_int j = 0; j < A->cols; j++) {
            if (!isfinite(row[j])) {
                return bad_entry(what, entries, first + i, j, row[j]);
            }
        }
    }
    return OKRA_OK;
}

okra_status okra_matrix_gram_(okra_context *ctx, const okra_entries_ *entries,
                              okra_int first, okra_matrix_ *A)
{
    if (!is_empty(A)) {
        CHK(CALL(A, gram, entries, first, A->rows, A->body));
        if (!is_host(A)) {
            CHK(check_finite(ctx, "gram", entries, first, A));
        }
    }
    return OKRA_OK;
}

/* ---- to and fro ---- */

okra_status okra_matrix_put_(okra_context *ctx, okra_mat_ block, okra_int i, okra_int j,
                             okra_matrix_ *A)
{
    return block.rows == 0 || block.cols == 0 ? OKRA_OK
                                              : CALL(A, put, block, i, j, A->body);
}

okra_status okra_matrix_get_(okra_context *ctx, const okra_matrix_ *A, okra_int i,
                             okra_int j, okra_mat_ block)
{
    return block.rows == 0 || block.cols == 0 ? OKRA_OK
                                              : CALL(A, get, A->body, i, j, block);
}

okra_status okra_matrix_take_(okra_context *ctx, okra_matrix_ **A, const char *what,
                              double **out)
{
    okra_matrix_ *a = *A;
    OWNED double *p = NULL;
    if (a->engine->verbs->release && !is_empty(a)) {
        p = a->engine->verbs->release(a->engine->state, a->body);
        a->body = NULL;
    } else {
        CHK(okra_doubles_(ctx, a->rows, a->cols, what, &p));
        CHK(okra_matrix_get_(ctx, a, 0, 0, okra_mat_of_(p, a->rows, a->cols)));
    }
    okra_matrix_free_(a);
    *A = NULL;
    *out = TAKE(p);
    return OKRA_OK;
}

okra_status okra_matrix_copy_(okra_context *ctx, bool trans, const okra_matrix_ *A,
                              okra_matrix_ *B)
{
    return is_empty(A) ? OKRA_OK : CALL(B, copy, trans, A->body, B->body);
}

/* ---- elementwise ---- */

okra_status okra_matrix_fill_(okra_context *ctx, double value, okra_matrix_ *A)
{
    return is_empty(A) ? OKRA_OK : CALL(A, fill, value, A->body);
}

okra_status okra_matrix_add_diagonal_(okra_context *ctx, double value, okra_matrix_ *A)
{
    return is_empty(A) ? OKRA_OK : CALL(A, add_diagonal, value, A->body);
}

okra_status okra_matrix_scale_(okra_context *ctx, const double *r, const double *c,
                               okra_matrix_ *A)
{
    return is_empty(A) || (!r && !c) ? OKRA_OK : CALL(A, scale, r, c, A->body);
}

okra_status okra_matrix_combine_(okra_context *ctx, okra_combine_ how, double s, double t,
                                 const double *r, const double *c, const okra_matrix_ *B,
                                 okra_matrix_ *A)
{
    return is_empty(A) ? OKRA_OK
                       : CALL(A, combine, how, s, t, r, c, B ? B->body : NULL, A->body);
}

okra_status okra_matrix_center_(okra_context *ctx, double *mean, okra_matrix_ *A)
{
    return is_empty(A) ? OKRA_OK : CALL(A, center, mean, A->body);
}

/* ---- reductions ---- */

okra_status okra_matrix_diagonal_(okra_context *ctx, const okra_matrix_ *A, double *out)
{
    return is_empty(A) ? OKRA_OK : CALL(A, diagonal, A->body, out);
}

okra_status okra_matrix_row_sums_(okra_context *ctx, const okra_matrix_ *A, double *out)
{
    if (is_empty(A)) {
        okra_fill_(A->rows, 0, out);
        return OKRA_OK;
    }
    return CALL(A, row_sums, A->body, out);
}

okra_status okra_matrix_dot_(okra_context *ctx, const okra_matrix_ *A,
                             const okra_matrix_ *B, double *out)
{
    if (is_empty(A)) {
        *out = 0;
        return OKRA_OK;
    }
    return CALL(A, dot, A->body, B->body, out);
}

okra_status okra_matrix_dots_(okra_context *ctx, okra_int p, okra_matrix_ *const *X,
                              okra_int q, okra_matrix_ *const *Y, double *out)
{
    OWNED const void **bodies = NULL;
    okra_int pairs = p * q;
    if (pairs == 0 || is_empty(X[0]) || !X[0]->engine->verbs->dots) {
        for (okra_int k = 0; k < pairs; k++) {
            CHK(okra_matrix_dot_(ctx, X[k / q], Y[k % q], &out[k]));
        }
        return OKRA_OK;
    }
    MAKE(bodies, p + q);
    for (okra_int k = 0; k < p + q; k++) {
        bodies[k] = (k < p ? X[k] : Y[k - p])->body;
    }
    return CALL(X[0], dots, p, bodies, q, bodies + p, out);
}

okra_status okra_matrix_best_(okra_context *ctx, const okra_matrix_ *A,
                              const double *offset, okra_int k, okra_int *index,
                              double *value)
{
    return is_empty(A) || k == 0 ? OKRA_OK
                                 : CALL(A, best, A->body, offset, k, index, value);
}

okra_status okra_engine_top_(okra_context *ctx, const okra_entries_ *entries, okra_mat_ W,
                             const bool *skip, okra_int k, okra_int *index, double *value,
                             bool *done)
{
    const okra_engine_ *engine = okra_engine_of_(ctx);
    *done = false;
    return !engine->verbs->top || W.rows == 0 || W.cols == 0 || k <= 0
               ? OKRA_OK
               : engine->verbs->top(engine->state, ctx, entries, W, skip, k, index, value,
                                    done);
}

/* ---- linear algebra ---- */

okra_status okra_matrix_gemm_(okra_context *ctx, bool ta, bool tb, double alpha,
                              const okra_matrix_ *A, const okra_matrix_ *B, double beta,
                              okra_matrix_ *C)
{
    if (is_empty(C)) {
        return OKRA_OK;
    }
    if ((ta ? A->rows : A->cols) == 0) {
        return beta == 0 ? okra_matrix_fill_(ctx, 0, C)
                         : okra_matrix_combine_(ctx, OKRA_COMBINE_SUM_, beta, 0, NULL,
                                                NULL, C, C);
    }
    return CALL(C, gemm, ta, tb, alpha, A->body, B->body, beta, C->body);
}

okra_status okra_matrix_syrk_(okra_context *ctx, bool trans, double alpha,
                              const okra_matrix_ *A, double beta, okra_matrix_ *C)
{
    if (is_empty(C) || is_empty(A)) {
        return okra_matrix_gemm_(ctx, trans, !trans, alpha, A, A, beta, C);
    }
    return CALL(C, syrk, trans, alpha, A->body, beta, C->body);
}

/* A verb under way, watched where it is not of the host, whose operations watch
 * themselves (linalg/blas.c): its matrix, numbers that it writes, whether it was done. */
typedef struct verb {
    okra_context *ctx;
    okra_matrix_ *A;
    double *d;
    bool *done;
} verb;

static okra_status call_cholesky(void *arg)
{
    verb *v = arg;
    okra_context *ctx = v->ctx;
    return CALL(v->A, cholesky, v->A->body, v->done);
}

static okra_status call_eigh(void *arg)
{
    verb *v = arg;
    okra_context *ctx = v->ctx;
    return CALL(v->A, eigh, v->A->body, v->d);
}

static okra_status get_diagonal(void *user, double *d)
{
    verb *f = user;
    return okra_matrix_diagonal_(f->ctx, f->A, d);
}

/* An engine may or may not notice a NaN; one anywhere in A reaches the diagonal of L. */
static okra_status try_factor(void *user, bool *done)
{
    verb *f = user;
    okra_context *ctx = f->ctx;
    static _Atomic double rate = 4e13; /* of a GPU; corrected by the first call */
    f->done = done;
    CHK(is_host(f->A) ? CALL(f->A, cholesky, f->A->body, done)
                      : okra_watched_rate_(ctx, "factor", pow((double)f->A->rows, 3) / 3,
                                           &rate, call_cholesky, f));
    if (*done) {
        CHK(get_diagonal(f, f->d));
    }
    for (okra_int i = 0; *done && i < f->A->rows; i++) {
        *done = isfinite(f->d[i]) != 0;
    }
    return OKRA_OK;
}

static okra_status put_back(void *user, const double *d)
{
    verb *f = user;
    okra_context *ctx = f->ctx;
    return CALL(f->A, restore, d, f->A->body);
}

static okra_status is_finite(void *user)
{
    verb *f = user;
    return check_finite(f->ctx, "cholesky", NULL, 0, f->A);
}

static okra_status factor(okra_context *ctx, okra_matrix_ *A, double *jitter, bool *done)
{
    OWNED double *d = NULL;
    MAKE(d, A->rows);
    verb f = {ctx, A, d, NULL};
    okra_cholesky_steps_ steps = {get_diagonal, try_factor, put_back, is_finite, &f};
    return okra_cholesky_by_(ctx, A->rows, &steps, jitter, done);
}

okra_status okra_matrix_cholesky_(okra_context *ctx, okra_matrix_ *A, double *jitter)
{
    double added;
    bool done;
    return factor(ctx, A, jitter ? jitter : &added, &done);
}

okra_status okra_matrix_cholesky_try_(okra_context *ctx, okra_matrix_ *A, bool *done)
{
    return factor(ctx, A, NULL, done);
}

okra_status okra_matrix_trsm_(okra_context *ctx, bool left, bool trans,
                              const okra_matrix_ *L, okra_matrix_ *B)
{
    return is_empty(B) ? OKRA_OK : CALL(B, trsm, left, trans, L->body, B->body);
}

okra_status okra_matrix_eigh_(okra_context *ctx, okra_matrix_ *A, double *w)
{
    static _Atomic double rate = 1e13; /* of a GPU; corrected by the first call */
    verb v = {ctx, A, w, NULL};
    if (!is_host(A)) {
        CHK(check_finite(ctx, "eigh", NULL, 0, A));
    }
    return is_empty(A) ? OKRA_OK
           : is_host(A)
               ? call_eigh(&v)
               : okra_watched_rate_(ctx, "eigenvectors", 9 * pow((double)A->rows, 3),
                                    &rate, call_eigh, &v);
}
