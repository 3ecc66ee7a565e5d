/*
 * vectors.c: collections of vectors in memory: dense ones and rows of a Gram matrix,
 * which are borrowed, sparse ones and bits, which are copied. Every value is checked.
 */
#include "data/data.h"

enum { WORD_BITS = 64, WORD_BYTES = 8, LANES = 8 };

/* ---- dense vectors and Gram matrices ---- */

okra_status okra_finite_(const double *values, okra_int rows, okra_int cols, okra_int ld)
{
    for (okra_int i = 0; i < rows; i++) {
        const double *row = values + i * ld;
        /* x*0 is 0 for finite x and NaN otherwise: one branch a row. */
        double sum = 0, lane[LANES] = {0};
        okra_int j0 = 0;
        for (; j0 + LANES <= cols; j0 += LANES) {
            for (int k = 0; k < LANES; k++) {
                lane[k] += row[j0 + k] * 0.0;
            }
        }
        for (int k = 0; k < LANES; k++) {
            sum += lane[k];
        }
        for (okra_int j = j0; j < cols; j++) {
            sum += row[j] * 0.0;
        }
        for (okra_int j = 0; sum != 0 && j < cols; j++) {
            REFUSE_IF(!isfinite(row[j]), OKRA_EFORMAT,
                      "row %" PRId64 ", column %" PRId64 " (counted from 0) is %s", i, j,
                      isnan(row[j]) ? "nan; values must be finite; outputs with gaps are "
                                      "read as missing:FILE"
                      : row[j] > 0  ? "inf; values must be finite"
                                    : "-inf; values must be finite");
        }
    }
    return OKRA_OK;
}

okra_status okra_no_infinity_(const double *values, okra_int rows, okra_int cols,
                              okra_int ld, bool *missing)
{
    *missing = false;
    for (okra_int i = 0; i < rows; i++) {
        for (okra_int j = 0; j < cols; j++) {
            REFUSE_IF(isinf(values[i * ld + j]), OKRA_EFORMAT,
                      "row %" PRId64 ", column %" PRId64
                      " (counted from 0) is infinite; expected a number, or nan for a "
                      "missing value",
                      i, j);
            *missing = *missing || isnan(values[i * ld + j]);
        }
    }
    return OKRA_OK;
}

/* Shared by dense and Gram data: both borrow a row-major matrix. */
static okra_status borrow(okra_kind kind, const double *values, okra_int n, okra_int d,
                          okra_int ld, bool nan, okra_data **out)
{
    okra_data *data = NULL;
    okra_int area = 0;
    bool missing = false;
    REFUSE_IF(ld < d, OKRA_ESHAPE,
              "%s data: the row stride is %" PRId64 " but rows have %" PRId64 " values",
              okra_kind_name(kind), ld, d);
    CHK(okra_area_(n, ld, sizeof *values, &area));
    REFUSE_IF(!values && area > 0, OKRA_EARG, "%s data: values are NULL",
              okra_kind_name(kind));
    CHK(okra_at_(nan ? okra_no_infinity_(values, n, d, ld, &missing)
                     : okra_finite_(values, n, d, ld),
                 "%s data", okra_kind_name(kind)));
    CHK(okra_data_new_(kind, n, d, "memory", &data));
    data->values = values;
    data->ld = ld;
    data->missing = missing;
    data->borrowed = true;
    *out = data;
    return OKRA_OK;
}

okra_status okra_data_adopt_dense_(double **values, okra_int n, okra_int d,
                                   const char *source, okra_data **out)
{
    okra_data *data = NULL;
    CHK(okra_data_new_(OKRA_DENSE, n, d, source, &data));
    data->values = *values;
    okra_data_own_(data, TAKE(*values));
    *out = data;
    return OKRA_OK;
}

okra_status okra_data_missing(const double *values, okra_int n, okra_int d, okra_int ld,
                              okra_data **out)
{
    NOT_NULL(out);
    return borrow(OKRA_DENSE, values, n, d, ld, true, out);
}

okra_status okra_data_dense(const double *values, okra_int n, okra_int d, okra_int ld,
                            okra_data **out)
{
    NOT_NULL(out);
    return borrow(OKRA_DENSE, values, n, d, ld, false, out);
}

okra_status okra_data_gram(const double *values, okra_int rows, okra_int cols,
                           okra_int ld, const double *diagonal, okra_data **out)
{
    NOT_NULL(out);
    if (diagonal) {
        for (okra_int i = 0; i < rows; i++) {
            REFUSE_IF(!isfinite(diagonal[i]), OKRA_EFORMAT,
                      "gram data: diagonal element %" PRId64
                      " (counted from 0) is %f; values must be finite",
                      i, diagonal[i]);
        }
    }
    CHK(borrow(OKRA_GRAM, values, rows, cols, ld, false, out));
    (*out)->diagonal = diagonal;
    return OKRA_OK;
}

/* ---- sparse vectors ---- */

typedef struct entry {
    okra_int index;
    double value;
} entry;

OKRA_ORDER_(by_index, entry, OKRA_UP_(index))

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
    OWNED entry *row = NULL;
    MAKE(row, count);
    for (okra_int k = 0; k < count; k++) {
        row[k] = (entry){indices[k], values[k]};
    }
    qsort(row, (size_t)count, sizeof *row, by_index);
    for (okra_int k = 0; k < count; k++) {
        indices[k] = row[k].index;
        values[k] = row[k].value;
    }
    return OKRA_OK;
}

/* Sorts and checks rows that are already in `csr`. */
static okra_status check_rows(const okra_csr_ *csr, okra_int n, okra_int d)
{
    for (okra_int i = 0; i < n; i++) {
        okra_int begin = csr->indptr[i], end = csr->indptr[i + 1];
        CHK(sort_row(end - begin, csr->indices + begin, csr->values + begin));
        for (okra_int k = begin; k < end; k++) {
            okra_int j = csr->indices[k];
            REFUSE_IF(j < 0 || j >= d, OKRA_EARG,
                      "row %" PRId64 " has index %" PRId64 "; expected 0..%" PRId64, i, j,
                      d - 1);
            REFUSE_IF(k > begin && j == csr->indices[k - 1], OKRA_EARG,
                      "row %" PRId64 " has index %" PRId64 " twice", i, j);
            REFUSE_IF(!isfinite(csr->values[k]), OKRA_EFORMAT,
                      "row %" PRId64 ", column %" PRId64
                      " (counted from 0) is %f; values must be finite",
                      i, j, csr->values[k]);
        }
    }
    return OKRA_OK;
}

okra_status okra_data_adopt_sparse_(okra_csr_ *csr, okra_int n, okra_int d,
                                    const char *source, okra_data **out)
{
    okra_data *data = NULL;
    CHK(check_rows(csr, n, d));
    CHK(okra_data_new_(OKRA_SPARSE, n, d, source, &data));
    data->csr = *csr;
    okra_data_own_(data, csr->indptr);
    okra_data_own_(data, csr->indices);
    okra_data_own_(data, csr->values);
    *csr = (okra_csr_){0};
    *out = data;
    return OKRA_OK;
}

OKRA_SHARED_CLEARS_(okra_csr_free_, okra_csr_, it->indptr, it->indices, it->values)

okra_status okra_data_sparse(const okra_int *indptr, const okra_int *indices,
                             const double *values, okra_int n, okra_int d,
                             okra_data **out)
{
    NOT_NULL(out);
    FREED_BY(okra_csr_free_) okra_csr_ csr = {0};
    REFUSE_IF(n < 0 || d < 0, OKRA_ESHAPE,
              "sparse data: %" PRId64 " rows of %" PRId64 ": negative", n, d);
    REFUSE_IF(!indptr, OKRA_EARG, "sparse data: indptr is NULL");
    for (okra_int i = 0; i <= n; i++) {
        REFUSE_IF(i == 0 ? indptr[0] != 0 : indptr[i] < indptr[i - 1], OKRA_EARG,
                  "sparse data: indptr[%" PRId64 "] is %" PRId64
                  "; it must begin at 0 and never fall",
                  i, indptr[i]);
    }
    REFUSE_IF(indptr[n] > 0 && (!indices || !values), OKRA_EARG,
              "sparse data: %s are NULL", indices ? "values" : "indices");
    MAKE(csr.indptr, n + 1);
    MAKE(csr.indices, indptr[n]);
    MAKE(csr.values, indptr[n]);
    memcpy(csr.indptr, indptr, (size_t)(n + 1) * sizeof *indptr);
    OKRA_COPY_(csr.indices, indices, indptr[n]);
    OKRA_COPY_(csr.values, values, indptr[n]);
    return okra_at_(okra_data_adopt_sparse_(&csr, n, d, "memory", out), "sparse data");
}

/* ---- bits ---- */

okra_status okra_data_bits(const unsigned char *packed, okra_int n, okra_int d,
                           okra_int bytes, okra_data **out)
{
    NOT_NULL(out);
    FREED_BY(okra_data_drop_) okra_data *data = NULL;
    uint64_t *bits;
    okra_int area = 0;
    REFUSE_IF(d < 0 || bytes < d / 8 + (d % 8 != 0), OKRA_ESHAPE,
              "bits data: %" PRId64 " bytes a row are too few for %" PRId64 " bits",
              bytes, d);
    okra_int words = d / WORD_BITS + (d % WORD_BITS != 0);
    CHK(okra_area_(n, bytes, 1, &area));
    REFUSE_IF(!packed && n * d > 0, OKRA_EARG, "bits data: packed is NULL");
    CHK(okra_area_(n, words, sizeof *bits, &area));
    CHK(okra_data_new_(OKRA_BITS, n, d, "memory", &data));
    ZMAKE(bits, area);
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
    *out = TAKE(data);
    return OKRA_OK;
}

okra_status okra_data_check_rankings_(const okra_data *y)
{
    OWNED okra_int *row = NULL; /* the last row that had a rank, from 1 */
    ZMAKE(row, y->n > 0 ? y->d : 0);
    for (okra_int i = 0; i < y->n; i++) {
        for (okra_int j = 0; j < y->d; j++) {
            double v = y->values[i * y->ld + j];
            REFUSE_IF(!(v >= 1 && v <= (double)y->d) || v != floor(v) ||
                          row[(okra_int)v - 1] == i + 1,
                      OKRA_EARG,
                      "row %lld is not a ranking: found %g in column %lld, expected each "
                      "of 1 to %lld once (rows and columns counted from 0)",
                      (long long)i, v, (long long)j, (long long)y->d);
            row[(okra_int)v - 1] = i + 1;
        }
    }
    return OKRA_OK;
}
