/*
 * string_side.c: the side of kernels that read the objects themselves.
 */
#include "kernel/string_kernels.h"

okra_status okra_string_side_(okra_context *ctx, const void *params, const void *shared,
                              const okra_data *data, void **side)
{
    (void)ctx, (void)params, (void)shared;
    *side = (okra_data *)(uintptr_t)data;
    return OKRA_OK;
}

void okra_string_side_free_(void *side)
{
    (void)side;
}
