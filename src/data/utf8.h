/*
 * utf8.h: code points from bytes and back (Unicode 15, table 3-7: no overlong forms, no
 * surrogates, nothing above U+10FFFF).
 */
#ifndef OKRA_UTF8_H_
#define OKRA_UTF8_H_

#include "okra/base.h"

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
