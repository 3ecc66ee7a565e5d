/*
 * fixed_point.c: pre-images under an RBF output kernel by fixed-point iteration (Mika et
 * al. 1999; Schoelkopf et al. 1999, eq. 10):
 *
 *     y <- sum_i w_i l(y_i,y) y_i / sum_i w_i l(y_i,y)
 *
 * A stationary point of the distance is a fixed point. With negative weights the step may
 * leave for nowhere: it stops when the distance no longer falls, and the best point tried
 * is kept (points.c). No step size, a linear rate.
 */
#include "decode/vectors/points.h"

#include "kernel/expression/expr.h"

static void improve(okra_point_ *p, double *y)
{
    okra_int n = p->y->n, d = p->y->d;
    double value = okra_point_at_(p, y);
    for (okra_int step = 0; step < p->steps; step++) {
        double sum = 0, size = 0;
        okra_fill_(d, 0, y);
        for (okra_int i = 0; i < n; i++) {
            double v = p->w[i] * p->values[i];
            const double *row = p->y->values + i * p->y->ld;
            sum += v;
            size += fabs(v);
            okra_axpy_(d, v, row, y);
        }
        if (!(fabs(sum) > 1e-12 * size)) {
            return;
        }
        okra_scale_down_(d, sum, y);
        okra_point_clip_(p, y);
        double next = okra_point_at_(p, y);
        if (!(next < value - 1e-14 * fabs(value))) {
            return;
        }
        value = next;
    }
}

/* An RBF of dense vectors, times a constant or not. */
static bool is_rbf(const okra_output_ *output)
{
    double scale;
    const okra_node_ *node = okra_kernel_core_(output->kernel, &scale, NULL);
    const okra_node_ *leaf =
        node->kind == OKRA_NODE_TRANSFORM_ ? &output->kernel->nodes[node->a] : NULL;
    return okra_data_kind(output->y) == OKRA_DENSE && leaf &&
           node->transform == &okra_rbf_ && leaf->kind == OKRA_NODE_LEAF_ &&
           (leaf->leaf == &okra_linear_ || leaf->leaf == okra_linear_.distances);
}

static okra_status open(okra_context *ctx, void *state, const okra_output_ *output,
                        const void *options, const okra_decode_request_ *request)
{
    REFUSE_IF(!is_rbf(output), OKRA_EUNSUPPORTED,
              "decoder fixed-point needs an RBF output kernel on dense vectors; decoder "
              "gradient takes other smooth kernels");
    return okra_points_open_(ctx, state, "fixed-point", output, options, request,
                             improve);
}

const okra_decoder_ okra_decoder_fixed_point_ = {
    .name = "fixed-point",
    .help = "new vectors under an RBF output kernel, by fixed-point iteration",
    .options = {"decoder fixed-point", okra_points_rows_, sizeof(okra_points_options_)},
    .state = sizeof(okra_points_),
    .open = open,
    .block = okra_points_block_,
    .finish = okra_points_finish_,
    .clear = okra_points_clear_,
};
