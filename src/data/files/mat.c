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
enum {
    CLASS_CELL = 1,
    CLASS_STRUCT,
    CLASS_OBJECT,
    CLASS_SPARSE = 5,
    CLASS_DOUBLE,
    CLASS_UINT64 = 15,
    CLASS_FUNCTION
};
enum { TYPE_INT32 = 5, TYPE_UINT32, TYPE_MATRIX = 14, TYPE_PACKED, TYPE_MOST = 18 };
enum { DEPTH_MOST = 64 }; /* structures inside structures */

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

/* What the first elements of a matrix say of it. */
typedef struct head {
    okra_int size; /* bytes of all its elements */
    uint32_t class;
    okra_int count; /* the product of its sizes, at most size + 1 */
    okra_int last;  /* the last of them */
    bool filled;    /* whether elements came */
    uint32_t width; /* bytes of the name of a field */
} head;

/* One element of a matrix: its place among them, its type, where its bytes lie. */
typedef struct element {
    okra_int index, length;
    uint32_t type;
    bool small; /* in its tag */
    const unsigned char *p;
} element;

/* matio takes memory for all parts before it looks for them: each is a tag at least. */
static okra_status check_count(const head *h, okra_int fields)
{
    REFUSE_IF(fields > 0 && h->count > h->size / TAG / fields, OKRA_EFORMAT,
              "damaged: a variable of %" PRId64
              " bytes has more parts than they can hold",
              h->size);
    return OKRA_OK;
}

static okra_status check_sizes(const walk *w, const element *e, head *h)
{
    okra_int most = h->size + 1;
    bool empty = false;
    h->count = 1;
    for (okra_int at = 0; at + 4 <= e->length; at += 4) {
        okra_int size = word(w, e->p + at);
        empty = empty || size == 0;
        h->count = size > 0 && h->count > most / size ? most : h->count * size;
        h->last = size;
    }
    h->count = empty ? 0 : h->count;
    bool parts = h->class == CLASS_CELL || h->class == CLASS_FUNCTION;
    return check_count(h, parts);
}

/* The elements of a matrix of numbers: as many as its sizes say. matio gives zeros where
 * there are fewer. */
static okra_status check_elements(const element *e, head *h)
{
    static const unsigned char bytes[TYPE_MOST + 1] = {0, 1, 1, 2, 2, 4, 4,
                                                       4, 0, 8, 0, 0, 8, 8};
    okra_int each = bytes[e->type];
    REFUSE_IF(h->count > 0 && (each == 0 || e->length != h->count * each), OKRA_EFORMAT,
              "damaged: the sizes of a variable are not those of its elements");
    h->filled = true;
    return OKRA_OK;
}

/* Row numbers and column beginnings, one more of these than columns. */
static okra_status check_indices(const element *e, const head *h)
{
    REFUSE_IF(e->type != TYPE_INT32 && e->type != TYPE_UINT32, OKRA_EFORMAT,
              "damaged: indices of a sparse matrix have type %" PRIu32, e->type);
    REFUSE_IF(e->index == 4 && e->length / 4 != h->last + 1, OKRA_EFORMAT,
              "damaged: a sparse matrix of %" PRId64 " columns says where %" PRId64
              " begin",
              h->last, e->length / 4 - 1);
    return OKRA_OK;
}

static bool is_numbers(const head *h)
{
    return h->class >= CLASS_DOUBLE && h->class <= CLASS_UINT64;
}

/* Flags (class lowest), sizes, name; then what the class has. */
static okra_status check_head(const walk *w, const element *e, head *h)
{
    bool fields = h->class == CLASS_STRUCT || h->class == CLASS_OBJECT;
    bool whole = e->type == TYPE_INT32 || e->type == TYPE_UINT32;
    if (e->index == 0) {
        REFUSE_IF(e->small || e->length != TAG, OKRA_EFORMAT,
                  "damaged: a variable has no flags");
        h->class = word(w, e->p) & 0xff;
    } else if (e->index == 1) {
        CHK(check_sizes(w, e, h));
    } else if (h->class == CLASS_SPARSE && (e->index == 3 || e->index == 4)) {
        CHK(check_indices(e, h));
    } else if (is_numbers(h) && e->index == 3) {
        CHK(check_elements(e, h));
    } else if (fields && e->index == 3 &&
               whole) { /* of an object its class may be here */
        REFUSE_IF(!e->small || e->length != 4, OKRA_EFORMAT,
                  "damaged: a structure does not say how long its names are");
        h->width = word(w, e->p);
    } else if (fields && e->index == 4 && h->width > 0) {
        CHK(check_count(h, e->length / h->width));
    }
    return OKRA_OK;
}

static okra_status walk_packed(const walk *w, const unsigned char *p, okra_int size);

/* The elements of p..p+size, which they must fill. At the top nothing pads them; inside a
 * matrix they begin at multiples of 8, and one of up to 4 bytes may lie in its tag. */
static okra_status walk_elements(const walk *w, const unsigned char *p, okra_int size,
                                 int depth)
{
    head h = {.size = size};
    REFUSE_IF(depth > DEPTH_MOST, OKRA_EUNSUPPORTED, "a variable nests more than %d deep",
              DEPTH_MOST);
    for (okra_int at = 0, index = 0; at < size; index++) {
        okra_int rest = size - at - TAG;
        const unsigned char *tag = p + at;
        at += TAG;
        REFUSE_IF(rest < 0, OKRA_EFORMAT,
                  "damaged or cut short: a variable is not whole");
        uint32_t small = depth > 0 ? word(w, tag) >> 16 : 0; /* bytes in the tag itself */
        uint32_t type = word(w, tag) & (small ? 0xffff : UINT32_MAX);
        REFUSE_IF(type < 1 || type > TYPE_MOST, OKRA_EFORMAT,
                  "damaged: an element of a variable has type %" PRIu32, type);
        okra_int length = small ? small : word(w, tag + 4);
        REFUSE_IF(small ? small > 4 : length > rest, OKRA_EFORMAT,
                  "damaged or cut short: a variable is not whole");
        element e = {index, length, type, small > 0, tag + (small ? 4 : TAG)};
        if (depth > 0) {
            CHK(check_head(w, &e, &h));
        }
        if (small) {
            continue;
        }
        if (type == TYPE_MATRIX) {
            CHK(walk_elements(w, tag + TAG, length, depth + 1));
        } else if (type == TYPE_PACKED && depth == 0) {
            CHK(walk_packed(w, tag + TAG, length));
        }
        at += OKRA_MIN_(depth > 0 ? (length + 7) / 8 * 8 : length, rest);
    }
    REFUSE_IF(is_numbers(&h) && h.count > 0 && !h.filled, OKRA_EFORMAT,
              "damaged: a variable has no elements");
    return OKRA_OK;
}

static okra_status walk_packed(const walk *w, const unsigned char *p, okra_int size)
{
    OWNED unsigned char *block = NULL;
    unsigned char first[TAG];
    uLongf length = sizeof first;
    int code = uncompress(first, &length, p, (uLong)size);
    REFUSE_IF((code != Z_OK && code != Z_BUF_ERROR) || length < sizeof first,
              OKRA_EFORMAT, "damaged: a variable does not inflate");
    okra_int whole = TAG + (okra_int)word(w, first + 4);
    REFUSE_IF(whole / OKRA_RATIO_MOST_ > size, OKRA_EFORMAT,
              "damaged: a variable does not inflate");
    CHK(okra_budget_ask_(w->ctx, (double)whole, "a packed variable"));
    MAKE(block, whole);
    length = (uLongf)whole;
    code = uncompress(block, &length, p, (uLong)size);
    REFUSE_IF(code != Z_OK || (okra_int)length != whole, OKRA_EFORMAT,
              "damaged: a variable does not inflate");
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
    REFUSE_IF((!little && !big) || p[little ? 125 : 124] != 1, OKRA_EFORMAT,
              "not a MATLAB file of version 5 or 7.3");
    return walk_elements(&(walk){source->ctx, little}, p + HEADER, size - HEADER, 0);
}

/* ---- the whole ---- */

okra_status okra_read_mat_(okra_source_ *source, okra_data **out)
{
    okra_status st = okra_mat_check_(source);
    return st == OKRA_OK ? okra_mat_child_(source, out) : st;
}
