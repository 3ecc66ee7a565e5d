/*
 * loss.c: how far the undecoded prediction is from the truth in the output feature space:
 * the blocks of predict.c, fed to the loss of the output kernel (decode/loss.c).
 */
#include "model/model.h"
#include "okra/more/leave.h"
#include "okra/more/objects.h"

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
    NOT_NULL(model, x, y, value);
    FREED_BY(okra_batches_close_) okra_batches_ walk = {0};
    FREED_BY(okra_feature_loss_drop_) okra_feature_loss_ *loss = NULL;
    FREED_BY(okra_data_drop_) okra_data *aligned = NULL;
    OWNED double *block = NULL, *losses = NULL;
    okra_int width = okra_model_width_(model);
    bool embeds = okra_model_form_(model) == OKRA_FORM_EMBEDDING;
    CHK(check(x, y));
    CHK(okra_data_align(context, y, model->training->y, &aligned));
    y = aligned;
    CHK(okra_feature_loss_create_(context, &model->training->output, y, &loss));
    CHK(okra_batches_open_(context, model, x, width, &walk));
    CHK(okra_doubles_(context, walk.rows, width, "a block of predictions", &block));
    MAKE(losses, x->n);
    okra_progress_(context, "loss", 0, x->n);
    for (okra_int first = 0; first < x->n; first += walk.rows) {
        okra_int m = OKRA_MIN_(walk.rows, x->n - first);
        okra_mat_ out = okra_mat_of_(block, m, width), none = {0};
        okra_block_ b = {first, m, embeds ? none : out, embeds ? out : none, none};
        CHK(okra_cancelled_(context));
        CHK(okra_batches_predict_(context, &walk, first, out));
        CHK(okra_feature_loss_block_(context, loss, &b, losses + first));
        okra_progress_(context, "loss", first + m, x->n);
    }
    *value = okra_weighted_mean_(x->n, losses, y->weights);
    if (each) {
        memcpy(each, losses, (size_t)x->n * sizeof *each);
    }
    return OKRA_OK;
}

/* ---- left-out pairs
 *
 * Each training input is predicted by the model that has not seen it, in closed form (see
 * the method's own file), judged and decoded. The left-out output itself is no candidate:
 * one candidate more than wanted is kept, and the own one is dropped.
 * ---- */

typedef struct sink {
    const okra_training_ *t;
    okra_prediction *p;
    double *losses; /* n, or NULL */
} sink;

/* Keeps the nearest candidate that is not the output i itself. */
static okra_status drop_own(const okra_data *y, okra_decoded_ *two, okra_decoded_ *out)
{
    okra_int n = y->n;
    MAKE(out->index, n);
    MAKE(out->distance, n);
    for (okra_int i = 0; i < n; i++) {
        okra_int k = two->index[i * two->top] == i;
        out->index[i] = two->index[i * two->top + k];
        out->distance[i] = two->distance[i * two->top + k];
        REFUSE_IF(out->index[i] < 0, OKRA_EUNSUPPORTED,
                  "no output but the left-out one can be decoded to");
    }
    out->top = 1;
    return okra_data_take(y, out->index, n, &out->objects);
}

static okra_status decode(okra_context *ctx, const sink *s, const okra_block_ *block)
{
    okra_decode_request_ request = {.tests = block->m, .top = 2};
    FREED_BY(okra_decoded_clear_) okra_decoded_ two = {0};
    CHK(okra_decode_block_(ctx, okra_decoder_default_(false, false), &s->t->output, NULL,
                           &request, block, &two));
    return drop_own(s->t->y, &two, &s->p->decoded);
}

static okra_status keep(okra_mat_ from, double **to)
{
    MAKE(*to, from.rows * from.cols);
    return okra_mat_copy_(from, okra_mat_of_(*to, from.rows, from.cols));
}

static okra_status take(okra_context *ctx, void *user, const okra_left_ *left)
{
    sink *s = user;
    FREED_BY(okra_feature_loss_drop_) okra_feature_loss_ *loss = NULL;
    okra_block_ block = {.m = s->t->y->n, .W = left->W, .H = left->H};
    if (left->W.p) {
        CHK(keep(left->W, &s->p->weights));
    } else {
        CHK(keep(left->H, &s->p->embedding));
        s->p->d = left->H.cols;
    }
    if (s->losses) {
        CHK(okra_feature_loss_create_(ctx, &s->t->output, s->t->y, &loss));
        CHK(okra_feature_loss_block_(ctx, loss, &block, s->losses));
    }
    return decode(ctx, s, &block);
}

okra_status okra_model_leave(okra_context *context, const okra_model *model,
                             const okra_options *options, double *losses,
                             okra_prediction **out)
{
    NOT_NULL(model, out);
    const okra_training_ *t = model->training;
    FREED_BY(okra_prediction_drop_) okra_prediction *p = NULL;
    FREED_BY(okra_options_drop_) okra_options *own = NULL;
    const char *file = NULL;
    okra_solution_ fitted;
    okra_model_solution_(model, &fitted);
    REFUSE_IF(!model->method->leave || fitted.lambda < 0 || !t->bound_x || !t->bound_y ||
                  okra_model_low_(model) || t->x->n < t->y->n,
              OKRA_EUNSUPPORTED,
              "this model (method %s) has no closed form of leave-one-out",
              model->method->name);
    REFUSE_IF(okra_kernel_means_(t->kx) || okra_kernel_means_(t->ky), OKRA_EUNSUPPORTED,
              "leaving one out has no closed form: a kernel depends on the whole "
              "training set (`| center`)");
    REFUSE_IF(t->y->n < 2, OKRA_ESHAPE,
              "leaving one out needs two training pairs, there is one");
    if (options) {
        CHK(okra_model_check_options_(model, options));
    } else {
        CHK(okra_model_options_(model, &own, &file));
        REFUSE_IF(file, OKRA_EUNSUPPORTED, "option %s of the model names a file", file);
        options = own;
    }
    okra_problem_ problem = okra_training_problem_(t, t->x, NULL);
    okra_parts_ parts = {t->y->n, NULL};
    ZMAKE(p, 1);
    p->tests = p->n = t->y->n;
    sink s = {t, p, losses};
    CHK(model->method->leave(context, &problem, options, &fitted.lambda, 1, &parts,
                             t->output.features != NULL, take, &s));
    *out = TAKE(p);
    return OKRA_OK;
}
