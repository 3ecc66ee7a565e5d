/*
 * predict.c: predictions of a ridge model: weights w(x) = B k_x over the training
 * outputs, or the embedding h(x) = C'k_x where coefficients are kept. Cost: n^2 or n d a
 * test point.
 */
#include "solve/ridge.h"

okra_form_ okra_ridge_form_(const okra_store_ *store)
{
    return okra_store_has_(store, "factor") || okra_store_has_(store, "B")
               ? OKRA_FORM_WEIGHTS
               : OKRA_FORM_EMBEDDING;
}

okra_int okra_ridge_width_(const okra_store_ *store)
{
    return okra_store_mat_(store, "coefficients").cols;
}

/* out_ij += slope_j x_ij of the test inputs: what diag(x o x') adds. */
static okra_status add_slope(const okra_store_ *store, const okra_query_ *query,
                             okra_mat_ out)
{
    okra_mat_ slope = okra_store_mat_(store, "slope");
    const okra_data *x = query->x;
    REFUSE_IF(
        !x || x->kind != OKRA_DENSE || x->d != out.cols, OKRA_ESHAPE,
        "ridge: operator diagonal: the test inputs must be dense vectors of length %lld",
        (long long)out.cols);
    for (okra_int i = 0; i < out.rows; i++) {
        const double *row = x->values + (query->first + i) * x->ld;
        for (okra_int j = 0; j < out.cols; j++) {
            out.p[i * out.ld + j] += slope.p[j] * row[j];
        }
    }
    return OKRA_OK;
}

/* h(x)' = k_x' C, and the mean restored. */
okra_status okra_ridge_embed_(okra_context *ctx, const okra_store_ *store,
                              okra_query_ *query, okra_mat_ out)
{
    okra_mat_ C = okra_store_mat_(store, "coefficients");
    okra_mat_ mean = okra_store_mat_(store, "mean");
    REFUSE_IF(!C.p, OKRA_EUNSUPPORTED, "the outputs have no explicit features");
    CHK(okra_query_times_(ctx, query, false, C, out));
    if (okra_store_has_(store, "slope")) {
        CHK(add_slope(store, query, out));
    }
    for (okra_int i = 0; mean.p && i < out.rows; i++) {
        for (okra_int j = 0; j < out.cols; j++) {
            out.p[i * out.ld + j] += mean.p[j];
        }
    }
    return OKRA_OK;
}

/* Rows that sum to 1: the mean output takes what is missing; pairs may have weights. */
static void restore_mean(const okra_store_ *store, okra_mat_ W)
{
    const double *weights = okra_store_mat_(store, "sample-weight").p;
    double total = weights ? 0 : (double)W.cols;
    for (okra_int j = 0; weights && j < W.cols; j++) {
        total += weights[j];
    }
    for (okra_int i = 0; i < W.rows; i++) {
        double *w = W.p + i * W.ld, sum = okra_total_(W.cols, w);
        for (okra_int j = 0; j < W.cols; j++) {
            w[j] += (1 - sum) * (weights ? weights[j] : 1) / total;
        }
    }
}

/* Single queries by the inverse of the factor (linalg/inverse.c), which reads half as
 * much. It is made when PATIENCE of them have come, costs as many operations as the fit,
 * and stays with the model where half of the memory budget is free. From then on weights
 * may differ from those before in their last digits. Not for a matrix of a large
 * condition, where substitution leaves smaller residuals. */
enum { PATIENCE = 4, LEAST = 1024, LARGEST = 8192 };
static const double condition_most = 1e8;

static bool well_conditioned(okra_mat_ G)
{
    double least = (double)INFINITY, most = 0;
    for (okra_int i = 0; i < G.rows; i++) {
        least = fmin(least, G.p[i * G.ld + i]);
        most = fmax(most, G.p[i * G.ld + i]);
    }
    return most * most <= condition_most * least * least;
}

static okra_status make_inverse(okra_context *ctx, okra_mat_ G, okra_memo_ *memo)
{
    OWNED double *T = NULL;
    okra_int count = okra_inverse_count_(G.rows);
    double half = (double)okra_context_memory(ctx) / 2;
    if (!well_conditioned(G) ||
        okra_budget_ask_(ctx, 8 * (double)count + half, "an inverse") != OKRA_OK) {
        return OKRA_OK;
    }
    CHK(okra_doubles_(ctx, 1, count, "an inverse", &T));
    CHK(okra_inverse_(ctx, G, T));
    atomic_store(&memo->values, TAKE(T));
    return OKRA_OK;
}

/* w(x)' = k_x'(G G')^-1 */
static okra_status solve(okra_context *ctx, const okra_store_ *store, okra_query_ *query,
                         okra_mat_ G, okra_mat_ out)
{
    okra_memo_ *memo = store->memo;
    bool single = query->m == 1 && okra_engine_is_host_(ctx) && G.rows >= LEAST &&
                  G.rows <= LARGEST;
    if (single && atomic_fetch_add(&memo->asked, 1) == PATIENCE) {
        CHK(make_inverse(ctx, G, memo));
    }
    const double *T = single ? atomic_load(&memo->values) : NULL;
    if (!T) {
        return okra_query_solve_(ctx, query, G, out);
    }
    CHK(query->K ? okra_matrix_get_(ctx, query->K, 0, 0, out)
                 : okra_mat_copy_(query->Kx, out));
    return okra_inverse_row_(ctx, G.rows, T, out.p);
}

okra_status okra_ridge_predict_(okra_context *ctx, const okra_store_ *store,
                                okra_query_ *query, okra_mat_ out)
{
    double centered = 0;
    if (okra_ridge_form_(store) == OKRA_FORM_EMBEDDING) {
        return okra_ridge_embed_(ctx, store, query, out);
    }
    const okra_matrix_ *factor = okra_matrix_kept_(store, "factor");
    const okra_matrix_ *weights = okra_matrix_kept_(store, "B");
    if (factor) {
        CHK(okra_query_solve_by_(ctx, query, factor, out));
    } else if (weights) {
        CHK(okra_query_times_by_(ctx, query, true, weights, out));
    } else if (okra_store_has_(store, "factor")) {
        CHK(solve(ctx, store, query, okra_store_mat_(store, "factor"), out));
    } else {
        CHK(okra_query_times_(ctx, query, true, okra_store_mat_(store, "B"), out));
    }
    if (okra_store_get_number_(store, "center", &centered) && centered != 0) {
        restore_mean(store, out);
    }
    return OKRA_OK;
}
