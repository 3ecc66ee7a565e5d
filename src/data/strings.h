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

/* A string a line. Messages give line and character (both from 1), without the file. */
okra_status okra_strings_text_(okra_context *ctx, const okra_bytes_ *bytes,
                               const char *source, okra_data **out);
/* FASTA: ">name" and lines of sequence; plain or gzipped. */
okra_status okra_strings_fasta_(okra_context *ctx, const okra_bytes_ *bytes,
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

#endif
