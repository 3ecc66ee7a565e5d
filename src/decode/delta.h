/*
 * delta.h: a loss between objects: any metric of pairs, smaller is better.
 */
#ifndef OKRA_DELTA_H_
#define OKRA_DELTA_H_

#include "decode/decode.h"

typedef struct okra_delta_ okra_delta_;
/* argument: a metric as for okra score; f1 of a pair is its mean over examples. */
okra_status okra_delta_create_(okra_context *ctx, const okra_output_ *output,
                               const char *argument, okra_delta_ **out) OKRA_CHECK;
void okra_delta_free_(okra_delta_ *delta);
OKRA_DROPS_(okra_delta_drop_, okra_delta_, okra_delta_free_)
const char *okra_delta_spec_(const okra_delta_ *delta);
const okra_kernel *
okra_delta_kernel_(const okra_delta_ *delta); /* of kernel-loss, or NULL */
/* What the metric says of it; *power: of OKRA_SHAPE_PLACES_. */
okra_shape_ okra_delta_shape_(const okra_delta_ *delta, double *power);
/* The objects that okra_delta_pairs_ counts; borrowed until others are, or NULL. */
okra_status okra_delta_bind_(okra_context *ctx, okra_delta_ *delta,
                             const okra_data *set) OKRA_CHECK;
/* D <- losses of objects first.. (rows) and all training outputs (columns). */
okra_status okra_delta_pairs_(okra_context *ctx, const okra_delta_ *delta, okra_int first,
                              okra_mat_ D) OKRA_CHECK;
/* each[i]: the loss of objects_i where truth_i is right. */
okra_status okra_delta_each_(const okra_delta_ *delta, const okra_data *truth,
                             const okra_data *objects, double *each) OKRA_CHECK;

#endif
