/* objects.c: collections of the library as R has them, always copied. */
#include "bridge.h"

#include <stdio.h>
#include <string.h>

SEXP matrix_of_rows(const double *rows, okra_int n, okra_int d, okra_int ld)
{
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)n, (int)d));
    double *to = REAL(out);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < d; j++) {
            to[j * n + i] = rows[i * ld + j];
        }
    }
    UNPROTECT(1);
    return out;
}

/* The names of the columns, or NULL. */
static SEXP columns_of(const okra_data *data)
{
    okra_int d = okra_data_width(data);
    if (d == 0 || !okra_data_column(data, 0)) {
        return R_NilValue;
    }
    SEXP names = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)d));
    for (okra_int j = 0; j < d; j++) {
        SET_STRING_ELT(names, (R_xlen_t)j,
                       Rf_mkCharCE(okra_data_column(data, j), CE_UTF8));
    }
    UNPROTECT(1);
    return names;
}

static SEXP with_columns(SEXP matrix, const okra_data *data)
{
    PROTECT(matrix);
    SEXP names = PROTECT(columns_of(data));
    if (names != R_NilValue) {
        SEXP both = PROTECT(Rf_allocVector(VECSXP, 2));
        SET_VECTOR_ELT(both, 1, names);
        Rf_setAttrib(matrix, R_DimNamesSymbol, both);
        UNPROTECT(1);
    }
    UNPROTECT(2);
    return matrix;
}

/* i, p, x and the shape of compressed rows, of which R makes a matrix. */
static SEXP sparse_of(const okra_data *data)
{
    static const char *const names[] = {"p", "j", "x", "shape", "columns"};
    okra_int n = okra_data_count(data);
    const okra_int *indices;
    const double *values;
    const okra_int *indptr = okra_data_compressed(data, &indices, &values);
    R_xlen_t count = (R_xlen_t)indptr[n];
    SEXP out = PROTECT(named_list(names, 5));
    SEXP p = Rf_allocVector(INTSXP, (R_xlen_t)n + 1);
    SET_VECTOR_ELT(out, 0, p);
    SEXP j = Rf_allocVector(INTSXP, count);
    SET_VECTOR_ELT(out, 1, j);
    SEXP x = Rf_allocVector(REALSXP, count);
    SET_VECTOR_ELT(out, 2, x);
    SEXP shape = Rf_allocVector(INTSXP, 2);
    SET_VECTOR_ELT(out, 3, shape);
    SET_VECTOR_ELT(out, 4, columns_of(data));
    for (okra_int i = 0; i <= n; i++) {
        INTEGER(p)[i] = (int)indptr[i];
    }
    for (R_xlen_t k = 0; k < count; k++) {
        INTEGER(j)[k] = (int)indices[k];
        REAL(x)[k] = values[k];
    }
    INTEGER(shape)[0] = (int)n;
    INTEGER(shape)[1] = (int)okra_data_width(data);
    UNPROTECT(1);
    return out;
}

static SEXP bits_of(const okra_data *data)
{
    okra_int n = okra_data_count(data), d = okra_data_width(data), words;
    const uint64_t *packed = okra_data_words(data, &words);
    SEXP out = PROTECT(Rf_allocMatrix(LGLSXP, (int)n, (int)d));
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < d; j++) {
            LOGICAL(out)[j * n + i] = (int)(packed[i * words + j / 64] >> (j % 64) & 1);
        }
    }
    UNPROTECT(1);
    return out;
}

/* The texts that objects are known by; numbers from 1 where there are none. */
static SEXP texts_of(const okra_data *data)
{
    okra_int n = okra_data_count(data), length;
    const okra_int *codes = okra_data_codes(data);
    if (codes && n && !okra_data_text(data, 0, &length)) {
        SEXP out = Rf_allocVector(INTSXP, (R_xlen_t)n);
        for (okra_int i = 0; i < n; i++) {
            INTEGER(out)[i] = (int)codes[i] + 1;
        }
        return out;
    }
    SEXP out = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)n));
    for (okra_int i = 0; i < n; i++) {
        const char *text = okra_data_text(data, i, &length);
        SET_STRING_ELT(out, (R_xlen_t)i, utf8_string(text, length));
    }
    UNPROTECT(1);
    return out;
}

/* One code point in UTF-8; how many bytes. */
static int put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    out[0] = (char)(lead[more] | c >> (6 * more));
    for (int k = 1; k <= more; k++) {
        out[k] = (char)(0x80 | (c >> (6 * (more - k)) & 0x3f));
    }
    return more + 1;
}

static SEXP strings_of(const okra_data *data)
{
    okra_int n = okra_data_count(data);
    SEXP out = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)n));
    for (okra_int i = 0; i < n; i++) {
        okra_int length, bytes = 0;
        const int32_t *codes = okra_data_characters(data, i, &length);
        char *text = R_alloc((size_t)length * 4 + 1, 1);
        for (okra_int k = 0; k < length; k++) {
            bytes += put_utf8(text + bytes, (uint32_t)codes[k]);
        }
        SET_STRING_ELT(out, (R_xlen_t)i, utf8_string(text, bytes));
    }
    UNPROTECT(1);
    return out;
}

static SEXP sequences_of(const okra_data *data)
{
    okra_int n = okra_data_count(data), d = okra_data_width(data), length;
    SEXP out = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)n));
    for (okra_int i = 0; i < n; i++) {
        const double *vectors = okra_data_vectors(data, i, &length);
        SET_VECTOR_ELT(out, (R_xlen_t)i, matrix_of_rows(vectors, length, d, d));
    }
    UNPROTECT(1);
    return out;
}

static SEXP spectra_of(const okra_data *data)
{
    okra_int n = okra_data_count(data);
    SEXP out = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)n));
    for (okra_int i = 0; i < n; i++) {
        const double *mz, *intensity;
        okra_int count = okra_data_peaks(data, i, &mz, &intensity);
        SEXP peaks = Rf_allocMatrix(REALSXP, (int)count, 2);
        SET_VECTOR_ELT(out, (R_xlen_t)i, peaks);
        for (okra_int k = 0; k < count; k++) {
            REAL(peaks)[k] = mz[k];
            REAL(peaks)[count + k] = intensity[k];
        }
    }
    UNPROTECT(1);
    return out;
}

static SEXP tuple_of(const okra_data *data)
{
    int count = (int)okra_data_width(data);
    SEXP out = PROTECT(Rf_allocVector(VECSXP, count));
    for (int k = 0; k < count; k++) {
        SET_VECTOR_ELT(out, k, objects_of(okra_data_part(data, k)));
    }
    UNPROTECT(1);
    return out;
}

static SEXP dense_of(const okra_data *data)
{
    okra_int ld = 0;
    const double *values = okra_data_values(data, &ld);
    return with_columns(
        matrix_of_rows(values, okra_data_count(data), okra_data_width(data), ld), data);
}

SEXP objects_of(const okra_data *data)
{
    switch (okra_data_kind(data)) {
    case OKRA_DENSE:
    case OKRA_GRAM:
        return dense_of(data);
    case OKRA_SPARSE:
        return sparse_of(data);
    case OKRA_BITS:
        return with_columns(bits_of(data), data);
    case OKRA_STRINGS:
        return strings_of(data);
    case OKRA_SEQUENCES:
        return sequences_of(data);
    case OKRA_SPECTRA:
        return spectra_of(data);
    case OKRA_TUPLE:
        return tuple_of(data);
    case OKRA_LABELS:
    case OKRA_GRAPHS:
    case OKRA_NODES:
        return texts_of(data);
    }
    return R_NilValue;
}

SEXP C_objects(SEXP data)
{
    return objects_of(handle_get(data, A_DATA));
}

SEXP C_data_about(SEXP handle)
{
    static const char *const names[] = {"kind", "count", "width", "columns"};
    const okra_data *data = handle_get(handle, A_DATA);
    SEXP out = PROTECT(named_list(names, 4));
    SET_VECTOR_ELT(out, 0, Rf_mkString(okra_kind_name(okra_data_kind(data))));
    SET_VECTOR_ELT(out, 1, Rf_ScalarReal((double)okra_data_count(data)));
    SET_VECTOR_ELT(out, 2, Rf_ScalarReal((double)okra_data_width(data)));
    SET_VECTOR_ELT(out, 3, columns_of(data));
    UNPROTECT(1);
    return out;
}

/* The texts of the classes of labels; one that does not occur is called by its number. */
SEXP C_label_names(SEXP handle)
{
    const okra_data *data = handle_get(handle, A_DATA);
    const okra_int *codes = okra_data_codes(data);
    okra_int n = okra_data_count(data), d = okra_data_width(data);
    SEXP out = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)d));
    for (okra_int k = 0; k < d; k++) {
        char number[32];
        snprintf(number, sizeof number, "%lld", (long long)k + 1);
        SET_STRING_ELT(out, (R_xlen_t)k, Rf_mkChar(number));
    }
    for (okra_int i = 0; i < n; i++) {
        okra_int length;
        const char *text = okra_data_text(data, i, &length);
        if (text) {
            SET_STRING_ELT(out, (R_xlen_t)codes[i], utf8_string(text, length));
        }
    }
    UNPROTECT(1);
    return out;
}
