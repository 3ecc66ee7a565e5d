/*
 * kpca_low.c: kpca.c in factored form, K = Phi Phi' (n x m), outputs with features Psi
 * (n x d): explicit ones, or those of a low-rank output kernel, L = Psi Psi'.
 *
 *     Psi'H Psi = E' diag(mu) E,  H = I - 11'/n    d x d, the mu of H L H
 *     h(x) = b + E_p'E_p A'phi(x),  A = (Phi'Phi + lambda I)^-1 Phi'H Psi,  b = Psi'1/n
 * E_p: the p leading rows of E. The coordinates of an object y in which decoders compare
 * are E_p (psi(y) - b). Directions with mu <= n eps max(mu_1, max_i |psi_i|^2) are
 * rounding. With rank-output E are the directions of the fitted outputs, those of
 * A'Phi'Phi A, for each lambda (kpca_rank.c).
 *
 * Why it stands beside kpca.c: that one decomposes n x n and predicts weights over the
 * training outputs; this one decomposes d x d and predicts points, and no n x p scores
 * are kept. What they share is okra_kpca_choose_ and the coefficients of ridge.
 *
 * Cost: a pass of n m^2 to 2 n m^2, 2 n m d and n d^2, an eigendecomposition of d^3, then
 * m^3/3 + 2 m d (m + 2 p) a lambda. The model holds m d + p d doubles and the basis.
 */
#include "method/kpca/kpca.h"

#include "solve/moments.h"
#include "solve/ridge.h"

typedef struct low {
    okra_context *ctx;
    const okra_problem_ *problem;
    okra_moments_ t;
    const char *components, *rank; /* options */
    double *E, *offset;            /* p x d, p */
    okra_int p;
} low;

/* D, centred, becomes E_p; tr(Psi'Psi) bounds n eps max |psi|^2. */
static okra_status find_axes(low *z)
{
    okra_int d = z->t.d, rank = 0;
    OWNED double *mu = NULL;
    double scale = z->problem->map_y ? 1 : z->problem->feature_scale;
    FREE(z->E, z->offset);
    z->E = z->offset = NULL;
    MAKE(mu, d);
    CHK(okra_eigh_(z->ctx, okra_mat_of_(z->t.D, d, d), mu));
    for (okra_int j = 0; j < d / 2; j++) {
        OKRA_SWAP_(mu[j], mu[d - 1 - j]);
    }
    while (rank < d && mu[rank] > DBL_EPSILON * z->t.kept_y) {
        rank++;
    }
    okra_scale_(rank, scale, mu);
    CHK(okra_kpca_choose_(z->ctx, *z->rank ? "rank-output" : "components",
                          *z->rank ? z->rank : z->components, mu, rank, &z->p));
    CHK(okra_doubles_(z->ctx, z->p, d, "the output components", &z->E));
    MAKE(z->offset, z->p);
    for (okra_int k = 0; k < z->p; k++) {
        const double *e = z->t.D + (d - 1 - k) * d;
        CHK(okra_mat_copy_(okra_mat_view_(e, 1, d, d), okra_mat_of_(z->E + k * d, 1, d)));
        z->offset[k] = sqrt(scale) * okra_dot_(d, e, z->t.psi);
    }
    return OKRA_OK;
}

/* E of the outputs that A (m x d) fits: their moments are A'Phi'Phi A. */
static okra_status fitted_axes(low *z, okra_mat_ A)
{
    okra_int m = z->t.m, d = z->t.d;
    FREED_BY(okra_mat_drop_) okra_mat_ P = {0};
    CHK(okra_mat_room_(z->ctx, m, d, "the fitted outputs", &P));
    CHK(okra_gemm_(z->ctx, false, false, 1, okra_mat_of_(z->t.C, m, m), A, 0, P));
    CHK(okra_gemm_(z->ctx, true, false, 1, A, P, 0, okra_mat_of_(z->t.D, d, d)));
    return find_axes(z);
}

/* One lambda: T A E_p'E_p, where phi(x)' = v(x)' T. */
static okra_status coefficients(low *z, double lambda, okra_store_ *store)
{
    okra_int m = z->t.m, d = z->t.d;
    FREED_BY(okra_mat_drop_) okra_mat_ G = {0}, A = {0}, T = {0};
    double jitter = 0;
    CHK(okra_mat_room_(z->ctx, m, m, "the factor of the moments", &G));
    CHK(okra_mat_room_(z->ctx, m, d, "the ridge coefficients", &A));
    CHK(okra_mat_copy_(okra_mat_of_(z->t.C, m, m), G));
    CHK(okra_mat_copy_(okra_mat_of_(z->t.R, m, d), A));
    okra_mat_add_diagonal_(G, lambda);
    CHK(okra_cholesky_(z->ctx, G, &jitter));
    CHK(okra_cholesky_solve_(z->ctx, G, A));
    if (*z->rank) {
        CHK(fitted_axes(z, A));
        CHK(okra_store_put_number_(store, "rank-output", (double)z->p));
    }
    okra_mat_ E = okra_mat_of_(z->E, z->p, d);
    CHK(okra_mat_room_(z->ctx, m, z->p, "the coefficients of the components", &T));
    CHK(okra_gemm_(z->ctx, false, true, 1, A, E, 0, T));
    CHK(okra_gemm_(z->ctx, false, false, 1, T, E, 0, A));
    CHK(okra_ridge_put_folded_(z->ctx, z->problem->map_x, m, d, store, &A.p));
    return okra_store_put_number_(store, "jitter", jitter);
}

/* What all lambdas share: the mean, the axes in the units of the kernel, the offset. */
static okra_status put_axes(const low *z, okra_store_ *store)
{
    okra_int p = z->p, d = z->t.d;
    OWNED double *axes = NULL;
    double root = z->problem->map_y ? 1 : sqrt(z->problem->feature_scale);
    CHK(okra_store_put_copy_(store, "mean", z->t.psi, 1, d));
    CHK(okra_doubles_(z->ctx, p, d, "the output components", &axes));
    for (okra_int i = 0; i < p * d; i++) {
        axes[i] = root * z->E[i];
    }
    CHK(okra_store_put_(store, "axes", &axes, p, d));
    CHK(okra_store_put_copy_(store, "offset", z->offset, 1, p));
    CHK(okra_store_put_number_(store, "components", (double)p));
    return okra_moments_put_(&z->t, z->problem, store);
}

static void clear(low *z)
{
    okra_moments_clear_(&z->t);
    FREE(z->E, z->offset);
}

okra_status okra_kpca_low_(okra_context *ctx, const okra_problem_ *problem,
                           const char *components, const char *rank, const double *lambda,
                           size_t count, okra_store_ *const *stores)
{
    FREED_BY(clear)
    low z = {.ctx = ctx, .problem = problem, .components = components, .rank = rank};
    REFUSE_IF(
        strcmp(rank, "auto") == 0, OKRA_EUNSUPPORTED,
        "kpca: rank-output auto needs the whole input Gram matrix for leave-one-out; "
        "with low-rank-x expected a number or a share of the variance");
    REFUSE_IF(okra_problem_features_(problem) == 0, OKRA_EARG,
              "kpca: low-rank-x needs low-rank-y, or a linear ky");
    double least = lambda[0];
    for (size_t l = 1; l < count; l++) {
        least = fmin(least, lambda[l]);
    }
    CHK(okra_moments_create_(ctx, problem, true, least, NULL, &z.t));
    okra_moments_center_(&z.t);
    if (!*rank) {
        CHK(find_axes(&z));
    }
    for (size_t l = 0; l < count; l++) {
        CHK(okra_cancelled_(ctx));
        CHK(coefficients(&z, lambda[l], stores[l]));
        CHK(put_axes(&z, stores[l]));
        CHK(okra_problem_put_weights_(problem, stores[l]));
        CHK(okra_store_put_number_(stores[l], "lambda", lambda[l]));
    }
    return OKRA_OK;
}
