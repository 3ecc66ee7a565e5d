/*
 * pair_loss.c: a metric of pairs as a loss between any object and all training outputs.
 *
 * kernel-loss is a squared distance of the Gram engine. A metric of sets of labels comes
 * from a table of what two sets share (sets/counts.c), so that thousands of labels stay
 * sparse; any other metric is scored, an object against all training outputs at a time.
 */
#include "decode/sets/counts.h"
#include "metric/metric.h"

void okra_pair_loss_free_(okra_pair_loss_ *d)
{
    if (d) {
        FREE(d->self, d->train_self);
        okra_test_side_free_(d->other);
        okra_trained_kernel_free_(d->bound);
        okra_kernel_free(d->kernel);
        okra_counts_free_(d->counts);
        FREE(d->spec, d);
    }
}

okra_shape_ okra_pair_loss_shape_(const okra_pair_loss_ *d, double *power)
{
    const okra_metric_ *metric = okra_metric_find_(d->spec);
    *power = metric->power;
    return metric->shape;
}

/* ---- pairs ---- */

okra_status okra_pair_loss_each_(const okra_pair_loss_ *d, const okra_data *truth,
                                 const okra_data *objects, double *each)
{
    double value;
    bool pairs = false;
    CHK(okra_score(NULL, d->spec, truth, objects, &value, each, &pairs));
    REFUSE_IF(!pairs, OKRA_EUNSUPPORTED,
              "decoder loss: metric %s is one number for many objects; a loss of each "
              "pair is needed",
              d->spec);
    for (okra_int i = 0; d->gain && i < truth->n; i++) {
        each[i] = -each[i];
    }
    return OKRA_OK;
}

/* each[i] = D(object c, y_i) for all training outputs. */
static okra_status one_object(const okra_pair_loss_ *d, okra_int c, double *each)
{
    OWNED okra_int *index = NULL;
    okra_int n = d->output->y->n;
    FREED_BY(okra_data_drop_) okra_data *copies = NULL;
    MAKE(index, n);
    for (okra_int i = 0; i < n; i++) {
        index[i] = c;
    }
    CHK(okra_data_take(d->set, index, n, &copies));
    return okra_pair_loss_each_(d, d->output->y, copies, each);
}

typedef struct filling {
    const okra_pair_loss_ *d;
    okra_int first;
    okra_mat_ D;
} filling;

/* Sets by counts, but for those that are larger than the table knows. */
static okra_status some_objects(void *arg, okra_int begin, okra_int end, int worker)
{
    const filling *f = arg;
    const okra_counts_ *counts = f->d->counts;
    OWNED int32_t *members = NULL, *c = NULL;
    MAKE(members, counts ? f->d->set->d + 1 : 1);
    MAKE(c, counts ? counts->groups : 1);
    for (okra_int i = begin; i < end; i++) {
        double *each = f->D.p + i * f->D.ld;
        okra_int size = counts ? okra_sets_members_(f->d->set, f->first + i, members) : 0;
        if (counts && size <= counts->most) {
            okra_counts_losses_(counts, members, size, c, each);
        } else {
            CHK(one_object(f->d, f->first + i, each));
        }
    }
    return OKRA_OK;
}

/* The table of sets, once; none where these objects or the outputs are no sets. */
static okra_status seek_counts(okra_context *ctx, okra_pair_loss_ *d,
                               const okra_data *set)
{
    bool sets = okra_sets_check_(d->output->y, "") == OKRA_OK &&
                okra_sets_check_(set, "") == OKRA_OK;
    if (sets && !d->sought) { /* a metric that knows no sparse vectors is scored */
        okra_status st = okra_counts_create_(ctx, d->output, d, true, 1, &d->counts);
        if (st == OKRA_EMEM || st == OKRA_ECANCELLED) {
            return st;
        }
    }
    if (!sets) {
        okra_counts_free_(d->counts);
        d->counts = NULL;
    }
    d->sought = sets;
    return OKRA_OK;
}

okra_status okra_pair_loss_pairs_(okra_context *ctx, const okra_pair_loss_ *d,
                                  okra_int first, okra_mat_ D)
{
    filling f = {d, first, D};
    if (!d->bound) {
        return okra_parallel_(ctx, D.rows, 1, NULL, some_objects, &f);
    }
    CHK(okra_test_side_cross_(ctx, d->bound, d->other, first, D));
    for (okra_int i = 0; i < D.rows * D.cols; i++) {
        okra_int c = i / D.cols, j = i % D.cols;
        D.p[i] = d->self[first + c] - 2 * D.p[i] + d->train_self[j];
    }
    return OKRA_OK;
}

okra_status okra_pair_loss_bind_(okra_context *ctx, okra_pair_loss_ *d,
                                 const okra_data *set)
{
    if (set && d->set == set) {
        return OKRA_OK;
    }
    okra_test_side_free_(d->other);
    okra_free_(d->self);
    d->other = NULL;
    d->self = NULL;
    d->set = NULL;
    if (!d->bound || !set) {
        CHK(set ? seek_counts(ctx, d, set) : OKRA_OK);
        d->set = set;
        return OKRA_OK;
    }
    CHK(okra_test_side_create_(ctx, d->bound, set, &d->other));
    MAKE(d->self, set->n);
    CHK(okra_test_side_diagonal_(ctx, d->bound, d->other, d->self));
    d->set = set;
    return OKRA_OK;
}

/* ---- create ---- */

/* f1 of a pair is its mean over examples: `pair` of the metric. */
static okra_status read_spec(const char *argument, okra_pair_loss_ *d)
{
    char text[512];
    bool loss = false;
    REFUSE_IF(!argument || !*argument, OKRA_EARG,
              "decoder loss: expected loss:METRIC, as in loss:f1, loss:hamming, "
              "loss:edit or loss:kernel-loss:kernel=tanimoto");
    const okra_metric_ *metric = okra_metric_find_(argument);
    const char *more = metric && metric->pair ? metric->pair : "";
    snprintf(text, sizeof text, "%.*s", (int)strcspn(more, "=") + 1, more);
    more = strstr(argument, text) ? "" : more; /* it is given, or there is none */
    int length = snprintf(text, sizeof text, "%s%s%s", argument,
                          !*more                  ? ""
                          : strchr(argument, ':') ? ","
                                                  : ":",
                          more);
    REFUSE_IF(length < 0 || (size_t)length >= sizeof text, OKRA_EARG,
              "decoder loss: the metric has more than %d characters",
              (int)sizeof text - 20);
    CHK(okra_metric_is_loss(text, &loss));
    d->gain = !loss;
    d->spec = okra_strndup_(text, (size_t)length);
    return d->spec ? OKRA_OK : OKRA_EMEM;
}

static okra_status open_kernel(okra_context *ctx, okra_pair_loss_ *d)
{
    CHK(okra_metric_kernel_(d->spec, &d->kernel));
    if (!d->kernel) {
        return OKRA_OK;
    }
    REFUSE_IF(
        okra_kernel_centers_(d->kernel), OKRA_EARG,
        "decoder loss: kernel %s depends on more than two objects; expected one of pairs",
        okra_kernel_text(d->kernel));
    CHK(okra_trained_kernel_create_(ctx, d->kernel, d->output->y, &d->bound));
    MAKE(d->train_self, d->output->y->n);
    return okra_trained_kernel_diagonal_(ctx, d->bound, d->train_self);
}

okra_status okra_pair_loss_create_(okra_context *ctx, const okra_output_ *output,
                                   const char *argument, okra_pair_loss_ **out)
{
    FREED_BY(okra_pair_loss_drop_) okra_pair_loss_ *d = NULL;
    ZMAKE(d, 1);
    d->output = output;
    CHK(read_spec(argument, d));
    CHK(open_kernel(ctx, d));
    *out = TAKE(d);
    return OKRA_OK;
}
