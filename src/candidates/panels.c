/*
 * panels.c: the output feature space as decoders and losses see it.
 *
 * Explicit (linear kernel, features Y, n x d): a prediction is h = Y'w.
 * Implicit: a prediction is its weights w; all that is needed of the space are panels of
 * the cross matrix l(y_i, c_j), n x OKRA_PANEL_ at a time, and
 *     w'Lw = sum_p sum_{j in p} (w'L)_j w_j,
 * panel after panel over the training outputs. Low rank: a prediction is its point h in
 * the m features psi(c) = F^-1 u(c) of a map, panels hold u(c_j), m x OKRA_PANEL_, and
 *     |phi(c) - h|^2 = l(c,c) - 2 <u(c), F^-T h> + |h|^2,
 * exact for the basis of a map, since h lies in its span. The triangular solve is one a
 * prediction, m^2, so that a candidate takes m kernel values and m products; it loses
 * eps |h| |F^-1| at most, |F^-1| <= (10 m eps mean(diag))^-1/2
 * (kernel/lowrank/lowrank.c). Products run over the same panels whether these are kept or
 * computed anew, so the budget does not change the bits.
 */
#include "candidates/outputs.h"
#include "core/simd.h"

okra_status okra_block_explicit_(okra_context *ctx, const okra_output_ *output,
                                 const okra_block_ *block, okra_mat_ H)
{
    if (block->H.p) {
        return okra_mat_copy_(block->H, H);
    }
    bool features = output->features != NULL;
    okra_mat_ Y =
        okra_mat_view_(features ? output->features : output->vectors, block->W.cols,
                       output->d, features ? output->features_ld : output->vectors_ld);
    return okra_gemm_(ctx, false, false, 1, block->W, Y, 0, H);
}

typedef _Atomic(double *) slot;

typedef struct thing {
    struct thing *next;
    void *self;
    void (*free)(void *);
    char name[];
} thing;

/* Slots are filled once, by whoever comes first, and stay; so do things. */
struct okra_cache_ {
    okra_int panels;
    _Atomic(thing *) things;
    slot self;   /* l(y,y) */
    slot kept[]; /* one per panel; NULL: not kept */
};

okra_int okra_panels_of_(okra_int columns)
{
    return (columns + OKRA_PANEL_ - 1) / OKRA_PANEL_;
}

okra_status okra_cache_create_(okra_int panels, okra_cache_ **out)
{
    okra_cache_ *cache = okra_zalloc_(1, sizeof *cache + (size_t)panels * sizeof(slot));
    GOT(cache);
    cache->panels = panels;
    *out = cache;
    return OKRA_OK;
}

void okra_cache_free_(void *self)
{
    okra_cache_ *cache = self;
    if (cache) {
        for (okra_int i = 0; i < cache->panels; i++) {
            okra_free_(atomic_load(&cache->kept[i]));
        }
        thing *t = atomic_load(&cache->things);
        while (t) {
            thing *next = t->next;
            t->free(t->self);
            okra_free_(t);
            t = next;
        }
        FREE(atomic_load(&cache->self), cache);
    }
}

okra_cache_ *okra_cache_of_(const okra_output_ *output)
{
    okra_cache_ *made = NULL, *there = output->cache ? atomic_load(output->cache) : NULL;
    if (!output->cache || there ||
        okra_cache_create_(okra_panels_of_(okra_data_count(output->y)), &made)) {
        return there;
    }
    if (!atomic_compare_exchange_strong(output->cache, &there, made)) {
        okra_cache_free_(made); /* another prediction was faster */
        return there;
    }
    return made;
}

double *okra_cache_panel_(const okra_cache_ *cache, okra_int p)
{
    return atomic_load(&cache->kept[p]);
}

double *okra_cache_put_(okra_cache_ *cache, okra_int p, double **fresh)
{
    double *there = NULL;
    if (atomic_compare_exchange_strong(&cache->kept[p], &there, *fresh)) {
        there = *fresh;
        *fresh = NULL;
    }
    return there;
}

void *okra_cache_find_(const okra_cache_ *cache, const char *name)
{
    const thing *t = cache ? atomic_load(&cache->things) : NULL;
    while (t && strcmp(t->name, name) != 0) {
        t = t->next;
    }
    return t ? t->self : NULL;
}

bool okra_cache_leave_(okra_cache_ *cache, const char *name, void *self,
                       void (*free)(void *))
{
    size_t length = strlen(name) + 1;
    thing *t = cache ? okra_alloc_(1, sizeof *t + length) : NULL;
    if (!t) {
        return false;
    }
    t->self = self;
    t->free = free;
    memcpy(t->name, name, length);
    t->next = atomic_load(&cache->things);
    while (!atomic_compare_exchange_weak(&cache->things, &t->next, t)) {
    }
    return true;
}

bool okra_stays_(const okra_context *ctx, double bytes)
{
    double half = (double)okra_context_memory(ctx) / 2;
    return okra_budget_ask_(ctx, bytes + half, "what stays") == OKRA_OK;
}

struct okra_panels_ {
    const okra_trained_kernel_ *ky;
    okra_test_side_ *other; /* made when it is first needed */
    const okra_map_ *map;   /* low rank: columns are features, and there is no `other` */
    const okra_data *data;
    okra_int n, columns; /* training outputs or features, objects of the collection */
    const double *self;  /* l(c,c)                                      */
    double *own_self;    /* it, where the cache has it not              */
    okra_cache_ *cache;  /* of the training outputs, or `own`           */
    okra_cache_ *own;    /* one for this collection                     */
    bool few;            /* what is computed for the model's cache goes there */
    double *scratch;     /* a panel that is not kept                    */
};

/* The objects as the kernel sees them. */
static okra_status open_other(okra_context *ctx, okra_panels_ *p)
{
    return p->other || p->map ? OKRA_OK
                              : okra_test_side_create_(ctx, p->ky, p->data, &p->other);
}

static okra_status find_self(okra_context *ctx, okra_panels_ *p)
{
    double *none = NULL;
    p->self = atomic_load(&p->cache->self);
    if (p->self) {
        return OKRA_OK;
    }
    MAKE(p->own_self, p->columns);
    p->self = p->own_self;
    if (p->map) {
        CHK(okra_map_self_(ctx, p->map, p->data, p->own_self));
    } else {
        CHK(open_other(ctx, p));
        CHK(okra_test_side_diagonal_(ctx, p->ky, p->other, p->own_self));
    }
    if (atomic_compare_exchange_strong(&p->cache->self, &none, p->own_self)) {
        p->own_self = NULL;
    }
    return OKRA_OK;
}

okra_status okra_panels_create_(okra_context *ctx, const okra_output_ *output,
                                const okra_data *data, okra_panels_ **out)
{
    FREED_BY(okra_panels_drop_) okra_panels_ *p = NULL;
    bool training = !data || data == output->y;
    data = data ? data : output->y;
    ZMAKE(p, 1);
    p->ky = output->ky;
    p->map = output->map;
    p->data = data;
    p->n = p->map ? p->map->rank : okra_data_count(output->y);
    p->columns = okra_data_count(data);
    p->cache = training ? okra_cache_of_(output) : NULL;
    p->few = p->cache && output->few;
    if (!p->cache) {
        CHK(okra_cache_create_(okra_panels_of_(p->columns), &p->own));
        p->cache = p->own;
    }
    CHK(find_self(ctx, p));
    *out = TAKE(p);
    return OKRA_OK;
}

void okra_panels_free_(okra_panels_ *panels)
{
    if (panels) {
        okra_cache_free_(panels->own);
        FREE(panels->own_self, panels->scratch);
        okra_test_side_free_(panels->other);
        okra_free_(panels);
    }
}

okra_int okra_panels_count_(const okra_panels_ *panels)
{
    return okra_panels_of_(panels->columns);
}

const double *okra_panels_self_(const okra_panels_ *panels)
{
    return panels->self;
}

okra_status okra_panels_entries_(okra_context *ctx, okra_panels_ *panels,
                                 okra_entries_ **out)
{
    okra_status st = open_other(ctx, panels);
    return st == OKRA_OK ? okra_entries_create_(ctx, panels->ky, panels->other, out) : st;
}

/* out <- (u(y_c))_c, rank x columns. */
static okra_status mapped(okra_context *ctx, const okra_panels_ *panels, okra_int first,
                          okra_mat_ out)
{
    const okra_map_ *map = panels->map;
    OWNED double *V = NULL, *S = NULL;
    CHK(okra_doubles_(ctx, out.cols, map->columns, "output features", &V));
    CHK(okra_doubles_(ctx, out.cols, map->rank, "output features", &S));
    okra_mat_ Vm = okra_mat_of_(V, out.cols, map->columns);
    okra_mat_ Sm = okra_mat_of_(S, out.cols, map->rank);
    CHK(okra_map_values_(ctx, map, panels->data, first, Vm));
    CHK(okra_map_sketched_(ctx, map, Vm, Sm));
    return okra_mat_transpose_(Sm, out);
}

okra_status okra_panels_get_(okra_context *ctx, okra_panels_ *panels, okra_int p,
                             bool again, okra_mat_ *out)
{
    OWNED double *fresh = NULL;
    okra_int first = p * OKRA_PANEL_, n = panels->n;
    okra_int columns = OKRA_MIN_(OKRA_PANEL_, panels->columns - first);
    *out = okra_mat_of_(okra_cache_panel_(panels->cache, p), n, columns);
    if (out->p) {
        return OKRA_OK;
    }
    okra_int width = OKRA_MIN_(OKRA_PANEL_, panels->columns);
    double bytes = (double)n * (double)width * sizeof(double);
    bool keep = (again || panels->few) && okra_stays_(ctx, bytes);
    if (keep || !panels->scratch) {
        CHK(okra_doubles_(ctx, n, width, "a panel of the output kernel", &fresh));
    }
    out->p = fresh ? fresh : panels->scratch;
    CHK(okra_cancelled_(ctx));
    CHK(open_other(ctx, panels));
    CHK(panels->map
            ? mapped(ctx, panels, first, *out)
            : okra_test_side_cross_t_(ctx, panels->ky, panels->other, first, *out));
    if (fresh && keep) { /* or that of a faster prediction: the same bits */
        out->p = okra_cache_put_(panels->cache, p, &fresh);
    } else if (fresh) {
        panels->scratch = TAKE(fresh);
    }
    return OKRA_OK;
}

bool okra_panels_kept_(const okra_panels_ *panels)
{
    bool all = true;
    for (okra_int p = 0; p < okra_panels_count_(panels); p++) {
        all = all && okra_cache_panel_(panels->cache, p);
    }
    return all;
}

okra_status okra_panels_norms_(okra_context *ctx, okra_panels_ *training, bool again,
                               okra_mat_ W, double *norm)
{
    OWNED double *G = NULL;
    CHK(okra_doubles_(ctx, W.rows, OKRA_PANEL_, "the norms of predictions", &G));
    okra_fill_(W.rows, 0, norm);
    for (okra_int p = 0; p < okra_panels_count_(training); p++) {
        okra_mat_ L;
        CHK(okra_panels_get_(ctx, training, p, again, &L));
        okra_mat_ WL = {G, W.rows, L.cols, OKRA_PANEL_};
        CHK(okra_gemm_(ctx, false, false, 1, W, L, 0, WL));
        for (okra_int r = 0; r < W.rows; r++) {
            norm[r] +=
                okra_dot_(L.cols, WL.p + r * WL.ld, W.p + r * W.ld + p * OKRA_PANEL_);
        }
    }
    return OKRA_OK;
}

okra_status okra_panels_points_(okra_context *ctx, const okra_panels_ *panels,
                                okra_mat_ H, double *norm, double **out)
{
    OWNED double *points = NULL;
    CHK(okra_doubles_(ctx, H.rows, H.cols, "predictions of low rank", &points));
    okra_mat_ P = okra_mat_of_(points, H.rows, H.cols);
    for (okra_int r = 0; r < H.rows; r++) {
        norm[r] = okra_dot_(H.cols, H.p + r * H.ld, H.p + r * H.ld);
    }
    CHK(okra_mat_copy_(H, P));
    CHK(okra_map_meet_(ctx, panels->map, P));
    *out = TAKE(points);
    return OKRA_OK;
}

/* ---- one prediction times the Gram matrix ---- */

/* It is bound by memory: the matrix is symmetric, so that half of its panels is read,
 * and an entry serves both triangles. Where all panels are there each thread takes one at
 * a time, and the parts are added up in order. The sums of equal columns then differ in
 * their last digits by their place; equal outputs get that of the first, lest the order
 * of copies be decided by rounding.
 */
typedef struct halves {
    okra_context *ctx;
    okra_panels_ *panels;
    bool again;
    okra_int n;
    const double *w;
    double *parts; /* panels x n */
} halves;

/* own += w row, *sum = <row, v>: an entry, read once, serves both triangles of L. */
static inline OKRA_INLINE_ void body(okra_int n, double w, const double *row,
                                     const double *v, double *restrict own,
                                     double *restrict sum, bool fused)
{
    okra_lane_ sums = {0};
    okra_int j = 0;
    for (; j + OKRA_LANES_ <= n; j += OKRA_LANES_) {
        okra_lane_ entries, mine, theirs;
        memcpy(&entries, row + j, sizeof entries);
        memcpy(&mine, own + j, sizeof mine);
        memcpy(&theirs, v + j, sizeof theirs);
        mine += w * entries;
        sums += entries * theirs;
        memcpy(own + j, &mine, sizeof mine);
    }
    for (; j < n; j++) {
        own[j] += w * row[j];
        sums[0] += row[j] * v[j];
    }
    *sum = ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
           ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}
OKRA_VARIANTS_(both_ways, body,
               (okra_int n, double w, const double *row, const double *v,
                double *restrict own, double *restrict sum),
               (n, w, row, v, own, sum))

/* One prediction against rows of the panel at and below the diagonal: part p of w L. */
static okra_status some_halves(void *arg, okra_int begin, okra_int end, int worker)
{
    const halves *work = arg;
    const double *w = work->w;
    okra_int n = work->n;
    for (okra_int p = begin; p < end; p++) {
        okra_mat_ L;
        okra_int first = p * OKRA_PANEL_;
        double *part = work->parts + p * n, *own = part + first, sum = 0;
        CHK(okra_panels_get_(work->ctx, work->panels, p, work->again, &L));
        memset(own, 0, (size_t)(n - first) * sizeof *own);
        for (okra_int i = first; i < n; i++) {
            both_ways(L.cols, w[i], L.p + i * L.ld, w + first, own, &sum);
            part[i] += i < first + L.cols ? 0 : sum;
        }
    }
    return OKRA_OK;
}

okra_status okra_symmetric_copies_(const okra_output_ *output, okra_int **own,
                                   const okra_int **out)
{
    OWNED okra_int *fresh = NULL;
    const okra_int *first = okra_cache_find_(okra_cache_of_(output), "copies");
    if (!first) {
        MAKE(fresh, output->y->n);
        CHK(okra_data_same_(&output->y, 1, fresh));
        first = fresh;
        if (output->few &&
            okra_cache_leave_(okra_cache_of_(output), "copies", fresh, okra_free_)) {
            fresh = NULL;
        }
    }
    *out = first;
    *own = TAKE(fresh);
    return OKRA_OK;
}

/* G_i of every copy becomes that of the first. */
static okra_status level_copies(const okra_output_ *output, double *G)
{
    OWNED okra_int *own = NULL;
    const okra_int *first;
    CHK(okra_symmetric_copies_(output, &own, &first));
    for (okra_int i = 0; i < output->y->n; i++) {
        G[i] = G[first[i]];
    }
    return OKRA_OK;
}

okra_status okra_symmetric_times_(okra_context *ctx, const okra_output_ *output,
                                  okra_panels_ *panels, bool again, const double *w,
                                  double *out)
{
    OWNED double *parts = NULL;
    okra_int n = output->y->n, count = okra_panels_count_(panels);
    CHK(okra_doubles_(ctx, count, n, "parts of a prediction", &parts));
    halves half = {ctx, panels, again, n, w, parts};
    CHK(okra_panels_kept_(panels)
            ? okra_parallel_least_(ctx, 10 * (double)n * (double)n, count, 1, NULL,
                                   some_halves, &half)
            : some_halves(&half, 0, count, 0));
    memset(out, 0, (size_t)n * sizeof *out);
    for (okra_int p = 0; p < count; p++) {
        for (okra_int j = p * OKRA_PANEL_; j < n; j++) {
            out[j] += parts[p * n + j];
        }
    }
    return level_copies(output, out);
}
