/*
 * string_shared.c: what the kernels of strings share: alphabets, and the check of
 * kernels that need not be positive semidefinite.
 */
#include "data/strings.h"
#include "kernel/strings/string_kernels.h"

/* ---- alphabets ---- */

okra_status okra_alphabet_(const okra_data *data, int32_t **letters, okra_int *count)
{
    int32_t *all = NULL;
    okra_int distinct = 0, length, total = data->groups[0].offsets[data->n];
    const int32_t *code = data->n ? okra_characters_(data, 0, &length) : NULL;
    MAKE(all, total);
    if (total > 0) {
        memcpy(all, code, (size_t)total * sizeof *all);
        qsort(all, (size_t)total, sizeof *all, okra_by_int32_);
    }
    for (okra_int k = 0; k < total; k++) {
        if (k == 0 || all[k] != all[distinct - 1]) {
            all[distinct++] = all[k];
        }
    }
    *letters = all;
    *count = distinct;
    return OKRA_OK;
}

okra_int okra_letter_(const int32_t *letters, okra_int count, int32_t code)
{
    const int32_t *found =
        count ? bsearch(&code, letters, (size_t)count, sizeof *letters, okra_by_int32_)
              : NULL;
    return found ? found - letters : count;
}

typedef struct item {
    okra_int length, index;
} item;

OKRA_ORDER_(by_length, item, OKRA_UP_(length), OKRA_UP_(index))

okra_status okra_order_by_length_(const okra_data *data, okra_int count, okra_int *index)
{
    OWNED item *items = NULL;
    MAKE(items, count);
    for (okra_int k = 0; k < count; k++) {
        items[k].index = index[k];
        okra_characters_(data, index[k], &items[k].length);
    }
    OKRA_SORT_(items, count, by_length);
    for (okra_int k = 0; k < count; k++) {
        index[k] = items[k].index;
    }
    return OKRA_OK;
}

/* ---- positive semidefinite or not ---- */

/* The smallest eigenvalue over the largest, of the Gram matrix of all of a side. */
static okra_status smallest_share(okra_context *ctx, const okra_kernel_class_ *class,
                                  const void *params, const void *side, okra_int n,
                                  double *share)
{
    OWNED double *K = NULL, *w = NULL;
    CHK(okra_doubles_(ctx, n, n, "the check for positive semidefiniteness", &K));
    MAKE(w, n);
    CHK(class->block(ctx, params, side, 0, n, side, 0, n, K, n));
    CHK(okra_eigh_(ctx, okra_mat_of_(K, n, n), w));
    *share = n > 0 && w[n - 1] > 0 ? w[0] / w[n - 1] : 0;
    return OKRA_OK;
}

okra_status okra_psd_check_(okra_context *ctx, const okra_kernel_class_ *class,
                            const void *params, const void *shared,
                            const okra_data *train)
{
    okra_int m = OKRA_MIN_(train->n, OKRA_PSD_MOST_);
    FREED_BY(okra_data_drop_) okra_data *chosen = NULL;
    double share = 0;
    void *side = NULL;
    CHK(okra_data_some_(train, 0, train->n, m, &chosen));
    CHK(class->side(ctx, params, shared, chosen, &side));
    okra_status st = smallest_share(ctx, class, params, side, m, &share);
    if (class->free_side) {
        class->free_side(side);
    }
    CHK(st);
    /* Rounding alone gives about n eps. */
    if (share < -1e-12) {
        okra_warn_(ctx,
                   "kernel %s is not positive semidefinite on %s (%lld of %lld objects "
                   "looked at): the most negative eigenvalue is %.2g of the largest",
                   class->name, train->source, (long long)m, (long long)train->n, -share);
    }
    return OKRA_OK;
}
