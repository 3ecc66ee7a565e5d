/*
 * ranking.c: areas under the ROC and precision-recall curves, precision at k, the
 * threshold of the best F1.
 *
 * Items are sorted by score, largest first, and equal scores are one step: after step s,
 * tp_s positives and fp_s negatives have been passed.
 *     AUC-ROC = sum_s (fp_s - fp_(s-1)) (tp_s + tp_(s-1)) / 2 / (P N)      (trapezoids)
 *     AUC-PR  = sum_s (tp_s - tp_(s-1)) / P * tp_s / (tp_s + fp_s)         (steps)
 * The first is the probability that a positive is before a negative, ties for half. The
 * second is average precision: linear interpolation between points of the
 * precision-recall curve would be too optimistic (J. Davis and M. Goadrich, ICML 2006).
 * Counts are exact up to 2^53; the metrics count entries by the weights of their objects.
 */
#include "metric/metric.h"

typedef struct step {
    double score, tp, fp; /* passed after this step */
} step;

struct okra_ranking {
    step *steps;
    okra_int count, n;
    double positives, negatives;
};

/* A score and what it counts, as a positive or a negative; keys rise as scores fall. */
typedef struct entry {
    uint64_t key;
    double right, wrong;
} entry;

static uint64_t key_of(double score)
{
    uint64_t bits;
    score += 0.0; /* -0 is 0 */
    memcpy(&bits, &score, sizeof bits);
    return bits >> 63 ? bits : ~bits & (uint64_t)INT64_MAX;
}

static double score_of(uint64_t key)
{
    uint64_t bits = key >> 63 ? key : ~key & (uint64_t)INT64_MAX;
    double score;
    memcpy(&score, &bits, sizeof score);
    return score;
}

/* By keys, byte by byte from the last: a stable counting sort each. Returns where the
 * items are, `from` or `to`. */
static entry *sort(entry *from, entry *to, okra_int n)
{
    for (int shift = 0; shift < 64; shift += 8) {
        okra_int place[256] = {0}, sum = 0;
        for (okra_int i = 0; i < n; i++) {
            place[from[i].key >> shift & 255]++;
        }
        if (n == 0 || place[from[0].key >> shift & 255] == n) {
            continue;
        }
        for (int b = 0; b < 256; b++) {
            okra_int count = place[b];
            place[b] = sum;
            sum += count;
        }
        for (okra_int i = 0; i < n; i++) {
            to[place[from[i].key >> shift & 255]++] = from[i];
        }
        OKRA_SWAP_(from, to);
    }
    return from;
}

/* Items in order become steps. */
static void merge(const entry *items, okra_ranking *r)
{
    double tp = 0, fp = 0;
    for (okra_int i = 0; i < r->n; i++) {
        tp += items[i].right;
        fp += items[i].wrong;
        bool same = i > 0 && items[i - 1].key == items[i].key;
        okra_int at = same ? r->count - 1 : r->count++;
        r->steps[at] = (step){score_of(items[i].key), tp, fp};
    }
    r->positives = tp;
    r->negatives = fp;
}

OKRA_DROPS_(drop_ranking, okra_ranking, okra_ranking_free)

/* Item i counts weights[i / each]; NULL: 1. */
static okra_status create(okra_int n, const double *score, const unsigned char *positive,
                          const double *weights, okra_int each, okra_ranking **out)
{
    FREED_BY(drop_ranking) okra_ranking *r = NULL;
    OWNED entry *items = NULL;
    okra_int positives = 0;
    ZMAKE(r, 1);
    MAKE(r->steps, n);
    MAKE(items, 2 * n);
    r->n = n;
    for (okra_int i = 0; i < n; i++) {
        double w = weights ? weights[i / each] : 1;
        REFUSE_IF(isnan(score[i]), OKRA_EARG, "score %lld is NaN", (long long)i);
        items[i] = (entry){key_of(score[i]), positive[i] ? w : 0, positive[i] ? 0 : w};
        positives += positive[i] != 0;
    }
    merge(sort(items, items + n, n), r);
    REFUSE_IF(positives == 0 || positives == n, OKRA_EARG,
              "a ranking of %lld items, %lld of them positive; at least one positive and "
              "one negative are needed",
              (long long)n, (long long)positives);
    REFUSE_IF(!(r->positives > 0 && r->negatives > 0), OKRA_EARG,
              "a ranking of %lld items: at least one positive and one negative of a "
              "weight above 0 are needed",
              (long long)n);
    *out = TAKE(r);
    return OKRA_OK;
}

okra_status okra_ranking_create(okra_int n, const double *score,
                                const unsigned char *positive, okra_ranking **out)
{
    if (n > 0) {
        NOT_NULL(score, positive);
    }
    NOT_NULL(out);
    return create(n, score, positive, NULL, 1, out);
}

OKRA_SHARED_FREES_(okra_ranking_free, okra_ranking, it->steps)

okra_int okra_ranking_positives(const okra_ranking *ranking)
{
    return ranking ? (okra_int)ranking->positives : 0;
}

double okra_ranking_auc_roc(const okra_ranking *r)
{
    if (!r) {
        return NAN;
    }
    double area = 0;
    step before = {0};
    for (okra_int s = 0; s < r->count; s++) {
        step now = r->steps[s];
        area += (now.fp - before.fp) * ((now.tp + before.tp) / 2);
        before = now;
    }
    return area / (r->positives * r->negatives);
}

double okra_ranking_auc_pr(const okra_ranking *r)
{
    if (!r) {
        return NAN;
    }
    double area = 0, before = 0;
    for (okra_int s = 0; s < r->count; s++) {
        step now = r->steps[s]; /* whose weight may be 0 */
        area += now.tp > before ? (now.tp - before) * (now.tp / (now.tp + now.fp)) : 0;
        before = now.tp;
    }
    return area / r->positives;
}

double okra_ranking_precision(const okra_ranking *r, okra_int k)
{
    if (!r) {
        return NAN;
    }
    step before = {0};
    k = OKRA_MIN_(k, r->n);
    for (okra_int s = 0; s < r->count; s++) {
        step now = r->steps[s];
        double passed = now.tp + now.fp, earlier = before.tp + before.fp;
        if (passed >= (double)k) {
            double share = ((double)k - earlier) / (passed - earlier);
            return (before.tp + share * (now.tp - before.tp)) / (double)k;
        }
        before = now;
    }
    return (double)NAN; /* k < 1 */
}

double okra_ranking_threshold(const okra_ranking *r, double *f1)
{
    if (!r) {
        return NAN;
    }
    double best = -1, threshold = (double)INFINITY;
    for (okra_int s = 0; s < r->count; s++) {
        step now = r->steps[s];
        double f = 2 * now.tp / (now.tp + now.fp + r->positives);
        if (f > best) {
            best = f;
            threshold = now.score;
        }
    }
    GIVE(f1, best);
    return threshold;
}

okra_int okra_ranking_steps(const okra_ranking *r, okra_int most, double *recall,
                            double *precision)
{
    if (!r || !recall || !precision) {
        return 0;
    }
    okra_int count = 0;
    double area = 0, before = 0, begin = 0, all = r->positives;
    for (okra_int s = 0; s < r->count && most > 0; s++) {
        step now = r->steps[s];
        area += (now.tp - before) * (now.tp / (now.tp + now.fp));
        before = now.tp;
        /* a step ends where its share of the recall is reached */
        double share = all / (double)most * (double)(count + 1);
        bool last = s == r->count - 1;
        if (now.tp > begin && (now.tp >= share || last)) {
            recall[count] = now.tp / all;
            precision[count] = area / (now.tp - begin);
            count++;
            begin = now.tp;
            area = 0;
        }
    }
    return count;
}

void okra_ranking_point(const okra_ranking *r, okra_int i, okra_int count, double *score,
                        double *false_positive_rate, double *recall, double *precision)
{
    if (!r || count < 2 || i < 0 || i >= count) {
        return;
    }
    double want = (double)i / (double)(count - 1) * r->negatives;
    okra_int at = i == 0           ? 0 /* else the first step with fp >= want */
                  : i == count - 1 ? r->count - 1
                                   : okra_below_(&r->steps[0].fp, sizeof *r->steps,
                                                 r->count - 1, want);
    step s = r->steps[at];
    double values[] = {s.score, s.fp / r->negatives, s.tp / r->positives,
                       s.tp / (s.tp + s.fp)};
    double *to[] = {score, false_positive_rate, recall, precision};
    for (int k = 0; k < 4; k++) {
        if (to[k]) {
            *to[k] = values[k];
        }
    }
}

/* ---- as metrics of 0/1 vectors against scores ---- */

static okra_status auc(okra_scores_ *s, bool roc)
{
    OWNED double *score = NULL, *row = NULL;
    OWNED unsigned char *positive = NULL;
    FREED_BY(drop_ranking) okra_ranking *r = NULL;
    s->has_each = false;
    MAKE(score, s->n * s->d);
    MAKE(positive, s->n * s->d);
    MAKE(row, s->d);
    for (okra_int i = 0; i < s->n; i++) {
        const double *y = okra_metric_row_(s->truth, i, row);
        for (okra_int j = 0; j < s->d; j++) {
            REFUSE_IF(y[j] != 0 && y[j] != 1, OKRA_EARG,
                      "the truth holds %g at object %lld, coordinate %lld; expected 0 or "
                      "1",
                      y[j], (long long)i, (long long)j);
            positive[i * s->d + j] = y[j] == 1;
        }
        const double *z = okra_metric_row_(s->predicted, i, row);
        for (okra_int j = 0; j < s->d; j++) {
            score[i * s->d + j] = z[j];
        }
    }
    CHK(create(s->n * s->d, score, positive, s->truth->weights, s->d, &r));
    s->value = roc ? okra_ranking_auc_roc(r) : okra_ranking_auc_pr(r);
    return OKRA_OK;
}

static okra_status auc_roc(okra_context *ctx, const void *params, okra_scores_ *s)
{
    return auc(s, true);
}

static okra_status auc_pr(okra_context *ctx, const void *params, okra_scores_ *s)
{
    return auc(s, false);
}

const okra_metric_ okra_metric_auc_roc_ = {
    .name = "auc-roc",
    .help =
        "area under the ROC curve of scores against a 0/1 truth, all entries together",
    .params = {"metric auc-roc", NULL, 0},
    .kinds = OKRA_METRIC_VECTORS_,
    .loss = false,
    .score = auc_roc,
    .links = okra_ranking_auc_roc,
};

const okra_metric_ okra_metric_auc_pr_ = {
    .name = "auc-pr",
    .help = "average precision of scores against a 0/1 truth, all entries together",
    .params = {"metric auc-pr", NULL, 0},
    .kinds = OKRA_METRIC_VECTORS_,
    .loss = false,
    .score = auc_pr,
    .links = okra_ranking_auc_pr,
};
