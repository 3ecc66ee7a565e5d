/*
 * strings.c: collections of strings from memory, and strings as lines of text.
 */
#include "data/strings.h"
#include "data/utf8.h"

#include <inttypes.h>

okra_status okra_characters_begin_(okra_ragged_builder_ *b)
{
    static const okra_field_ fields[] = {{"code", OKRA_FIELD_INT32, 1, NULL}};
    return okra_ragged_begin_(b, "characters", 1, fields);
}

okra_status okra_strings_adopt_(okra_ragged_builder_ *characters,
                                okra_ragged_builder_ *names, const char *source,
                                okra_data **out)
{
    okra_data *data = NULL;
    okra_status st = okra_data_new_(OKRA_STRINGS, characters->objects, 0, source, &data);
    if (st == OKRA_OK) {
        okra_ragged_finish_(characters, &data->groups[data->group_count++]);
        if (names) {
            okra_ragged_finish_(names, &data->groups[data->group_count++]);
        }
        *out = data;
    }
    return st;
}

/* One zero-ended text as an object of the builder. */
static okra_status add_text(okra_ragged_builder_ *b, const char *text, okra_int index)
{
    okra_utf8_ utf8 = {0};
    for (const char *p = text; *p; p++) {
        int32_t code = okra_utf8_take_(&utf8, (unsigned char)*p);
        if (code >= 0) {
            CHK(okra_ragged_push_(b, (const void *const[]){&code}));
        } else if (code == OKRA_UTF8_BAD_) {
            return okra_fail_(OKRA_EFORMAT,
                              "string %" PRId64 " (counted from 0), character %" PRId64
                              ": not UTF-8 (byte 0x%02x)",
                              index, okra_ragged_open_count_(b) + 1, (unsigned char)*p);
        }
    }
    REFUSE_IF(utf8.more > 0, OKRA_EFORMAT,
              "string %" PRId64 " (counted from 0) ends inside a UTF-8 character", index);
    REFUSE_IF(okra_ragged_open_count_(b) > OKRA_STRING_MOST_, OKRA_EFORMAT,
              "string %" PRId64
              " (counted from 0) has more than %d characters, the limit",
              index, OKRA_STRING_MOST_);
    return okra_ragged_close_(b);
}

okra_status okra_data_strings(const char *const *texts, okra_int n, okra_data **out)
{
    NOT_NULL(out);
    FREED_BY(okra_ragged_abandon_) okra_ragged_builder_ b = {0};
    REFUSE_IF(n < 0 || (!texts && n > 0), OKRA_EARG, "strings data: %s",
              n < 0 ? "the number of strings is negative" : "texts are NULL");
    CHK(okra_characters_begin_(&b));
    for (okra_int i = 0; i < n; i++) {
        REFUSE_IF(!texts[i], OKRA_EARG,
                  "strings data: text %" PRId64 " (counted from 0) is NULL", i);
        CHK(add_text(&b, texts[i], i));
    }
    return okra_strings_adopt_(&b, NULL, "memory", out);
}

const int32_t *okra_data_characters(const okra_data *data, okra_int i, okra_int *length)
{
    bool valid = data && (data->kind == OKRA_STRINGS || data->kind == OKRA_SEQUENCES) &&
                 i >= 0 && i < data->n;
    okra_int unasked;
    return valid ? okra_characters_(data, i, length ? length : &unasked) : NULL;
}
