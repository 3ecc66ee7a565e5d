/* pairs.h: small training and test sets of every kind, and models of them. */
#ifndef OKRA_TEST_PAIRS_H
#define OKRA_TEST_PAIRS_H

#include "../data/files.h"
#include "model/model.h"
#include "settings.h"
#include "okra/more/leave.h"

enum { N = 12, M = 7, P = 3, D = 2, LDX = P + 2 };

typedef struct pairs {
    double x[N * LDX], y[N * D], t[M * P], u[M * D]; /* x: rows LDX apart */
    okra_data *train_x, *train_y, *test_x, *test_y;
} pairs;

static inline void pairs_make(uint64_t seed, pairs *p)
{
    okra_random_ r = okra_random_create_(seed, 0);
    harness_normals(&r, N * LDX, p->x);
    harness_normals(&r, N * D, p->y);
    harness_normals(&r, M * P, p->t);
    harness_normals(&r, M * D, p->u);
    CHECK_OK(okra_data_dense(p->x, N, P, LDX, &p->train_x));
    CHECK_OK(okra_data_dense(p->y, N, D, D, &p->train_y));
    CHECK_OK(okra_data_dense(p->t, M, P, P, &p->test_x));
    CHECK_OK(okra_data_dense(p->u, M, D, D, &p->test_y));
}

static inline void pairs_free(pairs *p)
{
    okra_data_free(p->train_x);
    okra_data_free(p->train_y);
    okra_data_free(p->test_x);
    okra_data_free(p->test_y);
}

static inline okra_data *pairs_weigh(const okra_data *data, const double *weights)
{
    okra_data *out = NULL;
    CHECK_OK(okra_data_weigh(data, weights, N, &out));
    return out;
}

/* A fit that may be refused. */
static inline okra_status pairs_try_fit(const okra_data *x, const okra_data *y,
                                        const char *settings)
{
    okra_model *model = NULL;
    okra_options *options = settings_of(okra_fit_options, settings);
    okra_status st = okra_fit(NULL, x, y, options, &model);
    okra_options_free(options);
    okra_model_free(model);
    return st;
}

static inline okra_model *pairs_fit(const okra_data *x, const okra_data *y,
                                    const char *settings)
{
    okra_model *model = NULL;
    okra_options *options = settings_of(okra_fit_options, settings);
    CHECK_OK(okra_fit(NULL, x, y, options, &model));
    okra_options_free(options);
    return model;
}

/* Settings of a fit that are refused, and how. */
typedef struct pairs_bad {
    const char *settings;
    okra_status status;
    const char *message;
} pairs_bad;

static inline void pairs_check_refused(const pairs *p, const pairs_bad *bad, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        okra_model *model = NULL;
        okra_options *o = settings_of(okra_fit_options, bad[i].settings);
        CHECK_FAILS(okra_fit(NULL, p->train_x, p->train_y, o, &model), bad[i].status,
                    bad[i].message);
        okra_options_free(o);
    }
}

static inline okra_prediction *pairs_predict(const okra_model *model, const okra_data *x,
                                             const char *settings, bool weights,
                                             bool embedding)
{
    okra_prediction *p = NULL;
    okra_options *options = settings_of(okra_predict_options, settings);
    okra_predict_request request = {OKRA_SIZED(okra_predict_request), .weights = weights,
                                    .embedding = embedding};
    CHECK_OK(okra_predict(NULL, model, x, options, &request, &p));
    okra_options_free(options);
    return p;
}

/* All that allocates, for sweeps of failing allocations. */
static inline okra_status pairs_run(const pairs *p, const okra_options *fit)
{
    okra_model *model = NULL;
    okra_prediction *q = NULL;
    double loss;
    okra_status st = okra_fit(NULL, p->train_x, p->train_y, fit, &model);
    st = st ? st : okra_predict(NULL, model, p->test_x, NULL, NULL, &q);
    st = st ? st : okra_model_loss(NULL, model, p->test_x, p->test_y, &loss, NULL);
    okra_prediction_free(q);
    okra_model_free(model);
    return st;
}

static inline void pairs_check_allocations(const char *const *settings, size_t count)
{
    pairs p;
    pairs_make(9, &p);
    for (size_t k = 0; k < count; k++) {
        okra_options *o = settings_of(okra_fit_options, settings[k]);
        CHECK_ALLOCATIONS(pairs_run(&p, o), (void)0);
        okra_options_free(o);
    }
    pairs_free(&p);
}

#endif
