/*
 * nested.c: parameters chosen by an inner cross-validation.
 */
#include "nested.h"

#include <math.h>
#include <stdlib.h>

static okra_status make_options(okra_status (*create)(okra_options **),
                                paper_options texts, okra_options **out)
{
    okra_options *options = NULL;
    okra_status st = create(&options);
    if (st == OKRA_OK) {
        st = paper_set_options(options, texts);
    }
    if (st == OKRA_OK) {
        *out = options;
    } else {
        okra_options_free(options);
    }
    return st;
}

/* The models of one setting: one a lambda, or one. */
static okra_status fit(paper_run *run, const paper_family *f, size_t setting,
                       const double *lambda, size_t count, const paper_pairs *train,
                       okra_model **models)
{
    okra_options *options = NULL;
    okra_status st = make_options(okra_fit_options, f->settings[setting], &options);
    if (st == OKRA_OK && f->lambda) {
        st = okra_fit_as(paper_context(run), train->x, train->y, options,
                         (&(okra_fit_request){OKRA_SIZED(okra_fit_request),
                                              .lambda = lambda, .count = count}),
                         models);
    } else if (st == OKRA_OK) {
        st = okra_fit(paper_context(run), train->x, train->y, options, models);
    }
    okra_options_free(options);
    return st;
}

static size_t decodes(const paper_family *f)
{
    return f->decodes ? f->decode_count : 1;
}

static okra_status judge(paper_run *run, const paper_family *f, size_t decode,
                         const okra_model *model, const paper_pairs *train,
                         const paper_pairs *test, double *value, paper_score other,
                         void *user, double *other_value)
{
    okra_options *options = NULL;
    okra_prediction *p = NULL;
    okra_int top;
    okra_status st = make_options(okra_predict_options,
                                  f->decodes ? f->decodes[decode] : f->decode, &options);
    if (st == OKRA_OK) {
        st = okra_predict(paper_context(run), model, test->x, options, NULL, &p);
    }
    if (st == OKRA_OK) {
        st = okra_score(paper_context(run), f->metric, test->y,
                        okra_prediction_objects(p), value, NULL, NULL);
    }
    if (st == OKRA_OK && other) {
        st = other(run, user, train, test, okra_prediction_objects(p),
                   okra_prediction_index(p, &top), other_value);
    }
    okra_prediction_free(p);
    okra_options_free(options);
    return st;
}

/* losses[(setting * lambdas + l) * decodes + d] += those of one inner fold. */
static okra_status inner(paper_run *run, const paper_family *f, const paper_pairs *train,
                         const paper_pairs *test, double *losses)
{
    okra_status st = OKRA_OK;
    size_t lambdas = f->lambda ? f->lambdas : 1, ways = decodes(f);
    okra_model **models = calloc(lambdas, sizeof *models);
    if (!models) {
        return okra_fail(OKRA_EMEM, "no memory for %zu models", lambdas);
    }
    for (size_t s = 0; st == OKRA_OK && s < f->count; s++) {
        st = fit(run, f, s, f->lambda, lambdas, train, models);
        for (size_t l = 0; st == OKRA_OK && l < lambdas * ways; l++) {
            double loss = 0;
            st = judge(run, f, l % ways, models[l / ways], train, test, &loss, NULL, NULL,
                       NULL);
            losses[s * lambdas * ways + l] += loss;
        }
        for (size_t l = 0; l < lambdas; l++) {
            okra_model_free(models[l]);
            models[l] = NULL;
        }
    }
    free(models);
    return st;
}

okra_status paper_nested(paper_run *run, const paper_family *f, const paper_pairs *train,
                         const paper_pairs *test, double *value, paper_score other,
                         void *user, double *other_value)
{
    size_t lambdas = f->lambda ? f->lambdas : 1, ways = decodes(f), best = 0;
    size_t members = f->count * lambdas * ways;
    double *losses = calloc(members, sizeof *losses);
    okra_status st = losses ? OKRA_OK : okra_fail(OKRA_EMEM, "no memory for losses");
    for (okra_int k = 0; st == OKRA_OK && members > 1 && k < f->folds; k++) {
        paper_pairs inside = {NULL, NULL}, outside = {NULL, NULL};
        st = paper_fold(train, f->folds, k, &inside, &outside);
        if (st == OKRA_OK) {
            st = inner(run, f, &outside, &inside, losses);
        }
        paper_pairs_clear(&inside);
        paper_pairs_clear(&outside);
    }
    for (size_t i = 1; st == OKRA_OK && i < members; i++) {
        best = losses[i] < losses[best] ? i : best;
    }
    okra_model *model = NULL;
    if (st == OKRA_OK) {
        const double *lambda = f->lambda ? &f->lambda[best / ways % lambdas] : NULL;
        st = fit(run, f, best / ways / lambdas, lambda, 1, train, &model);
    }
    if (st == OKRA_OK) {
        st = judge(run, f, best % ways, model, train, test, value, other, user,
                   other_value);
    }
    okra_model_free(model);
    free(losses);
    return st;
}

okra_status paper_own(paper_run *run, const paper_pairs *train, const paper_pairs *test,
                      const char *metric, double *value)
{
    okra_context *context = paper_context(run);
    okra_options *options = NULL;
    okra_model *model = NULL;
    okra_prediction *p = NULL;
    okra_status st = okra_choose(context, train->x, train->y, NULL, &options, NULL);
    if (st == OKRA_OK) {
        st = okra_fit(context, train->x, train->y, options, &model);
    }
    if (st == OKRA_OK) {
        st = okra_predict(context, model, test->x, NULL, NULL, &p);
    }
    if (st == OKRA_OK) {
        st = okra_score(context, metric, test->y, okra_prediction_objects(p), value, NULL,
                        NULL);
    }
    okra_prediction_free(p);
    okra_model_free(model);
    okra_options_free(options);
    return st;
}

/* Fold f: of a family, or without options where `family` is NULL. */
static okra_status one_fold(paper_run *run, const paper_family *family,
                            const paper_pairs *all, const char *metric, okra_int folds,
                            okra_int f, double *value)
{
    paper_pairs train = {NULL, NULL}, test = {NULL, NULL};
    okra_status st = paper_fold(all, folds, f, &train, &test);
    if (st == OKRA_OK) {
        st = family ? paper_nested(run, family, &train, &test, value, NULL, NULL, NULL)
                    : paper_own(run, &train, &test, metric, value);
    }
    paper_pairs_clear(&train);
    paper_pairs_clear(&test);
    return st;
}

static okra_status all_folds(paper_run *run, const paper_family *family,
                             const paper_pairs *all, const char *key, const char *metric,
                             okra_int folds, okra_int used, double *values)
{
    okra_status st = OKRA_OK;
    for (okra_int f = 0; st == OKRA_OK && f < used; f++) {
        char step[240];
        snprintf(step, sizeof step, "%s, %d", key, (int)f);
        if (!paper_have(run, step, &values[f], 1)) {
            st = one_fold(run, family, all, metric, folds, f, &values[f]);
            if (st == OKRA_OK) {
                st = paper_keep(run, step, &values[f], 1);
            }
        }
    }
    return st;
}

okra_status paper_nested_folds(paper_run *run, const paper_family *family,
                               const paper_pairs *all, const char *key, okra_int folds,
                               okra_int used, double *values)
{
    return all_folds(run, family, all, key, family->metric, folds, used, values);
}

okra_status paper_own_folds(paper_run *run, const paper_pairs *all, const char *key,
                            const char *metric, okra_int folds, okra_int used,
                            double *values)
{
    char own[200];
    snprintf(own, sizeof own, PAPER_OWN " %s", key);
    return all_folds(run, NULL, all, own, metric, folds, used, values);
}
