/*
 * npy.c: the elements of NumPy's array format, read and written.
 */
#include "data/files/formats.h"
#include "data/files/npy.h"

/* ---- the elements ---- */

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
    OWNED okra_bytes_ *kept = NULL;
    okra_data *data = NULL;
    MAKE(kept, 1);
    CHK(nan ? OKRA_OK : okra_finite_(values, npy->rows, npy->cols, npy->cols));
    CHK(okra_data_new_(OKRA_DENSE, npy->rows, npy->cols, source, &data));
    *kept = *holder;
    *holder = (okra_bytes_){0};
    data->values = values;
    data->release = release_bytes;
    data->release_arg = TAKE(kept);
    *out = data;
    return OKRA_OK;
}

okra_status okra_npy_data_(const okra_context *ctx, const unsigned char *p, okra_int size,
                           okra_bytes_ *holder, bool nan, const char *source,
                           okra_data **out)
{
    okra_npy_ npy = {0};
    CHK(okra_npy_parse_(p, size, &npy));
    const unsigned char *from = p + npy.offset;
    bool native = npy.type == 'f' && npy.size == 8 && npy.swapped != little_endian();
    bool in_order = !npy.fortran || npy.rows <= 1 || npy.cols <= 1;
    if (native && in_order && (uintptr_t)from % sizeof(double) == 0) {
        return in_place((const double *)(const void *)from, &npy, holder, nan, source,
                        out);
    }
    return okra_npy_convert_(ctx, from, &npy, nan, source, out);
}

okra_status okra_read_npy_(okra_source_ *source, okra_data **out)
{
    return okra_npy_data_(source->ctx, source->bytes.p, source->bytes.size,
                          &source->bytes, source->how == OKRA_HOW_MISSING_, source->name,
                          out);
}

/* ---- writing ---- */

/* Numbers in the file are little-endian. */
static okra_status put_words(okra_writer_ *w, const void *words, okra_int count)
{
    if (little_endian()) {
        return okra_writer_put_(w, words, (size_t)count * 8);
    }
    for (okra_int k = 0; k < count; k++) {
        unsigned char bytes[8];
        for (int b = 0; b < 8; b++) {
            bytes[b] = ((const unsigned char *)words)[8 * k + 7 - b];
        }
        CHK(okra_writer_put_(w, bytes, sizeof bytes));
    }
    return OKRA_OK;
}

okra_status okra_write_npy_(okra_writer_ *w, const okra_data *data)
{
    char header[OKRA_NPY_HEADER_];
    const char *descr = data->kind == OKRA_LABELS ? "<i8"
                        : data->kind == OKRA_BITS ? "|u1"
                                                  : "<f8";
    REFUSE_IF(
        data->kind == OKRA_SPARSE, OKRA_EUNSUPPORTED,
        "sparse data cannot be written as .npy, but as .mtx, or read with dense: first");
    REFUSE_IF(data->kind >= OKRA_STRINGS, OKRA_EUNSUPPORTED,
              "%s cannot be written as .npy", okra_kind_name(data->kind));
    size_t size = okra_npy_header_(descr, data->n,
                                   data->kind == OKRA_LABELS ? -1 : data->d, header);
    CHK(okra_writer_put_(w, header, size));
    return data->kind == OKRA_LABELS ? put_words(w, data->codes, data->n)
                                     : okra_write_npy_rows_(w, data);
}

okra_status okra_write_npy_rows_(okra_writer_ *w, const okra_data *data)
{
    for (okra_int i = 0; i < data->n; i++) {
        if (data->kind == OKRA_BITS) {
            for (okra_int j = 0; j < data->d; j++) {
                unsigned char bit = okra_bit_(data, i, j);
                CHK(okra_writer_put_(w, &bit, 1));
            }
        } else {
            CHK(put_words(w, data->values + i * data->ld, data->d));
        }
    }
    return OKRA_OK;
}
