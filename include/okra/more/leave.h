/*
 * okra/more/leave.h: losses in the feature space of outputs, and predictions of training
 * inputs by models that have not seen their pairs.
 */
#ifndef OKRA_MORE_LEAVE_H
#define OKRA_MORE_LEAVE_H

#include "okra/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Feature-space loss of the undecoded prediction, mean over test pairs of
 * l(y,y) - 2 sum w_i l(y_i,y) + w'Lw; `each` (may be NULL) has one value per pair. */
OKRA_EXPERIMENTAL okra_status okra_model_loss(okra_context *context,
                                              const okra_model *model, const okra_data *x,
                                              const okra_data *y, double *value,
                                              double *each) OKRA_CHECK;
/* Each training input predicted by the model that has not seen its pair, in closed form:
 * weights (0 for the pair itself) or, where there are explicit features, the embedding;
 * the nearest of the other training outputs; and the losses (may be NULL) as
 * okra_model_loss gives them. `options` are those of the fit (OKRA_EARG where they are
 * not; lambda may be left open), which NULL takes from the model. Kernels that learned
 * from the training set (standardize, align, widths) keep what all of it said.
 * OKRA_EUNSUPPORTED where the model has no closed form, as with `| center`. */
OKRA_EXPERIMENTAL okra_status okra_model_leave(okra_context *context,
                                               const okra_model *model,
                                               const okra_options *options,
                                               double *losses,
                                               okra_prediction **out) OKRA_CHECK;

#ifdef __cplusplus
}
#endif
#endif
