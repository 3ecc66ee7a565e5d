/*
 * margin_distance.c: losses of the distance |y - h(x)|: from the dual vectors of dual.c
 * to coefficients over the training outputs; equations in margin.c.
 */
#include "method/margin/margin.h"

#include <float.h>
#include <math.h>

/* T (n x n): alpha = T Y; 0 in rows and columns where alpha is 0. */
static okra_status coefficients_of(const okra_margin_ *m, const okra_dual_ *dual,
                                   double *T)
{
    OWNED okra_int *active = NULL;
    okra_int n = m->n, f = 0;
    const double *S = m->S[0];
    OWNED double *F = NULL, *I = NULL, *v = NULL, *D = NULL, *rho = NULL;
    MAKE(active, n);
    MAKE(v, m->q);
    MAKE(D, m->q);
    MAKE(rho, n);
    for (okra_int i = 0; i < n; i++) {
        okra_dual_shrinkage_(dual, m->alpha, m->H, i, v, D, &rho[i]);
        active[f] = i;
        f += isfinite(rho[i]) != 0;
    }
    CHK(okra_doubles_(m->ctx, f, f, "the active block", &F));
    CHK(okra_doubles_(m->ctx, f, f, "the active block", &I));
    for (okra_int r = 0; r < f; r++) {
        okra_int i = active[r];
        for (okra_int c = 0; c < f; c++) {
            F[r * f + c] = S[i * n + active[c]] / 2;
            I[r * f + c] = r == c;
        }
        F[r * f + r] += rho[i];
    }
    okra_mat_fill_(okra_mat_of_(T, n, n), 0);
    /* where outputs are interpolated the block may be singular, and the gap tells */
    okra_status st = okra_cholesky_quiet_(m->ctx, okra_mat_of_(F, f, f), NULL);
    if (st == OKRA_ENUMERIC) {
        return OKRA_OK;
    }
    CHK(st);
    CHK(okra_engine_cholesky_solve_(m->ctx, okra_mat_of_(F, f, f),
                                    okra_mat_of_(I, f, f)));
    for (okra_int r = 0; r < f; r++) {
        for (okra_int c = 0; c < f; c++) {
            T[active[r] * n + active[c]] = I[r * f + c];
        }
    }
    return OKRA_OK;
}

/* T = alpha Y^+, Y = U diag(s) V': the least coefficients that give alpha. */
static okra_status least_coefficients(const okra_margin_ *m, double *T)
{
    okra_int n = m->n, q = m->q, k = OKRA_MIN_(n, q);
    OWNED double *Y = NULL, *U = NULL, *s = NULL, *Vt = NULL;
    CHK(okra_doubles_(m->ctx, n, q, "the outputs' coordinates", &Y));
    CHK(okra_doubles_(m->ctx, n, k, "the outputs' coordinates", &U));
    CHK(okra_doubles_(m->ctx, k, q, "the outputs' coordinates", &Vt));
    MAKE(s, k);
    CHK(okra_mat_copy_(okra_mat_of_(m->Y, n, q), okra_mat_of_(Y, n, q)));
    CHK(okra_svd_(m->ctx, okra_mat_of_(Y, n, q), okra_mat_of_(U, n, k), s,
                  okra_mat_of_(Vt, k, q)));
    okra_mat_ W = okra_mat_of_(Y, n, k); /* alpha V diag(1/s), in the place of Y */
    CHK(okra_engine_gemm_(m->ctx, false, true, 1, okra_mat_of_(m->alpha, n, q),
                          okra_mat_of_(Vt, k, q), 0, W));
    for (okra_int i = 0; i < n * k; i++) {
        double v = s[i % k];
        W.p[i] = v > (double)OKRA_MAX_(n, q) * DBL_EPSILON * s[0] ? W.p[i] / v : 0;
    }
    return okra_engine_gemm_(m->ctx, false, true, 1, W, okra_mat_of_(U, n, k), 0,
                             okra_mat_of_(T, n, n));
}

/* The gap between what T keeps of alpha and the dual value found. */
static okra_status measure(const okra_margin_ *m, const okra_dual_ *dual, const double *T,
                           okra_dual_report_ *r)
{
    okra_int n = m->n, q = m->q;
    OWNED double *alpha = NULL, *H = NULL;
    okra_dual_report_ kept;
    CHK(okra_doubles_(m->ctx, n, q, "the dual variables", &alpha));
    CHK(okra_doubles_(m->ctx, n, q, "the fitted outputs", &H));
    CHK(okra_engine_gemm_(m->ctx, false, false, 1, okra_mat_view_(T, n, n, n),
                          okra_mat_of_(m->Y, n, q), 0, okra_mat_of_(alpha, n, q)));
    CHK(okra_dual_measure_(m->ctx, dual, alpha, H, &kept));
    r->gap = kept.primal - r->dual;
    r->converged = r->gap <= r->goal;
    return OKRA_OK;
}

okra_status okra_margin_distance_(okra_margin_ *m, double lambda, okra_bag_ *bag)
{
    okra_int n = m->n, q = m->q;
    OWNED double *T = NULL;
    okra_dual_report_ r = {0};
    double width = m->o.loss == OKRA_LOSS_HUBER_ ? m->o.delta : m->o.tube;
    okra_dual_ dual = {n,
                       q,
                       m->Y,
                       m->g,
                       (const double *const *)m->S,
                       m->count,
                       (okra_loss_)m->o.loss,
                       width,
                       m->o.tolerance,
                       0,
                       m->p->weights};
    CHK(okra_dual_solve_(m->ctx, &dual, m->alpha, m->H, &r));
    if (!m->A) {
        bool converged = r.converged;
        CHK(okra_doubles_(m->ctx, n, n, "the margin weights", &T));
        CHK(coefficients_of(m, &dual, T));
        CHK(measure(m, &dual, T, &r));
        if (converged && !r.converged) {
            CHK(least_coefficients(m, T));
            CHK(measure(m, &dual, T, &r));
        }
    }
    CHK(okra_margin_report_(m, lambda, r.dual, r.gap, r.goal, bag));
    return m->A ? okra_margin_put_coefficients_(m, lambda, bag)
                : okra_margin_put_weights_(m, lambda, T, NULL, bag);
}
