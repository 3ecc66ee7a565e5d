/*
 * trained_kernel.h: a kernel expression on data: what each node of the tree keeps of a
 * collection.
 */
#ifndef OKRA_TRAINED_KERNEL_H_
#define OKRA_TRAINED_KERNEL_H_

#include "kernel/expression/expr.h"

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
/* OKRA_ENUMERIC naming the kernel: the value of object i and training object j. */
okra_status okra_bad_value_(const okra_kernel *kernel, okra_int i, okra_int j,
                            double value);

/* ---- rows ----
 * Rows of vectors as kernels want to see them, whatever kind holds them.
 *
 * Unless both are dense, two rows meet with one of them wide (d doubles) and the other
 * thin (its nonzeros): a sparse or packed row is spread into a buffer of d doubles once
 * and then met by every row of the other block at the cost of that row's nonzeros.
 */

/* The nonzeros of a row; values == NULL: all are 1. */
typedef struct okra_thin_ {
    okra_int count;
    const okra_int *indices;
    const double *values;
} okra_thin_;

/* A row of d doubles, how many are not 0, and the sum of their magnitudes in the order of
 * the indices. */
typedef struct okra_wide_ {
    const double *values;
    okra_int nonzeros;
    double magnitude;
} okra_wide_;

static inline double okra_thin_value_(const okra_thin_ *t, okra_int k)
{
    return t->values ? t->values[k] : 1;
}

/* The nonzeros of row i of sparse or packed data; `indices` has room for d, used for
 * packed rows only. Zeros stored in a sparse row are passed on. */
okra_thin_ okra_row_thin_(const okra_data *data, okra_int i, okra_int *indices);

/* out[r*ld + c] = meet(a_(i0+r), b_(j0+c)), one of them wide and one thin; a or b is not
 * dense. Needs d doubles of scratch (and d indices where bits are packed). */
typedef double (*okra_meet_)(const okra_wide_ *wide, const okra_thin_ *thin);
okra_status okra_rows_meet_(const okra_data *a, okra_int i0, okra_int ni,
                            const okra_data *b, okra_int j0, okra_int nj, okra_meet_ meet,
                            double *out, okra_int ld);

/* OKRA_ESHAPE unless the widths are equal or both collections are sparse (an absent
 * column is 0); OKRA_EBUDGET if the scratch of okra_rows_meet_ has no room. */
okra_status okra_widths_(okra_context *ctx, const char *kernel, const okra_data *data,
                         const okra_data *train);

/* ---- shared bits of packed rows ---- */

/* out[r*ld + c] = bits set in both a_r and b_c, rows of `words` words. */
okra_status okra_popcount_and_(const uint64_t *a, okra_int ni, const uint64_t *b,
                               okra_int nj, okra_int words, double *out, okra_int ld);

/* ---- through ----
 * Kernels that turn their objects into another collection (explicit features, patches of
 * images) and hand that to another kernel, mostly to `linear`.
 *
 * A class of this sort has its okra_through_ as .through, and OKRA_THROUGH_HOOKS_.
 */

typedef struct okra_through_ {
    const okra_kernel_class_ *inner; /* gets the same params */
    /* What the training set teaches, or a store that has it; *mapped may be set to what
     * `map` would make of the training set. NULL: nothing. */
    okra_status (*fit)(okra_context *ctx, const void *params, const okra_data *train,
                       const okra_store_ *store, const char *name, void **state,
                       okra_data **mapped);
    void (*forget)(void *state);
    /* The collection to hand on, an owner. */
    okra_status (*map)(okra_context *ctx, const void *params, const void *state,
                       const okra_data *data, okra_data **out);
    /* `state` into a store; NULL: a model keeps what the inner class keeps. */
    okra_status (*save)(const void *state, okra_store_ *store, const char *name);
} okra_through_;

/* What such a class binds, from a store where there is one and it keeps something. */
typedef struct okra_through_shared_ {
    atomic_int owners;
    const okra_through_ *how;
    const okra_data *train; /* as given  */
    okra_data *mapped;      /* as handed on */
    void *state, *inner;
} okra_through_shared_;
okra_status okra_through_load_(okra_context *ctx, const okra_through_ *how,
                               const void *params, const okra_data *train,
                               const okra_store_ *store, const char *name, void **shared);
void okra_through_unbind_(void *shared);
/* .share of classes whose `state` serves other training sets, and .save. */
void *okra_through_share_(void *shared);
okra_status okra_through_save_(const void *shared, okra_store_ *store, const char *name);
/* What was bound and the objects as they were given, of a side. */
const okra_through_shared_ *okra_through_of_(const void *side, const okra_data **data);
okra_status okra_through_side_(okra_context *ctx, const void *params, const void *shared,
                               const okra_data *data, void **side);
void okra_through_free_side_(void *side);
okra_status okra_through_block_(okra_context *ctx, const void *params, const void *a,
                                okra_int i0, okra_int ni, const void *b, okra_int j0,
                                okra_int nj, double *out, okra_int ld);
okra_status okra_through_diagonal_(okra_context *ctx, const void *params, const void *a,
                                   okra_int n, double *out);
double okra_through_distance2_(const void *a, okra_int i, const void *b, okra_int j);
#define OKRA_THROUGH_HOOKS_                                             \
    .unbind = okra_through_unbind_, .side = okra_through_side_,         \
    .free_side = okra_through_free_side_, .block = okra_through_block_, \
    .diagonal = okra_through_diagonal_

/* Mixes one more value into a running hash (start at 0): every bit of both matters. */
static inline uint64_t okra_hash_(uint64_t hash, uint64_t value)
{
    uint64_t x = (hash + 0x9e3779b97f4a7c15u) ^ (value * 0xbf58476d1ce4e5b9u);
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* ---- finished tiles to the Gram matrix ---- */

/* to <- from, or from'. `stream`: past the caches, for matrices too large to be found
 * there again; whoever stores so ends with okra_tile_out_end_. */
okra_status okra_tile_out_(okra_mat_ from, okra_mat_ to, bool stream);
okra_status okra_tile_out_transposed_(okra_mat_ from, okra_mat_ to, bool stream);
void okra_tile_out_end_(bool stream);

/* ---- far ----
 * Distances of objects that are far from the origin.
 *
 * d^2 = k(a,a) + k(b,b) - 2 k(a,b) is off by some eps times k(a,a) + k(b,b): all of its
 * digits may be gone where a and b are far out and near to one another. A transform f of
 * distances notices where f(0) and f(that error) differ by more than FAR_TOLERANCE; f is
 * steepest at 0. Such pairs are computed again from differences of leaves, and of sums
 * and multiples of these, unless |a| and |b| alone show that f is 0. Ordinary data never
 * come here.
 */

/* May values of this node need it, k(a,a) and k(b,b) being at most these? */
bool okra_far_(const okra_kernel *kernel, const okra_node_ *node, double a, double b);
/* A transform of self-similarities needs those of the child; objects where they are 0 are
 * degenerate, and large ones leave few digits of distances: warnings. */
okra_status okra_check_self_(okra_context *ctx, const okra_kernel *kernel,
                             const okra_node_ *node, const okra_slots_ *view,
                             const double *self);

#endif
