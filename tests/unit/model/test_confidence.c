/*
 * Confidence against its definitions, and methods svm and hopfield through models.
 */
#include "pairs.h"

static double rbf(const double *a, const double *b)
{
    double d2 = 0;
    for (int j = 0; j < P; j++) {
        d2 += (a[j] - b[j]) * (a[j] - b[j]);
    }
    return exp(-0.5 * d2);
}

/* k(x,x) - k_x'(K + lambda I)^-1 k_x by Gauss-Jordan elimination. */
static double variance(const pairs *p, int t, double lambda)
{
    double A[N][N + 1];
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            A[i][j] = rbf(p->x + i * LDX, p->x + j * LDX) + (i == j ? lambda : 0);
        }
        A[i][N] = rbf(p->x + i * LDX, p->t + t * P);
    }
    for (int c = 0; c < N; c++) {
        for (int i = 0; i < N; i++) {
            double f = i == c ? 0 : A[i][c] / A[c][c];
            for (int j = c; j <= N; j++) {
                A[i][j] -= f * A[c][j];
            }
        }
    }
    double v = 1;
    for (int i = 0; i < N; i++) {
        v -= A[i][N] / A[i][i] * rbf(p->x + i * LDX, p->t + t * P);
    }
    return v;
}

static okra_prediction *predict(const okra_model *model, const okra_data *x,
                                const char *settings)
{
    okra_prediction *p = NULL;
    okra_options *options = settings_of(okra_predict_options, settings);
    okra_predict_request request = {OKRA_SIZED(okra_predict_request), .confidence = true};
    CHECK_OK(okra_predict(NULL, model, x, options, &request, &p));
    okra_options_free(options);
    return p;
}

TEST(columns_by_definition)
{
    static const struct {
        const char *settings;
        double lambda;
    } cases[] = {{"lambda=0.3", 0.3},
                 {"lambda=0.02 operator=cov", 0.02 * N},
                 {"method=kpca lambda=0.3 components=3", 0.3}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        pairs p;
        char settings[120];
        okra_int rows, top;
        pairs_make(c, &p);
        snprintf(settings, sizeof settings, "kx=rbf(sigma=1) ky=rbf(sigma=2) %s",
                 cases[c].settings);
        okra_model *model = pairs_fit(p.train_x, p.train_y, settings);
        okra_prediction *one = predict(model, p.test_x, "");
        okra_prediction *all = pairs_predict(model, p.test_x, "top=12", false, false);
        const double *v = okra_prediction_confidence(one, &rows);
        const double *d = okra_prediction_distance(all, &top);
        CHECK(v && rows == M && top == N);
        for (int t = 0; v && t < M; t++) {
            CHECK_NEAR(v[3 * t], d[t * N], 1e-13);
            CHECK_NEAR(v[3 * t + 1], d[t * N + 1] - d[t * N], 1e-13);
            CHECK_NEAR(v[3 * t + 2], variance(&p, t, cases[c].lambda), 1e-12);
        }
        okra_prediction_free(one);
        okra_prediction_free(all);
        okra_model_free(model);
        pairs_free(&p);
    }
}

/* Twin Gaussian processes have the variance, though no distance. */
TEST(variance_of_twin_processes)
{
    pairs p;
    okra_int rows;
    pairs_make(3, &p);
    okra_model *model = pairs_fit(
        p.train_x, p.train_y, "method=tgp-kl lambda=0.3 kx=rbf(sigma=1) ky=rbf(sigma=2)");
    okra_prediction *one = predict(model, p.test_x, "");
    const double *v = okra_prediction_confidence(one, &rows);
    for (int t = 0; v && t < M; t++) {
        CHECK_NEAR(v[3 * t + 2], variance(&p, t, 0.3), 1e-12);
    }
    CHECK(v && rows == M);
    okra_prediction_free(one);
    okra_model_free(model);
    pairs_free(&p);
}

/* Neither a method that is no Gaussian process, nor inputs that were not observed or not
 * kept, have a variance; the other columns stay. */
TEST(no_variance)
{
    static const struct {
        const char *settings;
        okra_int labelled;
    } cases[] = {
        {"method=margin lambda=0.3 ky=rbf(sigma=2)", N},
        {"method=margin loss=huber lambda=0.3 ky=rbf(sigma=2)", N},
        {"method=ridge lambda=0.3 lambda2=0.1 ky=rbf(sigma=2)", N - 3},
        {"method=ridge lambda=0.3 operator=diagonal(t=0.5)", N},
        {"method=ridge lambda=0.3 low-rank-x=nystrom(rank=5) ky=rbf(sigma=2)", N},
        {"method=ridge lambda=0.3 low-rank=nystrom(rank=5) ky=rbf(sigma=2)", N},
        {"method=tgp-hsic ky=rbf(sigma=2)", N}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        pairs p;
        char settings[120];
        okra_int rows;
        okra_data *y = NULL;
        pairs_make(c, &p);
        snprintf(settings, sizeof settings, "kx=rbf(sigma=1) %s", cases[c].settings);
        bool same = strstr(settings, "diagonal"); /* outputs as long as the inputs */
        CHECK_OK(same ? okra_data_copy(p.train_x, &y)
                      : okra_data_dense(p.y, cases[c].labelled, D, D, &y));
        okra_model *model = pairs_fit(p.train_x, y, settings);
        okra_prediction *one = predict(model, p.test_x, "decode=candidates");
        const double *v = okra_prediction_confidence(one, &rows);
        CHECK(v && rows == M);
        for (int t = 0; v && t < M; t++) {
            CHECK(isfinite(v[3 * t]) && v[3 * t + 1] > 0 && isnan(v[3 * t + 2]));
        }
        okra_prediction_free(one);
        okra_model_free(model);
        okra_data_free(y);
        pairs_free(&p);
    }
}

/* Equal candidates are one: the runner-up is another label, not another copy. */
TEST(gap_of_labels)
{
    pairs p;
    okra_int codes[N], rows, top;
    okra_data *y = NULL;
    pairs_make(4, &p);
    for (int i = 0; i < N; i++) {
        codes[i] = i % 3;
    }
    CHECK_OK(okra_data_labels(codes, N, NULL, 3, &y));
    okra_model *model = pairs_fit(p.train_x, y, "kx=rbf(sigma=1) ky=zero-one lambda=0.1");
    okra_prediction *one = predict(model, p.test_x, "");
    okra_prediction *all = pairs_predict(model, p.test_x, "top=12", false, false);
    const double *v = okra_prediction_confidence(one, &rows);
    const double *d = okra_prediction_distance(all, &top);
    for (int t = 0; t < M; t++) {
        /* four copies of each label */
        CHECK_NEAR(v[3 * t + 1], d[t * N + 4] - d[t * N], 1e-12);
        CHECK(v[3 * t + 1] > 1e-6);
    }
    okra_prediction_free(one);
    okra_prediction_free(all);
    okra_model_free(model);
    okra_data_free(y);
    pairs_free(&p);
}

TEST(what_does_not_exist_is_nan)
{
    pairs p;
    okra_int rows;
    pairs_make(5, &p);
    okra_model *model =
        pairs_fit(p.train_x, p.train_y, "method=knn k=2 kx=rbf(sigma=1) ky=rbf(sigma=1)");
    okra_prediction *a = predict(model, p.test_x, "decode=gradient");
    const double *v = okra_prediction_confidence(a, &rows);
    CHECK(v && v[0] >= 0 && isnan(v[1]) && isnan(v[2]));
    okra_prediction *b = pairs_predict(model, p.test_x, "", false, false);
    CHECK(okra_prediction_confidence(b, &rows) == NULL && rows == 0);
    okra_prediction_free(a);
    okra_prediction_free(b);
    okra_model_free(model);
    pairs_free(&p);
}

TEST(failing_allocations)
{
    pairs p;
    okra_prediction *found = NULL;
    okra_options *options = settings_of(okra_predict_options, "");
    okra_predict_request request = {OKRA_SIZED(okra_predict_request), .confidence = true};
    pairs_make(6, &p);
    okra_model *model =
        pairs_fit(p.train_x, p.train_y, "kx=rbf(sigma=1) ky=rbf(sigma=1)");
    /* The first prediction leaves what later ones use in the model. */
    CHECK_OK(okra_predict(NULL, model, p.test_x, options, &request, &found));
    okra_prediction_free(found);
    CHECK_ALLOCATIONS(okra_predict(NULL, model, p.test_x, options, &request, &found),
                      okra_prediction_free(found));
    okra_model_free(model);
    okra_options_free(options);
    pairs_free(&p);
}

MAIN(RUN(columns_by_definition), RUN(variance_of_twin_processes), RUN(no_variance),
     RUN(gap_of_labels), RUN(what_does_not_exist_is_nan), RUN(failing_allocations))
