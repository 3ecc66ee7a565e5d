/*
 * string_kernels.h: the kernels of strings, and what they share.
 */
#ifndef OKRA_STRING_KERNELS_H_
#define OKRA_STRING_KERNELS_H_

#include "kernel/kernel.h"

extern const okra_kernel_class_ okra_ssk_, okra_spectrum_, okra_mismatch_,
    okra_weighted_degree_, okra_edit_;

/* The side of kernels that read the strings themselves: the data. */
okra_status okra_string_side_(okra_context *ctx, const void *params, const void *shared,
                              const okra_data *data, void **side);
void okra_string_side_free_(void *side);

#endif
