/*
 * graph_file.c: weights of a graph from a file, and checks of weights.
 */
#include "solve/graph.h"

/* Symmetric to this share of the largest weight: what single precision leaves. */
static const double SYMMETRY = 1e-6;

okra_status okra_graph_weight_(okra_int i, okra_int j, double w)
{
    return w >= 0 ? OKRA_OK
                  : okra_fail_(OKRA_EARG,
                               "graph: the weight of inputs %lld and %lld (counted from "
                               "0) is %.6g, expected 0 or more",
                               (long long)i, (long long)j, w);
}

static double weight_at(const okra_data *data, okra_int i, okra_int j)
{
    if (data->kind != OKRA_SPARSE) {
        return data->values[i * data->ld + j];
    }
    const okra_csr_ *w = &data->csr;
    const okra_int *found =
        bsearch(&j, w->indices + w->indptr[i], (size_t)(w->indptr[i + 1] - w->indptr[i]),
                sizeof j, okra_by_int_);
    return found ? w->values[found - w->indices] : 0;
}

static okra_status check_symmetric(const okra_data *data, okra_int i, okra_int j,
                                   double w)
{
    double other = weight_at(data, j, i);
    return fabs(w - other) <= SYMMETRY * fmax(fabs(w), fabs(other))
               ? OKRA_OK
               : okra_fail_(OKRA_EARG,
                            "graph: %s: the weight at (%lld, %lld) is %.10g but %.10g at "
                            "(%lld, %lld), expected a symmetric matrix",
                            data->source, (long long)i, (long long)j, w, other,
                            (long long)j, (long long)i);
}

static okra_status open_rows(okra_context *ctx, okra_int n, okra_int entries,
                             okra_csr_ *W)
{
    CHK(okra_budget_ask_(ctx, 32.0 * (double)entries + 24.0 * (double)n,
                         "a graph of %lld entries", (long long)entries));
    MAKE(W->indptr, n + 1);
    MAKE(W->indices, entries);
    MAKE(W->values, entries);
    return OKRA_OK;
}

static okra_status copy_sparse(okra_context *ctx, const okra_data *data, okra_csr_ *W)
{
    okra_int n = data->n;
    CHK(open_rows(ctx, n, data->csr.indptr[n], W));
    memcpy(W->indptr, data->csr.indptr, (size_t)(n + 1) * sizeof *W->indptr);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int e = W->indptr[i]; e < W->indptr[i + 1]; e++) {
            W->indices[e] = data->csr.indices[e];
            W->values[e] = data->csr.values[e];
            CHK(okra_graph_weight_(i, W->indices[e], W->values[e]));
            CHK(check_symmetric(data, i, W->indices[e], W->values[e]));
        }
    }
    return OKRA_OK;
}

/* What is not 0 of a dense file. */
static okra_status gather_dense(okra_context *ctx, const okra_data *data, okra_csr_ *W)
{
    okra_int n = data->n, entries = 0;
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            entries += i != j && data->values[i * data->ld + j] != 0;
        }
    }
    CHK(open_rows(ctx, n, entries, W));
    W->indptr[0] = 0;
    for (okra_int i = 0, at = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            double w = data->values[i * data->ld + j];
            if (i != j && w != 0) {
                CHK(okra_graph_weight_(i, j, w));
                W->indices[at] = j;
                W->values[at++] = w;
            }
        }
        W->indptr[i + 1] = at;
    }
    return OKRA_OK;
}

okra_status okra_graph_copy_(okra_context *ctx, okra_int n, const double *values,
                             okra_int ld, double **W)
{
    CHK(okra_doubles_(ctx, n, n, "the graph", W));
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            (*W)[i * n + j] = values[i * ld + j];
            CHK(i == j ? OKRA_OK : okra_graph_weight_(i, j, values[i * ld + j]));
        }
    }
    return OKRA_OK;
}

okra_status okra_graph_read_(okra_context *ctx, const char *file, okra_int n,
                             okra_csr_ *W, double **dense)
{
    FREED_BY(okra_data_drop_) okra_data *data = NULL;
    char found[120];
    CHK(okra_data_read(ctx, file, &data));
    bool sparse = data->kind == OKRA_SPARSE;
    REFUSE_IF((!sparse && data->kind != OKRA_DENSE && data->kind != OKRA_GRAM) ||
                  data->n != n || data->d != n,
              OKRA_ESHAPE,
              "graph: %s holds %s, expected a matrix of %lld x %lld, one row per input, "
              "labelled or not",
              file, okra_data_describe_(data, found, sizeof found), (long long)n,
              (long long)n);
    if (sparse) {
        CHK(copy_sparse(ctx, data, W));
        return OKRA_OK;
    }
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < i; j++) {
            CHK(check_symmetric(data, i, j, data->values[i * data->ld + j]));
        }
    }
    return dense ? okra_graph_copy_(ctx, n, data->values, data->ld, dense)
                 : gather_dense(ctx, data, W);
}
