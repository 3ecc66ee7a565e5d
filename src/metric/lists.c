/*
 * lists.c: lists of candidates, best first, and sets of them, against the true one.
 *
 *   hit-rate  share of objects whose truth is among the first k of their list (top-k
 *             accuracy)
 *   mrr       mean over objects of one over the rank of the truth, 0 where it is not
 *             listed (mean reciprocal rank)
 *   coverage  share of objects whose truth is in their set
 *   set-size  mean number of members of a set
 */
#include "metric/metric.h"

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
    (void)params;
    return at >= 0 ? 1 / (double)(at + 1) : 0;
}

static double covered(const void *params, const okra_int *list, okra_int width,
                      okra_int truth)
{
    (void)params;
    return place(list, width, truth) >= 0;
}

static double size(const void *params, const okra_int *list, okra_int width,
                   okra_int truth)
{
    okra_int count = 0;
    (void)params, (void)truth;
    while (count < width && list[count] >= 0) {
        count++;
    }
    return (double)count;
}

extern const okra_metric_ okra_metric_hit_rate_, okra_metric_mrr_, okra_metric_coverage_,
    okra_metric_set_size_;

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
};

const okra_metric_ okra_metric_set_size_ = {
    .name = "set-size",
    .help = "sets of candidates: mean number of members",
    .params = {"metric set-size", NULL, 0},
    .loss = true,
    .list = size,
};
