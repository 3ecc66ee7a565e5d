/*
 * pairs.c: ridge regression over pairs, without a matrix of pairs by pairs.
 *
 *     (K + lambda diag(1/w)) c = y - mean,   K = sum_t A_t (x) B_t over the known pairs,
 *
 * A_t (n x n) and B_t (m x m) the Gram matrices of rows and columns, A = U' diag(a) U and
 * B = V' diag(b) V of each term, w = 0 at gaps. Matrices are n x m.
 *
 * One product, no gap, no weights: C = U' (Y^ / (a b' + lambda)) V, Y^ = U Y V' (van Loan
 * 2000, "The ubiquitous Kronecker product", sec. 2).
 *
 * Otherwise the ridge in the eigenvectors' coordinates, X_t = U_t C V_t', d_t = a_t b_t':
 *     U_t (w o F) V_t' + lambda X_t = U_t (w o (y - mean)) V_t',
 *     F = sum_t U_t' (d_t o X_t) V_t,
 * self-adjoint in the inner product with weights d. Conjugate gradients in that inner
 * product, preconditioned by 1 / (s d + lambda), s the mean of w over all pairs, gaps
 * too: with gaps by chance U (w o .) V' is near s. The condition is about (1 + tail /
 * lambda) / s, tail the bulk of small d, and not max d / lambda; the inverse for the
 * complete matrix, cut down to the known pairs, does not see the largest d once a part of
 * the pairs is missing. 4 n m (n + m) operations a step and term.
 *
 * Accuracy: about eps (1 + max a max b / lambda), or the tolerance of the gradients.
 */
#include "solve/pairs.h"

enum { STEPS_MOST = 2000 };
static const double floor_of_residuals = 1e-15; /* a share of the right side */

static okra_mat_ mat(const double *p, okra_int rows, okra_int cols)
{
    return okra_mat_view_(p, rows, cols, cols);
}

void okra_pair_solver_clear_(okra_pair_solver_ *s)
{
    for (int t = 0; t < s->terms && s->of; t++) {
        FREE(s->of[t].a, s->of[t].b, s->of[t].U, s->of[t].V);
    }
    FREE(s->of);
    *s = (okra_pair_solver_){0};
}

/* A Gram matrix, decomposed; negative eigenvalues become 0. */
static okra_status decompose(okra_context *ctx, okra_int n, const double *A, double **w,
                             double **U)
{
    MAKE(*w, n);
    CHK(okra_doubles_(ctx, n, n, "eigenvectors of one side", U));
    memcpy(*U, A, (size_t)(n * n) * sizeof *A);
    CHK(okra_engine_eigh_(ctx, okra_mat_of_(*U, n, n), *w));
    okra_clamp_(n, *w);
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
    ZMAKE(s.of, terms);
    for (int t = 0; t < terms; t++) {
        s.of[t].A = A[t];
        s.of[t].B = B[t];
        CHK(decompose(ctx, n, A[t], &s.of[t].a, &s.of[t].U));
        CHK(decompose(ctx, m, B[t], &s.of[t].b, &s.of[t].V));
    }
    *out = TAKE(s);
    return OKRA_OK;
}

/* Z <- U X V' of a term, or (back) U' X V, added to Z; T: n x m. */
static okra_status turn(const okra_pair_solver_ *s, int t, bool back, const double *X,
                        double *T, double *Z, bool add)
{
    okra_int n = s->n, m = s->m;
    CHK(okra_engine_gemm_(s->ctx, back, false, 1, mat(s->of[t].U, n, n), mat(X, n, m), 0,
                          mat(T, n, m)));
    return okra_engine_gemm_(s->ctx, false, !back, 1, mat(T, n, m), mat(s->of[t].V, m, m),
                             add, mat(Z, n, m));
}

okra_status okra_pair_invert_(const okra_pair_solver_ *s, double lambda, const double *X,
                              double *T, double *Z)
{
    OWNED double *hat = NULL;
    CHK(okra_doubles_(s->ctx, s->n, s->m, "a product", &hat));
    CHK(turn(s, 0, false, X, T, hat, false));
    for (okra_int p = 0; p < s->n * s->m; p++) {
        hat[p] /= s->of->a[p / s->m] * s->of->b[p % s->m] + lambda;
    }
    return turn(s, 0, true, hat, T, Z, false);
}

okra_status okra_pair_fitted_(const okra_pair_solver_ *s, const double *C, double mean,
                              double *F)
{
    OWNED double *T = NULL;
    CHK(okra_doubles_(s->ctx, s->n, s->m, "a product", &T));
    for (int t = 0; t < s->terms; t++) {
        CHK(okra_engine_gemm_(s->ctx, false, false, 1, mat(s->of[t].A, s->n, s->n),
                              mat(C, s->n, s->m), 0, mat(T, s->n, s->m)));
        CHK(okra_engine_gemm_(s->ctx, false, false, 1, mat(T, s->n, s->m),
                              mat(s->of[t].B, s->m, s->m), t > 0, mat(F, s->n, s->m)));
    }
    for (okra_int p = 0; p < s->n * s->m; p++) {
        F[p] += mean;
    }
    return OKRA_OK;
}

/* ---- solving ---- */

typedef struct gradients {
    double *w, *Z, *T;          /* n x m; w: weights, 0: not of this problem */
    double *D, *X, *R, *P, *Q;  /* terms of n x m each */
    double lambda, share, mean; /* share: the mean of w */
    okra_int size;              /* terms n m */
} gradients;

OKRA_CLEARS_(gradients_clear, gradients, it->w, it->Z, it->T, it->D, it->X, it->R, it->P,
             it->Q)

/* out_t <- U_t Z V_t' */
static okra_status turn_all(const okra_pair_solver_ *s, gradients *g, double *out)
{
    for (int t = 0; t < s->terms; t++) {
        CHK(turn(s, t, false, g->Z, g->T, out + t * s->n * s->m, false));
    }
    return OKRA_OK;
}

/* Q <- the left side of the equation at P; uses Z. */
static okra_status apply(const okra_pair_solver_ *s, gradients *g)
{
    okra_int size = s->n * s->m;
    for (okra_int p = 0; p < g->size; p++) {
        g->Q[p] = g->D[p] * g->P[p];
    }
    for (int t = 0; t < s->terms; t++) {
        CHK(turn(s, t, true, g->Q + t * size, g->T, g->Z, t > 0));
    }
    for (okra_int p = 0; p < size; p++) {
        g->Z[p] *= g->w[p];
    }
    CHK(turn_all(s, g, g->Q));
    okra_axpy_(g->size, g->lambda, g->P, g->Q);
    return OKRA_OK;
}

/* <R, R / (share d + lambda)>, weighted by d. */
static double measure(const gradients *g)
{
    double sum = 0;
    for (okra_int p = 0; p < g->size; p++) {
        sum += g->D[p] * g->R[p] * g->R[p] / (g->share * g->D[p] + g->lambda);
    }
    return sum;
}

static okra_status make_room(const okra_pair_solver_ *s, gradients *g)
{
    double **blocks[] = {&g->w, &g->Z, &g->T, &g->D, &g->X, &g->R, &g->P, &g->Q};
    g->size = s->terms * s->n * s->m;
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
        CHK(okra_doubles_(s->ctx, k < 3 ? s->n : s->terms * s->n, s->m,
                          "conjugate gradients", blocks[k]));
    }
    for (okra_int p = 0; p < g->size; p++) {
        const okra_pair_term_ *of = &s->of[p / (s->n * s->m)];
        g->D[p] = of->a[p / s->m % s->n] * of->b[p % s->m];
    }
    return OKRA_OK;
}

/* R: the right side less the left one at C; *norm: the measure of the right side. */
static okra_status begin(const okra_pair_solver_ *s, const bool *left, const double *C,
                         gradients *g, double *norm)
{
    okra_int size = s->n * s->m;
    double total = 0, sum = 0;
    bool warm = false;
    CHK(make_room(s, g));
    for (okra_int p = 0; p < size; p++) {
        bool in = okra_pair_known_(s, p) && !(left && left[p]);
        g->w[p] = in ? okra_pair_weight_(s, p) : 0;
        total += g->w[p];
        sum += in ? g->w[p] * s->Y[p] : 0;
        g->Z[p] = C[p];
        warm = warm || C[p] != 0;
    }
    g->mean = s->center && total > 0 ? sum / total : 0;
    g->share = total / (double)size;
    CHK(turn_all(s, g, g->X));
    for (okra_int p = 0; p < size; p++) {
        g->Z[p] = g->w[p] > 0 ? g->w[p] * (s->Y[p] - g->mean) : 0;
    }
    CHK(turn_all(s, g, g->R));
    *norm = measure(g);
    if (warm) {
        memcpy(g->P, g->X, (size_t)g->size * sizeof *g->P);
        CHK(apply(s, g));
        okra_axpy_(g->size, -1, g->Q, g->R);
    }
    return OKRA_OK;
}

/* P <- R / (share d + lambda) + factor P */
static void next_direction(gradients *g, double factor)
{
    for (okra_int p = 0; p < g->size; p++) {
        double old = factor > 0 ? factor * g->P[p] : 0;
        g->P[p] = g->R[p] / (g->share * g->D[p] + g->lambda) + old;
    }
}

/* One step of length rho / <P, Q>; how far it moves the predictions of all pairs, gaps
 * too, as a share of these. 0: there is no step. */
static double step_along(gradients *g, double rho)
{
    double length = 0, moved = 0, all = 0;
    for (okra_int p = 0; p < g->size; p++) {
        length += g->D[p] * g->P[p] * g->Q[p];
    }
    if (!(length > 0)) {
        return 0;
    }
    okra_axpy_(g->size, rho / length, g->P, g->X);
    okra_axpy_(g->size, -rho / length, g->Q, g->R);
    for (okra_int p = 0; p < g->size; p++) {
        double by = rho / length * g->D[p] * g->P[p], now = g->D[p] * g->X[p];
        moved += by * by;
        all += now * now;
    }
    return all > 0 ? sqrt(moved / all) : 0;
}

static okra_status conjugate(const okra_pair_solver_ *s, double lambda, const bool *left,
                             double tolerance, double *C, double *mean, okra_int *steps)
{
    okra_int step = 0;
    FREED_BY(gradients_clear) gradients g = {.lambda = lambda};
    double norm = 0, before = 0, least = floor_of_residuals * floor_of_residuals;
    CHK(begin(s, left, C, &g, &norm));
    double rho = measure(&g), moved = rho > 0;
    while (moved > tolerance && rho > least * norm && step < STEPS_MOST) {
        next_direction(&g, before > 0 ? rho / before : 0);
        CHK(apply(s, &g));
        moved = step_along(&g, rho);
        before = rho;
        rho = measure(&g);
        step++;
        CHK(okra_cancelled_(s->ctx));
    }
    if (step == STEPS_MOST) {
        okra_warn_(s->ctx,
                   "pairs: after %lld steps of conjugate gradients predictions still "
                   "move by %.1e of their size, expected %.1e; a larger lambda helps",
                   (long long)step, moved, tolerance);
    }
    /* At gaps C is as far from 0 as the steps are from the end. K C is near all the same,
     * that of C cut down to the known pairs is not: K's largest eigenvalue times as far.
     */
    CHK(turn(s, 0, true, g.X, g.T, C, false));
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
