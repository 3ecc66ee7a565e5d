/*
 * predict.c: predictions of a ridge model: weights w(x) = B k_x over the training
 * outputs, or the embedding h(x) = C'k_x where coefficients are kept. Cost: n^2 or n d a
 * test point.
 */
#include "solve/ridge.h"
#include "solve/solution.h"

/* ---- the Gram matrices that a method asks of its training set.
 */

static okra_status gram(okra_context *ctx, okra_int n, const char *what,
                        const okra_trained_kernel_ *kernel, const double *given,
                        okra_int given_ld, okra_matrix_ **out)
{
    FREED_BY(okra_matrix_drop_) okra_matrix_ *G = NULL;
    FREED_BY(okra_entries_drop_) okra_entries_ *entries = NULL;
    CHK(okra_matrix_create_(ctx, n, n, what, &G));
    if (given) {
        CHK(okra_matrix_put_(ctx, okra_mat_view_(given, n, n, given_ld), 0, 0, G));
    } else {
        CHK(okra_entries_create_(ctx, kernel, NULL, &entries));
        CHK(okra_matrix_gram_(ctx, entries, 0, G));
    }
    *out = TAKE(G);
    return OKRA_OK;
}

static const char inputs[] = "the Gram matrix of the inputs";
static const char outputs[] = "the Gram matrix of the outputs";

okra_status okra_problem_K_(okra_context *ctx, const okra_problem_ *p, okra_matrix_ **K)
{
    return gram(ctx, p->n + p->unlabelled, inputs, p->kx, p->given_K, p->given_K_ld, K);
}

okra_status okra_problem_L_(okra_context *ctx, const okra_problem_ *p, okra_matrix_ **L)
{
    return gram(ctx, p->n, outputs, p->ky, p->given_L, p->given_L_ld, L);
}

okra_status okra_problem_host_K_(okra_context *ctx, const okra_problem_ *p, double **K)
{
    FREED_BY(okra_matrix_drop_) okra_matrix_ *G = NULL;
    CHK(okra_problem_K_(ctx, p, &G));
    return okra_matrix_take_(ctx, &G, inputs, K);
}

okra_status okra_problem_host_L_(okra_context *ctx, const okra_problem_ *p, double **L)
{
    FREED_BY(okra_matrix_drop_) okra_matrix_ *G = NULL;
    CHK(okra_problem_L_(ctx, p, &G));
    return okra_matrix_take_(ctx, &G, outputs, L);
}

/* ---- weights ---- */

okra_status okra_problem_roots_(const okra_problem_ *p, double **s, double *total)
{
    double *roots = NULL;
    *total = (double)p->n;
    if (p->weights) {
        *total = 0;
        MAKE(roots, p->n);
        for (okra_int i = 0; i < p->n; i++) {
            roots[i] = sqrt(p->weights[i]);
            *total += p->weights[i];
        }
    }
    *s = roots;
    return OKRA_OK;
}

okra_status okra_problem_put_weights_(const okra_problem_ *p, okra_store_ *store)
{
    return p->weights ? okra_store_put_copy_(store, "sample-weight", p->weights, 1, p->n)
                      : OKRA_OK;
}

okra_status okra_problem_scaled_K_(okra_context *ctx, const okra_problem_ *p,
                                   const double *s, okra_matrix_ **K)
{
    okra_int N = p->n + p->unlabelled;
    FREED_BY(okra_matrix_drop_) okra_matrix_ *G = NULL;
    OWNED double *all = NULL;
    CHK(okra_problem_K_(ctx, p, &G));
    if (s) {
        MAKE(all, N);
        for (okra_int i = 0; i < N; i++) {
            all[i] = i < p->n ? s[i] : 1;
        }
        CHK(okra_matrix_scale_(ctx, all, all, G));
    }
    *K = TAKE(G);
    return OKRA_OK;
}

/* P A P = A - u s' - s u' + (s'u / total) s s', u = A s / total: a product of rank 2. */
okra_status okra_center_weighted_(okra_context *ctx, const double *s, double total,
                                  double *mean, okra_matrix_ *A)
{
    okra_int n = A->rows;
    OWNED double *u = NULL, *left = NULL, *right = NULL;
    double dot = 0;
    FREED_BY(okra_matrix_drop_) okra_matrix_ *U = NULL, *V = NULL;
    MAKE(u, n);
    MAKE(left, 2 * n);
    MAKE(right, 2 * n);
    CHK(okra_matrix_left_(ctx, false, false, 1 / total, A, okra_mat_view_(s, n, 1, 1),
                          okra_mat_of_(u, n, 1)));
    for (okra_int i = 0; i < n; i++) {
        dot += s[i] * u[i] / total;
        if (mean) {
            mean[i] = u[i];
        }
    }
    for (okra_int i = 0; i < n; i++) {
        left[2 * i] = right[2 * i + 1] = s[i];
        left[2 * i + 1] = right[2 * i] = u[i] - dot / 2 * s[i];
    }
    CHK(okra_matrix_borrow_(ctx, okra_mat_of_(left, n, 2), &U));
    CHK(okra_matrix_borrow_(ctx, okra_mat_of_(right, n, 2), &V));
    return okra_matrix_gemm_(ctx, false, true, -1, U, V, 1, A);
}

/* ---- queries ---- */

void okra_sent_clear_(okra_sent_ *sent)
{
    for (int i = 0; i < sent->count; i++) {
        okra_matrix_free_(sent->items[i]);
    }
    *sent = (okra_sent_){0};
}

static okra_status find_sent(okra_context *ctx, okra_sent_ *sent, okra_mat_ block,
                             const okra_matrix_ **out)
{
    int at = 0;
    while (at < sent->count && sent->of[at] != block.p) {
        at++;
    }
    if (at == OKRA_SENT_MOST_) { /* the last one makes room */
        okra_matrix_free_(sent->items[--at]);
        sent->count--;
    }
    if (at == sent->count) {
        CHK(okra_matrix_borrow_(ctx, block, &sent->items[at]));
        sent->of[at] = block.p;
        sent->count++;
    }
    *out = sent->items[at];
    return OKRA_OK;
}

static okra_status times_by(okra_context *ctx, okra_query_ *query, bool trans,
                            const okra_matrix_ *stored, okra_mat_ out)
{
    return query->K ? okra_matrix_times_(ctx, false, trans, 1, query->K, stored, out)
                    : okra_matrix_right_(ctx, false, trans, 1, query->Kx, stored, out);
}

okra_status okra_query_times_(okra_context *ctx, okra_query_ *query, bool trans,
                              okra_mat_ B, okra_mat_ out)
{
    FREED_BY(okra_sent_clear_) okra_sent_ own = {0};
    const okra_matrix_ *stored = NULL;
    CHK(find_sent(ctx, query->sent ? query->sent : &own, B, &stored));
    return times_by(ctx, query, trans, stored, out);
}

okra_status okra_query_solve_(okra_context *ctx, okra_query_ *query, okra_mat_ L,
                              okra_mat_ out)
{
    FREED_BY(okra_sent_clear_) okra_sent_ own = {0};
    const okra_matrix_ *stored = NULL;
    CHK(find_sent(ctx, query->sent ? query->sent : &own, L, &stored));
    return okra_query_solve_by_(ctx, query, stored, out);
}

okra_status okra_query_solve_by_(okra_context *ctx, okra_query_ *query,
                                 const okra_matrix_ *stored, okra_mat_ out)
{
    if (query->K) {
        CHK(okra_matrix_solve_(ctx, false, stored, query->K));
        CHK(okra_matrix_get_(ctx, query->K, 0, 0, out));
    } else {
        CHK(okra_mat_copy_(query->Kx, out));
        CHK(okra_matrix_solve_host_(ctx, false, stored, out));
    }
    return OKRA_OK;
}

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
        okra_axpy_(out.cols, 1, mean.p, out.p + i * out.ld);
    }
    return OKRA_OK;
}

void okra_mean_restore_(const okra_store_ *store, okra_mat_ W)
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
    if (okra_ridge_form_(store) == OKRA_FORM_EMBEDDING) {
        return okra_ridge_embed_(ctx, store, query, out);
    }
    const okra_matrix_ *factor = okra_matrix_kept_(store, "factor");
    const okra_matrix_ *weights = okra_matrix_kept_(store, "B");
    if (factor) {
        CHK(okra_query_solve_by_(ctx, query, factor, out));
    } else if (weights) {
        CHK(times_by(ctx, query, true, weights, out));
    } else if (okra_store_has_(store, "factor")) {
        CHK(solve(ctx, store, query, okra_store_mat_(store, "factor"), out));
    } else {
        CHK(okra_query_times_(ctx, query, true, okra_store_mat_(store, "B"), out));
    }
    if (okra_store_number_(store, "center", 0) != 0) {
        okra_mean_restore_(store, out);
    }
    return OKRA_OK;
}
