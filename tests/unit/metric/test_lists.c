/*
 * Lists and sets of candidates against the positions of their truth, counted by hand and
 * by a plain loop.
 */
#include "harness.h"

#include "metric/metric.h"
#include "okra/more/score.h"

static double score(const char *spec, const okra_int *truth, const okra_int *lists,
                    okra_int n, okra_int width)
{
    double value = NAN;
    CHECK_OK(okra_score_lists(NULL, spec, truth, lists, n, width, &value, NULL));
    return value;
}

TEST(by_hand)
{
    const okra_int lists[] = {4, 2, 7, 1, -1, -1, -1, -1, -1, 5, 6, 0};
    const okra_int truth[] = {7, 1, 3, -1};
    double each[4];
    double value;
    CHECK(score("hit-rate", truth, lists, 4, 3) == 0.25);
    CHECK(score("hit-rate:k=2", truth, lists, 4, 3) == 0.25);
    CHECK(score("hit-rate:k=3", truth, lists, 4, 3) == 0.5);
    CHECK(score("coverage", truth, lists, 4, 3) == 0.5);
    CHECK(score("set-size", truth, lists, 4, 3) == 1.75);
    CHECK_OK(okra_score_lists(NULL, "mrr", truth, lists, 4, 3, &value, each));
    CHECK_NEAR(value, (1.0 / 3 + 1) / 4, 1e-16);
    CHECK(each[0] == 1.0 / 3 && each[1] == 1 && each[2] == 0 && each[3] == 0);
}

/* Random lists without repeats: mrr is the sum over k of hits gained at k over k. */
TEST(against_hit_rates)
{
    enum { N = 50, WIDTH = 8, CANDIDATES = 20 };
    okra_random_ r = okra_random_create_(11, 0);
    for (int round = 0; round < 20; round++) {
        okra_int lists[N * WIDTH], truth[N], order[CANDIDATES];
        for (int i = 0; i < N; i++) {
            for (int k = 0; k < CANDIDATES; k++) {
                order[k] = k;
            }
            okra_random_shuffle_(&r, CANDIDATES, order);
            okra_int length = okra_random_below_(&r, WIDTH + 1);
            for (int k = 0; k < WIDTH; k++) {
                lists[i * WIDTH + k] = k < length ? order[k] : -1;
            }
            truth[i] = okra_random_below_(&r, CANDIDATES + 1) - 1;
        }
        double before = 0, sum = 0;
        for (int k = 1; k <= WIDTH; k++) {
            char spec[32];
            snprintf(spec, sizeof spec, "hit-rate:k=%d", k);
            double now = score(spec, truth, lists, N, WIDTH);
            CHECK(now >= before);
            sum += (now - before) / k;
            before = now;
        }
        CHECK_NEAR(score("mrr", truth, lists, N, WIDTH), sum, 1e-14); /* 1e-16 seen */
        CHECK(score("coverage", truth, lists, N, WIDTH) == before);
    }
}

TEST(refusals)
{
    const okra_int one[] = {0};
    double value, x[] = {1};
    okra_data *data = NULL;
    bool loss = true;
    CHECK_FAILS(okra_score_lists(NULL, "mae", one, one, 1, 1, &value, NULL), OKRA_EARG,
                "metric mae compares objects, not lists of candidates");
    CHECK_FAILS(okra_score_lists(NULL, "mrr", one, one, 0, 1, &value, NULL), OKRA_ESHAPE,
                "there are no lists");
    CHECK_FAILS(okra_score_lists(NULL, "hit-rate:k=0", one, one, 1, 1, &value, NULL),
                OKRA_EARG, "k is 0");
    CHECK_FAILS(okra_score_lists(NULL, NULL, one, one, 1, 1, &value, NULL), OKRA_EARG,
                "spec is NULL");
    CHECK_OK(okra_data_dense(x, 1, 1, 1, &data));
    CHECK_FAILS(okra_score(NULL, "mrr", data, data, &value, NULL, NULL), OKRA_EARG,
                "metric mrr compares lists of candidates with the true one");
    CHECK_OK(okra_metric_is_loss("hit-rate", &loss));
    CHECK(!loss);
    CHECK_FAILS(okra_score(NULL, "arrmse", data, data, &value, NULL, NULL), OKRA_EARG,
                "output 0 of the truth does not vary");
    okra_data_free(data);
    CHECK_ALLOCATIONS(okra_score_lists(NULL, "mrr", one, one, 1, 1, &value, NULL),
                      (void)0);
}

TEST(intervals_by_hand)
{
    /* two outputs of three objects, of which one value is not known, rows of three */
    const double truth[] = {1, 5, -9, NAN, 2, -9, 7, 0, -9}, none[] = {NAN};
    const double bounds[] = {0, 1, 6, 8, 0, 4, 2, 2, 8, 9, -1, 1};
    double each[3], value = 0;
    CHECK_OK(
        okra_score_intervals(NULL, "coverage", truth, 3, bounds, 3, 2, &value, each));
    CHECK(value == 0.6 && each[0] == 0.5 && each[1] == 1 && each[2] == 0.5);
    CHECK_OK(
        okra_score_intervals(NULL, "set-size", truth, 3, bounds, 3, 2, &value, NULL));
    CHECK(value == 10.0 / 6);
    CHECK_OK(okra_score_intervals(NULL, "set-size", none, 1, bounds, 1, 1, &value, NULL));
    CHECK(value == 1);
    CHECK_FAILS(
        okra_score_intervals(NULL, "coverage", none, 1, bounds, 1, 1, &value, NULL),
        OKRA_EARG, "the truth has no known value: there is no coverage");
    CHECK_FAILS(okra_score_intervals(NULL, "mrr", truth, 3, bounds, 3, 2, &value, NULL),
                OKRA_EARG, "metric mrr has no use of intervals: coverage, set-size");
    CHECK(value == 1);
}

MAIN(RUN(by_hand), RUN(against_hit_rates), RUN(refusals), RUN(intervals_by_hand))
