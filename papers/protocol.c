/*
 * protocol.c: steps that protocols share.
 */
#include "protocol.h"

#include <stdlib.h>
#include <string.h>

void paper_pairs_clear(paper_pairs *pairs)
{
    okra_data_free(pairs->x);
    okra_data_free(pairs->y);
    pairs->x = pairs->y = NULL;
}

okra_status paper_pairs_take(const paper_pairs *from, const okra_int *index,
                             okra_int count, paper_pairs *out)
{
    paper_pairs chosen = {NULL, NULL};
    okra_status st = okra_data_take(from->x, index, count, &chosen.x);
    if (st == OKRA_OK) {
        st = okra_data_take(from->y, index, count, &chosen.y);
    }
    if (st == OKRA_OK) {
        *out = chosen;
    } else {
        paper_pairs_clear(&chosen);
    }
    return st;
}

okra_status paper_fold(const paper_pairs *all, okra_int folds, okra_int f,
                       paper_pairs *inside, paper_pairs *outside)
{
    okra_int n = okra_data_count(all->x), begin = n * f / folds,
             end = n * (f + 1) / folds;
    okra_int *index = malloc((size_t)n * sizeof *index), in = 0, out = end - begin;
    if (!index) {
        return okra_fail(OKRA_EMEM, "no memory for a fold");
    }
    for (okra_int i = 0; i < n; i++) {
        index[i >= begin && i < end ? in++ : out++] = i;
    }
    okra_status st = paper_pairs_take(all, index, end - begin, inside);
    if (st == OKRA_OK) {
        st = paper_pairs_take(all, index + (end - begin), n - (end - begin), outside);
        if (st != OKRA_OK) {
            paper_pairs_clear(inside);
        }
    }
    free(index);
    return st;
}

okra_status paper_set_options(okra_options *options, paper_options texts)
{
    for (; texts && *texts; texts++) {
        const char *equals = strchr(*texts, '=');
        char name[64];
        if (!equals || (size_t)(equals - *texts) >= sizeof name) {
            return okra_fail(OKRA_EINTERNAL, "option '%s' is not name=value", *texts);
        }
        memcpy(name, *texts, (size_t)(equals - *texts));
        name[equals - *texts] = '\0';
        okra_status st = okra_options_set(options, name, equals + 1);
        if (st != OKRA_OK) {
            return st;
        }
    }
    return OKRA_OK;
}

static okra_status score(paper_run *run, const okra_model *model, const paper_pairs *test,
                         const okra_options *decode, const char *metric, double *value)
{
    okra_prediction *prediction = NULL;
    okra_status st =
        okra_predict(paper_context(run), model, test->x, decode, NULL, &prediction);
    if (st == OKRA_OK) {
        st = okra_score(paper_context(run), metric, test->y,
                        okra_prediction_objects(prediction), value, NULL, NULL);
    }
    okra_prediction_free(prediction);
    return st;
}

/* `count` models, one a lambda; lambda NULL: one, with the lambda of the options. */
static okra_status fit_all(paper_run *run, const paper_pairs *train, paper_options fit,
                           const double *lambda, size_t count, okra_model **models)
{
    okra_options *options = NULL;
    okra_status st = okra_fit_options(&options);
    if (st == OKRA_OK) {
        st = paper_set_options(options, fit);
    }
    if (st == OKRA_OK) {
        st = lambda ? okra_fit_as(paper_context(run), train->x, train->y, options,
                                  (&(okra_fit_request){OKRA_SIZED(okra_fit_request),
                                                       .lambda = lambda, .count = count}),
                                  models)
                    : okra_fit(paper_context(run), train->x, train->y, options, models);
    }
    okra_options_free(options);
    return st;
}

static okra_status decode_score(paper_run *run, const okra_model *model,
                                const paper_pairs *test, paper_options decode,
                                const char *metric, double *value)
{
    okra_options *options = NULL;
    okra_status st = okra_predict_options(&options);
    if (st == OKRA_OK) {
        st = paper_set_options(options, decode);
    }
    if (st == OKRA_OK) {
        st = score(run, model, test, options, metric, value);
    }
    okra_options_free(options);
    return st;
}

static okra_status fit_score(paper_run *run, const paper_pairs *train,
                             const paper_pairs *test, paper_options fit,
                             paper_options decode, const char *metric,
                             const double *lambda, size_t count, double *values)
{
    okra_model **models = calloc(count, sizeof *models);
    okra_status st = models ? fit_all(run, train, fit, lambda, count, models)
                            : okra_fail(OKRA_EMEM, "no memory for %zu models", count);
    for (size_t i = 0; st == OKRA_OK && i < count; i++) {
        st = decode_score(run, models[i], test, decode, metric, &values[i]);
    }
    for (size_t i = 0; models && i < count; i++) {
        okra_model_free(models[i]);
    }
    free(models);
    return st;
}

okra_status paper_fit_ways(paper_run *run, const paper_pairs *train,
                           const paper_pairs *test, paper_options fit, double lambda,
                           const paper_options *decode, size_t count, const char *metric,
                           double *values)
{
    okra_model *model = NULL;
    okra_status st = fit_all(run, train, fit, &lambda, 1, &model);
    for (size_t i = 0; st == OKRA_OK && i < count; i++) {
        st = decode_score(run, model, test, decode[i], metric, &values[i]);
    }
    okra_model_free(model);
    return st;
}

okra_status paper_fit_score(paper_run *run, const paper_pairs *train,
                            const paper_pairs *test, paper_options fit,
                            paper_options decode, const char *metric,
                            const double *lambda, size_t count, double *values)
{
    return fit_score(run, train, test, fit, decode, metric, lambda, count, values);
}

okra_status paper_fit_one(paper_run *run, const paper_pairs *train,
                          const paper_pairs *test, paper_options fit,
                          paper_options decode, const char *metric, double *value)
{
    return fit_score(run, train, test, fit, decode, metric, NULL, 1, value);
}

okra_status paper_dense(const double *values, okra_int n, okra_int d, okra_data **out)
{
    okra_data *view = NULL;
    okra_status st = okra_data_dense(values, n, d, d, &view);
    if (st == OKRA_OK) {
        st = okra_data_copy(view, out);
    }
    okra_data_free(view);
    return st;
}

okra_status paper_columns(const okra_data *from, okra_int rows, okra_int c0,
                          okra_int width, double scale, okra_data **out)
{
    okra_int ld;
    const double *values = okra_data_values(from, &ld);
    if (!values || okra_data_count(from) < rows || okra_data_width(from) < c0 + width) {
        return okra_fail(
            OKRA_ESHAPE, "%lld rows and columns %lld to %lld are wanted of %lld x %lld",
            (long long)rows, (long long)c0, (long long)(c0 + width - 1),
            (long long)okra_data_count(from), (long long)okra_data_width(from));
    }
    double *scaled = malloc((size_t)(rows * width) * sizeof *scaled);
    if (!scaled) {
        return okra_fail(OKRA_EMEM, "no memory for %lld x %lld values", (long long)rows,
                         (long long)width);
    }
    for (okra_int i = 0; i < rows; i++) {
        for (okra_int j = 0; j < width; j++) {
            scaled[i * width + j] = values[i * ld + c0 + j] * scale;
        }
    }
    okra_status st = paper_dense(scaled, rows, width, out);
    free(scaled);
    return st;
}
