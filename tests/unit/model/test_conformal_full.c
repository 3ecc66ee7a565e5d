/* Full conformal prediction against refits with every candidate. */
#include "conformal_naive.h"
#include "settings.h"
#include "okra/more/conformal.h"

static bool weighted = false; /* covariate shift */

static double pair_weight(int i)
{
    return 0.3 + 0.37 * (i % 4);
}

static double test_weight(int t)
{
    return 0.5 + 0.21 * t;
}

static void put_weights(double *weights, double *tests, okra_conformal_settings *s)
{
    for (int i = 0; i < MOST; i++) {
        weights[i] = pair_weight(i);
        tests[i] = test_weight(i);
    }
    s->weights = weighted ? weights : NULL;
    s->test_weights = weighted ? tests : NULL;
}

/* The p-value of candidate c for test t, by refitting with the pair added. */
static double naive_p(const task *k, int t, const double *candidate, const char *score)
{
    double x[MOST * P], y[MOST * D], more = 0, all = 0;
    int n = k->n;
    memcpy(x, k->x, sizeof x);
    memcpy(y, k->y, sizeof y);
    memcpy(x + n * P, k->t + t * P, P * sizeof *x);
    memcpy(y + n * D, candidate, D * sizeof *y);
    double own = naive_score(k, n + 1, x, y, n, score);
    for (int i = 0; i <= n; i++) {
        double weight = !weighted ? 1 : i < n ? pair_weight(i) : test_weight(t);
        more += naive_least(naive_score(k, n + 1, x, y, i, score), own) ? weight : 0;
        all += weight;
    }
    return more / all;
}

static void p_values(const task *k, const char *score, double *p)
{
    okra_data *t = NULL, *c = NULL;
    okra_conformal_settings s;
    double weights[MOST], tests[MOST];
    okra_model *model = task_fit(k);
    s = (okra_conformal_settings){OKRA_SIZED(okra_conformal_settings)};
    put_weights(weights, tests, &s);
    s.how = "full";
    s.score = score;
    CHECK_OK(okra_data_dense(k->t, k->tests, P, P, &t));
    CHECK_OK(okra_data_dense(k->c, k->count, D, D, &c));
    CHECK_OK(okra_conformal_p_values(NULL, model, t, c, &s, p));
    okra_data_free(t);
    okra_data_free(c);
    okra_model_free(model);
}

static const char *const scores[] = {"distance", "normalized", "residual"};

TEST(sets_equal_refits)
{
    enum { TASKS = OKRA_MAX_(60, SOME(480)) };
    double p[MOST * MOST];
    int centered = 0;
    for (uint64_t seed = 0; seed < TASKS; seed++) {
        task k;
        const char *score = scores[seed % 3];
        task_make(seed, seed % 4 == 3, &k);
        k.n = seed % 13 == 5 ? 1 : k.n;
        centered += k.center;
        weighted = seed % 5 == 2;
        p_values(&k, score, p);
        for (int t = 0; t < k.tests; t++) {
            for (int c = 0; c < k.count; c++) {
                CHECK_NEAR(p[t * k.count + c], naive_p(&k, t, k.c + c * D, score), 1e-12);
            }
        }
    }
    weighted = false;
    CHECK(12 * centered > 5 * TASKS && 12 * centered < 7 * TASKS);
}

/* The p-value of one number for coordinate j alone: the other coordinate does not exist.
 */
static double naive_number(const task *k, int t, int j, double value, const char *score)
{
    task one = *k;
    double candidate[D] = {value, 0};
    for (int i = 0; i < k->n; i++) {
        one.y[i * D] = k->y[i * D + j];
        one.y[i * D + 1] = 0;
    }
    return naive_p(&one, t, candidate, score);
}

/* Refits accept no vector outside the ball; one pair alone: a vector on it, to rounding.
 */
static void check_ball(const task *k, const okra_model *model, const okra_data *t,
                       double alpha, const char *score, const double *radius)
{
    okra_prediction *p = NULL;
    okra_options *o = NULL;
    okra_predict_request request = {OKRA_SIZED(okra_predict_request), .embedding = true};
    okra_int rows, cols;
    CHECK_OK(okra_predict_options(&o));
    CHECK_OK(okra_options_set(o, "decode", "none"));
    CHECK_OK(okra_predict(NULL, model, t, o, &request, &p));
    const double *h = okra_prediction_embedding(p, &rows, &cols);
    for (int i = 0; i < k->tests; i++) {
        /* with the largest of the balls alone: it touches */
        bool one = !weighted && (int)floor(alpha * (k->n + 1)) == 1;
        bool around = !k->center || strcmp(score, "residual") != 0;
        bool touched = !isfinite(radius[i]) || !one || !around || radius[i] < 1e-3;
        for (int a = 0; a < 360 && isfinite(radius[i]); a++) {
            double along[D] = {cos(a * 0.0174532925), sin(a * 0.0174532925)};
            for (int step = 0; step < 3 && a % 20 == 0; step++) {
                double far = radius[i] * (1 + 1e-6) + (step ? pow(10, step - 1) : 1e-6);
                double y[D] = {h[i * D] + far * along[0], h[i * D + 1] + far * along[1]};
                CHECK(naive_p(k, i, y, score) <= alpha + 1e-9);
            }
            double near = radius[i] * 0.999;
            double y[D] = {h[i * D] + near * along[0], h[i * D + 1] + near * along[1]};
            touched = touched || naive_p(k, i, y, score) > alpha;
        }
        CHECK(touched);
    }
    okra_prediction_free(p);
    okra_options_free(o);
}

TEST(intervals_are_the_hulls_of_what_refits_accept)
{
    double bounds[MOST * D * 2], radius[MOST];
    naive_slack = 0; /* points are tried that are very near to an end */
    for (uint64_t seed = 0; seed < OKRA_MAX_(45, SOME(240)); seed++) {
        task k;
        okra_data *t = NULL;
        double weights[MOST], tests[MOST];
        okra_conformal_settings s;
        weighted = seed % 3 == 1;
        const char *score = scores[seed / 3 % 3];
        double alpha = 0.15 + 0.1 * (double)(seed % 5);
        task_make(seed, seed % 4 == 3, &k);
        k.n = seed % 13 == 5 ? 1 : k.n;
        k.gamma_y = 0;
        okra_model *model = task_fit(&k);
        s = (okra_conformal_settings){OKRA_SIZED(okra_conformal_settings)};
        put_weights(weights, tests, &s);
        s.how = "full";
        s.score = score;
        CHECK_OK(okra_data_dense(k.t, k.tests, P, P, &t));
        CHECK_OK(okra_conformal_intervals(NULL, model, t, alpha, &s, bounds, radius));
        check_ball(&k, model, t, alpha, score, radius);
        for (int b = 0; b < k.tests * D * 2; b++) {
            int test = b / (2 * D), j = b / 2 % D, sign = b % 2 ? 1 : -1;
            double end = bounds[b], width = fabs(bounds[b ^ 1] - end) + 1e-3;
            if (isinf(end)) {
                CHECK(naive_number(&k, test, j, sign * 1e7, score) > alpha);
                continue;
            }
            if (bounds[b ^ 1] != end) { /* inside it is accepted, outside it is not */
                CHECK(naive_number(&k, test, j, end - sign * 1e-6 * width, score) >
                      alpha);
            }
            for (int step = 1; step <= 8; step++) {
                double beyond = end + sign * width * (1e-4 + pow(2, step) - 2);
                CHECK(naive_number(&k, test, j, beyond, score) <= alpha + 1e-9);
            }
        }
        okra_data_free(t);
        okra_model_free(model);
    }
    naive_slack = 1e-11;
    weighted = false;
}

TEST(groups_compare_like_with_like)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        task k;
        double p[MOST * MOST], x[MOST * P], y[MOST * D];
        okra_int mine[MOST], theirs[MOST];
        okra_data *t = NULL, *c = NULL, *g = NULL, *h = NULL;
        okra_conformal_settings s;
        task_make(seed, false, &k);
        okra_model *model = task_fit(&k);
        for (int i = 0; i < MOST; i++) {
            mine[i] = i % 2;
            theirs[i] = i % 3 == 0;
        }
        CHECK_OK(okra_data_labels(mine, k.n, NULL, 2, &g));
        CHECK_OK(okra_data_labels(theirs, k.tests, NULL, 2, &h));
        CHECK_OK(okra_data_dense(k.t, k.tests, P, P, &t));
        CHECK_OK(okra_data_dense(k.c, k.count, D, D, &c));
        s = (okra_conformal_settings){OKRA_SIZED(okra_conformal_settings)};
        s.groups = g;
        s.test_groups = h;
        CHECK_OK(okra_conformal_p_values(NULL, model, t, c, &s, p));
        for (int e = 0; e < k.tests * k.count; e++) {
            int more = 1, all = 1, test = e / k.count;
            memcpy(x, k.x, sizeof x);
            memcpy(y, k.y, sizeof y);
            memcpy(x + k.n * P, k.t + test * P, P * sizeof *x);
            memcpy(y + k.n * D, k.c + e % k.count * D, D * sizeof *y);
            double own = naive_score(&k, k.n + 1, x, y, k.n, "normalized"); /* auto */
            for (int i = 0; i < k.n; i++) {
                bool same = mine[i] == theirs[test];
                all += same;
                more += same &&
                        naive_least(naive_score(&k, k.n + 1, x, y, i, "normalized"), own);
            }
            CHECK_NEAR(p[e], (double)more / all, 1e-12);
        }
        okra_data_free(t);
        okra_data_free(c);
        okra_data_free(g);
        okra_data_free(h);
        okra_model_free(model);
    }
}

/* What auto is: normalized; of split what the training pairs left out say, by fits
 * without each of them, whatever the pairs that calibrate are. */
TEST(the_score_that_is_chosen)
{
    int normalized = 0;
    for (uint64_t seed = 0; seed < 12; seed++) {
        task k;
        double e[MOST], r[MOST], mean = 0, variance;
        const char *how = NULL, *score = NULL;
        okra_data *cx = NULL, *cy = NULL;
        task_make(seed, false, &k);
        okra_model *model = task_fit(&k);
        okra_conformal_settings s = {OKRA_SIZED(okra_conformal_settings)};
        CHECK_OK(okra_conformal_chosen(NULL, model, &s, &how, &score));
        CHECK_TEXT(how, "full");
        CHECK_TEXT(score, "normalized");
        CHECK_OK(okra_data_dense(k.t, k.tests, P, P, &cx));
        CHECK_OK(okra_data_dense(k.c, k.tests, D, D, &cy));
        s.calibration_x = cx;
        s.calibration_y = cy;
        CHECK_OK(okra_conformal_chosen(NULL, model, &s, &how, &score));
        CHECK_TEXT(how, "split");
        for (int i = 0; i < k.n; i++) {
            double x[MOST * P], y[MOST * D];
            int m = 0;
            for (int j = 0; j < k.n; j++) {
                if (j != i) {
                    memcpy(x + m * P, k.x + j * P, P * sizeof *x);
                    memcpy(y + m++ * D, k.y + j * D, D * sizeof *y);
                }
            }
            double d = naive_distance(&k, m, x, y, k.x + i * P, k.y + i * D, &variance);
            e[i] = sqrt(d);
            r[i] = sqrt(d / variance);
            mean += sqrt(variance) / k.n;
        }
        qsort(e, (size_t)k.n, sizeof *e, okra_by_double_);
        qsort(r, (size_t)k.n, sizeof *r, okra_by_double_);
        int at = OKRA_MIN_((int)ceil(0.9 * (k.n + 1)), k.n) - 1;
        bool follows = mean * r[at] < e[at];
        CHECK_TEXT(score, follows ? "normalized" : "distance");
        normalized += follows;
        s.score = "rank";
        CHECK_OK(okra_conformal_chosen(NULL, model, &s, &how, &score));
        CHECK_TEXT(score, "rank");
        okra_data_free(cx);
        okra_data_free(cy);
        okra_model_free(model);
    }
    CHECK(normalized > 0 && normalized < 12);
}

/* Points in a narrow kernel: wrong labels are near under distance, far under what is
 * chosen. */
TEST(sets_do_not_explode_where_the_kernel_is_narrow)
{
    enum { LEARN = 100, NEW = 40, ALL = LEARN + NEW };
    double x[ALL], p[NEW * 3], size[2] = {0};
    okra_int label[ALL];
    static const okra_int each[] = {0, 1, 2};
    okra_data *dx = NULL, *dy = NULL, *t = NULL, *c = NULL;
    okra_model *model = NULL;
    for (int i = 0; i < ALL; i++) {
        x[i] = fmod(i * 0.7548777, 1);
        double b = x[i] + 0.1 * (fmod(i * 0.5698403, 1) - 0.5);
        label[i] = b < 0.3 ? 0 : b < 0.7 ? 1 : 2;
    }
    CHECK_OK(okra_data_dense(x, LEARN, 1, 1, &dx));
    CHECK_OK(okra_data_labels(label, LEARN, NULL, 3, &dy));
    CHECK_OK(okra_data_dense(x + LEARN, NEW, 1, 1, &t));
    CHECK_OK(okra_data_labels(each, 3, NULL, 3, &c));
    okra_options *o =
        settings_of(okra_fit_options, "kx=rbf(sigma=0.0103) ky=zero-one lambda=0.0006 "
                                      "center-output=yes");
    CHECK_OK(okra_fit(NULL, dx, dy, o, &model));
    for (int k = 0; k < 2; k++) {
        okra_conformal_settings s = {OKRA_SIZED(okra_conformal_settings),
                                     .score = k ? NULL : "distance"};
        CHECK_OK(okra_conformal_p_values(NULL, model, t, c, &s, p));
        for (int e = 0; e < NEW * 3; e++) {
            size[k] += (p[e] > 0.1) / (double)NEW;
        }
    }
    CHECK(size[0] > 2 && size[1] < 1.2); /* 2.4 and 0.9 */
    okra_options_free(o);
    okra_model_free(model);
    okra_data_free(dx);
    okra_data_free(dy);
    okra_data_free(t);
    okra_data_free(c);
}

/* Equal pairs have equal scores, whatever rounding makes of them: p is 1. */
TEST(equal_pairs_are_equal)
{
    const char *const hows[] = {"full", "jackknife+"};
    for (int c = 0; c < 16; c++) {
        task k;
        double p[MOST];
        okra_data *t = NULL, *y = NULL;
        okra_conformal_settings s;
        task_make((uint64_t)c, false, &k);
        k.n = 9;
        k.lambda = pow(10, -1 - c / 2);
        for (int i = 0; i < k.n; i++) {
            memcpy(k.x + i * P, k.t, P * sizeof *k.x);
            memcpy(k.y + i * D, k.c, D * sizeof *k.y);
        }
        okra_model *model = task_fit(&k);
        CHECK_OK(okra_data_dense(k.t, 1, P, P, &t));
        CHECK_OK(okra_data_dense(k.c, 1, D, D, &y));
        s = (okra_conformal_settings){OKRA_SIZED(okra_conformal_settings)};
        s.how = hows[c % 2];
        CHECK_OK(okra_conformal_p_values(NULL, model, t, y, &s, p));
        CHECK_NEAR(p[0], 1, 1e-15);
        okra_data_free(t);
        okra_data_free(y);
        okra_model_free(model);
    }
}

/* Centred, outputs may lie anywhere: p-values are those of the outputs near 0. */
TEST(centred_outputs_far_from_0)
{
    static const char *const hows[] = {"full", "jackknife+", "cv+"};
    for (uint64_t seed = 0; seed < 30; seed++) {
        task k;
        double p[2][MOST * MOST] = {{0}};
        task_make(seed, false, &k);
        k.center = true;
        k.gamma_y = 0;
        for (int far = 0; far < 2; far++) {
            okra_data *t = NULL, *c = NULL;
            okra_conformal_settings s;
            for (int i = 0; i < MOST * D; i++) {
                k.y[i] += far * 1e8;
                k.c[i] += far * 1e8;
            }
            okra_model *model = task_fit(&k);
            s = (okra_conformal_settings){OKRA_SIZED(okra_conformal_settings)};
            s.how = hows[seed % 3];
            CHECK_OK(okra_data_dense(k.t, k.tests, P, P, &t));
            CHECK_OK(okra_data_dense(k.c, k.count, D, D, &c));
            CHECK_OK(okra_conformal_p_values(NULL, model, t, c, &s, p[far]));
            okra_data_free(t);
            okra_data_free(c);
            okra_model_free(model);
        }
        for (int e = 0; e < k.tests * k.count; e++) {
            CHECK_NEAR(p[0][e], p[1][e], 1e-12);
        }
    }
}

TEST(memory_failures_are_reported)
{
    task k;
    double p[MOST * MOST], bounds[MOST * D * 2];
    okra_data *t = NULL, *c = NULL;
    okra_conformal_settings s;
    okra_context *ctx = NULL;
    task_make(5, false, &k);
    CHECK_OK(okra_data_dense(k.c, k.count, D, D, &c));
    k.gamma_y = 0;
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_threads(ctx, 1));
    okra_model *model = task_fit(&k);
    CHECK_OK(okra_data_dense(k.t, k.tests, P, P, &t));
    s = (okra_conformal_settings){OKRA_SIZED(okra_conformal_settings)};
    CHECK_ALLOCATIONS(okra_conformal_p_values(ctx, model, t, c, &s, p), (void)0);
    CHECK_ALLOCATIONS(okra_conformal_intervals(ctx, model, t, 0.3, &s, bounds, NULL),
                      (void)0);
    s.how = "cv+";
    CHECK_ALLOCATIONS(okra_conformal_p_values(ctx, model, t, c, &s, p), (void)0);
    s.how = "full";
    okra_model_free(model);
    k.center = true;
    model = task_fit(&k);
    CHECK_ALLOCATIONS(okra_conformal_p_values(ctx, model, t, c, &s, p), (void)0);
    okra_model_free(model);
    k.gamma_y = 0.5;
    model = task_fit(&k);
    CHECK_ALLOCATIONS(okra_conformal_p_values(ctx, model, t, c, &s, p), (void)0);
    okra_data_free(t);
    okra_data_free(c);
    okra_model_free(model);
    okra_context_free(ctx);
}

/* Rounding is bounded by how large the inverse is, not by 1 / lambda: where the Gram
 * matrix has an inverse of its own, a lambda of almost 0 is as good as any. */
TEST(small_lambdas_equal_refits)
{
    static const double lambdas[] = {1e-9, 1e-12, 0};
    double p[MOST * MOST];
    for (uint64_t seed = 0; seed < OKRA_MAX_(18, SOME(90)); seed++) {
        task k;
        task_make(seed, false, &k);
        k.gamma_x = 4; /* far from singular */
        k.lambda = lambdas[seed % 3];
        const char *score = scores[seed / 3 % 2]; /* residuals vanish with lambda */
        for (int i = 0; i < MOST * P; i++) {      /* inputs apart */
            k.x[i] = i % 2 ? 0.3 * k.x[i] : i / 2;
            k.t[i] = i % 2 ? 0.3 * k.t[i] : i / 2 + 0.5;
        }
        p_values(&k, score, p);
        for (int t = 0; t < k.tests; t++) {
            for (int c = 0; c < k.count; c++) {
                CHECK_NEAR(p[t * k.count + c], naive_p(&k, t, k.c + c * D, score), 1e-12);
            }
        }
    }
}

TEST(without_an_inverse_it_is_refused)
{
    double p[MOST * MOST];
    okra_data *t = NULL, *c = NULL;
    okra_conformal_settings s;
    task k;
    for (int repeated = 0; repeated < 2; repeated++) { /* test input, training inputs */
        task_make(5, true, &k);
        memcpy(k.t, k.x, P * sizeof *k.x);
        k.x[P] += repeated ? 0 : 3;
        k.lambda = 0;
        k.gamma_x = 4;
        okra_model *model = task_fit(&k);
        CHECK_OK(okra_data_dense(k.t, k.tests, P, P, &t));
        CHECK_OK(okra_data_dense(k.c, k.count, D, D, &c));
        s = (okra_conformal_settings){OKRA_SIZED(okra_conformal_settings)};
        CHECK(okra_conformal_p_values(NULL, model, t, c, &s, p) == OKRA_EUNSUPPORTED);
        CHECK(strstr(okra_message(), "lambda is 0") != NULL);
        s.how = "jackknife+"; /* does not divide by s */
        CHECK(okra_conformal_p_values(NULL, model, t, c, &s, p) ==
              (repeated ? OKRA_EUNSUPPORTED : OKRA_OK));
        okra_data_free(t);
        okra_data_free(c);
        okra_model_free(model);
    }
}

MAIN(RUN(the_score_that_is_chosen), RUN(sets_do_not_explode_where_the_kernel_is_narrow),
     RUN(sets_equal_refits), RUN(small_lambdas_equal_refits),
     RUN(without_an_inverse_it_is_refused),
     RUN(intervals_are_the_hulls_of_what_refits_accept),
     RUN(groups_compare_like_with_like), RUN(equal_pairs_are_equal),
     RUN(centred_outputs_far_from_0), RUN(memory_failures_are_reported))
