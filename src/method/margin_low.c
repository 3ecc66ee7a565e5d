/*
 * margin_low.c: margin.c in factored form, K = Phi Phi' (n x m), output features Psi
 * (n x d): explicit ones, or those of a low-rank output kernel, L = Psi Psi'.
 *
 * The hinge loss without lambda_2: with Psi rotated and scaled for a matrix operator
 * A = E' diag(g) E, psi <- diag(g)^1/2 E psi, the dual of margin.c has
 *     Q = (Phi Phi') o (Psi Psi') / (2 lambda)                        (boxqp_low.c)
 *     h(x) = E' diag(g)^1/2 Z' phi(x),   Z = Phi' diag(a) Psi / (2 lambda)   (m x d).
 * phi(x)' = v(x)' T (kernel/lowrank.h): the model keeps T Z diag(g)^1/2 E, columns x d,
 * and the basis of the inputs. No n x n matrix is formed; n (m + d) doubles are kept
 * where they fit the budget (factors.c).
 */
#include "method/margin.h"

#include "kernel/lowrank.h"
#include "method/boxqp_low.h"
#include "method/ridge.h"

#include <math.h>
#include <string.h>

bool okra_margin_factored_(const okra_problem_ *p, const okra_options *options)
{
    const char *loss = okra_options_get(options, "loss");
    const char *both = okra_options_get(options, "low-rank");
    const char *on_y = okra_options_get(options, "low-rank-y");
    return (!loss || strcmp(loss, "hinge") == 0) &&
           !okra_options_is_set(options, "lambda2") &&
           (p->features || (both && *both) || (on_y && *on_y));
}

/* R = E' diag(g)^1/2, d x d */
static okra_status rotation(const okra_margin_ *m, double **R)
{
    okra_status st = OKRA_OK;
    okra_int d = m->d;
    TRY(okra_doubles_(m->ctx, d, d, "the rotation of the outputs", R));
    for (okra_int i = 0; i < d * d; i++) {
        (*R)[i] = m->A[i % d * d + i / d] * sqrt(m->g[i % d]);
    }
done:
    return st;
}

/* Z (m x d, destroyed) as coefficients of the values, in the units of the outputs. */
static okra_status put_coefficients(const okra_margin_ *m, const okra_factors_ *f,
                                    double *Z, okra_bag_ *bag)
{
    okra_status st = OKRA_OK;
    okra_int rank = f->m, d = f->d, columns = m->p->map_x->columns;
    double *C = NULL, *X = NULL;
    okra_mat_ Zm = okra_mat_of_(Z, rank, d);
    TRY(okra_doubles_(m->ctx, columns, d, "the margin coefficients", &X));
    if (f->T) {
        TRY(okra_doubles_(m->ctx, rank, d, "the margin coefficients", &C));
        TRY(okra_gemm_(m->ctx, false, true, 1, Zm, okra_mat_view_(f->T, d, d, d), 0,
                       okra_mat_of_(C, rank, d)));
        Zm.p = C;
    }
    TRY(okra_map_fold_(m->ctx, m->p->map_x, Zm, okra_mat_of_(X, columns, d)));
    for (okra_int i = 0; i < columns * d; i++) {
        X[i] /= f->unit;
    }
    TRY(okra_ridge_put_(bag, "coefficients", &X, columns, d));
done:
    okra_free_(C);
    okra_free_(X);
    return st;
}

okra_status okra_margin_low_(okra_margin_ *m, const double *lambda, size_t count,
                             okra_bag_ *const *bags)
{
    okra_status st = OKRA_OK;
    double *R = NULL, *Z = NULL, unit = m->p->map_y ? 1 : sqrt(m->p->feature_scale);
    okra_factors_ f = {0};
    okra_moments_ about = {.n = m->n};
    if (m->A) {
        TRY(rotation(m, &R));
    }
    TRY(okra_doubles_(m->ctx, m->p->map_x->rank, okra_problem_features_(m->p),
                      "the margin coefficients", &Z));
    okra_int rank = m->p->map_x->rank, d = okra_problem_features_(m->p);
    double later = okra_boxqp_low_doubles_(m->n, rank, d) +
                   (double)((rank + m->p->map_x->columns) * d + m->n);
    TRY(okra_factors_create_(m->ctx, m->p, R, unit, later, &f));
    about.m = f.m;
    about.d = f.d;
    TRY(okra_moments_trace_error_(m->ctx, m->p->map_x, m->p->x, m->n, f.kept_x,
                                  &about.error_x));
    TRY(okra_moments_trace_error_(m->ctx, m->p->map_y, m->p->y, m->n, f.kept_y,
                                  &about.error_y));
    ZALLOC(m->alpha, m->n);
    for (size_t l = 0; l < count; l++) {
        okra_boxqp_report_ r;
        TRY(okra_boxqp_low_(&f, lambda[l], m->o.tolerance, m->alpha, Z, &r));
        TRY(okra_margin_report_(m, lambda[l], r.dual, r.gap, r.converged, bags[l]));
        TRY(put_coefficients(m, &f, Z, bags[l]));
        TRY(okra_moments_put_(&about, m->p, bags[l]));
        TRY(okra_bag_put_number_(bags[l], "lambda", lambda[l]));
    }
done:
    okra_factors_clear_(&f);
    okra_free_(R);
    okra_free_(Z);
    return st;
}
