/*
 * npy_convert.c: elements of a NumPy array that are not what okra computes with, as
 * doubles: in memory, or, where they are many (core/scratch.c), in a file in TMPDIR that
 * is filled a block at a time and mapped.
 */
#include "data/files/npy.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* IEEE 754 binary16: 1 sign, 5 exponent (bias 15), 10 fraction bits. */
static double half(uint64_t bits)
{
    int exponent = (int)(bits >> 10 & 31);
    double fraction = (double)(bits & 1023) / 1024, value;
    if (exponent == 31) {
        value = bits & 1023 ? (double)NAN : (double)INFINITY;
    } else {
        value = exponent ? ldexp(1 + fraction, exponent - 15) : ldexp(fraction, -14);
    }
    return bits & 0x8000 ? -value : value;
}

static uint64_t load(const unsigned char *p, int size, bool swapped)
{
    uint64_t bits = 0;
    for (int k = 0; k < size; k++) {
        bits |= (uint64_t)p[swapped ? size - 1 - k : k] << (8 * k);
    }
    return bits;
}

/* One element as a double; false when that is not exact (integers beyond 2^53). */
static bool element(const unsigned char *p, const okra_npy_ *npy, double *value)
{
    uint64_t bits = load(p, npy->size, npy->swapped);
    float single;
    switch (npy->type) {
    case 'b':
        *value = bits != 0;
        return true;
    case 'u':
        *value = (double)bits;
        return *value < 0x1p64 && (uint64_t)*value == bits;
    case 'i': {
        int unused = 64 - 8 * npy->size;
        int64_t number = (int64_t)(bits << unused) >> unused;
        *value = (double)number;
        return *value < 0x1p63 && (int64_t)*value == number;
    }
    default:
        if (npy->size == 8) {
            memcpy(value, &bits, sizeof *value);
        } else if (npy->size == 4) {
            uint32_t word = (uint32_t)bits;
            memcpy(&single, &word, sizeof single);
            *value = (double)single;
        } else {
            *value = half(bits);
        }
        return true;
    }
}

/* Rows first.. into `to`. */
static okra_status convert(const unsigned char *p, const okra_npy_ *npy, okra_int first,
                           okra_int rows, double *to)
{
    okra_int step = npy->fortran ? npy->rows : 1, stride = npy->fortran ? 1 : npy->cols;
    for (okra_int i = first; i < first + rows; i++) {
        const unsigned char *row = p + i * stride * npy->size;
        for (okra_int j = 0; j < npy->cols; j++, to++) {
            REFUSE_IF(!element(row + j * step * npy->size, npy, to), OKRA_EFORMAT,
                      "row %" PRId64 ", column %" PRId64
                      " (counted from 0) is an integer near %.17g, which a float64 "
                      "cannot hold exactly",
                      i, j, *to);
        }
    }
    return OKRA_OK;
}

static void release_scratch(void *arg)
{
    okra_scratch_clear_(arg);
    okra_free_(arg);
}

okra_status okra_npy_convert_(const okra_context *ctx, const unsigned char *from,
                              const okra_npy_ *npy, bool nan, const char *source,
                              okra_data **out)
{
    enum { BLOCK = 1 << 17 };
    okra_status st = OKRA_OK;
    okra_scratch_ *scratch = NULL;
    double *block = NULL;
    okra_int cols = npy->cols, left = okra_memory_left_(ctx);
    okra_int most = OKRA_MIN_(BLOCK, left / 8 / (okra_int)sizeof *block);
    okra_int rows = OKRA_MAX_(1, OKRA_MIN_(npy->rows, most / OKRA_MAX_(cols, 1)));
    ZALLOC(scratch, 1);
    TRY(okra_scratch_create_(ctx, npy->rows, cols, "an array", scratch));
    if (scratch->memory) {
        TRY(convert(from, npy, 0, npy->rows, scratch->memory));
        TRY(nan ? OKRA_OK : okra_finite_(scratch->p, npy->rows, cols, cols));
        TRY(okra_data_adopt_dense_(&scratch->memory, npy->rows, cols, source, out));
        goto done;
    }
    TRY(okra_doubles_(ctx, rows, cols, "a block of an array", &block));
    for (okra_int i = 0; i < npy->rows; i += rows) {
        okra_int some = OKRA_MIN_(rows, npy->rows - i);
        TRY(convert(from, npy, i, some, block));
        TRY(okra_scratch_write_(scratch, i, some, block));
        if (!nan && okra_finite_(block, some, cols, cols) != OKRA_OK) {
            TRY(okra_finite_(scratch->p, i + some, cols, cols)); /* says which row */
        }
    }
    TRY(okra_data_new_(OKRA_DENSE, npy->rows, cols, source, out));
    (*out)->values = scratch->p;
    (*out)->release = release_scratch;
    (*out)->release_arg = TAKE(scratch);
done:
    if (scratch) {
        release_scratch(scratch);
    }
    okra_free_(block);
    return st;
}
