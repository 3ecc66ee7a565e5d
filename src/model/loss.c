/*
 * loss.c: how far the undecoded prediction is from the truth in the output feature space:
 * the blocks of predict.c, fed to the loss of the output kernel (decode/loss.c).
 */
#include "model/model.h"

#include <string.h>

static okra_status check(const okra_data *x, const okra_data *y)
{
    char a[96], b[96];
    if (x->n != y->n) {
        return okra_fail_(OKRA_ESHAPE, "x has %s, y has %s; expected as many of each",
                          okra_data_describe_(x, a, sizeof a),
                          okra_data_describe_(y, b, sizeof b));
    }
    return x->n > 0 ? OKRA_OK : okra_fail_(OKRA_ESHAPE, "there are no test pairs");
}

okra_status okra_model_loss(okra_context *context, const okra_model *model,
                            const okra_data *x, const okra_data *y, double *value,
                            double *each)
{
    NOT_NULL(value);
    okra_status st = OKRA_OK;
    okra_walk_ walk = {0};
    okra_feature_loss_ *loss = NULL;
    okra_data *aligned = NULL;
    double *block = NULL, *losses = NULL, sum = 0, total = 0;
    NEED(model);
    NEED(x);
    NEED(y);
    okra_int width = okra_model_width_(model);
    bool embeds = okra_model_form_(model) == OKRA_FORM_EMBEDDING;
    TRY(check(x, y));
    TRY(okra_data_align(context, y, model->training->y, &aligned));
    y = aligned;
    TRY(okra_feature_loss_create_(context, &model->training->output, y, &loss));
    TRY(okra_walk_open_(context, model, x, width, &walk));
    TRY(okra_doubles_(context, walk.rows, width, "a block of predictions", &block));
    ALLOC(losses, x->n);
    okra_progress_(context, "loss", 0, x->n);
    for (okra_int first = 0; first < x->n; first += walk.rows) {
        okra_int m = OKRA_MIN_(walk.rows, x->n - first);
        okra_mat_ out = okra_mat_of_(block, m, width), none = {0};
        okra_block_ b = {first, m, embeds ? none : out, embeds ? out : none, none};
        TRY(okra_cancelled_(context));
        TRY(okra_walk_predict_(context, &walk, first, out));
        TRY(okra_feature_loss_block_(context, loss, &b, losses + first));
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
done:
    okra_data_free(aligned);
    okra_walk_close_(&walk);
    okra_feature_loss_free_(loss);
    okra_free_(block);
    okra_free_(losses);
    return st;
}
