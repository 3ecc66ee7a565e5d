/*
 * okra/more/classes.h: scores and probabilities of classes.
 */
#ifndef OKRA_MORE_CLASSES_H
#define OKRA_MORE_CLASSES_H

#include "okra/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of m inputs under a model whose outputs are the labels of C classes (okra_data_width of
 * okra_model_outputs): scores (m x C) h_c(x) = sum of the weights w_i(x) of the training
 * pairs of class c; probabilities (m x C), a softmax of a h_c(x) + b_c whose a and b were
 * fitted to predictions of training inputs that had not seen their pairs. Either may be
 * NULL. A class without a training pair has probability 0. Cost of probabilities: the
 * left-out predictions, n^3 where the method has a closed form, else five more fits. */
OKRA_EXPERIMENTAL okra_status okra_predict_classes(okra_context *context,
                                                   const okra_model *model,
                                                   const okra_data *x, double *scores,
                                                   double *probabilities) OKRA_CHECK;

#ifdef __cplusplus
}
#endif
#endif
