/*
 * ridge_directions.c: the factors of ridge, one for each different eigenvalue of the
 * operator.
 *
 * A = sum_k g_k E_k'E_k, rows of E_k the eigenvectors of the eigenvalue g_k, turns the
 * solution of ridge.c into one problem for each of them,
 *
 *     C = sum_k (K + lambda / g_k I)^-1 Y E_k'E_k          (g_k > 0; others add nothing)
 *
 * so that a model that keeps the factors G_k G_k' = K + lambda / g_k I can be updated as
 * one with the operator identity is (ridge_update.c), k times. Cost: q n^3/3 and q n^2
 * doubles for q eigenvalues, against some 10 n^3 and n^2 of the eigendecomposition of K,
 * which keeps nothing that could be updated: a row more changes all eigenvectors, 2 n^3.
 */
#include "solve/directions.h"

#include "solve/operator.h"

#include <stdio.h>

/* Eigenvalues this close, relative to the largest, are the same; below it, zero. */
static const double same = 1e-13;

void okra_directions_plain_(double lambda, okra_directions_ *out)
{
    *out = (okra_directions_){.count = 1};
    out->of[0] = (okra_direction_){.name = "factor", .shift = lambda};
}

okra_status okra_directions_open_(okra_context *ctx, const double *A, okra_int d,
                                  double lambda, okra_directions_ *out)
{
    okra_directions_ o = {0};
    OWNS(&o.E);
    OWNED double *g = NULL;
    MAKE(g, d);
    CHK(okra_doubles_(ctx, d, d, "the eigenvectors of the operator", &o.E));
    CHK(okra_mat_copy_(okra_mat_view_(A, d, d, d), okra_mat_of_(o.E, d, d)));
    CHK(okra_operator_decompose_(ctx, okra_mat_of_(o.E, d, d), g));
    double least = same * g[d - 1];
    for (okra_int j = 0, next = 0; j < d; j = next) { /* ascending */
        for (next = j + 1; next < d && g[next] - g[j] <= least; next++) {
        }
        if (g[j] <= least) {
            continue;
        }
        o.different++;
        if (o.count < OKRA_DIRECTIONS_MOST_) {
            okra_direction_ *v = &o.of[o.count];
            snprintf(v->name, sizeof v->name, "factor.%d", o.count);
            v->shift = lambda / g[j];
            v->E = okra_mat_of_(o.E + j * d, next - j, d);
            o.count++;
        }
    }
    *out = TAKE(o);
    return OKRA_OK;
}

OKRA_SHARED_CLEARS_(okra_directions_clear_, okra_directions_, it->E)

/* One factor into the bag, and what its outputs add to C. */
static okra_status fit_one(okra_ridge_ *r, const okra_large_ *K, const okra_direction_ *v,
                           double *jitter, double *C)
{
    okra_int n = r->p->n, d = r->p->d, e = v->E.rows;
    FREED_BY(okra_large_drop_) okra_large_ *G = NULL;
    OWNED double *F = NULL;
    double added = 0;
    CHK(okra_large_create_(r->ctx, n, n, "a factor of the Gram matrix", &G));
    CHK(okra_large_copy_(r->ctx, false, K, G));
    CHK(okra_large_add_diagonal_(r->ctx, v->shift, G));
    CHK(okra_large_cholesky_(r->ctx, G, &added));
    *jitter = OKRA_MAX_(*jitter, added);
    CHK(okra_doubles_(r->ctx, n, e, "the outputs of a factor", &F));
    okra_mat_ Fm = okra_mat_of_(F, n, e);
    CHK(okra_gemm_(r->ctx, false, true, 1, okra_mat_of_(r->Y, n, d), v->E, 0, Fm));
    CHK(okra_large_solve_host_(r->ctx, true, G, Fm));
    CHK(okra_gemm_(r->ctx, false, false, 1, Fm, v->E, 1, okra_mat_of_(C, n, d)));
    return okra_large_keep_(r->ctx, &G, true, "a factor of the Gram matrix", v->name,
                            r->bags[0]);
}

okra_status okra_ridge_factors_(okra_ridge_ *r, const double *A)
{
    okra_int n = r->p->n, d = r->p->d;
    FREED_BY(okra_directions_clear_) okra_directions_ o = {0};
    FREED_BY(okra_large_drop_) okra_large_ *K = NULL;
    OWNED double *C = NULL;
    double jitter = 0;
    CHK(okra_directions_open_(r->ctx, A, d, r->lambda[0], &o));
    REFUSE_IF(o.different > OKRA_DIRECTIONS_MOST_, OKRA_EUNSUPPORTED,
              "ridge: keep weights keeps a factor for each different eigenvalue of the "
              "operator: there are %lld, expected %d at most",
              (long long)o.different, OKRA_DIRECTIONS_MOST_);
    CHK(okra_doubles_(r->ctx, n, d, "the ridge coefficients", &C));
    okra_mat_fill_(okra_mat_of_(C, n, d), 0);
    CHK(okra_ridge_K_(r, &K));
    for (int k = 0; k < o.count; k++) {
        CHK(okra_cancelled_(r->ctx));
        CHK(fit_one(r, K, &o.of[k], &jitter, C));
    }
    CHK(okra_bag_put_number_(r->bags[0], "jitter", jitter));
    return okra_bag_put_(r->bags[0], "coefficients", &C, n, d);
}

okra_status okra_ridge_keep_operator_(const okra_ridge_ *r, const double *A)
{
    okra_int d = r->p->d;
    bool kept = A && !r->p->map_x && d <= r->p->n; /* no larger than coefficients */
    for (size_t l = 0; kept && l < r->count; l++) {
        CHK(okra_bag_put_copy_(r->bags[l], "operator.A", A, d, d));
    }
    return OKRA_OK;
}
