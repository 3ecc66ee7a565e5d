/*
 * stkl.c: runs of twin Gaussian processes for the entries of Tonde and Elgammal.
 */
#include "stkl.h"

#include <math.h>
#include <string.h>

double stkl_gain(double with, double without)
{
    return 100 * (1 - with / without);
}

const char *stkl_text(const stkl_setting *s, char *buffer, size_t size)
{
    int used = snprintf(buffer, size, "gamma_x %g, gamma_y %g", s->gamma_x, s->gamma_y);
    if (s->kl && used > 0 && (size_t)used < size) {
        snprintf(buffer + used, size - (size_t)used, ", lambda_x %g, lambda_y %g",
                 s->lambda_x, s->lambda_y);
    }
    return buffer;
}

static okra_status predict(paper_run *run, const paper_pairs *train,
                           const paper_pairs *test, paper_options fit,
                           paper_options decode, okra_prediction **out)
{
    okra_options *fit_options = NULL, *decode_options = NULL;
    okra_model *model = NULL;
    okra_status st = okra_fit_options(&fit_options);
    if (st == OKRA_OK) {
        st = okra_predict_options(&decode_options);
    }
    if (st == OKRA_OK) {
        st = paper_set_options(fit_options, fit);
    }
    if (st == OKRA_OK) {
        st = paper_set_options(decode_options, decode);
    }
    if (st == OKRA_OK) {
        st = okra_fit(paper_context(run), train->x, train->y, fit_options, &model);
    }
    if (st == OKRA_OK) {
        st = okra_predict(paper_context(run), model, test->x, decode_options, NULL, out);
    }
    okra_model_free(model);
    okra_options_free(fit_options);
    okra_options_free(decode_options);
    return st;
}

static okra_status scored(paper_run *run, const char *key, const paper_pairs *train,
                          const paper_pairs *test, paper_options fit,
                          paper_options decode, double *mae, okra_prediction **keep)
{
    okra_prediction *prediction = NULL;
    okra_status st = predict(run, train, test, fit, decode, &prediction);
    if (st == OKRA_OK) {
        st = okra_score(paper_context(run), "mae", test->y,
                        okra_prediction_objects(prediction), mae, NULL, NULL);
    }
    if (st == OKRA_OK) {
        st = paper_keep(run, key, mae, 1);
    }
    if (st == OKRA_OK && keep) {
        *keep = prediction;
    } else {
        okra_prediction_free(prediction);
    }
    return st;
}

okra_status stkl_error(paper_run *run, const char *data, const paper_pairs *train,
                       const paper_pairs *test, const stkl_setting *s, double *mae,
                       okra_prediction **prediction)
{
    char key[800], kx[64], ky[64], lambda[64], lambda_y[64], near[64], twin[64];
    snprintf(kx, sizeof kx, "kx=rbf(gamma=%.10g)", s->gamma_x);
    snprintf(ky, sizeof ky, "ky=rbf(gamma=%.10g)", s->gamma_y);
    snprintf(lambda, sizeof lambda, "lambda=%.10g", s->lambda_x);
    snprintf(lambda_y, sizeof lambda_y, "lambda-y=%.10g", s->lambda_y);
    snprintf(near, sizeof near, "neighbours=%lld", (long long)s->neighbours);
    snprintf(twin, sizeof twin, "twin=%d,%d", s->d1, s->d2);
    const char *fit[9] = {kx, ky, s->kl ? "method=tgp-kl" : "method=tgp-hsic", near};
    int used = 4;
    if (s->d1 > 1 || s->d2 > 1) {
        fit[used++] = twin;
    }
    if (s->kl) {
        fit[used++] = lambda;
        fit[used++] = lambda_y;
    }
    snprintf(key, sizeof key, "%s %s %s %s %s %s %s %s", data, fit[2], kx, ky, near, twin,
             s->kl ? lambda : "", s->kl ? lambda_y : "");
    if (!prediction && paper_have(run, key, mae, 1)) {
        return OKRA_OK;
    }
    return scored(run, key, train, test, fit, NULL, mae, prediction);
}

okra_status stkl_choose(paper_run *run, const char *data, const paper_pairs *train,
                        const paper_pairs *test, const stkl_setting *settings,
                        size_t count, size_t *best)
{
    okra_status st = OKRA_OK;
    double least = INFINITY, mae = 0;
    for (size_t i = 0; st == OKRA_OK && i < count; i++) {
        st = stkl_error(run, data, train, test, &settings[i], &mae, NULL);
        if (st == OKRA_OK && mae < least) {
            least = mae;
            *best = i;
        }
    }
    return st;
}

okra_status stkl_other(paper_run *run, const char *data, const paper_pairs *train,
                       const paper_pairs *test, paper_options fit, paper_options decode,
                       double *mae)
{
    char key[600];
    size_t used = (size_t)snprintf(key, sizeof key, "%s", data);
    for (paper_options t = fit; *t && used < sizeof key; t++) {
        used += (size_t)snprintf(key + used, sizeof key - used, " %s", *t);
    }
    if (paper_have(run, key, mae, 1)) {
        return OKRA_OK;
    }
    return scored(run, key, train, test, fit, decode, mae, NULL);
}
