/*
 * objects.c: collections of objects in memory: made, copied, chosen from, counted, freed.
 */
#include "data/data.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BITS = 64, WORD_BYTES = 8 };

static const char *const kind_names[] = {"dense", "sparse",  "bits",      "labels",
                                         "gram",  "strings", "sequences", "graphs",
                                         "nodes", "tuple"};

const char *okra_kind_name(okra_kind kind)
{
    return (unsigned)kind < sizeof kind_names / sizeof *kind_names ? kind_names[kind]
                                                                   : "unknown";
}

okra_status okra_area_(okra_int rows, okra_int cols, size_t size, okra_int *out)
{
    okra_int area, bytes;
    if (rows < 0 || cols < 0) {
        return okra_fail_(OKRA_ESHAPE, "%" PRId64 " rows of %" PRId64 ": negative", rows,
                          cols);
    }
    if (__builtin_mul_overflow(rows, cols, &area) ||
        __builtin_mul_overflow(area, (okra_int)size, &bytes)) {
        return okra_fail_(OKRA_ESHAPE,
                          "%" PRId64 " rows of %" PRId64 " are more than memory can hold",
                          rows, cols);
    }
    *out = area;
    return OKRA_OK;
}

okra_status okra_finite_(const double *values, okra_int rows, okra_int cols, okra_int ld)
{
    for (okra_int i = 0; i < rows; i++) {
        const double *row = values + i * ld;
        /* x*0 is 0 for finite x and NaN otherwise: one branch a row. */
        double sum = 0;
        for (okra_int j = 0; j < cols; j++) {
            sum += row[j] * 0.0;
        }
        for (okra_int j = 0; sum != 0 && j < cols; j++) {
            if (!isfinite(row[j])) {
                return okra_fail_(
                    OKRA_EFORMAT,
                    "row %" PRId64 ", column %" PRId64 " (counted from 0) is %s", i, j,
                    isnan(row[j]) ? "nan; values must be finite; outputs "
                                    "with gaps are read as missing:FILE"
                    : row[j] > 0  ? "inf; values must be finite"
                                  : "-inf; values must be finite");
            }
        }
    }
    return OKRA_OK;
}

/* ---- creation ------------------------------------------------------------------- */

okra_status okra_data_new_(okra_kind kind, okra_int n, okra_int d, const char *source,
                           okra_data **out)
{
    okra_status st = OKRA_OK;
    okra_data *data = NULL;
    ZALLOC(data, 1);
    data->kind = kind;
    data->n = n;
    data->d = d;
    data->ld = d;
    data->references = 1;
    data->source = okra_strdup_(source);
    if (!data->source) {
        st = OKRA_EMEM;
        goto done;
    }
    *out = data;
    data = NULL;
done:
    okra_free_(data);
    return st;
}

okra_status okra_data_rename_(okra_data **data, const char *source)
{
    char *copy = okra_strdup_(source);
    if (!copy) {
        okra_data_free(*data);
        *data = NULL;
        return OKRA_EMEM;
    }
    okra_free_((*data)->source);
    (*data)->source = copy;
    return OKRA_OK;
}

void okra_data_own_(okra_data *data, void *block)
{
    size_t k = 0;
    while (data->owned[k]) {
        k++;
    }
    data->owned[k] = block;
}

okra_status okra_data_adopt_dense_(double *values, okra_int n, okra_int d,
                                   const char *source, okra_data **out)
{
    okra_data *data = NULL;
    okra_status st = okra_data_new_(OKRA_DENSE, n, d, source, &data);
    if (st == OKRA_OK) {
        data->values = values;
        okra_data_own_(data, values);
        *out = data;
    }
    return st;
}

okra_status okra_no_infinity_(const double *values, okra_int rows, okra_int cols,
                              okra_int ld, bool *missing)
{
    *missing = false;
    for (okra_int i = 0; i < rows; i++) {
        for (okra_int j = 0; j < cols; j++) {
            if (isinf(values[i * ld + j])) {
                return okra_fail_(OKRA_EFORMAT,
                                  "row %" PRId64 ", column %" PRId64
                                  " (counted from 0) is infinite; expected a number, or "
                                  "nan for a missing value",
                                  i, j);
            }
            *missing = *missing || isnan(values[i * ld + j]);
        }
    }
    return OKRA_OK;
}

/* Shared by dense and Gram data: both borrow a row-major matrix. */
static okra_status borrow(okra_kind kind, const double *values, okra_int n, okra_int d,
                          okra_int ld, bool nan, okra_data **out)
{
    okra_status st = OKRA_OK;
    okra_data *data = NULL;
    okra_int area = 0;
    bool missing = false;
    if (ld < d) {
        FAIL(OKRA_ESHAPE,
             "%s data: the row stride is %" PRId64 " but rows have %" PRId64 " values",
             kind_names[kind], ld, d);
    }
    TRY(okra_area_(n, ld, sizeof *values, &area));
    if (!values && area > 0) {
        FAIL(OKRA_EARG, "%s data: values are NULL", kind_names[kind]);
    }
    st = nan ? okra_no_infinity_(values, n, d, ld, &missing)
             : okra_finite_(values, n, d, ld);
    if (st != OKRA_OK) {
        okra_message_prefix_("%s data", kind_names[kind]);
        goto done;
    }
    TRY(okra_data_new_(kind, n, d, "memory", &data));
    data->values = values;
    data->ld = ld;
    data->missing = missing;
    data->borrowed = true;
    *out = data;
done:
    return st;
}

okra_status okra_data_missing(const double *values, okra_int n, okra_int d, okra_int ld,
                              okra_data **out)
{
    return borrow(OKRA_DENSE, values, n, d, ld, true, out);
}

okra_status okra_data_dense(const double *values, okra_int n, okra_int d, okra_int ld,
                            okra_data **out)
{
    return borrow(OKRA_DENSE, values, n, d, ld, false, out);
}

okra_status okra_data_gram(const double *values, okra_int rows, okra_int cols,
                           okra_int ld, const double *diagonal, okra_data **out)
{
    if (diagonal) {
        for (okra_int i = 0; i < rows; i++) {
            if (!isfinite(diagonal[i])) {
                return okra_fail_(OKRA_EFORMAT,
                                  "gram data: diagonal element %" PRId64
                                  " (counted from 0) is %f; values must be finite",
                                  i, diagonal[i]);
            }
        }
    }
    okra_status st = borrow(OKRA_GRAM, values, rows, cols, ld, false, out);
    if (st == OKRA_OK) {
        (*out)->diagonal = diagonal;
    }
    return st;
}

typedef struct entry {
    okra_int index;
    double value;
} entry;

static int by_index(const void *a, const void *b)
{
    okra_int x = ((const entry *)a)->index, y = ((const entry *)b)->index;
    return (x > y) - (x < y);
}

/* Sorts one row by index when it is not sorted yet. */
static okra_status sort_row(okra_int count, okra_int *indices, double *values)
{
    bool sorted = true;
    for (okra_int k = 1; k < count; k++) {
        sorted = sorted && indices[k - 1] < indices[k];
    }
    if (sorted) {
        return OKRA_OK;
    }
    entry *row = okra_alloc_(count, sizeof *row);
    if (!row) {
        return OKRA_EMEM;
    }
    for (okra_int k = 0; k < count; k++) {
        row[k] = (entry){indices[k], values[k]};
    }
    qsort(row, (size_t)count, sizeof *row, by_index);
    for (okra_int k = 0; k < count; k++) {
        indices[k] = row[k].index;
        values[k] = row[k].value;
    }
    okra_free_(row);
    return OKRA_OK;
}

/* Sorts and checks rows that are already in `csr`. */
static okra_status check_rows(const okra_csr_ *csr, okra_int n, okra_int d)
{
    for (okra_int i = 0; i < n; i++) {
        okra_int begin = csr->indptr[i], end = csr->indptr[i + 1];
        okra_status st = sort_row(end - begin, csr->indices + begin, csr->values + begin);
        if (st != OKRA_OK) {
            return st;
        }
        for (okra_int k = begin; k < end; k++) {
            okra_int j = csr->indices[k];
            if (j < 0 || j >= d) {
                return okra_fail_(OKRA_EARG,
                                  "row %" PRId64 " has index %" PRId64
                                  "; expected 0..%" PRId64,
                                  i, j, d - 1);
            }
            if (k > begin && j == csr->indices[k - 1]) {
                return okra_fail_(OKRA_EARG,
                                  "row %" PRId64 " has index %" PRId64 " twice", i, j);
            }
            if (!isfinite(csr->values[k])) {
                return okra_fail_(OKRA_EFORMAT,
                                  "row %" PRId64 ", column %" PRId64
                                  " (counted from 0) is %f; values must be finite",
                                  i, j, csr->values[k]);
            }
        }
    }
    return OKRA_OK;
}

okra_status okra_data_adopt_sparse_(okra_csr_ *csr, okra_int n, okra_int d,
                                    const char *source, okra_data **out)
{
    okra_status st = OKRA_OK;
    okra_data *data = NULL;
    TRY(check_rows(csr, n, d));
    TRY(okra_data_new_(OKRA_SPARSE, n, d, source, &data));
    data->csr = *csr;
    okra_data_own_(data, csr->indptr);
    okra_data_own_(data, csr->indices);
    okra_data_own_(data, csr->values);
    *csr = (okra_csr_){0};
    *out = data;
done:
    return st;
}

void okra_csr_free_(okra_csr_ *csr)
{
    okra_free_(csr->indptr);
    okra_free_(csr->indices);
    okra_free_(csr->values);
    *csr = (okra_csr_){0};
}

okra_status okra_data_sparse(const okra_int *indptr, const okra_int *indices,
                             const double *values, okra_int n, okra_int d,
                             okra_data **out)
{
    okra_status st = OKRA_OK;
    okra_csr_ csr = {0};
    if (n < 0 || d < 0) {
        FAIL(OKRA_ESHAPE, "%" PRId64 " rows of %" PRId64 ": negative", n, d);
    }
    if (!indptr) {
        FAIL(OKRA_EARG, "indptr is NULL");
    }
    for (okra_int i = 0; i <= n; i++) {
        if (i == 0 ? indptr[0] != 0 : indptr[i] < indptr[i - 1]) {
            FAIL(OKRA_EARG,
                 "indptr[%" PRId64 "] is %" PRId64 "; it must begin at 0 and never fall",
                 i, indptr[i]);
        }
    }
    if (indptr[n] > 0 && (!indices || !values)) {
        FAIL(OKRA_EARG, "%s are NULL", indices ? "values" : "indices");
    }
    ALLOC(csr.indptr, n + 1);
    ALLOC(csr.indices, indptr[n]);
    ALLOC(csr.values, indptr[n]);
    memcpy(csr.indptr, indptr, (size_t)(n + 1) * sizeof *indptr);
    if (indptr[n] > 0) {
        memcpy(csr.indices, indices, (size_t)indptr[n] * sizeof *indices);
        memcpy(csr.values, values, (size_t)indptr[n] * sizeof *values);
    }
    TRY(okra_data_adopt_sparse_(&csr, n, d, "memory", out));
done:
    okra_csr_free_(&csr);
    if (st != OKRA_OK && st != OKRA_EMEM) {
        okra_message_prefix_("sparse data");
    }
    return st;
}

okra_status okra_data_bits(const unsigned char *packed, okra_int n, okra_int d,
                           okra_int bytes, okra_data **out)
{
    okra_status st = OKRA_OK;
    okra_data *data = NULL;
    uint64_t *bits;
    okra_int area = 0;
    if (d < 0 || bytes < d / 8 + (d % 8 != 0)) {
        FAIL(OKRA_ESHAPE,
             "bits data: %" PRId64 " bytes a row are too few for %" PRId64 " bits", bytes,
             d);
    }
    okra_int words = d / WORD_BITS + (d % WORD_BITS != 0);
    TRY(okra_area_(n, bytes, 1, &area));
    if (!packed && n * d > 0) {
        FAIL(OKRA_EARG, "bits data: packed is NULL");
    }
    TRY(okra_area_(n, words, sizeof *bits, &area));
    TRY(okra_data_new_(OKRA_BITS, n, d, "memory", &data));
    ZALLOC(bits, area);
    okra_data_own_(data, bits);
    data->bits = bits;
    data->words = words;
    for (okra_int i = 0; i < n; i++) {
        const unsigned char *from = packed + i * bytes;
        uint64_t *row = bits + i * words;
        for (okra_int k = 0; k < d / 8 + (d % 8 != 0); k++) {
            row[k / WORD_BYTES] |= (uint64_t)from[k] << (8 * (k % WORD_BYTES));
        }
        if (d % WORD_BITS) {
            row[words - 1] &= (UINT64_C(1) << (d % WORD_BITS)) - 1;
        }
    }
    *out = data;
    data = NULL;
done:
    okra_data_free(data);
    return st;
}

okra_status okra_data_names_(okra_data *data, const char *const *names)
{
    okra_status st = OKRA_OK;
    okra_int size = 0;
    char *texts;
    for (okra_int c = 0; c < data->d; c++) {
        if (!names[c]) {
            FAIL(OKRA_EARG, "labels data: the name of class %" PRId64 " is NULL", c);
        }
        size += (okra_int)strlen(names[c]) + 1;
    }
    ALLOC(data->class_names, data->d);
    okra_data_own_(data, data->class_names);
    ALLOC(texts, size);
    okra_data_own_(data, texts);
    for (okra_int c = 0; c < data->d; c++) {
        size_t length = strlen(names[c]) + 1;
        data->class_names[c] = memcpy(texts, names[c], length);
        texts += length;
    }
done:
    return st;
}

okra_status okra_data_labels(const okra_int *labels, okra_int n, const char *const *names,
                             okra_int classes, okra_data **out)
{
    okra_status st = OKRA_OK;
    okra_data *data = NULL;
    okra_int *codes;
    if (n < 0 || classes < 0) {
        FAIL(OKRA_ESHAPE, "labels data: %" PRId64 " labels of %" PRId64 " classes", n,
             classes);
    }
    if (!labels && n > 0) {
        FAIL(OKRA_EARG, "labels data: labels are NULL");
    }
    for (okra_int i = 0; i < n; i++) {
        if (labels[i] < 0 || labels[i] >= classes) {
            FAIL(OKRA_EARG,
                 "labels data: label %" PRId64 " is %" PRId64 "; expected 0..%" PRId64, i,
                 labels[i], classes - 1);
        }
    }
    TRY(okra_data_new_(OKRA_LABELS, n, classes, "memory", &data));
    ALLOC(codes, n);
    okra_data_own_(data, codes);
    data->codes = codes;
    if (n > 0) {
        memcpy(codes, labels, (size_t)n * sizeof *codes);
    }
    if (names) {
        TRY(okra_data_names_(data, names));
    }
    *out = data;
    data = NULL;
done:
    okra_data_free(data);
    return st;
}

/* ---- networks and groups ---------------------------------------------------------- */

okra_network_ *okra_network_retain_(const okra_network_ *network)
{
    okra_network_ *own = (okra_network_ *)(uintptr_t)network;
    __atomic_add_fetch(&own->references, 1, __ATOMIC_RELAXED);
    return own;
}

void okra_network_free_(okra_network_ *network)
{
    if (!network || __atomic_sub_fetch(&network->references, 1, __ATOMIC_ACQ_REL) > 0) {
        return;
    }
    for (okra_int i = 0; network->names && i < network->nodes; i++) {
        okra_free_(network->names[i]);
    }
    okra_free_(network->names);
    okra_free_(network->adjacency.indptr);
    okra_free_(network->adjacency.indices);
    okra_free_(network->adjacency.values);
    okra_free_(network);
}

const okra_ragged_ *okra_data_group_(const okra_data *data, const char *name)
{
    for (int k = 0; k < data->group_count; k++) {
        if (strcmp(data->groups[k].name, name) == 0) {
            return &data->groups[k];
        }
    }
    return NULL;
}

/* ---- counting -------------------------------------------------------------------- */

okra_data *okra_data_retain(const okra_data *data)
{
    okra_data *own = (okra_data *)(uintptr_t)data;
    if (own) {
        __atomic_add_fetch(&own->references, 1, __ATOMIC_RELAXED);
    }
    return own;
}

void okra_data_free(okra_data *data)
{
    if (!data || __atomic_sub_fetch(&data->references, 1, __ATOMIC_ACQ_REL) > 0) {
        return;
    }
    for (size_t k = 0; k < sizeof data->owned / sizeof *data->owned; k++) {
        okra_free_(data->owned[k]);
    }
    for (int k = 0; k < data->group_count; k++) {
        okra_ragged_clear_(&data->groups[k]);
    }
    okra_network_free_(data->network);
    for (int k = 0; k < data->component_count; k++) {
        okra_data_free(data->components[k]);
    }
    okra_free_(data->components);
    if (data->release) {
        data->release(data->release_arg);
    }
    okra_free_(data->source);
    okra_free_(data);
}

/* ---- questions ------------------------------------------------------------------ */

okra_kind okra_data_kind(const okra_data *data)
{
    return data->kind;
}

okra_int okra_data_count(const okra_data *data)
{
    return data->n;
}

okra_int okra_data_width(const okra_data *data)
{
    return data->d;
}

const double *okra_data_values(const okra_data *data, okra_int *ld)
{
    if (data->kind != OKRA_DENSE && data->kind != OKRA_GRAM) {
        return NULL;
    }
    if (ld) {
        *ld = data->ld;
    }
    return data->values;
}

const okra_int *okra_data_codes(const okra_data *data)
{
    return data->kind == OKRA_LABELS || data->kind == OKRA_NODES ? data->codes : NULL;
}

const char *okra_data_describe_(const okra_data *data, char *buffer, size_t size)
{
    static const char *const forms[] = {
        "%" PRId64 " dense vector%s of length %" PRId64,
        "%" PRId64 " sparse vector%s of length %" PRId64,
        "%" PRId64 " bit vector%s of length %" PRId64,
        "%" PRId64 " label%s of %" PRId64 " classes",
        "%" PRId64 " row%s of a Gram matrix with %" PRId64 " columns",
        "%" PRId64 " string%s",
        "%" PRId64 " sequence%s of vectors of length %" PRId64,
        "%" PRId64 " graph%s",
        "%" PRId64 " node%s of a network of %" PRId64,
        "%" PRId64 " tuple%s of %" PRId64 " descriptions",
    };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(buffer, size, forms[data->kind], data->n, data->n == 1 ? "" : "s", data->d);
#pragma GCC diagnostic pop
    return buffer;
}
