/*
 * position.h: kernels of kernels, and kernels of vectors by way of other collections.
 */
#ifndef OKRA_POSITION_H_
#define OKRA_POSITION_H_

#include "kernel/kernel.h"

extern const okra_kernel_class_ okra_position_, okra_patches_, okra_jitter_, okra_ic_,
    okra_cost_, okra_metric_, okra_tasks_;

/* The parameters of position, with which those of patches begin. */
typedef struct okra_position_params_ {
    const okra_kernel *inner;
    bool map;
} okra_position_params_;

/* Does the inner kernel meet the labels of these sequences or strings, or the vectors?
 * OKRA_EARG where it takes neither. */
okra_status okra_position_labels_(const okra_kernel *inner, const okra_data *data,
                                  bool *labels);

/* What the inner kernel keeps, bound to so many elements of the training set. */
okra_status okra_position_check_kept_(const void *params, const okra_data *train,
                                      okra_int elements_count, const char *name,
                                      okra_store_ *store);

#endif
