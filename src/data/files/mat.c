/*
 * mat.c: MATLAB files, version 5 and 7.3, through matio.
 *
 * MATLAB stores columns one after another and its sparse matrices as compressed columns;
 * both are turned into rows. An array of more dimensions is the matrix that MATLAB writes
 * as A(:,:), rows by everything else. matio allocates on its own, so sizes are tested
 * against the memory budget before it reads.
 */
#include "data/files/formats.h"

#include <inttypes.h>
#include <matio.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

enum { NAMES = 200 };

/* matio writes to stderr unless it is given somebody to talk to. */
static void listen(int level, char *message)
{
    (void)level;
    (void)message;
}

static bool is_numeric(const matvar_t *v)
{
    return v->class_type >= MAT_C_SPARSE && v->class_type <= MAT_C_UINT64;
}

/* The variable asked for, or the only numeric one; its data are not read yet. */
static okra_status choose(mat_t *file, const char *part, matvar_t **out)
{
    okra_status st = OKRA_OK;
    char names[NAMES] = "";
    size_t used = 0;
    okra_int count = 0;
    matvar_t *v, *found = NULL;
    while ((v = Mat_VarReadNextInfo(file)) != NULL) {
        const char *name = v->name ? v->name : "";
        bool wanted = part ? strcmp(name, part) == 0 : is_numeric(v);
        if (used < NAMES) {
            used += (size_t)snprintf(names + used, NAMES - used, "%s%s", used ? ", " : "",
                                     name);
        }
        count += wanted;
        if (wanted && !found) {
            found = v;
        } else {
            Mat_VarFree(v);
        }
    }
    if (part && !found) {
        FAIL(OKRA_EARG, "there is no variable '%s'; there is: %s", part, names);
    }
    if (!part && count != 1) {
        FAIL(count ? OKRA_EARG : OKRA_EFORMAT,
             "there are %" PRId64 " numeric variables%s%s; choose one as FILE:NAME",
             count, used ? " among: " : "", names);
    }
    *out = found;
    found = NULL;
done:
    Mat_VarFree(found);
    return st;
}

/* Rows, and the product of all other dimensions; false where that is absurd. */
static bool flat(const matvar_t *v, okra_int *n, okra_int *d)
{
    *d = 1;
    for (int k = 1; k < v->rank; k++) {
        if (v->dims[k] > INT64_MAX ||
            __builtin_mul_overflow(*d, (okra_int)v->dims[k], d)) {
            return false;
        }
    }
    *n = v->rank > 0 ? (okra_int)v->dims[0] : 0;
    return v->rank >= 2 && *n >= 0;
}

static okra_status check(const okra_context *ctx, const matvar_t *v)
{
    okra_status st = OKRA_OK;
    okra_int area = 0, n, d;
    if (!is_numeric(v) || v->isComplex) {
        FAIL(OKRA_EUNSUPPORTED, "variable '%s' is not %s", v->name,
             is_numeric(v) ? "real" : "numeric");
    }
    if (!flat(v, &n, &d)) {
        FAIL(OKRA_EFORMAT, "variable '%s' has an absurd size", v->name);
    }
    if (v->class_type == MAT_C_SPARSE) {
        TRY(okra_budget_ask_(ctx, 8.0 * ((double)n + (double)d),
                             "a sparse matrix of %" PRId64 " x %" PRId64, n, d));
    } else {
        TRY(okra_area_(n, d, sizeof(double), &area));
        TRY(okra_budget_ask_(ctx, 16.0 * (double)area,
                             "variable '%s' of %" PRId64 " x %" PRId64, v->name, n, d));
    }
    if (n > 0 && d == 0) {
        FAIL(OKRA_EFORMAT, "variable '%s' has %" PRId64 " rows of no elements", v->name,
             n);
    }
done:
    return st;
}

/* Element k of a block of the type that matio names; false for other types. */
static bool element(enum matio_types type, const void *p, size_t k, double *value)
{
    switch ((int)type) {
#define CASE(symbol, ctype)                     \
    case symbol:                                \
        *value = (double)((const ctype *)p)[k]; \
        return true;
        CASE(MAT_T_DOUBLE, double)
        CASE(MAT_T_SINGLE, float)
        CASE(MAT_T_INT8, int8_t)
        CASE(MAT_T_UINT8, uint8_t)
        CASE(MAT_T_INT16, int16_t)
        CASE(MAT_T_UINT16, uint16_t)
        CASE(MAT_T_INT32, int32_t)
        CASE(MAT_T_UINT32, uint32_t)
        CASE(MAT_T_INT64, int64_t)
        CASE(MAT_T_UINT64, uint64_t)
#undef CASE
    default:
        return false;
    }
}

static okra_status read_dense(okra_source_ *source, const matvar_t *v, okra_data **out)
{
    okra_status st = OKRA_OK;
    double *values = NULL;
    okra_int n = 0, d = 0;
    flat(v, &n, &d);
    TRY(okra_doubles_(source->ctx, n, d, "a variable", &values));
    double value;
    if (n * d > 0 && (!v->data || !element(v->data_type, v->data, 0, &value) ||
                      (okra_int)(v->nbytes / Mat_SizeOf(v->data_type)) < n * d)) {
        FAIL(OKRA_EFORMAT, "the elements of variable '%s' could not be read", v->name);
    }
    for (okra_int j = 0; j < d; j++) {
        for (okra_int i = 0; i < n; i++) {
            element(v->data_type, v->data, (size_t)(j * n + i), &values[i * d + j]);
        }
    }
    TRY(okra_finite_(values, n, d, d));
    TRY(okra_data_adopt_dense_(values, n, d, source->name, out));
    values = NULL;
done:
    okra_free_(values);
    return st;
}

/* Compressed columns to rows, everything that indexes tested first. */
static okra_status read_sparse(okra_source_ *source, const matvar_t *v, okra_data **out)
{
    okra_status st = OKRA_OK;
    okra_csr_ csr = {0};
    const mat_sparse_t *s = v->data;
    okra_int n = (okra_int)v->dims[0], d = (okra_int)v->dims[1];
    double value;
    if (!s || !s->jc || (okra_int)s->njc < d + 1 || s->jc[0] != 0) {
        FAIL(OKRA_EFORMAT, "the columns of variable '%s' could not be read", v->name);
    }
    okra_int count = s->jc[d];
    if (count > s->nir || count > s->ndata || (count > 0 && (!s->ir || !s->data)) ||
        (count > 0 && !element(v->data_type, s->data, 0, &value))) {
        FAIL(OKRA_EFORMAT, "the elements of variable '%s' could not be read", v->name);
    }
    for (okra_int j = 0; j < d; j++) {
        if (s->jc[j + 1] < s->jc[j]) {
            FAIL(OKRA_EFORMAT, "the columns of variable '%s' do not ascend", v->name);
        }
    }
    ZALLOC(csr.indptr, n + 2);
    ALLOC(csr.indices, count);
    ALLOC(csr.values, count);
    for (okra_int k = 0; k < count; k++) {
        if (s->ir[k] >= n) {
            FAIL(OKRA_EFORMAT, "variable '%s' has an element in row %u of %" PRId64,
                 v->name, (unsigned)s->ir[k] + 1, n);
        }
        csr.indptr[s->ir[k] + 2]++;
    }
    for (okra_int i = 2; i <= n + 1; i++) {
        csr.indptr[i] += csr.indptr[i - 1];
    }
    /* indptr[i+1] is where row i begins; filling moves it to where the row ends. */
    for (okra_int j = 0; j < d; j++) {
        for (okra_int k = s->jc[j]; k < (okra_int)s->jc[j + 1]; k++) {
            okra_int to = csr.indptr[s->ir[k] + 1]++;
            csr.indices[to] = j;
            element(v->data_type, s->data, (size_t)k, &csr.values[to]);
        }
    }
    st = okra_data_adopt_sparse_(&csr, n, d, source->name, out);
    st = st == OKRA_EARG ? OKRA_EFORMAT : st; /* an entry that is there twice */
done:
    okra_csr_free_(&csr);
    return st;
}

/* ---- the file's own sizes ---- */

/* matio takes older files and much that is none, believes sizes before it looks, and
 * gives what was cut off as it pleases: so the file is checked here first. Version 5:
 * after a header of 128 bytes that ends in a version and a byte order come elements, each
 * a tag of type and size and then its bytes; a matrix holds elements again; a packed
 * element holds a zlib stream of one element. Version 7.3 is HDF5 behind 512 bytes, which
 * checks itself. */
enum { HEADER = 128, TAG = 8, HDF5_AT = 512 };
enum { TYPE_INT32 = 5, TYPE_UINT32, TYPE_MATRIX = 14, TYPE_PACKED, TYPE_MOST = 18 };
enum { DEPTH_MOST = 16 }; /* structures inside structures */

typedef struct walk {
    const okra_context *ctx;
    bool little;
} walk;

static uint32_t word(const walk *w, const unsigned char *p)
{
    return w->little ? (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
                           (uint32_t)p[3] << 24
                     : (uint32_t)p[3] | (uint32_t)p[2] << 8 | (uint32_t)p[1] << 16 |
                           (uint32_t)p[0] << 24;
}

static okra_status walk_packed(const walk *w, const unsigned char *p, okra_int size);

/* The elements of p..p+size, which they must fill. At the top nothing pads them; inside a
 * matrix they begin at multiples of 8, and one of up to 4 bytes may lie in its tag. */
static okra_status walk_elements(const walk *w, const unsigned char *p, okra_int size,
                                 int depth)
{
    okra_status st = OKRA_OK;
    bool sparse = false;
    for (okra_int at = 0, index = 0; at < size; index++) {
        okra_int rest = size - at - TAG;
        const unsigned char *tag = p + at;
        at += TAG;
        if (rest < 0) {
            FAIL(OKRA_EFORMAT, "damaged or cut short: a variable is not whole");
        }
        uint32_t small = depth > 0 ? word(w, tag) >> 16 : 0; /* bytes in the tag itself */
        uint32_t type = word(w, tag) & (small ? 0xffff : UINT32_MAX);
        if (type < 1 || type > TYPE_MOST) {
            FAIL(OKRA_EFORMAT, "damaged: an element of a variable has type %" PRIu32,
                 type);
        }
        /* Of a sparse matrix elements 3 and 4 are row numbers and column beginnings. */
        if (sparse && (index == 3 || index == 4) && type != TYPE_INT32 &&
            type != TYPE_UINT32) {
            FAIL(OKRA_EFORMAT, "damaged: indices of a sparse matrix have type %" PRIu32,
                 type);
        }
        if (small > 0 && small <= 4) {
            continue;
        }
        okra_int length = word(w, tag + 4);
        if (length > rest || small > 4) {
            FAIL(OKRA_EFORMAT, "damaged or cut short: a variable is not whole");
        }
        if (depth > 0 && index == 0 && length >= TAG) { /* the flags: class lowest */
            sparse = (word(w, tag + TAG) & 0xff) == MAT_C_SPARSE;
        }
        if (type == TYPE_MATRIX && depth < DEPTH_MOST) {
            TRY(walk_elements(w, tag + TAG, length, depth + 1));
        } else if (type == TYPE_PACKED && depth == 0) {
            TRY(walk_packed(w, tag + TAG, length));
        }
        at += OKRA_MIN_(depth > 0 ? (length + 7) / 8 * 8 : length, rest);
    }
done:
    return st;
}

static okra_status walk_packed(const walk *w, const unsigned char *p, okra_int size)
{
    okra_status st = OKRA_OK;
    unsigned char first[TAG], *block = NULL;
    uLongf length = sizeof first;
    int code = uncompress(first, &length, p, (uLong)size);
    if ((code != Z_OK && code != Z_BUF_ERROR) || length < sizeof first) {
        FAIL(OKRA_EFORMAT, "damaged: a variable does not inflate");
    }
    /* Deflate makes at most 1032 bytes of one: a larger claim is a lie. */
    okra_int whole = TAG + (okra_int)word(w, first + 4);
    if (whole / 1032 > size) {
        FAIL(OKRA_EFORMAT, "damaged: a variable does not inflate");
    }
    TRY(okra_budget_ask_(w->ctx, (double)whole, "a packed variable"));
    ALLOC(block, whole);
    length = (uLongf)whole;
    code = uncompress(block, &length, p, (uLong)size);
    if (code != Z_OK || (okra_int)length != whole) {
        FAIL(OKRA_EFORMAT, "damaged: a variable does not inflate");
    }
    if (word(w, block) == TYPE_MATRIX) {
        TRY(walk_elements(w, block + TAG, whole - TAG, 1));
    }
done:
    okra_free_(block);
    return st;
}

static okra_status check_file(const okra_source_ *source)
{
    const unsigned char *p = source->bytes.p;
    okra_int size = source->bytes.size;
    bool little = size >= HEADER && p[126] == 'I' && p[127] == 'M';
    bool big = size >= HEADER && p[126] == 'M' && p[127] == 'I';
    if (little && p[125] == 2 && size >= HDF5_AT + TAG &&
        memcmp(p + HDF5_AT, "\x89HDF\r\n\x1a\n", TAG) == 0) {
        return OKRA_OK;
    }
    if ((!little && !big) || p[little ? 125 : 124] != 1) {
        return okra_fail_(OKRA_EFORMAT, "not a MATLAB file of version 5 or 7.3");
    }
    return walk_elements(&(walk){source->ctx, little}, p + HEADER, size - HEADER, 0);
}

/* ---- the whole ---- */

okra_status okra_read_mat_(okra_source_ *source, okra_data **out)
{
    okra_status st = OKRA_OK;
    mat_t *file = NULL;
    matvar_t *v = NULL;
    TRY(check_file(source));
    Mat_LogInitFunc("okra", listen);
    file = Mat_Open(source->path, MAT_ACC_RDONLY);
    if (!file) {
        FAIL(OKRA_EFORMAT, "damaged: matio cannot open it");
    }
    TRY(choose(file, source->part, &v));
    TRY(check(source->ctx, v));
    if (Mat_VarReadDataAll(file, v) != 0) {
        FAIL(OKRA_EFORMAT, "the elements of variable '%s' could not be read", v->name);
    }
    TRY(v->class_type == MAT_C_SPARSE ? read_sparse(source, v, out)
                                      : read_dense(source, v, out));
done:
    Mat_VarFree(v);
    if (file) {
        Mat_Close(file);
    }
    return st;
}
