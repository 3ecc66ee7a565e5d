/*
 * single.c: factors in single precision (linalg/single.c) of Gram matrices that are made
 * tile by tile, and products with these: on the host, and as wrappers of the verbs.
 *
 * Y = K X in double precision reads each tile of one triangle of K once: round r has the
 * pairs of blocks (i, j), i + j = r modulo their number, in which every block comes once,
 * so that threads write apart and sums have one order.
 */
#include "engine/open.h"

enum { SIDE = OKRA_SINGLE_ };

typedef struct tiles {
    okra_context *ctx;
    const okra_entries_ *entries;
    okra_int n, blocks, round;
    double lambda;
    float *L;
    okra_mat_ X, Y;
    double *scratch; /* SIDE^2 for each worker */
} tiles;

static okra_int rows_of(const tiles *t, okra_int block)
{
    return OKRA_MIN_(SIDE, t->n - block * SIDE);
}

static okra_status make(const tiles *t, okra_int i, okra_int j, double *K)
{
    return t->entries->tile(t->ctx, t->entries->self, i * SIDE, rows_of(t, i), j * SIDE,
                            rows_of(t, j), K, SIDE);
}

/* Blocks (i, j), j <= i, of A = K + lambda I, the identity beyond n. */
static okra_status fill(void *arg, okra_int begin, okra_int end, int worker)
{
    const tiles *t = arg;
    double *K = t->scratch + (okra_int)worker * SIDE * SIDE;
    okra_int ld, i = 0;
    for (okra_int at = begin; at < end; at++) {
        while ((i + 1) * (i + 2) / 2 <= at) {
            i++;
        }
        okra_int j = at - i * (i + 1) / 2, rows = rows_of(t, i), cols = rows_of(t, j);
        float *A = okra_single_block_(t->L, i, j, &ld);
        CHK(make(t, i, j, K));
        for (okra_int r = 0; r < SIDE; r++) {
            for (okra_int c = 0; c < SIDE; c++) {
                bool in = r < rows && c < cols, own = i == j && r == c;
                A[r * ld + c] = (float)((in    ? K[r * SIDE + c]
                                         : own ? 1
                                               : 0) +
                                        (in && own ? t->lambda : 0));
            }
        }
    }
    return OKRA_OK;
}

static okra_status open_tiles(okra_context *ctx, const okra_entries_ *entries, tiles *t)
{
    *t = (tiles){.ctx = ctx,
                 .entries = entries,
                 .n = entries->rows,
                 .blocks = (entries->rows + SIDE - 1) / SIDE};
    MAKE(t->scratch, (okra_int)okra_workers_(ctx) * SIDE * SIDE);
    return OKRA_OK;
}

static void close_tiles(tiles *t)
{
    FREE(t->L, t->scratch);
}

okra_status okra_single_host_(void *e, okra_context *ctx, const okra_entries_ *entries,
                              double lambda, bool rough, void **L, bool *done)
{
    FREED_BY(close_tiles) tiles t = {0};
    double *room = NULL;
    (void)e, (void)rough;
    CHK(open_tiles(ctx, entries, &t));
    CHK(okra_doubles_(ctx, okra_single_count_(t.n) / 2, 1,
                      "the factor in single precision", &room));
    t.L = (float *)room;
    t.lambda = lambda;
    CHK(okra_parallel_(ctx, t.blocks * (t.blocks + 1) / 2, 1, "gram", fill, &t));
    CHK(okra_single_factor_(ctx, t.n, t.L, done));
    if (*done) {
        *L = TAKE(t.L);
    }
    return OKRA_OK;
}

void okra_single_host_destroy_(void *e, void *L)
{
    (void)e;
    okra_free_(L);
}

okra_status okra_single_host_solve_(void *e, okra_context *ctx, const void *L,
                                    okra_mat_ B)
{
    (void)e;
    return okra_single_solve_(ctx, B.rows, L, B);
}

/* Pair `at` of the round: (i, r - i), the lesser first. */
static okra_status pair(void *arg, okra_int begin, okra_int end, int worker)
{
    const tiles *t = arg;
    double *scratch = t->scratch + (okra_int)worker * SIDE * SIDE;
    okra_int c = t->X.cols;
    for (okra_int j = begin; j < end; j++) {
        okra_int i = (t->round + t->blocks - j) % t->blocks;
        if (i < j) {
            continue;
        }
        okra_int rows = rows_of(t, i), cols = rows_of(t, j);
        okra_mat_ K = {scratch, rows, cols, SIDE};
        okra_mat_ Xi = okra_mat_part_(t->X, i * SIDE, rows, 0, c);
        okra_mat_ Xj = okra_mat_part_(t->X, j * SIDE, cols, 0, c);
        CHK(make(t, i, j, scratch));
        CHK(okra_gemm_(t->ctx, false, false, 1, K, Xj, 1,
                       okra_mat_part_(t->Y, i * SIDE, rows, 0, c)));
        CHK(i == j ? OKRA_OK
                   : okra_gemm_(t->ctx, true, false, 1, K, Xi, 1,
                                okra_mat_part_(t->Y, j * SIDE, cols, 0, c)));
    }
    return OKRA_OK;
}

okra_status okra_product_host_(void *e, okra_context *ctx, const okra_entries_ *entries,
                               okra_mat_ X, okra_mat_ Y)
{
    FREED_BY(close_tiles) tiles t = {0};
    (void)e;
    CHK(open_tiles(ctx, entries, &t));
    t.X = X;
    t.Y = Y;
    okra_mat_fill_(Y, 0);
    for (t.round = 0; t.round < t.blocks; t.round++) {
        CHK(okra_parallel_(ctx, t.blocks, 1, NULL, pair, &t));
    }
    return OKRA_OK;
}

/* ---- the verbs ---- */

okra_status okra_single_create_(okra_context *ctx, const okra_entries_ *entries,
                                double lambda, bool rough, okra_single_ *out, bool *done)
{
    const okra_engine_ *engine = okra_engine_of_(ctx);
    okra_single_ L = {engine, NULL, entries->rows};
    *done = false;
    if (engine->verbs->single && L.n > 0) {
        CHK(engine->verbs->single(engine->state, ctx, entries, lambda, rough, &L.body,
                                  done));
    }
    *out = L;
    return OKRA_OK;
}

bool okra_single_there_(const okra_context *ctx, int *bits)
{
    *bits = okra_engine_is_host_(ctx) ? 24 : 11; /* 11: of TF32 */
    return okra_engine_of_(ctx)->verbs->single != NULL;
}

void okra_single_clear_(okra_single_ *L)
{
    if (L->body) {
        L->engine->verbs->single_destroy(L->engine->state, L->body);
    }
    L->body = NULL;
}

okra_status okra_single_apply_(okra_context *ctx, const okra_single_ *L, okra_mat_ B)
{
    return L->engine->verbs->single_solve(L->engine->state, ctx, L->body, B);
}

okra_status okra_engine_product_(okra_context *ctx, const okra_entries_ *entries,
                                 okra_mat_ X, okra_mat_ Y)
{
    const okra_engine_ *engine = okra_engine_of_(ctx);
    return engine->verbs->product(engine->state, ctx, entries, X, Y);
}
