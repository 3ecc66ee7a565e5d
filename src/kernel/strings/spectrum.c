/*
 * spectrum.c: the k-spectrum kernel (Leslie, Eskin and Noble 2002): the inner product of
 * the counts of all substrings of k characters.
 *
 * Substrings are hashed to 64 bits and become the columns of sparse vectors.
 * Values are whole numbers, exact below 2^53. Cost: |s| k to hash, then a pair costs the
 * distinct substrings of one of the two. Strings shorter than k have no features: 0.
 */
#include "data/strings.h"
#include "kernel/gram/trained_kernel.h"
#include "kernel/strings/string_kernels.h"

/* The distinct codes of the training set, sorted, are the first columns; codes that only
 * another collection has come behind them, in order of code (they matter for
 * self-similarities). Different things with one hash would be taken for one: for v
 * distinct features the chance is about v^2/2^65, 3e-8 for a million. */
typedef struct vocabulary {
    uint64_t *codes; /* ascending */
    okra_int count;
} vocabulary;

typedef struct code_list {
    uint64_t *items;
    okra_int count, room;
} code_list;

static okra_status add_code(code_list *codes, uint64_t code)
{
    EXTEND(codes->items, codes->count, codes->room, 64);
    codes->items[codes->count++] = code;
    return OKRA_OK;
}

static void sort(uint64_t *items, okra_int count)
{
    OKRA_SORT_(items, count, okra_by_code_);
}

/* Sorts; how many distinct items are left, in front. */
static okra_int sort_distinct(uint64_t *items, okra_int count)
{
    okra_int distinct = 0;
    sort(items, count);
    for (okra_int k = 0; k < count; k++) {
        if (distinct == 0 || items[k] != items[distinct - 1]) {
            items[distinct++] = items[k];
        }
    }
    return distinct;
}

/* Codes of the substrings of string i, behind those that are there, sorted. */
static okra_status hash_string(okra_int k, const okra_data *data, okra_int i,
                               code_list *codes)
{
    okra_int length, first = codes->count;
    const int32_t *s = okra_characters_(data, i, &length);
    for (okra_int begin = 0; begin + k <= length; begin++) {
        uint64_t hash = 0;
        for (okra_int j = begin; j < begin + k; j++) {
            hash = okra_hash_(hash, (uint64_t)s[j]);
        }
        CHK(add_code(codes, hash));
    }
    if (codes->count > first) { /* else there may be no items to count from */
        sort(codes->items + first, codes->count - first);
    }
    return OKRA_OK;
}

/* The distinct codes of every string one after another, with their counts. */
typedef struct bags {
    okra_int *indptr;
    code_list codes;
    double *counts;
} bags;

OKRA_CLEARS_(bags_clear, bags, it->indptr, it->codes.items, it->counts)

static okra_status collect(const void *params, const okra_data *data, bags *b)
{
    okra_int k = ((const okra_spectrum_params_ *)params)->k, room = 0;
    MAKE(b->indptr, data->n + 1);
    b->indptr[0] = 0;
    for (okra_int i = 0; i < data->n; i++) {
        okra_int first = b->codes.count, last = first;
        CHK(hash_string(k, data, i, &b->codes));
        if (b->codes.room > room) {
            RESIZE(b->counts, b->codes.room);
            room = b->codes.room;
        }
        for (okra_int t = first; t < b->codes.count; t++) {
            uint64_t code = b->codes.items[t];
            if (last > first && b->codes.items[last - 1] == code) {
                b->counts[last - 1]++;
            } else {
                b->codes.items[last] = code;
                b->counts[last++] = 1;
            }
        }
        b->indptr[i + 1] = b->codes.count = last;
    }
    return OKRA_OK;
}

static void forget(void *state)
{
    vocabulary *v = state;
    if (v) {
        FREE(v->codes, v);
    }
}

OKRA_DROPS_(drop_vocabulary, vocabulary, forget)

static okra_status fit(okra_context *ctx, const void *params, const okra_data *train,
                       void **state)
{
    FREED_BY(drop_vocabulary) vocabulary *v = NULL;
    FREED_BY(bags_clear) bags b = {0};
    ZMAKE(v, 1);
    CHK(collect(params, train, &b));
    v->count = sort_distinct(b.codes.items, b.codes.count);
    v->codes = TAKE(b.codes.items);
    *state = TAKE(v);
    return OKRA_OK;
}

/* Place of a code in an ascending list, or -1. */
static okra_int place(const uint64_t *codes, okra_int count, uint64_t code)
{
    const uint64_t *found =
        count ? bsearch(&code, codes, (size_t)count, sizeof *codes, okra_by_code_) : NULL;
    return found ? found - codes : -1;
}

static okra_status map(okra_context *ctx, const void *params, const void *state,
                       const okra_data *data, okra_data **out)
{
    const vocabulary *v = state;
    FREED_BY(bags_clear)
    bags b = {0}, unknown = {0}; /* codes that the vocabulary lacks */
    OWNED okra_int *indices = NULL;
    CHK(collect(params, data, &b));
    MAKE(indices, b.codes.count);
    for (okra_int k = 0; k < b.codes.count; k++) {
        indices[k] = place(v->codes, v->count, b.codes.items[k]);
        if (indices[k] < 0) {
            CHK(add_code(&unknown.codes, b.codes.items[k]));
        }
    }
    okra_int more = sort_distinct(unknown.codes.items, unknown.codes.count);
    for (okra_int k = 0; k < b.codes.count; k++) {
        if (indices[k] < 0) {
            indices[k] = v->count + place(unknown.codes.items, more, b.codes.items[k]);
        }
    }
    return okra_data_sparse(b.indptr, indices, b.counts, data->n, v->count + more, out);
}

static const okra_through_ how = {&okra_linear_, fit, forget, map};

static const okra_option rows[] = {{"k", OKRA_OPTION_INT,
                                    offsetof(okra_spectrum_params_, k), "3", 1, 1000000,
                                    NULL, "N", "characters of a substring"},
                                   {.name = NULL}};

const okra_kernel_class_ okra_spectrum_ = {
    .name = "spectrum",
    .help = "strings: common substrings of k characters, counted",
    .params = {"spectrum", rows, sizeof(okra_spectrum_params_)},
    .kinds = 1u << OKRA_STRINGS,
    .through = &how,
    OKRA_THROUGH_HOOKS_};

bool okra_trained_kernel_is_spectrum_(const okra_trained_kernel_ *bound, okra_int *k)
{
    const okra_kernel *kernel = bound->kernel;
    int root = kernel->count - 1;
    while (kernel->nodes[root].kind == OKRA_NODE_SCALE_) {
        root = kernel->nodes[root].a;
    }
    const okra_node_ *node = &kernel->nodes[root];
    bool is = node->kind == OKRA_NODE_LEAF_ && node->leaf == &okra_spectrum_;
    if (is) {
        *k = ((const okra_spectrum_params_ *)node->params)->k;
    }
    return is;
}
