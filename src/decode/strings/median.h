/*
 * median.h: strings of the least expected edit distance, or nearest under kernel edit.
 */
#ifndef OKRA_MEDIAN_H_
#define OKRA_MEDIAN_H_

#include "decode/results.h"
#include "decode/propose.h"

typedef struct okra_median_ {
    const okra_data *y; /* the training outputs */
    const int32_t *alphabet;
    okra_int letters, longest; /* to write with; letters of a string at most */
    okra_int width, rounds;    /* strings that are kept, and expansions at most */
    okra_starts_ *starts;      /* the training outputs to begin from */
    double sigma, scale;       /* of the kernel scale exp(-d/sigma); sigma 0: the loss */
} okra_median_;

/* Is the kernel that? */
bool okra_kernel_is_edit_(const okra_kernel *kernel, double *sigma, double *scale);

/* The `top` best strings of every row of a block of weights, and their expected losses or
 * squared distances, into found (rows x top). */
okra_status okra_median_block_(okra_context *ctx, const okra_median_ *median,
                               const okra_block_ *block, okra_int top,
                               okra_result_ *found) OKRA_CHECK;

#endif
