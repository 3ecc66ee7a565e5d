/* low.h: factors of full rank, and the comparison of two models. */
#ifndef OKRA_TEST_MODEL_LOW_H
#define OKRA_TEST_MODEL_LOW_H

#include "pairs.h"
#include "okra/more/leave.h"

static const char *const ranks[] = {
    "chol(rank=12,tol=0)", "nystrom(rank=12)", "nystrom(rank=12,pivots=leverage)",
    "nystrom(rank=12,pivots=kmeans)", "nystrom(rank=12,pivots=centres)"};
enum { RANKS = sizeof ranks / sizeof *ranks };

/* A fit with these settings and that low rank. */
static inline okra_model *fit_of_rank(const okra_data *x, const okra_data *y,
                                      const char *settings, const char *low_rank)
{
    char text[800];
    snprintf(text, sizeof text, "%s low-rank=%s", settings, low_rank);
    return pairs_fit(x, y, text);
}

static inline void losses(const okra_model *model, const pairs *p, double *each)
{
    double mean;
    CHECK_OK(okra_model_loss(NULL, model, p->test_x, p->test_y, &mean, each));
}

/* Decoded objects and losses of two models; `tolerance` relative. */
static inline void check_same(const okra_model *a, const okra_model *b, const pairs *p,
                              const char *decode, double tolerance)
{
    double one[M], two[M];
    okra_int la, lb;
    losses(a, p, one);
    losses(b, p, two);
    CHECK_NEAR(harness_relative(M, two, one), 0, tolerance);
    okra_prediction *pa = pairs_predict(a, p->test_x, decode, false, false);
    okra_prediction *pb = pairs_predict(b, p->test_x, decode, false, false);
    const double *ya = okra_data_values(okra_prediction_objects(pa), &la);
    const double *yb = okra_data_values(okra_prediction_objects(pb), &lb);
    CHECK_NEAR(harness_relative(M * D, yb, ya), 0, tolerance);
    okra_prediction_free(pa);
    okra_prediction_free(pb);
}

#endif
