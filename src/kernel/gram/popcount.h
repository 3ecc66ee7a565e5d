/*
 * popcount.h: shared bits of packed rows.
 */
#ifndef OKRA_POPCOUNT_H_
#define OKRA_POPCOUNT_H_

#include "core/core.h"

/* out[r*ld + c] = bits set in both a_r and b_c, rows of `words` words. */
okra_status okra_popcount_and_(const uint64_t *a, okra_int ni, const uint64_t *b,
                               okra_int nj, okra_int words, double *out, okra_int ld);

/* out_r = bits set in row r of n */
void okra_popcount_rows_(const uint64_t *rows, okra_int n, okra_int words, double *out);

#endif
