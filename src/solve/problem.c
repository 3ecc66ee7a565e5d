/*
 * problem.c: the Gram matrices that a method asks of its training set.
 */
#include "solve/solution.h"

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
    okra_int n = okra_matrix_rows_(A);
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

okra_status okra_query_times_(okra_context *ctx, okra_query_ *query, bool trans,
                              okra_mat_ B, okra_mat_ out)
{
    FREED_BY(okra_sent_clear_) okra_sent_ own = {0};
    const okra_matrix_ *stored = NULL;
    CHK(find_sent(ctx, query->sent ? query->sent : &own, B, &stored));
    return okra_query_times_by_(ctx, query, trans, stored, out);
}

okra_status okra_query_times_by_(okra_context *ctx, okra_query_ *query, bool trans,
                                 const okra_matrix_ *stored, okra_mat_ out)
{
    return query->K ? okra_matrix_times_(ctx, false, trans, 1, query->K, stored, out)
                    : okra_matrix_right_(ctx, false, trans, 1, query->Kx, stored, out);
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
