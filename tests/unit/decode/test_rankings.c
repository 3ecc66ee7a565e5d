/*
 * Rankings against all d! of them: distances and expected losses written out.
 */
#include "decoding.h"
#include "permutations.h"

enum { N = 9, TESTS = 6 };

static double kendall(const double *y, const double *z)
{
    double apart = 0;
    for (int a = 0; a < items; a++) {
        for (int b = 0; b < a; b++) {
            apart += (y[a] < y[b]) != (z[a] < z[b]);
        }
    }
    return apart / (items * (items - 1) / 2.0);
}
static double squares(const double *y, const double *z)
{
    double sum = 0;
    for (int a = 0; a < items; a++) {
        sum += (y[a] - z[a]) * (y[a] - z[a]);
    }
    return sum;
}
static double spearman(const double *y, const double *z)
{
    return 3 * squares(y, z) / (items * (items * items - 1.0));
}
static double mse(const double *y, const double *z)
{
    return squares(y, z) / items;
}
static double mae(const double *y, const double *z)
{
    double sum = 0;
    for (int a = 0; a < items; a++) {
        sum += fabs(y[a] - z[a]) / items;
    }
    return sum;
}
static double hamming(const double *y, const double *z)
{
    double sum = 0;
    for (int a = 0; a < items; a++) {
        sum += (double)(y[a] != z[a]) / items;
    }
    return sum;
}
static double right(const double *y, const double *z)
{
    return -(hamming(y, z) == 0);
}
/* z puts the items in an order without ties; larger is first where `up`. */
static double minus_ndcg(const double *gain, const double *z, int k, bool up)
{
    double sum = 0, best = 0;
    for (int a = 0; a < items; a++) {
        int place = 0, ideal = 0;
        for (int b = 0; b < items; b++) {
            place += up ? z[b] > z[a] : z[b] < z[a];
            ideal += gain[b] > gain[a] || (gain[b] == gain[a] && b < a);
        }
        sum += place < k ? gain[a] / log2(place + 2.0) : 0;
        best += ideal < k ? gain[a] / log2(ideal + 2.0) : 0;
    }
    return best > 0 ? -sum / best : 0;
}
static double ndcg(const double *y, const double *z)
{
    double gain[MOST] = {0};
    for (int a = 0; a < items; a++) {
        gain[a] = items - y[a];
    }
    return minus_ndcg(gain, z, items, false);
}
static double ndcg_at_3(const double *y, const double *z)
{
    double gain[MOST] = {0};
    for (int a = 0; a < items; a++) {
        gain[a] = exp2(items - y[a]) - 1;
    }
    return minus_ndcg(gain, z, 3, false);
}
static double of_tau(const double *y, const double *z)
{
    return 4 * kendall(y, z); /* 2 - 2 tau */
}
static double mallows(const double *y, const double *z)
{
    return 2 - 2 * exp(-of_tau(y, z) / 2);
}

static const struct {
    const char *decode, *kernel;
    double (*f)(const double *y, const double *z);
    bool exact; /* with 8 items too */
} cases[] = {
    {"loss:kendall", "spearman", kendall, true},
    {"loss:spearman", "kendall", spearman, true},
    {"loss:hamming", "kendall", hamming, true},
    {"loss:mae", "linear", mae, true},
    {"loss:mse", "rbf(sigma=3)", mse, true},
    {"loss:ndcg:order=ranks", "kendall", ndcg, true},
    {"loss:ndcg:gain=exponential,k=3,order=ranks", "linear", ndcg_at_3, true},
    {"loss:exact-match", "kendall", right, false},
    {"loss:kernel-loss:kernel=kendall", "spearman", of_tau, true},
    {"loss:kernel-loss:kernel=linear", "spearman", squares, true},
    {"loss:kernel-loss:kernel=kendall|rbf(sigma=1)", "spearman", mallows, false},
    {"rankings", "kendall", of_tau, true},
    {"rankings", "2*kendall", of_tau, true},
    {"rankings", "spearman", spearman, true},
    {"rankings", "linear", squares, true},
    {"rankings", "kendall|rbf(sigma=1)", mallows, false},
};
enum { CASES = sizeof cases / sizeof *cases };

static okra_status search(const outputs *o, const char *name, okra_int top, double *W,
                          okra_decoded_ *out)
{
    char settings[40];
    snprintf(settings, sizeof settings, "top=%d%s", (int)top,
             okra_decoder_argument_(name) ? " over-all=yes" : "");
    return decode(NULL, o, name, settings, W, TESTS, NULL, TESTS, out);
}

/* Random rankings near one another, and weights of which some are negative. */
static void problem(uint64_t seed, double *Y, double *W)
{
    okra_random_ r = okra_random_create_(seed, 21);
    for (int i = 0; i < N; i++) {
        double *y = Y + i * items;
        memcpy(y, every + okra_random_below_(&r, rankings) * items,
               sizeof *y * (size_t)items);
    }
    random_weights(&r, TESTS, N, W);
    for (int i = 0; seed % 4 == 3 && i < TESTS * N; i++) {
        W[i] = -W[i];
    }
}

/* Distances of kernels with equal l(y,y) are in the order of sum_i w_i D(y, y_i). */
static int beaten(int c, uint64_t seed)
{
    double Y[N * MOST], W[TESTS * N];
    okra_decoded_ d = {0};
    outputs o;
    int count = 0;
    problem(seed, Y, W);
    outputs_open(&o, cases[c].kernel, dense_copy(Y, N, items));
    CHECK_OK(search(&o, cases[c].decode, 1, W, &d));
    for (int t = 0; t < TESTS && d.objects; t++) {
        double least = (double)INFINITY, own = 0;
        for (int k = 0; k < rankings; k++) {
            double risk = 0;
            for (int i = 0; i < N; i++) {
                risk += W[t * N + i] * cases[c].f(Y + i * items, every + k * items);
            }
            least = fmin(least, risk);
        }
        for (int i = 0; i < N; i++) {
            own += W[t * N + i] *
                   cases[c].f(Y + i * items, d.objects->values + t * d.objects->ld);
        }
        if (strncmp(cases[c].decode, "loss", 4) == 0) {
            CHECK_NEAR(d.distance[t], own, 1e-12);
        }
        count += own > least + 1e-11 * (1 + fabs(least));
    }
    okra_decoded_clear_(&d);
    outputs_close(&o);
    return count;
}

/* The best of all rankings have the least risks, and no two are the same. */
static void check_top(int c, uint64_t seed, okra_int top)
{
    static double all[ALL];
    double Y[N * MOST], W[TESTS * N];
    okra_decoded_ d = {0};
    outputs o;
    problem(seed, Y, W);
    outputs_open(&o, cases[c].kernel, dense_copy(Y, N, items));
    CHECK_OK(search(&o, cases[c].decode, top, W, &d));
    for (int t = 0; t < TESTS && d.objects; t++) {
        for (int k = 0; k < rankings; k++) {
            all[k] = 0;
            for (int i = 0; i < N; i++) {
                all[k] += W[t * N + i] * cases[c].f(Y + i * items, every + k * items);
            }
        }
        CHECK(d.top == OKRA_MIN_(top, rankings)); /* no more than there are */
        for (okra_int k = d.top * t; k < d.top * (t + 1); k++) {
            double own = 0, *mine = &d.distance[k];
            for (int i = 0; d.index[k] >= 0 && i < N; i++) {
                own += W[t * N + i] *
                       cases[c].f(Y + i * items,
                                  d.proposals->values + d.index[k] * d.proposals->ld);
            }
            if (d.index[k] >= 0 && strncmp(cases[c].decode, "loss", 4) == 0) {
                CHECK_NEAR(*mine, own, 1e-12);
            }
            *mine = own; /* a distance is in the order of the risk */
        }
        check_best(&d, t, all, rankings, -(double)INFINITY, 1e-11);
    }
    okra_decoded_clear_(&d);
    outputs_close(&o);
}

/* 5,376 predictions. */
TEST(the_four_best)
{
    for (int d = 2; d <= 5; d++) {
        list_all(d);
        for (int c = 0; c < CASES; c++) {
            for (uint64_t seed = 0; seed < SOME(14); seed++) {
                check_top(c, seed + 1000 * (uint64_t)d, 4);
            }
        }
    }
    list_all(8);
    for (int c = 0; c < CASES; c++) { /* by exchanges of neighbours, or sets of items */
        bool own = strcmp(cases[c].decode, "rankings") == 0;
        bool exact = strcmp(cases[c].decode, "loss:spearman") == 0 ||
                     strcmp(cases[c].decode, "loss:kendall") == 0 ||
                     strstr(cases[c].decode, "kernel=linear") ||
                     (own && !strchr(cases[c].kernel, '|'));
        for (uint64_t seed = 0; exact && seed < SOME(3); seed++) {
            check_top(c, seed, seed > 0 ? 4 : 60);
        }
    }
}

/* Many of the best of more items than can be listed: ascending, all different, and none
 * of them is beaten by an exchange of neighbours that is not among them. */
TEST(many_of_the_best)
{
    enum { ITEMS = 12, PAIRS = 9, TOP = 3000 };
    static double Y[PAIRS * ITEMS];
    const char *const kernels[] = {"kendall", "spearman"};
    for (int c = 0; c < 2; c++) {
        okra_random_ r = okra_random_create_(5, (uint64_t)c);
        double W[PAIRS], most = 0;
        okra_decoded_ d = {0};
        okra_int *first = NULL;
        outputs o;
        for (int i = 0; i < PAIRS * ITEMS; i++) {
            okra_int k = i / ITEMS * ITEMS + okra_random_below_(&r, i % ITEMS + 1);
            Y[i] = Y[k];
            Y[k] = i % ITEMS + 1;
        }
        random_weights(&r, 1, PAIRS, W);
        outputs_open(&o, kernels[c], dense_copy(Y, PAIRS, ITEMS));
        CHECK_OK(decode(NULL, &o, "rankings", "top=3000", W, 1, NULL, 1, &d));
        CHECK(d.top == TOP && d.index[TOP - 1] >= 0);
        for (okra_int k = 1; k < TOP; k++) {
            CHECK(d.distance[k] >= d.distance[k - 1]);
            most = d.distance[k];
        }
        okra_int n = okra_data_count(d.proposals), inside = 0;
        double *swapped = okra_alloc_(n * ITEMS, sizeof *swapped);
        double *distance = okra_alloc_(n, sizeof *distance);
        okra_data *near = NULL;
        first = okra_alloc_(2 * n, sizeof *first);
        for (okra_int k = 0; k < n; k++) { /* ranks a and a + 1 of each exchanged */
            for (okra_int j = 0, a = 1 + k % (ITEMS - 1); j < ITEMS; j++) {
                double v = d.proposals->values[k * d.proposals->ld + j];
                swapped[k * ITEMS + j] = v == (double)a       ? v + 1
                                         : v == (double)a + 1 ? v - 1
                                                              : v;
            }
        }
        CHECK_OK(okra_data_dense(swapped, n, ITEMS, ITEMS, &near));
        all_distances(&o, near, W, distance);
        const okra_data *const both[] = {d.proposals, near};
        CHECK_OK(okra_data_same_(both, 2, first));
        for (okra_int k = 0; k < n; k++) {
            CHECK(first[k] == k);
            CHECK(first[n + k] < n || distance[k] >= most - 1e-11);
            inside += first[n + k] < n;
        }
        CHECK(inside > n / 10 && inside < n);
        FREE(swapped, distance, first);
        okra_data_free(near);
        okra_decoded_clear_(&d);
        outputs_close(&o);
    }
}

TEST(few_items_are_exact)
{
    for (int d = 2; d <= 6; d++) {
        list_all(d);
        for (int c = 0; c < CASES; c++) {
            for (uint64_t seed = 0; seed < SOME(12); seed++) {
                CHECK(beaten(c, seed + 100 * (uint64_t)d) == 0);
            }
        }
    }
}

TEST(more_items)
{
    list_all(8);
    for (int c = 0; c < CASES; c++) {
        int count = 0;
        for (uint64_t seed = 0; seed < SOME(3); seed++) {
            count += beaten(c, seed);
        }
        if (!cases[c].exact) {
            printf("  %s, %s: %d of %d beaten\n", cases[c].decode, cases[c].kernel, count,
                   TESTS * SOME(3));
        }
        CHECK(count <= (cases[c].exact ? 0 : 1));
    }
}

/* Graded relevances, among them rows without any: scores in an order that no other beats.
 */
static void check_scores(const char *decode, int k, bool exponential, uint64_t seed)
{
    okra_random_ r = okra_random_create_(seed, 8);
    double Y[N * MOST], gain[N * MOST], W[TESTS * N];
    okra_decoded_ d = {0};
    outputs o;
    for (int i = 0; i < N * items; i++) {
        Y[i] = i < items ? 0 : (double)okra_random_below_(&r, 4);
        gain[i] = exponential ? exp2(Y[i]) - 1 : Y[i];
    }
    random_weights(&r, TESTS, N, W);
    outputs_open(&o, "linear", dense_copy(Y, N, items));
    CHECK_OK(search(&o, decode, 1, W, &d));
    for (int t = 0; t < TESTS && d.objects; t++) {
        double least = (double)INFINITY;
        for (int q = 0; q < rankings; q++) {
            double risk = 0;
            for (int i = 0; i < N; i++) {
                risk += W[t * N + i] *
                        minus_ndcg(gain + i * items, every + q * items, k, true);
            }
            least = fmin(least, risk);
        }
        CHECK_NEAR(d.distance[t], least, 1e-13); /* worst seen: 9e-16 */
    }
    okra_decoded_clear_(&d);
    outputs_close(&o);
}

TEST(relevances_are_exact)
{
    for (int d = 1; d <= 7; d++) {
        list_all(d);
        for (uint64_t seed = 0; seed < SOME(6); seed++) {
            check_scores("loss:ndcg", d, false, seed + 10 * (uint64_t)d);
            check_scores("loss:ndcg:k=2,order=relevance,gain=exponential", 2, true,
                         seed + 10 * (uint64_t)d);
        }
    }
}

TEST(failures)
{
    double Y[6] = {1, 2, 3, 1, 1, 3}, W[TESTS * 2] = {0};
    okra_decoded_ d = {0};
    outputs o;
    outputs_open(&o, "kendall", dense_copy(Y, 2, 3));
    CHECK_FAILS(
        search(&o, "rankings", 1, W, &d), OKRA_EARG,
        "decoder rankings: the training outputs: row 1 is not a ranking: found 1 in "
        "column 1, expected each of 1 to 3");
    outputs_close(&o);
    Y[4] = 2;
    outputs_open(&o, "kendall", dense_copy(Y, 2, 3));
    CHECK_ALLOCATIONS(search(&o, "rankings", 1, W, &d), okra_decoded_clear_(&d));
    CHECK_ALLOCATIONS(search(&o, "rankings", 3, W, &d), okra_decoded_clear_(&d));
    CHECK_ALLOCATIONS(search(&o, "loss:hamming", 1, W, &d), okra_decoded_clear_(&d));
    CHECK_ALLOCATIONS(search(&o, "loss:ndcg:order=ranks", 1, W, &d),
                      okra_decoded_clear_(&d));
    CHECK_FAILS(search(&o, "loss:ndcg", 1, W, &d), OKRA_EARG,
                "metric ndcg: the truth holds each of 1 to 3 once: say order=ranks (1 is "
                "first) or order=relevance (larger is better)");
    outputs_close(&o);
}

MAIN(RUN(few_items_are_exact), RUN(the_four_best), RUN(many_of_the_best), RUN(more_items),
     RUN(relevances_are_exact), RUN(failures))
