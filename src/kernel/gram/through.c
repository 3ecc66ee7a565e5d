/*
 * through.c: kernels by way of another collection.
 */
#include "kernel/gram/trained_kernel.h"

typedef okra_through_shared_ shared;

typedef struct side {
    const shared *sh;
    const okra_data *data;
    okra_data *mapped;
    void *inner;
} side;

void okra_through_unbind_(void *arg)
{
    shared *sh = arg;
    if (!sh || atomic_fetch_sub(&sh->owners, 1) > 1) {
        return;
    }
    if (sh->inner && sh->how->inner->unbind) {
        sh->how->inner->unbind(sh->inner);
    }
    if (sh->state) {
        sh->how->forget(sh->state);
    }
    okra_data_free(sh->mapped);
    okra_free_(sh);
}

void *okra_through_share_(void *arg)
{
    shared *sh = arg;
    atomic_fetch_add(&sh->owners, 1);
    return sh;
}

okra_status okra_through_save_(const void *arg, okra_store_ *store, const char *name)
{
    const shared *sh = arg;
    return sh->how->save ? sh->how->save(sh->state, store, name)
                         : sh->how->inner->save(sh->inner, store, name);
}

OKRA_DROPS_(drop_shared, shared, okra_through_unbind_)

okra_status okra_through_load_(okra_context *ctx, const okra_through_ *how,
                               const void *params, const okra_data *train,
                               const okra_store_ *store, const char *name, void **out)
{
    FREED_BY(drop_shared) shared *sh = NULL;
    ZMAKE(sh, 1);
    atomic_init(&sh->owners, 1);
    sh->how = how;
    sh->train = train;
    if (how->fit) {
        CHK(how->fit(ctx, params, train, store, name, &sh->state, &sh->mapped));
    }
    if (!sh->mapped) {
        CHK(how->map(ctx, params, sh->state, train, &sh->mapped));
    }
    CHK(okra_weights_take_(&train, 1, NULL, train->n, sh->mapped));
    if (how->inner->load && (store || !how->inner->bind)) {
        CHK(how->inner->load(ctx, params, sh->mapped, store, name, &sh->inner));
    } else if (how->inner->bind) {
        CHK(how->inner->bind(ctx, params, sh->mapped, &sh->inner));
    } else {
        sh->inner = sh->mapped; /* there is nothing else to know */
    }
    *out = TAKE(sh);
    return OKRA_OK;
}

void okra_through_free_side_(void *arg)
{
    side *s = arg;
    if (!s) {
        return;
    }
    if (s->inner && s->sh->how->inner->free_side) {
        s->sh->how->inner->free_side(s->inner);
    }
    okra_data_free(s->mapped);
    okra_free_(s);
}

OKRA_DROPS_(drop_side, side, okra_through_free_side_)

okra_status okra_through_side_(okra_context *ctx, const void *params, const void *arg,
                               const okra_data *data, void **out)
{
    const shared *sh = arg;
    FREED_BY(drop_side) side *s = NULL;
    ZMAKE(s, 1);
    s->sh = sh;
    s->data = data;
    if (data == sh->train) {
        s->mapped = okra_data_retain(sh->mapped);
    } else {
        CHK(sh->how->map(ctx, params, sh->state, data, &s->mapped));
    }
    CHK(sh->how->inner->side(ctx, params, sh->inner, s->mapped, &s->inner));
    *out = TAKE(s);
    return OKRA_OK;
}

const okra_through_shared_ *okra_through_of_(const void *arg, const okra_data **data)
{
    const side *s = arg;
    *data = s->data;
    return s->sh;
}

okra_status okra_through_block_(okra_context *ctx, const void *params, const void *a,
                                okra_int i0, okra_int ni, const void *b, okra_int j0,
                                okra_int nj, double *out, okra_int ld)
{
    const side *sa = a, *sb = b;
    return sa->sh->how->inner->block(ctx, params, sa->inner, i0, ni, sb->inner, j0, nj,
                                     out, ld);
}

okra_status okra_through_diagonal_(okra_context *ctx, const void *params, const void *a,
                                   okra_int n, double *out)
{
    const side *s = a;
    okra_fill_(n, 1, out); /* what an inner class says that has no such hook */
    return s->sh->how->inner->diagonal
               ? s->sh->how->inner->diagonal(ctx, params, s->inner, n, out)
               : OKRA_OK;
}

double okra_through_distance2_(const void *a, okra_int i, const void *b, okra_int j)
{
    const side *sa = a, *sb = b;
    return sa->sh->how->inner->distance2(sa->inner, i, sb->inner, j);
}
