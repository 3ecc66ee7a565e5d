/*
 * median.h: strings of the least expected edit distance.
 */
#ifndef OKRA_MEDIAN_H_
#define OKRA_MEDIAN_H_

#include "decode/propose.h"

typedef struct okra_median_ {
    const okra_data *y; /* the training outputs */
    const int32_t *alphabet;
    okra_int letters, longest; /* to write with; letters of a string at most */
    okra_int width, rounds;    /* strings that are kept, and expansions at most */
    okra_starts_ *starts;      /* the training outputs of the least expected loss */
} okra_median_;

/* The best string of every row of a block of weights, and its expected loss. */
okra_status okra_median_block_(okra_context *ctx, const okra_median_ *median,
                               const okra_block_ *block, double *loss,
                               okra_data **words) OKRA_CHECK;

#endif
