/*
 * loss.c: how far the undecoded prediction is from the truth in the output feature space:
 * the blocks of predict.c, fed to the loss of the output kernel (decode/loss.c).
 */
#include "model/model.h"

#include <string.h>

static okra_status check(const okra_data *x, const okra_data *y)
{
    char a[96], b[96];
    REFUSE_IF(x->n != y->n, OKRA_ESHAPE, "x has %s, y has %s; expected as many of each",
              okra_data_describe_(x, a, sizeof a), okra_data_describe_(y, b, sizeof b));
    return x->n > 0 ? OKRA_OK : okra_fail_(OKRA_ESHAPE, "there are no test pairs");
}

okra_status okra_model_loss(okra_context *context, const okra_model *model,
                            const okra_data *x, const okra_data *y, double *value,
                            double *each)
{
    NOT_NULL(value);
    FREED_BY(okra_walk_close_) okra_walk_ walk = {0};
    FREED_BY(okra_feature_loss_drop_) okra_feature_loss_ *loss = NULL;
    FREED_BY(okra_data_drop_) okra_data *aligned = NULL;
    OWNED double *block = NULL, *losses = NULL;
    double sum = 0, total = 0;
    NOT_NULL(model);
    NOT_NULL(x);
    NOT_NULL(y);
    okra_int width = okra_model_width_(model);
    bool embeds = okra_model_form_(model) == OKRA_FORM_EMBEDDING;
    CHK(check(x, y));
    CHK(okra_data_align(context, y, model->training->y, &aligned));
    y = aligned;
    CHK(okra_feature_loss_create_(context, &model->training->output, y, &loss));
    CHK(okra_walk_open_(context, model, x, width, &walk));
    CHK(okra_doubles_(context, walk.rows, width, "a block of predictions", &block));
    MAKE(losses, x->n);
    okra_progress_(context, "loss", 0, x->n);
    for (okra_int first = 0; first < x->n; first += walk.rows) {
        okra_int m = OKRA_MIN_(walk.rows, x->n - first);
        okra_mat_ out = okra_mat_of_(block, m, width), none = {0};
        okra_block_ b = {first, m, embeds ? none : out, embeds ? out : none, none};
        CHK(okra_cancelled_(context));
        CHK(okra_walk_predict_(context, &walk, first, out));
        CHK(okra_feature_loss_block_(context, loss, &b, losses + first));
        okra_progress_(context, "loss", first + m, x->n);
    }
    for (okra_int i = 0; i < x->n; i++) {
        double w = y->weights ? y->weights[i] : 1;
        sum += w * losses[i];
        total += w;
    }
    *value = sum / total;
    if (each) {
        memcpy(each, losses, (size_t)x->n * sizeof *each);
    }
    return OKRA_OK;
}
