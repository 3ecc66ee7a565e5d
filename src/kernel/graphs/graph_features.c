/*
 * graph_features.c: features of graphs as rows, and their inner products.
 *
 * The training set is coded once; its features are renumbered by how many objects have
 * them, the commonest first. Rows of 0/1 features keep the common ones (in at least one
 * of SHARE objects, or all of the `bits` places) as packed bits, met by population
 * counts, and the rare ones as lists; rows of counts are lists altogether. A list of a is
 * spread over one array and met by the lists of b. Features of another collection that
 * the training set lacks meet nothing; they count in the self-similarity alone.
 *
 * Cost of a pair: common/64 words and the length of one list. All sums are of whole
 * numbers and exact below 2^53, so the order of objects and nodes cannot show.
 */
#include "kernel/graphs/graph_features.h"
#include "kernel/gram/popcount.h"

#include <stdlib.h>
#include <string.h>

enum { SHARE = 64 };

typedef struct rows {
    okra_int n;
    uint64_t *bits; /* n x words */
    okra_int words;
    okra_int *indptr; /* lists: columns counted from 0 beyond the common ones */
    int32_t *columns;
    double *counts; /* NULL: all 1 */
    double *self;   /* n */
} rows;

typedef struct shared {
    const void *params;
    okra_extract_ extract;
    okra_feature_params_ how;
    const okra_data *train;
    okra_coder_ *coder;
    int32_t *column; /* by code: its column, or -1 */
    okra_int columns, common;
    rows rows;
} shared;

okra_status okra_fold_(okra_collector_ *c, uint64_t code, uint64_t a, uint64_t b,
                       uint64_t *out)
{
    return okra_coder_fold_(c->coder, code, a, b, out);
}

okra_status okra_collect_(okra_collector_ *c, uint64_t code)
{
    EXTEND(c->codes, c->count, c->room, 1024);
    c->codes[c->count++] = code;
    return OKRA_OK;
}

OKRA_CLEARS_(clear_rows, rows, it->bits, it->indptr, it->columns, it->counts, it->self)

static int by_code(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Distinct codes of all objects, ascending within an object, and how often. */
typedef struct coded {
    okra_int *indptr;
    uint64_t *codes;
    double *counts;
    okra_int room;
} coded;

OKRA_CLEARS_(clear_coded, coded, it->indptr, it->codes, it->counts)

static okra_status put(coded *d, okra_int at, uint64_t code)
{
    if (at == d->room) {
        okra_int room = d->room ? 2 * d->room : 4096;
        RESIZE(d->codes, room);
        RESIZE(d->counts, room);
        d->room = room;
    }
    d->codes[at] = code;
    d->counts[at] = 0;
    return OKRA_OK;
}

static okra_status code_all(okra_context *ctx, const shared *s, const okra_data *data,
                            okra_coder_ *coder, coded *d)
{
    FREED_BY(okra_graph_space_clear_) okra_graph_space_ w = {.first = NULL};
    okra_collector_ c = {.coder = coder};
    OWNS(&c.codes);
    okra_int end = 0;
    MAKE(d->indptr, data->n + 1);
    CHK(okra_graph_space_create_(data, &w));
    for (okra_int i = 0; i < data->n; i++) {
        d->indptr[i] = end;
        CHK(okra_cancelled_(ctx));
        okra_progress_(ctx, "features", i, data->n);
        c.count = 0;
        CHK(okra_graph_view_make_(data, i, &c, &w));
        c.count = 0;
        CHK(s->extract(s->params, &w.view, &c));
        for (okra_int k = 0; s->how.bits > 0 && k < c.count; k++) {
            c.codes[k] %= (uint64_t)s->how.bits;
        }
        if (c.count > 0) {
            qsort(c.codes, (size_t)c.count, sizeof *c.codes, by_code);
        }
        for (okra_int k = 0; k < c.count; k++) {
            if (k == 0 || c.codes[k] != c.codes[k - 1]) {
                CHK(put(d, end++, c.codes[k]));
            }
            d->counts[end - 1] = s->how.count ? d->counts[end - 1] + 1 : 1;
        }
    }
    d->indptr[data->n] = end;
    okra_progress_end_(ctx, "features");
    return OKRA_OK;
}

typedef struct frequency {
    uint64_t code;
    okra_int objects;
} frequency;

static int by_frequency(const void *a, const void *b)
{
    const frequency *x = a, *y = b;
    ORDER_BY(y->objects, x->objects);
    return (x->code > y->code) - (x->code < y->code);
}

/* Columns of the training features, the commonest first. */
static okra_status number_columns(shared *s, const coded *d)
{
    okra_int codes = s->how.bits > 0 ? s->how.bits : (okra_int)okra_coder_size_(s->coder);
    okra_int n = s->train->n;
    OWNED int32_t *objects = NULL;
    OWNED frequency *f = NULL;
    MAKE(s->column, codes);
    ZMAKE(objects, codes);
    for (okra_int k = 0; k < d->indptr[n]; k++) {
        s->columns += objects[d->codes[k]]++ == 0;
    }
    MAKE(f, s->columns);
    for (okra_int c = 0, used = 0; c < codes; c++) {
        s->column[c] = -1;
        if (objects[c] > 0) {
            f[used++] = (frequency){(uint64_t)c, objects[c]};
        }
    }
    if (s->columns > 0) {
        qsort(f, (size_t)s->columns, sizeof *f, by_frequency);
    }
    for (okra_int c = 0; c < s->columns; c++) {
        s->column[f[c].code] = (int32_t)c;
        s->common += !s->how.count && f[c].objects * SHARE >= n;
    }
    return OKRA_OK;
}

static okra_status make_rows(okra_context *ctx, const shared *s, const coded *d,
                             okra_int n, rows *r)
{
    okra_int known = s->how.bits > 0 ? s->how.bits : (okra_int)okra_coder_size_(s->coder);
    okra_int end = 0, length = d->indptr[n];
    r->n = n;
    r->words = (s->common + 63) / 64;
    CHK(okra_budget_ask_(ctx, 8.0 * (double)n * (double)r->words + 12.0 * (double)length,
                         "features of %lld objects", (long long)n));
    ZMAKE(r->bits, n * r->words);
    MAKE(r->indptr, n + 1);
    MAKE(r->columns, length);
    ZMAKE(r->self, n);
    if (s->how.count) {
        MAKE(r->counts, length);
    }
    for (okra_int i = 0; i < n; i++) {
        r->indptr[i] = end;
        for (okra_int k = d->indptr[i]; k < d->indptr[i + 1]; k++) {
            int32_t column = d->codes[k] < (uint64_t)known ? s->column[d->codes[k]] : -1;
            r->self[i] += d->counts[k] * d->counts[k];
            if (column >= s->common) {
                if (s->how.count) {
                    r->counts[end] = d->counts[k];
                }
                r->columns[end++] = (int32_t)(column - s->common);
            } else if (column >= 0) {
                r->bits[i * r->words + column / 64] |= UINT64_C(1) << column % 64;
            }
        }
    }
    r->indptr[n] = end;
    return OKRA_OK;
}

OKRA_DROPS_(drop_shared, shared, okra_features_unbind_)

okra_status okra_features_bind_(okra_context *ctx, const okra_feature_params_ *how,
                                const void *params, okra_extract_ extract,
                                const okra_data *train, void **out)
{
    FREED_BY(drop_shared) shared *s = NULL;
    FREED_BY(clear_coded) coded d = {0};
    ZMAKE(s, 1);
    s->params = params;
    s->extract = extract;
    s->how = *how;
    s->train = train;
    CHK(okra_coder_create_(NULL, how->bits > 0, &s->coder));
    CHK(code_all(ctx, s, train, s->coder, &d));
    CHK(number_columns(s, &d));
    CHK(make_rows(ctx, s, &d, train->n, &s->rows));
    *out = TAKE(s);
    return OKRA_OK;
}

void okra_features_unbind_(void *arg)
{
    shared *s = arg;
    if (s) {
        okra_coder_free_(s->coder);
        okra_free_(s->column);
        clear_rows(&s->rows);
        okra_free_(s);
    }
}

typedef struct side {
    const shared *shared;
    const rows *rows; /* the training rows, or own */
    rows own;
} side;

OKRA_DROPS_(drop_side, side, okra_features_free_side_)

okra_status okra_features_side_(okra_context *ctx, const void *params, const void *arg,
                                const okra_data *data, void **out)
{
    const shared *s = arg;
    FREED_BY(okra_coder_drop_) okra_coder_ *coder = NULL;
    FREED_BY(clear_coded) coded d = {0};
    FREED_BY(drop_side) side *fresh = NULL;
    (void)params;
    ZMAKE(fresh, 1);
    fresh->shared = s;
    fresh->rows = &s->rows;
    if (data != s->train) {
        CHK(okra_coder_create_(s->coder, s->how.bits > 0, &coder));
        CHK(code_all(ctx, s, data, coder, &d));
        CHK(make_rows(ctx, s, &d, data->n, &fresh->own));
        fresh->rows = &fresh->own;
    }
    *out = TAKE(fresh);
    return OKRA_OK;
}

void okra_features_free_side_(void *arg)
{
    side *s = arg;
    if (s) {
        clear_rows(&s->own);
        okra_free_(s);
    }
}

okra_status okra_features_bits_(okra_context *ctx, const okra_kernel_class_ *class,
                                const void *params, const okra_data *data, uint64_t *out)
{
    okra_status st = OKRA_OK;
    okra_graph_space_ w = {.first = NULL};
    okra_collector_ c = {.coder = NULL};
    okra_int bits = ((const okra_feature_params_ *)params)->bits,
             words = (bits + 63) / 64;
    (void)ctx;
    TRY(okra_coder_create_(NULL, true, &c.coder));
    TRY(okra_graph_space_create_(data, &w));
    memset(out, 0, (size_t)(data->n * words) * sizeof *out);
    for (okra_int i = 0; i < data->n; i++) {
        c.count = 0;
        TRY(okra_graph_view_make_(data, i, &c, &w));
        c.count = 0;
        TRY(class->extract(params, &w.view, &c));
        for (okra_int k = 0; k < c.count; k++) {
            uint64_t place = c.codes[k] % (uint64_t)bits;
            out[i * words + (okra_int)(place / 64)] |= UINT64_C(1) << place % 64;
        }
    }
done:
    okra_free_(c.codes);
    okra_coder_free_(c.coder);
    okra_graph_space_clear_(&w);
    return st;
}

okra_status okra_features_counts_(okra_context *ctx, const okra_kernel_class_ *class,
                                  const void *params, const okra_data *data,
                                  okra_csr_ *out)
{
    shared s = {.params = params,
                .extract = class->extract,
                .how = *(const okra_feature_params_ *)params};
    FREED_BY(clear_coded) coded d = {0};
    FREED_BY(okra_coder_drop_) okra_coder_ *coder = NULL;
    CHK(okra_coder_create_(NULL, true, &coder));
    CHK(code_all(ctx, &s, data, coder, &d));
    *out = (okra_csr_){d.indptr, (okra_int *)d.codes, d.counts}; /* places are small */
    d = (coded){0};
    return OKRA_OK;
}

okra_status okra_features_block_(okra_context *ctx, const void *params, const void *pa,
                                 okra_int i0, okra_int ni, const void *pb, okra_int j0,
                                 okra_int nj, double *out, okra_int ld)
{
    const side *sa = pa;
    const rows *a = sa->rows, *b = ((const side *)pb)->rows;
    okra_int rare = sa->shared->columns - sa->shared->common;
    OWNED double *wide = NULL;
    (void)ctx, (void)params;
    CHK(okra_popcount_and_(a->bits + i0 * a->words, ni, b->bits + j0 * b->words, nj,
                           a->words, out, ld));
    ZMAKE(wide, rare);
    for (okra_int r = 0; r < ni; r++) {
        okra_int begin = a->indptr[i0 + r], end = a->indptr[i0 + r + 1];
        for (okra_int k = begin; k < end; k++) {
            wide[a->columns[k]] = a->counts ? a->counts[k] : 1;
        }
        for (okra_int c = 0; begin < end && c < nj; c++) {
            double sum = 0;
            for (okra_int k = b->indptr[j0 + c]; k < b->indptr[j0 + c + 1]; k++) {
                sum += wide[b->columns[k]] * (b->counts ? b->counts[k] : 1);
            }
            out[r * ld + c] += sum;
        }
        for (okra_int k = begin; k < end; k++) {
            wide[a->columns[k]] = 0;
        }
    }
    return OKRA_OK;
}

okra_status okra_features_diagonal_(okra_context *ctx, const void *params, const void *pa,
                                    okra_int n, double *out)
{
    const side *s = pa;
    (void)ctx, (void)params;
    for (okra_int i = 0; i < n; i++) {
        out[i] = s->rows->self[i];
    }
    return OKRA_OK;
}
