/*
 * members.h: sets of labels, vectors of 0 and 1, by their members.
 */
#ifndef OKRA_MEMBERS_H_
#define OKRA_MEMBERS_H_

#include "data/data.h"

/* Fails unless the data are vectors of 0 and 1 (dense, sparse or bits); `who` asks. */
okra_status okra_sets_check_(const okra_data *y, const char *who) OKRA_CHECK;
/* The members of set i into `out` (NULL: counted alone), as they stand; their number. */
okra_int okra_sets_members_(const okra_data *y, okra_int i, int32_t *out);
/* n sets as data of a kind: set i has members codes[offsets[i]..offsets[i+1]-1]. */
okra_status okra_sets_make_(okra_context *ctx, okra_kind kind, okra_int d,
                            const int32_t *codes, const okra_int *offsets, okra_int n,
                            okra_data **out) OKRA_CHECK;

#endif
