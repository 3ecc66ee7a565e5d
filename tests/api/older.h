/*
 * older.h: the structs of settings as an earlier header had them, each without its last
 * fields, and the functions that older.c calls. Kept by hand: it must not follow
 * include/okra.
 */
#ifndef OKRA_TEST_OLDER_H
#define OKRA_TEST_OLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int64_t okra_int;
typedef int okra_status;
enum { OKRA_OK = 0 };
typedef struct okra_context okra_context;
typedef struct okra_data okra_data;
typedef struct okra_options okra_options;
typedef struct okra_model okra_model;
typedef struct okra_prediction okra_prediction;
typedef struct okra_selection okra_selection;
typedef struct okra_links okra_links;

typedef struct okra_predict_request { /* before weights and what follows */
    size_t size;
    const okra_data *candidates;
    const okra_int *ranges;
} okra_predict_request;

typedef struct okra_select_request { /* before resume and keep */
    size_t size;
    const okra_data *candidates, *folds, *groups, *strata;
} okra_select_request;

typedef struct okra_link_settings { /* before unlabelled */
    size_t size;
    double beta;
    bool known, together;
} okra_link_settings;

typedef struct okra_link {
    okra_int a, b;
    double value;
} okra_link;

typedef struct okra_link_task {
    const okra_data *x;
    const okra_int *labelled;
    okra_int labelled_count;
    const okra_link *edges;
    okra_int edge_count;
    const okra_data *gram;
} okra_link_task;

const char *okra_message(void);
okra_status okra_data_dense(const double *values, okra_int n, okra_int d, okra_int ld,
                            okra_data **out);
void okra_data_free(okra_data *data);
okra_status okra_fit(okra_context *context, const okra_data *x, const okra_data *y,
                     const okra_options *options, okra_model **out);
void okra_model_free(okra_model *model);
okra_status okra_predict(okra_context *context, const okra_model *model,
                         const okra_data *x, const okra_options *options,
                         const okra_predict_request *request, okra_prediction **out);
const double *okra_prediction_weights(const okra_prediction *prediction, okra_int *rows,
                                      okra_int *cols);
const double *okra_prediction_embedding(const okra_prediction *prediction, okra_int *rows,
                                        okra_int *cols);
const double *okra_prediction_confidence(const okra_prediction *prediction,
                                         okra_int *rows);
void okra_prediction_free(okra_prediction *prediction);
okra_status okra_select(okra_context *context, const okra_data *x, const okra_data *y,
                        const okra_options *options, const okra_select_request *request,
                        okra_selection **out);
void okra_selection_free(okra_selection *selection);
okra_status okra_link_fit(okra_context *context, const okra_link_task *task,
                          const okra_options *options, const okra_link_settings *settings,
                          okra_links **out);
void okra_links_free(okra_links *links);

#endif
