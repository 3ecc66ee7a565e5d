/*
 * find.c: which candidate of an index is a given molecule, or vector.
 */
#include "candidates/set.h"
#include "okra/more/index.h"
#include "okra/more/objects.h"

#include <stdlib.h>

/* Is a row of a shard that molecule? */
static okra_status is_row(okra_context *ctx, const okra_shard_ *s, okra_int row,
                          const okra_data *molecules, okra_int k, bool *same)
{
    FREED_BY(okra_data_drop_) okra_data *one = NULL;
    bool sure;
    CHK(okra_shard_molecules_(ctx, s, &row, 0, 1, &one));
    return okra_molecules_same_(one, 0, molecules, k, same, &sure);
}

static bool same_values(const double *a, const double *b, okra_int width)
{
    okra_int j = 0;
    while (j < width && a[j] == b[j]) {
        j++;
    }
    return j == width;
}

/* Which of the vectors wanted, sorted by key, is a row of a shard? */
static void look_up(const okra_index *x, int shard, okra_int row, const okra_data *data,
                    const okra_keyed_ *want, okra_int *number)
{
    const okra_shard_ *s = &x->shard[shard];
    const double *values = (const double *)(const void *)s->bits[0] + row * x->width;
    okra_int low = 0, high = data->n;
    while (low < high) {
        okra_int middle = low + (high - low) / 2;
        bool below = want[middle].key < s->key[row];
        low = below ? middle + 1 : low;
        high = below ? high : middle;
    }
    for (; low < data->n && want[low].key == s->key[row]; low++) {
        okra_int k = want[low].at;
        okra_int found = (okra_int)s->row[row];
        if ((number[k] < 0 || found < number[k]) &&
            same_values(values, data->values + k * data->ld, x->width)) {
            number[k] = found;
        }
    }
}

/* Every row of the index looked up among the vectors wanted. */
static okra_status find_vectors(const okra_index *x, const okra_data *data,
                                okra_int *number)
{
    OWNED okra_keyed_ *want = NULL;
    char text[96];
    REFUSE_IF(data->kind != OKRA_DENSE || data->d != x->width, OKRA_EARG,
              "%s: expected vectors of length %lld, found %s", data->source,
              (long long)x->width, okra_data_describe_(data, text, sizeof text));
    MAKE(want, data->n);
    for (okra_int k = 0; k < data->n; k++) {
        want[k] =
            (okra_keyed_){okra_vector_key_(data->values + k * data->ld, x->width), k};
        number[k] = -1;
    }
    if (data->n > 0) {
        qsort(want, (size_t)data->n, sizeof *want, okra_by_key_);
    }
    for (int s = 0; s < x->shards; s++) {
        for (okra_int row = 0; row < (okra_int)x->shard[s].head.rows; row++) {
            look_up(x, s, row, data, want, number);
        }
    }
    return OKRA_OK;
}

okra_status okra_index_find(okra_context *context, const okra_index *index,
                            const okra_data *molecules, okra_int *number)
{
    OWNED uint64_t *keys = NULL;
    const double rounding = 1e-6; /* of sums of masses in another order */
    NOT_NULL(index);
    NOT_NULL(molecules);
    NOT_NULL(number);
    if (index->width > 0) {
        return find_vectors(index, molecules, number);
    }
    REFUSE_IF(molecules->kind != OKRA_GRAPHS ||
                  !okra_ragged_field_(&molecules->groups[0], "atom"),
              OKRA_EARG, "%s: expected molecules, found %s", molecules->source,
              okra_kind_name(molecules->kind));
    MAKE(keys, molecules->n);
    CHK(okra_molecule_keys_(molecules, keys));
    for (okra_int k = 0; k < molecules->n; k++) {
        double mass = okra_data_mass(molecules, k);
        bool same = false;
        number[k] = -1;
        CHK(okra_cancelled_(context));
        for (int s = 0; s < index->shards && !same; s++) {
            const okra_shard_ *shard = &index->shard[s];
            okra_int end = okra_shard_row_(shard, mass + rounding, true);
            for (okra_int row = okra_shard_row_(shard, mass - rounding, false);
                 row < end && !same; row++) {
                if (shard->key[row] == keys[k]) {
                    CHK(is_row(context, shard, row, molecules, k, &same));
                    number[k] = same ? (okra_int)shard->row[row] : -1;
                }
            }
        }
    }
    return OKRA_OK;
}
