/*
 * distinct.c: which objects of collections are the same.
 *
 * Objects are the same where all their values are; labels and nodes with names, where
 * their names are. They are compared by a 128-bit hash: among 10^9 objects two different
 * ones share it with probability below 1e-20. Cost: one pass over the values, and a sort.
 */
#include "data/data.h"
#include "okra/more/objects.h"

typedef struct entry {
    uint64_t key[2];
    okra_int at;
} entry;

static uint64_t mix_text(uint64_t h, const char *text)
{
    return okra_mix_(h, text, strlen(text));
}

static uint64_t mix_code(uint64_t h, const okra_data *d, okra_int i)
{
    okra_int code = d->codes[i];
    char **names = d->kind == OKRA_LABELS ? d->class_names
                   : d->network           ? d->network->names
                                          : NULL;
    return names ? mix_text(h, names[code]) : okra_mix_(h, &code, sizeof code);
}

static uint64_t mix_ragged(uint64_t h, const okra_ragged_ *group, okra_int i)
{
    okra_int begin = group->offsets[i], length = group->offsets[i + 1] - begin;
    h = okra_mix_(h, &length, sizeof length);
    for (int f = 0; f < group->field_count; f++) {
        const okra_field_ *field = &group->fields[f];
        size_t size = okra_field_size_(field->type) * (size_t)field->width;
        h = okra_mix_(h, (const unsigned char *)field->values + (size_t)begin * size,
                      (size_t)length * size);
    }
    return h;
}

static uint64_t mix_object(uint64_t h, const okra_data *d, okra_int i)
{
    for (okra_int j = 0; d->values && j < d->d; j++) {
        double v = d->values[i * d->ld + j] + 0.0; /* -0 is 0 */
        h = okra_mix_(h, &v, sizeof v);
    }
    if (d->csr.indptr) {
        okra_int begin = d->csr.indptr[i], stored = d->csr.indptr[i + 1] - begin;
        h = okra_mix_(h, d->csr.indices + begin, (size_t)stored * sizeof(okra_int));
        h = okra_mix_(h, d->csr.values + begin, (size_t)stored * sizeof(double));
    }
    if (d->bits) {
        h = okra_mix_(h, d->bits + i * d->words, (size_t)d->words * sizeof *d->bits);
    }
    h = d->codes ? mix_code(h, d, i) : h;
    for (int g = 0; g < d->group_count; g++) {
        h = mix_ragged(h, &d->groups[g], i);
    }
    const okra_int *bag = d->kind == OKRA_BAGS ? d->groups[0].offsets + i : NULL;
    for (int c = 0; c < d->component_count; c++) {
        for (okra_int k = bag ? bag[0] : i; k < (bag ? bag[1] : i + 1); k++) {
            h = mix_object(h, d->components[c], k);
        }
    }
    return h;
}

double okra_data_key_(const okra_data *data, okra_int i)
{
    return (double)(mix_object(OKRA_MIX_START_, data, i) >> 11);
}

OKRA_ORDER_(by_key, entry, OKRA_UP_(key[0]), OKRA_UP_(key[1]), OKRA_UP_(at))

okra_status okra_data_same_(const okra_data *const *sets, int count, okra_int *first)
{
    OWNED entry *all = NULL;
    okra_int n = 0, k = 0;
    for (int c = 0; c < count; c++) {
        n += sets[c]->n;
    }
    MAKE(all, n);
    for (int c = 0; c < count; c++) {
        for (okra_int i = 0; i < sets[c]->n; i++, k++) {
            all[k].key[0] = mix_object(OKRA_MIX_START_, sets[c], i);
            all[k].key[1] = mix_object(UINT64_C(0x9e3779b97f4a7c15), sets[c], i);
            all[k].at = k;
        }
    }
    qsort(all, (size_t)n, sizeof *all, by_key);
    for (okra_int begin = 0, i = 0; i < n; i++) {
        bool same = i > 0 && memcmp(all[i].key, all[begin].key, sizeof all[i].key) == 0;
        begin = same ? begin : i;
        first[all[i].at] = all[begin].at;
    }
    return OKRA_OK;
}

okra_status okra_data_distinct(const okra_data *data, okra_int *index, okra_int *count)
{
    OWNED okra_int *first = NULL;
    okra_int found = 0;
    NOT_NULL(data, index, count);
    MAKE(first, data->n);
    CHK(okra_data_same_(&data, 1, first));
    for (okra_int i = 0; i < data->n; i++) {
        if (first[i] == i) {
            index[found++] = i;
        }
    }
    *count = found;
    return OKRA_OK;
}

okra_status okra_data_match(const okra_data *data, const okra_data *among,
                            okra_int *index)
{
    OWNED okra_int *first = NULL;
    const okra_data *sets[] = {among, data};
    NOT_NULL(data, among, index);
    MAKE(first, among->n + data->n);
    CHK(okra_data_same_(sets, 2, first));
    for (okra_int k = 0; k < data->n; k++) {
        okra_int same = first[among->n + k];
        index[k] = same < among->n ? same : -1;
    }
    return OKRA_OK;
}

/* ---- fingerprints ----
 * A 64-bit hash (FNV-1a) of objects, by which kept work knows its data.
 *
 * Every byte of the values counts, names and sources do not; equal collections have equal
 * fingerprints wherever they come from. About a nanosecond a byte.
 */

uint64_t okra_mix_(uint64_t h, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < size; i++) {
        h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    }
    return h;
}

static uint64_t mix_ints(uint64_t h, const okra_int *p, okra_int count)
{
    return p ? okra_mix_(h, p, (size_t)count * sizeof *p) : h;
}

uint64_t okra_options_mix_(uint64_t h, const okra_options *options)
{
    const char *name, *value;
    for (size_t i = 0; options && (name = okra_options_each_(options, i, &value)); i++) {
        h = okra_mix_(okra_mix_(h, name, strlen(name) + 1), value, strlen(value) + 1);
    }
    return h;
}

uint64_t okra_data_mix_(uint64_t h, const okra_data *d)
{
    if (!d) {
        return okra_mix_(h, "-", 1);
    }
    okra_int head[] = {(okra_int)d->kind, d->n, d->d};
    h = okra_mix_(h, head, sizeof head);
    if (d->pieces) { /* they stay in their files: their sizes alone */
        return mix_ints(h, d->pieces->first, d->pieces->count + 1);
    }
    for (okra_int i = 0; d->values && i < d->n; i++) {
        h = okra_mix_(h, d->values + i * d->ld, (size_t)d->d * sizeof(double));
    }
    if (d->csr.indptr) {
        okra_int stored = d->csr.indptr[d->n];
        h = mix_ints(h, d->csr.indptr, d->n + 1);
        h = mix_ints(h, d->csr.indices, stored);
        h = okra_mix_(h, d->csr.values, (size_t)stored * sizeof(double));
    }
    h = d->bits ? okra_mix_(h, d->bits, (size_t)(d->n * d->words) * sizeof *d->bits) : h;
    h = mix_ints(h, d->codes, d->n);
    h = d->weights ? okra_mix_(h, d->weights, (size_t)d->n * sizeof(double)) : h;
    for (int g = 0; g < d->group_count; g++) {
        const okra_ragged_ *group = &d->groups[g];
        okra_int elements = group->offsets[d->n];
        h = mix_ints(h, group->offsets, d->n + 1);
        for (int f = 0; f < group->field_count; f++) {
            const okra_field_ *field = &group->fields[f];
            h = okra_mix_(h, field->values,
                          (size_t)(elements * field->width) *
                              okra_field_size_(field->type));
        }
    }
    for (int c = 0; c < d->component_count; c++) {
        h = okra_data_mix_(h, d->components[c]);
    }
    return h;
}
