/*
 * npy.c: the elements of NumPy's array format, read and written.
 */
#include "data/files/formats.h"
#include "data/files/archive.h"

/* ---- headers: versions 1 to 3 (NEP 1), a magic and a Python dictionary ---- */

enum { MAGIC = 6, PREAMBLE1 = 10, PREAMBLE2 = 12, HEADER_MOST = 1 << 20 };

typedef struct cursor {
    const char *p, *end;
} cursor;

static void skip_space(cursor *c)
{
    while (c->p < c->end && strchr(" \t\r\n", *c->p) && *c->p) {
        c->p++;
    }
}

static bool take(cursor *c, char wanted)
{
    skip_space(c);
    if (c->p < c->end && *c->p == wanted) {
        c->p++;
        return true;
    }
    return false;
}

static bool accept_word(cursor *c, const char *word)
{
    size_t length = strlen(word);
    skip_space(c);
    if ((size_t)(c->end - c->p) >= length && memcmp(c->p, word, length) == 0) {
        c->p += length;
        return true;
    }
    return false;
}

/* A Python string without escapes, into `text`. */
static bool accept_string(cursor *c, char *text, size_t size)
{
    skip_space(c);
    if (c->p == c->end || (*c->p != '\'' && *c->p != '"')) {
        return false;
    }
    char quote = *c->p++;
    size_t length = 0;
    while (c->p < c->end && *c->p != quote && length + 1 < size) {
        text[length++] = *c->p++;
    }
    text[length] = '\0';
    return take(c, quote);
}

static okra_status header_has(bool there, const char *what)
{
    REFUSE_IF(!there, OKRA_EFORMAT, "the array's header has no valid %s", what);
    return OKRA_OK;
}

static okra_status parse_type(cursor *c, okra_npy_ *npy)
{
    char text[32];
    REFUSE_IF(take(c, '['), OKRA_EUNSUPPORTED,
              "the array is structured; expected bool, integer or float elements");
    CHK(header_has(accept_string(c, text, sizeof text), "'descr'"));
    static const char *const known[] = {"b1", "i1", "i2", "i4", "i8", "u1",
                                        "u2", "u4", "u8", "f2", "f4", "f8"};
    for (size_t k = 0; text[0] && k < sizeof known / sizeof *known; k++) {
        if (strchr("<>|=", text[0]) && strcmp(text + 1, known[k]) == 0) {
            npy->type = text[1];
            npy->size = text[2] - '0';
            npy->swapped = text[0] == '>';
            return OKRA_OK;
        }
    }
    return okra_fail_(
        OKRA_EUNSUPPORTED,
        "the array's elements are '%s'%s; expected bool, integer or float (b1, i1 to "
        "i8, u1 to u8, f2, f4, f8)",
        text,
        strchr(text, 'O')   ? " (Python objects)"
        : strchr(text, 'c') ? " (complex)"
                            : "");
}

static okra_status parse_shape(cursor *c, okra_npy_ *npy)
{
    okra_int shape[2] = {0, 1};
    CHK(header_has(take(c, '('), "'shape'"));
    npy->dimensions = 0;
    while (!take(c, ')')) {
        skip_space(c);
        okra_int value = 0;
        const char *digits = c->p;
        while (c->p < c->end && *c->p >= '0' && *c->p <= '9') {
            REFUSE_IF(__builtin_mul_overflow(value, 10, &value) ||
                          __builtin_add_overflow(value, *c->p - '0', &value),
                      OKRA_EFORMAT, "a dimension of the array does not fit in 64 bits");
            c->p++;
        }
        CHK(header_has(c->p > digits, "'shape'"));
        take(c, 'L'); /* as Python 2 wrote long integers */
        if (npy->dimensions < 2) {
            shape[npy->dimensions] = value;
        }
        npy->dimensions++;
        if (!take(c, ',')) {
            CHK(header_has(take(c, ')'), "'shape'"));
            break;
        }
    }
    REFUSE_IF(npy->dimensions != 1 && npy->dimensions != 2, OKRA_EUNSUPPORTED,
              "the array has %d dimensions; expected 1 or 2%s", npy->dimensions,
              npy->dimensions > 2 ? ": a.reshape(len(a), -1) makes rows" : "");
    npy->rows = shape[0];
    npy->cols = shape[1];
    return OKRA_OK;
}

static okra_status parse_dictionary(cursor c, okra_npy_ *npy)
{
    char key[32];
    unsigned seen = 0;
    CHK(header_has(take(&c, '{'), "dictionary"));
    while (!take(&c, '}')) {
        CHK(header_has(accept_string(&c, key, sizeof key) && take(&c, ':'),
                       "dictionary"));
        if (strcmp(key, "descr") == 0) {
            CHK(parse_type(&c, npy));
            seen |= 1;
        } else if (strcmp(key, "shape") == 0) {
            CHK(parse_shape(&c, npy));
            seen |= 2;
        } else if (strcmp(key, "fortran_order") == 0) {
            npy->fortran = accept_word(&c, "True");
            CHK(header_has(npy->fortran || accept_word(&c, "False"), "'fortran_order'"));
            seen |= 4;
        } else {
            CHK(header_has(false, "dictionary"));
        }
        if (!take(&c, ',')) {
            CHK(header_has(take(&c, '}'), "dictionary"));
            break;
        }
    }
    return header_has(seen == 7, !(seen & 1)   ? "'descr'"
                                 : !(seen & 2) ? "'shape'"
                                               : "'fortran_order'");
}

okra_status okra_npy_parse_(const unsigned char *p, okra_int size, okra_npy_ *out)
{
    okra_npy_ npy = {0};
    REFUSE_IF(size < MAGIC || memcmp(p, "\x93NUMPY", MAGIC) != 0, OKRA_EFORMAT,
              "not a NumPy array file: it does not begin with \\x93NUMPY");
    REFUSE_IF(size < PREAMBLE2, OKRA_EFORMAT, "the array's header is cut short");
    REFUSE_IF(p[6] < 1 || p[6] > 3, OKRA_EVERSION,
              "the array file has version %d.%d; expected 1 to 3", p[6], p[7]);
    okra_int length = p[8] | p[9] << 8, begin = PREAMBLE1;
    if (p[6] > 1) {
        length |= (okra_int)p[10] << 16 | (okra_int)p[11] << 24;
        begin = PREAMBLE2;
    }
    REFUSE_IF(length > size - begin || length > HEADER_MOST, OKRA_EFORMAT,
              "the array's header is cut short");
    npy.offset = begin + length;
    const char *header = (const char *)p + begin;
    CHK(parse_dictionary((cursor){header, header + length}, &npy));
    REFUSE_IF(npy.rows > 0 && npy.cols == 0, OKRA_EFORMAT,
              "the array has %" PRId64 " rows of no elements", npy.rows);
    okra_int area, bytes, rest = size - npy.offset;
    REFUSE_IF(__builtin_mul_overflow(npy.rows, npy.cols, &area) ||
                  __builtin_mul_overflow(area, npy.size, &bytes) || bytes > rest,
              OKRA_EFORMAT,
              "an array of %" PRId64 " x %" PRId64
              " elements of %d bytes does not fit in the %" PRId64
              " bytes after the header",
              npy.rows, npy.cols, npy.size, rest);
    REFUSE_IF(bytes < rest, OKRA_EFORMAT,
              "%" PRId64 " bytes follow the array of %" PRId64 " x %" PRId64 " elements",
              rest - bytes, npy.rows, npy.cols);
    *out = npy;
    return OKRA_OK;
}

size_t okra_npy_header_(const char *descr, okra_int n, okra_int d,
                        char header[OKRA_NPY_HEADER_])
{
    char shape[64];
    if (d < 0) {
        snprintf(shape, sizeof shape, "(%" PRId64 ",)", n);
    } else {
        snprintf(shape, sizeof shape, "(%" PRId64 ", %" PRId64 ")", n, d);
    }
    memset(header, ' ', OKRA_NPY_HEADER_);
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = OKRA_NPY_HEADER_ - PREAMBLE1;
    header[9] = 0;
    int length =
        snprintf(header + PREAMBLE1, OKRA_NPY_HEADER_ - PREAMBLE1,
                 "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape);
    header[PREAMBLE1 + length] = ' ';
    header[OKRA_NPY_HEADER_ - 1] = '\n';
    return OKRA_NPY_HEADER_;
}

/* ---- conversion ----
 * Elements that are not what okra computes with, as doubles: in memory, or, where they
 * are many (core/scratch.c), in a file in TMPDIR that is filled a block at a time.
 */

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

OKRA_DROPS_(drop_scratch, okra_scratch_, release_scratch)

/* The same of elements that are not used in place, at `from`. */
static okra_status npy_convert(const okra_context *ctx, const unsigned char *from,
                               const okra_npy_ *npy, bool nan, const char *source,
                               okra_data **out)
{
    enum { BLOCK = 1 << 17 };
    FREED_BY(drop_scratch) okra_scratch_ *scratch = NULL;
    OWNED double *block = NULL;
    okra_int cols = npy->cols, left = okra_memory_left_(ctx);
    okra_int most = OKRA_MIN_(BLOCK, left / 8 / (okra_int)sizeof *block);
    okra_int rows = OKRA_MAX_(1, OKRA_MIN_(npy->rows, most / OKRA_MAX_(cols, 1)));
    ZMAKE(scratch, 1);
    CHK(okra_scratch_create_(ctx, npy->rows, cols, "an array", scratch));
    if (scratch->memory) {
        CHK(convert(from, npy, 0, npy->rows, scratch->memory));
        CHK(nan ? OKRA_OK : okra_finite_(scratch->p, npy->rows, cols, cols));
        return okra_data_adopt_dense_(&scratch->memory, npy->rows, cols, source, out);
    }
    CHK(okra_doubles_(ctx, rows, cols, "a block of an array", &block));
    for (okra_int i = 0; i < npy->rows; i += rows) {
        okra_int some = OKRA_MIN_(rows, npy->rows - i);
        CHK(convert(from, npy, i, some, block));
        CHK(okra_scratch_write_(scratch, i, some, block));
        if (!nan && okra_finite_(block, some, cols, cols) != OKRA_OK) {
            CHK(okra_finite_(scratch->p, i + some, cols, cols)); /* says which row */
        }
    }
    CHK(okra_data_new_(OKRA_DENSE, npy->rows, cols, source, out));
    (*out)->values = scratch->p;
    (*out)->release = release_scratch;
    (*out)->release_arg = TAKE(scratch);
    return OKRA_OK;
}

/* ---- the elements ---- */

static void release_bytes(void *arg)
{
    okra_bytes_close_(arg);
    okra_free_(arg);
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
    bool native = npy.type == 'f' && npy.size == 8 && !npy.swapped;
    bool in_order = !npy.fortran || npy.rows <= 1 || npy.cols <= 1;
    if (native && in_order && (uintptr_t)from % sizeof(double) == 0) {
        return in_place((const double *)(const void *)from, &npy, holder, nan, source,
                        out);
    }
    return npy_convert(ctx, from, &npy, nan, source, out);
}

okra_status okra_read_npy_(okra_source_ *source, okra_data **out)
{
    return okra_npy_data_(source->ctx, source->bytes.p, source->bytes.size,
                          &source->bytes, source->how == OKRA_HOW_MISSING_, source->name,
                          out);
}

/* ---- writing ---- */

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
    return data->kind == OKRA_LABELS
               ? okra_writer_put_(w, data->codes, (size_t)data->n * 8)
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
            CHK(okra_writer_put_(w, data->values + i * data->ld, (size_t)data->d * 8));
        }
    }
    return OKRA_OK;
}

/* NumPy archives: a zip of .npy files, of which one is taken. */

enum { NAMES = 200 };

static bool is_array(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".npy") == 0;
}

/* "a, b, c" of the arrays, cut when there are many. */
static const char *list_arrays(const okra_zip_ *zip, char text[NAMES])
{
    size_t used = 0;
    const char *name;
    text[0] = '\0';
    for (size_t k = 0; used < NAMES && (name = okra_zip_each_(zip, k)); k++) {
        if (is_array(name)) {
            used += (size_t)snprintf(text + used, NAMES - used, "%s%.*s",
                                     used ? ", " : "", (int)strlen(name) - 4, name);
        }
    }
    return text;
}

/* The array asked for, or the only one. */
static okra_status choose(const okra_zip_ *zip, const char *part, okra_int *out)
{
    char names[NAMES];
    const char *name;
    okra_int arrays = 0;
    for (size_t k = 0; (name = okra_zip_each_(zip, k)); k++) {
        if (!is_array(name)) {
            continue;
        }
        arrays++;
        *out = (okra_int)k;
        if (part && strncmp(name, part, strlen(part)) == 0 &&
            strlen(name) == strlen(part) + 4) {
            return OKRA_OK;
        }
    }
    REFUSE_IF(part, OKRA_EARG, "there is no array '%s'; there is: %s", part,
              list_arrays(zip, names));
    REFUSE_IF(arrays != 1, arrays ? OKRA_EARG : OKRA_EFORMAT,
              "there are %" PRId64 " arrays%s%s; choose one as FILE:NAME", arrays,
              arrays ? ": " : "", list_arrays(zip, names));
    return OKRA_OK;
}

OKRA_DROPS_(drop_zip, okra_zip_, okra_zip_close_)

okra_status okra_read_npz_(okra_source_ *source, okra_data **out)
{
    FREED_BY(drop_zip) okra_zip_ *zip = NULL;
    FREED_BY(okra_bytes_close_) okra_bytes_ inflated = {0};
    const unsigned char *p = NULL;
    okra_int index = 0, size = 0;
    CHK(okra_zip_adopt_(&source->bytes, &zip));
    CHK(choose(zip, source->part, &index));
    CHK(okra_zip_entry_(source->ctx, zip, index, &p, &size, &inflated.base));
    return okra_at_(okra_npy_data_(source->ctx, p, size,
                                   inflated.base ? &inflated : okra_zip_bytes_(zip),
                                   source->how == OKRA_HOW_MISSING_, source->name, out),
                    "%s", okra_zip_each_(zip, (size_t)index));
}
