/*
 * popcount.h: shared bits of packed rows.
 */
#ifndef OKRA_POPCOUNT_H_
#define OKRA_POPCOUNT_H_

#include "core/core.h"

/* out[r*ld + c] = bits set in both a_r and b_c, rows of `words` words. */
okra_status okra_popcount_and_(const uint64_t *a, okra_int ni, const uint64_t *b,
                               okra_int nj, okra_int words, double *out,
                               okra_int ld) OKRA_CHECK;

/* bits set in one row */
static inline double okra_popcount_(const uint64_t *row, okra_int words)
{
    okra_int count = 0;
    for (okra_int w = 0; w < words; w++) {
        count += __builtin_popcountll(row[w]);
    }
    return (double)count;
}

#endif
