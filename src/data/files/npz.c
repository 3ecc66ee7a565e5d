/*
 * npz.c: NumPy archives: a zip of .npy files, of which one is taken.
 */
#include "data/files/formats.h"
#include "data/files/npy.h"
#include "data/files/zip.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAMES = 200 };

static bool is_array(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".npy") == 0;
}

/* "a, b, c" of the arrays, cut when there are many. */
static const char *list_arrays(const okra_zip_ *zip, char text[NAMES])
{
    size_t used = 0;
    const char *name;
    text[0] = '\0';
    for (size_t k = 0; used < NAMES && (name = okra_zip_each_(zip, k)); k++) {
        if (is_array(name)) {
            used += (size_t)snprintf(text + used, NAMES - used, "%s%.*s",
                                     used ? ", " : "", (int)strlen(name) - 4, name);
        }
    }
    return text;
}

/* The array asked for, or the only one. */
static okra_status choose(const okra_zip_ *zip, const char *part, okra_int *out)
{
    char names[NAMES];
    const char *name;
    okra_int arrays = 0;
    for (size_t k = 0; (name = okra_zip_each_(zip, k)); k++) {
        if (!is_array(name)) {
            continue;
        }
        arrays++;
        *out = (okra_int)k;
        if (part && strncmp(name, part, strlen(part)) == 0 &&
            strlen(name) == strlen(part) + 4) {
            return OKRA_OK;
        }
    }
    REFUSE_IF(part, OKRA_EARG, "there is no array '%s'; there is: %s", part,
              list_arrays(zip, names));
    REFUSE_IF(arrays != 1, arrays ? OKRA_EARG : OKRA_EFORMAT,
              "there are %" PRId64 " arrays%s%s; choose one as FILE:NAME", arrays,
              arrays ? ": " : "", list_arrays(zip, names));
    return OKRA_OK;
}

OKRA_DROPS_(drop_zip, okra_zip_, okra_zip_close_)

okra_status okra_read_npz_(okra_source_ *source, okra_data **out)
{
    FREED_BY(drop_zip) okra_zip_ *zip = NULL;
    FREED_BY(okra_bytes_close_) okra_bytes_ inflated = {0};
    const unsigned char *p = NULL;
    okra_int index = 0, size = 0;
    CHK(okra_zip_adopt_(&source->bytes, &zip));
    CHK(choose(zip, source->part, &index));
    CHK(okra_zip_entry_(source->ctx, zip, index, &p, &size, &inflated.base));
    okra_status st = okra_npy_data_(source->ctx, p, size,
                                    inflated.base ? &inflated : okra_zip_bytes_(zip),
                                    source->how == OKRA_HOW_MISSING_, source->name, out);
    if (st != OKRA_OK) {
        okra_message_prefix_("%s", okra_zip_each_(zip, (size_t)index));
    }
    return st;
}
