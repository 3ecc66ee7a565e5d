/*
 * margin_put.c: the solution of a margin dual as weights or coefficients in a model's
 * bag; equations in margin.c.
 */
#include "method/margin/margin.h"

#include <math.h>

okra_status okra_margin_report_(const okra_margin_ *m, double lambda, double dual,
                                double gap, double goal, okra_bag_ *bag)
{
    bool converged = gap <= goal;
    if (!converged) {
        okra_warn_(m->ctx,
                   "margin: lambda = %g: stopped with a duality gap of %.3g (dual value "
                   "%.6g), expected %.3g",
                   lambda, gap, dual, goal);
    }
    CHK(okra_bag_put_number_(bag, "dual", dual));
    CHK(okra_bag_put_number_(bag, "gap", gap));
    return okra_bag_put_number_(bag, "converged", converged);
}

okra_status okra_margin_put_weights_(okra_margin_ *m, double lambda, const double *T,
                                     const double *t, okra_bag_ *bag)
{
    okra_int n = m->n, N = m->N, d = m->d;
    OWNED double *R = NULL, *B = NULL, *C = NULL;
    CHK(okra_doubles_(m->ctx, n, N, "the margin weights", &R));
    CHK(okra_doubles_(m->ctx, n, N, "the margin weights", &B));
    okra_mat_fill_(okra_mat_of_(R, n, N), 0);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int k = 0; k < n; k++) {
            R[i * N + k] = (T ? T[k * n + i] : i == k ? t[i] : 0) / 2;
        }
    }
    if (m->semi) {
        CHK(okra_semi_solve_rows_(m->ctx, &m->s, lambda, NULL, okra_mat_of_(R, n, N),
                                  okra_mat_of_(B, n, N)));
    } else {
        for (okra_int i = 0; i < n * N; i++) {
            B[i] = R[i] / lambda;
        }
    }
    if (m->p->features) {
        CHK(okra_doubles_(m->ctx, N, d, "the margin coefficients", &C));
        CHK(okra_engine_gemm_(m->ctx, true, false, 1, okra_mat_of_(B, n, N),
                              okra_mat_view_(m->p->features, n, d, m->p->features_ld), 0,
                              okra_mat_of_(C, N, d)));
        CHK(okra_bag_put_(bag, "coefficients", &C, N, d));
    }
    return okra_bag_put_(bag, "B", &B, n, N);
}

/* Row j of X: g_j (dual of coordinate j)' J (lambda I + 2 lambda_2 g_j K M)^-1 / 2; C =
 * X'E. */
okra_status okra_margin_put_coefficients_(okra_margin_ *m, double lambda, okra_bag_ *bag)
{
    okra_int n = m->n, N = m->N, d = m->d;
    bool hinge = m->o.loss == OKRA_LOSS_HINGE_;
    OWNED double *R = NULL, *X = NULL, *C = NULL;
    double unit = sqrt(m->p->feature_scale);
    CHK(okra_doubles_(m->ctx, d, N, "the margin coefficients", &R));
    CHK(okra_doubles_(m->ctx, d, N, "the margin coefficients", &X));
    okra_mat_ Rm = okra_mat_of_(R, d, N), Xm = okra_mat_of_(X, d, N);
    okra_mat_fill_(Rm, 0);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < d; j++) {
            double a = hinge ? m->alpha[i] * m->Y[i * d + j] : m->alpha[i * d + j];
            R[j * N + i] = m->g[j] * a / (2 * unit) / (m->semi ? 1 : lambda);
        }
    }
    if (m->semi) {
        CHK(okra_semi_solve_rows_(m->ctx, &m->s, lambda, m->g, Rm, Xm));
    }
    CHK(okra_doubles_(m->ctx, N, d, "the margin coefficients", &C));
    CHK(okra_engine_gemm_(m->ctx, true, false, 1, m->semi ? Xm : Rm,
                          okra_mat_of_(m->A, d, d), 0, okra_mat_of_(C, N, d)));
    return okra_bag_put_(bag, "coefficients", &C, N, d);
}

okra_status okra_margin_put_scale_(okra_margin_ *m, double lambda, okra_bag_ *bag)
{
    okra_int n = m->n, d = m->d;
    OWNED double *scale = NULL, *C = NULL;
    MAKE(scale, n);
    for (okra_int i = 0; i < n; i++) {
        scale[i] = m->alpha[i] / (2 * lambda);
    }
    if (m->p->features) {
        CHK(okra_doubles_(m->ctx, n, d, "the margin coefficients", &C));
        for (okra_int i = 0; i < n * d; i++) {
            C[i] = scale[i / d] * m->p->features[i / d * m->p->features_ld + i % d];
        }
        CHK(okra_bag_put_(bag, "coefficients", &C, n, d));
    }
    return okra_bag_put_(bag, "scale", &scale, 1, n);
}
