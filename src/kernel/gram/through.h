/*
 * through.h: kernels that turn their objects into another collection (counts of
 * substrings, weighted vectors, patches of images) and hand that to another kernel.
 *
 * A class of this sort has a bind of its own, one call of okra_through_bind_ with its
 * okra_through_; all its other functions are those below.
 */
#ifndef OKRA_THROUGH_H_
#define OKRA_THROUGH_H_

#include "kernel/kernel.h"

typedef struct okra_through_ {
    const okra_kernel_class_ *inner; /* gets the same params */
    /* What the training set teaches; NULL: nothing. */
    okra_status (*fit)(okra_context *ctx, const void *params, const okra_data *train,
                       void **state);
    void (*forget)(void *state);
    /* The collection to hand on, an owner. */
    okra_status (*map)(okra_context *ctx, const void *params, const void *state,
                       const okra_data *data, okra_data **out);
} okra_through_;

okra_status okra_through_bind_(okra_context *ctx, const okra_through_ *how,
                               const void *params, const okra_data *train, void **shared);
/* save and load of such a class whose inner class has them. */
okra_status okra_through_save_(const void *shared, okra_store_ *store, const char *name);
okra_status okra_through_load_(okra_context *ctx, const okra_through_ *how,
                               const void *params, const okra_data *train,
                               const okra_store_ *store, const char *name, void **shared);
void okra_through_unbind_(void *shared);
okra_status okra_through_side_(okra_context *ctx, const void *params, const void *shared,
                               const okra_data *data, void **side);
void okra_through_free_side_(void *side);
okra_status okra_through_block_(okra_context *ctx, const void *params, const void *a,
                                okra_int i0, okra_int ni, const void *b, okra_int j0,
                                okra_int nj, double *out, okra_int ld);
okra_status okra_through_diagonal_(okra_context *ctx, const void *params, const void *a,
                                   okra_int n, double *out);

/* Mixes one more value into a running hash (start at 0): every bit of both matters. */
static inline uint64_t okra_hash_(uint64_t hash, uint64_t value)
{
    uint64_t x = (hash + 0x9e3779b97f4a7c15u) ^ (value * 0xbf58476d1ce4e5b9u);
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

#endif
