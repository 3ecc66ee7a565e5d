/*
 * writing.h: the search for the string nearest to a prediction, by single edits, under
 * the kernels of written.h.
 */
#ifndef OKRA_WRITING_H_
#define OKRA_WRITING_H_

#include "decode/propose.h"
#include "decode/strings/written.h"

typedef struct okra_writing_ {
    const okra_written_ *written;
    const okra_output_ *output;
    const okra_starts_ *starts; /* that have looked at the block */
    const int32_t *alphabet;
    okra_int letters, longest, width, rounds;
    bool empty;             /* strings with l(y,y) <= 0 are allowed */
    const okra_word_ *more; /* one a row, to begin from too, in letters; NULL: none */
} okra_writing_;

/* The best string of every row, code points that the caller frees one by one, and its
 * distance; norm[r] = w_r'Lw_r. */
okra_status okra_write_(okra_context *ctx, const okra_writing_ *how,
                        const okra_block_ *block, const double *norm, int32_t **codes,
                        okra_int *lengths, double *distance) OKRA_CHECK;

#endif
