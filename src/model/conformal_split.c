/*
 * conformal_split.c: split conformal prediction (Papadopoulos et al. 2002): the scores of
 * pairs that the fit has not seen calibrate those of candidates. Any method, any
 * decoder's criterion.
 *
 *   distance    |phi(y) - h(x)|^2, or the method's own criterion
 *   normalized  the distance over v(x) + lambda, the predictive variance with noise
 *   rank        how many candidates are nearer than y
 *   a metric    its value for the decoded prediction and y; of a gain, 1 - its value
 *
 * Covariate shift: with weights proportional to the ratio of densities of test and
 * calibrating inputs the guarantee holds under the test distribution (Tibshirani et al.
 * 2019). Cost: predictions, then log(pairs) for each candidate.
 *
 * Vectors: the interval of a coordinate is the prediction -+ the quantile of |y_j -
 * h_j(x)| over the calibrating pairs, the ball that of |y - h(x)|; normalized: both over
 * the predictive standard deviation. Values that are missing in the outputs to calibrate
 * with are left out, for the ball the whole output. Cost: predictions, and one sort of
 * the pairs for each coordinate (with groups or weights for each test input as well).
 */
#include "model/conformal.h"

#include "okra/metric.h"

enum { ROWS = 256 };

typedef struct scored {
    double score, weight;
    okra_int group;
} scored;

/* ---- scores ---- */

/* The prediction of x; top 0: not decoded, else the `top` nearest candidates. */
static okra_status predict(const okra_conformal_ *job, const okra_data *x, okra_int top,
                           const okra_predict_request *request, okra_prediction **out)
{
    FREED_BY(okra_options_drop_) okra_options *o = NULL;
    char number[32];
    CHK(okra_predict_options(&o));
    CHK(okra_options_set(o, "decode", top ? "candidates" : "none"));
    if (top) {
        snprintf(number, sizeof number, "%lld", (long long)top);
        CHK(okra_options_set(o, "allow-empty-candidates", "yes"));
        CHK(okra_options_set(o, "top", number));
    }
    return okra_predict(job->ctx, job->model, x, o, request, out);
}

/* v(x) + lambda of test inputs, from the model's own predictive variance. */
static okra_status variance_of(const okra_conformal_ *job, const okra_data *x,
                               double *out)
{
    FREED_BY(okra_prediction_drop_) okra_prediction *p = NULL;
    okra_solution_ fitted;
    okra_int rows = 0;
    okra_predict_request request = {OKRA_SIZED(okra_predict_request), .confidence = true};
    CHK(predict(job, x, 1, &request, &p));
    const double *c = okra_prediction_confidence(p, &rows);
    okra_model_solution_(job->model, &fitted);
    for (okra_int i = 0; i < rows; i++) {
        out[i] = c[i * OKRA_CONFIDENCE_COLUMNS + 2] + fitted.lambda;
        REFUSE_IF(!(out[i] > 0), OKRA_EUNSUPPORTED,
                  "conformal score normalized: method %s gives no predictive variance "
                  "here: use the score distance",
                  job->model->method->name);
    }
    return OKRA_OK;
}

/* Distances of rows first.. of x to all candidates: m x count. */
static okra_status distances(const okra_conformal_ *job, const okra_data *x,
                             okra_int first, okra_int m, double *out)
{
    FREED_BY(okra_prediction_drop_) okra_prediction *p = NULL;
    FREED_BY(okra_data_drop_) okra_data *part = NULL;
    okra_int kept = 0, count = job->count;
    okra_predict_request request = {OKRA_SIZED(okra_predict_request),
                                    .candidates = job->candidates};
    CHK(okra_data_some_(x, first, m, m, &part));
    CHK(predict(job, part, count, &request, &p));
    const okra_int *index = okra_prediction_index(p, &kept);
    const double *distance = okra_prediction_distance(p, &kept);
    for (okra_int k = 0; k < m * count; k++) {
        out[k] = INFINITY; /* a candidate without a finite distance */
    }
    for (okra_int k = 0; k < m * kept; k++) {
        if (index[k] >= 0) {
            out[k / kept * count + index[k]] = distance[k];
        }
    }
    return OKRA_OK;
}

/* Distances of the calibrating pairs themselves. */
static okra_status own_distances(const okra_conformal_ *job, double *out)
{
    FREED_BY(okra_prediction_drop_) okra_prediction *p = NULL;
    OWNED okra_int *ranges = NULL;
    okra_int top = 0;
    MAKE(ranges, 2 * job->pairs);
    for (okra_int i = 0; i < job->pairs; i++) {
        ranges[2 * i] = i;
        ranges[2 * i + 1] = i + 1;
    }
    okra_predict_request request = {OKRA_SIZED(okra_predict_request),
                                    .candidates = job->cal_y, .ranges = ranges};
    CHK(predict(job, job->cal_x, 1, &request, &p));
    const double *distance = okra_prediction_distance(p, &top);
    for (okra_int i = 0; i < job->pairs; i++) {
        out[i] = distance[i * top];
    }
    return OKRA_OK;
}

/* The metric's value of every object of `truth` against one decoded object each. */
static okra_status by_metric(const okra_conformal_ *job, const okra_data *truth,
                             const okra_data *decoded, double *out)
{
    double mean = 0;
    bool loss = true, each = false;
    CHK(okra_metric_is_loss(job->s.score, &loss));
    CHK(okra_score(job->ctx, job->s.score, truth, decoded, &mean, out, &each));
    REFUSE_IF(!each, OKRA_EUNSUPPORTED,
              "conformal score %s: the metric has no value for each pair", job->s.score);
    for (okra_int i = 0; i < truth->n && !loss; i++) {
        out[i] = 1 - out[i];
    }
    return OKRA_OK;
}

static okra_status decode(const okra_conformal_ *job, const okra_data *x,
                          okra_prediction **out)
{
    okra_predict_request request = {OKRA_SIZED(okra_predict_request),
                                    .candidates = job->candidates};
    return predict(job, x, 1, &request, out);
}

/* Scores of test rows first.. by a metric: every candidate against what was decoded. */
static okra_status metric_rows(const okra_conformal_ *job, okra_int first, okra_int m,
                               double *out)
{
    OWNED okra_int *index = NULL;
    FREED_BY(okra_prediction_drop_) okra_prediction *p = NULL;
    FREED_BY(okra_data_drop_) okra_data *again = NULL, *part = NULL;
    MAKE(index, job->count);
    CHK(okra_data_some_(job->x, first, m, m, &part));
    CHK(decode(job, part, &p));
    for (okra_int r = 0; r < m; r++) {
        for (okra_int c = 0; c < job->count; c++) {
            index[c] = r;
        }
        CHK(okra_data_take(okra_prediction_objects(p), index, job->count, &again));
        CHK(by_metric(job, job->candidates, again, out + r * job->count));
        okra_data_drop_(&again);
    }
    return OKRA_OK;
}

/* Distances that differ by less than this are equal but for rounding: a share of the
 * distance, and of the largest l(y,y), of which distances are differences. */
static double rounding(double distance, double largest)
{
    return OKRA_CONFORMAL_SLACK_ * fabs(distance) + 1e-12 * largest;
}

static okra_status largest_self(const okra_conformal_ *job, double *out)
{
    const okra_training_ *t = job->model->training;
    OWNED double *self = NULL;
    *out = 0;
    if (t->bound_y) {
        MAKE(self, t->y->n);
        CHK(okra_trained_kernel_diagonal_(job->ctx, t->bound_y, self));
        *out = okra_most_abs_(t->y->n, self);
    }
    return OKRA_OK;
}

/* How many of the sorted distances are below d, by more than rounding. */
static okra_int below(const double *sorted, okra_int count, double d, double largest)
{
    return okra_below_(sorted, sizeof *sorted, count,
                       isfinite(d) ? d - rounding(d, largest) : d);
}

/* Distances (m x count) become ranks; `sorted` is work for a row. */
static void to_ranks(okra_int m, okra_int count, double *rows, double *sorted,
                     double largest)
{
    for (okra_int r = 0; r < m; r++) {
        double *row = rows + r * count;
        memcpy(sorted, row, (size_t)count * sizeof *row);
        qsort(sorted, (size_t)count, sizeof *sorted, okra_by_double_);
        for (okra_int c = 0; c < count; c++) {
            row[c] = (double)below(sorted, count, row[c], largest);
        }
    }
}

/* The rank of each calibrating output among the candidates, blocks of pairs at a time. */
static okra_status own_ranks(const okra_conformal_ *job, double largest, double *score)
{
    OWNED double *rows = NULL;
    okra_int count = job->count;
    CHK(okra_doubles_(job->ctx, ROWS, count, "distances to candidates", &rows));
    for (okra_int first = 0; first < job->pairs; first += ROWS) {
        okra_int m = OKRA_MIN_(ROWS, job->pairs - first);
        CHK(distances(job, job->cal_x, first, m, rows));
        for (okra_int r = 0; r < m; r++) {
            qsort(rows + r * count, (size_t)count, sizeof *rows, okra_by_double_);
            score[first + r] =
                (double)below(rows + r * count, count, score[first + r], largest);
        }
    }
    return OKRA_OK;
}

static okra_status calibrate(const okra_conformal_ *job, double largest, double *score)
{
    OWNED double *variance = NULL;
    FREED_BY(okra_prediction_drop_) okra_prediction *p = NULL;
    if (job->score == OKRA_SCORE_METRIC_) {
        CHK(decode(job, job->cal_x, &p));
        CHK(by_metric(job, job->cal_y, okra_prediction_objects(p), score));
        return OKRA_OK;
    }
    CHK(own_distances(job, score));
    if (job->score == OKRA_SCORE_RANK_) {
        CHK(own_ranks(job, largest, score));
    } else if (job->score == OKRA_SCORE_NORMALIZED_) {
        MAKE(variance, job->pairs);
        CHK(variance_of(job, job->cal_x, variance));
        for (okra_int i = 0; i < job->pairs; i++) {
            score[i] /= variance[i];
        }
    }
    return OKRA_OK;
}

/* ---- p-values ---- */

OKRA_ORDER_(by_group_and_score, scored, OKRA_UP_(group), OKRA_UP_(score))

/* Sorted by group and score; weight becomes the sum from here to the end of the group. */
static okra_status sort_scores(const okra_conformal_ *job, const double *score,
                               scored **out)
{
    scored *all = NULL;
    okra_int n = job->pairs;
    MAKE(all, n);
    for (okra_int i = 0; i < n; i++) {
        all[i] = (scored){score[i], okra_conformal_weight_(job, i),
                          job->group ? job->group[i] : 0};
    }
    qsort(all, (size_t)n, sizeof *all, by_group_and_score);
    for (okra_int i = n - 2; i >= 0; i--) {
        all[i].weight += all[i].group == all[i + 1].group ? all[i + 1].weight : 0;
    }
    *out = all;
    return OKRA_OK;
}

/* The first entry of the group whose score is at least `least`; with -infinity, the
 * beginning of the group. */
static okra_int lower(const scored *all, okra_int n, okra_int group, double least)
{
    okra_int low = 0, high = n;
    while (low < high) {
        okra_int middle = low + (high - low) / 2;
        bool before = all[middle].group < group ||
                      (all[middle].group == group && all[middle].score < least);
        if (before) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static double weight_from(const scored *all, okra_int n, okra_int at, okra_int group)
{
    return at < n && all[at].group == group ? all[at].weight : 0;
}

okra_status okra_conformal_split_(const okra_conformal_ *job, double *p)
{
    OWNED double *score = NULL, *variance = NULL, *sorted = NULL;
    double largest = 0;
    OWNED scored *all = NULL;
    okra_int n = job->pairs, count = job->count;
    MAKE(score, n);
    MAKE(sorted, count);
    CHK(largest_self(job, &largest));
    CHK(calibrate(job, largest, score));
    CHK(sort_scores(job, score, &all));
    if (job->score == OKRA_SCORE_NORMALIZED_) {
        MAKE(variance, job->tests);
        CHK(variance_of(job, job->x, variance));
    }
    for (okra_int first = 0; first < job->tests; first += ROWS) {
        okra_int m = OKRA_MIN_(ROWS, job->tests - first);
        double *rows = p + first * count;
        CHK(job->score == OKRA_SCORE_METRIC_ ? metric_rows(job, first, m, rows)
                                             : distances(job, job->x, first, m, rows));
        if (job->score == OKRA_SCORE_RANK_) {
            to_ranks(m, count, rows, sorted, largest);
        }
        for (okra_int k = 0; k < m * count; k++) {
            okra_int t = first + k / count,
                     group = okra_conformal_group_(job, t, k % count);
            double s = rows[k] / (variance ? variance[t] : 1);
            bool squares = job->score == OKRA_SCORE_DISTANCE_ || variance;
            double near = squares ? largest / (variance ? variance[t] : 1) : 0;
            double least = isfinite(s) ? s - rounding(s, near) : s;
            double own = okra_conformal_test_weight_(job, t);
            double more = weight_from(all, n, lower(all, n, group, least), group);
            double sum = weight_from(all, n, lower(all, n, group, -INFINITY), group);
            rows[k] = (more + own) / (sum + own);
        }
        okra_progress_(job->ctx, "prediction sets", first + m, job->tests);
    }
    return OKRA_OK;
}

/* ---- intervals ---- */

/* The explicit predictions of x, n x d. */
static okra_status embed(const okra_conformal_ *job, const okra_data *x,
                         okra_prediction **out, const double **h)
{
    okra_predict_request request = {OKRA_SIZED(okra_predict_request), .embedding = true};
    okra_int rows, cols;
    CHK(predict(job, x, 0, &request, out));
    *h = okra_prediction_embedding(*out, &rows, &cols);
    return OKRA_OK;
}

typedef struct weighted {
    double value, weight;
} weighted;

OKRA_ORDER_(by_value, weighted, OKRA_UP_(value))

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
    const okra_conformal_ *job;
    const double *h, *cal_h;
    double *spread, *cal_spread; /* standard deviations, or NULL */
    weighted *list;
    double alpha;
} split;

/* The quantile of |e_j| (j >= 0) or of the whole |e| (j < 0) for test t. */
static double reach(const split *z, okra_int t, okra_int j)
{
    const okra_conformal_ *job = z->job;
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

static okra_status spreads(const okra_conformal_ *job, const okra_data *x, double **out)
{
    MAKE(*out, okra_data_count(x));
    CHK(variance_of(job, x, *out));
    for (okra_int i = 0; i < okra_data_count(x); i++) {
        (*out)[i] = sqrt((*out)[i]);
    }
    return OKRA_OK;
}

/* Do all test inputs have the same quantile, but for their spread? */
static bool shared(const okra_conformal_ *job)
{
    return !job->group && !job->s.weights;
}

okra_status okra_conformal_split_intervals_(const okra_conformal_ *job, double alpha,
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
