/*
 * graph_features.c: features of graphs and strings as rows, and their inner products.
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
#include "data/strings.h"
#include "kernel/graphs/graph_features.h"
#include "kernel/gram/trained_kernel.h"

/* ---- codes of sequences: a dictionary of steps, or a hash ---- */

/* A sequence is known by the code of all but its last step and that step, so a dictionary
 * of triples (code, a, b) holds any set of sequences exactly, sharing their beginnings.
 * A coder on a base looks there first and never changes it: many collections can be coded
 * against one training set. */
typedef struct triple {
    uint64_t code, a, b;
} triple;

struct okra_coder_ {
    const okra_coder_ *base;
    bool hash;
    uint64_t first; /* code of entries[0] */
    triple *entries;
    okra_int count, room;
    okra_hashed_ places; /* of the entries */
};

/* The finaliser of splitmix64: every input bit reaches every output bit. */
static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint64_t hash_of(uint64_t code, uint64_t a, uint64_t b)
{
    /* Odd constants keep (a, b) apart from (b, a). */
    uint64_t h = mix(code + UINT64_C(0x9e3779b97f4a7c15));
    h = mix(h ^ (a * UINT64_C(0xd1342543de82ef95) + 1));
    return mix(h + (b * UINT64_C(0xaf251af3b0f025b5) + 2));
}

/* Codes are below this, those of the base first; 0 for hashes. */
static uint64_t codes_of(const okra_coder_ *coder)
{
    return coder->hash ? 0 : coder->first + (uint64_t)coder->count;
}

okra_status okra_coder_create_(const okra_coder_ *base, bool hash, okra_coder_ **out)
{
    FREED_BY(okra_coder_drop_) okra_coder_ *c = NULL;
    ZMAKE(c, 1);
    c->base = base;
    c->hash = hash;
    c->first = base ? codes_of(base) : 1; /* 0 is the empty sequence */
    *out = TAKE(c);
    return OKRA_OK;
}

OKRA_SHARED_FREES_(okra_coder_free_, okra_coder_, it->entries, it->places.slots)

okra_status okra_fold_(okra_collector_ *collector, uint64_t code, uint64_t a, uint64_t b,
                       uint64_t *out)
{
    okra_coder_ *c = collector->coder;
    uint64_t h = hash_of(code, a, b);
    if (c->hash) {
        *out = h;
        return OKRA_OK;
    }
    for (const okra_coder_ *d = c; d; d = d->base) {
        for (okra_int at = 0, k; (k = okra_hashed_next_(&d->places, h, &at)) >= 0;) {
            const triple *e = &d->entries[k];
            if (e->code == code && e->a == a && e->b == b) {
                *out = d->first + (uint64_t)k;
                return OKRA_OK;
            }
        }
    }
    REFUSE_IF(c->count >= INT32_MAX, OKRA_EUNSUPPORTED,
              "more than 2^31 distinct features; give bits=2048 or so");
    EXTEND(c->entries, c->count, c->room, 512);
    CHK(okra_hashed_put_(&c->places, h, c->count));
    c->entries[c->count] = (triple){code, a, b};
    *out = c->first + (uint64_t)c->count++;
    return OKRA_OK;
}

/* ---- one graph as the kernels walk it: labels as codes, neighbours of every node ----
 */

OKRA_SHARED_CLEARS_(okra_graph_space_clear_, okra_graph_space_, it->label, it->edge_label,
                    it->first, it->other, it->edge)

okra_status okra_graph_space_create_(const okra_data *data, okra_graph_space_ *w)
{
    const okra_ragged_ *nodes = okra_data_group_(data, "nodes");
    const okra_ragged_ *edges = okra_data_group_(data, "edges");
    okra_int most_nodes = 0, most_edges = 0;
    for (okra_int i = 0; edges && i < data->n; i++) { /* strings have none */
        most_nodes = OKRA_MAX_(most_nodes, nodes->offsets[i + 1] - nodes->offsets[i]);
        most_edges = OKRA_MAX_(most_edges, edges->offsets[i + 1] - edges->offsets[i]);
    }
    MAKE(w->label, most_nodes);
    MAKE(w->first, most_nodes + 2);
    MAKE(w->edge_label, 2 * most_edges);
    MAKE(w->other, 2 * most_edges);
    MAKE(w->edge, 2 * most_edges);
    return OKRA_OK;
}

/* A label as a code: numbers are coded as they are, texts character by character, so that
 * it does not matter where in its object a text stands. */
static okra_status code_label(okra_collector_ *c, int32_t label, const char *names,
                              okra_int length, uint64_t *out)
{
    REFUSE_IF(label < 0 && (-1 - (okra_int)label >= length || names[length - 1]),
              OKRA_EFORMAT, "label %d is not among the %lld bytes of names", label,
              (long long)length);
    if (label >= 0) {
        CHK(okra_fold_(c, OKRA_CODE_ROOT_, 1, (uint64_t)label, out));
        return OKRA_OK;
    }
    CHK(okra_fold_(c, OKRA_CODE_ROOT_, 2, 0, out));
    for (const char *p = names - 1 - label; *p; p++) {
        CHK(okra_fold_(c, *out, 3, (unsigned char)*p, out));
    }
    return OKRA_OK;
}

okra_status okra_graph_view_make_(const okra_data *data, okra_int i, okra_collector_ *c,
                                  okra_graph_space_ *w)
{
    if (data->kind == OKRA_STRINGS) {
        w->view.letters = okra_characters_(data, i, &w->view.nodes);
        return OKRA_OK;
    }
    const okra_ragged_ *nodes = okra_data_group_(data, "nodes");
    const okra_ragged_ *edges = okra_data_group_(data, "edges");
    const okra_ragged_ *texts = okra_data_group_(data, "names");
    okra_int n0 = nodes->offsets[i], e0 = edges->offsets[i];
    okra_int n = nodes->offsets[i + 1] - n0, m = edges->offsets[i + 1] - e0;
    const int32_t *label = okra_ragged_field_(nodes, "label")->values;
    const int32_t *ends = okra_ragged_field_(edges, "ends")->values;
    const int32_t *edge_label = okra_ragged_field_(edges, "label")->values;
    const okra_field_ *atom = okra_ragged_field_(nodes, "atom");
    const char *names = (const char *)texts->fields[0].values + texts->offsets[i];
    okra_int length = texts->offsets[i + 1] - texts->offsets[i];
    for (okra_int k = 0; k < n; k++) {
        CHK(code_label(c, label[n0 + k], names, length, &w->label[k]));
    }
    memset(w->first, 0, (size_t)(n + 2) * sizeof *w->first);
    for (okra_int k = 2 * e0; k < 2 * (e0 + m); k++) {
        REFUSE_IF(ends[k] < 0 || ends[k] >= n, OKRA_EFORMAT,
                  "graph %lld: an edge ends at node %d of %lld", (long long)i, ends[k],
                  (long long)n);
        w->first[ends[k] + 2]++;
    }
    for (okra_int k = 2; k < n + 2; k++) {
        w->first[k] += w->first[k - 1];
    }
    for (okra_int k = 0; k < m; k++) {
        uint64_t code;
        CHK(code_label(c, edge_label[e0 + k], names, length, &code));
        for (int end = 0; end < 2; end++) {
            int32_t from = ends[2 * (e0 + k) + end], to = ends[2 * (e0 + k) + 1 - end];
            okra_int place = w->first[from + 1]++;
            w->other[place] = to;
            w->edge[place] = (int32_t)k;
            w->edge_label[place] = code;
        }
    }
    w->view = (okra_graph_view_){.nodes = n,
                                 .edges = m,
                                 .label = w->label,
                                 .first = w->first,
                                 .other = w->other,
                                 .edge = w->edge,
                                 .edge_label = w->edge_label};
    if (atom) {
        w->view.atom = (const int32_t *)atom->values + 4 * n0;
    }
    return OKRA_OK;
}

/* ---- rows of features ---- */

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

okra_status okra_collect_(okra_collector_ *c, uint64_t code)
{
    EXTEND(c->codes, c->count, c->room, 1024);
    c->codes[c->count++] = code;
    return OKRA_OK;
}

OKRA_CLEARS_(clear_rows, rows, it->bits, it->indptr, it->columns, it->counts, it->self)

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
        OKRA_SORT_(c.codes, c.count, okra_by_code_);
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

OKRA_ORDER_(by_frequency, frequency, OKRA_DOWN_(objects), OKRA_UP_(code))

/* Columns of the training features, the commonest first. */
static okra_status number_columns(shared *s, const coded *d)
{
    okra_int codes = s->how.bits > 0 ? s->how.bits : (okra_int)codes_of(s->coder);
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
    OKRA_SORT_(f, s->columns, by_frequency);
    for (okra_int c = 0; c < s->columns; c++) {
        s->column[f[c].code] = (int32_t)c;
        s->common += !s->how.count && f[c].objects * SHARE >= n;
    }
    return OKRA_OK;
}

static okra_status make_rows(okra_context *ctx, const shared *s, const coded *d,
                             okra_int n, rows *r)
{
    okra_int known = s->how.bits > 0 ? s->how.bits : (okra_int)codes_of(s->coder);
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

okra_status okra_features_bind_(okra_context *ctx, const okra_kernel_class_ *class,
                                const void *params, const okra_data *train, void **out)
{
    FREED_BY(drop_shared) shared *s = NULL;
    FREED_BY(clear_coded) coded d = {0};
    ZMAKE(s, 1);
    s->params = params;
    s->extract = class->extract;
    s->how = *(const okra_feature_params_ *)params;
    s->how.count = s->how.count || class->counted;
    s->train = train;
    CHK(okra_coder_create_(NULL, s->how.bits > 0, &s->coder));
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

/* Places of hashed features, the distinct ones of each object. */
static okra_status hash_all(okra_context *ctx, const okra_kernel_class_ *class,
                            const void *params, const okra_data *data, coded *d)
{
    FREED_BY(okra_coder_drop_) okra_coder_ *coder = NULL;
    shared s = {.params = params,
                .extract = class->extract,
                .how = *(const okra_feature_params_ *)params};
    CHK(okra_coder_create_(NULL, true, &coder));
    return code_all(ctx, &s, data, coder, d);
}

okra_status okra_features_bits_(okra_context *ctx, const okra_kernel_class_ *class,
                                const void *params, const okra_data *data, uint64_t *out)
{
    FREED_BY(clear_coded) coded d = {0};
    okra_int words = (((const okra_feature_params_ *)params)->bits + 63) / 64;
    CHK(hash_all(NULL, class, params, data, &d)); /* in workers: nothing is reported */
    memset(out, 0, (size_t)(data->n * words) * sizeof *out);
    for (okra_int i = 0; i < data->n; i++) {
        for (okra_int k = d.indptr[i]; k < d.indptr[i + 1]; k++) {
            out[i * words + (okra_int)(d.codes[k] / 64)] |= UINT64_C(1)
                                                            << d.codes[k] % 64;
        }
    }
    return OKRA_OK;
}

okra_status okra_features_counts_(okra_context *ctx, const okra_kernel_class_ *class,
                                  const void *params, const okra_data *data,
                                  okra_csr_ *out)
{
    FREED_BY(clear_coded) coded d = {0};
    CHK(hash_all(ctx, class, params, data, &d));
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
    for (okra_int i = 0; i < n; i++) {
        out[i] = s->rows->self[i];
    }
    return OKRA_OK;
}
