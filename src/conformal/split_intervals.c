/*
 * split_intervals.c: split conformal prediction of vectors. The interval of a coordinate
 * is the prediction -+ the quantile of |y_j - h_j(x)| over the calibrating pairs, the
 * ball that of |y - h(x)|; normalized: both over the predictive standard deviation.
 * Values that are missing in the outputs to calibrate with are left out, for the ball the
 * whole output.
 *
 * Cost: predictions, and one sort of the pairs for each coordinate (with groups or
 * weights for each test input and coordinate).
 */
#include "conformal/conformal.h"

#include <math.h>
#include <stdlib.h>

/* The explicit predictions of x, n x d. */
static okra_status embed(const okra_conformal_job_ *job, const okra_data *x,
                         okra_prediction **out, const double **h)
{
    okra_options *o = NULL;
    okra_predict_request request = {OKRA_SIZED(okra_predict_request), .embedding = true};
    okra_int rows, cols;
    okra_status st = okra_predict_options(&o);
    if (st == OKRA_OK) {
        st = okra_options_set(o, "decode", "none");
    }
    if (st == OKRA_OK) {
        st = okra_predict(job->ctx, job->model, x, o, &request, out);
    }
    if (st == OKRA_OK) {
        *h = okra_prediction_embedding(*out, &rows, &cols);
    }
    okra_options_free(o);
    return st;
}

typedef struct weighted {
    double value, weight;
} weighted;

static int by_value(const void *a, const void *b)
{
    const weighted *p = a, *q = b;
    return (p->value > q->value) - (p->value < q->value);
}

/* The smallest value whose weight, with all below it, is at least (1 - alpha) of the sum
 * with the test input's own weight; +infinity where there is none. */
static double quantile(weighted *list, okra_int n, double own, double alpha)
{
    double sum = own, so_far = 0;
    qsort(list, (size_t)n, sizeof *list, by_value);
    for (okra_int i = 0; i < n; i++) {
        sum += list[i].weight;
    }
    for (okra_int i = 0; i < n; i++) {
        so_far += list[i].weight;
        if (so_far >= (1 - alpha) * sum * (1 - 1e-12)) {
            return list[i].value;
        }
    }
    return INFINITY;
}

typedef struct split {
    const okra_conformal_job_ *job;
    const double *h, *cal_h;
    double *spread, *cal_spread; /* standard deviations, or NULL */
    weighted *list;
    double alpha;
} split;

/* The quantile of |e_j| (j >= 0) or of the whole |e| (j < 0) for test t. */
static double reach(const split *z, okra_int t, okra_int j)
{
    const okra_conformal_job_ *job = z->job;
    okra_int d = job->model->training->output.d, count = 0, ld = 0;
    okra_int group = okra_conformal_group_(job, t, 0);
    const double *y = okra_data_values(job->cal_y, &ld);
    for (okra_int i = 0; i < job->pairs; i++) {
        double sum = 0;
        for (okra_int k = j < 0 ? 0 : j; k < (j < 0 ? d : j + 1); k++) {
            double e = y[i * ld + k] - z->cal_h[i * d + k];
            sum += e * e;
        }
        if (okra_conformal_in_(job, i, group) && !isnan(sum)) {
            double s = sqrt(sum) / (z->cal_spread ? z->cal_spread[i] : 1);
            z->list[count++] = (weighted){s, okra_conformal_weight_(job, i)};
        }
    }
    return quantile(z->list, count, okra_conformal_test_weight_(job, t), z->alpha) *
           (z->spread ? z->spread[t] : 1);
}

static okra_status spreads(const okra_conformal_job_ *job, const okra_data *x,
                           double **out)
{
    MAKE(*out, okra_data_count(x));
    CHK(okra_conformal_variance_(job->ctx, job->model, x, *out));
    for (okra_int i = 0; i < okra_data_count(x); i++) {
        (*out)[i] = sqrt((*out)[i]);
    }
    return OKRA_OK;
}

/* Do all test inputs have the same quantile, but for their spread? */
static bool shared(const okra_conformal_job_ *job)
{
    return !job->group && !job->s.weights;
}

okra_status okra_conformal_split_intervals_(const okra_conformal_job_ *job, double alpha,
                                            double *bounds, double *radius)
{
    split z = {.job = job, .alpha = alpha};
    OWNS(&z.spread, &z.cal_spread, &z.list);
    FREED_BY(okra_prediction_drop_) okra_prediction *p = NULL, *cal = NULL;
    okra_int d = job->model->training->output.d;
    OWNED double *once = NULL;
    MAKE(z.list, job->pairs);
    MAKE(once, d + 1);
    CHK(embed(job, job->x, &p, &z.h));
    CHK(embed(job, job->cal_x, &cal, &z.cal_h));
    if (job->score == OKRA_SCORE_NORMALIZED_) {
        CHK(spreads(job, job->x, &z.spread));
        CHK(spreads(job, job->cal_x, &z.cal_spread));
    }
    for (okra_int t = 0; t < job->tests; t++) {
        double part = z.spread && t > 0 && shared(job) ? z.spread[t] / z.spread[0] : 1;
        CHK(okra_cancelled_(job->ctx));
        for (okra_int j = 0; j <= d; j++) {
            if (t == 0 || !shared(job)) {
                once[j] = j < d || radius ? reach(&z, t, j < d ? j : -1) : 0;
            }
            double q = once[j] * part;
            if (j < d) {
                bounds[(t * d + j) * 2] = z.h[t * d + j] - q;
                bounds[(t * d + j) * 2 + 1] = z.h[t * d + j] + q;
            } else if (radius) {
                radius[t] = q;
            }
        }
    }
    return OKRA_OK;
}
