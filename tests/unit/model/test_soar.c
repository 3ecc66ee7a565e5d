/*
 * test_soar.c: structured output-associative regression against its iteration written
 * out.
 */
#include "pairs.h"

static double gauss(const double *a, const double *b, okra_int d, double gamma,
                    okra_int without)
{
    double s = 0;
    for (okra_int k = 0; k < d; k++) {
        s += k == without ? 0 : (a[k] - b[k]) * (a[k] - b[k]);
    }
    return exp(-gamma * s);
}

/* x <- A^-1 x by elimination, A symmetric positive definite. */
static void solve(okra_int n, double *A, double *x)
{
    for (okra_int k = 0; k < n; k++) {
        for (okra_int i = k + 1; i < n; i++) {
            double f = A[i * n + k] / A[k * n + k];
            for (okra_int j = k; j < n; j++) {
                A[i * n + j] -= f * A[k * n + j];
            }
            x[i] -= f * x[k];
        }
    }
    for (okra_int k = n - 1; k >= 0; k--) {
        for (okra_int j = k + 1; j < n; j++) {
            x[k] -= A[k * n + j] * x[j];
        }
        x[k] /= A[k * n + k];
    }
}

static double joined(const pairs *p, bool product, const double *x, const double *y,
                     okra_int i, okra_int without)
{
    double k = gauss(x, p->x + i * LDX, P, 0.3, -1);
    double a = gauss(y, p->y + i * D, D, 0.5, without);
    return product ? k * a : k + a;
}

/* Prediction of one test input, `sweeps` times over the outputs. */
static void naive(const pairs *p, bool product, int sweeps, const double *x, double *h)
{
    double mean[D] = {0}, start[D][N], c[D][N];
    for (int j = 0; j < D; j++) {
        double K[N * N], A[N * N];
        for (int i = 0; i < N; i++) {
            mean[j] += p->y[i * D + j] / N;
        }
        for (int i = 0; i < N; i++) {
            start[j][i] = c[j][i] = p->y[i * D + j] - mean[j];
            for (int l = 0; l < N; l++) {
                K[i * N + l] =
                    gauss(p->x + i * LDX, p->x + l * LDX, P, 0.3, -1) + 0.2 * (i == l);
                A[i * N + l] = joined(p, product, p->x + i * LDX, p->y + i * D, l, j) +
                               0.2 * (i == l);
            }
        }
        solve(N, K, start[j]);
        solve(N, A, c[j]);
    }
    for (int j = 0; j < D; j++) {
        h[j] = mean[j];
        for (int i = 0; i < N; i++) {
            h[j] += start[j][i] * gauss(x, p->x + i * LDX, P, 0.3, -1);
        }
    }
    for (int s = 0; s < sweeps; s++) {
        for (int j = 0; j < D; j++) {
            double value = mean[j];
            for (int i = 0; i < N; i++) {
                value += c[j][i] * joined(p, product, x, h, i, j);
            }
            h[j] = value;
        }
    }
}

TEST(iteration)
{
    double worst = 0;
    for (uint64_t seed = 0; seed < 5; seed++) {
        for (int c = 0; c < 6; c++) {
            static const int sweeps[] = {0, 1, 3};
            pairs p;
            char text[200];
            double want[M * D];
            pairs_make(seed, &p);
            snprintf(text, sizeof text,
                     "method=soar kx=rbf(gamma=0.3) associate=rbf(gamma=0.5) lambda=0.2 "
                     "combine=%s sweeps=%d settle=1e-300",
                     c % 2 ? "product" : "sum", sweeps[c / 2]);
            okra_model *model = pairs_fit(p.train_x, p.train_y, text);
            okra_prediction *q =
                pairs_predict(model, p.test_x, "decode=explicit", false, true);
            for (int t = 0; t < M; t++) {
                naive(&p, c % 2, sweeps[c / 2], p.t + t * P, want + t * D);
            }
            okra_int rows, cols;
            worst =
                fmax(worst, harness_relative(
                                M * D, okra_prediction_embedding(q, &rows, &cols), want));
            okra_prediction_free(q);
            okra_model_free(model);
            pairs_free(&p);
        }
    }
    CHECK_NEAR(worst, 0, 6e-14); /* worst of the 30 problems: 5.9e-15 */
}

/* What has settled is the fixed point of the iteration, not where it started. */
TEST(settled)
{
    double worst = 0, moved = 0;
    for (uint64_t seed = 0; seed < 5; seed++) {
        for (int product = 0; product < 2; product++) {
            pairs p;
            char text[200];
            double want[M * D], start[M * D];
            pairs_make(seed, &p);
            snprintf(text, sizeof text,
                     "method=soar kx=rbf(gamma=0.3) associate=rbf(gamma=0.5) lambda=0.2 "
                     "combine=%s sweeps=1000 settle=1e-12",
                     product ? "product" : "sum");
            okra_model *model = pairs_fit(p.train_x, p.train_y, text);
            okra_prediction *q = pairs_predict(model, p.test_x, "", false, true);
            for (int t = 0; t < M; t++) {
                naive(&p, product, 1000, p.t + t * P, want + t * D);
                naive(&p, product, 0, p.t + t * P, start + t * D);
            }
            okra_int rows, cols;
            worst =
                fmax(worst, harness_relative(
                                M * D, okra_prediction_embedding(q, &rows, &cols), want));
            moved = fmax(moved, harness_relative(M * D, start, want));
            okra_prediction_free(q);
            okra_model_free(model);
            pairs_free(&p);
        }
    }
    CHECK(worst < 1e-11); /* worst of the 10 problems: 1.3e-12, of what settle allows */
    CHECK(moved > 0.01);  /* 0.8: there is something to miss */
}

/* Support vectors: residuals of the training pairs stay near the tube, and the file keeps
 * everything. */
TEST(support_vectors)
{
    pairs p;
    pairs_make(3, &p);
    okra_model *loaded = NULL,
               *model = pairs_fit(p.train_x, p.train_y,
                                  "method=soar kx=rbf(gamma=3) associate=rbf(gamma=1) "
                                  "learner=svr cost=100 tube=0.05");
    CHECK_OK(okra_model_save(NULL, model, NULL, files_path("soar.okra")));
    CHECK_OK(okra_model_load(NULL, files_path("soar.okra"), &loaded));
    okra_prediction *q = pairs_predict(model, p.train_x, "", false, true);
    okra_prediction *r = pairs_predict(loaded, p.train_x, "", false, true);
    okra_int rows, cols;
    const double *h = okra_prediction_embedding(q, &rows, &cols);
    for (int i = 0; i < N * D; i++) {
        CHECK_NEAR(h[i], p.y[i], 0.1);
    }
    CHECK(memcmp(h, okra_prediction_embedding(r, &rows, &cols), sizeof(double) * N * D) ==
          0);
    okra_prediction_free(q);
    okra_prediction_free(r);
    okra_model_free(model);
    okra_model_free(loaded);
    pairs_free(&p);
    files_clean();
}

static void note(void *user, const char *text)
{
    snprintf(user, 300, "%s", text);
}

TEST(refused)
{
    pairs p;
    pairs_make(3, &p);
    CHECK_FAILS(pairs_try_fit(p.train_x, p.train_y, "method=soar ky=rbf(gamma=1)"),
                OKRA_EUNSUPPORTED, "at least 2 numbers under a linear output kernel");
    CHECK_FAILS(pairs_try_fit(p.train_x, p.train_y, "method=soar tube=1"), OKRA_EARG,
                "tube is for learner svr");
    CHECK_FAILS(pairs_try_fit(p.train_x, p.train_y, "method=soar learner=svr lambda=1"),
                OKRA_EARG, "lambda is for learner ridge");
    CHECK_FAILS(pairs_try_fit(p.train_x, p.train_y, "method=soar associate=rfb"),
                OKRA_EARG, "associate: ");
    okra_context *ctx = NULL;
    char said[300] = "";
    CHECK_OK(okra_context_create(&ctx));
    okra_context_set_warning(ctx, note, said);
    okra_model *model = pairs_fit(p.train_x, p.train_y,
                                  "method=soar kx=rbf(gamma=1) sweeps=1 settle=1e-300");
    okra_prediction *q = NULL;
    CHECK_OK(okra_predict(ctx, model, p.test_x, NULL, NULL, &q));
    CHECK(strstr(said, "predictions had not settled after 1 sweeps; the first is that of "
                       "input 0 (from 0)"));
    okra_prediction_free(q);
    okra_model_free(model);
    okra_context_free(ctx);
    pairs_free(&p);
}

/* An input alone is predicted as among others, however many sweeps each of them takes. */
TEST(alone)
{
    double worst = 0;
    for (int product = 0; product < 2; product++) {
        pairs p;
        pairs_make(6, &p);
        okra_model *model =
            pairs_fit(p.train_x, p.train_y,
                      product ? "method=soar kx=rbf(gamma=0.3) associate=rbf(gamma=0.5)"
                              : "method=soar kx=rbf(gamma=0.3) associate=rbf(gamma=0.5) "
                                "combine=sum");
        okra_prediction *all = pairs_predict(model, p.test_x, "", false, true);
        okra_int rows, cols;
        const double *h = okra_prediction_embedding(all, &rows, &cols);
        for (okra_int t = 0; t < M; t++) {
            okra_data *one = NULL;
            CHECK_OK(okra_data_take(p.test_x, &t, 1, &one));
            okra_prediction *q = pairs_predict(model, one, "", false, true);
            worst = fmax(worst,
                         harness_relative(D, okra_prediction_embedding(q, &rows, &cols),
                                          h + t * D));
            okra_prediction_free(q);
            okra_data_free(one);
        }
        okra_prediction_free(all);
        okra_model_free(model);
        pairs_free(&p);
    }
    /* Measured: 0; products of another shape may round otherwise, those of a GPU do. */
    CHECK_NEAR(worst, 0, 1e-11);
}

/* Outputs that drive one another up without end: those of the inputs alone, and told. */
TEST(runs_away)
{
    pairs p;
    okra_context *ctx = NULL;
    char said[300] = "";
    okra_prediction *q = NULL;
    okra_int rows, cols, away = 0;
    pairs_make(3, &p);
    for (int i = 0; i < M * P; i++) {
        p.t[i] *= 1e3; /* a linear kernel of far inputs times one of outputs */
    }
    CHECK_OK(okra_context_create(&ctx));
    okra_context_set_warning(ctx, note, said);
    okra_model *model = pairs_fit(p.train_x, p.train_y, "method=soar sweeps=1000");
    okra_model *start = pairs_fit(p.train_x, p.train_y, "method=soar sweeps=0");
    okra_predict_request request = {OKRA_SIZED(okra_predict_request), .embedding = true};
    CHECK_OK(okra_predict(ctx, model, p.test_x, NULL, &request, &q));
    CHECK(strstr(said, "ran away from one another"));
    okra_prediction *r = pairs_predict(start, p.test_x, "", false, true);
    const double *h = okra_prediction_embedding(q, &rows, &cols);
    const double *want = okra_prediction_embedding(r, &rows, &cols);
    for (int t = 0; t < M; t++) {
        away += memcmp(h + t * D, want + t * D, sizeof(double) * D) == 0;
        for (int j = 0; j < D; j++) {
            CHECK(isfinite(h[t * D + j]));
        }
    }
    CHECK(away > 0);
    okra_prediction_free(q);
    okra_prediction_free(r);
    okra_model_free(model);
    okra_model_free(start);
    okra_context_free(ctx);
    pairs_free(&p);
}

static okra_status whole_run(const pairs *p, const okra_options *fit)
{
    okra_status st = OKRA_OK;
    okra_model *model = NULL;
    okra_prediction *q = NULL;
    TRY(okra_fit(NULL, p->train_x, p->train_y, fit, &model));
    TRY(okra_predict(NULL, model, p->test_x, NULL, NULL, &q));
done:
    okra_prediction_free(q);
    okra_model_free(model);
    return st;
}

TEST(allocations)
{
    pairs p;
    pairs_make(1, &p);
    static const char *const settings[] = {"method=soar kx=rbf(gamma=1) sweeps=2",
                                           "method=soar kx=rbf(gamma=1) learner=svr"};
    for (int k = 0; k < 2; k++) {
        okra_options *o = settings_of(okra_fit_options, settings[k]);
        CHECK_ALLOCATIONS(whole_run(&p, o), (void)0);
        okra_options_free(o);
    }
    pairs_free(&p);
}

MAIN(RUN(iteration), RUN(settled), RUN(support_vectors), RUN(refused), RUN(alone),
     RUN(runs_away), RUN(allocations))
