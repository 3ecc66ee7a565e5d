/*
 * ndcg.c: normalized discounted cumulative gain (Jarvelin and Kekalainen 2002).
 *
 *     NDCG = sum_p g(r_(p)) / log2(1 + p)  /  the same of the best order
 *
 * r_(p) is the true relevance of the item that the prediction puts at place p, g(r) = r
 * or 2^r - 1, and p goes over the first k places, or all. Items that the prediction ties
 * share the discounts of their places: the mean over their orders. Where nothing is
 * relevant it is 0. All of this as in scikit-learn.
 *
 * order=relevance: both sides hold relevances or scores, larger is better. order=ranks:
 * both hold ranks, 1 is first, and an item of rank y has relevance d - y. Cost: d log d a
 * pair.
 */
#include "metric/metric.h"

typedef struct ndcg_params {
    okra_int k;
    int gain, order;
} ndcg_params;

enum { AUTO, RELEVANCE, RANKS };
enum { LINEAR, EXPONENTIAL };

static const okra_option rows[] = {
    {"k", OKRA_OPTION_INT, offsetof(ndcg_params, k), "0", 0, 1e9, NULL, "N",
     "places that count; 0: all"},
    {"gain", OKRA_OPTION_CHOICE, offsetof(ndcg_params, gain), "linear", 1, 0,
     "linear|exponential", "NAME", "of a relevance r: linear, r; exponential, 2^r - 1"},
    {"order", OKRA_OPTION_CHOICE, offsetof(ndcg_params, order), "auto", 1, 0,
     "auto|relevance|ranks", "NAME",
     "relevance, larger is better; ranks, 1 is first; auto: relevance, but vectors that "
     "could be either are refused"},
    {.name = NULL},
};

typedef struct item {
    double score, gain;
} item;

OKRA_ORDER_(by_score, item, OKRA_DOWN_(score))

/* The discounted gains of items in the order of their scores; sums[p] is that of the
 * first p discounts. */
static double discounted(item *items, okra_int d, const double *sums)
{
    double total = 0;
    qsort(items, (size_t)d, sizeof *items, by_score);
    for (okra_int first = 0, end; first < d; first = end) {
        double gain = 0;
        for (end = first; end < d && items[end].score == items[first].score; end++) {
            gain += items[end].gain;
        }
        total += gain / (double)(end - first) * (sums[end] - sums[first]);
    }
    return total;
}

/* Gains of the true relevances of object i. */
static okra_status find_gains(const ndcg_params *p, okra_int i, okra_int d,
                              const double *truth, item *items)
{
    for (okra_int j = 0; j < d; j++) {
        double r = p->order == RANKS ? (double)d - truth[j] : truth[j];
        items[j].gain = p->gain == LINEAR ? r : exp2(r) - 1;
        REFUSE_IF(
            !(r >= 0) || !isfinite(items[j].gain), OKRA_EARG,
            "metric ndcg: object %lld of the truth has %g in column %lld, expected %s",
            (long long)i, truth[j], (long long)j,
            p->order == RANKS ? "ranks up to the number of items"
            : r >= 0          ? "a relevance whose gain is finite"
                              : "relevances of 0 or more");
    }
    return OKRA_OK;
}

/* Rankings could be relevances. */
static okra_status check_order(const ndcg_params *p, const okra_data *truth)
{
    if (p->order != AUTO || truth->kind != OKRA_DENSE || truth->d < 2) {
        return OKRA_OK;
    }
    okra_status st = okra_data_check_rankings_(truth);
    return st == OKRA_OK     ? okra_fail_(OKRA_EARG,
                                          "metric ndcg: the truth holds each of 1 to %lld "
                                              "once: say order=ranks (1 is first) or "
                                              "order=relevance (larger is better)",
                                          (long long)truth->d)
           : st == OKRA_EARG ? OKRA_OK
                             : st;
}

static okra_status ndcg(okra_context *ctx, const void *params, okra_scores_ *s)
{
    const ndcg_params *p = params;
    OWNED double *sums = NULL, *a = NULL, *b = NULL;
    OWNED item *items = NULL;
    double sign = p->order == RANKS ? -1 : 1;
    CHK(check_order(p, s->truth));
    MAKE(sums, s->d + 1);
    MAKE(a, s->d);
    MAKE(b, s->d);
    MAKE(items, s->d);
    sums[0] = 0;
    for (okra_int q = 0; q < s->d; q++) {
        bool counts = p->k == 0 || q < p->k;
        sums[q + 1] = sums[q] + (counts ? 1 / log2((double)q + 2) : 0);
    }
    for (okra_int i = 0; i < s->n; i++) {
        const double *z = okra_metric_row_(s->predicted, i, b);
        CHK(find_gains(p, i, s->d, okra_metric_row_(s->truth, i, a), items));
        for (okra_int j = 0; j < s->d; j++) {
            items[j].score = sign * z[j];
        }
        s->each[i] = discounted(items, s->d, sums);
        for (okra_int j = 0; j < s->d; j++) {
            items[j].score = items[j].gain;
        }
        double best = discounted(items, s->d, sums);
        s->each[i] = best > 0 ? s->each[i] / best : 0;
    }
    return OKRA_OK;
}

const okra_metric_ okra_metric_ndcg_ = {
    .name = "ndcg",
    .help = "discounted gains of the order that the prediction puts items in, of the "
            "best",
    .params = {"metric ndcg", rows, sizeof(ndcg_params)},
    .kinds = OKRA_METRIC_VECTORS_,
    .shape = OKRA_SHAPE_GAINS_,
    .score = ndcg,
};
