/*
 * dense.c: the solvers of ridge.c, whose opening comment has the equations.
 */
#include "solve/ridge.h"
#include "solve/graph.h"
#include "kernel/lowrank/lowrank.h"

/* ---- identity ---- */

okra_status okra_ridge_factor_(const okra_ridge_ *r, okra_matrix_ **L, double *jitter)
{
    okra_int n = r->p->n;
    FREED_BY(okra_matrix_drop_) okra_matrix_ *K = NULL;
    OWNED double *diagonal = NULL;
    CHK(okra_ridge_K_(r, &K));
    MAKE(diagonal, n);
    CHK(okra_matrix_diagonal_(r->ctx, K, diagonal));
    /* lambda is less than what a factor of K rounds by */
    if (r->lambda[0] < (double)n * DBL_EPSILON * okra_most_(n, diagonal)) {
        *jitter = (double)INFINITY;
        return OKRA_OK;
    }
    CHK(okra_matrix_add_diagonal_(r->ctx, r->lambda[0], K));
    CHK(okra_matrix_cholesky_(r->ctx, K, jitter));
    *L = TAKE(K);
    return OKRA_OK;
}

/* K + lambda I = G G', C = (K + lambda I)^-1 Y in the place of Y. *lost: rounding is more
 * than lambda, and nothing was done. */
static okra_status fit_factor(okra_ridge_ *r, okra_matrix_ **K, bool *lost)
{
    okra_int n = r->p->n, d = r->p->d;
    double jitter = 0;
    CHK(r->checkpoint && *r->checkpoint ? okra_ridge_factor_kept_(r, K, &jitter)
                                        : okra_ridge_factor_(r, K, &jitter));
    *lost = jitter > r->lambda[0];
    if (*lost) {
        return OKRA_OK;
    }
    CHK(okra_store_put_number_(r->stores[0], "jitter", jitter));
    if (r->Y) {
        CHK(okra_matrix_solve_host_(r->ctx, true, *K, okra_mat_of_(r->Y, n, d)));
        CHK(okra_store_put_(r->stores[0], "coefficients", &r->Y, n, d));
    }
    if (r->slim) {
        return OKRA_OK;
    }
    return okra_matrix_keep_(r->ctx, K, true, "the factor of the Gram matrix", "factor",
                             r->stores[0]);
}

/* B into the store, and C = B' Y where there are explicit features. */
static okra_status put_weights(okra_ridge_ *r, okra_store_ *store, okra_matrix_ **B)
{
    okra_int n = r->p->n, d = r->p->d;
    FREED_BY(okra_mat_drop_) okra_mat_ C = {0};
    if (r->Y) {
        CHK(okra_mat_room_(r->ctx, n, d, "the ridge coefficients", &C));
        CHK(okra_matrix_left_(r->ctx, true, false, 1, *B, okra_mat_of_(r->Y, n, d), C));
        CHK(okra_store_put_(store, "coefficients", &C.p, n, d));
    }
    if (r->slim) {
        okra_matrix_drop_(&*B);
        return OKRA_OK;
    }
    return okra_matrix_keep_(r->ctx, B, false, "the ridge weights", "B", store);
}

void okra_solution_clamp_(const okra_context *ctx, const char *what, okra_int n,
                          double *v)
{
    double top = n ? fmax(fabs(v[0]), fabs(v[n - 1])) : 0;
    if (n && v[0] < -1e-8 * top) {
        okra_warn_(
            ctx,
            "%s Gram matrix is not positive semi-definite: its smallest eigenvalue "
            "is %.3g, its largest %.3g; negative ones are taken as 0",
            what, v[0], v[n - 1]);
    }
    okra_clamp_(n, v);
}

okra_status okra_ridge_decompose_(okra_context *ctx, okra_matrix_ *K, double *v)
{
    CHK(okra_matrix_eigh_(ctx, K, v));
    okra_solution_clamp_(ctx, "ridge: the input", K->rows, v);
    return OKRA_OK;
}

okra_status okra_ridge_inverse_(okra_context *ctx, const okra_matrix_ *V, const double *v,
                                double lambda, double scale, okra_matrix_ *R,
                                okra_matrix_ *B)
{
    okra_int n = V->rows;
    OWNED double *root = NULL;
    MAKE(root, n);
    for (okra_int i = 0; i < n; i++) {
        root[i] = v[i] + lambda > 0 ? 1 / sqrt(v[i] + lambda) : 0;
    }
    CHK(okra_matrix_copy_(ctx, false, V, R));
    CHK(okra_matrix_scale_(ctx, root, NULL, R));
    return okra_matrix_syrk_(ctx, true, scale, R, 0, B);
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

okra_int okra_ridge_size_(const okra_ridge_ *r)
{
    return r->p->map_x ? r->p->map_x->rank : r->p->n;
}

double okra_ridge_least_lambda_(const okra_ridge_ *r)
{
    double least = (double)INFINITY;
    for (size_t l = 0; l < r->count; l++) {
        for (okra_int j = 0; j < (r->times ? r->p->d : 1); j++) {
            least = fmin(least, okra_ridge_lambda_(r, r->lambda[l], j));
        }
    }
    return least;
}

void okra_ridge_minimum_(const okra_ridge_ *r, okra_int n, double *v)
{
    if (okra_ridge_least_lambda_(r) == 0) {
        okra_int rank = rank_of(n, v);
        okra_warn_(r->ctx,
                   "ridge: lambda is 0: of all solutions the one of least norm is taken; "
                   "the rank is %lld of %lld",
                   (long long)rank, (long long)n);
    }
}

okra_status okra_ridge_leaves_(const okra_ridge_ *r, okra_int n, double *v)
{
    return okra_ridge_least_lambda_(r) == 0 && rank_of(n, v) < n
               ? okra_fail_(OKRA_EUNSUPPORTED,
                            "ridge: lambda = 0 and a Gram matrix that is not of full "
                            "rank have no closed form of leaving out")
               : OKRA_OK;
}

/* As okra_cholesky_ warns, for the least of several lambdas; v are the eigenvalues of K,
 * of which the operator makes multiples up to `most`. */
static void warn_condition(const okra_ridge_ *r, const double *v, double most)
{
    double lambda = okra_ridge_least_lambda_(r);
    if (lambda > 0 && r->p->n > 0) {
        okra_ridge_condition_(r->ctx, lambda,
                              (most * v[r->p->n - 1] + lambda) / (most * v[0] + lambda));
    }
}

/* B = V' diag(1 / (v + lambda)) V */
static okra_status fit_spectrum(okra_ridge_ *r, okra_matrix_ *K)
{
    okra_int n = r->p->n;
    FREED_BY(okra_matrix_drop_) okra_matrix_ *R = NULL, *B = NULL;
    OWNED double *v = NULL;
    MAKE(v, n);
    CHK(okra_ridge_decompose_(r->ctx, K, v));
    okra_ridge_minimum_(r, n, v);
    warn_condition(r, v, 1);
    CHK(okra_matrix_create_(r->ctx, n, n, "the scaled eigenvectors", &R));
    for (size_t l = 0; l < r->count; l++) {
        CHK(okra_cancelled_(r->ctx));
        CHK(okra_matrix_create_(r->ctx, n, n, "the ridge weights", &B));
        CHK(okra_ridge_inverse_(r->ctx, K, v, r->lambda[l], 1, R, B));
        CHK(put_weights(r, r->stores[l], &B));
    }
    return OKRA_OK;
}

okra_status okra_ridge_identity_(okra_ridge_ *r)
{
    FREED_BY(okra_matrix_drop_) okra_matrix_ *K = NULL;
    if (r->times) {
        return okra_ridge_matrix_(r, NULL);
    }
    static const double none = 0;
    bool lost = false, done = false;
    if (r->slim && r->precision != OKRA_PRECISION_DOUBLE_ &&
        !(r->checkpoint && *r->checkpoint)) {
        CHK(okra_ridge_mixed_(r, &done));
        if (done) {
            return OKRA_OK;
        }
    }
    if (r->count == 1 && r->lambda[0] > 0) {
        CHK(fit_factor(r, &K, &lost));
        if (!lost) {
            return OKRA_OK;
        }
        okra_warn_(r->ctx, "ridge: lambda is lost in rounding, and taken as 0");
        okra_matrix_drop_(&K);
        r->lambda = &none;
    }
    CHK(okra_ridge_K_(r, &K));
    return fit_spectrum(r, K);
}

/* ---- cov and ccov ---- */

okra_status okra_ridge_covariance_(okra_ridge_ *r, double epsilon)
{
    okra_int n = r->p->n;
    FREED_BY(okra_matrix_drop_) okra_matrix_ *K = NULL, *L = NULL, *B = NULL;
    FREED_BY(okra_kron_drop_) okra_kron_ *kron = NULL;
    double per = r->total / (double)n; /* pairs that a row counts as: n lambda */
    CHK(okra_ridge_K_(r, &K));
    CHK(okra_problem_L_(r->ctx, r->p, &L));
    if (r->s) {
        CHK(okra_matrix_scale_(r->ctx, r->s, r->s, L));
    }
    if (r->center) {
        CHK(r->s ? okra_center_weighted_(r->ctx, r->s, r->total, NULL, L)
                 : okra_matrix_center_(r->ctx, NULL, L));
    }
    CHK(okra_kron_create_(r->ctx, K, L, epsilon * per, &kron));
    okra_matrix_free_(K);
    okra_matrix_free_(L);
    K = L = NULL;
    for (size_t l = 0; l < r->count; l++) {
        CHK(okra_cancelled_(r->ctx));
        CHK(okra_matrix_create_(r->ctx, n, n, "the ridge weights", &B));
        CHK(okra_kron_solve_(r->ctx, kron, r->lambda[l] * per, B));
        CHK(put_weights(r, r->stores[l], &B));
    }
    return OKRA_OK;
}

/* ---- matrix, and all that is one decomposition ---- */

okra_status okra_ridge_spectral_(okra_ridge_ *r, const okra_spectral_ *s)
{
    okra_context *ctx = r->ctx;
    okra_int m = s->R.rows, d = s->R.cols;
    FREED_BY(okra_mat_drop_) okra_mat_ F = {0}, S = {0}, A = {0};
    okra_mat_ E = okra_mat_view_(s->E, d, d, d);
    CHK(okra_mat_room_(ctx, m, d, "the rotated outputs", &F));
    CHK(okra_mat_room_(ctx, m, d, "the rotated outputs", &S));
    if (s->E) {
        CHK(okra_gemm_(ctx, false, true, 1, s->R, E, 0, S));
    }
    CHK(okra_matrix_left_(ctx, false, false, 1, s->V, s->E ? S : s->R, F));
    for (size_t l = 0; l < r->count; l++) {
        CHK(okra_cancelled_(ctx));
        CHK(okra_mat_room_(ctx, m, d, "the ridge coefficients", &A));
        for (okra_int i = 0; i < m; i++) {
            for (okra_int j = 0; j < d; j++) {
                double g = s->E ? s->g[j] : 1;
                double lambda = s->times * okra_ridge_lambda_(r, r->lambda[l], j);
                double below = lambda + g * s->v[i];
                A.p[i * d + j] = below > 0 ? F.p[i * d + j] * g / below : 0;
            }
        }
        CHK(okra_matrix_left_(ctx, true, false, 1, s->V, A, S));
        CHK(s->E ? okra_gemm_(ctx, false, false, 1, S, E, 0, A) : okra_mat_copy_(S, A));
        CHK(okra_ridge_put_folded_(ctx, s->fold, m, d, r->stores[l], &A.p));
    }
    return OKRA_OK;
}

okra_status okra_ridge_matrix_(okra_ridge_ *r, double *A)
{
    okra_int n = r->p->n, d = r->p->d;
    FREED_BY(okra_matrix_drop_) okra_matrix_ *V = NULL;
    OWNED double *v = NULL, *g = NULL;
    MAKE(v, n);
    if (A) {
        MAKE(g, d);
        CHK(okra_operator_decompose_(r->ctx, okra_mat_of_(A, d, d), g));
    }
    CHK(okra_ridge_K_(r, &V));
    CHK(okra_ridge_decompose_(r->ctx, V, v));
    okra_ridge_minimum_(r, n, v);
    warn_condition(r, v, !A ? 1 : d > 0 ? g[d - 1] : 0);
    okra_spectral_ s = {V, v, okra_mat_of_(r->Y, n, d), A, g, 1, NULL};
    return okra_ridge_spectral_(r, &s);
}

/* ---- weights of pairs: the way to the problem of s_i times both features of pair i, and
 * back ---- */

okra_status okra_ridge_K_(const okra_ridge_ *r, okra_matrix_ **K)
{
    return okra_problem_scaled_K_(r->ctx, r->p, r->s, K);
}

/* A matrix that the model keeps on the engine: s_i A_ij s_j, or A_ij / s_i. */
static okra_status unscale_kept(const okra_ridge_ *r, okra_store_ *store,
                                const char *name, bool divide)
{
    okra_matrix_ *A = okra_matrix_kept_(store, name);
    OWNED double *inverse = NULL;
    if (!A || !divide) {
        return A ? okra_matrix_scale_(r->ctx, r->s, r->s, A) : OKRA_OK;
    }
    MAKE(inverse, r->p->n);
    for (okra_int i = 0; i < r->p->n; i++) {
        inverse[i] = 1 / r->s[i];
    }
    return okra_matrix_scale_(r->ctx, inverse, NULL, A);
}

/* From the problem in units of s to that of the outputs themselves:
 *     coefficients  C = S C~               B = S B~ S (low rank: rows alone)
 *     factor        K + lambda S^-2 = (S^-1 G)(S^-1 G)',   G G' = S K S + lambda I */
okra_status okra_ridge_unscale_(const okra_ridge_ *r, okra_store_ *store)
{
    okra_int n = r->p->n, m = 0, cols = 0;
    bool low = r->p->map_x != NULL;
    double *C = low ? NULL : okra_store_edit_(store, "coefficients", &m, &cols);
    for (okra_int i = 0; C && i < n * cols; i++) {
        C[i] *= r->s[i / cols];
    }
    double *B = okra_store_edit_(store, "B", &m, &cols);
    for (okra_int i = 0; B && i < n * cols; i++) {
        okra_int j = i % cols;
        B[i] *= r->s[i / cols] * (!low && j < n ? r->s[j] : 1);
    }
    CHK(unscale_kept(r, store, "B", false));
    for (int k = -1; k < OKRA_DIRECTIONS_MOST_; k++) {
        char name[24] = "factor";
        if (k >= 0) {
            snprintf(name, sizeof name, "factor.%d", k);
        }
        double *G = okra_store_edit_(store, name, &m, &cols);
        for (okra_int i = 0; G && i < n * n; i++) {
            G[i] /= r->s[i / n];
        }
        CHK(unscale_kept(r, store, name, true));
    }
    return okra_problem_put_weights_(r->p, store);
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
            okra_axpy_(d, -1, r->mean, r->Y + i * d);
        }
    }
    for (okra_int i = 0; r->s && i < n * d; i++) {
        r->Y[i] *= r->s[i / d];
    }
    return OKRA_OK;
}

/* ---- inputs that have no outputs; equations in method/ridge.c and semi.c ---- */

/* T = I: B = J (lambda I + K P)^-1. */
static okra_status weights(okra_ridge_ *r, const okra_semi_ *s, size_t l)
{
    okra_int n = s->n;
    FREED_BY(okra_mat_drop_) okra_mat_ R = {0};
    CHK(okra_mat_room_(r->ctx, n, s->N, "the ridge weights", &R));
    okra_mat_fill_(R, 0);
    okra_mat_add_diagonal_(okra_mat_part_(R, 0, n, 0, n), 1);
    return okra_semi_put_weights_(r->ctx, s, r->lambda[l], R,
                                  okra_mat_of_(r->Y, n, r->p->d), r->slim, r->stores[l]);
}

okra_status okra_ridge_semi_(okra_ridge_ *r, double *A)
{
    okra_int d = r->p->d;
    FREED_BY(okra_semi_clear_) okra_semi_ s = {0};
    OWNED double *g = NULL; /* eigenvalues of A, or 1 / m_j of lambda m_j */
    bool apart = A || r->times;
    if (apart) {
        MAKE(g, d);
    }
    if (A) {
        CHK(okra_operator_decompose_(r->ctx, okra_mat_of_(A, d, d), g));
    }
    for (okra_int j = 0; r->times && j < d; j++) {
        g[j] = 1 / r->times[j];
    }
    CHK(okra_semi_open_(r->ctx, r->p, r->s, r->graph, r->lambda2, true,
                        apart || r->count > 1 ? 0 : r->lambda[0], &s));
    for (size_t l = 0; l < r->count; l++) {
        okra_ridge_condition_(r->ctx, r->lambda[l],
                              okra_semi_condition_(&s, r->lambda[l]));
        CHK(apart
                ? okra_semi_put_(r->ctx, &s, s.N, r->lambda[l], g, okra_mat_of_(A, d, d),
                                 okra_mat_of_(r->Y, s.n, d), false, r->stores[l])
                : weights(r, &s, l));
    }
    return OKRA_OK;
}
