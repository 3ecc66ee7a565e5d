/*
 * smo.h: support vector machines whose pairs have weights.
 */
#ifndef OKRA_SMO_H_
#define OKRA_SMO_H_

#include "method/structured/libsvm.h"

/* As okra_svm_train_ on all n rows of K, the price of pair i being weights_i times the
 * cost. */
okra_status okra_smo_train_(okra_context *ctx, okra_mat_ K, const okra_svm_ *svm,
                            const double *weights, const double *target, double *c,
                            double *out) OKRA_CHECK;

#endif
