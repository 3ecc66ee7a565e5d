/* jackknife+ and cv+ against refits without each fold, and split against its definition.
 */
#include "conformal_naive.h"
#include "okra/more/conformal.h"

static okra_conformal_settings settings(const char *how, const char *score)
{
    okra_conformal_settings s = {OKRA_SIZED(okra_conformal_settings)};
    s.how = how;
    s.score = score;
    return s;
}

/* The folds of cv+ are drawn: with as many folds as pairs they are those of jackknife+.
 */
static void compare_sets(uint64_t seed, const char *how, const char *score)
{
    task k;
    double p[MOST * MOST];
    okra_data *t = NULL, *c = NULL;
    okra_conformal_settings s = settings(how, score);
    bool normalized = strcmp(score, "normalized") == 0;
    task_make(seed, seed % 4 == 3, &k);
    s.folds = k.n;
    okra_model *model = task_fit(&k);
    CHECK_OK(okra_data_dense(k.t, k.tests, P, P, &t));
    CHECK_OK(okra_data_dense(k.c, k.count, D, D, &c));
    CHECK_OK(okra_conformal_p_values(NULL, model, t, c, &s, p));
    for (int e = 0; e < k.tests * k.count; e++) {
        int more = 1;
        for (int i = 0; i < k.n; i++) {
            bool drop[MOST] = {false};
            drop[i] = true;
            double left =
                naive_out(&k, k.n, k.x, k.y, drop, k.x + i * P, k.y + i * D, normalized);
            double own = naive_out(&k, k.n, k.x, k.y, drop, k.t + e / k.count * P,
                                   k.c + e % k.count * D, normalized);
            more += naive_least(left, own);
        }
        CHECK_NEAR(p[e], more / (k.n + 1.0), 1e-12);
    }
    okra_data_free(t);
    okra_data_free(c);
    okra_model_free(model);
}

TEST(sets_equal_refits)
{
    for (uint64_t seed = 0; seed < 240; seed++) {
        compare_sets(seed, "jackknife+", seed % 2 ? "normalized" : "distance");
        compare_sets(seed, "cv+", seed % 2 ? "distance" : "normalized");
    }
}

/* Two folds of pairs: whatever the draw, one of the partitions into halves must give the
 * p-values. */
TEST(folds_of_several_pairs_equal_refits)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        task k;
        double p[MOST * MOST];
        okra_data *t = NULL, *c = NULL;
        okra_conformal_settings s = settings("cv+", seed % 2 ? "normalized" : "distance");
        bool found = false;
        task_make(seed, false, &k);
        k.n = 6;
        s.folds = 2;
        okra_model *model = task_fit(&k);
        CHECK_OK(okra_data_dense(k.t, k.tests, P, P, &t));
        CHECK_OK(okra_data_dense(k.c, k.count, D, D, &c));
        CHECK_OK(okra_conformal_p_values(NULL, model, t, c, &s, p));
        for (int half = 0; half < 64 && !found; half++) {
            bool same = true, drop[2][MOST] = {{false}};
            int size = 0;
            for (int i = 0; i < 6; i++) {
                drop[half >> i & 1][i] = true;
                size += half >> i & 1;
            }
            for (int e = 0; size == 3 && same && e < k.tests * k.count; e++) {
                int more = 1;
                for (int i = 0; i < 6; i++) {
                    const bool *out = drop[half >> i & 1];
                    double left = naive_out(&k, 6, k.x, k.y, out, k.x + i * P,
                                            k.y + i * D, seed % 2);
                    double own = naive_out(&k, 6, k.x, k.y, out, k.t + e / k.count * P,
                                           k.c + e % k.count * D, seed % 2);
                    more += naive_least(left, own);
                }
                same = fabs(p[e] - more / 7.0) < 1e-12;
            }
            found = size == 3 && same;
        }
        CHECK(found);
        okra_data_free(t);
        okra_data_free(c);
        okra_model_free(model);
    }
}

static int ascending(const void *a, const void *b)
{
    double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

/* Leaving i out: the residual of coordinate j at pair i, and the prediction at test t. */
static void naive_left(const task *k, int i, int t, int j, double *residual, double *h)
{
    double K[MOST * MOST] = {0}, a[MOST] = {0}, b[MOST] = {0}, w[MOST] = {0};
    int m = 0, in[MOST];
    for (int l = 0; l < k->n; l++) {
        if (l != i) {
            in[m++] = l;
        }
    }
    for (int r = 0; r < m; r++) {
        a[r] = naive_k(k->gamma_x, P, k->x + in[r] * P, k->x + i * P);
        b[r] = naive_k(k->gamma_x, P, k->x + in[r] * P, k->t + t * P);
        for (int c = 0; c < m; c++) {
            K[r * m + c] = naive_k(k->gamma_x, P, k->x + in[r] * P, k->x + in[c] * P) +
                           (r == c) * k->lambda;
        }
    }
    *residual = k->y[i * D + j];
    *h = 0;
    naive_weights(k, m, K, a, w);
    for (int r = 0; r < m; r++) {
        *residual -= w[r] * k->y[in[r] * D + j];
    }
    naive_weights(k, m, K, b, w);
    for (int r = 0; r < m; r++) {
        *h += w[r] * k->y[in[r] * D + j];
    }
}

TEST(intervals_are_order_statistics_of_refits)
{
    double bounds[MOST * D * 2], radius[MOST];
    for (uint64_t seed = 0; seed < 80; seed++) {
        task k;
        okra_data *t = NULL;
        okra_conformal_settings s = settings("jackknife+", "distance");
        double alpha = 0.1 + 0.1 * (double)(seed % 5);
        task_make(seed, false, &k);
        k.gamma_y = 0;
        okra_model *model = task_fit(&k);
        int order = (int)ceil((1 - alpha) * (k.n + 1) - 1e-9);
        CHECK_OK(okra_data_dense(k.t, k.tests, P, P, &t));
        CHECK_OK(okra_conformal_intervals(NULL, model, t, alpha, &s, bounds, radius));
        for (int b = 0; b < k.tests * D; b++) {
            double low[MOST], high[MOST];
            for (int i = 0; i < k.n; i++) {
                double residual, h;
                naive_left(&k, i, b / D, b % D, &residual, &h);
                low[i] = h - fabs(residual);
                high[i] = h + fabs(residual);
            }
            qsort(low, (size_t)k.n, sizeof *low, ascending);
            qsort(high, (size_t)k.n, sizeof *high, ascending);
            if (order > k.n) {
                CHECK(isinf(bounds[2 * b]) && isinf(bounds[2 * b + 1]));
                CHECK(isinf(radius[b / D]));
            } else { /* worst measured: 2e-13 */
                CHECK_NEAR(bounds[2 * b], low[k.n - order], 2e-12);
                CHECK_NEAR(bounds[2 * b + 1], high[order - 1], 2e-12);
                CHECK(radius[b / D] > 0 && isfinite(radius[b / D]));
            }
        }
        okra_data_free(t);
        okra_model_free(model);
    }
}

/* ---- split ---- */

TEST(split_counts_the_pairs_that_are_farther)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        task k, other;
        double p[MOST * MOST], weight[MOST], test_weight[MOST];
        okra_data *t = NULL, *c = NULL, *cx = NULL, *cy = NULL;
        bool normalized = seed % 3 == 1, rank = seed % 3 == 2, weighted = seed % 2;
        okra_conformal_settings s = settings("auto", rank         ? "rank"
                                                     : normalized ? "normalized"
                                                                  : "distance");
        task_make(seed, false, &k);
        task_make(seed + 1000, false, &other); /* its pairs calibrate */
        for (int i = 0; i < MOST; i++) {
            weight[i] = 0.5 + i % 3;
            test_weight[i] = 1 + i % 2;
        }
        okra_model *model = task_fit(&k);
        CHECK_OK(okra_data_dense(k.t, k.tests, P, P, &t));
        CHECK_OK(okra_data_dense(k.c, k.count, D, D, &c));
        CHECK_OK(okra_data_dense(other.x, other.n, P, P, &cx));
        CHECK_OK(okra_data_dense(other.y, other.n, D, D, &cy));
        s.calibration_x = cx;
        s.calibration_y = cy;
        s.weights = weighted ? weight : NULL;
        s.test_weights = weighted ? test_weight : NULL;
        CHECK_OK(okra_conformal_p_values(NULL, model, t, c, &s, p));
        for (int e = 0; e < k.tests * k.count; e++) {
            const double *at = k.t + e / k.count * P, *y = k.c + e % k.count * D;
            double v, scores[MOST + 1];
            for (int i = 0; i <= other.n; i++) {
                const double *xi = i < other.n ? other.x + i * P : at;
                const double *yi = i < other.n ? other.y + i * D : y;
                double d = naive_distance(&k, k.n, k.x, k.y, xi, yi, &v);
                scores[i] = normalized ? d / v : rank ? 0 : d;
                for (int q = 0; rank && q < k.count; q++) {
                    double w;
                    scores[i] += naive_distance(&k, k.n, k.x, k.y, xi, k.c + q * D, &w) <
                                 d - 1e-12;
                }
            }
            double own = weighted ? test_weight[e / k.count] : 1, more = own, all = own;
            for (int i = 0; i < other.n; i++) {
                double w = weighted ? weight[i] : 1;
                all += w;
                more += naive_least(scores[i], scores[other.n]) ? w : 0;
            }
            CHECK_NEAR(p[e], more / all, 1e-12);
        }
        okra_data_free(t);
        okra_data_free(c);
        okra_data_free(cx);
        okra_data_free(cy);
        okra_model_free(model);
    }
}

TEST(refusals_say_why)
{
    task k;
    double p[MOST * MOST], bounds[MOST * D * 2];
    okra_data *t = NULL, *c = NULL;
    okra_conformal_settings s = settings("split", "distance");
    task_make(2, false, &k);
    CHECK_OK(okra_data_dense(k.c, k.count, D, D, &c));
    k.gamma_y = 0.5;
    okra_model *model = task_fit(&k);
    CHECK_OK(okra_data_dense(k.t, k.tests, P, P, &t));
    CHECK_FAILS(okra_conformal_p_values(NULL, model, t, c, &s, p), OKRA_EARG,
                "pairs to calibrate with");
    s = settings("half", "distance");
    CHECK_FAILS(okra_conformal_p_values(NULL, model, t, c, &s, p), OKRA_EARG,
                "conformal is 'half'");
    s = settings("full", "nearness");
    CHECK_FAILS(okra_conformal_p_values(NULL, model, t, c, &s, p), OKRA_EARG,
                "score is 'nearness'");
    s = settings("full", "rank");
    CHECK_FAILS(okra_conformal_p_values(NULL, model, t, c, &s, p), OKRA_EARG,
                "is for split");
    s = settings("jackknife+", "residual");
    CHECK_FAILS(okra_conformal_p_values(NULL, model, t, c, &s, p), OKRA_EARG,
                "is for full");
    s = settings("full", "distance");
    for (size_t part = 1; part < sizeof s.score; part++) { /* of a pointer */
        s.size = offsetof(okra_conformal_settings, score) + part;
        CHECK_FAILS(okra_conformal_p_values(NULL, model, t, c, &s, p), OKRA_EARG,
                    "expected the size of the struct");
    }
    s.size = sizeof s;
    CHECK_FAILS(okra_conformal_intervals(NULL, model, t, 0.1, &s, bounds, NULL),
                OKRA_EUNSUPPORTED, "linear kernel");
    CHECK_FAILS(okra_conformal_intervals(NULL, model, t, 0, &s, bounds, NULL), OKRA_EARG,
                "alpha is 0");
    okra_options *o = NULL;
    okra_data *x = NULL, *y = NULL;
    okra_model *smooth = NULL;
    CHECK_OK(okra_fit_options(&o));
    CHECK_OK(okra_options_set(o, "kx", "rbf(sigma=1)"));
    CHECK_OK(okra_options_set(o, "lambda", "0.1"));
    CHECK_OK(okra_options_set(o, "lambda2", "1"));
    CHECK_OK(okra_data_dense(k.x, k.n, P, P, &x));
    CHECK_OK(okra_data_dense(k.y, k.n, D, D, &y));
    CHECK_OK(okra_fit(NULL, x, y, o, &smooth));
    CHECK_FAILS(okra_conformal_p_values(NULL, smooth, t, c, &s, p), OKRA_EUNSUPPORTED,
                "lambda2");
    okra_model_free(smooth);
    okra_options_free(o);
    okra_data_free(x);
    okra_data_free(y);
    s.size = 0;
    CHECK_FAILS(okra_conformal_p_values(NULL, model, t, c, &s, p), OKRA_EARG, "size");
    CHECK_FAILS(okra_conformal_p_values(NULL, NULL, t, c, NULL, p), OKRA_EARG, "NULL");
    okra_data_free(t);
    okra_data_free(c);
    okra_model_free(model);
}

/* Parts of the settings that need one another, or that a form does not take. */
TEST(what_does_not_go_together_is_refused)
{
    task k;
    double p[MOST * MOST], bounds[MOST * D * 2], w[MOST], tw[MOST], bad[MOST];
    okra_data *t = NULL, *c = NULL, *x = NULL, *y = NULL, *few = NULL, *none = NULL;
    okra_conformal_settings s = settings("auto", "distance");
    task_make(2, false, &k);
    CHECK_OK(okra_data_dense(k.c, k.count, D, D, &c));
    CHECK_OK(okra_data_dense(k.t, k.tests, P, P, &t));
    CHECK_OK(okra_data_dense(k.x, k.n, P, P, &x));
    CHECK_OK(okra_data_dense(k.y, k.n, D, D, &y));
    CHECK_OK(okra_data_dense(k.y, 1, D, D, &few));
    CHECK_OK(okra_data_dense(k.y, 0, D, D, &none));
    okra_model *model = task_fit(&k);
    k.gamma_y = 0;
    okra_model *linear = task_fit(&k);
    for (int i = 0; i < MOST; i++) {
        w[i] = tw[i] = 1;
        bad[i] = i == 0 ? (double)NAN : 1;
    }
    s.calibration_x = x;
    CHECK_FAILS(okra_conformal_p_values(NULL, model, t, c, &s, p), OKRA_EARG,
                "need their outputs");
    s.calibration_y = few;
    CHECK_FAILS(okra_conformal_p_values(NULL, model, t, c, &s, p), OKRA_ESHAPE,
                "outputs to calibrate with");
    s = settings("full", "distance");
    s.calibration_x = x;
    s.calibration_y = y;
    CHECK_FAILS(okra_conformal_p_values(NULL, model, t, c, &s, p), OKRA_EARG,
                "are for split");
    s = settings("cv+", "distance");
    s.folds = 1;
    CHECK_FAILS(okra_conformal_p_values(NULL, model, t, c, &s, p), OKRA_EARG,
                "1 folds, expected at least 2");
    s = settings("full", "distance");
    s.groups = y;
    CHECK_FAILS(okra_conformal_p_values(NULL, model, t, c, &s, p), OKRA_EARG,
                "groups need those of the pairs");
    s.test_groups = y;
    s.by_class = true;
    CHECK_FAILS(okra_conformal_p_values(NULL, model, t, c, &s, p), OKRA_EARG,
                "or the class alone");
    s.by_class = false;
    s.groups = few;
    CHECK_FAILS(okra_conformal_p_values(NULL, model, t, c, &s, p), OKRA_ESHAPE,
                "there are 1 and");
    s = settings("jackknife+", "distance");
    s.weights = w;
    CHECK_FAILS(okra_conformal_p_values(NULL, model, t, c, &s, p), OKRA_EARG,
                "weights need those of the pairs");
    s.test_weights = tw;
    CHECK_FAILS(okra_conformal_p_values(NULL, model, t, c, &s, p), OKRA_EUNSUPPORTED,
                "use split or full");
    s.how = "full";
    s.weights = bad;
    CHECK_FAILS(okra_conformal_p_values(NULL, model, t, c, &s, p), OKRA_EARG,
                "weight 0 of the pairs is nan");
    s.weights = w;
    tw[0] = -1;
    CHECK_FAILS(okra_conformal_p_values(NULL, model, t, c, &s, p), OKRA_EARG,
                "weight 0 of the test inputs is -1");
    tw[0] = 0;
    CHECK_FAILS(okra_conformal_p_values(NULL, model, t, c, &s, p), OKRA_EARG,
                "weight 0 of the test inputs is 0");
    s = settings("full", "distance");
    CHECK_FAILS(okra_conformal_p_values(NULL, model, t, none, &s, p), OKRA_EARG,
                "the set is empty");
    s.by_class = true;
    CHECK_FAILS(okra_conformal_intervals(NULL, linear, t, 0.1, &s, bounds, NULL),
                OKRA_EARG, "are for sets, not for intervals");
    okra_data *all[] = {t, c, x, y, few, none};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        okra_data_free(all[i]);
    }
    okra_model_free(model);
    okra_model_free(linear);
}

MAIN(RUN(sets_equal_refits), RUN(folds_of_several_pairs_equal_refits),
     RUN(intervals_are_order_statistics_of_refits),
     RUN(split_counts_the_pairs_that_are_farther), RUN(refusals_say_why),
     RUN(what_does_not_go_together_is_refused))
