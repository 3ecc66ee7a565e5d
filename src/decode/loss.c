/*
 * loss.c: the loss of predictions in the output feature space, without decoding.
 *
 *     |phi(y) - h(x)|^2 = l(y,y) - 2 sum_i w_i l(y_i,y) + w'Lw
 * and under a linear kernel scale * |y - h|^2, summed coordinate by coordinate without
 * cancellation, over the known values of the truth. The implicit form loses about eps *
 * (l(y,y) + w'Lw) to cancellation and is clamped at 0. Cost: m n^2 for w'Lw of m
 * predictions.
 */
#include "decode/decode.h"

struct okra_feature_loss_ {
    const okra_output_ *output;
    const okra_data *truth;
    okra_int tests;
    okra_test_side_ *other; /* implicit: the truth seen through the output kernel */
    double *self;           /* implicit: l(y,y)                                   */
    okra_panels_ *panels; /* implicit: of the training outputs; low rank: of the truth */
};

void okra_feature_loss_free_(okra_feature_loss_ *loss)
{
    if (loss) {
        okra_panels_free_(loss->panels);
        okra_free_(loss->self);
        okra_test_side_free_(loss->other);
        okra_free_(loss);
    }
}

okra_status okra_feature_loss_create_(okra_context *ctx, const okra_output_ *output,
                                      const okra_data *truth, okra_feature_loss_ **out)
{
    FREED_BY(okra_feature_loss_drop_) okra_feature_loss_ *l = NULL;
    bool rows = output->features && okra_data_kind(truth) == OKRA_DENSE &&
                okra_data_width(truth) == output->d; /* some values may be missing */
    CHK(rows ? OKRA_OK : okra_decode_check_kind_(output, truth, "the true outputs are"));
    ZMAKE(l, 1);
    l->output = output;
    l->truth = truth;
    l->tests = okra_data_count(truth);
    if (output->map) {
        CHK(okra_panels_create_(ctx, output, truth, &l->panels));
    } else if (!output->features) {
        CHK(okra_test_side_create_(ctx, output->ky, truth, &l->other));
        MAKE(l->self, l->tests);
        CHK(okra_test_side_diagonal_(ctx, output->ky, l->other, l->self));
        CHK(okra_panels_create_(ctx, output, NULL, &l->panels));
    }
    *out = TAKE(l);
    return OKRA_OK;
}

static okra_status explicit_losses(okra_context *ctx, const okra_feature_loss_ *loss,
                                   const okra_block_ *block, double *each)
{
    OWNED double *H = NULL;
    okra_int d = loss->output->d, ld = 0;
    const double *y = okra_data_values(loss->truth, &ld);
    CHK(okra_doubles_(ctx, block->m, d, "explicit predictions", &H));
    CHK(okra_block_explicit_(ctx, loss->output, block, okra_mat_of_(H, block->m, d)));
    for (okra_int r = 0; r < block->m; r++) {
        double sum = 0;
        for (okra_int j = 0; j < d; j++) {
            double known = y[(block->first + r) * ld + j], e = H[r * d + j] - known;
            sum += isnan(known) ? 0 : e * e; /* missing */
        }
        each[r] = loss->output->feature_scale * sum;
    }
    return OKRA_OK;
}

static okra_status implicit_losses(okra_context *ctx, const okra_feature_loss_ *loss,
                                   const okra_block_ *block, double *each)
{
    OWNED double *C = NULL;
    okra_mat_ W = block->W;
    REFUSE_IF(!W.p, OKRA_EUNSUPPORTED,
              "this model predicts embeddings that its output kernel does not measure: "
              "decode them, and score the objects");
    CHK(okra_doubles_(ctx, block->m, W.cols, "the output kernel of test pairs", &C));
    CHK(okra_test_side_cross_(ctx, loss->output->ky, loss->other, block->first,
                              okra_mat_of_(C, block->m, W.cols)));
    CHK(okra_panels_norms_(ctx, loss->panels, block->m < loss->tests, W, each));
    for (okra_int r = 0; r < block->m; r++) {
        double inner = okra_dot_(W.cols, W.p + r * W.ld, C + r * W.cols);
        double squared = loss->self[block->first + r] - 2 * inner + each[r];
        each[r] = squared < 0 ? 0 : squared; /* a NaN stays one */
    }
    return OKRA_OK;
}

/* Low rank: l(y,y) - 2 <u(y), F^-T h> + |h|^2, panel by panel of the truth. */
static okra_status mapped_losses(okra_context *ctx, const okra_feature_loss_ *loss,
                                 const okra_block_ *block, double *each)
{
    const double *self = okra_panels_self_(loss->panels);
    okra_mat_ P = {0};
    okra_int panel = -1;
    OWNED double *points = NULL;
    REFUSE_IF(!block->H.p, OKRA_EINTERNAL, "weights under an output kernel of low rank");
    CHK(okra_panels_points_(ctx, loss->panels, block->H, each, &points));
    for (okra_int r = 0; r < block->m; r++) {
        okra_int i = block->first + r;
        const double *h = points + r * block->H.cols;
        if (i / OKRA_PANEL_ != panel) {
            panel = i / OKRA_PANEL_;
            CHK(okra_panels_get_(ctx, loss->panels, panel, false, &P));
        }
        double squared = self[i] + each[r];
        for (okra_int j = 0; j < P.rows; j++) {
            squared -= 2 * h[j] * P.p[j * P.ld + i % OKRA_PANEL_];
        }
        each[r] = squared < 0 ? 0 : squared; /* a NaN stays one */
    }
    return OKRA_OK;
}

okra_status okra_feature_loss_block_(okra_context *ctx, okra_feature_loss_ *loss,
                                     const okra_block_ *block, double *each)
{
    return loss->output->map        ? mapped_losses(ctx, loss, block, each)
           : loss->output->features ? explicit_losses(ctx, loss, block, each)
                                    : implicit_losses(ctx, loss, block, each);
}
