/*
 * find.c: which candidate of an index is a given molecule.
 */
#include "index/rank.h"

/* Is a row of a shard that molecule? */
static okra_status is_row(const okra_shard_ *s, okra_int row, const okra_data *molecules,
                          okra_int k, bool *same)
{
    okra_status st = OKRA_OK;
    okra_data *one = NULL;
    okra_int length = 0;
    bool sure;
    const char *text = okra_shard_text_(s, row, &length);
    char *copy = okra_strndup_(text, (size_t)length);
    if (!copy) {
        return OKRA_EMEM;
    }
    const char *const texts[] = {copy};
    TRY(okra_data_smiles(NULL, texts, 1, &one));
    TRY(okra_molecules_same_(one, 0, molecules, k, same, &sure));
done:
    okra_free_(copy);
    okra_data_free(one);
    return st;
}

okra_status okra_index_find(okra_context *context, const okra_index *index,
                            const okra_data *molecules, okra_int *number)
{
    OWNED uint64_t *keys = NULL;
    const double rounding = 1e-6; /* of sums of masses in another order */
    NOT_NULL(index);
    NOT_NULL(molecules);
    NOT_NULL(number);
    if (molecules->kind != OKRA_GRAPHS ||
        !okra_ragged_field_(&molecules->groups[0], "atom")) {
        return okra_fail_(OKRA_EARG, "%s: expected molecules, found %s",
                          molecules->source, okra_kind_name(molecules->kind));
    }
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
                    CHK(is_row(shard, row, molecules, k, &same));
                    number[k] = same ? index->first[s] + row : -1;
                }
            }
        }
    }
    return OKRA_OK;
}
