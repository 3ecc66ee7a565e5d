/*
 * npy.c: the elements of NumPy's array format, read and written.
 */
#include "data/formats.h"
#include "data/npy.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the elements ---------------------------------------------------------------- */

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

static okra_status convert(const unsigned char *p, const okra_npy_ *npy, double *to)
{
    okra_int step = npy->fortran ? npy->rows : 1, stride = npy->fortran ? 1 : npy->cols;
    for (okra_int i = 0; i < npy->rows; i++) {
        const unsigned char *row = p + i * stride * npy->size;
        for (okra_int j = 0; j < npy->cols; j++) {
            if (!element(row + j * step * npy->size, npy, to + i * npy->cols + j)) {
                return okra_fail_(OKRA_EFORMAT,
                                  "row %" PRId64 ", column %" PRId64
                                  " (counted from 0) is an integer near %.17g, which "
                                  "a float64 cannot hold exactly",
                                  i, j, to[i * npy->cols + j]);
            }
        }
    }
    return OKRA_OK;
}

static void release_bytes(void *arg)
{
    okra_bytes_close_(arg);
    okra_free_(arg);
}

static bool little_endian(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 1;
}

/* Dense data over the elements where they lie. */
static okra_status in_place(const double *values, const okra_npy_ *npy,
                            okra_bytes_ *holder, bool nan, const char *source,
                            okra_data **out)
{
    okra_status st = OKRA_OK;
    okra_bytes_ *kept = NULL;
    okra_data *data = NULL;
    ALLOC(kept, 1);
    TRY(nan ? OKRA_OK : okra_finite_(values, npy->rows, npy->cols, npy->cols));
    TRY(okra_data_new_(OKRA_DENSE, npy->rows, npy->cols, source, &data));
    *kept = *holder;
    *holder = (okra_bytes_){0};
    data->values = values;
    data->release = release_bytes;
    data->release_arg = kept;
    kept = NULL;
    *out = data;
done:
    okra_free_(kept);
    return st;
}

okra_status okra_npy_data_(const okra_context *ctx, const unsigned char *p, okra_int size,
                           okra_bytes_ *holder, bool nan, const char *source,
                           okra_data **out)
{
    okra_status st = OKRA_OK;
    okra_npy_ npy = {0};
    double *values = NULL;
    TRY(okra_npy_parse_(p, size, &npy));
    const unsigned char *from = p + npy.offset;
    bool native = npy.type == 'f' && npy.size == 8 && npy.swapped != little_endian();
    bool in_order = !npy.fortran || npy.rows <= 1 || npy.cols <= 1;
    if (native && in_order && (uintptr_t)from % sizeof(double) == 0) {
        return in_place((const double *)(const void *)from, &npy, holder, nan, source,
                        out);
    }
    TRY(okra_doubles_(ctx, npy.rows, npy.cols, "an array", &values));
    TRY(convert(from, &npy, values));
    TRY(nan ? OKRA_OK : okra_finite_(values, npy.rows, npy.cols, npy.cols));
    TRY(okra_data_adopt_dense_(values, npy.rows, npy.cols, source, out));
    values = NULL;
done:
    okra_free_(values);
    return st;
}

okra_status okra_read_npy_(okra_source_ *source, okra_data **out)
{
    return okra_npy_data_(source->ctx, source->bytes.p, source->bytes.size,
                          &source->bytes, source->how == OKRA_HOW_MISSING_, source->name,
                          out);
}

/* ---- writing --------------------------------------------------------------------- */

/* Numbers in the file are little-endian. */
static okra_status put_words(okra_writer_ *w, const void *words, okra_int count)
{
    okra_status st = OKRA_OK;
    if (little_endian()) {
        return okra_writer_put_(w, words, (size_t)count * 8);
    }
    for (okra_int k = 0; k < count; k++) {
        unsigned char bytes[8];
        for (int b = 0; b < 8; b++) {
            bytes[b] = ((const unsigned char *)words)[8 * k + 7 - b];
        }
        TRY(okra_writer_put_(w, bytes, sizeof bytes));
    }
done:
    return st;
}

okra_status okra_write_npy_(okra_writer_ *w, const okra_data *data)
{
    okra_status st = OKRA_OK;
    char header[OKRA_NPY_HEADER_];
    const char *descr = data->kind == OKRA_LABELS ? "<i8"
                        : data->kind == OKRA_BITS ? "|u1"
                                                  : "<f8";
    if (data->kind == OKRA_SPARSE) {
        FAIL(OKRA_EUNSUPPORTED, "sparse data cannot be written as .npy, but as .mtx, or "
                                "read with dense: first");
    }
    if (data->kind >= OKRA_STRINGS) {
        FAIL(OKRA_EUNSUPPORTED, "%s cannot be written as .npy",
             okra_kind_name(data->kind));
    }
    size_t size = okra_npy_header_(descr, data->n,
                                   data->kind == OKRA_LABELS ? -1 : data->d, header);
    TRY(okra_writer_put_(w, header, size));
    if (data->kind == OKRA_LABELS) {
        return put_words(w, data->codes, data->n);
    }
    for (okra_int i = 0; i < data->n; i++) {
        if (data->kind == OKRA_BITS) {
            for (okra_int j = 0; j < data->d; j++) {
                unsigned char bit = okra_bit_(data, i, j);
                TRY(okra_writer_put_(w, &bit, 1));
            }
        } else {
            TRY(put_words(w, data->values + i * data->ld, data->d));
        }
    }
done:
    return st;
}
