/*
 * scan.c: every candidate of an index measured by a few numbers, the best ones exactly.
 *
 * A query has u = B' L w (low.c), a candidate f; s = <u, f> - l(y,y)/2 in single
 * precision stands for sum_i w_i l(y_i, y) - l(y,y)/2, and the largest s are the nearest.
 * All rows are read
 * once for BATCH queries, in blocks on all threads; each worker keeps lists of its own,
 * which are merged in a fixed order at the end.
 */
#include "index/rank.h"
#include "core/simd.h"

#include <math.h>
#include <stdlib.h>

enum { BATCH = 8, BLOCK = 4096 };

static inline OKRA_INLINE_ void body(const float *restrict rows, okra_int count,
                                     okra_int rank, const float *restrict u,
                                     float *restrict out, bool fused)
{
    (void)fused;
    for (okra_int i = 0; i < count; i++) {
        const float *f = rows + i * rank;
        float sum[16] = {0};
        okra_int k = 0;
        for (; k + 16 <= rank; k += 16) {
            for (int lane = 0; lane < 16; lane++) {
                sum[lane] += f[k + lane] * u[k + lane];
            }
        }
        for (; k < rank; k++) {
            sum[0] += f[k] * u[k];
        }
        for (int half = 8; half > 0; half /= 2) {
            for (int lane = 0; lane < half; lane++) {
                sum[lane] += sum[lane + half];
            }
        }
        out[i] = sum[0];
    }
}

OKRA_VARIANTS_(products, body,
               (const float *rows, okra_int count, okra_int rank, const float *u,
                float *out),
               (rows, count, rank, u, out))

/* The best `room` by score, as a heap whose root is the worst: larger scores are better,
 * of equal ones the lower number. */
typedef struct scored {
    float score;
    okra_int index;
} scored;

typedef struct heap {
    scored *item;
    okra_int count, room;
} heap;

static bool worse(scored a, scored b)
{
    return a.score < b.score || (a.score == b.score && a.index > b.index);
}

static void sink(heap *h, okra_int k)
{
    for (;;) {
        okra_int child = 2 * k + 1;
        if (child >= h->count) {
            return;
        }
        if (child + 1 < h->count && worse(h->item[child + 1], h->item[child])) {
            child++;
        }
        if (!worse(h->item[child], h->item[k])) {
            return;
        }
        scored t = h->item[k];
        h->item[k] = h->item[child];
        h->item[child] = t;
        k = child;
    }
}

static void offer(heap *h, scored one)
{
    if (h->count < h->room) {
        okra_int k = h->count++;
        while (k > 0 && worse(one, h->item[(k - 1) / 2])) {
            h->item[k] = h->item[(k - 1) / 2];
            k = (k - 1) / 2;
        }
        h->item[k] = one;
    } else if (worse(h->item[0], one)) {
        h->item[0] = one;
        sink(h, 0);
    }
}

typedef struct scan {
    const okra_ranking_ *r;
    const float *u; /* m x width, 1 behind the coordinates */
    okra_int width;
    okra_int m, blocks;
    const okra_int *block; /* shards + 1: number of the first block of each */
    heap *heaps;           /* workers x m */
    float *scores;         /* workers x BLOCK */
} scan;

static okra_status scan_blocks(void *arg, okra_int begin, okra_int end, int worker)
{
    const scan *s = arg;
    const okra_index *x = s->r->index;
    float *score = s->scores + worker * BLOCK;
    int shard = 0;
    for (okra_int b = begin; b < end; b++) {
        while (s->block[shard + 1] <= b) {
            shard++;
        }
        const okra_shard_ *h = &x->shard[shard];
        okra_int first = (b - s->block[shard]) * BLOCK;
        okra_int count = OKRA_MIN_(BLOCK, (okra_int)h->head.rows - first);
        for (okra_int q = 0; q < s->m; q++) {
            heap *list = &s->heaps[worker * s->m + q];
            products(h->low + first * s->width, count, s->width, s->u + q * s->width,
                     score);
            for (okra_int i = 0; i < count; i++) {
                /* NaN of a broken file is never better. */
                if (list->count < list->room ? score[i] == score[i]
                                             : score[i] >= list->item[0].score) {
                    offer(list, (scored){score[i], x->first[shard] + first + i});
                }
            }
        }
    }
    return OKRA_OK;
}

static int by_index(const void *a, const void *b)
{
    const scored *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

/* The list of one query, exactly. */
static okra_status measure(const okra_ranking_ *r, okra_int query, heap *list,
                           double *error)
{
    const okra_index *x = r->index;
    OWNED okra_int *rows = NULL;
    okra_int at = 0;
    OWNED double *G = NULL, *self = NULL;
    MAKE(rows, list->count);
    MAKE(G, list->count);
    MAKE(self, list->count);
    qsort(list->item, (size_t)list->count, sizeof *list->item, by_index);
    for (int s = 0; s < x->shards; s++) {
        okra_int count = 0;
        while (at + count < list->count &&
               list->item[at + count].index < x->first[s + 1]) {
            rows[count] = list->item[at + count].index - x->first[s];
            count++;
        }
        if (count == 0) {
            continue;
        }
        CHK(okra_ranking_measure_(r, &x->shard[s], rows, 0, count,
                                  okra_mat_of_(r->W + query * r->n, 1, r->n), G, self));
        for (okra_int k = 0; k < count; k++) {
            *error = fmax(
                *error, fabs(2 * G[k] - self[k] - 2 * (double)list->item[at + k].score));
            okra_ranking_offer_(r, query, list->item[at + k].index, self[k], G[k]);
        }
        at += count;
    }
    return OKRA_OK;
}

/* u = B' L w of queries first..first+m-1. */
static okra_status coordinates(const okra_ranking_ *r, const double *LB, okra_int first,
                               okra_int m, float *u)
{
    okra_int rank = r->index->rank, width = okra_low_width_(rank);
    OWNED double *product = NULL;
    MAKE(product, m * rank);
    CHK(okra_gemm_(r->ctx, false, false, 1, okra_mat_of_(r->W + first * r->n, m, r->n),
                   okra_mat_of_((double *)(uintptr_t)LB, r->n, rank), 0,
                   okra_mat_of_(product, m, rank)));
    for (okra_int k = 0; k < m; k++) {
        for (okra_int c = 0; c < rank; c++) {
            u[k * width + c] = (float)product[k * rank + c];
        }
        u[k * width + rank] = 1;
    }
    return OKRA_OK;
}

static okra_status one_batch(const okra_ranking_ *r, scan *s, const double *LB,
                             okra_int first, okra_int list, double *error)
{
    okra_status st = OKRA_OK;
    int workers = okra_workers_(r->ctx);
    float *u = NULL;
    scored *items = NULL;
    heap all = {.item = NULL};
    okra_int lists = (okra_int)workers * s->m;
    ALLOC(u, s->m * s->width);
    ALLOC(s->heaps, lists);
    ALLOC(items, lists * list);
    ALLOC(all.item, list);
    for (okra_int k = 0; k < lists; k++) {
        s->heaps[k] = (heap){items + k * list, 0, list};
    }
    TRY(coordinates(r, LB, first, s->m, u));
    s->u = u;
    TRY(okra_parallel_(r->ctx, s->blocks, 16, "candidates", scan_blocks, s));
    for (okra_int q = 0; q < s->m; q++) {
        all.count = 0;
        all.room = list;
        for (int w = 0; w < workers; w++) {
            const heap *h = &s->heaps[w * s->m + q];
            for (okra_int k = 0; k < h->count; k++) {
                offer(&all, h->item[k]);
            }
        }
        r->compared[first + q] = r->index->count;
        TRY(measure(r, first + q, &all, error));
    }
done:
    FREE(u, s->heaps);
    s->heaps = NULL;
    FREE(items, all.item);
    return st;
}

/* L B, the coordinates of the training outputs. */
static okra_status outputs_of(const okra_ranking_ *r, double **out)
{
    OWNED double *L = NULL, *LB = NULL;
    okra_int n = r->n, rank = r->index->rank;
    CHK(okra_doubles_(r->ctx, n, n, "the output Gram matrix", &L));
    CHK(okra_doubles_(r->ctx, n, rank, "coordinates of outputs", &LB));
    CHK(okra_bound_gram_(r->ctx, r->bound, okra_mat_of_(L, n, n)));
    CHK(okra_gemm_(r->ctx, false, false, 1, okra_mat_of_(L, n, n),
                   okra_mat_of_(r->index->basis, n, rank), 0, okra_mat_of_(LB, n, rank)));
    *out = TAKE(LB);
    return OKRA_OK;
}

okra_status okra_ranking_scan_(const okra_ranking_ *r, okra_int list, double *error)
{
    const okra_index *x = r->index;
    OWNED okra_int *block = NULL;
    OWNED double *LB = NULL;
    scan s = {.r = r, .width = okra_low_width_(x->rank)};
    OWNS(&s.scores);
    list = OKRA_MIN_(list, x->count);
    MAKE(block, x->shards + 1);
    block[0] = 0;
    for (int k = 0; k < x->shards; k++) {
        block[k + 1] = block[k] + ((okra_int)x->shard[k].head.rows + BLOCK - 1) / BLOCK;
    }
    s.block = block;
    s.blocks = block[x->shards];
    MAKE(s.scores, (okra_int)okra_workers_(r->ctx) * BLOCK);
    CHK(outputs_of(r, &LB));
    *error = 0;
    for (okra_int first = 0; first < r->tests; first += BATCH) {
        s.m = OKRA_MIN_(BATCH, r->tests - first);
        CHK(one_batch(r, &s, LB, first, list, error));
    }
    return OKRA_OK;
}
