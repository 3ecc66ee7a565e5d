/*
 * graph_file.c: weights of a graph from a file, and checks of weights.
 */
#include "method/smoothness/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static int ascending(const void *a, const void *b)
{
    okra_int x = *(const okra_int *)a, y = *(const okra_int *)b;
    return (x > y) - (x < y);
}

static double weight_at(const okra_data *data, okra_int i, okra_int j)
{
    if (data->kind != OKRA_SPARSE) {
        return data->values[i * data->ld + j];
    }
    const okra_csr_ *w = &data->csr;
    const okra_int *found =
        bsearch(&j, w->indices + w->indptr[i], (size_t)(w->indptr[i + 1] - w->indptr[i]),
                sizeof j, ascending);
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
    okra_status st = OKRA_OK;
    TRY(okra_budget_ask_(ctx, 32.0 * (double)entries + 24.0 * (double)n,
                         "a graph of %lld entries", (long long)entries));
    ALLOC(W->indptr, n + 1);
    ALLOC(W->indices, entries);
    ALLOC(W->values, entries);
done:
    return st;
}

static okra_status copy_sparse(okra_context *ctx, const okra_data *data, okra_csr_ *W)
{
    okra_status st = OKRA_OK;
    okra_int n = data->n;
    TRY(open_rows(ctx, n, data->csr.indptr[n], W));
    memcpy(W->indptr, data->csr.indptr, (size_t)(n + 1) * sizeof *W->indptr);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int e = W->indptr[i]; e < W->indptr[i + 1]; e++) {
            W->indices[e] = data->csr.indices[e];
            W->values[e] = data->csr.values[e];
            TRY(okra_graph_weight_(i, W->indices[e], W->values[e]));
            TRY(check_symmetric(data, i, W->indices[e], W->values[e]));
        }
    }
done:
    return st;
}

/* What is not 0 of a dense file. */
static okra_status gather_dense(okra_context *ctx, const okra_data *data, okra_csr_ *W)
{
    okra_status st = OKRA_OK;
    okra_int n = data->n, entries = 0;
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            entries += i != j && data->values[i * data->ld + j] != 0;
        }
    }
    TRY(open_rows(ctx, n, entries, W));
    W->indptr[0] = 0;
    for (okra_int i = 0, at = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            double w = data->values[i * data->ld + j];
            if (i != j && w != 0) {
                TRY(okra_graph_weight_(i, j, w));
                W->indices[at] = j;
                W->values[at++] = w;
            }
        }
        W->indptr[i + 1] = at;
    }
done:
    return st;
}

okra_status okra_graph_copy_(okra_context *ctx, okra_int n, const double *values,
                             okra_int ld, double **W)
{
    okra_status st = OKRA_OK;
    TRY(okra_doubles_(ctx, n, n, "the graph", W));
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            (*W)[i * n + j] = values[i * ld + j];
            TRY(i == j ? OKRA_OK : okra_graph_weight_(i, j, values[i * ld + j]));
        }
    }
done:
    return st;
}

okra_status okra_graph_read_(okra_context *ctx, const char *file, okra_int n,
                             okra_csr_ *W, double **dense)
{
    okra_status st = OKRA_OK;
    okra_data *data = NULL;
    char found[120];
    TRY(okra_data_read(ctx, file, &data));
    bool sparse = data->kind == OKRA_SPARSE;
    if ((!sparse && data->kind != OKRA_DENSE && data->kind != OKRA_GRAM) ||
        data->n != n || data->d != n) {
        FAIL(OKRA_ESHAPE,
             "graph: %s holds %s, expected a matrix of %lld x %lld, one row an input, "
             "labelled or not",
             file, okra_data_describe_(data, found, sizeof found), (long long)n,
             (long long)n);
    }
    if (sparse) {
        TRY(copy_sparse(ctx, data, W));
        goto done;
    }
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < i; j++) {
            TRY(check_symmetric(data, i, j, data->values[i * data->ld + j]));
        }
    }
    TRY(dense ? okra_graph_copy_(ctx, n, data->values, data->ld, dense)
              : gather_dense(ctx, data, W));
done:
    okra_data_free(data);
    return st;
}
