/*
 * pairs.c: ridge regression over pairs, without a matrix of pairs by pairs.
 *
 *     (K + lambda diag(1/w)) c = y - mean,   K = sum_t A_t (x) B_t over the known pairs,
 *
 * A_t (n x n) and B_t (m x m) the Gram matrices of rows and columns. c, y, w are kept as
 * n x m matrices, 0 at gaps, so that K c is sum_t A_t C B_t, 2 n m (n + m) operations.
 *
 * One product, no gap, no weights: with A = U' diag(a) U, B = V' diag(b) V,
 *     C = U' (D o U Y V') V,   D_kl = 1 / (a_k b_l + lambda)
 * (van Loan 2000, "The ubiquitous Kronecker product", sec. 2). Otherwise conjugate
 * gradients for (S K S + lambda I) c' = S (y - mean), c = S c', S = diag(w)^1/2, with the
 * same inverse for the complete matrix (of the mean of the terms) as preconditioner: its
 * restriction to the known pairs is positive definite, and near the inverse where few
 * pairs are missing.
 *
 * Accuracy: about eps (1 + max a max b / lambda), or the tolerance of the gradients.
 */
#include "solve/pairs.h"

enum { STEPS_MOST = 2000 };

static okra_mat_ mat(const double *p, okra_int rows, okra_int cols)
{
    return okra_mat_view_(p, rows, cols, cols);
}

void okra_pair_solver_clear_(okra_pair_solver_ *s)
{
    FREE(s->A, s->B, s->a, s->b, s->U, s->V);
    *s = (okra_pair_solver_){0};
}

/* The mean of the terms of a side, decomposed; negative eigenvalues become 0. */
static okra_status decompose(okra_context *ctx, okra_int n, int terms, double *const *A,
                             double **w, double **U)
{
    OWNED double *values = NULL, *vectors = NULL;
    MAKE(values, n);
    CHK(okra_doubles_(ctx, n, n, "eigenvectors of one side", &vectors));
    okra_mat_fill_(okra_mat_of_(vectors, n, n), 0);
    for (int t = 0; t < terms; t++) {
        okra_axpy_(n * n, 1 / sqrt((double)terms), A[t], vectors);
    }
    CHK(okra_engine_eigh_(ctx, okra_mat_of_(vectors, n, n), values));
    for (okra_int i = 0; i < n; i++) {
        values[i] = fmax(values[i], 0);
    }
    *w = TAKE(values);
    *U = TAKE(vectors);
    return OKRA_OK;
}

okra_status okra_pair_solver_create_(okra_context *ctx, okra_int n, okra_int m, int terms,
                                     double *const *A, double *const *B, const double *Y,
                                     const double *W, bool center, okra_pair_solver_ *out)
{
    FREED_BY(okra_pair_solver_clear_)
    okra_pair_solver_ s = {.ctx = ctx, .n = n, .m = m, .terms = terms};
    s.Y = Y;
    s.W = W;
    s.center = center;
    for (okra_int p = 0; p < n * m; p++) {
        s.known += okra_pair_known_(&s, p);
    }
    REFUSE_IF(s.known == 0, OKRA_EARG, "no pair has a value that counts");
    s.product = terms == 1 && !W && s.known == n * m;
    MAKE(s.A, terms);
    MAKE(s.B, terms);
    memcpy(s.A, A, (size_t)terms * sizeof *A);
    memcpy(s.B, B, (size_t)terms * sizeof *B);
    CHK(decompose(ctx, n, terms, A, &s.a, &s.U));
    CHK(decompose(ctx, m, terms, B, &s.b, &s.V));
    *out = TAKE(s);
    return OKRA_OK;
}

/* Z <- sum_t A_t X B_t; T: n x m. */
static okra_status multiply(const okra_pair_solver_ *s, const double *X, double *T,
                            double *Z)
{
    for (int t = 0; t < s->terms; t++) {
        CHK(okra_engine_gemm_(s->ctx, false, false, 1, mat(s->A[t], s->n, s->n),
                              mat(X, s->n, s->m), 0, mat(T, s->n, s->m)));
        CHK(okra_engine_gemm_(s->ctx, false, false, 1, mat(T, s->n, s->m),
                              mat(s->B[t], s->m, s->m), t > 0, mat(Z, s->n, s->m)));
    }
    return OKRA_OK;
}

/* Z <- U' (D o U X V') V, D = 1 / (a b' + lambda). */
okra_status okra_pair_invert_(const okra_pair_solver_ *s, double lambda, const double *X,
                              double *T, double *Z)
{
    okra_int n = s->n, m = s->m;
    CHK(okra_engine_gemm_(s->ctx, false, false, 1, mat(s->U, n, n), mat(X, n, m), 0,
                          mat(T, n, m)));
    CHK(okra_engine_gemm_(s->ctx, false, true, 1, mat(T, n, m), mat(s->V, m, m), 0,
                          mat(Z, n, m)));
    for (okra_int p = 0; p < n * m; p++) {
        Z[p] /= s->a[p / m] * s->b[p % m] + lambda;
    }
    CHK(okra_engine_gemm_(s->ctx, true, false, 1, mat(s->U, n, n), mat(Z, n, m), 0,
                          mat(T, n, m)));
    return okra_engine_gemm_(s->ctx, false, false, 1, mat(T, n, m), mat(s->V, m, m), 0,
                             mat(Z, n, m));
}

okra_status okra_pair_fitted_(const okra_pair_solver_ *s, const double *C, double mean,
                              double *F)
{
    OWNED double *T = NULL;
    CHK(okra_doubles_(s->ctx, s->n, s->m, "a product", &T));
    CHK(multiply(s, C, T, F));
    for (okra_int p = 0; p < s->n * s->m; p++) {
        F[p] += mean;
    }
    return OKRA_OK;
}

/* ---- solving ---- */

typedef struct gradients {
    double *S;                  /* roots of weights, 0: not of this problem */
    double *X, *R, *P, *Q, *T;  /* n x m each */
    double lambda, least, mean; /* least: of the weights' mean, see precondition */
} gradients;

OKRA_CLEARS_(gradients_clear, gradients, it->S, it->X, it->R, it->P, it->Q, it->T)

/* Q <- (S K S + lambda) P */
static okra_status apply(const okra_pair_solver_ *s, gradients *g)
{
    okra_int size = s->n * s->m;
    OWNED double *scaled = NULL;
    CHK(okra_doubles_(s->ctx, s->n, s->m, "a direction", &scaled));
    for (okra_int p = 0; p < size; p++) {
        scaled[p] = g->S[p] * g->P[p];
    }
    CHK(multiply(s, scaled, g->T, g->Q));
    for (okra_int p = 0; p < size; p++) {
        g->Q[p] = g->S[p] * g->Q[p] + g->lambda * g->P[p];
    }
    return OKRA_OK;
}

/* Q <- an approximation of (S K S + lambda)^-1 R, and <R, Q>. */
static okra_status precondition(const okra_pair_solver_ *s, gradients *g, double *rho)
{
    CHK(okra_pair_invert_(s, g->least, g->R, g->T, g->Q));
    *rho = 0;
    for (okra_int p = 0; p < s->n * s->m; p++) {
        g->Q[p] = g->S[p] > 0 ? g->Q[p] : 0;
        *rho += g->R[p] * g->Q[p];
    }
    return OKRA_OK;
}

/* R = S (y - mean) less what X makes of it. */
static okra_status begin(const okra_pair_solver_ *s, const bool *left, const double *C,
                         gradients *g, double *norm)
{
    okra_int size = s->n * s->m;
    double total = 0, sum = 0, count = 0;
    bool warm = false;
    double **blocks[] = {&g->S, &g->X, &g->R, &g->P, &g->Q, &g->T};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
        CHK(okra_doubles_(s->ctx, s->n, s->m, "conjugate gradients", blocks[k]));
    }
    for (okra_int p = 0; p < size; p++) {
        bool in = okra_pair_known_(s, p) && !(left && left[p]);
        g->S[p] = in ? sqrt(okra_pair_weight_(s, p)) : 0;
        total += in ? okra_pair_weight_(s, p) : 0;
        sum += in ? okra_pair_weight_(s, p) * s->Y[p] : 0;
        count += in;
        g->X[p] = in ? C[p] / g->S[p] : 0;
        warm = warm || g->X[p] != 0;
    }
    g->mean = s->center && total > 0 ? sum / total : 0;
    g->least = g->lambda * (total > 0 ? count / total : 1);
    *norm = 0;
    memcpy(g->P, g->X, (size_t)size * sizeof *g->P);
    if (warm) {
        CHK(apply(s, g));
    }
    for (okra_int p = 0; p < size; p++) {
        double r = g->S[p] > 0 ? g->S[p] * (s->Y[p] - g->mean) : 0;
        *norm += r * r;
        g->R[p] = r - (warm ? g->Q[p] : 0);
    }
    return OKRA_OK;
}

static okra_status conjugate(const okra_pair_solver_ *s, double lambda, const bool *left,
                             double tolerance, double *C, double *mean, okra_int *steps)
{
    okra_int size = s->n * s->m, step = 0;
    FREED_BY(gradients_clear) gradients g = {.lambda = lambda};
    double norm = 0, rho = 0, next = 0;
    CHK(begin(s, left, C, &g, &norm));
    double error = okra_dot_(size, g.R, g.R);
    CHK(precondition(s, &g, &rho));
    memcpy(g.P, g.Q, (size_t)size * sizeof *g.P);
    while (error > tolerance * tolerance * norm && step < STEPS_MOST) {
        CHK(apply(s, &g));
        double length = okra_dot_(size, g.P, g.Q);
        if (!(length > 0)) {
            break;
        }
        okra_axpy_(size, rho / length, g.P, g.X);
        okra_axpy_(size, -rho / length, g.Q, g.R);
        error = okra_dot_(size, g.R, g.R);
        CHK(precondition(s, &g, &next));
        for (okra_int p = 0; p < size; p++) {
            g.P[p] = g.Q[p] + next / rho * g.P[p];
        }
        rho = next;
        step++;
        CHK(okra_cancelled_(s->ctx));
    }
    if (error > 100 * tolerance * tolerance * norm) {
        okra_warn_(s->ctx,
                   "pairs: after %lld steps of conjugate gradients the residual is %.1e "
                   "of the values, expected %.1e; a larger lambda helps",
                   (long long)step, sqrt(error / norm), tolerance);
    }
    for (okra_int p = 0; p < size; p++) {
        C[p] = g.S[p] * g.X[p];
    }
    *mean = g.mean;
    *steps = step;
    return OKRA_OK;
}

/* T <- y less its mean. */
static double less_mean(const okra_pair_solver_ *s, double *T)
{
    okra_int size = s->n * s->m;
    double mean = s->center ? okra_total_(size, s->Y) / (double)size : 0;
    for (okra_int p = 0; p < size; p++) {
        T[p] = s->Y[p] - mean;
    }
    return mean;
}

okra_status okra_pair_solve_(const okra_pair_solver_ *s, double lambda, const bool *left,
                             double tolerance, double *C, double *mean, okra_int *steps)
{
    OWNED double *X = NULL, *T = NULL;
    if (!s->product || left) {
        return conjugate(s, lambda, left, tolerance, C, mean, steps);
    }
    CHK(okra_doubles_(s->ctx, s->n, s->m, "a product", &X));
    CHK(okra_doubles_(s->ctx, s->n, s->m, "a product", &T));
    *mean = less_mean(s, X);
    *steps = 0;
    return okra_pair_invert_(s, lambda, X, T, C);
}

/* ---- scores ---- */

typedef struct scored {
    double y, f;
} scored;

OKRA_ORDER_(by_value, scored, OKRA_UP_(y))

/* Sorts v by f, and adds up the pairs (a before b) with f_a < f_b, ties as half. */
static double in_order(scored *v, scored *other, okra_int count)
{
    okra_int half = count / 2, a = 0, low = 0, k = 0;
    if (count < 2) {
        return 0;
    }
    double sum = in_order(v, other, half) + in_order(v + half, other, count - half);
    for (okra_int b = half; b < count; b++) {
        while (a < half && v[a].f < v[b].f) {
            a++;
        }
        low = OKRA_MAX_(low, a);
        while (low < half && v[low].f <= v[b].f) {
            low++;
        }
        sum += (double)a + 0.5 * (double)(low - a);
    }
    for (okra_int p = 0, q = half; k < count; k++) {
        other[k] = q == count || (p < half && v[p].f <= v[q].f) ? v[p++] : v[q++];
    }
    memcpy(v, other, (size_t)count * sizeof *v);
    return sum;
}

okra_status okra_pair_score_(okra_int count, const double *y, const double *f,
                             const double *w, double *error, double *concordance)
{
    OWNED scored *v = NULL, *other = NULL;
    okra_int n = 0, first = 0;
    double sum = 0, total = 0, equal = 0, half = 0;
    MAKE(v, count);
    MAKE(other, count);
    for (okra_int p = 0; p < count; p++) {
        double weigh = w ? w[p] : 1;
        if (!isnan(y[p]) && !isnan(f[p]) && weigh > 0) {
            v[n++] = (scored){y[p], f[p]};
            sum += weigh * (y[p] - f[p]) * (y[p] - f[p]);
            total += weigh;
        }
    }
    qsort(v, (size_t)n, sizeof *v, by_value);
    for (okra_int k = 1; k <= n; k++) { /* those with equal values do not count */
        if (k == n || v[k].y > v[first].y) {
            double own = (double)(k - first);
            in_order(v + first, other, k - first); /* sorts */
            half += in_order(v + first, other, k - first);
            equal += own * (own - 1) / 2;
            first = k;
        }
    }
    double all = (double)n * (double)(n - 1) / 2 - equal;
    double good = in_order(v, other, n) - half;
    *error = n > 0 ? sum / total : (double)NAN;
    *concordance = all > 0 ? good / all : (double)NAN;
    return OKRA_OK;
}
