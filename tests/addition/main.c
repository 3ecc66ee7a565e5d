/*
 * Kernels, methods, decoders and metrics that the library does not have, each one file
 * here and one line in its table, do what those of the library do: they are found by
 * name, fitted, selected, saved, loaded and judged.
 */
#include "harness.h"
#include "okra/okra.h"
#include "okra/more/conformal.h"
#include "okra/more/score.h"
#include "okra/more/traits.h"

#include <unistd.h>

enum { N = 9, M = 4, D = 2 };

static okra_data *dense(double *values, okra_int n, uint64_t seed)
{
    okra_data *data = NULL;
    okra_random_ r = okra_random_create_(seed, 0);
    for (okra_int i = 0; i < n * D; i++) {
        values[i] = 3 * okra_random_uniform_(&r);
    }
    CHECK_OK(okra_data_dense(values, n, D, D, &data));
    return data;
}

static double similarity(const double *x, const double *y)
{
    return fmin(x[0], y[0]) + fmin(x[1], y[1]);
}

/* What the four together must give, written out. */
static void naive(const double *x, const double *y, const double *t, double *out)
{
    for (int r = 0; r < M; r++) {
        double sum = 0, h[D] = {0};
        for (int i = 0; i < N; i++) {
            double w = pow(similarity(t + r * D, x + i * D), 2);
            sum += w;
            for (int j = 0; j < D; j++) {
                h[j] += w * y[i * D + j];
            }
        }
        for (int j = 0; j < D; j++) {
            out[r * D + j] = round(h[j] / sum);
        }
    }
}

TEST(all_four_together)
{
    double xs[N * D], ys[N * D], ts[M * D], us[M * D], want[M * D], loss = 0, error = 0;
    okra_data *x = dense(xs, N, 1), *y = dense(ys, N, 2), *t = dense(ts, M, 3);
    okra_data *u = dense(us, M, 4);
    okra_options *fit = NULL, *how = NULL;
    okra_model *model = NULL, *again = NULL;
    okra_prediction *p = NULL;
    CHECK_OK(okra_fit_options(&fit));
    CHECK_OK(okra_options_set(fit, "kx", "smaller"));
    CHECK_OK(okra_options_set(fit, "method", "share"));
    CHECK_OK(okra_options_set(fit, "power", "2"));
    CHECK_OK(okra_predict_options(&how));
    CHECK_OK(okra_options_set(how, "decode", "whole"));
    CHECK_OK(okra_fit(NULL, x, y, fit, &model));
    CHECK_OK(okra_model_save(NULL, model, NULL, "addition.okra"));
    CHECK_OK(okra_model_load(NULL, "addition.okra", &again));
    CHECK_OK(okra_predict(NULL, again, t, how, NULL, &p));
    const double *got = okra_data_values(okra_prediction_objects(p), NULL);
    naive(xs, ys, ts, want);
    CHECK(memcmp(got, want, sizeof want) == 0);
    CHECK_OK(okra_score(NULL, "worst", u, okra_prediction_objects(p), &loss, NULL, NULL));
    for (int r = 0; r < M; r++) {
        error +=
            fmax(fabs(us[r * D] - want[r * D]), fabs(us[r * D + 1] - want[r * D + 1]));
    }
    CHECK_NEAR(loss, error / M, 1e-15);
    okra_prediction_free(p);
    okra_model_free(again);
    okra_model_free(model);
    okra_options_free(how);
    okra_options_free(fit);
    okra_data_free(u);
    okra_data_free(t);
    okra_data_free(y);
    okra_data_free(x);
    CHECK(unlink("addition.okra") == 0);
}

TEST(selection_takes_them)
{
    double xs[N * D], ys[N * D];
    okra_data *x = dense(xs, N, 1), *y = dense(ys, N, 2);
    okra_options *o = NULL;
    okra_selection *s = NULL;
    CHECK_OK(okra_select_options(&o));
    CHECK_OK(okra_options_set(o, "kx", "smaller"));
    CHECK_OK(okra_options_set(o, "method", "share"));
    CHECK_OK(okra_options_set(o, "power", "{1,2,4}"));
    CHECK_OK(okra_options_set(o, "cv", "kfold:3"));
    CHECK_OK(okra_options_set(o, "decode", "whole"));
    CHECK_OK(okra_options_set(o, "metric", "worst"));
    CHECK_OK(okra_select(NULL, x, y, o, NULL, &s));
    CHECK(okra_selection_count(s) == 3);
    okra_selection_free(s);
    okra_options_free(o);
    okra_data_free(y);
    okra_data_free(x);
}

/* ---- hooks: what asks for no name works for `plain` as it does for ridge ---- */

static okra_options *select_options(const char *method, const char *metric)
{
    okra_options *o = NULL;
    CHECK_OK(okra_select_options(&o));
    CHECK_OK(okra_options_set(o, "method", method));
    CHECK_OK(okra_options_set(o, "kx", "rbf(sigma=2)"));
    CHECK_OK(okra_options_set(o, "lambda", "{0.01,0.1,1}"));
    CHECK_OK(okra_options_set(o, "cv", "kfold:3"));
    CHECK_OK(okra_options_set(o, "metric", metric));
    return o;
}

TEST(relative_loss_is_of_methods_that_learn_outputs_apart)
{
    double xs[N * D], ys[N * D], mean[2][3] = {{0}}, error = 0;
    const char *const names[] = {"plain", "ridge"};
    okra_data *x = dense(xs, N, 1), *y = dense(ys, N, 2);
    okra_selection *s = NULL;
    for (int m = 0; m < 2; m++) {
        okra_options *o = select_options(names[m], "relative-loss");
        CHECK_OK(okra_select(NULL, x, y, o, NULL, &s));
        for (int c = 0; c < 3; c++) {
            CHECK_OK(okra_selection_cell(s, c, &mean[m][c], &error));
        }
        okra_selection_free(s);
        s = NULL;
        okra_options_free(o);
    }
    for (int c = 0; c < 3; c++) { /* worst: 7e-14 */
        CHECK_NEAR(mean[0][c], mean[1][c], 1e-12);
    }
    okra_options *o = select_options("share", "relative-loss");
    CHECK_OK(okra_options_set(o, "lambda", "auto"));
    CHECK_FAILS(okra_select(NULL, x, y, o, NULL, &s), OKRA_EARG, "relative-loss");
    okra_options_free(o);
    okra_data_free(y);
    okra_data_free(x);
}

static okra_model *fitted(const char *method, const okra_data *x, const okra_data *y)
{
    okra_options *o = NULL;
    okra_model *model = NULL;
    CHECK_OK(okra_fit_options(&o));
    CHECK_OK(okra_options_set(o, "method", method));
    CHECK_OK(okra_options_set(o, "kx", "rbf(sigma=2)"));
    CHECK_OK(okra_fit(NULL, x, y, o, &model));
    okra_options_free(o);
    return model;
}

TEST(conformal_intervals_need_no_name)
{
    double xs[N * D], ys[N * D], ts[M * D], bounds[2][M * 2] = {{0}};
    const char *const names[] = {"plain", "ridge"};
    okra_data *x = dense(xs, N, 1), *all = dense(ys, N, 2), *t = dense(ts, M, 3);
    okra_data *y = NULL;
    okra_conformal_settings s;
    CHECK_OK(okra_data_dense(ys, N, 1, D, &y));
    s = (okra_conformal_settings){OKRA_SIZED(okra_conformal_settings)};
    s.how = "full";
    for (int m = 0; m < 2; m++) {
        okra_model *model = fitted(names[m], x, y);
        CHECK_OK(okra_conformal_intervals(NULL, model, t, 0.3, &s, bounds[m], NULL));
        okra_model_free(model);
    }
    for (int i = 0; i < M * 2; i++) { /* worst: 0 */
        CHECK_NEAR(bounds[0][i], bounds[1][i], 1e-13);
    }
    okra_model *model = fitted("share", x, y);
    CHECK_FAILS(okra_conformal_intervals(NULL, model, t, 0.3, &s, bounds[0], NULL),
                OKRA_EUNSUPPORTED, "the method does not solve (K + lambda I)");
    okra_model_free(model);
    okra_data_free(y);
    okra_data_free(t);
    okra_data_free(all);
    okra_data_free(x);
}

/* Kernel and lambda come from the method that it is like. */
TEST(a_method_may_be_chosen_for_by_another)
{
    double xs[N * D], ys[N * D];
    okra_data *x = dense(xs, N, 1), *y = dense(ys, N, 2);
    okra_options *o = NULL, *fit[2] = {NULL, NULL};
    const char *const names[] = {"plain", "ridge"};
    for (int m = 0; m < 2; m++) {
        CHECK_OK(okra_select_options(&o));
        CHECK_OK(okra_options_set(o, "method", names[m]));
        CHECK_OK(okra_choose(NULL, x, y, o, &fit[m], NULL));
        okra_options_free(o);
        o = NULL;
        CHECK(strcmp(okra_options_get(fit[m], "method"), names[m]) == 0);
    }
    CHECK(strcmp(okra_options_get(fit[0], "kx"), okra_options_get(fit[1], "kx")) == 0);
    CHECK(strcmp(okra_options_get(fit[0], "lambda"),
                 okra_options_get(fit[1], "lambda")) == 0);
    okra_options_free(fit[0]);
    okra_options_free(fit[1]);
    okra_data_free(y);
    okra_data_free(x);
}

/* A fit that leaves kernels open takes the decoder that suits its outputs. */
TEST(a_decoder_may_be_taken_by_itself)
{
    double xs[N * D], ys[2][N * D];
    okra_data *x = dense(xs, N, 1), *y = NULL;
    for (int k = 0; k < 2; k++) {
        okra_data_free(dense(ys[k], N, 2));
        for (int i = 0; i < N * D; i++) {
            ys[k][i] = k == 0 ? ys[k][i] > 1.5 : ys[k][i];
        }
        okra_options *o = NULL, *fit = NULL;
        CHECK_OK(okra_data_dense(ys[k], N, D, D, &y));
        CHECK_OK(okra_select_options(&o));
        CHECK_OK(okra_options_set(o, "ky", "3*linear"));
        CHECK_OK(okra_choose(NULL, x, y, o, &fit, NULL));
        CHECK(strcmp(okra_options_get(fit, "decode"), k == 0 ? "whole" : "") == 0);
        okra_options_free(fit);
        okra_options_free(o);
        okra_data_free(y);
    }
    okra_data_free(x);
}

TEST(traits_are_told_by_the_tables)
{
    CHECK(okra_method_has("plain", OKRA_TRAIT_VARIANCE));
    CHECK(!okra_method_has("share", OKRA_TRAIT_VARIANCE));
    CHECK(okra_decoder_has("whole", OKRA_DECODER_REPORTS));
    CHECK(!okra_decoder_has("whole", OKRA_DECODER_CHOOSES));
    CHECK(!okra_decoder_has("nobody", OKRA_DECODER_REPORTS));
    CHECK(!okra_decoder_has(NULL, OKRA_DECODER_REPORTS));
    CHECK(okra_decoder_has("loss:f1", OKRA_DECODER_CHOOSES));
    CHECK(!okra_decoder_has("loss:f1", (okra_decoder_trait)99));
    CHECK(okra_kernel_has("table", OKRA_KERNEL_GIVEN));
    CHECK(!okra_kernel_has("smaller", OKRA_KERNEL_GIVEN));
    CHECK(okra_metric_has("first", OKRA_METRIC_LINKS));
    CHECK(okra_metric_has("worst", OKRA_METRIC_INTERVALS));
}

/* The kernel of a model that has values from the user, and a metric without objects. */
TEST(what_is_asked_is_the_row_of_the_table)
{
    double xs[N * D], K[N * N], value = 0;
    const double bounds[] = {0, 1, 2, 5}, truth[] = {3, 3};
    okra_data *x = dense(xs, N, 1), *k = NULL;
    okra_kernel *linear = NULL;
    okra_options *fit = NULL;
    okra_model *model = NULL;
    CHECK_OK(okra_kernel_parse("linear", &linear));
    CHECK_OK(okra_gram(NULL, linear, x, NULL, K, N));
    CHECK_OK(okra_data_gram(K, N, N, N, NULL, &k));
    CHECK_OK(okra_fit_options(&fit));
    CHECK_OK(okra_options_set(fit, "kx", "table"));
    CHECK_OK(okra_options_set(fit, "method", "plain"));
    CHECK_OK(okra_fit(NULL, k, x, fit, &model));
    CHECK_OK(okra_score_intervals(NULL, "worst", truth, 2, bounds, 1, 2, &value, NULL));
    CHECK(value == 2.5);
    CHECK_FAILS(okra_score(NULL, "first", x, x, &value, NULL, NULL), OKRA_EARG,
                "metric first does not compare objects");
    okra_model_free(model);
    okra_options_free(fit);
    okra_kernel_free(linear);
    okra_data_free(k);
    okra_data_free(x);
}

TEST(a_candidate_that_there_is_not_is_told)
{
    double xs[N * D], ys[N * D];
    okra_data *x = dense(xs, N, 1), *y = dense(ys, N, 2);
    okra_model *model = fitted("plain", x, y);
    okra_options *how = NULL;
    okra_prediction *p = NULL;
    CHECK_OK(okra_predict_options(&how));
    CHECK_OK(okra_options_set(how, "decode", "nowhere"));
    CHECK_FAILS(okra_predict(NULL, model, x, how, NULL, &p), OKRA_EINTERNAL,
                "decoder nowhere gave candidate 9 of 9 to test input 0");
    okra_options_free(how);
    okra_model_free(model);
    okra_data_free(y);
    okra_data_free(x);
}

MAIN(RUN(all_four_together), RUN(selection_takes_them),
     RUN(relative_loss_is_of_methods_that_learn_outputs_apart),
     RUN(conformal_intervals_need_no_name), RUN(a_method_may_be_chosen_for_by_another),
     RUN(a_decoder_may_be_taken_by_itself), RUN(traits_are_told_by_the_tables),
     RUN(what_is_asked_is_the_row_of_the_table),
     RUN(a_candidate_that_there_is_not_is_told))
