/*
 * low_rank.c: candidates of an index as a few numbers, and all of them measured by these.
 *
 * L = V diag(lambda) V' is the output kernel of the n training outputs. A candidate y has
 * the features f(y) = B' l(y), l(y)_i = l(y_i, y), B = V_r diag(1/sqrt(lambda_r)): its
 * coordinates along the r leading principal axes (not centred) of the training outputs.
 * A prediction sum_i w_i phi(y_i) has the coordinates u = B' L w, and
 *     sum_i w_i l(y_i, y)  ~  <u, f(y)>,
 * exactly but for the part of the prediction outside those axes. Behind f(y) stands
 * -l(y,y)/2, so that s = <u, f(y)> - l(y,y)/2, in single precision, orders candidates by
 * their distance: the largest are the nearest. All rows are read once for BATCH
 * predictions, in blocks on all threads; each worker keeps lists of its own, which are
 * merged at the end. The best of each are then measured exactly.
 */
#include "candidates/set.h"

#include "core/simd.h"

enum { BATCH = 8, BLOCK = 4096, SHORTLIST = 1000 };

/* ---- made with the index ---- */

uint64_t okra_index_outputs_(const okra_output_ *output)
{
    const char *text = output->kernel->text;
    uint64_t h = okra_mix_(OKRA_MIX_START_, text, strlen(text));
    return okra_data_mix_(h, output->y);
}

okra_status okra_index_basis_(okra_context *ctx, const okra_output_ *output,
                              okra_int *rank, double **out)
{
    const okra_trained_kernel_ *bound = output->ky;
    OWNED double *L = NULL, *w = NULL, *B = NULL;
    okra_int kept = 0;
    REFUSE_IF(!bound, OKRA_EUNSUPPORTED,
              "the model's output kernel is of low rank already");
    okra_int n = bound->train.n;
    CHK(okra_doubles_(ctx, n, n, "the output Gram matrix", &L));
    MAKE(w, n);
    CHK(okra_trained_kernel_gram_(ctx, bound, okra_mat_of_(L, n, n)));
    CHK(okra_eigh_(ctx, okra_mat_of_(L, n, n), w));
    while (kept < OKRA_MIN_(*rank, n) && w[n - 1 - kept] > 1e-10 * w[n - 1]) {
        kept++;
    }
    REFUSE_IF(kept == 0, OKRA_ENUMERIC,
              "the output Gram matrix has no eigenvalue above 0");
    MAKE(B, n * kept);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int k = 0; k < kept; k++) {
            /* row n - 1 - k holds the eigenvector */
            B[i * kept + k] = L[(n - 1 - k) * n + i] / sqrt(w[n - 1 - k]);
        }
    }
    *rank = kept;
    *out = TAKE(B);
    return OKRA_OK;
}

okra_status okra_index_low_(okra_context *ctx, const okra_trained_kernel_ *bound,
                            const okra_data *candidates, const double *B, okra_int rank,
                            float *out)
{
    enum { PANEL = 2048 };
    FREED_BY(okra_test_side_drop_) okra_test_side_ *other = NULL;
    okra_int n = bound->train.n;
    OWNED double *L = NULL, *F = NULL, *self = NULL;
    CHK(okra_test_side_create_(ctx, bound, candidates, &other));
    MAKE(self, candidates->n);
    CHK(okra_test_side_diagonal_(ctx, bound, other, self));
    CHK(okra_doubles_(ctx, PANEL, n, "kernel values of candidates", &L));
    MAKE(F, PANEL * rank);
    okra_mat_ basis = okra_mat_of_((double *)(uintptr_t)B, n, rank);
    for (okra_int first = 0; first < candidates->n; first += PANEL) {
        okra_int rows = OKRA_MIN_(PANEL, candidates->n - first);
        CHK(okra_test_side_cross_(ctx, bound, other, first, okra_mat_of_(L, rows, n)));
        CHK(okra_gemm_(ctx, false, false, 1, okra_mat_of_(L, rows, n), basis, 0,
                       okra_mat_of_(F, rows, rank)));
        for (okra_int k = 0; k < rows; k++) {
            float *row = out + (first + k) * okra_low_width_(rank);
            for (okra_int c = 0; c < rank; c++) {
                row[c] = (float)F[k * rank + c];
            }
            row[rank] = (float)(-self[first + k] / 2);
        }
    }
    return OKRA_OK;
}

/* ---- the scan ---- */

static inline OKRA_INLINE_ void body(const float *restrict rows, okra_int count,
                                     okra_int rank, const float *restrict u,
                                     float *restrict out, bool fused)
{
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

typedef struct scan {
    const okra_index *x;
    const float *u; /* m x width, 1 behind the coordinates */
    okra_int width, list, m, blocks;
    okra_int *block;   /* shards + 1: number of the first block of each */
    okra_rank_ *items; /* workers x m x list: key -s, id: place among all candidates */
    okra_int *used;    /* workers x m */
    float *scores;     /* workers x BLOCK */
} scan;

static okra_status scan_blocks(void *arg, okra_int begin, okra_int end, int worker)
{
    const scan *s = arg;
    float *score = s->scores + worker * BLOCK;
    int shard = 0;
    for (okra_int b = begin; b < end; b++) {
        while (s->block[shard + 1] <= b) {
            shard++;
        }
        const okra_shard_ *h = &s->x->shard[shard];
        okra_int first = (b - s->block[shard]) * BLOCK;
        okra_int count = OKRA_MIN_(BLOCK, (okra_int)h->head.rows - first);
        for (okra_int q = 0; q < s->m; q++) {
            okra_int l = worker * s->m + q;
            okra_rank_ *list = s->items + l * s->list;
            products(h->low + first * s->width, count, s->width, s->u + q * s->width,
                     score);
            for (okra_int i = 0; i < count; i++) {
                if (s->used[l] < s->list ||
                    -(double)score[i] <= list[s->list - 1].key.high) {
                    okra_rank_ one = {{-(double)score[i], 0},
                                      s->x->first[shard] + first + i};
                    (void)okra_best_put_(list, sizeof *list, &s->used[l], s->list, one);
                }
            }
        }
    }
    return OKRA_OK;
}

OKRA_ORDER_(by_place, okra_rank_, OKRA_UP_(id))

/* The list of row r of the block, exactly. */
static okra_status measure(okra_context *ctx, okra_set_ *set, const scan *s,
                           const okra_block_ *block, okra_int r, const double *norm,
                           okra_rank_ *list, okra_int count, okra_nearest_ *nearest,
                           double *error)
{
    okra_mat_ w = okra_mat_part_(block->W, r, 1, 0, block->W.cols);
    double G[OKRA_PANEL_];
    okra_int test = block->first + r, place[OKRA_PANEL_];
    qsort(list, (size_t)count, sizeof *list, by_place);
    for (okra_int at = 0, some = 0; at < count; at += some) {
        okra_int shard =
            okra_run_of_(s->x->first, sizeof *s->x->first, s->x->shards, list[at].id);
        for (some = 0; some < OKRA_PANEL_ && at + some < count &&
                       list[at + some].id < s->x->first[shard + 1];
             some++) {
            place[some] = list[at + some].id - s->x->first[shard];
        }
        okra_part_ part = {.m = 1};
        CHK(okra_set_rows_(ctx, set, (int)shard, place, some, &part));
        CHK(okra_gemm_(ctx, false, false, 1, w, part.C, 0, okra_mat_of_(G, 1, some)));
        for (okra_int k = 0; k < some; k++) {
            double away = 2 * G[k] - part.self[k] + 2 * list[at + k].key.high;
            *error = fmax(*error, fabs(away));
            if (!part.featured || part.self[k] > 0) {
                okra_nearest_offer_(nearest, test, part.number[k], part.self[k], G[k],
                                    norm[r], (double)NAN);
            }
        }
    }
    return OKRA_OK;
}

/* u = B' L w of rows first..first+m-1 of W. */
static okra_status coordinates(okra_context *ctx, okra_mat_ W, okra_mat_ LB, float *u)
{
    okra_int rank = LB.cols, width = okra_low_width_(rank), m = W.rows;
    OWNED double *product = NULL;
    MAKE(product, m * rank);
    CHK(okra_gemm_(ctx, false, false, 1, W, LB, 0, okra_mat_of_(product, m, rank)));
    for (okra_int k = 0; k < m; k++) {
        for (okra_int c = 0; c < rank; c++) {
            u[k * width + c] = (float)product[k * rank + c];
        }
        u[k * width + rank] = 1;
    }
    return OKRA_OK;
}

static okra_status one_batch(okra_context *ctx, okra_set_ *set, scan *s, okra_mat_ LB,
                             const okra_block_ *block, okra_int first, const double *norm,
                             okra_nearest_ *nearest, double *error)
{
    int workers = okra_workers_(ctx);
    OWNED float *u = NULL;
    OWNED okra_rank_ *items = NULL, *all = NULL;
    OWNED okra_int *used = NULL;
    okra_int lists = (okra_int)workers * s->m;
    MAKE(u, s->m * s->width);
    MAKE(items, lists * s->list);
    ZMAKE(used, lists);
    MAKE(all, s->list);
    CHK(coordinates(ctx, okra_mat_part_(block->W, first, s->m, 0, block->W.cols), LB, u));
    s->u = u;
    s->items = items;
    s->used = used;
    CHK(okra_parallel_(ctx, s->blocks, 16, "candidates", scan_blocks, s));
    for (okra_int q = 0; q < s->m; q++) {
        okra_int count = 0;
        for (okra_int l = q; l < lists; l += s->m) {
            for (okra_int k = 0; k < used[l]; k++) {
                (void)okra_best_put_(all, sizeof *all, &count, s->list,
                                     items[l * s->list + k]);
            }
        }
        nearest->compared[block->first + first + q] = s->x->count;
        CHK(measure(ctx, set, s, block, first + q, norm, all, count, nearest, error));
    }
    return OKRA_OK;
}

/* L B, the coordinates of the training outputs. */
static okra_status outputs_of(okra_context *ctx, const okra_index *x,
                              const okra_trained_kernel_ *bound, double **out)
{
    OWNED double *L = NULL, *LB = NULL;
    okra_int n = x->outputs, rank = x->rank;
    CHK(okra_doubles_(ctx, n, n, "the output Gram matrix", &L));
    CHK(okra_doubles_(ctx, n, rank, "coordinates of outputs", &LB));
    CHK(okra_trained_kernel_gram_(ctx, bound, okra_mat_of_(L, n, n)));
    CHK(okra_gemm_(ctx, false, false, 1, okra_mat_of_(L, n, n),
                   okra_mat_of_(x->basis, n, rank), 0, okra_mat_of_(LB, n, rank)));
    *out = TAKE(LB);
    return OKRA_OK;
}

okra_status okra_set_scan_(okra_context *ctx, okra_set_ *set, const okra_block_ *block,
                           const double *norm, okra_nearest_ *nearest, double *error)
{
    const okra_index *x = set->index;
    OWNED okra_int *block_of = NULL;
    OWNED double *LB = NULL;
    OWNED float *scores = NULL;
    okra_int list =
        OKRA_MAX_(set->shortlist > 0 ? set->shortlist : SHORTLIST, nearest->top);
    scan s = {
        .x = x, .width = okra_low_width_(x->rank), .list = OKRA_MIN_(list, x->count)};
    MAKE(block_of, x->shards + 1);
    block_of[0] = 0;
    for (int k = 0; k < x->shards; k++) {
        okra_int rows = (okra_int)x->shard[k].head.rows;
        block_of[k + 1] = block_of[k] + (rows + BLOCK - 1) / BLOCK;
    }
    MAKE(scores, (okra_int)okra_workers_(ctx) * BLOCK);
    s.block = block_of;
    s.blocks = block_of[x->shards];
    s.scores = scores;
    CHK(outputs_of(ctx, x, set->bound, &LB));
    for (okra_int first = 0; first < block->m; first += BATCH) {
        s.m = OKRA_MIN_(BATCH, block->m - first);
        CHK(one_batch(ctx, set, &s, okra_mat_of_(LB, x->outputs, x->rank), block, first,
                      norm, nearest, error));
    }
    return OKRA_OK;
}
