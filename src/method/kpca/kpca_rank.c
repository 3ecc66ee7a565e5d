/*
 * kpca_rank.c: kernel PCA of the fitted outputs in the place of the outputs: reduced-rank
 * regression in feature space (Brogat-Motte et al. 2022).
 *
 *     A = (K + lambda I)^-1 K,  A L A = U diag(nu) U'   L centred, the p largest nu
 *     e_j = sum_i D_ij phi(y_i) / nu_j,  D = A U diag(nu)^1/2    directions of the space
 *     S = L D diag(nu)^-1     (n x p)                   coordinates of training outputs
 *
 * So h(x) of ridge is projected on span(e_1 ... e_p), where the fitted h(x_i) vary most.
 * The model is that of kpca.c with D as its duals. Decoders compare in the whole space:
 * the directions are those of predictions, not those in which outputs differ.
 *
 * auto: p with the least sum of squared leave-one-out errors. With t_ij = (A S)_ij the
 * error of coordinate j is r_ij = (S_ij - t_ij) / (1 - A_ii), and the sum is that of
 * |phi(y_i)|^2 + sum_{j <= p} r_ij^2 - S_ij^2. The directions and the mean are those of
 * all pairs.
 *
 * Cost: 8 n^3 and an eigendecomposition a lambda.
 */
#include "method/kpca/kpca.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A = (K + lambda I)^-1 K, and M = A L A. */
static okra_status smooth(okra_context *ctx, const okra_large_ *K, const okra_large_ *G,
                          const okra_axes_ *a, okra_large_ **A, okra_large_ **M)
{
    FREED_BY(okra_large_drop_) okra_large_ *T = NULL;
    okra_int n = a->n;
    CHK(okra_large_create_(ctx, n, n, "the smoother", A));
    CHK(okra_large_copy_(ctx, false, K, *A));
    CHK(okra_large_solve_(ctx, true, G, *A));
    CHK(okra_large_create_(ctx, n, n, "the fitted outputs", &T));
    CHK(okra_large_gemm_(ctx, false, false, 1, *A, a->L, 0, T));
    CHK(okra_large_create_(ctx, n, n, "the Gram matrix of fitted outputs", M));
    return okra_large_gemm_(ctx, false, true, 1, T, *A, 0, *M);
}

/* The largest A_ii: what A makes of rounding in L. */
static okra_status largest(okra_context *ctx, const okra_large_ *A, okra_int n,
                           double *out)
{
    OWNED double *v = NULL;
    MAKE(v, n);
    CHK(okra_large_diagonal_(ctx, A, v));
    for (okra_int i = 0; i < n; i++) {
        *out = fmax(*out, v[i]);
    }
    return OKRA_OK;
}

/* Rows of D' and S' (p x n) from the eigenvectors in the last p rows of V. */
static okra_status directions(okra_context *ctx, const okra_large_ *V,
                              const okra_large_ *A, const okra_axes_ *a, const double *nu,
                              okra_int p, double *D, double *S)
{
    okra_int n = a->n;
    OWNED double *U = NULL;
    okra_mat_ Dm = okra_mat_of_(D, p, n);
    CHK(okra_doubles_(ctx, p, n, "the directions of fitted outputs", &U));
    for (okra_int j = 0; j < p; j++) {
        CHK(okra_large_get_(ctx, V, n - 1 - j, 0, okra_mat_of_(U + j * n, 1, n)));
    }
    CHK(okra_large_right_(ctx, false, true, 1, okra_mat_of_(U, p, n), A, Dm));
    for (okra_int j = 0; j < p; j++) { /* about the mean: sum_i s_i D_ij = 0 */
        double sum = 0, *d = D + j * n;
        for (okra_int i = 0; i < n; i++) {
            sum += (a->s ? a->s[i] : 1) * d[i];
        }
        sum /= a->s ? a->total : (double)n;
        for (okra_int i = 0; i < n; i++) {
            d[i] = sqrt(nu[j]) * (d[i] - (a->s ? a->s[i] : 1) * sum);
        }
    }
    CHK(okra_large_right_(ctx, false, false, 1, Dm, a->L, okra_mat_of_(S, p, n)));
    for (okra_int i = 0; i < p * n; i++) {
        S[i] /= nu[i / n];
    }
    return OKRA_OK;
}

/* The number of directions, rows of S (p x n), of the least leave-one-out error. */
static okra_status leave_one_out(okra_context *ctx, const okra_large_ *A, const double *S,
                                 okra_int n, okra_int p, okra_int *best)
{
    OWNED double *T = NULL, *slack = NULL;
    double sum = 0, least = 0;
    MAKE(slack, n);
    CHK(okra_doubles_(ctx, p, n, "the fitted components", &T));
    CHK(okra_large_diagonal_(ctx, A, slack));
    CHK(okra_large_right_(ctx, false, true, 1, okra_mat_view_(S, p, n, n), A,
                          okra_mat_of_(T, p, n)));
    for (okra_int i = 0; i < n; i++) {
        slack[i] = fmax(1 - slack[i], DBL_EPSILON);
    }
    *best = 0;
    for (okra_int j = 0; j < p; j++) {
        for (okra_int i = 0; i < n; i++) {
            double s = S[j * n + i], r = (s - T[j * n + i]) / slack[i];
            sum += r * r - s * s;
        }
        if (j == 0 || sum < least) {
            least = sum;
            *best = j + 1;
        }
    }
    return OKRA_OK;
}

/* The first p rows of D' and S' as the columns of the model. */
static okra_status keep(okra_context *ctx, const double *D, const double *S,
                        const double *nu, okra_int p, okra_axes_ *a)
{
    okra_int n = a->n;
    okra_axes_drop_(a);
    a->p = p;
    CHK(okra_doubles_(ctx, n, p, "the output components", &a->S));
    CHK(okra_doubles_(ctx, n, p, "the output components", &a->D));
    MAKE(a->mu, p);
    ZMAKE(a->offset, p);
    for (okra_int j = 0; j < p; j++) {
        a->mu[j] = nu[j];
        for (okra_int i = 0; i < n; i++) {
            a->S[i * p + j] = S[j * n + i];
            a->D[i * p + j] = D[j * n + i];
            a->offset[j] += D[j * n + i] * a->mean[i] / nu[j];
        }
    }
    return OKRA_OK;
}

okra_status okra_kpca_rank_(okra_context *ctx, const char *text, const okra_large_ *K,
                            const okra_large_ *G, okra_axes_ *a)
{
    FREED_BY(okra_large_drop_) okra_large_ *A = NULL, *M = NULL;
    OWNED double *nu = NULL, *D = NULL, *S = NULL;
    double most = 0;
    bool automatic = strcmp(text, "auto") == 0;
    okra_int p = 0;
    MAKE(nu, a->n);
    CHK(smooth(ctx, K, G, a, &A, &M));
    CHK(okra_large_eigh_(ctx, M, nu));
    CHK(largest(ctx, A, a->n, &most));
    okra_int rank = okra_axes_rank_(ctx, a->n, a->scale * most * most, nu);
    CHK(okra_kpca_choose_(ctx, "rank-output", automatic ? "all" : text, nu, rank, &p));
    CHK(okra_doubles_(ctx, p, a->n, "the directions of fitted outputs", &D));
    CHK(okra_doubles_(ctx, p, a->n, "the output components", &S));
    CHK(directions(ctx, M, A, a, nu, p, D, S));
    if (automatic) {
        CHK(leave_one_out(ctx, A, S, a->n, p, &p));
    }
    return keep(ctx, D, S, nu, p, a);
}
