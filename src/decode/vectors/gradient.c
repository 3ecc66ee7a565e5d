/*
 * gradient.c: pre-images under any smooth kernel of dense vectors, by L-BFGS (Nocedal
 * 1980; libLBFGS) on the exact distance in feature space, which points.c defines.
 *
 * A box is kept by the projection c(z): L-BFGS sees z -> D(c(z)) with the gradient of D
 * where z is inside and 0 where it is outside and would go farther out. That function has
 * kinks, at which L-BFGS may stop early; projected gradient steps with halving then go on
 * until none lowers D. The best point tried is kept in either case.
 */
#include "decode/vectors/points.h"

#include <lbfgs.h>

static double evaluate(void *arg, const double *z, double *gradient, int d, double step)
{
    okra_point_ *p = arg;
    double *y = p->scratch;
    (void)step;
    memcpy(y, z, (size_t)d * sizeof *y);
    okra_point_clip_(p, y);
    double value = okra_point_at_(p, y);
    okra_point_gradient_(p, gradient);
    for (okra_int j = 0; p->lo && j < d; j++) {
        if ((z[j] <= p->lo[j] && gradient[j] > 0) ||
            (z[j] >= p->hi[j] && gradient[j] < 0)) {
            gradient[j] = 0;
        }
    }
    return value;
}

/* Steps y <- c(y - t gradient), t halved until D falls. */
static void project(okra_point_ *p, double *y)
{
    okra_int d = p->y->d;
    double *next = p->scratch, *gradient = next + OKRA_POINT_PAD_(d), t = 1;
    double value = okra_point_at_(p, y);
    for (okra_int step = 0; step < p->steps && t > 1e-12; step++) {
        okra_point_gradient_(p, gradient);
        double tried = value; /* y is the last point accepted, and was evaluated last */
        for (t *= 4; t > 1e-12; t /= 2) {
            for (okra_int j = 0; j < d; j++) {
                next[j] = y[j] - t * gradient[j];
            }
            okra_point_clip_(p, next);
            tried = okra_point_at_(p, next);
            if (tried < value - 1e-14 * fabs(value)) {
                break;
            }
        }
        if (!(tried < value)) {
            return;
        }
        memcpy(y, next, (size_t)d * sizeof *y);
        value = tried;
    }
}

static void improve(okra_point_ *p, double *y)
{
    lbfgs_parameter_t parameters;
    okra_int d = p->y->d, padded = OKRA_POINT_PAD_(d);
    double value, *z = p->scratch + 2 * padded;
    lbfgs_parameter_init(&parameters);
    parameters.max_iterations = (int)p->steps;
    parameters.epsilon = 1e-9;
    okra_point_at_(p, y); /* the start counts even if the first step fails */
    memcpy(z, y, (size_t)d * sizeof *z);
    (void)lbfgs((int)d, z, &value, evaluate, NULL, p, &parameters);
    if (p->lo) {
        memcpy(y, p->best, (size_t)d * sizeof *y);
        project(p, y);
    }
}

static okra_status open(okra_context *ctx, void *state, const okra_output_ *output,
                        const void *options, const okra_decode_request_ *request)
{
    return okra_points_open_(ctx, state, "gradient", output, options, request, improve);
}

const okra_decoder_ okra_decoder_gradient_ = {
    .name = "gradient",
    .help = "new vectors under any smooth output kernel, by L-BFGS",
    .options = {"decoder gradient", okra_points_rows_, sizeof(okra_points_options_)},
    .state = sizeof(okra_points_),
    .open = open,
    .block = okra_points_block_,
    .finish = okra_points_finish_,
    .clear = okra_points_clear_,
};
