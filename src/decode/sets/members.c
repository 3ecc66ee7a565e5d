/*
 * members.c: sets of labels, vectors of 0 and 1, by their members.
 */
#include "decode/sets/counts.h"

static okra_status refuse(const char *who, okra_int i, okra_int j, double value)
{
    return okra_fail_(OKRA_EARG,
                      "%s needs vectors of 0 and 1 as outputs; training output %lld has "
                      "%g in column %lld",
                      who, (long long)i, value, (long long)j);
}

okra_status okra_sets_check_(const okra_data *y, const char *who)
{
    REFUSE_IF(y->kind != OKRA_BITS && y->kind != OKRA_SPARSE && y->kind != OKRA_DENSE,
              OKRA_EUNSUPPORTED, "%s needs vectors of 0 and 1 as outputs; these are %s",
              who, okra_kind_name(y->kind));
    for (okra_int i = 0; y->kind == OKRA_SPARSE && i < y->n; i++) {
        for (okra_int k = y->csr.indptr[i]; k < y->csr.indptr[i + 1]; k++) {
            if (y->csr.values[k] != 0 && y->csr.values[k] != 1) {
                return refuse(who, i, y->csr.indices[k], y->csr.values[k]);
            }
        }
    }
    for (okra_int i = 0; y->kind == OKRA_DENSE && i < y->n; i++) {
        const double *row = y->values + i * y->ld;
        for (okra_int j = 0; j < y->d; j++) {
            if (row[j] != 0 && row[j] != 1) {
                return refuse(who, i, j, row[j]);
            }
        }
    }
    return OKRA_OK;
}

/* Is label j in set i, not of sparse ones? */
static bool is_member(const okra_data *y, okra_int i, okra_int j)
{
    return y->kind == OKRA_BITS ? y->bits[i * y->words + j / 64] >> (j % 64) & 1
                                : y->values[i * y->ld + j] != 0;
}

okra_int okra_sets_members_(const okra_data *y, okra_int i, int32_t *out)
{
    bool sparse = y->kind == OKRA_SPARSE;
    okra_int count = 0, begin = sparse ? y->csr.indptr[i] : 0;
    for (okra_int k = begin; k < (sparse ? y->csr.indptr[i + 1] : y->d); k++) {
        if (sparse ? y->csr.values[k] != 0 : is_member(y, i, k)) {
            if (out) {
                out[count] = (int32_t)(sparse ? y->csr.indices[k] : k);
            }
            count++;
        }
    }
    return count;
}

static okra_status as_sparse(const int32_t *codes, const okra_int *offsets, okra_int n,
                             okra_int d, okra_data **out)
{
    okra_int begin = offsets[0], count = offsets[n] - begin;
    FREED_BY(okra_csr_free_) okra_csr_ csr = {NULL, NULL, NULL};
    MAKE(csr.indptr, n + 1);
    MAKE(csr.indices, count);
    MAKE(csr.values, count);
    for (okra_int i = 0; i <= n; i++) {
        csr.indptr[i] = offsets[i] - begin;
    }
    for (okra_int k = 0; k < count; k++) {
        csr.indices[k] = codes[begin + k];
        csr.values[k] = 1;
    }
    return okra_data_adopt_sparse_(&csr, n, d, "decoded label sets", out);
}

static okra_status as_bits(const int32_t *codes, const okra_int *offsets, okra_int n,
                           okra_int d, okra_data **out)
{
    OWNED unsigned char *packed = NULL;
    okra_int bytes = (d + 7) / 8;
    ZMAKE(packed, n * bytes);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int k = offsets[i]; k < offsets[i + 1]; k++) {
            packed[i * bytes + codes[k] / 8] |= (unsigned char)(1 << (codes[k] % 8));
        }
    }
    return okra_data_bits(packed, n, d, bytes, out);
}

okra_status okra_sets_make_(okra_context *ctx, okra_kind kind, okra_int d,
                            const int32_t *codes, const okra_int *offsets, okra_int n,
                            okra_data **out)
{
    OWNED double *values = NULL;
    if (kind != OKRA_DENSE) {
        return (kind == OKRA_SPARSE ? as_sparse : as_bits)(codes, offsets, n, d, out);
    }
    CHK(okra_doubles_(ctx, n, d, "the decoded sets", &values));
    memset(values, 0, (size_t)(n * d) * sizeof *values);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int k = offsets[i]; k < offsets[i + 1]; k++) {
            values[i * d + codes[k]] = 1;
        }
    }
    return okra_data_adopt_dense_(&values, n, d, "decoded label sets", out);
}
