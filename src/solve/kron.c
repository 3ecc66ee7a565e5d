/*
 * The covariance operators without their n^2 x n^2 system.
 *
 * Problem (Kadri 2013, eq. 8): T a K + n lambda a = I, B = T a, with T = S L,
 *     S = n eps (K + n eps I)^-1   (eq. 7, conditional covariance)   or   S = I (eq. 5),
 * K, L the n x n Gram matrices of inputs and outputs, both positive semi-definite.
 *
 * Method. In the basis of K = Q diag(lam) Q', S is diagonal too: s_j = n eps /
 * (lam_j + n eps), r_j = s_j^1/2. With N = Q' L Q and the symmetric M = diag(r) N
 * diag(r), column j of B Q is, in that basis, (lam_j diag(s) N + n lambda I)^-1 diag(s) N
 * e_j = diag(r) (lam_j M + n lambda I)^-1 diag(r) N e_j, so that with M = V diag(mu) V'
 *     G = V' diag(r) N,   Z_ij = G_ij / (mu_i lam_j + n lambda),   B = H' Z Q',
 *     H = V' diag(r) Q'.
 * G equals diag(mu) V' diag(s^-1/2), but is formed as a product: dividing the
 * eigenvectors, which are good to eps only absolutely, by s^1/2 loses log10(s^-1/2)
 * digits where lam >> n eps. As written no small number
 * is divided by, and the relative error of B is about eps (1 + kappa),
 *     kappa = max(mu) max(lam) / (n lambda) + max(lam) / (n epsilon),
 * the condition number of the problem itself: K and L changed in their last digit move B
 * as far. Measured against long double, n <= 9, full rank, rank-deficient and repeated
 * points: 3e-11 at worst for lambda >= 1e-4, 3e-9 at lambda = 1e-6, where the n^2 x n^2
 * system solved in double is wrong by up to 1e-5 (a is then of size 1 / (n lambda) and
 * T a cancels).
 *
 * Cost: 2 eigendecompositions and 4 products once, 2 products a lambda. Memory: 3 n^2
 * doubles kept, K and L as scratch; n^2 more in each solve.
 */
#include "solve/ridge.h"

struct okra_kron_ {
    okra_int n;
    double *lam, *mu;         /* n each: eigenvalues of K and of M                   */
    okra_matrix_ *Qt, *H, *G; /* n x n each: Q', V' diag(r) Q', V' diag(r) N          */
};

void okra_kron_free_(okra_kron_ *kron)
{
    if (kron) {
        okra_matrix_free_(kron->G);
        okra_matrix_free_(kron->H);
        okra_matrix_free_(kron->Qt);
        FREE(kron->mu, kron->lam, kron);
    }
}

/* The first `count` rows become 0. */
static okra_status clear_rows(okra_context *ctx, okra_matrix_ *A, okra_int count)
{
    enum { ROWS = 64 };
    okra_int n = A->cols;
    OWNED double *zeros = NULL;
    ZMAKE(zeros, OKRA_MIN_(ROWS, count) * n);
    for (okra_int i = 0; i < count; i += ROWS) {
        okra_mat_ block = okra_mat_of_(zeros, OKRA_MIN_(ROWS, count - i), n);
        CHK(okra_matrix_put_(ctx, block, i, 0, A));
    }
    return OKRA_OK;
}

/* K, L -> the factors of kron; on the way K holds Q', Q' L, M, V', V' diag(r) and L holds
 * L, N. */
static okra_status factor(okra_context *ctx, okra_kron_ *kron, okra_matrix_ *K,
                          okra_matrix_ *L, double epsilon)
{
    okra_int n = kron->n, zero = 0;
    OWNED double *r = NULL;
    MAKE(r, n);
    CHK(okra_matrix_eigh_(ctx, K, kron->lam));
    okra_solution_clamp_(ctx, "covariance operator: the input", n, kron->lam);
    for (okra_int j = 0; j < n; j++) {
        double shift = (double)n * epsilon;
        r[j] = epsilon < 0 ? 1 : sqrt(shift / (kron->lam[j] + shift));
    }
    CHK(okra_matrix_copy_(ctx, false, K, kron->Qt));
    CHK(okra_matrix_gemm_(ctx, false, false, 1, kron->Qt, L, 0, K));
    CHK(okra_matrix_gemm_(ctx, false, true, 1, K, kron->Qt, 0, L)); /* N */
    CHK(okra_matrix_copy_(ctx, false, L, K));
    CHK(okra_matrix_scale_(ctx, r, r, K)); /* M */
    CHK(okra_matrix_eigh_(ctx, K, kron->mu));
    okra_solution_clamp_(ctx, "covariance operator: the output", n, kron->mu);
    CHK(okra_matrix_scale_(ctx, NULL, r, K)); /* V' diag(r) */
    CHK(okra_matrix_gemm_(ctx, false, false, 1, K, kron->Qt, 0, kron->H));
    CHK(okra_matrix_gemm_(ctx, false, false, 1, K, L, 0, kron->G));
    while (zero < n && kron->mu[zero] <= 0) { /* G = diag(mu) V' diag(1/r) */
        zero++;
    }
    return clear_rows(ctx, kron->G, zero);
}

okra_status okra_kron_create_(okra_context *ctx, okra_matrix_ *K, okra_matrix_ *L,
                              double epsilon, okra_kron_ **out)
{
    FREED_BY(okra_kron_drop_) okra_kron_ *kron = NULL;
    okra_int n = K->rows;
    ZMAKE(kron, 1);
    kron->n = n;
    MAKE(kron->lam, n);
    MAKE(kron->mu, n);
    /* before the first decomposition, not after it */
    CHK(okra_matrix_create_(ctx, n, n, "covariance operator: input eigenvectors",
                            &kron->Qt));
    CHK(okra_matrix_create_(ctx, n, n, "covariance operator: left factor", &kron->H));
    CHK(okra_matrix_create_(ctx, n, n, "covariance operator: right-hand side", &kron->G));
    CHK(factor(ctx, kron, K, L, epsilon));
    *out = TAKE(kron);
    return OKRA_OK;
}

/* 1 / v, and 0 where v is rounding; how many are not. */
static okra_int invert(okra_int n, const double *v, double *out)
{
    okra_int rank = 0;
    double least = okra_ridge_least_(n, v);
    for (okra_int i = 0; i < n; i++) {
        bool counts = v[i] > least;
        out[i] = counts ? 1 / v[i] : 0;
        rank += counts;
    }
    return rank;
}

/* Z_ij = G_ij / (mu_i lam_j) where that is not rounding, else 0: lambda towards 0. */
static okra_status least_norm(okra_context *ctx, const okra_kron_ *kron, okra_matrix_ *Z)
{
    OWNED double *r = NULL, *c = NULL;
    MAKE(r, kron->n);
    MAKE(c, kron->n);
    okra_int of_L = invert(kron->n, kron->mu, r), of_K = invert(kron->n, kron->lam, c);
    okra_warn_(ctx,
               "covariance operator: lambda is 0: of all solutions the one of least norm "
               "is taken; the ranks are %lld and %lld of %lld",
               (long long)of_K, (long long)of_L, (long long)kron->n);
    CHK(okra_matrix_copy_(ctx, false, kron->G, Z));
    return okra_matrix_scale_(ctx, r, c, Z);
}

void okra_ridge_condition_(const okra_context *ctx, double lambda, double condition)
{
    if (condition * DBL_EPSILON > 1e-3) {
        okra_warn_(ctx,
                   "ridge: with lambda %g the condition number is %.1e, which leaves %d "
                   "right digits at most; a larger lambda, or fewer rows that are copies "
                   "of others, helps",
                   lambda, condition, (int)fmax(0, -log10(condition * DBL_EPSILON)));
    }
}

okra_status okra_kron_solve_(okra_context *ctx, const okra_kron_ *kron, double lambda,
                             okra_matrix_ *B)
{
    okra_int n = kron->n;
    FREED_BY(okra_matrix_drop_) okra_matrix_ *ZQt = NULL;
    if (lambda > 0 && n > 0) {
        okra_ridge_condition_(
            ctx, lambda, 1 + kron->mu[n - 1] * kron->lam[n - 1] / ((double)n * lambda));
    }
    CHK(okra_matrix_create_(ctx, n, n, "covariance operator: a product", &ZQt));
    CHK(lambda > 0 ? okra_matrix_combine_(ctx, OKRA_COMBINE_DIVIDE_, (double)n * lambda,
                                          0, kron->mu, kron->lam, kron->G, B)
                   : least_norm(ctx, kron, B)); /* Z */
    CHK(okra_matrix_gemm_(ctx, false, false, 1, B, kron->Qt, 0, ZQt));
    return okra_matrix_gemm_(ctx, true, false, 1, kron->H, ZQt, 0, B);
}
