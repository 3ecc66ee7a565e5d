/*
 * A kernel, a method, a decoder and a metric that the library does not have, each one
 * file here and one line in its table, do what those of the library do: they are found by
 * name, fitted, selected, saved, loaded and judged.
 */
#include "harness.h"
#include "okra/okra.h"

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
    CHECK_OK(okra_model_save(NULL, model, "addition.okra"));
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

MAIN(RUN(all_four_together), RUN(selection_takes_them))
