/*
 * fuse.c: the rankings of several models as one.
 *
 * z_k(q, c) = (mean_k(q) - d_k(q, c)) / deviation_k(q) over the candidates that list k
 * has of test q, and the smallest of these for one that it does not have; s(q, c) = sum_k
 * w_k z_k(q, c). Weights are chosen by trying every way to share ten tenths among the
 * lists. Cost: e log e for e entries, and for the choice as many passes as there are
 * ways.
 */
#include "core/core.h"
#include "okra/more/ranking.h"
#include "okra/more/fuse.h"

enum { LISTS_MOST = 64, CHOSEN_MOST = 5, TENTHS = 10 };
static const double WEIGHTS_MOST = 1e290; /* scores are finite */

typedef struct entry {
    okra_int test, candidate;
    int list;
    double z;
} entry;

struct okra_fused {
    okra_int count;
    okra_int *test, *candidate;
    double *score;
};

/* Every (test, candidate) of any list, with its z of each list. */
typedef struct table {
    int lists;
    okra_int rows;
    okra_int *test, *candidate;
    double *z; /* rows x lists */
} table;

OKRA_CLEARS_(clear, table, it->test, it->candidate, it->z)

OKRA_ORDER_(by_place, entry, OKRA_UP_(test), OKRA_UP_(candidate), OKRA_UP_(list))

OKRA_ORDER_(by_list, entry, OKRA_UP_(test), OKRA_UP_(list), OKRA_UP_(candidate))

static okra_status check_list(const okra_list *l, int k)
{
    REFUSE_IF(l->count < 0 ||
                  (l->count > 0 && (!l->test || !l->candidate || !l->distance)),
              OKRA_EARG, "list %d (counted from 0) has no entries to read", k);
    for (okra_int i = 0; i < l->count; i++) {
        REFUSE_IF(l->test[i] < 0 || l->candidate[i] < 0 || !isfinite(l->distance[i]),
                  OKRA_EARG,
                  "list %d (counted from 0): entry %" PRId64
                  " has a negative number or no finite distance",
                  k, i);
    }
    return OKRA_OK;
}

/* Distances of each test and list as z, in place; entries by list. */
static okra_status standardise(entry *e, okra_int count)
{
    for (okra_int begin = 0, end; begin < count; begin = end) {
        double sum = 0, square = 0, largest = 0;
        bool differ = false;
        int exponent = 0;
        for (end = begin;
             end < count && e[end].test == e[begin].test && e[end].list == e[begin].list;
             end++) {
            REFUSE_IF(end > begin && e[end].candidate == e[end - 1].candidate, OKRA_EARG,
                      "test %" PRId64 " has candidate %" PRId64
                      " twice in list %d (counted from 0)",
                      e[end].test, e[end].candidate, e[end].list);
            largest = fmax(largest, fabs(e[end].z));
            differ = differ || e[end].z != e[begin].z;
        }
        (void)frexp(largest, &exponent); /* by a power of two: sums do not overflow */
        double scale = ldexp(1, -OKRA_MAX_(exponent, -1000));
        for (okra_int i = begin; i < end; i++) {
            e[i].z *= scale;
            sum += e[i].z;
        }
        double n = (double)(end - begin), mean = sum / n;
        for (okra_int i = begin; i < end; i++) {
            square += (e[i].z - mean) * (e[i].z - mean);
        }
        double deviation = sqrt(square / n);
        for (okra_int i = begin; i < end; i++) {
            e[i].z = differ && deviation > 0 ? (mean - e[i].z) / deviation : 0;
        }
    }
    return OKRA_OK;
}

/* Rows of one test: entries begin..end, by place. */
static void put_test(const entry *e, okra_int begin, okra_int end, table *t)
{
    double worst[LISTS_MOST] = {0};
    for (okra_int i = begin; i < end; i++) {
        worst[e[i].list] = fmin(worst[e[i].list], e[i].z);
    }
    for (okra_int i = begin; i < end; i++) {
        if (i == begin || e[i].candidate != e[i - 1].candidate) {
            t->test[t->rows] = e[i].test;
            t->candidate[t->rows] = e[i].candidate;
            memcpy(t->z + t->rows * t->lists, worst, (size_t)t->lists * sizeof *worst);
            t->rows++;
        }
        t->z[(t->rows - 1) * t->lists + e[i].list] = e[i].z;
    }
}

/* The array of a caller whose okra_list is shorter or longer than this one. */
static okra_status read_lists(const okra_list *given, int count, okra_list *lists)
{
    NOT_NULL(given);
    REFUSE_IF(count < 1 || count > LISTS_MOST, OKRA_EARG, "%d lists, expected 1 to %d",
              count, LISTS_MOST);
    for (int k = 0; k < count; k++) {
        const char *at = (const char *)given + (size_t)k * given->size;
        CHK(okra_sized_("okra_fuse", "lists", at, &lists[k], sizeof *lists));
    }
    return OKRA_OK;
}

static okra_status make_table(const okra_list *given, int count, table *t)
{
    OWNED entry *e = NULL;
    okra_list lists[LISTS_MOST];
    okra_int total = 0, used = 0;
    CHK(read_lists(given, count, lists));
    for (int k = 0; k < count; k++) {
        CHK(check_list(&lists[k], k));
        total += lists[k].count;
    }
    t->lists = count;
    MAKE(e, total);
    MAKE(t->test, total);
    MAKE(t->candidate, total);
    MAKE(t->z, total * count);
    for (int k = 0; k < count; k++) {
        for (okra_int i = 0; i < lists[k].count; i++) {
            e[used++] =
                (entry){lists[k].test[i], lists[k].candidate[i], k, lists[k].distance[i]};
        }
    }
    if (total > 0) {
        qsort(e, (size_t)total, sizeof *e, by_list);
        CHK(standardise(e, total));
        qsort(e, (size_t)total, sizeof *e, by_place);
    }
    for (okra_int begin = 0, end; begin < total; begin = end) {
        for (end = begin; end < total && e[end].test == e[begin].test; end++) {
        }
        put_test(e, begin, end, t);
    }
    return OKRA_OK;
}

static double score_of(const table *t, const double *weights, okra_int row)
{
    double sum = 0;
    for (int k = 0; k < t->lists; k++) {
        sum += weights[k] * t->z[row * t->lists + k];
    }
    return sum;
}

typedef struct scored {
    okra_int test, candidate;
    double score;
} scored;

OKRA_ORDER_(by_score, scored, OKRA_UP_(test), OKRA_DOWN_(score), OKRA_UP_(candidate))

OKRA_SHARED_FREES_(okra_fused_free, okra_fused, it->test, it->candidate, it->score)

OKRA_DROPS_(drop_fused, okra_fused, okra_fused_free)

okra_status okra_fuse(const okra_list *lists, int count, const double *weights,
                      okra_fused **out)
{
    FREED_BY(clear) table t = {0};
    OWNED scored *s = NULL;
    FREED_BY(drop_fused) okra_fused *f = NULL;
    double sum = 0;
    NOT_NULL(weights, out);
    CHK(make_table(lists, count, &t));
    for (int k = 0; k < count; k++) {
        REFUSE_IF(!(weights[k] >= 0) || !isfinite(weights[k]), OKRA_EARG,
                  "weight %d (counted from 0) is %g, expected at least 0", k, weights[k]);
        sum += weights[k];
    }
    REFUSE_IF(!(sum > 0), OKRA_EARG, "all weights are 0");
    REFUSE_IF(!(sum < WEIGHTS_MOST), OKRA_EARG,
              "the weights add up to %g, expected less than %g", sum, WEIGHTS_MOST);
    MAKE(s, t.rows);
    for (okra_int i = 0; i < t.rows; i++) {
        s[i] = (scored){t.test[i], t.candidate[i], score_of(&t, weights, i)};
    }
    OKRA_SORT_(s, t.rows, by_score);
    ZMAKE(f, 1);
    f->count = t.rows;
    MAKE(f->test, t.rows);
    MAKE(f->candidate, t.rows);
    MAKE(f->score, t.rows);
    for (okra_int i = 0; i < t.rows; i++) {
        f->test[i] = s[i].test;
        f->candidate[i] = s[i].candidate;
        f->score[i] = s[i].score;
    }
    *out = TAKE(f);
    return OKRA_OK;
}

okra_int okra_fused_entries(const okra_fused *f, const okra_int **test,
                            const okra_int **candidate, const double **score)
{
    GIVE(test, f ? f->test : NULL);
    GIVE(candidate, f ? f->candidate : NULL);
    GIVE(score, f ? f->score : NULL);
    return f ? f->count : 0;
}

/* ---- weights ---- */

/* Every test of the lists has a truth, and one of them at least is known. */
static okra_status check_truth(const table *t, const okra_int *truth, okra_int tests)
{
    bool known = false;
    for (okra_int i = 0; i < tests && !known; i++) {
        known = truth[i] >= 0;
    }
    REFUSE_IF(t->rows > 0 && t->test[t->rows - 1] >= tests, OKRA_EARG,
              "a list has test %" PRId64 " (counted from 0), but there are %" PRId64
              " true outputs",
              t->test[t->rows - 1], tests);
    return known ? OKRA_OK
                 : okra_fail_(OKRA_EARG,
                              "weights cannot be chosen: none of the %" PRId64
                              " true outputs is among the candidates",
                              tests);
}

/* The mean of 1 / rank over the tests whose truth is known. */
static double reciprocal(const table *t, const double *weights, const okra_int *truth,
                         okra_int tests)
{
    double sum = 0;
    okra_int known = 0;
    for (okra_int i = 0; i < tests; i++) {
        known += truth[i] >= 0;
    }
    for (okra_int begin = 0, end; begin < t->rows; begin = end) {
        okra_int test = t->test[begin], own = -1, rank = 0;
        for (end = begin; end < t->rows && t->test[end] == test; end++) {
            own = t->candidate[end] == truth[test] ? end : own;
        }
        for (okra_int i = begin; own >= 0 && i < end; i++) {
            rank += score_of(t, weights, i) >= score_of(t, weights, own);
        }
        sum += own >= 0 ? 1 / (double)rank : 0;
    }
    return known > 0 ? sum / (double)known : 0;
}

/* Way number `code`: digits to the base 11 are the tenths of all lists but the last,
 * which gets the rest; false: they are more than ten. */
static bool share(int code, int count, double *weights)
{
    int left = TENTHS;
    for (int k = 0; k < count - 1; k++) {
        weights[k] = code % (TENTHS + 1) / (double)TENTHS;
        left -= code % (TENTHS + 1);
        code /= TENTHS + 1;
    }
    weights[count - 1] = left / (double)TENTHS;
    return left >= 0;
}

okra_status okra_fuse_weights(const okra_list *lists, int count, const okra_int *truth,
                              okra_int tests, double *weights, double *mrr)
{
    FREED_BY(clear) table t = {0};
    double best = -1, spread = 0;
    int ways = 1;
    NOT_NULL(truth, weights);
    CHK(make_table(lists, count, &t));
    CHK(check_truth(&t, truth, tests));
    REFUSE_IF(count > CHOSEN_MOST, OKRA_EARG,
              "weights are chosen for at most %d lists, there are %d", CHOSEN_MOST,
              count);
    for (int k = 1; k < count; k++) {
        ways *= TENTHS + 1;
    }
    for (int code = 0; code < ways; code++) {
        double w[CHOSEN_MOST] = {0}, squares = 0;
        if (!share(code, count, w)) {
            continue;
        }
        for (int k = 0; k < count; k++) {
            squares += w[k] * w[k];
        }
        double found = reciprocal(&t, w, truth, tests);
        if (found > best || (found == best && squares < spread)) {
            best = found;
            spread = squares;
            memcpy(weights, w, (size_t)count * sizeof *w);
        }
    }
    GIVE(mrr, best);
    return OKRA_OK;
}
