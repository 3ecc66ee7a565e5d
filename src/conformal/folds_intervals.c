/*
 * folds_intervals.c: intervals and balls by jackknife+ and cv+; folds.c has the
 * equations.
 */
#include "conformal/folds.h"

#include <math.h>

/* Coordinate j of v_S at row r. */
static double moved(const okra_cv_plus_ *z, okra_int r, okra_int j, okra_int f,
                    double sigma)
{
    okra_int d = z->solved.d;
    const double *u = z->block->U + r * z->solved.n;
    double g = okra_cv_plus_share_(z, f, sigma), v = 0;
    for (okra_int k = z->begin[f]; k < z->begin[f + 1]; k++) {
        okra_int at = z->members[k] * d + j;
        v += u[z->members[k]] * z->E[at] + g * z->solved.Y[at];
    }
    return v;
}

/* Lower and upper end of coordinate j at row r, from `low` and `high` as work. */
static void one_interval(const okra_cv_plus_ *z, okra_int r, okra_int j,
                         const double *spread, double *low, double *high)
{
    okra_int d = z->solved.d, count = 0;
    okra_int group = okra_conformal_group_(z->job, z->block->first + r, 0);
    double sigma = okra_cv_plus_sum_(z, r), mean = z->solved.mean[j];
    for (okra_int f = 0; f < z->count; f++) {
        double h = mean + z->UY[r * d + j] - moved(z, r, j, f, sigma);
        for (okra_int k = z->begin[f]; k < z->begin[f + 1]; k++) {
            if (okra_conformal_in_(z->job, z->members[k], group)) {
                double e = fabs(z->E[z->members[k] * d + j]) *
                           sqrt(okra_cv_plus_ratio_(z, f, k - z->begin[f], spread[f]));
                low[count] = h - e;
                high[count++] = h + e;
            }
        }
    }
    okra_int order = okra_conformal_order_(z->alpha, count);
    double *out = z->bounds + ((z->block->first + r) * d + j) * 2;
    out[0] = okra_conformal_kth_(low, count, count + 1 - order);
    out[1] = okra_conformal_kth_(high, count, order);
    if (out[0] > out[1]) { /* no y is left at so large an alpha: the prediction itself */
        out[0] = out[1] = mean + z->UY[r * d + j];
    }
}

static void one_radius(const okra_cv_plus_ *z, okra_int r, const double *spread,
                       double *length)
{
    okra_int d = z->solved.d, count = 0;
    okra_int group = okra_conformal_group_(z->job, z->block->first + r, 0);
    double sigma = okra_cv_plus_sum_(z, r);
    for (okra_int f = 0; f < z->count; f++) {
        double length2 = 0;
        for (okra_int j = 0; j < d; j++) {
            double v = moved(z, r, j, f, sigma);
            length2 += v * v;
        }
        for (okra_int k = z->begin[f]; k < z->begin[f + 1]; k++) {
            if (okra_conformal_in_(z->job, z->members[k], group)) {
                const double *e = z->E + z->members[k] * d;
                length[count++] =
                    sqrt(length2) +
                    sqrt(okra_dot_(d, e, e) *
                         okra_cv_plus_ratio_(z, f, k - z->begin[f], spread[f]));
            }
        }
    }
    z->radius[z->block->first + r] =
        okra_conformal_kth_(length, count, okra_conformal_order_(z->alpha, count));
}

static okra_status intervals_body(void *arg, okra_int begin, okra_int end, int worker)
{
    okra_cv_plus_ *z = arg;
    okra_int n = z->solved.n;
    double *low = z->work + worker * 4 * n, *high = low + n, *spread = high + n;
    for (okra_int r = begin; r < end; r++) {
        for (okra_int f = 0; f < z->count; f++) {
            spread[f] = z->block->s[r] +
                        okra_cv_plus_quadratic_(z, f, z->I[f], z->block->U + r * n);
        }
        for (okra_int j = 0; j < z->solved.d; j++) {
            one_interval(z, r, j, spread, low, high);
        }
        if (z->radius) {
            one_radius(z, r, spread, low);
        }
    }
    return OKRA_OK;
}

static okra_status intervals_block(void *user, const okra_bordered_ *b)
{
    okra_cv_plus_ *z = user;
    okra_int n = z->solved.n, d = z->solved.d;
    z->block = b;
    CHK(okra_gemm_(z->job->ctx, false, false, 1, okra_mat_of_(b->U, b->m, n),
                   okra_mat_of_(z->solved.Y, n, d), 0, okra_mat_of_(z->UY, b->m, d)));
    return okra_parallel_(z->job->ctx, b->m, 1, "intervals", intervals_body, z);
}

okra_status okra_conformal_folds_intervals_(const okra_conformal_job_ *job, double alpha,
                                            double *bounds, double *radius)
{
    FREED_BY(okra_cv_plus_release_)
    okra_cv_plus_ z = {.job = job, .alpha = alpha, .bounds = bounds, .radius = radius};
    CHK(okra_cv_plus_prepare_(&z));
    okra_int n = z.solved.n, d = z.solved.d;
    CHK(okra_doubles_(job->ctx, n, d, "the left-out residuals", &z.E));
    CHK(okra_doubles_(job->ctx, OKRA_MIN_(job->tests, 256), d, "predictions", &z.UY));
    CHK(okra_gemm_(job->ctx, false, false, 1, okra_mat_of_(z.A, n, n),
                   okra_mat_of_(z.solved.Y, n, d), 0, okra_mat_of_(z.E, n, d)));
    return okra_solved_walk_(job, &z.solved, intervals_block, &z);
}
