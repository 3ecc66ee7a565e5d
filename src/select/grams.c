/*
 * grams.c: the Gram matrix of the whole training set, made once for each kernel and then
 * sliced by every fold. k(a,b) of a kernel without `center` does not depend on the other
 * training objects, so that slices are what a fit on the fold would compute.
 */
#include "select/select.h"

#include <string.h>

/* Two kernels of each side: cells run through ky within kx. */
enum { KEPT = 4 };

typedef struct okra_gram_ {
    char which;
    char *text; /* canonical */
    double *G;
    okra_int used; /* when last asked for */
} okra_gram_;

static void drop(okra_pairs_ *s, int k)
{
    FREE(s->grams[k].text, s->grams[k].G);
    s->grams[k] = s->grams[--s->count];
}

/* The one asked for longest ago gives way when there are enough or memory is short. */
static void make_room(const okra_context *ctx, okra_pairs_ *s, double bytes)
{
    while (s->count > 0 && (s->count == KEPT || okra_budget_ask_(ctx, 3 * bytes,
                                                                 "a Gram "
                                                                 "matrix") != OKRA_OK)) {
        int oldest = 0;
        for (int k = 1; k < s->count; k++) {
            oldest = s->grams[k].used < s->grams[oldest].used ? k : oldest;
        }
        drop(s, oldest);
    }
}

okra_status okra_source_gram_(okra_context *ctx, okra_pairs_ *source, char which,
                              const okra_kernel *kernel, const double **out)
{
    okra_status st = OKRA_OK;
    okra_bound_ *bound = NULL;
    okra_gram_ g = {.which = which};
    okra_int latest = 0;
    const okra_data *data = which == 'x' ? source->x : source->y;
    okra_int n = okra_data_count(data);
    *out = NULL;
    if (okra_kernel_centers_(kernel)) {
        return OKRA_OK;
    }
    for (int k = 0; k < source->count; k++) {
        latest = OKRA_MAX_(latest, source->grams[k].used);
    }
    for (int k = 0; k < source->count; k++) {
        okra_gram_ *known = &source->grams[k];
        if (known->which == which && strcmp(known->text, okra_kernel_text(kernel)) == 0) {
            known->used = latest + 1;
            *out = known->G;
            return OKRA_OK;
        }
    }
    if (!source->grams) {
        ZALLOC(source->grams, KEPT);
    }
    make_room(ctx, source, 8.0 * (double)n * (double)n);
    TRY(okra_bound_create_(ctx, kernel, data, &bound));
    TRY(okra_doubles_(ctx, n, n, "the Gram matrix of the training set", &g.G));
    TRY(okra_bound_gram_(ctx, bound, okra_mat_of_(g.G, n, n)));
    g.text = okra_strdup_(okra_kernel_text(kernel));
    if (!g.text) {
        st = OKRA_EMEM;
        goto done;
    }
    g.used = latest + 1;
    source->grams[source->count++] = g;
    *out = TAKE(g.G);
done:
    if (st == OKRA_EARG || st == OKRA_EUNSUPPORTED) {
        okra_message_prefix_("k%c", which);
    }
    okra_bound_free_(bound);
    okra_free_(g.G);
    return st;
}

void okra_source_clear_(okra_pairs_ *source)
{
    while (source->count > 0) {
        drop(source, source->count - 1);
    }
    okra_free_(source->grams);
    source->grams = NULL;
}
