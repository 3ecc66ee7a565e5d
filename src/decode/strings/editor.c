/*
 * editor.c: letters to write with, and the single edits of a string.
 */
#include "decode/strings/editor.h"

#include "data/strings.h"
#include "kernel/strings/string_kernels.h"

#include <string.h>

OKRA_SHARED_CLEARS_(okra_editor_clear_, okra_editor_, it->alphabet, it->edited)

static okra_int longest_of(const okra_data *y)
{
    okra_int longest = 0;
    for (okra_int i = 0; i < y->n; i++) {
        okra_int length;
        okra_characters_(y, i, &length);
        longest = OKRA_MAX_(longest, length);
    }
    return longest;
}

static okra_status choose_alphabet(okra_editor_ *s, const okra_data *y, const char *text)
{
    okra_int given = 0, known = 0;
    FREED_BY(okra_data_drop_) okra_data *data = NULL;
    OWNED int32_t *letters = NULL;
    CHK(okra_alphabet_(y, &s->alphabet, &s->letters));
    if (*text) {
        CHK(okra_data_strings(&text, 1, &data));
        CHK(okra_alphabet_(data, &letters, &given));
        for (okra_int c = 0; c < given; c++) {
            known += okra_letter_(s->alphabet, s->letters, letters[c]) < s->letters;
        }
        REFUSE_IF(known == 0, OKRA_EARG,
                  "decoder string: alphabet is '%s', and no training output has any of "
                  "its letters",
                  text);
        okra_free_(s->alphabet);
        s->alphabet = letters;
        s->letters = given;
        letters = NULL;
    }
    REFUSE_IF(s->letters == 0, OKRA_EARG,
              "decoder string: the training outputs have no letters");
    return OKRA_OK;
}

okra_status okra_editor_open_(const okra_data *y, const char *text, okra_int longest,
                              okra_editor_ *out)
{
    FREED_BY(okra_editor_clear_) okra_editor_ s = {.known = longest_of(y)};
    s.longest = longest > 0 ? longest : s.known + 2;
    CHK(choose_alphabet(&s, y, text));
    MAKE(s.edited, OKRA_MAX_(s.longest, s.known) + 1);
    *out = s;
    s = (okra_editor_){0};
    return OKRA_OK;
}

static okra_status replace(const okra_editor_ *s, okra_int length, okra_int at,
                           okra_offer_ *offer)
{
    int32_t before = s->edited[at];
    for (okra_int c = 0; c < s->letters; c++) {
        s->edited[at] = s->alphabet[c];
        CHK(okra_offer_put_(offer, s->edited, length));
    }
    s->edited[at] = before;
    return OKRA_OK;
}

okra_status okra_editor_neighbours_(const okra_editor_ *s, const int32_t *codes,
                                    okra_int length, okra_offer_ *offer)
{
    int32_t *e = s->edited;
    memcpy(e, codes, (size_t)length * sizeof *e);
    for (okra_int i = 0; i < length; i++) {
        CHK(replace(s, length, i, offer));
        if (i + 1 < length) {
            int32_t a = e[i];
            e[i] = e[i + 1];
            e[i + 1] = a;
            CHK(okra_offer_put_(offer, e, length));
            e[i + 1] = e[i];
            e[i] = a;
        }
    }
    /* delete letter i: e holds all letters but the i-th */
    for (okra_int i = length - 1; !s->one_length && i >= 0; i--) {
        int32_t out = e[i];
        memmove(e + i, e + i + 1, (size_t)(length - 1 - i) * sizeof *e);
        CHK(okra_offer_put_(offer, e, length - 1));
        memmove(e + i + 1, e + i, (size_t)(length - 1 - i) * sizeof *e);
        e[i] = out;
    }
    for (okra_int i = length; !s->one_length && length < s->longest && i >= 0; i--) {
        memmove(e + i + 1, e + i, (size_t)(length - i) * sizeof *e);
        e[i] = s->alphabet[0];
        CHK(replace(s, length + 1, i, offer));
        memmove(e + i, e + i + 1, (size_t)(length - i) * sizeof *e);
    }
    return OKRA_OK;
}
