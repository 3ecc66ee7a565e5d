/*
 * folds_sets.c: sets of candidates by jackknife+ and cv+; folds.c has the equations.
 */
#include "conformal/folds.h"

#include <math.h>

/* constant[f]: what does not depend on y; spread[f]: the variance without f; sum[f]: of
 * the sizes of the coefficients of phi(y) - h_{-f}(x); g: see above. */
static double p_value(const okra_cv_plus_ *z, okra_int t, okra_int c,
                      const double *constant, const double *spread, const double *sum,
                      const double *g)
{
    okra_int n = z->solved.n, r = t - z->block->first;
    okra_int group = okra_conformal_group_(z->job, t, c);
    const double *u = z->block->U + r * n, *Al = z->Alc + c * n, *l = z->cross + c * n;
    double near = z->self[c] - 2 * z->Ul[c * z->block->m + r], more = 1, all = 1;
    for (okra_int f = 0; f < z->count; f++) {
        double distance = near + constant[f];
        for (okra_int k = z->begin[f]; k < z->begin[f + 1]; k++) {
            okra_int i = z->members[k];
            distance += 2 * (u[i] * Al[i] + (z->solved.ones ? g[f] * l[i] : 0));
        }
        distance -= okra_solved_error_(&z->solved, sum[f], distance);
        for (okra_int k = z->begin[f]; k < z->begin[f + 1]; k++) {
            if (okra_conformal_in_(z->job, z->members[k], group)) {
                okra_int own = k - z->begin[f];
                double left = okra_cv_plus_at_(z, z->G, f, own);
                left += okra_solved_error_(&z->solved, z->sums[z->members[k]], left);
                left *= okra_cv_plus_ratio_(z, f, own, spread[f]);
                more += okra_conformal_least_(left, fmax(distance, 0));
                all++;
            }
        }
    }
    return more / all;
}

static okra_status sets_body(void *arg, okra_int begin, okra_int end, int worker)
{
    okra_cv_plus_ *z = arg;
    const okra_bordered_ *b = z->block;
    okra_int n = z->solved.n;
    double *constant = z->work + worker * 4 * n, *spread = constant + n;
    double *sum = spread + n, *g = sum + n;
    for (okra_int r = begin; r < end; r++) {
        const double *u = b->U + r * n, *ALu = z->ALu + r * n, *Lu = b->UL + r * n;
        double uLu = okra_dot_(n, u, Lu), usum = 1, sigma = okra_cv_plus_sum_(z, r);
        for (okra_int i = 0; i < n; i++) {
            usum += fabs(u[i]);
        }
        for (okra_int f = 0; f < z->count; f++) {
            g[f] = okra_cv_plus_share_(z, f, sigma);
            sum[f] = usum;
            constant[f] =
                uLu + okra_cv_plus_quadratic_(z, f, z->G[f], u) + g[f] * g[f] * z->l1[f];
            spread[f] = b->s[r] + okra_cv_plus_quadratic_(z, f, z->I[f], u);
            for (okra_int k = z->begin[f]; k < z->begin[f + 1]; k++) {
                okra_int i = z->members[k];
                constant[f] -= 2 * (u[i] * ALu[i] + g[f] * (Lu[i] - u[i] * z->a[i]));
                sum[f] += fabs(u[i]) * z->sums[i] + fabs(g[f]);
            }
        }
        for (okra_int c = 0; c < z->job->count; c++) {
            z->p[(b->first + r) * z->job->count + c] =
                p_value(z, b->first + r, c, constant, spread, sum, g);
        }
    }
    return OKRA_OK;
}

static okra_status sets_block(void *user, const okra_bordered_ *b)
{
    okra_cv_plus_ *z = user;
    okra_context *ctx = z->job->ctx;
    okra_int n = z->solved.n, count = z->job->count;
    z->block = b;
    CHK(okra_gemm_(ctx, false, true, 1, okra_mat_of_(b->UL, b->m, n),
                   okra_mat_of_(z->A, n, n), 0, okra_mat_of_(z->ALu, b->m, n)));
    CHK(okra_gemm_(ctx, false, true, 1, okra_mat_of_(z->cross, count, n),
                   okra_mat_of_(b->U, b->m, n), 0, okra_mat_of_(z->Ul, count, b->m)));
    return okra_parallel_(ctx, b->m, 1, "sets", sets_body, z);
}

okra_status okra_conformal_folds_(const okra_conformal_job_ *job, double *p)
{
    FREED_BY(okra_cv_plus_release_) okra_cv_plus_ z = {.job = job, .p = p};
    CHK(okra_cv_plus_prepare_(&z));
    okra_int n = z.solved.n, rows = OKRA_MIN_(job->tests, 256);
    CHK(okra_solved_candidates_(job, &z.solved, &z.cross, &z.self));
    CHK(okra_doubles_(job->ctx, job->count, n, "the candidates' products", &z.Alc));
    CHK(okra_gemm_(job->ctx, false, true, 1, okra_mat_of_(z.cross, job->count, n),
                   okra_mat_of_(z.A, n, n), 0, okra_mat_of_(z.Alc, job->count, n)));
    CHK(okra_doubles_(job->ctx, rows, n, "a block of products", &z.ALu));
    CHK(okra_doubles_(job->ctx, job->count, rows, "a block of products", &z.Ul));
    return okra_solved_walk_(job, &z.solved, sets_block, &z);
}
