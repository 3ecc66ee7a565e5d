/*
 * rewritten.h: which of several inputs the decoder rewrite rewrites.
 */
#ifndef OKRA_REWRITTEN_H_
#define OKRA_REWRITTEN_H_

#include "data/strings.h"
#include "decode/decode.h"
#include "decode/rewriting/edits.h"

/* Part p of a collection, from 1, or NULL where it holds no strings. */
const okra_data *okra_rewritten_part_(const okra_data *x, okra_int p);
/* The part that is rewritten, `given` unless that is 0, and the test inputs of it. */
okra_status okra_rewritten_choose_(okra_context *ctx, const okra_output_ *output,
                                   const okra_data *inputs, okra_int given,
                                   okra_int *part, const okra_data **chosen) OKRA_CHECK;

static inline okra_word_ okra_word_of_(const okra_data *data, okra_int i)
{
    okra_word_ w;
    w.code = okra_characters_(data, i, &w.length);
    return w;
}

#endif
