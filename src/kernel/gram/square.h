/*
 * square.h: a square matrix that is all a kernel keeps of a file it read.
 */
#ifndef OKRA_SQUARE_H_
#define OKRA_SQUARE_H_

#include "kernel/kernel.h"

typedef struct okra_square_ {
    okra_int n;
    double *A; /* n x n */
    atomic_int owners;
} okra_square_;

/* Takes A (from okra_alloc_) over, also on failure. */
okra_status okra_square_create_(okra_int n, double *A, void **out);
/* unbind, share, save, load and kept of such a kernel, all in OKRA_SQUARE_HOOKS_. */
void *okra_square_share_(void *square);
extern const okra_schema_ okra_square_kept_[];
void okra_square_free_(void *square);
okra_status okra_square_save_(const void *square, okra_store_ *store, const char *name);
okra_status okra_square_load_(okra_context *ctx, const void *params,
                              const okra_data *train, const okra_store_ *store,
                              const char *name, void **out);
#define OKRA_SQUARE_HOOKS_                                                               \
    .unbind = okra_square_free_, .share = okra_square_share_, .save = okra_square_save_, \
    .load = okra_square_load_, .kept = okra_square_kept_

#endif
