/*
 * ridge_weights.c: weights of pairs. Solvers see the problem of s_i times both features
 * of pair i (ridge.c), s the roots of the weights; here are the way there and back.
 */
#include "solve/directions.h"

#include <math.h>
#include <stdio.h>

okra_status okra_ridge_K_(const okra_ridge_ *r, okra_large_ **K)
{
    return okra_problem_scaled_K_(r->ctx, r->p, r->s, K);
}

okra_status okra_ridge_host_K_(const okra_ridge_ *r, double **K)
{
    okra_large_ *G = NULL;
    okra_status st = okra_ridge_K_(r, &G);
    st = st == OKRA_OK ? okra_large_take_(r->ctx, &G, "the Gram matrix of the inputs", K)
                       : st;
    okra_large_free_(G);
    return st;
}

okra_status okra_ridge_ones_(const okra_ridge_ *r, const okra_large_ *V, double *out)
{
    okra_int n = okra_large_cols_(V);
    return r->s ? okra_large_left_(r->ctx, false, false, 1, V,
                                   okra_mat_view_(r->s, n, 1, 1),
                                   okra_mat_of_(out, okra_large_rows_(V), 1))
                : okra_large_row_sums_(r->ctx, V, out);
}

/* A matrix that the model keeps on the engine: s_i A_ij s_j, or A_ij / s_i. */
static okra_status unscale_kept(const okra_ridge_ *r, okra_bag_ *bag, const char *name,
                                bool divide)
{
    okra_large_ *A = okra_large_kept_(bag, name);
    OWNED double *inverse = NULL;
    if (!A || !divide) {
        return A ? okra_large_scale_(r->ctx, r->s, r->s, A) : OKRA_OK;
    }
    MAKE(inverse, r->p->n);
    for (okra_int i = 0; i < r->p->n; i++) {
        inverse[i] = 1 / r->s[i];
    }
    return okra_large_scale_(r->ctx, inverse, NULL, A);
}

/* From the problem in units of s to that of the outputs themselves:
 *     coefficients  C = S C~               B = S B~ S (low rank: rows alone)
 *     factor        K + lambda S^-2 = (S^-1 G)(S^-1 G)',   G G' = S K S + lambda I */
okra_status okra_ridge_unscale_(const okra_ridge_ *r, okra_bag_ *bag)
{
    okra_int n = r->p->n, m = 0, cols = 0;
    bool low = r->p->map_x != NULL;
    if (!r->s) {
        return OKRA_OK;
    }
    double *C = low ? NULL : okra_bag_edit_(bag, "coefficients", &m, &cols);
    for (okra_int i = 0; C && i < n * cols; i++) {
        C[i] *= r->s[i / cols];
    }
    double *B = okra_bag_edit_(bag, "B", &m, &cols);
    for (okra_int i = 0; B && i < n * cols; i++) {
        okra_int j = i % cols;
        B[i] *= r->s[i / cols] * (!low && j < n ? r->s[j] : 1);
    }
    CHK(unscale_kept(r, bag, "B", false));
    for (int k = -1; k < OKRA_DIRECTIONS_MOST_; k++) {
        char name[24] = "factor";
        if (k >= 0) {
            snprintf(name, sizeof name, "factor.%d", k);
        }
        double *G = okra_bag_edit_(bag, name, &m, &cols);
        for (okra_int i = 0; G && i < n * n; i++) {
            G[i] /= r->s[i / n];
        }
        CHK(unscale_kept(r, bag, name, true));
    }
    return okra_problem_put_weights_(r->p, bag);
}

okra_status okra_ridge_unscale_left_(okra_context *ctx, void *user,
                                     const okra_left_ *left)
{
    const okra_unscaled_ *u = user;
    const double *s = u->r->s;
    okra_mat_ A = left->H.p ? left->H : left->W;
    for (okra_int i = 0; i < A.rows; i++) {
        for (okra_int j = 0; j < A.cols; j++) {
            A.p[i * A.ld + j] *= (left->W.p ? s[j] : 1) / s[i];
        }
    }
    return u->leave->sink(ctx, u->leave->user, left);
}

okra_status okra_ridge_features_(okra_ridge_ *r)
{
    okra_int n = r->p->n, d = r->p->d;
    CHK(okra_doubles_(r->ctx, n, d, "the output features", &r->Y));
    CHK(okra_mat_copy_(okra_mat_view_(r->p->features, n, d, r->p->features_ld),
                       okra_mat_of_(r->Y, n, d)));
    for (okra_int i = 0; i < n * d; i++) {
        r->missing = r->missing || isnan(r->Y[i]);
    }
    if (r->center) {
        ZMAKE(r->mean, d);
        for (okra_int j = 0; j < d; j++) { /* the mean of what is known */
            double known = 0;
            for (okra_int i = 0; i < n; i++) {
                known += isnan(r->Y[i * d + j]) ? 0 : okra_ridge_weight_(r, i);
            }
            for (okra_int i = 0; i < n; i++) {
                double y = r->Y[i * d + j];
                r->mean[j] += isnan(y) ? 0 : okra_ridge_weight_(r, i) * y / known;
            }
        }
        for (okra_int i = 0; i < n; i++) {
            for (okra_int j = 0; j < d; j++) {
                r->Y[i * d + j] -= r->mean[j];
            }
        }
    }
    for (okra_int i = 0; r->s && i < n * d; i++) {
        r->Y[i] *= r->s[i / d];
    }
    return OKRA_OK;
}
