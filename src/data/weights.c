/*
 * weights.c: how much each object of a collection counts.
 *
 * A weight of 2 stands for the object twice, a weight of 0 for no such object. Weights go
 * along wherever objects are chosen (okra_data_take), copied or put together, so that a
 * part of a training set has the weights of its own.
 */
#include "data/data.h"
#include "okra/more/objects.h"

static okra_status check(const okra_data *data, const double *weights, okra_int n)
{
    double total = 0;
    REFUSE_IF(n != data->n, OKRA_ESHAPE,
              "there are %" PRId64 " weights and %" PRId64
              " objects in %s; expected as many of each",
              n, data->n, data->source);
    for (okra_int i = 0; i < n; i++) {
        REFUSE_IF(!(weights[i] >= 0) || !isfinite(weights[i]), OKRA_EARG,
                  "weight %" PRId64 " (counted from 0) is %g, expected a "
                  "number of 0 or more",
                  i, weights[i]);
        total += weights[i];
    }
    REFUSE_IF(!(total > 0) || !isfinite(total), OKRA_EARG,
              "the weights of %s sum to %g, expected more than 0", data->source, total);
    return OKRA_OK;
}

/* The parts of a tuple count as the tuple does, the members of a bag once each. */
static okra_status weigh_parts(okra_data *to, const double *weights, okra_int n)
{
    if (to->component_count > 0) {
        ZMAKE(to->components, to->component_count);
    }
    bool bags = to->kind == OKRA_BAGS;
    for (int k = 0; k < to->component_count; k++) {
        CHK(okra_data_weigh(to->of->components[k], bags ? NULL : weights, n,
                            &to->components[k]));
    }
    return OKRA_OK;
}

okra_status okra_data_weigh(const okra_data *data, const double *weights, okra_int n,
                            okra_data **out)
{
    FREED_BY(okra_data_drop_) okra_data *to = NULL;
    NOT_NULL(data, out);
    ZMAKE(to, 1);
    *to = *data; /* the same objects, looked at through `of` */
    to->references = 1;
    to->of = okra_data_retain(data->of ? data->of : data);
    to->weights = NULL;
    to->rows = NULL;
    to->components = NULL;
    GOT(to->source = okra_strdup_(data->source));
    if (weights) {
        CHK(check(data, weights, n));
        MAKE(to->weights, n);
        memcpy(to->weights, weights, (size_t)n * sizeof *weights);
    }
    CHK(weigh_parts(to, weights, n));
    *out = TAKE(to);
    return OKRA_OK;
}

const double *okra_data_weights(const okra_data *data)
{
    return data ? data->weights : NULL;
}

okra_status okra_data_balanced(const okra_data *labels, double *weights)
{
    OWNED double *in_class = NULL;
    okra_int classes = 0;
    NOT_NULL(labels, weights);
    if (labels->kind != OKRA_LABELS) {
        char text[96];
        return okra_fail_(OKRA_EUNSUPPORTED,
                          "classes are balanced where the outputs are labels; %s has %s",
                          labels->source, okra_data_describe_(labels, text, sizeof text));
    }
    ZMAKE(in_class, labels->d);
    for (okra_int i = 0; i < labels->n; i++) {
        double weight = labels->weights ? labels->weights[i] : 1;
        classes += in_class[labels->codes[i]] == 0 && weight > 0;
        in_class[labels->codes[i]] += weight;
    }
    double total = okra_weights_total_(labels);
    for (okra_int i = 0; i < labels->n; i++) {
        double of = in_class[labels->codes[i]];
        weights[i] = of > 0 ? total / ((double)classes * of) : 0;
    }
    return OKRA_OK;
}

/* ---- inside ---- */

okra_status okra_weights_take_(const okra_data *const *from, okra_int parts,
                               const okra_int *index, okra_int count, okra_data *to)
{
    bool any = false;
    okra_int at = 0;
    for (okra_int p = 0; p < parts; p++) {
        any = any || from[p]->weights;
    }
    if (any) {
        MAKE(to->weights, count);
    }
    for (okra_int p = 0; any && p < parts; p++) {
        for (okra_int k = 0; k < (index ? count : from[p]->n); k++) {
            to->weights[at++] = okra_weight_(from[p], index ? index[k] : k);
        }
    }
    return OKRA_OK;
}

double okra_weighted_mean_(okra_int n, const double *each, const double *weights)
{
    double sum = 0, total = 0;
    for (okra_int i = 0; i < n; i++) {
        double w = weights ? weights[i] : 1;
        sum += w * each[i];
        total += w;
    }
    return sum / total;
}

double okra_weights_total_(const okra_data *data)
{
    double total = data->weights ? 0 : (double)data->n;
    for (okra_int i = 0; data->weights && i < data->n; i++) {
        total += data->weights[i];
    }
    return total;
}

void okra_weights_forget_(okra_data *fresh)
{
    okra_free_(fresh->weights);
    fresh->weights = NULL;
    for (int k = 0; k < fresh->component_count; k++) {
        okra_weights_forget_(fresh->components[k]);
    }
}

bool okra_weights_plain_(const okra_data *data)
{
    for (okra_int i = 0; data->weights && i < data->n; i++) {
        if (data->weights[i] != 1) {
            return false;
        }
    }
    return true;
}

bool okra_data_holds_gram_(const okra_data *data)
{
    bool gram = data->kind == OKRA_GRAM;
    for (int k = 0; k < data->component_count; k++) {
        gram = gram || okra_data_holds_gram_(data->components[k]);
    }
    return gram;
}

okra_status okra_weights_positive_(const okra_data *y, okra_int n, okra_int **out,
                                   okra_int *count)
{
    okra_int *index = NULL, kept = 0;
    MAKE(index, n);
    for (okra_int i = 0; i < n; i++) {
        if (i >= y->n || !y->weights || y->weights[i] > 0) {
            index[kept++] = i;
        }
    }
    *out = index;
    *count = kept;
    return OKRA_OK;
}

/* The same objects without weights. */
static okra_status without(okra_data **data)
{
    okra_data *bare = NULL;
    if ((*data)->weights) {
        CHK(okra_data_weigh(*data, NULL, 0, &bare));
        okra_data_free(*data);
        *data = bare;
    }
    return OKRA_OK;
}

okra_status okra_weights_pass_(const okra_data *y, okra_data **x)
{
    OWNED double *weights = NULL;
    okra_int n = (*x)->n;
    okra_data *heavy = NULL;
    if (!y->weights || n == 0) {
        return without(x);
    }
    MAKE(weights, n);
    for (okra_int i = 0; i < n; i++) {
        weights[i] = i < y->n ? y->weights[i] : 1;
    }
    CHK(okra_data_weigh(*x, weights, n, &heavy));
    okra_data_free(*x);
    *x = heavy;
    return OKRA_OK;
}

okra_status okra_weights_drop_(const okra_data *x, const okra_data *y, okra_data **x_out,
                               okra_data **y_out)
{
    FREED_BY(okra_data_drop_) okra_data *a = NULL, *b = NULL;
    OWNED okra_int *index = NULL;
    okra_int count = 0, n = y->n;
    if (!y->weights) {
        *x_out = okra_data_retain(x);
        *y_out = okra_data_retain(y);
        return OKRA_OK;
    }
    CHK(okra_weights_positive_(y, OKRA_MAX_(x->n, n), &index, &count));
    okra_int zeros = OKRA_MAX_(x->n, n) - count;
    REFUSE_IF(zeros > 0 && x->n < n, OKRA_ESHAPE,
              "there are %" PRId64 " inputs and %" PRId64 " outputs", x->n, n);
    REFUSE_IF(zeros > 0 && (okra_data_holds_gram_(x) || okra_data_holds_gram_(y)),
              OKRA_EUNSUPPORTED,
              "%" PRId64 " weights are 0, and %s is a Gram matrix: take these rows and "
              "columns out of it, now and when predicting",
              zeros, okra_data_holds_gram_(x) ? "x" : "y");
    if (zeros > 0) {
        CHK(okra_data_take(x, index, count, &a));
        CHK(okra_data_take(y, index, n - zeros, &b));
    } else {
        a = okra_data_retain(x);
        b = okra_data_retain(y);
    }
    if (okra_weights_plain_(b)) {
        CHK(without(&b));
    }
    CHK(okra_weights_pass_(b, &a));
    *x_out = a;
    *y_out = b;
    a = b = NULL;
    return OKRA_OK;
}
