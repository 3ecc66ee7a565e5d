/*
 * ranking.h: the nearest candidates of an index by okra_predict.
 */
#ifndef OKRA_TEST_RANKING_H
#define OKRA_TEST_RANKING_H

#include "okra/more/index.h"

typedef struct rank_request {
    size_t size; /* not looked at */
    const char *within;
    const double *masses;
    okra_int top, shortlist;
    bool exact;
    const char *const *formulas;
    const double *values;
} rank_request;

static inline okra_status rank_all(okra_context *ctx, const okra_index *index,
                                   const okra_model *model, const okra_data *x,
                                   const rank_request *how, okra_prediction **out)
{
    okra_options *options = NULL;
    okra_window window = {OKRA_SIZED(okra_window), .within = how->within,
                          .masses = how->masses,   .formulas = how->formulas,
                          .values = how->values,   .shortlist = how->shortlist,
                          .exact = how->exact};
    okra_predict_request request = {OKRA_SIZED(okra_predict_request), .index = index,
                                    .window = &window};
    okra_status st = okra_predict_options(&options);
    st = st ? st : okra_options_set_number(options, "top", (double)how->top);
    st = st ? st : okra_predict(ctx, model, x, options, &request, out);
    okra_options_free(options);
    return st;
}

static inline const okra_int *ranked_index(const okra_prediction *p, okra_int *tests,
                                           okra_int *top)
{
    *tests = okra_prediction_count(p);
    return okra_prediction_index(p, top);
}

static inline const double *ranked_distance(const okra_prediction *p)
{
    okra_int top = 0;
    return okra_prediction_distance(p, &top);
}

#endif
