/*
 * trained_kernel.h: a kernel expression on data: what each node of the tree keeps of a
 * collection.
 */
#ifndef OKRA_TRAINED_KERNEL_H_
#define OKRA_TRAINED_KERNEL_H_

#include "kernel/expression/expr.h"

/* What one node keeps of one collection of n objects. */
typedef struct okra_slot_ {
    void *side;   /* of a leaf                                                     */
    double *self; /* n self-similarities, or NULL where the data do not tell them  */
    double *mean; /* of `center`: m_i - g/2, m_i the mean of the child against the
                     training set, g that of all training pairs; else NULL         */
} okra_slot_;

/* A collection seen through the tree: a slot a node. */
typedef struct okra_slots_ {
    const okra_data *data;
    okra_int n;
    int count;
    okra_slot_ *slots;
} okra_slots_;

struct okra_trained_kernel_ {
    const okra_kernel *kernel;
    okra_slots_ train;
    void **shared; /* a place a node: statistics of a leaf                 */
    double *grand; /* a place a node: g of `center`                        */
    const okra_store_
        *store; /* where `shared` is restored from, while it is made, or NULL */
    const char *prefix;
};

struct okra_test_side_ {
    const okra_kernel *kernel;
    okra_slots_ view;
};

/* ---- the Gram engine ---- */

/* Where tiles go. */
typedef enum okra_target_ {
    OKRA_TARGET_SYMMETRIC_, /* a is b: lower tiles are computed, both halves written */
    OKRA_TARGET_FULL_,
    OKRA_TARGET_TRANSPOSED_, /* out_cr = k(a_r, b_c) */
    OKRA_TARGET_MEANS_,      /* out_r0 = mean over c of k(a_r, b_c) */
} okra_target_;

/* Fills `out` with the values of the node at place `node`, rows i0..i0+ni-1 of view a
 * against all of the training set. `what` (may be NULL) is shown as progress. */
okra_status okra_tiles_(okra_context *ctx, const okra_trained_kernel_ *bound, int node,
                        const okra_slots_ *a, okra_int i0, okra_int ni,
                        okra_target_ target, const char *what, okra_mat_ out);
/* OKRA_ENUMERIC naming the kernel if a self-similarity is not finite. */
okra_status okra_finite_self_(const okra_kernel *kernel, okra_int begin, okra_int end,
                              const double *d);
/* The same of a value of object i and training object j that is not. */
okra_status okra_bad_value_(const okra_kernel *kernel, okra_int i, okra_int j,
                            double value);

#endif
