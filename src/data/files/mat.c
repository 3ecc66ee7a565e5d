/*
 * mat.c: MATLAB files, version 5 and 7.3.
 *
 * matio and HDF5 read them, in a program of their own (okra-mat, plugins/mat) that may do
 * nothing but read: what a file does to these libraries ends there (mat_child.c).
 * Files of version 5 are checked here before that.
 */
#include "data/files/formats.h"
#include "data/files/mat_child.h"

#include <inttypes.h>
#include <string.h>
#include <zlib.h>

/* ---- the file's own sizes ---- */

/* matio takes older files and much that is none, believes sizes before it looks, and
 * gives what was cut off as it pleases: so the file is checked here first. Version 5:
 * after a header of 128 bytes that ends in a version and a byte order come elements, each
 * a tag of type and size and then its bytes; a matrix holds elements again; a packed
 * element holds a zlib stream of one element. Version 7.3 is HDF5 behind 512 bytes, which
 * checks itself. */
enum { HEADER = 128, TAG = 8, HDF5_AT = 512 };
enum { CLASS_SPARSE = 5 };
enum { TYPE_INT32 = 5, TYPE_UINT32, TYPE_MATRIX = 14, TYPE_PACKED, TYPE_MOST = 18 };
enum { DEPTH_MOST = 16 }; /* structures inside structures */

typedef struct walk {
    const okra_context *ctx;
    bool little;
} walk;

static uint32_t word(const walk *w, const unsigned char *p)
{
    return w->little ? (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
                           (uint32_t)p[3] << 24
                     : (uint32_t)p[3] | (uint32_t)p[2] << 8 | (uint32_t)p[1] << 16 |
                           (uint32_t)p[0] << 24;
}

static okra_status walk_packed(const walk *w, const unsigned char *p, okra_int size);

/* The elements of p..p+size, which they must fill. At the top nothing pads them; inside a
 * matrix they begin at multiples of 8, and one of up to 4 bytes may lie in its tag. */
static okra_status walk_elements(const walk *w, const unsigned char *p, okra_int size,
                                 int depth)
{
    bool sparse = false;
    for (okra_int at = 0, index = 0; at < size; index++) {
        okra_int rest = size - at - TAG;
        const unsigned char *tag = p + at;
        at += TAG;
        if (rest < 0) {
            return okra_fail_(OKRA_EFORMAT,
                              "damaged or cut short: a variable is not whole");
        }
        uint32_t small = depth > 0 ? word(w, tag) >> 16 : 0; /* bytes in the tag itself */
        uint32_t type = word(w, tag) & (small ? 0xffff : UINT32_MAX);
        if (type < 1 || type > TYPE_MOST) {
            return okra_fail_(OKRA_EFORMAT,
                              "damaged: an element of a variable has type %" PRIu32,
                              type);
        }
        /* Of a sparse matrix elements 3 and 4 are row numbers and column beginnings. */
        if (sparse && (index == 3 || index == 4) && type != TYPE_INT32 &&
            type != TYPE_UINT32) {
            return okra_fail_(OKRA_EFORMAT,
                              "damaged: indices of a sparse matrix have type %" PRIu32,
                              type);
        }
        if (small > 0 && small <= 4) {
            continue;
        }
        okra_int length = word(w, tag + 4);
        if (length > rest || small > 4) {
            return okra_fail_(OKRA_EFORMAT,
                              "damaged or cut short: a variable is not whole");
        }
        if (depth > 0 && index == 0 && length >= TAG) { /* the flags: class lowest */
            sparse = (word(w, tag + TAG) & 0xff) == CLASS_SPARSE;
        }
        if (type == TYPE_MATRIX && depth < DEPTH_MOST) {
            CHK(walk_elements(w, tag + TAG, length, depth + 1));
        } else if (type == TYPE_PACKED && depth == 0) {
            CHK(walk_packed(w, tag + TAG, length));
        }
        at += OKRA_MIN_(depth > 0 ? (length + 7) / 8 * 8 : length, rest);
    }
    return OKRA_OK;
}

static okra_status walk_packed(const walk *w, const unsigned char *p, okra_int size)
{
    OWNED unsigned char *block = NULL;
    unsigned char first[TAG];
    uLongf length = sizeof first;
    int code = uncompress(first, &length, p, (uLong)size);
    if ((code != Z_OK && code != Z_BUF_ERROR) || length < sizeof first) {
        return okra_fail_(OKRA_EFORMAT, "damaged: a variable does not inflate");
    }
    /* Deflate makes at most 1032 bytes of one: a larger claim is a lie. */
    okra_int whole = TAG + (okra_int)word(w, first + 4);
    if (whole / 1032 > size) {
        return okra_fail_(OKRA_EFORMAT, "damaged: a variable does not inflate");
    }
    CHK(okra_budget_ask_(w->ctx, (double)whole, "a packed variable"));
    MAKE(block, whole);
    length = (uLongf)whole;
    code = uncompress(block, &length, p, (uLong)size);
    if (code != Z_OK || (okra_int)length != whole) {
        return okra_fail_(OKRA_EFORMAT, "damaged: a variable does not inflate");
    }
    if (word(w, block) == TYPE_MATRIX) {
        CHK(walk_elements(w, block + TAG, whole - TAG, 1));
    }
    return OKRA_OK;
}

okra_status okra_mat_check_(const okra_source_ *source)
{
    const unsigned char *p = source->bytes.p;
    okra_int size = source->bytes.size;
    bool little = size >= HEADER && p[126] == 'I' && p[127] == 'M';
    bool big = size >= HEADER && p[126] == 'M' && p[127] == 'I';
    if (little && p[125] == 2 && size >= HDF5_AT + TAG &&
        memcmp(p + HDF5_AT, "\x89HDF\r\n\x1a\n", TAG) == 0) {
        return OKRA_OK;
    }
    if ((!little && !big) || p[little ? 125 : 124] != 1) {
        return okra_fail_(OKRA_EFORMAT, "not a MATLAB file of version 5 or 7.3");
    }
    return walk_elements(&(walk){source->ctx, little}, p + HEADER, size - HEADER, 0);
}

/* ---- the whole ---- */

okra_status okra_read_mat_(okra_source_ *source, okra_data **out)
{
    okra_status st = okra_mat_check_(source);
    return st == OKRA_OK ? okra_mat_child_(source, out) : st;
}
