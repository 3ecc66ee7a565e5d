/*
 * ridge_cg.h: conjugate gradients for ridge of large rank, and their checkpoint.
 */
#ifndef OKRA_RIDGE_CG_H_
#define OKRA_RIDGE_CG_H_

#include "solve/ridge.h"

typedef struct okra_cg_options_ {
    double tolerance;       /* of |residual| / |right-hand side|, every column */
    okra_int iterations;    /* at most                                          */
    const char *checkpoint; /* file, or ""                                      */
} okra_cg_options_;

/* The identity operator with map_x of chol or nystrom, outputs with features. */
okra_status okra_ridge_cg_(okra_ridge_ *r, const okra_cg_options_ *o) OKRA_CHECK;

/* Where the iteration stands: all that it needs to go on with the same bits. */
typedef struct okra_cg_state_ {
    okra_int m, d, steps;
    double *X, *R, *P;         /* m x d: solution, residual, direction          */
    double *rho, *norm, *mean; /* d: <R, Z>, |right-hand side|^2, mean output   */
} okra_cg_state_;

okra_status okra_cg_state_save_(okra_context *ctx, const okra_cg_state_ *s,
                                const char *path, uint64_t problem) OKRA_CHECK;
/* *found is false, and s as it was, where there is no file. A file of another problem is
 * an error. */
okra_status okra_cg_state_load_(const okra_context *ctx, const char *path,
                                uint64_t problem, okra_cg_state_ *s,
                                bool *found) OKRA_CHECK;

#endif
