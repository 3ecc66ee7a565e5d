/*
 * engine.c: candidates whose inner products with predictions an engine computes and
 * sorts.
 *
 * In chunks of P candidates: A = (l(c_j, y_i)), P x n, made on the engine, S = W A', m x
 * P, and of each row of S the k best by <h, phi(c)> - l(c,c)/2, which is the order of
 * distances. Only those, m x k numbers, come back to the host, into the lists of
 * nearest.c. Where l(c,c) is the same for all it is left out of the order, as there.
 * Where it is not, the order of weak predictions needs more than a double, and runners-up
 * need all distances: S then comes to the host, which chooses among it. P is such that A
 * and S take 2 GiB together, or a quarter of the budget. An engine may know a shorter way
 * to the k best of all (okra_engine_top_), which is tried first.
 */
#include "candidates/set.h"

static const okra_int MOST = (okra_int)1 << 28; /* doubles */

bool okra_scored_wanted_(okra_context *ctx, const okra_nearest_ *nearest)
{
    return !okra_engine_is_host_(ctx) && !nearest->ranges;
}

typedef struct work {
    okra_context *ctx;
    okra_entries_ *entries;
    okra_matrix_ *W, *A, *S;
    okra_int m, n, count; /* predictions, training outputs, objects */
    okra_int chunk;
} work;

static void work_clear(work *w)
{
    okra_matrix_free_(w->W);
    okra_matrix_free_(w->A);
    okra_matrix_free_(w->S);
    okra_entries_free_(w->entries);
}

static okra_status work_open(okra_context *ctx, okra_panels_ *panels, okra_mat_ W,
                             work *out)
{
    FREED_BY(work_clear) work w = {.ctx = ctx, .m = W.rows, .n = W.cols};
    CHK(okra_panels_entries_(ctx, panels, &w.entries));
    w.count = w.entries->rows;
    okra_int room = OKRA_MIN_(MOST, okra_context_memory(ctx) / 4 / 8);
    w.chunk = OKRA_MIN_(w.count, OKRA_MAX_(room / (w.m + w.n), OKRA_PANEL_));
    CHK(okra_matrix_borrow_(ctx, W, &w.W));
    *out = TAKE(w);
    return OKRA_OK;
}

/* S <- the inner products with the objects first..first+columns-1. */
static okra_status work_chunk(work *w, okra_int first, okra_int columns)
{
    CHK(okra_cancelled_(w->ctx));
    if (w->A && w->A->rows != columns) {
        okra_matrix_free_(w->A);
        okra_matrix_free_(w->S);
        w->A = w->S = NULL;
    }
    if (!w->A) {
        CHK(okra_matrix_create_(w->ctx, columns, w->n, "kernel values of candidates",
                                &w->A));
        CHK(okra_matrix_create_(w->ctx, w->m, columns, "inner products with candidates",
                                &w->S));
    }
    CHK(okra_matrix_gram_(w->ctx, w->entries, first, w->A));
    return okra_matrix_gemm_(w->ctx, false, true, 1, w->W, w->A, 0, w->S);
}

okra_status okra_scored_norms_(okra_context *ctx, okra_panels_ *training, okra_mat_ W,
                               double *norm)
{
    FREED_BY(work_clear) work w = {0};
    OWNED double *sums = NULL;
    MAKE(sums, W.rows);
    okra_fill_(W.rows, 0, norm);
    CHK(work_open(ctx, training, W, &w));
    for (okra_int first = 0; first < w.count; first += w.chunk) {
        okra_int columns = OKRA_MIN_(w.chunk, w.count - first);
        FREED_BY(okra_matrix_drop_) okra_matrix_ *part = NULL;
        CHK(work_chunk(&w, first, columns));
        CHK(okra_matrix_borrow_(ctx, okra_mat_part_(W, 0, W.rows, first, columns),
                                &part));
        CHK(okra_matrix_combine_(ctx, OKRA_COMBINE_PRODUCT_, 0, 0, NULL, NULL, part,
                                 w.S));
        CHK(okra_matrix_row_sums_(ctx, w.S, sums));
        okra_axpy_(W.rows, 1, sums, norm);
    }
    return OKRA_OK;
}

/* -inf for those that are left out; true: there are some. */
static bool offsets(const okra_nearest_ *nearest, okra_int first, okra_int columns,
                    double *out)
{
    bool some = false;
    for (okra_int j = 0; nearest->skip && j < columns; j++) {
        out[j] = nearest->skip[first + j] ? -(double)INFINITY : 0;
        some |= nearest->skip[first + j];
    }
    return some;
}

/* The k best of each row, index + first, into the lists; -1: no more. */
static void offer(const okra_block_ *block, const double *norm, double constant,
                  okra_int first, okra_int k, const okra_int *index, const double *value,
                  okra_nearest_ *nearest)
{
    for (okra_int r = 0; r < block->m; r++) {
        for (okra_int t = r * k; t < (r + 1) * k && index[t] >= 0; t++) {
            okra_nearest_offer_(nearest, block->first + r, first + index[t], constant,
                                value[t], norm[r], constant);
        }
    }
}

/* All inner products of a chunk at a time, of which the host chooses. */
static okra_status put_all(work *w, const double *self, const okra_block_ *block,
                           const double *norm, double constant, okra_nearest_ *nearest)
{
    OWNED double *G = NULL;
    CHK(okra_doubles_(w->ctx, w->m, w->chunk, "inner products with candidates", &G));
    for (okra_int first = 0; first < w->count; first += w->chunk) {
        okra_int columns = OKRA_MIN_(w->chunk, w->count - first);
        okra_part_ part = {.m = w->m, .first = first, .count = columns};
        okra_measured_ all = {block, &part, self + first, G, norm, 1, constant, NULL};
        CHK(work_chunk(w, first, columns));
        CHK(okra_matrix_get_(w->ctx, w->S, 0, 0, okra_mat_of_(G, w->m, columns)));
        CHK(okra_nearest_put_(w->ctx, nearest, &all));
    }
    return OKRA_OK;
}

okra_status okra_scored_put_(okra_context *ctx, okra_panels_ *panels,
                             const okra_block_ *block, const double *norm,
                             double constant, okra_nearest_ *nearest)
{
    FREED_BY(work_clear) work w = {0};
    OWNED okra_int *index = NULL;
    okra_int top = nearest->top;
    OWNED double *value = NULL, *offset = NULL;
    bool done = false;
    CHK(work_open(ctx, panels, block->W, &w));
    if (isnan(constant) || nearest->runner_up) {
        return put_all(&w, okra_panels_self_(panels), block, norm, constant, nearest);
    }
    MAKE(index, w.m * top);
    MAKE(value, w.m * top);
    if (top <= w.count) {
        CHK(okra_engine_top_(ctx, w.entries, block->W, nearest->skip, top, index, value,
                             &done));
    }
    if (done) {
        offer(block, norm, constant, 0, top, index, value, nearest);
        return OKRA_OK;
    }
    MAKE(offset, w.chunk);
    for (okra_int first = 0; first < w.count; first += w.chunk) {
        okra_int columns = OKRA_MIN_(w.chunk, w.count - first);
        okra_int k = OKRA_MIN_(top, columns);
        bool some = offsets(nearest, first, columns, offset);
        CHK(work_chunk(&w, first, columns));
        CHK(okra_matrix_best_(ctx, w.S, some ? offset : NULL, k, index, value));
        offer(block, norm, constant, first, k, index, value, nearest);
    }
    return OKRA_OK;
}

/* ---- many processes ---- */

enum { LIST = 4 }; /* numbers of an entry of a list: number, distance, key */

/* A list, how long it is, the runner-up and how many were compared. */
static void pack(const okra_nearest_ *nearest, okra_int i, double *to)
{
    const okra_near_ *list = nearest->list + i * nearest->top;
    for (okra_int k = 0; k < nearest->used[i]; k++) {
        const double entry[LIST] = {(double)list[k].rank.id, list[k].distance,
                                    list[k].rank.key.high, list[k].rank.key.low};
        memcpy(to + k * LIST, entry, sizeof entry);
    }
    to += LIST * nearest->top;
    to[0] = (double)nearest->used[i];
    to[1] = nearest->runner_up ? nearest->runner_up[i] : 0;
    to[2] = nearest->compared ? (double)nearest->compared[i] : 0;
}

static void unpack(const double *from, okra_int i, okra_nearest_ *nearest)
{
    const double *end = from + LIST * nearest->top;
    okra_near_ *list = nearest->list + i * nearest->top;
    nearest->used[i] = (okra_int)end[0];
    for (okra_int k = 0; k < nearest->used[i]; k++, from += LIST) {
        list[k] = (okra_near_){{{from[2], from[3]}, (okra_int)from[0]}, from[1]};
    }
    if (nearest->runner_up) {
        nearest->runner_up[i] = end[1];
    }
    if (nearest->compared) {
        nearest->compared[i] = (okra_int)end[2];
    }
}

okra_status okra_scored_share_(okra_context *ctx, okra_nearest_ *nearest, okra_int first,
                               okra_int count, okra_int own, okra_int made)
{
    OWNED double *lists = NULL; /* 0 but for the own ones: their sum is all of them */
    okra_int width = LIST * nearest->top + 3;
    CHK(okra_doubles_(ctx, count, width, "lists of candidates", &lists));
    okra_mat_fill_(okra_mat_of_(lists, count, width), 0);
    for (okra_int i = own; i < own + made; i++) {
        pack(nearest, i, lists + (i - first) * width);
    }
    CHK(okra_engine_sum_(ctx, count * width, lists));
    for (okra_int i = first; i < first + count; i++) {
        unpack(lists + (i - first) * width, i, nearest);
    }
    return OKRA_OK;
}
