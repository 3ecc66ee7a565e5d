/*
 * entries.h: where the entries of a Gram matrix come from, as an engine sees it.
 *
 * Any kernel gives host tiles. An expression over vectors (inner products of dense or
 * packed rows, absolute differences, and functions of them) is told as a short program
 * as well (kernel/step.h), which an engine may run on its own device.
 */
#ifndef OKRA_ENTRIES_H_
#define OKRA_ENTRIES_H_

#include "kernel/kernel.h"

typedef struct okra_entries_ {
    okra_int rows, cols;
    bool symmetric; /* rows and columns are the same objects */
    /* out[r*ld + c] = entry (i0 + r, j0 + c), serial, safe in many threads; any kernel */
    okra_status (*tile)(okra_context *ctx, const void *self, okra_int i0, okra_int ni,
                        okra_int j0, okra_int nj, double *out, okra_int ld);
    const void *self;
    /* The same entries as a program; NULL: there is none. depth: values on the stack. */
    const okra_step_ *steps;
    int count, depth;
} okra_entries_;

/* The training set of a bound kernel against itself (other NULL), or another collection
 * (rows) against the training set (columns). Borrows both. */
okra_status okra_entries_create_(okra_context *ctx, const okra_trained_kernel_ *bound,
                                 const okra_test_side_ *other, okra_entries_ **out);
void okra_entries_free_(okra_entries_ *entries);
OKRA_DROPS_(okra_entries_drop_, okra_entries_, okra_entries_free_)

#endif
