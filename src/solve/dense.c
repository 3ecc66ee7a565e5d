/*
 * dense.c: the solvers of ridge.c, whose opening comment has the equations.
 */
#include "solve/kron.h"
#include "solve/ridge.h"
#include "solve/semi.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

static okra_mat_ features_of(const okra_ridge_ *r)
{
    return okra_mat_of_(r->Y, r->p->n, r->p->d);
}

/* ---- identity ---- */

okra_status okra_ridge_factor_(const okra_ridge_ *r, okra_large_ **L, double *jitter)
{
    FREED_BY(okra_large_drop_) okra_large_ *K = NULL;
    CHK(okra_ridge_K_(r, &K));
    CHK(okra_large_add_diagonal_(r->ctx, r->lambda[0], K));
    CHK(okra_large_cholesky_(r->ctx, K, jitter));
    *L = TAKE(K);
    return OKRA_OK;
}

/* K + lambda I = G G', C = (K + lambda I)^-1 Y in the place of Y. */
static okra_status fit_factor(okra_ridge_ *r, okra_large_ **K)
{
    okra_int n = r->p->n, d = r->p->d;
    double jitter = 0;
    CHK(r->checkpoint && *r->checkpoint ? okra_ridge_factor_kept_(r, K, &jitter)
                                        : okra_ridge_factor_(r, K, &jitter));
    CHK(okra_bag_put_number_(r->bags[0], "jitter", jitter));
    if (r->Y) {
        CHK(okra_large_solve_host_(r->ctx, true, *K, features_of(r)));
        CHK(okra_bag_put_(r->bags[0], "coefficients", &r->Y, n, d));
    }
    if (r->slim) {
        return OKRA_OK;
    }
    return okra_large_keep_(r->ctx, K, true, "the factor of the Gram matrix", "factor",
                            r->bags[0]);
}

/* B into the bag, and C = B' Y where there are explicit features. */
static okra_status put_weights(okra_ridge_ *r, okra_bag_ *bag, okra_large_ **B)
{
    okra_int n = r->p->n, d = r->p->d;
    OWNED double *C = NULL;
    if (r->Y) {
        CHK(okra_doubles_(r->ctx, n, d, "the ridge coefficients", &C));
        CHK(okra_large_left_(r->ctx, true, false, 1, *B, features_of(r),
                             okra_mat_of_(C, n, d)));
        CHK(okra_bag_put_(bag, "coefficients", &C, n, d));
    }
    if (r->slim) {
        okra_large_free_(*B);
        *B = NULL;
        return OKRA_OK;
    }
    return okra_large_keep_(r->ctx, B, false, "the ridge weights", "B", bag);
}

/* Eigenvalues as okra_ridge_decompose_ promises them. */
static void clamp(okra_context *ctx, okra_int n, double *v)
{
    double top = n ? fmax(fabs(v[0]), fabs(v[n - 1])) : 0;
    if (n && v[0] < -1e-8 * top) {
        okra_warn_(ctx,
                   "ridge: the input Gram matrix is not positive semi-definite: its "
                   "smallest eigenvalue is %.3g, its largest %.3g; negative ones are "
                   "taken as 0",
                   v[0], v[n - 1]);
    }
    for (okra_int i = 0; i < n; i++) {
        v[i] = fmax(v[i], 0);
    }
}

okra_status okra_ridge_decompose_(okra_context *ctx, okra_large_ *K, double *v)
{
    okra_status st = okra_large_eigh_(ctx, K, v);
    if (st == OKRA_OK) {
        clamp(ctx, okra_large_rows_(K), v);
    }
    return st;
}

okra_status okra_ridge_decompose_host_(okra_context *ctx, okra_mat_ K, double *v)
{
    okra_status st = okra_engine_eigh_(ctx, K, v);
    if (st == OKRA_OK) {
        clamp(ctx, K.rows, v);
    }
    return st;
}

okra_status okra_ridge_inverse_(okra_context *ctx, const okra_large_ *V, const double *v,
                                double lambda, double scale, okra_large_ *R,
                                okra_large_ *B)
{
    okra_int n = okra_large_rows_(V);
    OWNED double *root = NULL;
    MAKE(root, n);
    for (okra_int i = 0; i < n; i++) {
        root[i] = v[i] + lambda > 0 ? 1 / sqrt(v[i] + lambda) : 0;
    }
    CHK(okra_large_copy_(ctx, false, V, R));
    CHK(okra_large_scale_(ctx, root, NULL, R));
    return okra_large_syrk_(ctx, true, scale, R, 0, B);
}

double okra_ridge_least_(okra_int n, const double *v)
{
    /* The decomposition rounds by n * 2.2e-16 of the largest eigenvalue. Kernel values
     * are rounded before it: those of two copies differ by 1e-14 to 1e-13 where a
     * distance is divided by a small width, and a copy that counts as a row of its own
     * spoils most digits. What is cut off wrongly had few right digits. */
    enum { ROUNDINGS = 16, FEW = 256 };
    return n ? ROUNDINGS * (double)OKRA_MAX_(n, FEW) * DBL_EPSILON * v[n - 1] : 0;
}

/* v <- 0 where it is rounding, up to okra_ridge_least_; how many are not. */
static okra_int rank_of(okra_int n, double *v)
{
    okra_int rank = 0;
    double least = okra_ridge_least_(n, v);
    for (okra_int i = 0; i < n; i++) {
        v[i] = v[i] > least ? v[i] : 0;
        rank += v[i] > 0;
    }
    return rank;
}

static bool has_zero(const okra_ridge_ *r)
{
    bool zero = false;
    for (size_t l = 0; l < r->count; l++) {
        zero = zero || r->lambda[l] == 0;
    }
    return zero;
}

void okra_ridge_minimum_(const okra_ridge_ *r, okra_int n, double *v)
{
    if (has_zero(r)) {
        okra_int rank = rank_of(n, v);
        okra_warn_(r->ctx,
                   "ridge: lambda is 0: of all solutions the one of least norm is taken; "
                   "the rank is %lld of %lld",
                   (long long)rank, (long long)n);
    }
}

okra_status okra_ridge_leaves_(const okra_ridge_ *r, okra_int n, double *v)
{
    return has_zero(r) && rank_of(n, v) < n
               ? okra_fail_(OKRA_EUNSUPPORTED,
                            "ridge: lambda = 0 and a Gram matrix that is not of full "
                            "rank have no closed form of leaving out")
               : OKRA_OK;
}

/* As okra_cholesky_ warns, for the least of several lambdas; v are the eigenvalues of K,
 * of which the operator makes multiples up to `most`. */
static void warn_condition(const okra_ridge_ *r, const double *v, double most)
{
    double lambda = r->lambda[0];
    for (size_t l = 1; l < r->count; l++) {
        lambda = fmin(lambda, r->lambda[l]);
    }
    if (lambda > 0 && r->p->n > 0) {
        okra_ridge_condition_(r->ctx, lambda,
                              (most * v[r->p->n - 1] + lambda) / (most * v[0] + lambda));
    }
}

/* B = V' diag(1 / (v + lambda)) V */
static okra_status fit_spectrum(okra_ridge_ *r, okra_large_ *K)
{
    okra_int n = r->p->n;
    FREED_BY(okra_large_drop_) okra_large_ *R = NULL, *B = NULL;
    OWNED double *v = NULL;
    MAKE(v, n);
    CHK(okra_ridge_decompose_(r->ctx, K, v));
    okra_ridge_minimum_(r, n, v);
    warn_condition(r, v, 1);
    CHK(okra_large_create_(r->ctx, n, n, "the scaled eigenvectors", &R));
    for (size_t l = 0; l < r->count; l++) {
        CHK(okra_cancelled_(r->ctx));
        CHK(okra_large_create_(r->ctx, n, n, "the ridge weights", &B));
        CHK(okra_ridge_inverse_(r->ctx, K, v, r->lambda[l], 1, R, B));
        CHK(put_weights(r, r->bags[l], &B));
    }
    return OKRA_OK;
}

okra_status okra_ridge_identity_(okra_ridge_ *r)
{
    FREED_BY(okra_large_drop_) okra_large_ *K = NULL;
    if (r->count == 1 && r->lambda[0] > 0) {
        return fit_factor(r, &K);
    }
    CHK(okra_ridge_K_(r, &K));
    return fit_spectrum(r, K);
}

/* ---- cov and ccov ---- */

okra_status okra_ridge_covariance_(okra_ridge_ *r, double epsilon)
{
    okra_int n = r->p->n;
    FREED_BY(okra_large_drop_) okra_large_ *K = NULL, *L = NULL, *B = NULL;
    FREED_BY(okra_kron_drop_) okra_kron_ *kron = NULL;
    double per = r->total / (double)n; /* pairs that a row counts as: n lambda */
    CHK(okra_ridge_K_(r, &K));
    CHK(okra_problem_L_(r->ctx, r->p, &L));
    if (r->s) {
        CHK(okra_large_scale_(r->ctx, r->s, r->s, L));
    }
    if (r->center) {
        CHK(r->s ? okra_center_weighted_(r->ctx, r->s, r->total, NULL, L)
                 : okra_large_center_(r->ctx, NULL, L));
    }
    CHK(okra_kron_create_(r->ctx, K, L, epsilon * per, &kron));
    okra_large_free_(K);
    okra_large_free_(L);
    K = L = NULL;
    for (size_t l = 0; l < r->count; l++) {
        CHK(okra_cancelled_(r->ctx));
        CHK(okra_large_create_(r->ctx, n, n, "the ridge weights", &B));
        CHK(okra_kron_solve_(r->ctx, kron, r->lambda[l] * per, B));
        CHK(put_weights(r, r->bags[l], &B));
    }
    return OKRA_OK;
}

/* ---- matrix, and all that is one decomposition ---- */

okra_status okra_ridge_spectral_(okra_ridge_ *r, const okra_spectral_ *s)
{
    okra_context *ctx = r->ctx;
    okra_int m = s->R.rows, d = s->R.cols;
    OWNED double *F = NULL, *S = NULL, *A = NULL;
    okra_mat_ E = okra_mat_view_(s->E, d, d, d);
    CHK(okra_doubles_(ctx, m, d, "the rotated outputs", &F));
    CHK(okra_doubles_(ctx, m, d, "the rotated outputs", &S));
    okra_mat_ Fm = okra_mat_of_(F, m, d), Sm = okra_mat_of_(S, m, d);
    if (s->E) {
        CHK(okra_gemm_(ctx, false, true, 1, s->R, E, 0, Sm));
    }
    CHK(okra_large_left_(ctx, false, false, 1, s->V, s->E ? Sm : s->R, Fm));
    for (size_t l = 0; l < r->count; l++) {
        double lambda = s->times * r->lambda[l];
        CHK(okra_cancelled_(ctx));
        CHK(okra_doubles_(ctx, m, d, "the ridge coefficients", &A));
        okra_mat_ Am = okra_mat_of_(A, m, d);
        for (okra_int i = 0; i < m; i++) {
            for (okra_int j = 0; j < d; j++) {
                double g = s->E ? s->g[j] : 1;
                double below = lambda + g * s->v[i];
                A[i * d + j] = below > 0 ? F[i * d + j] * g / below : 0;
            }
        }
        CHK(okra_large_left_(ctx, true, false, 1, s->V, Am, Sm));
        CHK(s->E ? okra_gemm_(ctx, false, false, 1, Sm, E, 0, Am)
                 : okra_mat_copy_(Sm, Am));
        CHK(okra_ridge_put_folded_(ctx, s->fold, m, d, r->bags[l], &A));
    }
    return OKRA_OK;
}

okra_status okra_ridge_matrix_(okra_ridge_ *r, double *A)
{
    okra_int n = r->p->n, d = r->p->d;
    FREED_BY(okra_large_drop_) okra_large_ *V = NULL;
    OWNED double *v = NULL, *g = NULL;
    MAKE(v, n);
    MAKE(g, d);
    CHK(okra_operator_decompose_(r->ctx, okra_mat_of_(A, d, d), g));
    CHK(okra_ridge_K_(r, &V));
    CHK(okra_ridge_decompose_(r->ctx, V, v));
    okra_ridge_minimum_(r, n, v);
    warn_condition(r, v, d > 0 ? g[d - 1] : 0);
    okra_spectral_ s = {V, v, features_of(r), A, g, 1, NULL};
    return okra_ridge_spectral_(r, &s);
}

/* ---- weights of pairs: the way to the problem of s_i times both features of pair i, and
 * back ---- */

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

/* ---- inputs that have no outputs; equations in method/ridge.c and semi.c ---- */

/* B = J (lambda I + K P)^-1, n x N, and C = B' Y, N x d, where there are features. */
static okra_status weights(okra_ridge_ *r, const okra_semi_ *s, size_t l)
{
    okra_int n = s->n, N = s->N, d = r->p->d;
    OWNED double *R = NULL, *B = NULL, *C = NULL;
    CHK(okra_doubles_(r->ctx, n, N, "the ridge weights", &R));
    CHK(okra_doubles_(r->ctx, n, N, "the ridge weights", &B));
    okra_mat_fill_(okra_mat_of_(R, n, N), 0);
    for (okra_int i = 0; i < n; i++) {
        R[i * N + i] = 1;
    }
    CHK(okra_semi_solve_rows_(r->ctx, s, r->lambda[l], NULL, okra_mat_of_(R, n, N),
                              okra_mat_of_(B, n, N)));
    if (r->Y) {
        CHK(okra_doubles_(r->ctx, N, d, "the ridge coefficients", &C));
        CHK(okra_engine_gemm_(r->ctx, true, false, 1, okra_mat_of_(B, n, N),
                              okra_mat_of_(r->Y, n, d), 0, okra_mat_of_(C, N, d)));
        CHK(okra_bag_put_(r->bags[l], "coefficients", &C, N, d));
    }
    if (!r->slim) {
        CHK(okra_bag_put_(r->bags[l], "B", &B, n, N));
    }
    return OKRA_OK;
}

/* A = E' diag(g) E: row j of X is g_j e_j' Y' J (lambda I + g_j K P)^-1, C = X' E. */
static okra_status coefficients(okra_ridge_ *r, const okra_semi_ *s, okra_mat_ E,
                                const double *g, size_t l)
{
    okra_int N = s->N, d = r->p->d;
    OWNED double *R = NULL, *X = NULL, *C = NULL;
    CHK(okra_doubles_(r->ctx, d, N, "the rotated outputs", &R));
    CHK(okra_doubles_(r->ctx, d, N, "the ridge coefficients", &X));
    okra_mat_ Rm = okra_mat_of_(R, d, N), Xm = okra_mat_of_(X, d, N);
    okra_mat_fill_(Rm, 0);
    CHK(okra_engine_gemm_(r->ctx, false, true, 1, E, okra_mat_of_(r->Y, s->n, d), 0,
                          okra_mat_part_(Rm, 0, d, 0, s->n)));
    for (okra_int j = 0; j < d; j++) {
        for (okra_int i = 0; i < s->n; i++) {
            R[j * N + i] *= g[j];
        }
    }
    CHK(okra_semi_solve_rows_(r->ctx, s, r->lambda[l], g, Rm, Xm));
    CHK(okra_doubles_(r->ctx, N, d, "the ridge coefficients", &C));
    CHK(okra_engine_gemm_(r->ctx, true, false, 1, Xm, E, 0, okra_mat_of_(C, N, d)));
    return okra_bag_put_(r->bags[l], "coefficients", &C, N, d);
}

okra_status okra_ridge_semi_(okra_ridge_ *r, const char *graph, double lambda2, double *A)
{
    okra_int N = r->p->n + r->p->unlabelled, d = r->p->d;
    FREED_BY(okra_semi_clear_) okra_semi_ s = {0};
    FREED_BY(okra_graph_drop_) okra_graph_ *M = NULL;
    OWNED double *g = NULL, *K = NULL;
    if (A) {
        MAKE(g, d);
        CHK(okra_operator_decompose_(r->ctx, okra_mat_of_(A, d, d), g));
    }
    CHK(okra_problem_host_K_(r->ctx, r->p, &K));
    CHK(okra_graph_create_(r->ctx, graph, okra_mat_of_(K, N, N), &M));
    CHK(okra_semi_create_(r->ctx, okra_mat_of_(K, N, N), r->p->n, r->s, M, lambda2, true,
                          A || r->count > 1 ? 0 : r->lambda[0], &s));
    okra_free_(K);
    K = NULL;
    for (size_t l = 0; l < r->count; l++) {
        okra_ridge_condition_(r->ctx, r->lambda[l],
                              okra_semi_condition_(&s, r->lambda[l]));
        CHK(A ? coefficients(r, &s, okra_mat_of_(A, d, d), g, l) : weights(r, &s, l));
    }
    return OKRA_OK;
}
