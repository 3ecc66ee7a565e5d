/*
 * sized.c: settings of callers that were compiled with an older or a newer header.
 *
 * A struct of settings begins with its size. Fields are only ever added at the end and 0
 * means the default, so that a shorter struct is filled up with zeros, and a longer one
 * is understood as long as what is not known here is 0. No struct that begins with a
 * size_t ends inside of one, nor inside of a pointer or a number.
 */
#include "core/core.h"

#include <string.h>

okra_status okra_sized_(const char *function, const char *name, const void *given,
                        void *copy, size_t most)
{
    size_t size;
    memcpy(&size, given, sizeof size);
    REFUSE_IF(size < sizeof size || size > (size_t)1 << 16 || size % sizeof size != 0,
              OKRA_EARG,
              "%s: %s->size is %zu, expected the size of the struct: begin its "
              "initialiser with OKRA_SIZED(type)",
              function, name, size);
    const unsigned char *bytes = given;
    for (size_t i = most; i < size; i++) {
        REFUSE_IF(bytes[i] != 0, OKRA_EUNSUPPORTED,
                  "%s: %s sets a field that this okra %s does not know (byte %zu of %zu)",
                  function, name, okra_version(), i, size);
    }
    memset(copy, 0, most);
    memcpy(copy, given, OKRA_MIN_(size, most));
    memcpy(copy, &most, sizeof most);
    return OKRA_OK;
}
