/*
 * writing.h: the search for the string nearest to a prediction, by single edits, under
 * the kernels of written.h.
 */
#ifndef OKRA_WRITING_H_
#define OKRA_WRITING_H_

#include "decode/results.h"
#include "decode/propose.h"
#include "decode/strings/written.h"

enum { OKRA_FRONT_ = 1024 };

typedef struct okra_writing_ {
    const okra_written_ *written;
    const okra_output_ *output;
    const okra_starts_ *starts; /* that have looked at the block */
    const int32_t *alphabet;
    okra_int letters, longest, width, rounds;
    bool empty;             /* strings with l(y,y) <= 0 are allowed */
    bool all;               /* OKRA_FRONT_ of each length at most: all are looked at */
    const okra_word_ *more; /* one a row, to begin from too, in letters; NULL: none */
} okra_writing_;

/* The `top` best strings of every row into found (rows x top), code points, and their
 * distances; norm[r] = w_r'Lw_r. */
okra_status okra_write_(okra_context *ctx, const okra_writing_ *how,
                        const okra_block_ *block, const double *norm, okra_int top,
                        okra_result_ *found) OKRA_CHECK;

#endif
