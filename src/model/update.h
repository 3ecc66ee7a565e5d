/*
 * update.h: what update.c and update_low.c share.
 */
#ifndef OKRA_MODEL_UPDATE_H_
#define OKRA_MODEL_UPDATE_H_

#include "model/model.h"

/* One update. */
typedef struct okra_update_job_ {
    okra_context *ctx;
    const okra_model *model;
    okra_update_request request;
    okra_int *removed, *order; /* ascending; labelled rows that stay */
    okra_int kept;
    okra_data *new_x, *new_y; /* without pairs of weight 0, which are none */
    okra_data *aligned[3];    /* x, y and removed-x, columns as the model has them */
    okra_data *x, *y;
    okra_options *options;
    okra_training_ *training;
    okra_bag_ *bag;
    okra_change_ change;
} okra_update_job_;

/* The rows of `order`, then `more` (or NULL). */
okra_status okra_update_join_(const okra_data *data, const okra_int *order,
                              okra_int count, const okra_data *more,
                              okra_data **out) OKRA_CHECK;
/* The new training set under the kernels of the model, closed to files; `anew`: with
 * statistics of its own. */
okra_status okra_update_training_(okra_update_job_ *j, bool anew) OKRA_CHECK;
/* Numbers and texts that belong to the kernels or the model as a whole. */
okra_status okra_update_common_(const okra_bag_ *from, okra_bag_ *to) OKRA_CHECK;

/* update_low.c: models that hold a basis in place of their training inputs. */
bool okra_update_is_low_(const okra_model *model);
okra_status okra_update_low_(okra_update_job_ *j) OKRA_CHECK;

#endif
