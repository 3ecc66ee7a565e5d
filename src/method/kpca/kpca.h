/*
 * kpca.h: what kpca.c (the method) and kpca_low.c (its factored form) share.
 */
#ifndef OKRA_KPCA_H_
#define OKRA_KPCA_H_

#include "method/method.h"

/* How many of the `rank` directions (mu descending) the text asks for; `what`: the option
 * that has the text. */
okra_status okra_kpca_choose_(okra_context *ctx, const char *what, const char *text,
                              const double *mu, okra_int rank, okra_int *p);
/* For problems with map_x: stores hold "coefficients" and "mean" as those of ridge, and
 * "axes" and "offset" (okra_components_). */
okra_status okra_kpca_low_(okra_context *ctx, const okra_problem_ *problem,
                           const char *components, const char *rank, const double *lambda,
                           size_t count, okra_store_ *const *stores);

#endif
