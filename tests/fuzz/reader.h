/*
 * reader.h: feeds bytes to one reader and checks what every collection must satisfy.
 */
#ifndef OKRA_FUZZ_READER_H
#define OKRA_FUZZ_READER_H

#include "turn.h"

#include "data/files/formats.h"
#include "okra/more/objects.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(condition) \
    do {                      \
        if (!(condition)) {   \
            abort();          \
        }                     \
    } while (0)

/* Edges end at nodes of their graph; labels that are texts lie among its names. */
static inline void fuzz_check_graphs(const okra_data *data)
{
    const okra_ragged_ *g = data->groups;
    const int32_t *label = g[0].fields[0].values, *ends = g[1].fields[0].values;
    for (okra_int i = 0; i < data->n; i++) {
        okra_int nodes = g[0].offsets[i + 1] - g[0].offsets[i];
        for (okra_int k = 2 * g[1].offsets[i]; k < 2 * g[1].offsets[i + 1]; k++) {
            FUZZ_CHECK(ends[k] >= 0 && ends[k] < nodes && ends[k | 1] != ends[k & ~1]);
        }
        for (okra_int k = g[0].offsets[i]; k < g[0].offsets[i + 1]; k++) {
            FUZZ_CHECK(label[k] >= 0 ||
                       -1 - label[k] < g[3].offsets[i + 1] - g[3].offsets[i]);
        }
    }
}

/* Peaks ascend, all numbers are what kernels rely on. */
static inline void fuzz_check_spectra(const okra_data *data)
{
    for (okra_int i = 0; i < data->n; i++) {
        const double *mz = NULL, *height = NULL;
        okra_int count = okra_data_peaks(data, i, &mz, &height), length = 0;
        double mass = okra_data_mass(data, i);
        FUZZ_CHECK(count > 0 && mass >= 0 && isfinite(mass));
        FUZZ_CHECK(okra_data_about(data, i, NULL, &length) && length >= 0);
        for (okra_int k = 0; k < count; k++) {
            FUZZ_CHECK(mz[k] > (k ? mz[k - 1] : 0) && isfinite(mz[k]));
            FUZZ_CHECK(height[k] > 0 && isfinite(height[k]));
        }
    }
}

/* Touches every element: finite, in range, in order. */
static inline void fuzz_check(const okra_data *data)
{
    FUZZ_CHECK(data->n >= 0 && data->d >= 0 && data->source);
    if (data->kind == OKRA_GRAPHS) {
        fuzz_check_graphs(data);
    }
    if (data->kind == OKRA_SPECTRA) {
        fuzz_check_spectra(data);
    }
    for (okra_int i = 0; data->kind == OKRA_NODES && i < data->n; i++) {
        FUZZ_CHECK(data->codes[i] >= 0 && data->codes[i] < data->network->nodes);
    }
    for (int g = 0; g < data->group_count; g++) {
        const okra_ragged_ *group = &data->groups[g];
        FUZZ_CHECK(group->offsets[0] == 0);
        for (okra_int i = 0; i < data->n; i++) {
            FUZZ_CHECK(group->offsets[i] <= group->offsets[i + 1]);
        }
    }
    for (okra_int i = 0; i < data->n; i++) {
        okra_int length = 0;
        const int32_t *code = okra_data_characters(data, i, &length);
        for (okra_int k = 0; code && k < length; k++) {
            FUZZ_CHECK(code[k] >= -1 && code[k] <= 0x10ffff);
        }
    }
    for (okra_int i = 0; i < data->n; i++) {
        for (okra_int j = 0; data->values && j < data->d; j++) {
            double value = data->values[i * data->ld + j];
            FUZZ_CHECK(isfinite(value) || (data->missing && isnan(value)));
        }
        for (okra_int k = 0; data->bits && k < data->words; k++) {
            FUZZ_CHECK(data->d % 64 == 0 || k + 1 < data->words ||
                       data->bits[i * data->words + k] >> (data->d % 64) == 0);
        }
        if (data->kind == OKRA_LABELS) {
            FUZZ_CHECK(data->codes[i] >= 0 && data->codes[i] < data->d);
            FUZZ_CHECK(!data->class_names ||
                       strlen(data->class_names[data->codes[i]]) < 1u << 30);
        }
        if (data->kind == OKRA_SPARSE) {
            for (okra_int k = data->csr.indptr[i]; k < data->csr.indptr[i + 1]; k++) {
                FUZZ_CHECK(data->csr.indices[k] >= 0 && data->csr.indices[k] < data->d);
                FUZZ_CHECK(k == data->csr.indptr[i] ||
                           data->csr.indices[k - 1] < data->csr.indices[k]);
                FUZZ_CHECK(isfinite(data->csr.values[k]));
            }
        }
    }
}

/* One context for all inputs: a small budget, no threads. */
static inline okra_context *fuzz_context(void)
{
    static okra_context *context;
    if (!context) {
        FUZZ_CHECK(okra_context_create(&context) == OKRA_OK);
        FUZZ_CHECK(okra_context_set_memory(context, INT64_C(1) << 22) == OKRA_OK);
        FUZZ_CHECK(okra_context_set_threads(context, 1) == OKRA_OK);
    }
    return context;
}

/* Reads the bytes by a format, a part of the file (NULL: all) in one way; nothing may
 * leak. */
static inline void fuzz_one_way(const char *format, const char *part, okra_how_ how,
                                const uint8_t *bytes, size_t size)
{
    okra_source_ source = {.ctx = fuzz_context(),
                           .name = "input",
                           .path = "input",
                           .part = part,
                           .how = how,
                           .bytes = {.p = bytes, .size = (okra_int)size}};
    okra_data *data = NULL;
    okra_int live = okra_alloc_live_blocks_();
    okra_status st =
        okra_format_read_(okra_format_find_(format, strlen(format)), &source, &data);
    if (st == OKRA_OK) {
        fuzz_check(data);
    } else {
        FUZZ_CHECK(!data && okra_message()[0] && st != OKRA_EINTERNAL);
    }
    okra_data_free(data);
    okra_bytes_close_(&source.bytes);
    FUZZ_CHECK(okra_alloc_live_blocks_() == live);
}

/* In every way of taking the values. */
static inline void fuzz_read(const char *format, const uint8_t *bytes, size_t size)
{
    enum { WAYS = OKRA_HOW_PERMUTATIONS_ + 1 };
    for (int how = 0; how < WAYS; how++) {
        if (fuzz_turn(size, how, WAYS)) {
            fuzz_one_way(format, NULL, (okra_how_)how, bytes, size);
        }
    }
}

#endif
