/* What crosses the border of an engine: the test engine counts. Matrices of n x n stay on
 * it while a model is fitted and asked, but for what a model file must hold. */
#include "harness.h"

#include "engine/engine.h"
#include "okra/okra.h"
#include "okra/more/conformal.h"
#include "okra/more/twin.h"

enum { N = 60, M = 23, D = 3 };

typedef struct counts {
    long long puts, put, gets, got, largest, factors;
} counts;

static counts count(const okra_context *ctx)
{
    counts c = {0};
    char text[256];
    const okra_engine_ *e = okra_engine_of_(ctx);
    e->verbs->describe(e->state, text, sizeof text);
    CHECK(
        sscanf(text,
               "puts %lld of %lld doubles, gets %lld of %lld, largest %lld, factors %lld",
               &c.puts, &c.put, &c.gets, &c.got, &c.largest, &c.factors) == 6);
    return c;
}

typedef struct trial {
    okra_context *ctx;
    double X[N * D], Y[N * D], T[M * D];
    okra_data *x, *y, *t;
} trial;

static void begin(trial *z)
{
    okra_random_ r = okra_random_create_(8, 1);
    harness_normals(&r, N * D, z->X);
    harness_normals(&r, N * D, z->Y);
    harness_normals(&r, M * D, z->T);
    CHECK_OK(okra_context_create(&z->ctx));
    CHECK_OK(okra_context_set_engine(z->ctx, "test"));
    CHECK_OK(okra_data_dense(z->X, N, D, D, &z->x));
    CHECK_OK(okra_data_dense(z->Y, N, D, D, &z->y));
    CHECK_OK(okra_data_dense(z->T, M, D, D, &z->t));
}

static void finish(trial *z)
{
    okra_data_free(z->x);
    okra_data_free(z->y);
    okra_data_free(z->t);
    okra_context_free(z->ctx);
}

/* A fit and a prediction; what each moved. */
static void run(const char *method, const char *ky, counts *fit, counts *predict)
{
    trial z;
    okra_options *options = NULL, *plain = NULL;
    okra_model *model = NULL;
    okra_prediction *p = NULL;
    begin(&z);
    CHECK_OK(okra_fit_options(&options));
    CHECK_OK(okra_options_set(options, "method", method));
    CHECK_OK(okra_options_set(options, "kx", "rbf(sigma=1)"));
    CHECK_OK(okra_options_set(options, "ky", ky));
    if (strcmp(method, "kpca") == 0) {
        CHECK_OK(okra_options_set(options, "components", "2"));
    }
    CHECK_OK(okra_fit(z.ctx, z.x, z.y, options, &model));
    *fit = count(z.ctx);
    CHECK_OK(okra_predict_options(&plain));
    CHECK_OK(okra_options_set(plain, "decode", "none"));
    CHECK_OK(okra_predict(z.ctx, model, z.t, plain, NULL, &p));
    *predict = count(z.ctx);
    okra_prediction_free(p);
    okra_model_free(model);
    okra_options_free(options);
    okra_options_free(plain);
    finish(&z);
}

static bool absent(void)
{
    const char *name = getenv("OKRA_TEST_ENGINE");
    return !name || strcmp(name, "test") != 0;
}

TEST(kernel_pca_brings_back_no_square_matrix)
{
    counts fit, predict;
    if (absent()) {
        SKIP("the test engine counts");
    }
    run("kpca", "rbf(sigma=1)", &fit, &predict);
    CHECK(fit.put <= 2 * N);     /* the scores, to be solved for */
    CHECK(fit.largest <= 2 * N); /* the coefficients             */
    CHECK(fit.got <= 8 * N);
    CHECK(predict.largest <= 2 * N); /* two coordinates of each test point */
    CHECK(predict.put - fit.put <= 2 * N);
}

TEST(ridge_brings_back_its_factor_once)
{
    counts fit, predict;
    if (absent()) {
        SKIP("the test engine counts");
    }
    run("ridge", "linear", &fit, &predict);
    CHECK(fit.put <= D * N);
    CHECK(fit.largest == N * N); /* the factor that the model file keeps */
    CHECK(fit.got <= N * N + 2 * D * N);
    CHECK(predict.put - fit.put == D * N); /* coefficients, once */
    CHECK(predict.got - fit.got <= 2 * D * M);
}

TEST(weights_come_from_a_factor_that_is_put_once)
{
    counts fit, predict;
    if (absent()) {
        SKIP("the test engine counts");
    }
    run("ridge", "rbf(sigma=1)", &fit, &predict);
    CHECK(fit.put == 0);
    CHECK(predict.put - fit.put == N * N);
    CHECK(predict.got - fit.got == N * M);
}

/* Row sums and rows that are looked at come back, means go there; no square matrix. */
TEST(twin_kernels_are_learned_there)
{
    trial z;
    okra_kernel *k[2] = {NULL, NULL};
    okra_twin *twin = NULL;
    enum { DEGREE = 3 };
    if (absent()) {
        SKIP("the test engine counts");
    }
    begin(&z);
    CHECK_OK(okra_kernel_parse("rbf(sigma=1)", &k[0]));
    CHECK_OK(okra_kernel_parse("rbf(sigma=2)", &k[1]));
    okra_twin_base x = {(const okra_kernel *const *)&k[0], 1, DEGREE, NULL};
    okra_twin_base y = {(const okra_kernel *const *)&k[1], 1, DEGREE, NULL};
    CHECK_OK(okra_twin_learn(z.ctx, z.x, z.y, &x, &y, false, &twin));
    counts c = count(z.ctx);
    CHECK(c.largest <= N);
    CHECK(c.got <= 2 * (DEGREE + 3) * N); /* sums of each term, a few rows */
    CHECK(c.put <= 2 * DEGREE * 4 * N);   /* two columns for rows and for columns */
    okra_twin_free(twin);
    okra_kernel_free(k[0]);
    okra_kernel_free(k[1]);
    finish(&z);
}

TEST(twin_processes_bring_back_what_a_model_keeps)
{
    counts fit, predict;
    if (absent()) {
        SKIP("the test engine counts");
    }
    run("tgp-kl", "rbf(sigma=1)", &fit, &predict);
    CHECK(fit.put == 0);
    CHECK(fit.largest == N * N); /* the factor that the model file keeps */
    CHECK(fit.got <= N * N + 2 * N);
    CHECK(predict.put - fit.put <= N * N + M * N); /* that factor, once, and a block */
    run("soar", "linear", &fit, &predict);
    CHECK(fit.put <= 2 * D * N); /* the outputs, to be solved for */
    CHECK(fit.largest <= D * N);
}

/* Who needs (K + lambda I)^-1 of a model that keeps its factor makes none: confidence,
 * sets and intervals of full conformal prediction. Of jackknife+ only those of folds are
 * made, on the host. */
TEST(nobody_factors_what_the_model_holds)
{
    static const char *const ways[] = {"full", "jackknife+"};
    if (absent()) {
        SKIP("the test engine counts");
    }
    for (int explicitly = 0; explicitly < 2; explicitly++) {
        trial z;
        okra_options *options = NULL;
        okra_model *model = NULL;
        okra_prediction *p = NULL;
        okra_predict_request request = {OKRA_SIZED(okra_predict_request),
                                        .confidence = true};
        double values[M * N], bounds[M * D * 2];
        begin(&z);
        CHECK_OK(okra_fit_options(&options));
        CHECK_OK(okra_options_set(options, "kx", "rbf(sigma=1)"));
        CHECK_OK(okra_options_set(options, "ky", explicitly ? "linear" : "rbf(sigma=1)"));
        CHECK_OK(okra_fit(z.ctx, z.x, z.y, options, &model));
        CHECK(count(z.ctx).factors == 1);
        CHECK_OK(okra_predict(z.ctx, model, z.t, NULL, &request, &p));
        okra_prediction_free(p);
        CHECK(count(z.ctx).factors == 1);
        for (int k = 0; k < 2; k++) {
            okra_conformal_settings s = {OKRA_SIZED(okra_conformal_settings),
                                         .how = ways[k]};
            CHECK_OK(okra_conformal_p_values(z.ctx, model, z.t, z.y, &s, values));
            CHECK(count(z.ctx).factors == 1);
            if (explicitly) {
                CHECK_OK(
                    okra_conformal_intervals(z.ctx, model, z.t, 0.2, &s, bounds, NULL));
                CHECK(count(z.ctx).factors == 1);
            }
        }
        okra_model_free(model);
        okra_options_free(options);
        finish(&z);
    }
}

MAIN(RUN(kernel_pca_brings_back_no_square_matrix), RUN(ridge_brings_back_its_factor_once),
     RUN(weights_come_from_a_factor_that_is_put_once),
     RUN(twin_kernels_are_learned_there),
     RUN(twin_processes_bring_back_what_a_model_keeps),
     RUN(nobody_factors_what_the_model_holds))
