/*
 * plugin.c: a test engine, libokra-test.so. Plain loops over matrices that nobody else
 * can read: they are stored by columns, and backwards. It counts what crosses the border,
 * and refuses whatever is not a matrix of its own. The device `fail` cannot open.
 */
#include "plugin.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static okra_status open_test(const okra_engine_host_ *host, const char *device, void **e)
{
    if (strcmp(device, "fail") == 0) {
        return host->fail(OKRA_EUNSUPPORTED, "engine test: there is no device 'fail'");
    }
    state *s = host->alloc(1, sizeof *s);
    if (!s) {
        return OKRA_EMEM;
    }
    *s = (state){.host = host};
    *e = s;
    return OKRA_OK;
}

static void close_test(void *e)
{
    ((state *)e)->host->free(e);
}

static void describe(void *e, char *text, size_t size)
{
    const state *s = e;
    snprintf(text, size,
             "puts %lld of %lld doubles, gets %lld of %lld, largest %lld, "
             "factors %lld",
             s->puts, s->put_doubles, s->gets, s->get_doubles, s->largest_get,
             s->factors);
}

static okra_status create(void *e, okra_context *ctx, okra_int rows, okra_int cols,
                          const char *what, void **out)
{
    const state *s = e;
    double need = 8 * (double)rows * (double)cols, most = (double)s->host->budget(ctx);
    if (most > 0 && need > most) {
        return s->host->fail(OKRA_EBUDGET,
                             "engine test: %s of %lld x %lld doubles needs %.0f bytes, "
                             "there are %.0f",
                             what, (long long)rows, (long long)cols, need, most);
    }
    body *b = s->host->alloc(1, sizeof *b);
    double *p = s->host->alloc(rows * cols, sizeof *p);
    if (!b || !p) {
        s->host->free(b);
        s->host->free(p);
        return OKRA_EMEM;
    }
    for (okra_int k = 0; k < rows * cols; k++) {
        p[k] = NAN; /* not initialised means just that */
    }
    *b = (body){MAGIC, rows, cols, p};
    *out = b;
    return OKRA_OK;
}

static void destroy(void *e, void *A)
{
    const state *s = e;
    body *b = A;
    b->magic = 0;
    s->host->free(b->p);
    s->host->free(b);
}

static okra_status put(void *e, okra_context *ctx, okra_mat_ block, okra_int i,
                       okra_int j, void *A)
{
    state *s = e;
    (void)ctx;
    MINE(A);
    s->puts++;
    s->put_doubles += block.rows * block.cols;
    for (okra_int r = 0; r < block.rows; r++) {
        for (okra_int c = 0; c < block.cols; c++) {
            *at(A, i + r, j + c) = block.p[r * block.ld + c];
        }
    }
    return OKRA_OK;
}

static okra_status get(void *e, okra_context *ctx, const void *A, okra_int i, okra_int j,
                       okra_mat_ block)
{
    state *s = e;
    (void)ctx;
    MINE(A);
    s->gets++;
    s->get_doubles += block.rows * block.cols;
    if (block.rows * block.cols > s->largest_get) {
        s->largest_get = block.rows * block.cols;
    }
    for (okra_int r = 0; r < block.rows; r++) {
        for (okra_int c = 0; c < block.cols; c++) {
            block.p[r * block.ld + c] = *at(A, i + r, j + c);
        }
    }
    return OKRA_OK;
}

static okra_status gram(void *e, okra_context *ctx, const okra_entries_ *entries,
                        okra_int first, okra_int rows, void *A)
{
    const state *s = e;
    okra_int cols = entries->cols;
    MINE(A);
    double *row = s->host->alloc(cols, sizeof *row);
    okra_status st = row ? OKRA_OK : OKRA_EMEM;
    for (okra_int i = 0; st == OKRA_OK && i < rows; i++) {
        st = entries->tile(ctx, entries->self, first + i, 1, 0, cols, row, cols);
        for (okra_int j = 0; st == OKRA_OK && j < cols; j++) {
            *at(A, i, j) = row[j];
        }
    }
    s->host->free(row);
    return st;
}

static okra_status copy(void *e, okra_context *ctx, bool trans, const void *A, void *B)
{
    body *b = B;
    (void)ctx;
    MINE(A);
    MINE(B);
    for (okra_int i = 0; i < b->rows; i++) {
        for (okra_int j = 0; j < b->cols; j++) {
            *at(B, i, j) = trans ? *at(A, j, i) : *at(A, i, j);
        }
    }
    return OKRA_OK;
}

static okra_status fill(void *e, okra_context *ctx, double value, void *A)
{
    body *b = A;
    (void)ctx;
    MINE(A);
    for (okra_int k = 0; k < b->rows * b->cols; k++) {
        b->p[k] = value;
    }
    return OKRA_OK;
}

static okra_status add_diagonal(void *e, okra_context *ctx, double value, void *A)
{
    body *b = A;
    (void)ctx;
    MINE(A);
    for (okra_int i = 0; i < b->rows && i < b->cols; i++) {
        *at(A, i, i) += value;
    }
    return OKRA_OK;
}

static okra_status diagonal(void *e, okra_context *ctx, const void *A, double *out)
{
    const body *b = A;
    (void)ctx;
    MINE(A);
    for (okra_int i = 0; i < b->rows && i < b->cols; i++) {
        out[i] = *at(A, i, i);
    }
    return OKRA_OK;
}

static okra_status scale(void *e, okra_context *ctx, const double *r, const double *c,
                         void *A)
{
    body *b = A;
    (void)ctx;
    MINE(A);
    for (okra_int i = 0; i < b->rows; i++) {
        for (okra_int j = 0; j < b->cols; j++) {
            *at(A, i, j) *= (r ? r[i] : 1) * (c ? c[j] : 1);
        }
    }
    return OKRA_OK;
}

static okra_status row_sums(void *e, okra_context *ctx, const void *A, double *out)
{
    const body *b = A;
    (void)ctx;
    MINE(A);
    for (okra_int i = 0; i < b->rows; i++) {
        out[i] = 0;
        for (okra_int j = 0; j < b->cols; j++) {
            out[i] += *at(A, i, j);
        }
    }
    return OKRA_OK;
}

static okra_status center(void *e, okra_context *ctx, double *mean, void *A)
{
    const state *s = e;
    body *b = A;
    okra_int n = b->rows;
    double all = 0, *own = s->host->alloc(n, sizeof *own);
    if (!own) {
        return OKRA_EMEM;
    }
    okra_status st = row_sums(e, ctx, A, own);
    for (okra_int i = 0; i < n; i++) {
        own[i] /= (double)n;
        all += own[i] / (double)n;
        if (mean) {
            mean[i] = own[i];
        }
    }
    for (okra_int i = 0; st == OKRA_OK && i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            *at(A, i, j) += all - own[i] - own[j];
        }
    }
    s->host->free(own);
    return st;
}

static okra_status combine(void *e, okra_context *ctx, okra_combine_ how, double s,
                           double t, const double *r, const double *c, const void *B,
                           void *A)
{
    body *b = A;
    (void)ctx;
    MINE(A);
    if (how != OKRA_COMBINE_POWER_) {
        MINE(B);
    }
    for (okra_int i = 0; i < b->rows; i++) {
        for (okra_int j = 0; j < b->cols; j++) {
            double *a = at(A, i, j);
            *a = how == OKRA_COMBINE_SUM_       ? s * *a + t * *at(B, i, j)
                 : how == OKRA_COMBINE_PRODUCT_ ? *a * *at(B, i, j)
                 : how == OKRA_COMBINE_POWER_   ? pow(*a, s)
                                                : *at(B, i, j) / (r[i] * c[j] + s);
        }
    }
    return OKRA_OK;
}

static okra_status dot(void *e, okra_context *ctx, const void *A, const void *B,
                       double *out)
{
    const body *b = A;
    (void)ctx;
    MINE(A);
    MINE(B);
    *out = 0;
    for (okra_int k = 0; k < b->rows * b->cols; k++) {
        *out += b->p[k] * ((const body *)B)->p[k];
    }
    return OKRA_OK;
}

static okra_status best(void *e, okra_context *ctx, const void *A, const double *offset,
                        okra_int k, okra_int *index, double *value)
{
    const body *b = A;
    (void)ctx;
    MINE(A);
    for (okra_int i = 0; i < b->rows; i++) {
        for (okra_int place = 0; place < k; place++) {
            okra_int found = -1;
            double top = 0;
            for (okra_int j = 0; j < b->cols; j++) {
                double v = *at(A, i, j) + (offset ? offset[j] : 0);
                bool used = false;
                for (okra_int u = 0; u < place; u++) {
                    used = used || index[i * k + u] == j;
                }
                if (!used && (found < 0 || v > top)) {
                    found = j;
                    top = v;
                }
            }
            index[i * k + place] = found;
            value[i * k + place] = top;
        }
    }
    return OKRA_OK;
}

static okra_status gemm(void *e, okra_context *ctx, bool ta, bool tb, double alpha,
                        const void *A, const void *B, double beta, void *C)
{
    const body *a = A;
    body *b = C;
    okra_int inner = ta ? a->rows : a->cols;
    (void)ctx;
    MINE(A);
    MINE(B);
    MINE(C);
    for (okra_int i = 0; i < b->rows; i++) {
        for (okra_int j = 0; j < b->cols; j++) {
            double sum = 0, *c = at(C, i, j);
            for (okra_int k = 0; k < inner; k++) {
                sum += (ta ? *at(A, k, i) : *at(A, i, k)) *
                       (tb ? *at(B, j, k) : *at(B, k, j));
            }
            *c = alpha * sum + (beta == 0 ? 0 : beta * *c);
        }
    }
    return OKRA_OK;
}

static okra_status syrk(void *e, okra_context *ctx, bool trans, double alpha,
                        const void *A, double beta, void *C)
{
    return gemm(e, ctx, trans, !trans, alpha, A, A, beta, C);
}

static const okra_engine_class_ engine = {
#ifdef OTHER_INTERFACE
    .interface = OKRA_ENGINE_INTERFACE_ + 1,
#else
    .interface = OKRA_ENGINE_INTERFACE_,
#endif
    .name = "test",
    .help = "plain loops over matrices that nobody else can read",
    .open = open_test,
    .close = close_test,
    .describe = describe,
    .create = create,
    .destroy = destroy,
    .gram = gram,
    .put = put,
    .get = get,
    .copy = copy,
    .fill = fill,
    .add_diagonal = add_diagonal,
    .diagonal = diagonal,
    .scale = scale,
    .center = center,
    .combine = combine,
    .row_sums = row_sums,
    .dot = dot,
    .best = best,
    .gemm = gemm,
    .syrk = syrk,
    .cholesky = test_cholesky,
    .restore = test_restore,
    .trsm = test_trsm,
    .eigh = test_eigh,
};

extern okra_engine_plugin_fn_ okra_engine_plugin OKRA_API;

const okra_engine_class_ *okra_engine_plugin(const okra_engine_host_ *host)
{
    return host->interface == OKRA_ENGINE_INTERFACE_ ? &engine : NULL;
}
