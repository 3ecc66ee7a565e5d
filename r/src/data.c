/* data.c: collections of objects from vectors, matrices, texts and files. */
#include "bridge.h"

#include <string.h>

/* The handle with the data in it, or what R is to raise. */
static SEXP made(SEXP handle, okra_data *data, okra_status st, SEXP called)
{
    if (st == OKRA_OK) {
        handle_hold(handle, data);
        if (called != R_NilValue) {
            st = okra_data_name(data, CHAR(STRING_ELT(called, 0)));
        }
    }
    return st == OKRA_OK ? handle : failure(st);
}

/* Names that the library cannot keep (two alike, an empty one) are not kept. */
static void name_columns(okra_data *data, SEXP names)
{
    if (names != R_NilValue &&
        okra_data_set_columns(data, utf8_texts(names)) != OKRA_OK) {
        return;
    }
}

/* Rows one after the other in a vector of R, protected by the caller. */
static SEXP rows_of(SEXP matrix)
{
    R_xlen_t n = Rf_nrows(matrix), d = Rf_ncols(matrix);
    SEXP rows = Rf_allocVector(REALSXP, n * d);
    const double *from = REAL(matrix);
    double *to = REAL(rows);
    for (R_xlen_t j = 0; j < d; j++) {
        for (R_xlen_t i = 0; i < n; i++) {
            to[i * d + j] = from[j * n + i];
        }
    }
    return rows;
}

SEXP C_dense(SEXP matrix, SEXP names, SEXP missing, SEXP called)
{
    SEXP rows = PROTECT(rows_of(matrix));
    SEXP handle = PROTECT(data_handle(rows));
    okra_int n = Rf_nrows(matrix), d = Rf_ncols(matrix);
    okra_data *data = NULL;
    okra_status st = Rf_asLogical(missing) ? okra_data_missing(REAL(rows), n, d, d, &data)
                                           : okra_data_dense(REAL(rows), n, d, d, &data);
    SEXP out = made(handle, data, st, called);
    if (out == handle) {
        name_columns(data, names);
    }
    UNPROTECT(2);
    return out;
}

SEXP C_gram_rows(SEXP matrix, SEXP diagonal, SEXP called)
{
    SEXP keep = PROTECT(Rf_allocVector(VECSXP, 2));
    SEXP rows = rows_of(matrix);
    SET_VECTOR_ELT(keep, 0, rows);
    SET_VECTOR_ELT(keep, 1, diagonal);
    SEXP handle = PROTECT(data_handle(keep));
    okra_int n = Rf_nrows(matrix), d = Rf_ncols(matrix);
    okra_data *data = NULL;
    okra_status st = okra_data_gram(
        REAL(rows), n, d, d, diagonal == R_NilValue ? NULL : REAL(diagonal), &data);
    SEXP out = made(handle, data, st, called);
    UNPROTECT(2);
    return out;
}

/* Compressed columns, as Matrix has them, to compressed rows. */
SEXP C_sparse(SEXP p, SEXP i, SEXP x, SEXP shape, SEXP names, SEXP called)
{
    okra_int n = INTEGER(shape)[0], d = INTEGER(shape)[1];
    size_t count = (size_t)XLENGTH(i);
    const int *begin = INTEGER(p), *row = INTEGER(i);
    okra_int *indptr = (okra_int *)R_alloc((size_t)n + 2, sizeof *indptr);
    okra_int *indices = (okra_int *)R_alloc(count + 1, sizeof *indices);
    double *values = (double *)R_alloc(count + 1, sizeof *values);
    memset(indptr, 0, ((size_t)n + 2) * sizeof *indptr);
    for (size_t k = 0; k < count; k++) {
        indptr[row[k] + 2]++;
    }
    for (okra_int k = 0; k < n; k++) {
        indptr[k + 2] += indptr[k + 1];
    }
    /* indptr[r + 1] is where the next value of row r goes; at the end, where r + 1
     * begins. */
    for (okra_int j = 0; j < d; j++) {
        for (int k = begin[j]; k < begin[j + 1]; k++) {
            okra_int at = indptr[row[k] + 1]++;
            indices[at] = j;
            values[at] = REAL(x)[k];
        }
    }
    SEXP handle = PROTECT(data_handle(R_NilValue));
    okra_data *data = NULL;
    okra_status st = okra_data_sparse(indptr, indices, values, n, d, &data);
    SEXP out = made(handle, data, st, called);
    if (out == handle) {
        name_columns(data, names);
    }
    UNPROTECT(1);
    return out;
}

SEXP C_bits(SEXP matrix, SEXP called)
{
    okra_int n = Rf_nrows(matrix), d = Rf_ncols(matrix), bytes = (d + 7) / 8;
    size_t size = (size_t)(n * bytes);
    unsigned char *packed = (unsigned char *)R_alloc(size + 1, 1);
    memset(packed, 0, size);
    for (okra_int j = 0; j < d; j++) {
        for (okra_int i = 0; i < n; i++) {
            if (LOGICAL(matrix)[j * n + i] == TRUE) {
                packed[i * bytes + j / 8] |= (unsigned char)(1u << (j % 8));
            }
        }
    }
    SEXP handle = PROTECT(data_handle(R_NilValue));
    okra_data *data = NULL;
    okra_status st = okra_data_bits(packed, n, d, bytes, &data);
    SEXP out = made(handle, data, st, called);
    UNPROTECT(1);
    return out;
}

/* Codes from 1, as factors have them. */
SEXP C_labels(SEXP codes, SEXP names, SEXP called)
{
    okra_int *code = counts_of(codes);
    for (R_xlen_t i = 0; i < XLENGTH(codes); i++) {
        code[i]--;
    }
    SEXP handle = PROTECT(data_handle(R_NilValue));
    okra_data *data = NULL;
    okra_status st =
        okra_data_labels(code, XLENGTH(codes), utf8_texts(names), XLENGTH(names), &data);
    SEXP out = made(handle, data, st, called);
    UNPROTECT(1);
    return out;
}

SEXP C_strings(SEXP texts, SEXP called)
{
    SEXP handle = PROTECT(data_handle(R_NilValue));
    okra_data *data = NULL;
    okra_status st = okra_data_strings(utf8_texts(texts), XLENGTH(texts), &data);
    SEXP out = made(handle, data, st, called);
    UNPROTECT(1);
    return out;
}

SEXP C_are_classes(SEXP texts)
{
    bool classes = false;
    okra_status st = okra_texts_are_classes(utf8_texts(texts), XLENGTH(texts), &classes);
    return st == OKRA_OK ? Rf_ScalarLogical(classes) : failure(st);
}

/* Each matrix is given with its columns as vectors: d x length. */
SEXP C_sequences(SEXP matrices, SEXP called)
{
    R_xlen_t n = XLENGTH(matrices);
    okra_int d = n ? Rf_nrows(VECTOR_ELT(matrices, 0)) : 0;
    okra_int *offsets = (okra_int *)R_alloc((size_t)n + 1, sizeof *offsets);
    offsets[0] = 0;
    for (R_xlen_t i = 0; i < n; i++) {
        offsets[i + 1] = offsets[i] + Rf_ncols(VECTOR_ELT(matrices, i));
    }
    double *vectors = (double *)R_alloc((size_t)(offsets[n] * d) + 1, sizeof *vectors);
    for (R_xlen_t i = 0; i < n; i++) {
        SEXP m = VECTOR_ELT(matrices, i);
        if (XLENGTH(m)) {
            memcpy(vectors + offsets[i] * d, REAL(m),
                   (size_t)XLENGTH(m) * sizeof *vectors);
        }
    }
    SEXP handle = PROTECT(data_handle(R_NilValue));
    okra_data *data = NULL;
    okra_status st = okra_data_sequences(offsets, vectors, NULL, n, d, &data);
    SEXP out = made(handle, data, st, called);
    UNPROTECT(1);
    return out;
}

SEXP C_tuple(SEXP parts)
{
    int count = (int)XLENGTH(parts);
    okra_data **part = (okra_data **)R_alloc((size_t)count + 1, sizeof *part);
    for (int k = 0; k < count; k++) {
        part[k] = handle_get(VECTOR_ELT(parts, k), A_DATA);
    }
    SEXP handle = PROTECT(data_handle(parts));
    okra_data *data = NULL;
    okra_status st = okra_data_tuple(part, count, &data);
    SEXP out = made(handle, data, st, R_NilValue);
    UNPROTECT(1);
    return out;
}

SEXP C_weigh(SEXP from, SEXP weights)
{
    SEXP handle = PROTECT(data_handle(from));
    okra_data *data = NULL;
    okra_status st =
        okra_data_weigh(handle_get(from, A_DATA), REAL(weights), XLENGTH(weights), &data);
    SEXP out = made(handle, data, st, R_NilValue);
    UNPROTECT(1);
    return out;
}

/* Numbers from 1. */
SEXP C_take(SEXP from, SEXP index)
{
    okra_int *rows = counts_of(index);
    for (R_xlen_t i = 0; i < XLENGTH(index); i++) {
        rows[i]--;
    }
    SEXP handle = PROTECT(data_handle(R_NilValue));
    okra_data *data = NULL;
    okra_status st =
        okra_data_take(handle_get(from, A_DATA), rows, XLENGTH(index), &data);
    SEXP out = made(handle, data, st, R_NilValue);
    UNPROTECT(1);
    return out;
}

/* ---- what may take long ---- */

typedef struct reading {
    const char *const *texts;
    okra_int n;
    const char *spec;
    const okra_data *like;
    okra_data *out;
} reading;

static okra_status parse_smiles(okra_context *context, void *job)
{
    reading *j = job;
    return okra_data_smiles(context, j->texts, j->n, &j->out);
}

static okra_status read_plain(okra_context *context, void *job)
{
    reading *j = job;
    return okra_data_read(context, j->spec, &j->out);
}

static okra_status read_inputs(okra_context *context, void *job)
{
    reading *j = job;
    return okra_data_read_inputs(context, j->spec, j->like, &j->out);
}

SEXP C_smiles(SEXP context, SEXP texts, SEXP called)
{
    reading j = {.texts = utf8_texts(texts), .n = XLENGTH(texts)};
    SEXP handle = PROTECT(data_handle(R_NilValue));
    okra_status st = run_job(context, parse_smiles, &j);
    SEXP out = made(handle, j.out, st, called);
    UNPROTECT(1);
    return out;
}

SEXP C_read(SEXP context, SEXP spec, SEXP inputs, SEXP like)
{
    bool table = Rf_asLogical(inputs) == TRUE;
    reading j = {.spec = utf8_texts(spec)[0], .like = handle_maybe(like, A_DATA)};
    SEXP handle = PROTECT(data_handle(R_NilValue));
    okra_status st = run_job(context, table ? read_inputs : read_plain, &j);
    SEXP called = PROTECT(table ? Rf_mkString("x") : R_NilValue);
    SEXP out = made(handle, j.out, st, called);
    UNPROTECT(2);
    return out;
}

typedef struct writing {
    const okra_data *data;
    const char *path;
} writing;

static okra_status write_data(okra_context *context, void *job)
{
    const writing *j = job;
    return okra_data_write(context, j->data, j->path);
}

SEXP C_write(SEXP context, SEXP data, SEXP path)
{
    writing j = {handle_get(data, A_DATA), utf8_texts(path)[0]};
    okra_status st = run_job(context, write_data, &j);
    return st == OKRA_OK ? R_NilValue : failure(st);
}
