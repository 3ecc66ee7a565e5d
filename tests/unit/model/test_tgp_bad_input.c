/*
 * test_tgp_bad_input.c: what twin Gaussian processes refuse and what they survive; models
 * in files.
 */
#include "scene.h"
#include "okra/more/prediction.h"

static okra_status try_predict(const okra_model *model, const okra_data *x,
                               const char *settings)
{
    okra_prediction *p = NULL;
    okra_options *options = settings_of(okra_predict_options, settings);
    okra_status st = okra_predict(NULL, model, x, options, NULL, &p);
    okra_options_free(options);
    okra_prediction_free(p);
    return st;
}

TEST(refused)
{
    scene s = {.kx = "rbf(gamma=0.3)", .ky = "linear"};
    pairs_make(2, &s.p);
    CHECK_FAILS(pairs_try_fit(s.p.train_x, s.p.train_y, "method=tgp-kl neighbours=13"),
                OKRA_EARG, "neighbours is 13, expected at most 12");
    CHECK_FAILS(pairs_try_fit(s.p.train_x, s.p.train_y, "method=tgp-hsic lambda=1"),
                OKRA_EARG, "method tgp-hsic does not use the option 'lambda'");
    okra_model *hsic = fit_scene(&s, "tgp-hsic", "");
    okra_model *ridge = fit_scene(&s, "ridge", "");
    CHECK_FAILS(
        try_predict(hsic, s.p.test_x, "decode=optimum"), OKRA_EUNSUPPORTED,
        "under the output kernel linear the criterion of tgp-hsic has no optimum");
    CHECK_FAILS(try_predict(ridge, s.p.test_x, "decode=optimum"), OKRA_EUNSUPPORTED,
                "decoder optimum is for models of method tgp-kl and tgp-hsic");
    CHECK_FAILS(try_predict(hsic, s.p.test_x, "decode=optimum top=3"), OKRA_EARG,
                "decoder optimum ranks nothing");
    CHECK_FAILS(try_predict(hsic, s.p.test_x, "starts=2"), OKRA_EARG,
                "decoder candidates does not use the option 'starts'");
    okra_model_free(hsic);
    okra_model_free(ridge);
    s.ky = "laplacian(gamma=1)";
    okra_model *rough = fit_scene(&s, "tgp-kl", "");
    CHECK_FAILS(try_predict(rough, s.p.test_x, "decode=optimum"), OKRA_EUNSUPPORTED,
                "decoder optimum: no derivative of 'laplacian'");
    okra_prediction *p = pairs_predict(rough, s.p.test_x, "", false, false);
    okra_int rows = 1, top;
    CHECK(!okra_prediction_report(p, &rows) && rows == 0);
    CHECK(okra_prediction_index(p, &top) && top == 1); /* chosen among candidates */
    okra_prediction_free(p);
    okra_model_free(rough);
    pairs_free(&s.p);
}

static void note(void *user, const char *text)
{
    snprintf(user, 300, "%s", text);
}

static void check_finite(const okra_prediction *p)
{
    okra_int ld, rows;
    const okra_data *objects = okra_prediction_objects(p);
    const double *y = okra_data_values(objects, &ld);
    const double *report = okra_prediction_report(p, &rows);
    for (okra_int i = 0; i < okra_data_count(objects) * okra_data_width(objects); i++) {
        CHECK(isfinite(y[i]));
    }
    for (okra_int i = 0; i < rows * OKRA_REPORT_COLUMNS; i++) {
        CHECK(isfinite(report[i]));
    }
}

/* Constant outputs, inputs far from all training inputs, no time to converge, outputs
 * whose squares overflow: something finite, and the report; or an error. */
TEST(never_nan)
{
    okra_context *ctx = NULL;
    char said[300] = "";
    CHECK_OK(okra_context_create(&ctx));
    okra_context_set_warning(ctx, note, said);
    for (int kl = 0; kl < 2; kl++) {
        for (int local = 0; local < 2; local++) {
            for (int what = 0; what < 4; what++) {
                pairs p;
                pairs_make(4, &p);
                for (int i = 0; what == 0 && i < N * D; i++) {
                    p.y[i] = 0.25;
                }
                for (int i = 0; what == 1 && i < M * P; i++) {
                    p.t[i] = 1e6;
                }
                for (int i = 0; what == 3 && i < N * D; i++) {
                    p.y[i] *= 1e200;
                }
                char text[200];
                snprintf(text, sizeof text,
                         "kx=rbf(gamma=0.3) ky=rbf(gamma=0.4) method=%s %s",
                         kl ? "tgp-kl" : "tgp-hsic", local ? "neighbours=6" : "");
                okra_model *model = pairs_fit(p.train_x, p.train_y, text);
                okra_options *o =
                    settings_of(okra_predict_options, what == 2 ? "iterations=1" : "");
                okra_prediction *q = NULL;
                said[0] = 0;
                okra_status st = okra_predict(ctx, model, p.test_x, o, NULL, &q);
                if (what == 3 && kl) { /* hsic needs no Gram matrix of the outputs */
                    CHECK_FAILS(st, OKRA_ENUMERIC, "scale the data");
                } else {
                    CHECK_OK(st);
                    check_finite(q);
                }
                for (int t = 0; what == 3 && !kl && t < M; t++) {
                    okra_int ld, found = 0; /* J is defined nowhere: one of training */
                    const double *y = okra_data_values(okra_prediction_objects(q), &ld);
                    for (int i = 0; i < N; i++) {
                        found += memcmp(y + t * ld, p.y + i * D, sizeof *y * D) == 0;
                    }
                    CHECK(found == 1);
                }
                CHECK(what < 2 || (what == 3 && kl) ||
                      strstr(said, "predictions did not converge"));
                okra_prediction_free(q);
                okra_options_free(o);
                okra_model_free(model);
                pairs_free(&p);
            }
        }
    }
    okra_context_free(ctx);
}

/* A Gram matrix of the inputs that is not positive semi-definite: pairs of equal inputs,
 * and 0.1 + 2e-5 less on the diagonal, where lambda is 0.1. What little is missing is
 * added and told; its square misses more, which is an error. hsic needs no factor. */
TEST(not_psd)
{
    pairs p;
    double K[N * N], T[M * N], one[M];
    okra_context *ctx = NULL;
    char said[300] = "";
    okra_data *train = NULL, *test = NULL;
    pairs_make(5, &p);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N + M; j++) {
            const double *a = p.x + i / 2 * LDX;
            const double *b = j < N ? p.x + j / 2 * LDX : p.t + (j - N) * P;
            double s = 0;
            for (int k = 0; k < P; k++) {
                s += (a[k] - b[k]) * (a[k] - b[k]);
            }
            *(j < N ? &K[i * N + j] : &T[(j - N) * N + i]) = exp(-0.3 * s);
        }
        K[i * N + i] -= 0.1 + 2e-5;
    }
    for (int i = 0; i < M; i++) {
        one[i] = 1;
    }
    CHECK_OK(okra_data_gram(K, N, N, N, NULL, &train));
    CHECK_OK(okra_data_gram(T, M, N, N, one, &test));
    CHECK_OK(okra_context_create(&ctx));
    okra_context_set_warning(ctx, note, said);
    for (int c = 0; c < 8; c++) {
        char text[200];
        bool kl = c & 1, local = c & 2, squared = c & 4;
        snprintf(text, sizeof text, "kx=precomputed%s ky=rbf(gamma=0.4) method=%s%s",
                 squared ? "|poly-series(0,0,1)" : "", kl ? "tgp-kl" : "tgp-hsic",
                 local ? " neighbours=6" : "");
        okra_options *o = settings_of(okra_fit_options, text);
        okra_model *model = NULL;
        okra_prediction *q = NULL;
        said[0] = 0;
        okra_status st = okra_fit(ctx, train, p.train_y, o, &model);
        if (st == OKRA_OK) {
            st = okra_predict(ctx, model, test, NULL, NULL, &q);
        }
        if (kl && squared) {
            CHECK_FAILS(st, OKRA_ENUMERIC, "is not positive definite");
        } else {
            CHECK_OK(st);
            check_finite(q);
            CHECK(!kl || strstr(said, "not positive definite"));
        }
        okra_prediction_free(q);
        okra_model_free(model);
        okra_options_free(o);
    }
    okra_data_free(train);
    okra_data_free(test);
    okra_context_free(ctx);
    pairs_free(&p);
}

/* A precomputed output kernel: chosen among the training outputs; saved and loaded, the
 * same bits. */
TEST(file)
{
    scene s = {.kx = "rbf(gamma=0.3)", .ky = "rbf(gamma=0.4)"};
    pairs_make(8, &s.p);
    const char *path = files_path("tgp.okra");
    for (int local = 0; local < 2; local++) {
        okra_model *model = fit_scene(&s, "tgp-kl", local ? "neighbours=6" : ""),
                   *loaded = NULL;
        CHECK_OK(okra_model_save(NULL, model, NULL, path));
        CHECK_OK(okra_model_load(NULL, path, &loaded));
        okra_prediction *a = pairs_predict(model, s.p.test_x, "", false, false);
        okra_prediction *b = pairs_predict(loaded, s.p.test_x, "", false, false);
        okra_int ld;
        CHECK(memcmp(okra_data_values(okra_prediction_objects(a), &ld),
                     okra_data_values(okra_prediction_objects(b), &ld),
                     sizeof(double) * M * D) == 0);
        okra_prediction_free(a);
        okra_prediction_free(b);
        okra_model_free(model);
        okra_model_free(loaded);
    }
    pairs_free(&s.p);
    files_clean();
}

static okra_status whole_run(const scene *s, const okra_options *fit)
{
    okra_status st = OKRA_OK;
    okra_model *model = NULL;
    okra_prediction *a = NULL, *b = NULL;
    okra_predict_request request = {OKRA_SIZED(okra_predict_request),
                                    .candidates = s->p.test_y};
    TRY(okra_fit(NULL, s->p.train_x, s->p.train_y, fit, &model));
    TRY(okra_predict(NULL, model, s->p.test_x, NULL, NULL, &a));
    TRY(okra_predict(NULL, model, s->p.test_x, NULL, &request, &b));
done:
    okra_prediction_free(a);
    okra_prediction_free(b);
    okra_model_free(model);
    return st;
}

TEST(allocations)
{
    static const char *const settings[] = {
        "kx=rbf(gamma=0.3) ky=rbf(gamma=0.4) method=tgp-kl",
        "kx=rbf(gamma=0.3) ky=rbf(gamma=0.4) method=tgp-kl neighbours=4 twin=2,2",
        "kx=rbf(gamma=0.3) ky=rbf(gamma=0.4) method=tgp-hsic",
        "kx=rbf(gamma=0.3) ky=rbf(gamma=0.4) method=tgp-hsic neighbours=4",
    };
    scene s = {.kx = NULL};
    pairs_make(1, &s.p);
    for (int k = 0; k < 4; k++) {
        okra_options *o = settings_of(okra_fit_options, settings[k]);
        CHECK_ALLOCATIONS(whole_run(&s, o), (void)0);
        okra_options_free(o);
    }
    pairs_free(&s.p);
}

MAIN(RUN(refused), RUN(never_nan), RUN(not_psd), RUN(file), RUN(allocations))
