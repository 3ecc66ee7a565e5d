/*
 * align_loo.c: align-loo(A, B, ...): weights of kernels by the least sum of left-out
 * losses of ridge (leave.c) at the lambda of the options,
 *
 *     B = (K_w + lambda I)^-1,   N = B L B,   E = sum_i N_ii / B_ii^2,
 *     dE/dw_k = <K_k, -2 N diag(B_ii^-2) B + 2 B diag(N_ii / B_ii^3) B>,
 *
 * over w = exp(t) by L-BFGS, from the weights of `align` or from the mean, whichever
 * leaves less; K and L as they are, L centred where outputs are. 8 n^3 operations a step,
 * 3 n^3 where outputs are few explicit ones. The search ends where E falls by less than
 * 1e-7 of what it was at first; weights are bounded beside that, and large ones are
 * told: with outputs free of noise E falls as long as they grow.
 */
#include "model/model.h"

#include <lbfgs.h>

enum { STEPS = 60 };

/* No weight of a matrix whose largest entry is 1 to 2 goes beyond this many lambda:
 * K_w + lambda I has few digits then, and what is fitted passes through all pairs. */
static const double most_lambdas = 1e10, told_lambdas = 1e6;

typedef struct leaving {
    okra_context *ctx;
    okra_int n, p;
    const double *K, *L;   /* p x n^2, n x n */
    okra_int r;            /* columns of F; 0: there is none */
    const double *F;       /* n x r, L = F F' */
    double *P, *Q;         /* n x r: B F; r x n */
    double lambda, most;   /* most: the bound of t */
    double unit;           /* E where the search begins */
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
    CHK(okra_gemm_(z->ctx, false, false, 1, B, okra_mat_view_(z->F, n, r, r), 0, P));
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
    okra_mat_units_(B, 0);
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
    for (int k = 0; k < p; k++) { /* libLBFGS may pad the variables */
        slope[k] = 0;
    }
    for (int k = 0; k < z->p; k++) {
        z->w[k] = exp(fmin(t[k], z->most));
    }
    if (z->st == OKRA_OK) {
        z->st = evaluate(z, &value, slope);
    }
    for (int k = 0; k < z->p; k++) { /* beyond the bound nothing changes */
        slope[k] *= t[k] <= z->most ? z->w[k] / z->unit : 0;
    }
    return z->st == OKRA_OK ? value / z->unit : 0;
}

/* t: logarithms of the weights of `align`, none so small that it cannot grow, or of the
 * mean, whichever leaves less: the end is then no worse than either. */
static okra_status begin(leaving *z, const double *w, const double *mean, double *t)
{
    OWNED double *slope = NULL;
    double value[2] = {0, 0};
    MAKE(slope, z->p);
    for (int second = 0; second < 2; second++) {
        for (okra_int k = 0; k < z->p; k++) {
            double begun = second ? mean[k] : fmax(w[k], 0.01 * mean[k]);
            z->w[k] = fmin(begun, exp(z->most));
        }
        CHK(evaluate(z, &value[second], slope));
        for (okra_int k = 0; k < z->p && (!second || value[1] < value[0]); k++) {
            t[k] = log(z->w[k]);
        }
    }
    z->unit = fmin(value[0], value[1]) > 0 ? fmin(value[0], value[1]) : 1;
    return OKRA_OK;
}

/* Weights from their logarithms; those that say nothing are 0. */
static void finish(const leaving *z, const double *t, double *w)
{
    double top = 0;
    for (okra_int k = 0; k < z->p; k++) {
        w[k] = exp(fmin(t[k], z->most));
        top = fmax(top, w[k]);
    }
    for (okra_int k = 0; k < z->p; k++) {
        w[k] = w[k] > 1e-6 * top ? w[k] : 0;
    }
    if (top > told_lambdas * z->lambda) {
        okra_warn_(
            z->ctx,
            "align-loo: the weights grew to %.0e lambda over the size of the kernel%s: "
            "lambda hardly counts, as where outputs have no noise; with a larger one "
            "the weights say more about the kernels",
            top / z->lambda, top > 0.9 * exp(z->most) ? ", their bound" : "");
    }
}

OKRA_DROPS_(drop_lbfgs, double, lbfgs_free)

static okra_status search(leaving *z, const double *mean, double *w)
{
    FREED_BY(drop_lbfgs) double *t = lbfgs_malloc((int)z->p);
    double value = 0;
    lbfgs_parameter_t parameter;
    lbfgs_parameter_init(&parameter);
    parameter.max_iterations = STEPS;
    parameter.epsilon = 1e-7;
    GOT(t);
    CHK(begin(z, w, mean, t));
    lbfgs((int)z->p, t, &value, on_step, NULL, z, &parameter);
    CHK(z->st); /* how it stopped does not matter: every step was downhill */
    finish(z, t, w);
    return OKRA_OK;
}

OKRA_CLEARS_(clear, leaving, it->w, it->P, it->Q, it->B, it->N, it->G, it->T)

okra_status okra_align_loo_(const okra_learner_ *learner, double lambda, const double *F,
                            okra_int r, const double *mean, double *w)
{
    okra_int n = learner->n;
    FREED_BY(clear)
    leaving z = {.ctx = learner->ctx,
                 .n = n,
                 .p = learner->p,
                 .K = learner->K,
                 .L = learner->L,
                 .r = r,
                 .F = F,
                 .lambda = lambda,
                 .most = log(most_lambdas * lambda)};
    double **blocks[] = {&z.B, &z.N, &z.G, &z.T};
    for (int i = 0; i < 4; i++) {
        CHK(okra_doubles_(z.ctx, n, n, "align-loo", blocks[i]));
    }
    if (F) {
        CHK(okra_doubles_(z.ctx, n, r, "align-loo", &z.P));
        CHK(okra_doubles_(z.ctx, r, n, "align-loo", &z.Q));
    }
    MAKE(z.w, z.p);
    return search(&z, mean, w);
}
