/*
 * texts.h: what a string of a collection says.
 */
#ifndef OKRA_TEST_TEXTS_H
#define OKRA_TEST_TEXTS_H

#include "harness.h"
#include "okra/data.h"
#include "okra/more/objects.h"

static inline bool is(const okra_data *data, okra_int i, const char *expected)
{
    okra_int length;
    const int32_t *code = okra_data_characters(data, i, &length);
    bool same = length == (okra_int)strlen(expected);
    for (okra_int k = 0; same && k < length; k++) {
        same = code[k] == (unsigned char)expected[k];
    }
    return same;
}

#endif
