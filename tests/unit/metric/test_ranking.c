/*
 * Rankings against counts over all pairs and all thresholds, with and without ties.
 */
#include "harness.h"
#include "okra/data.h"
#include "okra/metric.h"
#include "okra/more/ranking.h"

enum { MOST = 60 };

typedef struct items {
    okra_int n;
    double score[MOST];
    unsigned char positive[MOST];
} items;

/* levels: how many different scores, about; both classes are there. */
static items draw(uint64_t seed, okra_int n, okra_int levels)
{
    items t = {.n = n};
    okra_random_ r = okra_random_create_(seed, 0);
    for (okra_int i = 0; i < n; i++) {
        t.score[i] = (double)okra_random_below_(&r, levels) - 2;
        t.positive[i] = okra_random_uniform_(&r) < 0.3;
    }
    t.positive[0] = 1;
    t.positive[n - 1] = 0;
    return t;
}

static double pairs_in_order(const items *t)
{
    double good = 0, all = 0;
    for (okra_int i = 0; i < t->n; i++) {
        for (okra_int j = 0; j < t->n; j++) {
            if (t->positive[i] && !t->positive[j]) {
                good += t->score[i] > t->score[j]    ? 1
                        : t->score[i] == t->score[j] ? 0.5
                                                     : 0;
                all++;
            }
        }
    }
    return good / all;
}

static void count(const items *t, double at_least, double *tp, double *all)
{
    *tp = *all = 0;
    for (okra_int i = 0; i < t->n; i++) {
        *tp += t->score[i] >= at_least && t->positive[i];
        *all += t->score[i] >= at_least;
    }
}

/* Each positive contributes the precision at its own score. */
static double average_precision(const items *t)
{
    double sum = 0, positives = 0;
    for (okra_int i = 0; i < t->n; i++) {
        if (t->positive[i]) {
            double tp, all;
            count(t, t->score[i], &tp, &all);
            sum += tp / all;
            positives++;
        }
    }
    return sum / positives;
}

static double best_f1(const items *t)
{
    double best = 0, positives = 0, unused;
    count(t, -1e300, &positives, &unused);
    for (okra_int i = 0; i < t->n; i++) {
        double tp, all;
        count(t, t->score[i], &tp, &all);
        best = fmax(best, 2 * tp / (all + positives));
    }
    return best;
}

/* The expected number of positives among the first k, ties in any order. */
static double precision_at(const items *t, okra_int k)
{
    double sum = 0;
    for (okra_int i = 0; i < t->n; i++) {
        double before = 0, equal = 0;
        for (okra_int j = 0; j < t->n; j++) {
            before += t->score[j] > t->score[i];
            equal += t->score[j] == t->score[i];
        }
        double inside = fmin(fmax((double)k - before, 0), equal) / equal;
        sum += t->positive[i] ? inside : 0;
    }
    return sum / (double)k;
}

/* Sums of at most 60 terms of size 1: worst 2.3e-16 over these cases. */
static const double tolerance = 3e-15;

TEST(equals_counts_over_pairs_and_thresholds)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        items t = draw(seed, 2 + (okra_int)(seed % (MOST - 1)), seed % 3 ? 5 : 1 << 20);
        okra_ranking *r = NULL;
        double f1, tp, all;
        CHECK_OK(okra_ranking_create(t.n, t.score, t.positive, &r));
        CHECK_NEAR(okra_ranking_auc_roc(r), pairs_in_order(&t), tolerance);
        CHECK_NEAR(okra_ranking_auc_pr(r), average_precision(&t), tolerance);
        for (okra_int k = 1; k <= t.n; k++) {
            CHECK_NEAR(okra_ranking_precision(r, k), precision_at(&t, k), tolerance);
        }
        double threshold = okra_ranking_threshold(r, &f1);
        CHECK_NEAR(f1, best_f1(&t), tolerance);
        count(&t, threshold, &tp, &all);
        CHECK_NEAR(2 * tp / (all + (double)okra_ranking_positives(r)), f1, tolerance);
        okra_ranking_free(r);
    }
}

TEST(points_of_the_curves)
{
    items t = draw(7, MOST, 12);
    okra_ranking *r = NULL;
    CHECK_OK(okra_ranking_create(t.n, t.score, t.positive, &r));
    double before = -1, positives = (double)okra_ranking_positives(r);
    for (okra_int i = 0; i < 9; i++) {
        double score, fpr, recall, precision, tp, all;
        okra_ranking_point(r, i, 9, &score, &fpr, &recall, &precision);
        count(&t, score, &tp, &all);
        CHECK_NEAR(recall, tp / positives, tolerance);
        CHECK_NEAR(fpr, (all - tp) / (MOST - positives), tolerance);
        CHECK_NEAR(precision, tp / all, tolerance);
        CHECK(fpr >= before);
        before = fpr;
    }
    CHECK(before == 1);
    okra_ranking_point(r, 0, 9, NULL, NULL, NULL, NULL);
    okra_ranking_free(r);
}

/* Steps: the area stays whatever their number; all of them lie where recall changes. */
TEST(steps_of_the_precision_recall_curve)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        items t = draw(seed, 2 + (okra_int)(seed % (MOST - 1)), seed % 3 ? 5 : 1 << 20);
        okra_ranking *r = NULL;
        CHECK_OK(okra_ranking_create(t.n, t.score, t.positive, &r));
        for (okra_int most = 1; most <= MOST; most = 3 * most - 1 + (most == 1)) {
            double recall[MOST], precision[MOST], area = 0, before = 0;
            okra_int steps = okra_ranking_steps(r, most, recall, precision);
            CHECK(steps >= 1 && steps <= most);
            for (okra_int k = 0; k < steps; k++) {
                CHECK(recall[k] > before && precision[k] > 0 && precision[k] <= 1);
                area += (recall[k] - before) * precision[k];
                before = recall[k];
            }
            CHECK(before == 1);
            CHECK_NEAR(area, okra_ranking_auc_pr(r), tolerance);
        }
        double recall[MOST], precision[MOST], tp, all;
        okra_int steps = okra_ranking_steps(r, MOST, recall, precision);
        for (okra_int k = 0; k < steps && t.n < MOST; k++) {
            bool found = false; /* every step is that of a threshold */
            for (okra_int i = 0; i < t.n; i++) {
                count(&t, t.score[i], &tp, &all);
                found =
                    found ||
                    (fabs(tp / (double)okra_ranking_positives(r) - recall[k]) < 1e-12);
            }
            CHECK(found);
        }
        okra_ranking_free(r);
    }
}

TEST(extremes)
{
    const double score[] = {3, 2, 1, 0};
    const unsigned char best[] = {1, 1, 0, 0}, worst[] = {0, 0, 1, 1};
    okra_ranking *r = NULL;
    CHECK_OK(okra_ranking_create(4, score, best, &r));
    CHECK(okra_ranking_auc_roc(r) == 1 && okra_ranking_auc_pr(r) == 1);
    CHECK(okra_ranking_threshold(r, NULL) == 2);
    CHECK(okra_ranking_precision(r, 100) == 0.5);
    CHECK(isnan(okra_ranking_precision(r, 0)));
    okra_ranking_free(r);
    CHECK_OK(okra_ranking_create(4, score, worst, &r));
    CHECK(okra_ranking_auc_roc(r) == 0);
    okra_ranking_free(r);
    okra_ranking_free(NULL);
}

TEST(refusals)
{
    const double score[] = {3, (double)NAN}, infinite[] = {(double)INFINITY, 0};
    const unsigned char both[] = {1, 0}, none[] = {0, 0}, all[] = {1, 1};
    okra_ranking *r = NULL;
    CHECK_FAILS(okra_ranking_create(2, score, both, &r), OKRA_EARG, "score 1 is NaN");
    CHECK_FAILS(okra_ranking_create(2, infinite, none, &r), OKRA_EARG,
                "2 items, 0 of them positive");
    CHECK_FAILS(okra_ranking_create(2, infinite, all, &r), OKRA_EARG, "2 of them");
    CHECK_FAILS(okra_ranking_create(0, NULL, NULL, &r), OKRA_EARG, "0 items");
    CHECK(!r);
    CHECK_OK(okra_ranking_create(2, infinite, both, &r));
    CHECK(okra_ranking_auc_roc(r) == 1);
    okra_ranking_free(r);
}

TEST(as_metrics)
{
    const double truth[] = {1, 0, 0, 1, 0, 0}, scores[] = {5, 1, 2, 3, 4, -1};
    const double other[] = {1, 0, 2, 1, 0, 0};
    okra_data *y = NULL, *z = NULL, *bad = NULL;
    double value;
    bool each = true, loss = true;
    CHECK_OK(okra_data_dense(truth, 3, 2, 2, &y));
    CHECK_OK(okra_data_dense(scores, 3, 2, 2, &z));
    CHECK_OK(okra_data_dense(other, 3, 2, 2, &bad));
    CHECK_OK(okra_score(NULL, "auc-roc", y, z, &value, NULL, &each));
    CHECK_NEAR(value, 7.0 / 8, tolerance);
    CHECK(!each);
    CHECK_OK(okra_score(NULL, "auc-pr", y, z, &value, NULL, NULL));
    CHECK_NEAR(value, (1 + 2.0 / 3) / 2, tolerance);
    CHECK_OK(okra_metric_is_loss("auc-pr", &loss));
    CHECK(!loss);
    CHECK_FAILS(okra_score(NULL, "auc-roc", bad, z, &value, NULL, NULL), OKRA_EARG,
                "the truth holds 2 at object 1, coordinate 0; expected 0 or 1");
    okra_data_free(y);
    okra_data_free(z);
    okra_data_free(bad);
}

TEST(failing_allocations)
{
    items t = draw(3, 20, 5);
    okra_ranking *r = NULL;
    CHECK_ALLOCATIONS(okra_ranking_create(t.n, t.score, t.positive, &r),
                      okra_ranking_free(r));
}

MAIN(RUN(equals_counts_over_pairs_and_thresholds), RUN(points_of_the_curves),
     RUN(steps_of_the_precision_recall_curve), RUN(extremes), RUN(refusals),
     RUN(as_metrics), RUN(failing_allocations))
