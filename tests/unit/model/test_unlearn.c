/* Candidates that are training outputs, compared as if they were new, against models that
 * were fitted without the pairs that have these outputs. */
#include "harness.h"
#include "pairs.h"

enum { NEW = 5, CANDIDATES = N + NEW, COPY = 4 };

typedef struct scene {
    double x[N], y[CANDIDATES], t[3];
    okra_data *train_x, *train_y, *candidates, *test;
} scene;

static void open_scene(uint64_t seed, scene *s)
{
    okra_random_ r = okra_random_create_(seed, 3);
    harness_normals(&r, N, s->x);
    harness_normals(&r, CANDIDATES, s->y);
    harness_normals(&r, 3, s->t);
    s->y[COPY] = s->y[0]; /* three pairs with one output */
    s->y[COPY + 2] = s->y[0];
    CHECK_OK(okra_data_dense(s->x, N, 1, 1, &s->train_x));
    CHECK_OK(okra_data_dense(s->y, N, 1, 1, &s->train_y));
    CHECK_OK(okra_data_dense(s->y, CANDIDATES, 1, 1, &s->candidates));
    CHECK_OK(okra_data_dense(s->t, 3, 1, 1, &s->test));
}

static void close_scene(scene *s)
{
    okra_data_free(s->train_x);
    okra_data_free(s->train_y);
    okra_data_free(s->candidates);
    okra_data_free(s->test);
}

static double l(double a, double b)
{
    return exp(-(a - b) * (a - b) / 2);
}

/* <h(t), phi(y)> for the model fitted without the outputs equal to `but` (NAN: none), and
 * |h(t)|^2. */
static double inner(const scene *s, const char *settings, double but, int t, double y,
                    double *norm)
{
    double x[N], z[N], sum = 0;
    okra_int n = 0, rows, cols;
    okra_data *dx = NULL, *dy = NULL, *one = NULL;
    okra_prediction *p = NULL;
    for (int i = 0; i < N; i++) {
        if (s->y[i] != but) {
            x[n] = s->x[i];
            z[n++] = s->y[i];
        }
    }
    CHECK_OK(okra_data_dense(x, n, 1, 1, &dx));
    CHECK_OK(okra_data_dense(z, n, 1, 1, &dy));
    CHECK_OK(okra_data_dense(&s->t[t], 1, 1, 1, &one));
    okra_model *model = pairs_fit(dx, dy, settings);
    okra_predict_request q = {OKRA_SIZED(okra_predict_request), .weights = true};
    CHECK_OK(okra_predict(NULL, model, one, NULL, &q, &p));
    const double *w = okra_prediction_weights(p, &rows, &cols);
    *norm = 0;
    for (okra_int i = 0; i < n; i++) {
        sum += w[i] * l(z[i], y);
        for (okra_int j = 0; j < n; j++) {
            *norm += w[i] * w[j] * l(z[i], z[j]);
        }
    }
    okra_prediction_free(p);
    okra_model_free(model);
    okra_data_free(dx);
    okra_data_free(dy);
    okra_data_free(one);
    return sum;
}

static void compare(uint64_t seed, const char *settings, double tolerance)
{
    scene s;
    okra_prediction *p = NULL;
    okra_int top = 0;
    open_scene(seed, &s);
    okra_model *model = pairs_fit(s.train_x, s.train_y, settings);
    okra_options *all =
        settings_of(okra_predict_options, "decode=candidates as-new=true top=1000");
    okra_predict_request q = {OKRA_SIZED(okra_predict_request),
                              .candidates = s.candidates};
    CHECK_OK(okra_predict(NULL, model, s.test, all, &q, &p));
    const okra_int *index = okra_prediction_index(p, &top);
    const double *distance = okra_prediction_distance(p, &top);
    CHECK(top == CANDIDATES);
    for (int k = 0; k < 3 * CANDIDATES && top == CANDIDATES; k++) {
        int t = k / CANDIDATES;
        double y = s.y[index[k]], norm, other;
        inner(&s, settings, (double)NAN, t, y, &norm);
        double want = 1 - 2 * inner(&s, settings, y, t, y, &other) + norm;
        CHECK_NEAR(distance[k], fmax(want, 0), tolerance);
        CHECK(k % CANDIDATES == 0 || distance[k] >= distance[k - 1]);
    }
    okra_prediction_free(p);
    okra_options_free(all);
    okra_model_free(model);
    close_scene(&s);
}

TEST(training_outputs_are_as_far_as_if_they_had_not_been_learned)
{
    for (uint64_t seed = 0; seed < SOME(4); seed++) {
        compare(seed, "kx=rbf(sigma=1) ky=rbf(sigma=1) lambda=0.1", 1e-12); /* 6e-15 */
        compare(seed, "kx=rbf(sigma=0.3) ky=rbf(sigma=1) lambda=1", 1e-12);
        /* With centring to 1/n alone. */
        compare(seed, "kx=rbf(sigma=1) ky=rbf(sigma=1) lambda=0.1 center-output=yes",
                1.0 / N);
    }
}

TEST(refusals)
{
    scene s;
    okra_prediction *p = NULL;
    open_scene(1, &s);
    okra_options *new = settings_of(okra_predict_options, "decode=candidates as-new=yes");
    okra_model *linear = pairs_fit(s.train_x, s.train_y, "kx=rbf(sigma=1) lambda=1");
    okra_model *knn = pairs_fit(s.train_x, s.train_y, "ky=rbf(sigma=1) method=knn k=2");
    okra_model *model =
        pairs_fit(s.train_x, s.train_y, "kx=rbf(sigma=1) ky=rbf(sigma=1) lambda=1");
    CHECK_FAILS(okra_predict(NULL, linear, s.test, new, NULL, &p), OKRA_EUNSUPPORTED,
                "vectors under a linear kernel");
    CHECK_FAILS(okra_predict(NULL, knn, s.test, new, NULL, &p), OKRA_EUNSUPPORTED,
                "have no closed form");
    /* The first prediction leaves what later ones use in the model. */
    CHECK_OK(okra_predict(NULL, model, s.test, new, NULL, &p));
    okra_prediction_free(p);
    CHECK_ALLOCATIONS(okra_predict(NULL, model, s.test, new, NULL, &p),
                      okra_prediction_free(p));
    okra_model_free(linear);
    okra_model_free(knn);
    okra_model_free(model);
    okra_options_free(new);
    close_scene(&s);
}

MAIN(RUN(training_outputs_are_as_far_as_if_they_had_not_been_learned), RUN(refusals))
