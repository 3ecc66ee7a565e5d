/*
 * median.h: strings of the least expected edit distance, or nearest under kernel edit.
 */
#ifndef OKRA_MEDIAN_H_
#define OKRA_MEDIAN_H_

#include "decode/strings/writing.h"

/* Is the kernel scale exp(-d/sigma) of the edit distance d? */
bool okra_kernel_is_edit_(const okra_kernel *kernel, double *sigma, double *scale);

/* The best strings of every row of a block of weights, with their expected losses or
 * squared distances. */
okra_status okra_median_block_(okra_context *ctx, const okra_string_search_ *how,
                               const okra_block_ *block,
                               const okra_results_ *results) OKRA_CHECK;

#endif
