/*
 * rows.c: rows of vectors, wide or thin.
 */
#include "kernel/gram/trained_kernel.h"

okra_thin_ okra_row_thin_(const okra_data *data, okra_int i, okra_int *indices)
{
    okra_thin_ thin = {0, indices, NULL};
    if (data->kind == OKRA_SPARSE) {
        okra_int begin = data->csr.indptr[i];
        thin.count = data->csr.indptr[i + 1] - begin;
        thin.indices = data->csr.indices + begin;
        thin.values = data->csr.values + begin;
        return thin;
    }
    const uint64_t *words = data->bits + i * data->words;
    for (okra_int w = 0; w < data->words; w++) {
        for (uint64_t rest = words[w]; rest; rest &= rest - 1) {
            indices[thin.count++] = 64 * w + __builtin_ctzll(rest);
        }
    }
    return thin;
}

static okra_wide_ wide_dense(const okra_data *data, okra_int i)
{
    okra_wide_ wide = {data->values + i * data->ld, 0, 0};
    for (okra_int j = 0; j < data->d; j++) {
        wide.nonzeros += wide.values[j] != 0;
        wide.magnitude += fabs(wide.values[j]);
    }
    return wide;
}

static okra_wide_ spread(const okra_thin_ *thin, double *buffer)
{
    okra_wide_ wide = {buffer, 0, 0};
    for (okra_int k = 0; k < thin->count; k++) {
        double value = okra_thin_value_(thin, k);
        buffer[thin->indices[k]] = value;
        wide.nonzeros += value != 0;
        wide.magnitude += fabs(value);
    }
    return wide;
}

okra_status okra_rows_meet_(const okra_data *a, okra_int i0, okra_int ni,
                            const okra_data *b, okra_int j0, okra_int nj, okra_meet_ meet,
                            double *out, okra_int ld)
{
    okra_int d = OKRA_MAX_(a->d, b->d), step = 1;
    OWNED double *buffer = NULL;
    OWNED okra_int *wide_indices = NULL, *thin_indices = NULL;
    if (b->kind == OKRA_DENSE) { /* the dense one is wide */
        const okra_data *data = a;
        okra_int first = i0, count = ni;
        a = b, i0 = j0, ni = nj;
        b = data, j0 = first, nj = count;
        step = ld;
        ld = 1;
    }
    ZMAKE(buffer, d);
    MAKE(wide_indices, a->kind == OKRA_BITS ? d : 0);
    MAKE(thin_indices, b->kind == OKRA_BITS ? d : 0);
    for (okra_int r = 0; r < ni; r++) {
        bool dense = a->kind == OKRA_DENSE;
        okra_thin_ own = {0, NULL, NULL};
        if (!dense) {
            own = okra_row_thin_(a, i0 + r, wide_indices);
        }
        okra_wide_ wide = dense ? wide_dense(a, i0 + r) : spread(&own, buffer);
        for (okra_int c = 0; c < nj; c++) {
            okra_thin_ thin = okra_row_thin_(b, j0 + c, thin_indices);
            out[r * ld + c * step] = meet(&wide, &thin);
        }
        for (okra_int k = 0; k < own.count; k++) {
            buffer[own.indices[k]] = 0;
        }
    }
    return OKRA_OK;
}

okra_status okra_widths_(okra_context *ctx, const char *kernel, const okra_data *data,
                         const okra_data *train)
{
    bool sparse = data->kind == OKRA_SPARSE && train->kind == OKRA_SPARSE;
    REFUSE_IF(
        !sparse && data->d != train->d, OKRA_ESHAPE,
        "kernel %s: %s has vectors of length %lld, the training set's have length %lld",
        kernel, data->source, (long long)data->d, (long long)train->d);
    if (data->kind == OKRA_SPARSE) {
        double workers = okra_workers_(ctx), d = (double)OKRA_MAX_(data->d, train->d);
        CHK(okra_budget_ask_(ctx, workers * d * sizeof(double),
                             "one sparse vector of %s spread out in each thread",
                             data->source));
    }
    return OKRA_OK;
}
