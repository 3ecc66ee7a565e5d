/*
 * strings.h: strings as code points, sequences of vectors with labels: from text and
 * back.
 *
 *     strings    group "characters": field "code" (int32)
 *                group "names" (FASTA only): field "text" (bytes of the header)
 *     sequences  group "positions": field "vector" (double, width d), "label" (int32, the
 *                code point of the label; OKRA_NO_LABEL_ where there is none)
 */
#ifndef OKRA_STRINGS_H_
#define OKRA_STRINGS_H_

#include "data/data.h"

enum {
    OKRA_STRING_MOST_ = 1 << 24, /* characters of one string: 16,777,216 */
    OKRA_NO_LABEL_ = -1,
};

/* A string a line, or FASTA: ">name" and lines of sequence; plain or gzipped. Messages
 * give line and character (both from 1), without the file. */
okra_status okra_strings_read_(okra_context *ctx, const okra_bytes_ *bytes, bool fasta,
                               const char *source, okra_data **out);
/* String i (or the labels of sequence i) in UTF-8, ended by NUL; free with okra_free_. */
okra_status okra_string_text_(const okra_data *data, okra_int i, char **text);

/* The characters of string i, or the labels of sequence i. */
static inline const int32_t *okra_characters_(const okra_data *data, okra_int i,
                                              okra_int *length)
{
    const okra_ragged_ *group = &data->groups[0];
    const okra_field_ *field =
        okra_ragged_field_(group, data->kind == OKRA_STRINGS ? "code" : "label");
    *length = group->offsets[i + 1] - group->offsets[i];
    return (const int32_t *)field->values + group->offsets[i];
}

/* A collection of strings that takes over the finished groups of two builders (`names`
 * may be NULL); on failure they stay the caller's. */
okra_status okra_strings_adopt_(okra_ragged_builder_ *characters,
                                okra_ragged_builder_ *names, const char *source,
                                okra_data **out);
/* The builder of a group of characters. */
okra_status okra_characters_begin_(okra_ragged_builder_ *b);

/* ---- utf8 ----
 * Code points from bytes and back (Unicode 15, table 3-7: no overlong forms, no
 * surrogates, nothing above U+10FFFF).
 */

/* A decoder between two bytes; all zero at the beginning. */
typedef struct okra_utf8_ {
    int32_t code;            /* what is known of the code point            */
    unsigned char more;      /* continuation bytes still to come           */
    unsigned char low, high; /* what the next of them may be               */
} okra_utf8_;

enum { OKRA_UTF8_MORE_ = -1, OKRA_UTF8_BAD_ = -2 };

/* Takes one byte: a code point, OKRA_UTF8_MORE_, or OKRA_UTF8_BAD_. */
static inline int32_t okra_utf8_take_(okra_utf8_ *u, unsigned char byte)
{
    if (u->more > 0) {
        if (byte < u->low || byte > u->high) {
            return OKRA_UTF8_BAD_;
        }
        u->code = u->code << 6 | (byte & 0x3f);
        u->low = 0x80;
        u->high = 0xbf;
        return --u->more > 0 ? OKRA_UTF8_MORE_ : u->code;
    }
    if (byte < 0x80) {
        return byte;
    }
    if (byte < 0xc2 || byte > 0xf4) {
        return OKRA_UTF8_BAD_;
    }
    u->more = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
    u->code = byte & (0x3f >> u->more);
    u->low = byte == 0xe0 ? 0xa0 : byte == 0xf0 ? 0x90 : 0x80;
    u->high = byte == 0xed ? 0x9f : byte == 0xf4 ? 0x8f : 0xbf;
    return OKRA_UTF8_MORE_;
}

/* The bytes of a code point; returns how many (1 to 4). */
static inline int okra_utf8_put_(int32_t code, unsigned char bytes[4])
{
    uint32_t c = (uint32_t)code;
    int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    for (int k = more; k > 0; k--) {
        bytes[k] = (unsigned char)(0x80 | (c & 0x3f));
        c >>= 6;
    }
    bytes[0] = (unsigned char)(lead[more] | c);
    return more + 1;
}

#endif
