/*
 * lists.c: lists of candidates, best first, and sets of them, against the true one.
 *
 *   hit-rate  share of objects whose truth is among the first k of their list (top-k
 *             accuracy)
 *   mrr       mean over objects of one over the rank of the truth, 0 where it is not
 *             listed (mean reciprocal rank)
 *   coverage  share of objects whose truth is in their set
 *   set-size  mean number of members of a set
 *
 * The last two are of intervals too: those that hold the truth, and their lengths.
 */
#include "metric/metric.h"
#include "okra/more/score.h"

typedef struct hit_params {
    okra_int k;
} hit_params;

static const okra_option hit_rows[] = {
    {"k", OKRA_OPTION_INT, offsetof(hit_params, k), "1", 1, 1e9, NULL, "N",
     "places of the list that count"},
    {0},
};

/* Where the truth stands in a list that ends at the first -1; -1: nowhere. */
static okra_int place(const okra_int *list, okra_int width, okra_int truth)
{
    for (okra_int k = 0; truth >= 0 && k < width && list[k] >= 0; k++) {
        if (list[k] == truth) {
            return k;
        }
    }
    return -1;
}

static double hit(const void *params, const okra_int *list, okra_int width,
                  okra_int truth)
{
    okra_int at = place(list, width, truth);
    return at >= 0 && at < ((const hit_params *)params)->k;
}

static double reciprocal(const void *params, const okra_int *list, okra_int width,
                         okra_int truth)
{
    okra_int at = place(list, width, truth);
    return at >= 0 ? 1 / (double)(at + 1) : 0;
}

static double covered(const void *params, const okra_int *list, okra_int width,
                      okra_int truth)
{
    return place(list, width, truth) >= 0;
}

static double size(const void *params, const okra_int *list, okra_int width,
                   okra_int truth)
{
    okra_int count = 0;
    while (count < width && list[count] >= 0) {
        count++;
    }
    return (double)count;
}

static double inside(const double b[2], double truth)
{
    return isnan(truth) ? truth : truth >= b[0] && truth <= b[1];
}

static double length(const double b[2], double truth)
{
    return b[1] - b[0];
}

const okra_metric_ okra_metric_hit_rate_ = {
    .name = "hit-rate",
    .help = "lists of candidates: share whose truth is among the first k",
    .params = {"metric hit-rate", hit_rows, sizeof(hit_params)},
    .list = hit,
};

const okra_metric_ okra_metric_mrr_ = {
    .name = "mrr",
    .help = "lists of candidates: mean of one over the rank of the truth",
    .params = {"metric mrr", NULL, 0},
    .list = reciprocal,
};

const okra_metric_ okra_metric_coverage_ = {
    .name = "coverage",
    .help = "sets of candidates: share that holds the truth",
    .params = {"metric coverage", NULL, 0},
    .list = covered,
    .interval = inside,
};

const okra_metric_ okra_metric_set_size_ = {
    .name = "set-size",
    .help = "sets of candidates: mean number of members",
    .params = {"metric set-size", NULL, 0},
    .loss = true,
    .list = size,
    .interval = length,
};

okra_status okra_score_lists(okra_context *context, const char *spec,
                             const okra_int *truth, const okra_int *lists, okra_int n,
                             okra_int width, double *value, double *each)
{
    FREED_BY(okra_spec_clear_) okra_spec_ read = {NULL, NULL, NULL};
    double sum = 0;
    NOT_NULL(spec, truth, lists, value);
    CHK(okra_spec_read_(spec, &read));
    const okra_metric_ *metric = read.metric;
    REFUSE_IF(!metric->list, OKRA_EARG,
              "metric %s compares objects, not lists of candidates", metric->name);
    REFUSE_IF(n < 1, OKRA_ESHAPE, "metric %s: there are no lists", metric->name);
    for (okra_int i = 0; i < n; i++) {
        double one = metric->list(read.params, lists + i * width, width, truth[i]);
        sum += one;
        if (each) {
            each[i] = one;
        }
    }
    *value = sum / (double)n;
    return OKRA_OK;
}

okra_status okra_score_intervals(okra_context *context, const char *spec,
                                 const double *truth, okra_int ld, const double *bounds,
                                 okra_int n, okra_int d, double *value, double *each)
{
    FREED_BY(okra_spec_clear_) okra_spec_ read = {NULL, NULL, NULL};
    double all = 0;
    okra_int known = 0;
    NOT_NULL(spec, truth, bounds, value);
    CHK(okra_spec_read_(spec, &read));
    const okra_metric_ *metric = read.metric;
    REFUSE_IF(!metric->interval, OKRA_EARG,
              "metric %s has no use of intervals: coverage, set-size", metric->name);
    for (okra_int i = 0; i < n; i++) {
        double sum = 0;
        okra_int here = 0;
        for (okra_int j = 0; j < d; j++) {
            double one = metric->interval(bounds + 2 * (i * d + j), truth[i * ld + j]);
            sum += isnan(one) ? 0 : one;
            here += !isnan(one);
        }
        all += sum;
        known += here;
        if (each) {
            each[i] = here ? sum / (double)here : (double)NAN;
        }
    }
    REFUSE_IF(known == 0, OKRA_EARG, "the truth has no known value: there is no %s",
              spec);
    *value = all / (double)known;
    return OKRA_OK;
}
