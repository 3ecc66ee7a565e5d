/*
 * Trees on columns: splits and unseen pairs against plain sums.
 */
#include "forest.h"

/* l(y_i, y_j) as splits see it: explicit outputs in units of their deviations. */
static void output_gram(const toy *t, bool features, int shape, double *L)
{
    okra_int n = t->n;
    for (okra_int i = 0; i < n * n; i++) {
        L[i] = features ? 0 : t->L[i];
    }
    for (okra_int j = 0; features && j < t->d; j++) {
        double mean = 0, var = 0;
        for (okra_int i = 0; i < n; i++) {
            mean += t->Y[i * D + j] / (double)n;
        }
        for (okra_int i = 0; i < n; i++) {
            var += pow(t->Y[i * D + j] - mean, 2) / (double)n;
        }
        var = shape == ZERO_ONE || var <= 0 ? 1 : var;
        for (okra_int i = 0; i < n * n; i++) {
            L[i] += t->Y[i / n * D + j] * t->Y[i % n * D + j] / var;
        }
    }
}

/* The sum of l over all pairs of some items, over their number. */
static double mass(const double *L, okra_int n, const double *item, okra_int s)
{
    double sum = 0;
    for (okra_int a = 0; a < s * s; a++) {
        sum += L[(okra_int)item[a / s] * n + (okra_int)item[a % s]];
    }
    return sum / (double)s;
}

static void check_tree(const toy *t, const double *L, const okra_store_ *store,
                       okra_int tree, okra_int leaf)
{
    okra_mat_ nodes = okra_store_mat_(store, "nodes"),
              roots = okra_store_mat_(store, "roots"),
              items = okra_store_mat_(store, "items");
    okra_int end = tree + 1 < roots.cols ? (okra_int)roots.p[tree + 1] : nodes.rows;
    for (okra_int k = (okra_int)roots.p[tree]; k < end; k++) {
        const double *node = nodes.p + k * OKRA_NODE_FIELDS_;
        const double *item = items.p + tree * t->n + (okra_int)node[OKRA_NODE_BEGIN_];
        okra_int s = (okra_int)(node[OKRA_NODE_END_] - node[OKRA_NODE_BEGIN_]);
        bool same_x = true, same_y = true;
        for (okra_int a = 1; a < s; a++) {
            okra_int i = (okra_int)item[a], o = (okra_int)item[0];
            same_x = same_x && !memcmp(t->X + i * LD, t->X + o * LD, P * sizeof(double));
            same_y = same_y && fabs(L[i * t->n + i] + L[o * t->n + o] -
                                    2 * L[i * t->n + o]) < 1e-12;
        }
        if (node[OKRA_NODE_FEATURE_] < 0) { /* a leaf has a reason */
            CHECK(s < 2 * leaf || same_x || same_y || leaf > 1);
            continue;
        }
        const double *one = nodes.p + (okra_int)node[OKRA_NODE_LEFT_] * OKRA_NODE_FIELDS_;
        okra_int left = (okra_int)(one[OKRA_NODE_END_] - one[OKRA_NODE_BEGIN_]);
        CHECK(left >= leaf && s - left >= leaf);
        for (okra_int a = 0; a < s; a++) {
            double x = t->X[(okra_int)item[a] * LD + (okra_int)node[OKRA_NODE_FEATURE_]];
            CHECK((x < node[OKRA_NODE_CUT_]) == (a < left));
        }
        double want = mass(L, t->n, item, left) + mass(L, t->n, item + left, s - left) -
                      mass(L, t->n, item, s);
        /* worst measured 1.6e-12 */
        CHECK_NEAR(node[OKRA_NODE_REDUCTION_], want, 2e-11);
    }
}

TEST(splits_reduce_what_sums_over_pairs_say)
{
    for (int c = 0; c < SOME(120); c++) {
        static toy t;
        double L[N * N];
        okra_int leaf = 1 + c % 3;
        char text[8];
        int shape = c % SHAPES;
        bool features = c % 2 == 0;
        okra_store_ *store = NULL;
        make(shape, c < 25 ? 1 + c / 5 : N, (uint64_t)c, &t);
        output_gram(&t, features, shape, L);
        snprintf(text, sizeof text, "%d", (int)leaf);
        CHECK_OK(fit_columns(NULL, &t, features, text, c % 4 < 2 ? "0" : "3", &store));
        for (okra_int k = 0; store && k < TREES; k++) {
            check_tree(&t, L, store, k, leaf);
        }
        okra_store_free_(store);
        drop(&t);
    }
}

/* ---- unseen pairs ---- */

TEST(unseen_pairs_are_those_of_plain_sums)
{
    for (int c = 0; c < SOME(60); c++) {
        static toy t;
        static unseen want, got;
        bool features = c % 2 == 0;
        okra_store_ *store = NULL;
        make(c % SHAPES, c < 10 ? 2 + c % 4 : N, (uint64_t)c, &t);
        okra_problem_ p = problem_of(&t, features);
        okra_judged_ judged = {0};
        double L[N * N];
        CHECK_OK(okra_judged_create_(NULL, &p, &judged));
        okra_mat_ F = judged.F;
        output_gram(&t, features, c % SHAPES, L);
        for (okra_int i = 0; i < t.n * t.n; i++) {
            const double *a = F.p + i / t.n * F.cols, *b = F.p + i % t.n * F.cols;
            CHECK_NEAR(okra_dot_(F.cols, a, b), L[i], 1e-11); /* worst 9e-13 */
        }
        CHECK_OK(fit_columns(NULL, &t, features, "1", "3", &store));
        naive_unseen(&t, store, F, &want);
        okra_unseen_ to = {okra_mat_of_(got.W, t.n, t.n),
                           okra_mat_of_(got.E, t.n, F.cols), got.count, got.noise};
        CHECK_OK(okra_columns_unseen_(NULL, store, t.x, F, NULL, &to));
        for (okra_int i = 0; i < t.n; i++) {
            /* dealt out to three hands, or as many as there are pairs */
            CHECK(got.count[i] == want.count[i] && got.count[i] >= 3);
            CHECK_NEAR(got.noise[i], want.noise[i], 4e-14); /* worst 4e-15 */
            CHECK(got.W[i * t.n + i] == 0);
        }
        for (okra_int i = 0; i < t.n * t.n; i++) {
            CHECK_NEAR(got.W[i], want.W[i], 1e-14);
        }
        for (okra_int i = 0; i < t.n * F.cols; i++) {
            CHECK_NEAR(got.E[i], want.E[i], 1e-14); /* worst 9e-16 */
        }
        okra_judged_clear_(&judged);
        okra_store_free_(store);
        drop(&t);
    }
}

/* One tree leaves a third of the pairs out: the others get the mean of all but them. */
TEST(pairs_that_every_tree_has_seen_get_the_mean_of_others)
{
    static toy t;
    static unseen z;
    okra_store_ *store = NULL;
    const char *const set[] = {"splits", "columns", "trees", "1", "parts", "3", NULL};
    make(PLAIN, 9, 3, &t);
    okra_problem_ p = problem_of(&t, true);
    CHECK_OK(okra_judged_create_(NULL, &p, &z.judged));
    CHECK_OK(fit(NULL, "ok3", &t, true, set, &store));
    okra_unseen_ to = {okra_mat_of_(z.W, 9, 9), okra_mat_of_(z.E, 9, D), z.count,
                       z.noise};
    CHECK_OK(okra_columns_unseen_(NULL, store, t.x, z.judged.F, NULL, &to));
    okra_int none = 0;
    for (okra_int i = 0; i < 9; i++) {
        none += z.count[i] == 0;
        for (okra_int j = 0; j < 9 && z.count[i] == 0; j++) {
            CHECK_NEAR(z.W[i * 9 + j], j == i ? 0 : 1.0 / 8, 1e-15);
        }
    }
    CHECK(none == 6);
    okra_judged_clear_(&z.judged);
    okra_store_free_(store);
    drop(&t);
}

TEST(what_has_no_columns_is_refused)
{
    static toy t;
    okra_store_ *store = NULL;
    okra_data *gram = NULL;
    make(PLAIN, 6, 1, &t);
    const char *const one[] = {"splits", "columns", "parts", "1", NULL};
    CHECK_FAILS(fit(NULL, "ok3", &t, true, one, &store), OKRA_EARG, "parts is 1");
    const char *const kernel[] = {"parts", "2", NULL};
    CHECK_FAILS(fit(NULL, "ok3", &t, true, kernel, &store), OKRA_EARG,
                "ok3: parts is for splits on columns");
    CHECK_OK(okra_data_gram(t.K, 6, 6, 6, NULL, &gram));
    okra_data *dense = t.x;
    t.x = gram;
    CHECK_FAILS(fit_columns(NULL, &t, true, "1", "0", &store), OKRA_EARG,
                "trees split on columns of dense inputs, and these are");
    okra_query_ q = query_of(&t);
    okra_mat_ X;
    q.x = gram;
    CHECK_FAILS(okra_columns_query_(&q, &X), OKRA_EUNSUPPORTED, "dense vectors");
    t.x = dense;
    okra_data_free(gram);
    drop(&t);
}

MAIN(RUN(splits_reduce_what_sums_over_pairs_say),
     RUN(unseen_pairs_are_those_of_plain_sums),
     RUN(pairs_that_every_tree_has_seen_get_the_mean_of_others),
     RUN(what_has_no_columns_is_refused))
