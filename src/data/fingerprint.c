/*
 * fingerprint.c: a 64-bit hash (FNV-1a) of objects, by which kept work knows its data.
 *
 * Every byte of the values counts, names and sources do not; equal collections have equal
 * fingerprints wherever they come from. About a nanosecond a byte.
 */
#include "data/data.h"

#include <string.h>

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
