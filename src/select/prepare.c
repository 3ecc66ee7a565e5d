/*
 * prepare.c: the pairs of a selection as they are compared.
 *
 *   weights        a pair of weight 0 is no pair
 *   copies         leaving a pair out while a copy of it stays tells nothing of new
 *                  inputs: lambda comes out too small. Equal inputs then form a group.
 *   relative-loss  feature-loss of outputs over their deviation s_j and the root of their
 *                  number: mean_j |y_j - h_j|^2 / s_j^2. Ridge regresses such outputs one
 *                  by one, so that the unit of one changes nothing else. An output that
 *                  does not vary has no part in it.
 */
#include "select/select.h"

#include <float.h>
#include <math.h>

void okra_prepared_clear_(okra_prepared_ *p)
{
    okra_data_free(p->x);
    okra_data_free(p->y);
    for (int k = 0; k < 3; k++) {
        okra_data_free(p->keys[k]);
    }
}

okra_status okra_prepare_weights_(const okra_data *x, const okra_data *y,
                                  okra_select_request *r, okra_prepared_ *p)
{
    const okra_data **keys[] = {&r->folds, &r->groups, &r->strata};
    OWNED okra_int *index = NULL;
    okra_int count = 0;
    CHK(okra_weights_drop_(x, y, &p->x, &p->y));
    if (p->y->n == y->n) {
        return OKRA_OK;
    }
    CHK(okra_weights_positive_(y, y->n, &index, &count));
    for (int k = 0; k < 3; k++) {
        if (*keys[k] && (*keys[k])->n == y->n) { /* else it is refused later */
            CHK(okra_data_take(*keys[k], index, count, &p->keys[k]));
            *keys[k] = p->keys[k];
        }
    }
    return OKRA_OK;
}

/* ---- copies ---- */

okra_status okra_prepare_copies_(const okra_data *x, const okra_data *y, okra_data **out,
                                 okra_int *units)
{
    enum { FEW = 20, SHARE = 50 };
    okra_int n = y->n, different = 0, copies = 0;
    OWNED okra_int *of_x = NULL, *of_y = NULL;
    *units = 0;
    if (x->n != n || x->kind == OKRA_GRAM || y->kind == OKRA_GRAM || n < FEW) {
        return OKRA_OK;
    }
    MAKE(of_x, n);
    MAKE(of_y, n);
    CHK(okra_data_same_(&x, 1, of_x));
    CHK(okra_data_same_(&y, 1, of_y));
    for (okra_int i = 0; i < n; i++) {
        different += of_x[i] == i;
        copies += of_x[i] != i && of_y[i] == of_y[of_x[i]];
    }
    /* few inputs that differ are categories: that they come again is to be expected */
    if (copies > n / SHARE && different >= FEW && different >= n / 10) {
        CHK(okra_data_labels(of_x, n, NULL, n, out));
        *units = different;
    }
    return OKRA_OK;
}

/* ---- outputs in their own units ---- */

bool okra_rule_apart_(const okra_method_ *method, const okra_options *o)
{
    okra_coupling_ how = okra_method_coupling_(method, o);
    return how == OKRA_OUTPUTS_ALIKE_ || how == OKRA_OUTPUTS_APART_;
}

bool okra_rule_relative_(const okra_method_ *method, const okra_options *o,
                         const okra_data *y)
{
    return y->kind == OKRA_DENSE && okra_rule_apart_(method, o) &&
           okra_kernel_has(okra_options_get(o, "ky"), OKRA_KERNEL_LINEAR) &&
           !okra_options_is_set(o, "twin") && !okra_options_is_set(o, "low-rank") &&
           !okra_options_is_set(o, "low-rank-y");
}

/* 1 / (s_j sqrt(d)), 0 of a column that varies by rounding alone. */
static double factor(const okra_data *y, okra_int j)
{
    double mean = 0, square = 0, count = 0;
    for (okra_int i = 0; i < y->n; i++) { /* Welford: NaN is missing */
        double v = y->values[i * y->ld + j], before = v - mean, u = okra_weight_(y, i);
        if (!isnan(v)) {
            count += u;
            mean += u * before / count;
            square += u * before * (v - mean);
        }
    }
    double s = count > 0 ? sqrt(square / count) : 0;
    bool varies = s > (double)y->n * DBL_EPSILON * fabs(mean) && isfinite(s);
    return varies ? 1 / s / sqrt((double)y->d) : 0;
}

okra_status okra_prepare_relative_(const okra_method_ *method, const okra_options *o,
                                   okra_prepared_ *p)
{
    const okra_data *y = p->y;
    FREED_BY(okra_data_drop_) okra_data *made = NULL;
    OWNED double *values = NULL;
    okra_int area = 0;
    if (!okra_metric_has(okra_options_get(o, "metric"), OKRA_METRIC_RELATIVE)) {
        return OKRA_OK;
    }
    REFUSE_IF(!okra_rule_relative_(method, o, y), OKRA_EARG,
              "metric relative-loss is of ridge on dense vectors whose "
              "coordinates are learned apart: operator identity or diagonal, "
              "ky linear, no low rank of outputs; r2 and arrmse are of all");
    CHK(okra_area_(y->n, y->d, sizeof *values, &area));
    MAKE(values, area);
    for (okra_int j = 0; j < y->d; j++) {
        double f = factor(y, j);
        for (okra_int i = 0; i < y->n; i++) {
            double v = y->values[i * y->ld + j];
            values[i * y->d + j] = f > 0 || isnan(v) ? f * v : 0;
        }
    }
    CHK(okra_data_adopt_dense_(&values, y->n, y->d, y->source, &made));
    made->missing = y->missing;
    okra_data *before = p->y;
    if (before->weights) {
        CHK(okra_data_weigh(made, before->weights, before->n, &p->y));
    } else {
        p->y = okra_data_retain(made);
    }
    okra_data_free(before);
    return OKRA_OK;
}
