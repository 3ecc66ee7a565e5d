/*
 * gram.c: each rank computes the tiles of a Gram matrix that it has, with its threads, by
 * any kernel. Of a whole symmetric matrix the ranks compute half (mirror.c), of which all
 * have the same number of tiles or nearly so, and carry the other half.
 */
#include "ranks.h"

#include <string.h>

typedef struct job_ {
    const ranks_ *g;
    okra_context *ctx;
    const okra_entries_ *entries;
    okra_int first;
    bool symmetric; /* half of it is computed */
    ranks_half_ half;
    ranks_body_ *A;
    okra_int down, across; /* tiles of this rank */
} job_;

/* Tile q: its rows of A follow each other on this rank, and so do its columns. */
static okra_status tile(const job_ *t, okra_int q)
{
    const ranks_ *g = t->g;
    const ranks_body_ *A = t->A;
    okra_int li = q / t->across * g->block, lj = q % t->across * g->block;
    okra_int i = ranks_global_(g, li, g->col, g->pc),
             j = ranks_global_(g, lj, g->row, g->pr);
    if (t->symmetric && !ranks_has_half_(&t->half, i / g->block, j / g->block)) {
        return OKRA_OK;
    }
    return t->entries->tile(
        t->ctx, t->entries->self, t->first + i, OKRA_MIN_(g->block, A->rows - i), j,
        OKRA_MIN_(g->block, A->cols - j), A->p + li * A->lm + lj, A->lm);
}

static okra_status tiles(void *arg, okra_int begin, okra_int end, int worker)
{
    okra_status st = OKRA_OK;
    const job_ *t = arg;
    (void)worker;
    for (okra_int q = begin; q < end; q++) {
        TRY(tile(t, q));
    }
done:
    return st;
}

/* One entry of every row: do all ranks have the same objects? */
static okra_status sample(const ranks_ *g, okra_context *ctx,
                          const okra_entries_ *entries, okra_int first, okra_int rows,
                          uint64_t *hash)
{
    okra_status st = OKRA_OK;
    for (okra_int i = first; g->ranks > 1 && i < first + rows; i++) {
        double value = 0;
        uint64_t bits = 0;
        TRY(entries->tile(ctx, entries->self, i, 1, (i + 1) % entries->cols, 1, &value,
                          1));
        memcpy(&bits, &value, sizeof bits);
        *hash = (*hash ^ bits) * 0x9e3779b97f4a7c15u;
        *hash ^= *hash >> 31;
    }
done:
    return st;
}

okra_status ranks_gram_(void *e, okra_context *ctx, const okra_entries_ *entries,
                        okra_int first, okra_int rows, void *A)
{
    okra_status st = OKRA_OK;
    ranks_ *g = e;
    ranks_body_ *a = A;
    job_ t = {.g = g,
              .ctx = ctx,
              .entries = entries,
              .first = first,
              .symmetric = entries->symmetric && rows == entries->cols,
              .A = a,
              .down = (a->ln + g->block - 1) / g->block,
              .across = (a->lm + g->block - 1) / g->block};
    uint64_t hash = 0;
    st = t.symmetric ? ranks_deal_(g, rows, &t.half) : OKRA_OK;
    st = st == OKRA_OK ? sample(g, ctx, entries, first, rows, &hash) : st;
    TRY(ranks_agree_(g, st, "a Gram matrix", (uint64_t)rows, hash));
    ranks_busy_(true);
    st = g->host->parallel(ctx, t.down * t.across, 1, "gram", tiles, &t);
    ranks_busy_(false);
    TRY(ranks_agree_(g, st, "gram", (uint64_t)rows, (uint64_t)first));
    if (t.symmetric) {
        TRY(ranks_mirror_(g, &t.half, a));
    }
done:
    g->host->free(t.half.table);
    return st;
}
