/*
 * stkl.c: runs of twin Gaussian processes for the entries of Tonde and Elgammal.
 */
#include "stkl.h"
#include "nested.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const stkl_map stkl_maps[STKL_MAPS] = {{true, 1, 11}, {true, 11, 1}, {false, 11, 11}};

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

/* The values of dense data, each at most `box` in size. */
static okra_status clipped(const okra_data *from, double box, okra_data **out)
{
    okra_int ld, n = okra_data_count(from), d = okra_data_width(from);
    const double *values = okra_data_values(from, &ld);
    double *copy = values ? malloc((size_t)(n * d) * sizeof *copy) : NULL;
    okra_status st = copy ? OKRA_OK : okra_fail(OKRA_EMEM, "no memory for predictions");
    for (okra_int k = 0; st == OKRA_OK && k < n * d; k++) {
        double v = values[k / d * ld + k % d];
        copy[k] = box > 0 ? fmin(box, fmax(-box, v)) : v;
    }
    if (st == OKRA_OK) {
        st = paper_dense(copy, n, d, out);
    }
    free(copy);
    return st;
}

/* All test points and every block of them. */
static okra_status judge(paper_run *run, const okra_data *truth,
                         const okra_data *predicted, stkl_score *score)
{
    okra_int n = okra_data_count(truth);
    double *each = malloc((size_t)n * sizeof *each), sum[STKL_BLOCKS] = {0},
           count[STKL_BLOCKS] = {0};
    bool has_each = false;
    okra_status st = each ? okra_score(paper_context(run), "mae", truth, predicted,
                                       &score->mae, each, &has_each)
                          : okra_fail(OKRA_EMEM, "no memory for errors");
    if (st == OKRA_OK && !has_each) {
        st = okra_fail(OKRA_EINTERNAL, "mae has no errors of single points");
    }
    for (okra_int i = 0; st == OKRA_OK && i < n; i++) {
        sum[i % STKL_BLOCKS] += each[i];
        count[i % STKL_BLOCKS]++;
    }
    for (int k = 0; k < STKL_BLOCKS; k++) {
        score->block[k] = sum[k] / fmax(1, count[k]);
    }
    free(each);
    return st;
}

enum { VALUES = sizeof(stkl_score) / sizeof(double) };

static okra_status scored(paper_run *run, const char *key, const paper_pairs *train,
                          const paper_pairs *test, paper_options fit,
                          paper_options decode, double box, stkl_score *score,
                          okra_prediction **keep)
{
    okra_prediction *prediction = NULL;
    okra_data *objects = NULL;
    double values[VALUES];
    okra_status st = predict(run, train, test, fit, decode, &prediction);
    if (st == OKRA_OK) {
        st = clipped(okra_prediction_objects(prediction), box, &objects);
    }
    if (st == OKRA_OK) {
        st = judge(run, test->y, objects, score);
    }
    memcpy(values, score, sizeof values);
    if (st == OKRA_OK) {
        st = paper_keep(run, key, values, VALUES);
    }
    if (st == OKRA_OK && keep) {
        *keep = prediction;
    } else {
        okra_prediction_free(prediction);
    }
    okra_data_free(objects);
    return st;
}

static bool have(paper_run *run, const char *key, stkl_score *score)
{
    double values[VALUES];
    bool found = paper_have(run, key, values, VALUES);
    if (found) {
        memcpy(score, values, sizeof values);
    }
    return found;
}

okra_status stkl_error(paper_run *run, const char *data, const paper_pairs *train,
                       const paper_pairs *test, const stkl_setting *s, stkl_score *score,
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
    if (!prediction && have(run, key, score)) {
        return OKRA_OK;
    }
    return scored(run, key, train, test, fit, NULL, 0, score, prediction);
}

okra_status stkl_choose(paper_run *run, const char *data, const paper_pairs *train,
                        const paper_pairs *test, const stkl_setting *settings,
                        size_t count, size_t *best)
{
    okra_status st = OKRA_OK;
    double least = INFINITY;
    for (size_t i = 0; st == OKRA_OK && i < count; i++) {
        stkl_score score;
        st = stkl_error(run, data, train, test, &settings[i], &score, NULL);
        if (st == OKRA_OK && score.mae < least) {
            least = score.mae;
            *best = i;
        }
    }
    return st;
}

okra_status stkl_other(paper_run *run, const char *data, const paper_pairs *train,
                       const paper_pairs *test, paper_options fit, paper_options decode,
                       double box, stkl_score *score)
{
    char key[600];
    size_t used = (size_t)snprintf(key, sizeof key, "%s", data);
    for (paper_options t = fit; *t && used < sizeof key; t++) {
        used += (size_t)snprintf(key + used, sizeof key - used, " %s", *t);
    }
    if (have(run, key, score)) {
        return OKRA_OK;
    }
    return scored(run, key, train, test, fit, decode, box, score, NULL);
}

okra_status stkl_own(paper_run *run, const paper_pairs *train, const paper_pairs *test,
                     int table)
{
    double value = 0;
    okra_status st = OKRA_OK;
    if (!paper_have(run, PAPER_OWN, &value, 1)) {
        st = paper_own(run, train, test, "mae", &value);
        if (st == OKRA_OK) {
            st = paper_keep(run, PAPER_OWN, &value, 1);
        }
    }
    paper_cell cell = {NAN, NAN, &value, 1, NULL, PAPER_TOGETHER};
    return st == OKRA_OK ? paper_put(run, table, PAPER_OWN, "no mapping", cell) : st;
}
