/*
 * test_fuse.c: rankings of several models as one, against plain loops over all pairs.
 */
#include "harness.h"

#include "okra/more/ranking.h"
#include "okra/more/fuse.h"

#include <math.h>

enum { TESTS = 6, CANDIDATES = 12, LISTS = 3 };

static double distance[LISTS][TESTS][CANDIDATES]; /* NaN: not in the list */
static okra_int test[LISTS][TESTS * CANDIDATES], candidate[LISTS][TESTS * CANDIDATES];
static double flat[LISTS][TESTS * CANDIDATES];
static okra_list lists[LISTS];

static void make_lists(uint64_t seed)
{
    okra_random_ r = okra_random_create_(seed, 0);
    for (int k = 0; k < LISTS; k++) {
        okra_int used = 0;
        for (int q = TESTS - 1; q >= 0; q--) {
            for (int c = 0; c < CANDIDATES; c++) {
                bool there = okra_random_uniform_(&r) < 0.7;
                double d = floor(8 * okra_random_uniform_(&r)) / 4; /* ties, too */
                d = k == 2 && q == 1 ? 1 : d;                       /* all the same */
                distance[k][q][c] = there ? d : (double)NAN;
                if (there) {
                    test[k][used] = q;
                    candidate[k][used] = c;
                    flat[k][used++] = d;
                }
            }
        }
        lists[k] =
            (okra_list){OKRA_SIZED(okra_list), used, test[k], candidate[k], flat[k]};
    }
}

/* By the definition; NaN: in no list. */
static double naive(const double *w, int lists_used, int q, int c)
{
    double sum = 0;
    bool any = false;
    for (int k = 0; k < lists_used; k++) {
        double mean = 0, square = 0, n = 0, worst = 0;
        for (int i = 0; i < CANDIDATES; i++) {
            if (!isnan(distance[k][q][i])) {
                mean += distance[k][q][i];
                n++;
            }
        }
        mean = n > 0 ? mean / n : 0;
        for (int i = 0; i < CANDIDATES; i++) {
            double d = distance[k][q][i];
            square += isnan(d) ? 0 : (d - mean) * (d - mean);
        }
        double deviation = n > 0 ? sqrt(square / n) : 0;
        for (int i = 0; i < CANDIDATES; i++) {
            double d = distance[k][q][i];
            worst =
                !isnan(d) && deviation > 0 ? fmin(worst, (mean - d) / deviation) : worst;
        }
        double d = distance[k][q][c];
        any = any || !isnan(d);
        sum += w[k] * (isnan(d) ? worst : deviation > 0 ? (mean - d) / deviation : 0);
    }
    return any ? sum : (double)NAN;
}

TEST(scores_are_weighted_sums)
{
    static const double weights[][LISTS] = {{1, 0, 0}, {0.2, 0.5, 0.3}, {1, 1, 1}};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        make_lists(seed);
        for (int v = 0; v < 3; v++) {
            okra_fused *fused = NULL;
            const okra_int *q = NULL, *c = NULL;
            const double *score = NULL;
            okra_int expected = 0;
            CHECK_OK(okra_fuse(lists, LISTS, weights[v], &fused));
            okra_int count = okra_fused_entries(fused, &q, &c, &score);
            for (okra_int i = 0; i < count; i++) {
                double want = naive(weights[v], LISTS, (int)q[i], (int)c[i]);
                CHECK_NEAR(score[i], want, 1e-13); /* seen: 2e-15 */
                CHECK(i == 0 || q[i] > q[i - 1] ||
                      (q[i] == q[i - 1] &&
                       (score[i] < score[i - 1] ||
                        (score[i] == score[i - 1] && c[i] > c[i - 1]))));
            }
            for (int k = 0; k < TESTS * CANDIDATES; k++) {
                expected +=
                    !isnan(naive(weights[v], LISTS, k / CANDIDATES, k % CANDIDATES));
            }
            CHECK(count == expected);
            okra_fused_free(fused);
        }
    }
}

static double naive_mrr(const double *w, int lists_used, const okra_int *truth)
{
    double sum = 0, known = 0;
    for (int q = 0; q < TESTS; q++) {
        double own = truth[q] >= 0 ? naive(w, lists_used, q, (int)truth[q]) : (double)NAN;
        int rank = 0;
        known += truth[q] >= 0;
        for (int c = 0; c < CANDIDATES && !isnan(own); c++) {
            rank += naive(w, lists_used, q, c) >= own;
        }
        sum += rank > 0 ? 1.0 / rank : 0;
    }
    return sum / known;
}

TEST(weights_are_the_best_tenths)
{
    for (uint64_t seed = 30; seed < 42; seed++) {
        const okra_int truth[TESTS] = {3, 0, -1, 7, 11, 5};
        double w[LISTS] = {0}, mrr = 0, best = 0;
        make_lists(seed);
        CHECK_OK(okra_fuse_weights(lists, LISTS, truth, TESTS, w, &mrr));
        CHECK_NEAR(w[0] + w[1] + w[2], 1, 1e-15);
        CHECK_NEAR(naive_mrr(w, LISTS, truth), mrr, 1e-12);
        for (int a = 0; a <= 10; a++) {
            for (int b = 0; a + b <= 10; b++) {
                double other[LISTS] = {a / 10.0, b / 10.0, (10 - a - b) / 10.0};
                best = fmax(best, naive_mrr(other, LISTS, truth));
            }
        }
        CHECK(mrr >= best - 0.02); /* rounding may settle ties of scores */
        CHECK_OK(okra_fuse_weights(lists, 1, truth, TESTS, w, &mrr));
        CHECK_NEAR(w[0], 1, 0);
    }
}

/* Distances near the largest number and far below 1: the same scores as of plain ones. */
TEST(distances_of_any_size)
{
    static const double sizes[] = {1e307, 1e-300, 0x1p-1060, 0x1p900};
    double weights[LISTS] = {0.5, 0.25, 0.25};
    okra_fused *plain = NULL, *scaled = NULL;
    const double *a = NULL, *b = NULL;
    make_lists(3);
    CHECK_OK(okra_fuse(lists, LISTS, weights, &plain));
    okra_int count = okra_fused_entries(plain, NULL, NULL, &a);
    for (int s = 0; s < 4; s++) {
        make_lists(3);
        for (int k = 0; k < LISTS; k++) {
            for (okra_int i = 0; i < lists[k].count; i++) {
                flat[k][i] *= sizes[s];
            }
        }
        CHECK_OK(okra_fuse(lists, LISTS, weights, &scaled));
        CHECK(okra_fused_entries(scaled, NULL, NULL, &b) == count);
        for (okra_int i = 0; i < count; i++) {
            CHECK_NEAR(a[i], b[i], 1e-13); /* seen: 2e-15 */
        }
        okra_fused_free(scaled);
    }
    okra_fused_free(plain);
    flat[0][0] = 1.7e308;
    flat[0][1] = -1.7e308;
    CHECK_OK(okra_fuse(lists, LISTS, weights, &plain));
    count = okra_fused_entries(plain, NULL, NULL, &a);
    for (okra_int i = 0; i < count; i++) {
        CHECK(isfinite(a[i]));
    }
    okra_fused_free(plain);
}

TEST(what_does_not_fit)
{
    okra_fused *fused = NULL;
    double w[8] = {1, 0, 0}, none[LISTS] = {0}, below[LISTS] = {1, -1, 0};
    okra_int truth[TESTS] = {0};
    okra_list six[6];
    make_lists(5);
    CHECK_FAILS(okra_fuse(lists, LISTS, none, &fused), OKRA_EARG, "all weights are 0");
    CHECK_FAILS(okra_fuse(lists, LISTS, below, &fused), OKRA_EARG,
                "weight 1 (counted from 0) is -1, expected at least 0");
    CHECK_FAILS(okra_fuse(lists, 0, w, &fused), OKRA_EARG, "0 lists, expected 1 to 64");
    double large[LISTS] = {1e308, 1e308, 0};
    CHECK_FAILS(okra_fuse(lists, LISTS, large, &fused), OKRA_EARG,
                "the weights add up to inf, expected less than");
    okra_int unknown[TESTS] = {-1, -1, -1, -1, -1, -1};
    CHECK_FAILS(okra_fuse_weights(lists, LISTS, unknown, TESTS, w, NULL), OKRA_EARG,
                "none of the 6 true outputs is among the candidates");
    CHECK_FAILS(okra_fuse_weights(lists, LISTS, truth, 2, w, NULL), OKRA_EARG,
                "a list has test 5 (counted from 0), but there are 2 true outputs");
    for (int k = 0; k < 6; k++) {
        six[k] = lists[0];
    }
    CHECK_FAILS(okra_fuse_weights(six, 6, truth, TESTS, w, NULL), OKRA_EARG,
                "weights are chosen for at most 5 lists, there are 6");
    candidate[0][1] = candidate[0][0];
    test[0][1] = test[0][0];
    CHECK(okra_fuse(lists, LISTS, w, &fused) == OKRA_EARG);
    test[0][1] = -1;
    CHECK(okra_fuse(lists, LISTS, w, &fused) == OKRA_EARG);
    make_lists(5);
    CHECK_ALLOCATIONS(okra_fuse(lists, LISTS, w, &fused), okra_fused_free(fused));
    struct {
        okra_list known;
        int64_t later;
    } longer[LISTS];
    okra_fused *plain = NULL;
    const double *scores = NULL, *plain_scores = NULL;
    for (int k = 0; k < LISTS; k++) { /* of a header with one field more */
        longer[k].known = lists[k];
        longer[k].known.size = sizeof *longer;
        longer[k].later = 0;
    }
    CHECK_OK(okra_fuse(lists, LISTS, w, &plain));
    CHECK_OK(okra_fuse(&longer[0].known, LISTS, w, &fused));
    okra_int count = okra_fused_entries(plain, NULL, NULL, &plain_scores);
    CHECK(okra_fused_entries(fused, NULL, NULL, &scores) == count);
    CHECK(count > 0 && memcmp(scores, plain_scores, (size_t)count * sizeof *scores) == 0);
    okra_fused_free(plain);
    okra_fused_free(fused);
    longer[1].later = 1;
    CHECK_FAILS(okra_fuse(&longer[0].known, LISTS, w, &fused), OKRA_EUNSUPPORTED,
                "does not know");
    longer[0].known.size = 0;
    CHECK_FAILS(okra_fuse(&longer[0].known, LISTS, w, &fused), OKRA_EARG, "OKRA_SIZED");
    okra_list empty = {OKRA_SIZED(okra_list), 0, NULL, NULL, NULL};
    CHECK_OK(okra_fuse(&empty, 1, w, &fused));
    CHECK(okra_fused_entries(fused, NULL, NULL, NULL) == 0);
    okra_fused_free(fused);
}

MAIN(RUN(scores_are_weighted_sums), RUN(weights_are_the_best_tenths),
     RUN(distances_of_any_size), RUN(what_does_not_fit))
