/*
 * ranked.c: p-values of distances that somebody measured already, as a ranking of an
 * index does.
 *
 * The p-value of a candidate is the share of pairs whose output is at least as far from
 * its own prediction, the candidate itself included. Pairs that the fit has not seen make
 * it that of split conformal prediction. The training pairs, each predicted without
 * itself, make it that of the jackknife, which promises nothing exact: a model of all
 * pairs is a little better than those without one.
 */
#include "conformal/conformal.h"

#include <stdlib.h>

/* How many of the sorted scores are at least d, to rounding. */
static okra_int at_least(const double *sorted, okra_int n, double d)
{
    okra_int low = 0, high = n;
    while (low < high) {
        okra_int middle = low + (high - low) / 2;
        if (okra_conformal_least_(sorted[middle], d)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return n - low;
}

okra_status okra_conformal_distances(okra_context *context, const okra_model *model,
                                     bool training, const double *distance,
                                     okra_int count, double *p, okra_int *pairs)
{
    OWNED double *score = NULL;
    double mean = 0;
    FREED_BY(okra_prediction_drop_) okra_prediction *left = NULL;
    const okra_data *x = NULL, *y = NULL;
    NOT_NULL(model);
    NOT_NULL(distance);
    NOT_NULL(p);
    okra_int n =
        training ? okra_model_count(model) : okra_model_calibration(model, &x, &y);
    REFUSE_IF(n < 1, OKRA_EARG, "the model keeps no pairs to calibrate with");
    MAKE(score, n);
    CHK(training ? okra_model_leave(context, model, NULL, score, &left)
                 : okra_model_loss(context, model, x, y, &mean, score));
    qsort(score, (size_t)n, sizeof *score, okra_by_double_);
    for (okra_int k = 0; k < count; k++) {
        p[k] = (double)(at_least(score, n, distance[k]) + 1) / (double)(n + 1);
    }
    GIVE(pairs, n);
    return OKRA_OK;
}
