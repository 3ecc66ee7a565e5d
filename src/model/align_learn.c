/*
 * align_learn.c: weights of several input kernels learned from the pairs, where a kernel
 * expression says align(A, B, ...), align-each(...) or align-loo(...). The weights are
 * numbers in the expression that the model keeps, w1*(A) + w2*(B) + ...
 *
 * With K_k the n x n Gram matrices, L that of the outputs under ky, both centred (H K H),
 *     a_k = <K_k, L>,   M_kl = <K_k, K_l>              (Frobenius products)
 *
 *     align: ALIGNF, min_(w >= 0) w'M w - 2 a'w, the combination whose alignment
 *         <K_w, L> / (|K_w| |L|) is largest   (Cortes et al. 2012, sec. 3.2, Prop. 9)
 *
 *     align-each: ALIGN, w_k = a_k / |K_k|, each kernel by itself         (its sec. 3.1)
 *
 *     align-loo: the least sum of left-out losses of ridge (ridge_leave.c) at the lambda
 *         of the options, B = (K_w + lambda I)^-1, N = B L B, E = sum_i N_ii / B_ii^2,
 *         dE/dw_k = <K_k, -2 N diag(B_ii^-2) B + 2 B diag(N_ii / B_ii^3) B>,
 *         over w = exp(t) by L-BFGS, from the weights of `align` or from the mean,
 *         whichever leaves less; K and L as they are, L centred where outputs are.
 *
 * Weights of pairs, u: S K S and S L S in their place, S = diag(u)^1/2, centred along s.
 *
 * The first two are scaled to sum to 1, as in mean(A, B, ...), so that lambda keeps its
 * size. The quadratic programme is that of boxqp.c in b_k = a_k w_k, with a bound above
 * that no solution reaches (entries of M are >= 0: sum(b) <= sum_k a_k^2 / M_kk), and
 * then solved on its support. Of more than SAMPLE pairs so many, evenly spaced, are
 * looked at. Cost: p n^2 numbers; p^2 n^2 operations, or for align-loo 8 n^3 a
 * step, 3 n^3 where outputs are few explicit ones.
 */
#include "model/align.h"

#include "method/margin/boxqp.h"

#include <lbfgs.h>
#include <math.h>

enum { STEPS = 60 };

/* ---- the weights ---- */

/* The programme on its support F: M_FF w_F = a_F; kept where w_F > 0. */
static okra_status polish(okra_context *ctx, okra_int p, const double *M, const double *a,
                          double *w)
{
    OWNED okra_int *at = NULL;
    okra_int f = 0;
    OWNED double *A = NULL, *x = NULL;
    bool done = false, good = true;
    MAKE(at, p);
    MAKE(A, p * p);
    MAKE(x, p);
    for (okra_int k = 0; k < p; k++) {
        at[f] = k;
        f += w[k] > 0;
    }
    for (okra_int r = 0; r < f; r++) {
        x[r] = a[at[r]];
        for (okra_int c = 0; c < f; c++) {
            A[r * f + c] = M[at[r] * p + at[c]];
        }
    }
    CHK(okra_cholesky_try_(ctx, okra_mat_of_(A, f, f), &done));
    if (done && f > 0) {
        CHK(okra_cholesky_solve_(ctx, okra_mat_of_(A, f, f), okra_mat_of_(x, f, 1)));
        for (okra_int r = 0; r < f; r++) {
            good = good && x[r] > 0;
        }
        for (okra_int r = 0; good && r < f; r++) {
            w[at[r]] = x[r];
        }
    }
    return OKRA_OK;
}

okra_status okra_align_weights_(okra_context *ctx, okra_int p, const double *M,
                                const double *a, bool each, double *w)
{
    OWNED double *Q = NULL, *most = NULL;
    double bound = 0, sum = 0;
    okra_boxqp_report_ report = {0};
    MAKE(Q, p * p);
    MAKE(most, p);
    for (okra_int k = 0; k < p; k++) {
        bool counts = a[k] > 0 && M[k * p + k] > 0;
        bound += counts ? a[k] * a[k] / M[k * p + k] : 0;
        w[k] = each && counts ? a[k] / sqrt(M[k * p + k]) : 0;
    }
    for (okra_int k = 0; k < p; k++) {
        most[k] = a[k] > 0 ? 2 * bound : 0;
        for (okra_int l = 0; l < p; l++) {
            bool counts = a[k] > 0 && a[l] > 0;
            Q[k * p + l] = counts ? M[k * p + l] / (a[k] * a[l]) : k == l;
        }
    }
    if (!each && bound > 0) {
        CHK(okra_boxqp_bounded_(ctx, okra_mat_of_(Q, p, p), most, 1e-13, w, &report));
        for (okra_int k = 0; k < p; k++) {
            w[k] = a[k] > 0 && w[k] > 1e-12 * bound ? w[k] / a[k] : 0;
        }
        CHK(polish(ctx, p, M, a, w));
    }
    for (okra_int k = 0; k < p; k++) {
        sum += w[k];
    }
    if (!(sum > 0)) {
        return okra_fail_(OKRA_EARG, "%s: no kernel is aligned with the outputs",
                          okra_align_names_[each ? OKRA_ALIGN_EACH_ : OKRA_ALIGN_]);
    }
    for (okra_int k = 0; k < p; k++) {
        w[k] /= sum;
    }
    return OKRA_OK;
}

/* ---- leave-one-out ---- */

typedef struct leaving {
    okra_context *ctx;
    okra_int n, p;
    const double *K, *L; /* p x n^2, n x n */
    okra_int r;          /* columns of F; 0: there is none */
    double *F, *P, *Q;   /* n x r, L = F F'; B F; r x n */
    double lambda;
    double *B, *N, *G, *T; /* n x n */
    double *w;
    okra_status st;
} leaving;

/* E, and G of dE/dw_k = <K_k, G>. */
static okra_status slopes(leaving *z, double *value)
{
    okra_int n = z->n;
    okra_mat_ B = okra_mat_of_(z->B, n, n), N = okra_mat_of_(z->N, n, n);
    okra_mat_ G = okra_mat_of_(z->G, n, n), T = okra_mat_of_(z->T, n, n);
    CHK(okra_gemm_(z->ctx, false, false, 1, B, okra_mat_view_(z->L, n, n, n), 0, T));
    CHK(okra_gemm_(z->ctx, false, false, 1, T, B, 0, N));
    for (okra_int i = 0; i < n; i++) {
        double b = z->B[i * n + i], v = z->N[i * n + i];
        *value += v / (b * b);
        for (okra_int j = 0; j < n; j++) { /* rows of what stands before B in G */
            z->T[j * n + i] =
                (-2 * z->N[j * n + i] + 2 * v / b * z->B[j * n + i]) / (b * b);
        }
    }
    return okra_gemm_(z->ctx, false, false, 1, T, B, 0, G);
}

/* The same where L = F F': N = P P' with P = B F, n^3 and n^2 r operations for 6 n^3. */
static okra_status thin_slopes(leaving *z, double *value)
{
    okra_int n = z->n, r = z->r;
    okra_mat_ B = okra_mat_of_(z->B, n, n), G = okra_mat_of_(z->G, n, n);
    okra_mat_ P = okra_mat_of_(z->P, n, r), Q = okra_mat_of_(z->Q, r, n);
    okra_mat_ D = okra_mat_of_(z->N, n, r); /* -2 diag(B_ii^-2) P */
    CHK(okra_gemm_(z->ctx, false, false, 1, B, okra_mat_of_(z->F, n, r), 0, P));
    for (okra_int i = 0; i < n; i++) {
        double b = z->B[i * n + i], v = okra_dot_(r, z->P + i * r, z->P + i * r);
        double root = sqrt(2 * v / (b * b * b));
        *value += v / (b * b);
        for (okra_int j = 0; j < r; j++) {
            D.p[i * r + j] = -2 * z->P[i * r + j] / (b * b);
        }
        for (okra_int j = 0; j < n; j++) {
            z->T[i * n + j] = root * z->B[i * n + j];
        }
    }
    CHK(okra_syrk_(z->ctx, true, 1, okra_mat_of_(z->T, n, n), 0, G));
    CHK(okra_gemm_(z->ctx, true, false, 1, D, B, 0, Q));
    return okra_gemm_(z->ctx, false, false, 1, P, Q, 1, G);
}

static okra_status evaluate(leaving *z, double *value, double *slope)
{
    okra_int n = z->n;
    okra_mat_ B = okra_mat_of_(z->B, n, n), G = okra_mat_of_(z->G, n, n);
    CHK(okra_cancelled_(z->ctx));
    CHK(okra_gemm_(z->ctx, false, false, 1, okra_mat_of_(z->w, 1, z->p),
                   okra_mat_view_(z->K, z->p, n * n, n * n), 0,
                   okra_mat_of_(z->G, 1, n * n)));
    okra_mat_add_diagonal_(G, z->lambda);
    CHK(okra_cholesky_quiet_(z->ctx, G, NULL));
    okra_mat_fill_(B, 0);
    okra_mat_add_diagonal_(B, 1);
    CHK(okra_cholesky_solve_(z->ctx, G, B));
    *value = 0;
    CHK(z->F ? thin_slopes(z, value) : slopes(z, value));
    return okra_gemm_(z->ctx, false, true, 1, okra_mat_view_(z->K, z->p, n * n, n * n),
                      okra_mat_of_(z->G, 1, n * n), 0, okra_mat_of_(slope, z->p, 1));
}

static double on_step(void *user, const double *t, double *slope, const int p,
                      const double step)
{
    leaving *z = user;
    double value = (double)INFINITY;
    (void)step;
    for (int k = 0; k < p; k++) { /* libLBFGS may pad the variables */
        slope[k] = 0;
    }
    for (int k = 0; k < z->p; k++) {
        z->w[k] = exp(fmin(t[k], 300));
    }
    if (z->st == OKRA_OK) {
        z->st = evaluate(z, &value, slope);
    }
    for (int k = 0; k < z->p; k++) {
        slope[k] *= z->w[k];
    }
    return z->st == OKRA_OK ? value : 0;
}

/* t: logarithms of the weights of `align`, none so small that it cannot grow, or of the
 * mean, whichever leaves less: the end is then no worse than either. */
static okra_status begin(leaving *z, const double *w, double *t)
{
    OWNED double *slope = NULL;
    double value[2] = {0, 0};
    MAKE(slope, z->p);
    for (int mean = 0; mean < 2; mean++) {
        for (okra_int k = 0; k < z->p; k++) {
            z->w[k] = mean ? 1 / (double)z->p : fmax(w[k], 0.01 / (double)z->p);
        }
        CHK(evaluate(z, &value[mean], slope));
        for (okra_int k = 0; k < z->p && (!mean || value[1] < value[0]); k++) {
            t[k] = log(z->w[k]);
        }
    }
    return OKRA_OK;
}

static okra_status leave(leaving *z, double *w)
{
    okra_status st = OKRA_OK;
    double *t = NULL, value = 0;
    okra_int n = z->n;
    lbfgs_parameter_t parameter;
    lbfgs_parameter_init(&parameter);
    parameter.max_iterations = STEPS;
    parameter.epsilon = 1e-7;
    double **blocks[] = {&z->B, &z->N, &z->G, &z->T};
    for (int i = 0; i < 4; i++) {
        TRY(okra_doubles_(z->ctx, n, n, "align-loo", blocks[i]));
    }
    if (z->F) {
        TRY(okra_doubles_(z->ctx, n, z->r, "align-loo", &z->P));
        TRY(okra_doubles_(z->ctx, z->r, n, "align-loo", &z->Q));
    }
    ALLOC(z->w, z->p);
    t = lbfgs_malloc((int)z->p);
    if (!t) {
        st = OKRA_EMEM;
        goto done;
    }
    TRY(begin(z, w, t));
    lbfgs((int)z->p, t, &value, on_step, NULL, z, &parameter);
    TRY(z->st); /* how it stopped does not matter: every step was downhill */
    for (okra_int k = 0; k < z->p; k++) {
        w[k] = exp(fmin(t[k], 300));
    }
    double top = 0;
    for (okra_int k = 0; k < z->p; k++) {
        top = fmax(top, w[k]);
    }
    for (okra_int k = 0; k < z->p; k++) {
        w[k] = w[k] > 1e-6 * top ? w[k] : 0;
    }
done:
    if (t) {
        lbfgs_free(t);
    }
    okra_free_(z->w);
    double *block[] = {z->B, z->N, z->G, z->T, z->F, z->P, z->Q};
    for (int i = 0; i < 7; i++) {
        okra_free_(block[i]);
    }
    return st;
}

/* ---- matrices ---- */

/* G <- S G S, and (center) less the mean. */
static okra_status prepare(const okra_learner_ *z, bool center, double *G)
{
    FREED_BY(okra_large_drop_) okra_large_ *A = NULL;
    okra_mat_ block = okra_mat_of_(G, z->n, z->n);
    CHK(okra_large_begin_(z->ctx, true, block, &A));
    if (z->s) {
        CHK(okra_large_scale_(z->ctx, z->s, z->s, A));
    }
    if (center) {
        CHK(z->s ? okra_center_weighted_(z->ctx, z->s, z->total, NULL, A)
                 : okra_large_center_(z->ctx, NULL, A));
    }
    return okra_large_end_(z->ctx, A, block);
}

static okra_status gram(const okra_learner_ *z, const okra_kernel *kernel,
                        const okra_data *data, double *G)
{
    FREED_BY(okra_bound_drop_) okra_bound_ *bound = NULL;
    CHK(okra_bound_create_(z->ctx, kernel, data, &bound));
    return okra_bound_gram_(z->ctx, bound, okra_mat_of_(G, z->n, z->n));
}

/* F of few explicit outputs, s_i (y_i - mean) in its rows; else L. */
static okra_status features(const okra_learner_ *z, const okra_kernel *ky, bool center,
                            leaving *left)
{
    okra_int n = z->n, d = z->y->d;
    double scale = 1;
    if (z->y->kind != OKRA_DENSE || 2 * d > n || !okra_kernel_is_linear_(ky, &scale)) {
        CHK(gram(z, ky, z->y, z->L));
        CHK(prepare(z, center, z->L));
        return OKRA_OK;
    }
    CHK(okra_doubles_(z->ctx, n, d, "the output features", &left->F));
    left->r = d;
    for (okra_int j = 0; j < d; j++) {
        double mean = 0;
        for (okra_int i = 0; i < n && center; i++) {
            double weight = z->s ? z->s[i] * z->s[i] : 1;
            mean += weight * z->y->values[i * z->y->ld + j] / z->total;
        }
        for (okra_int i = 0; i < n; i++) {
            left->F[i * d + j] = sqrt(scale) * (z->s ? z->s[i] : 1) *
                                 (z->y->values[i * z->y->ld + j] - mean);
        }
    }
    return OKRA_OK;
}

/* Products of all matrices with one another and with L, centred. */
static okra_status products(const okra_learner_ *z, double *M, double *a, double *own)
{
    okra_int area = z->n * z->n;
    okra_mat_ K = okra_mat_of_(z->K, z->p, area), L = okra_mat_of_(z->L, 1, area);
    CHK(okra_syrk_(z->ctx, false, 1, K, 0, okra_mat_of_(M, z->p, z->p)));
    CHK(okra_gemm_(z->ctx, false, true, 1, K, L, 0, okra_mat_of_(a, z->p, 1)));
    *own = okra_dot_(area, z->L, z->L);
    return OKRA_OK;
}

/* <K_w, L> / (|K_w| |L|) */
static double alignment(okra_int p, const double *M, const double *a, double own,
                        const double *w)
{
    double top = 0, square = 0;
    for (okra_int k = 0; k < p; k++) {
        top += w[k] * a[k];
        for (okra_int l = 0; l < p; l++) {
            square += w[k] * w[l] * M[k * p + l];
        }
    }
    return top / sqrt(square * own);
}

okra_status okra_align_find_(okra_learner_ *z, okra_kernel *const *kernels,
                             const okra_kernel *ky, okra_align_how_ how,
                             const okra_align_options_ *o, double *w, double *value)
{
    okra_status st = OKRA_OK;
    double *M = NULL, *a = NULL, own = 0;
    okra_int n = z->n;
    TRY(okra_doubles_(z->ctx, z->p, n * n, "the Gram matrices to align", &z->K));
    TRY(okra_doubles_(z->ctx, n, n, "the Gram matrix of the outputs", &z->L));
    ALLOC(M, z->p * z->p);
    ALLOC(a, z->p);
    okra_problem_ pairs = {.n = n, .weights = z->y->weights};
    TRY(okra_problem_roots_(&pairs, &z->s, &z->total));
    TRY(gram(z, ky, z->y, z->L));
    TRY(prepare(z, true, z->L));
    for (okra_int k = 0; k < z->p; k++) {
        TRY(okra_cancelled_(z->ctx));
        TRY(gram(z, kernels[k], z->x, z->K + k * n * n));
        TRY(prepare(z, true, z->K + k * n * n));
        okra_progress_(z->ctx, "align", k + 1, z->p);
    }
    TRY(products(z, M, a, &own));
    TRY(okra_align_weights_(z->ctx, z->p, M, a, how == OKRA_ALIGN_EACH_, w));
    if (how == OKRA_ALIGN_LOO_) {
        leaving left = {
            .ctx = z->ctx, .n = n, .p = z->p, .K = z->K, .L = z->L, .lambda = o->lambda};
        for (okra_int k = 0; k < z->p; k++) {
            TRY(gram(z, kernels[k], z->x, z->K + k * n * n));
            TRY(prepare(z, false, z->K + k * n * n));
        }
        TRY(features(z, ky, o->center, &left));
        TRY(leave(&left, w));
    }
    *value = alignment(z->p, M, a, own, w);
done:
    okra_free_(z->K);
    okra_free_(z->L);
    okra_free_(z->s);
    okra_free_(M);
    okra_free_(a);
    return st;
}
