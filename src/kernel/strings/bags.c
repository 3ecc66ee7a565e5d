/*
 * bags.c: bags of hashed features as sparse vectors.
 *
 * The distinct codes of the training set, sorted, are the first columns; codes that only
 * another collection has come behind them, in order of code. Cost: sorting, n log n in
 * the number of features.
 */
#include "kernel/gram/through.h"

#include <stdlib.h>

typedef struct vocabulary {
    uint64_t *codes; /* ascending */
    okra_int count;
} vocabulary;

okra_status okra_codes_add_(okra_codes_ *codes, uint64_t code)
{
    EXTEND(codes->items, codes->count, codes->room, 64);
    codes->items[codes->count++] = code;
    return OKRA_OK;
}

static int by_code(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts; returns how many distinct items are left, in front. */
static okra_int sort_distinct(uint64_t *items, okra_int count)
{
    okra_int distinct = 0;
    if (count > 0) {
        qsort(items, (size_t)count, sizeof *items, by_code);
    }
    for (okra_int k = 0; k < count; k++) {
        if (distinct == 0 || items[k] != items[distinct - 1]) {
            items[distinct++] = items[k];
        }
    }
    return distinct;
}

/* The distinct codes of every object one after another, with their counts. */
typedef struct bags {
    okra_int *indptr;
    okra_codes_ codes;
    double *counts;
} bags;

OKRA_CLEARS_(bags_clear, bags, it->indptr, it->codes.items, it->counts)

/* Appends the sorted items of one object. */
static okra_status append(bags *b, const okra_codes_ *object, bool binary,
                          okra_int *counts_room)
{
    okra_int begin = b->codes.count;
    for (okra_int k = 0; k < object->count; k++) {
        if (b->codes.count > begin &&
            b->codes.items[b->codes.count - 1] == object->items[k]) {
            b->counts[b->codes.count - 1] += binary ? 0 : 1;
            continue;
        }
        CHK(okra_codes_add_(&b->codes, object->items[k]));
        if (b->codes.count > *counts_room) {
            RESIZE(b->counts, b->codes.room);
            *counts_room = b->codes.room;
        }
        b->counts[b->codes.count - 1] = 1;
    }
    return OKRA_OK;
}

static okra_status collect(okra_emit_ emit, const void *params, const okra_data *data,
                           bool binary, bags *b)
{
    okra_codes_ object = {0};
    OWNS(&object.items);
    okra_int counts_room = 0;
    MAKE(b->indptr, data->n + 1);
    b->indptr[0] = 0;
    for (okra_int i = 0; i < data->n; i++) {
        object.count = 0;
        CHK(emit(params, data, i, &object));
        if (object.count > 0) {
            qsort(object.items, (size_t)object.count, sizeof *object.items, by_code);
        }
        CHK(append(b, &object, binary, &counts_room));
        b->indptr[i + 1] = b->codes.count;
    }
    return OKRA_OK;
}

void okra_bags_forget_(void *state)
{
    vocabulary *v = state;
    if (v) {
        FREE(v->codes, v);
    }
}

OKRA_DROPS_(drop_vocabulary, vocabulary, okra_bags_forget_)

okra_status okra_bags_fit_(okra_emit_ emit, const void *params, const okra_data *train,
                           void **state)
{
    FREED_BY(drop_vocabulary) vocabulary *v = NULL;
    FREED_BY(bags_clear) bags b = {0};
    ZMAKE(v, 1);
    CHK(collect(emit, params, train, true, &b));
    v->count = sort_distinct(b.codes.items, b.codes.count);
    v->codes = TAKE(b.codes.items);
    *state = TAKE(v);
    return OKRA_OK;
}

/* Place of a code in an ascending list, or -1. */
static okra_int place(const uint64_t *codes, okra_int count, uint64_t code)
{
    const uint64_t *found =
        count ? bsearch(&code, codes, (size_t)count, sizeof *codes, by_code) : NULL;
    return found ? found - codes : -1;
}

/* The codes that the vocabulary lacks, ascending, each once. */
static okra_status unknown_codes(const vocabulary *v, const bags *b, okra_codes_ *unknown)
{
    for (okra_int k = 0; k < b->codes.count; k++) {
        if (place(v->codes, v->count, b->codes.items[k]) < 0) {
            CHK(okra_codes_add_(unknown, b->codes.items[k]));
        }
    }
    unknown->count = sort_distinct(unknown->items, unknown->count);
    return OKRA_OK;
}

okra_status okra_bags_map_(okra_emit_ emit, const void *params, const void *state,
                           const okra_data *data, bool binary, okra_data **out)
{
    const vocabulary *v = state;
    FREED_BY(bags_clear) bags b = {0};
    okra_codes_ unknown = {0};
    OWNS(&unknown.items);
    OWNED okra_int *indices = NULL;
    CHK(collect(emit, params, data, binary, &b));
    CHK(unknown_codes(v, &b, &unknown));
    MAKE(indices, b.codes.count);
    for (okra_int k = 0; k < b.codes.count; k++) {
        okra_int known = place(v->codes, v->count, b.codes.items[k]);
        indices[k] =
            known >= 0 ? known
                       : v->count + place(unknown.items, unknown.count, b.codes.items[k]);
    }
    return okra_data_sparse(b.indptr, indices, b.counts, data->n,
                            v->count + unknown.count, out);
}
