/*
 * npy_header.c: the header of NumPy's array format, versions 1 to 3 (NEP 1): a magic, and
 * a Python dictionary.
 */
#include "data/files/formats.h"
#include "data/files/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAGIC = 6, PREAMBLE1 = 10, PREAMBLE2 = 12, HEADER_MOST = 1 << 20 };

typedef struct cursor {
    const char *p, *end;
} cursor;

static void skip_space(cursor *c)
{
    while (c->p < c->end && strchr(" \t\r\n", *c->p) && *c->p) {
        c->p++;
    }
}

static bool take(cursor *c, char wanted)
{
    skip_space(c);
    if (c->p < c->end && *c->p == wanted) {
        c->p++;
        return true;
    }
    return false;
}

static bool accept_word(cursor *c, const char *word)
{
    size_t length = strlen(word);
    skip_space(c);
    if ((size_t)(c->end - c->p) >= length && memcmp(c->p, word, length) == 0) {
        c->p += length;
        return true;
    }
    return false;
}

/* A Python string without escapes, into `text`. */
static bool accept_string(cursor *c, char *text, size_t size)
{
    skip_space(c);
    if (c->p == c->end || (*c->p != '\'' && *c->p != '"')) {
        return false;
    }
    char quote = *c->p++;
    size_t length = 0;
    while (c->p < c->end && *c->p != quote && length + 1 < size) {
        text[length++] = *c->p++;
    }
    text[length] = '\0';
    return take(c, quote);
}

static okra_status bad_header(const char *what)
{
    return okra_fail_(OKRA_EFORMAT, "the array's header has no valid %s", what);
}

static okra_status parse_type(cursor *c, okra_npy_ *npy)
{
    char text[32];
    REFUSE_IF(take(c, '['), OKRA_EUNSUPPORTED,
              "the array is structured; expected bool, integer or float elements");
    if (!accept_string(c, text, sizeof text)) {
        return bad_header("'descr'");
    }
    static const char *const known[] = {"b1", "i1", "i2", "i4", "i8", "u1",
                                        "u2", "u4", "u8", "f2", "f4", "f8"};
    for (size_t k = 0; text[0] && k < sizeof known / sizeof *known; k++) {
        if (strchr("<>|=", text[0]) && strcmp(text + 1, known[k]) == 0) {
            npy->type = text[1];
            npy->size = text[2] - '0';
            npy->swapped = text[0] == '>';
            return OKRA_OK;
        }
    }
    return okra_fail_(
        OKRA_EUNSUPPORTED,
        "the array's elements are '%s'%s; expected bool, integer or float (b1, i1 to "
        "i8, u1 to u8, f2, f4, f8)",
        text,
        strchr(text, 'O')   ? " (Python objects)"
        : strchr(text, 'c') ? " (complex)"
                            : "");
}

static okra_status parse_shape(cursor *c, okra_npy_ *npy)
{
    okra_int shape[2] = {0, 1};
    if (!take(c, '(')) {
        return bad_header("'shape'");
    }
    npy->dimensions = 0;
    while (!take(c, ')')) {
        skip_space(c);
        okra_int value = 0;
        const char *digits = c->p;
        while (c->p < c->end && *c->p >= '0' && *c->p <= '9') {
            REFUSE_IF(__builtin_mul_overflow(value, 10, &value) ||
                          __builtin_add_overflow(value, *c->p - '0', &value),
                      OKRA_EFORMAT, "a dimension of the array does not fit in 64 bits");
            c->p++;
        }
        if (c->p == digits) {
            return bad_header("'shape'");
        }
        take(c, 'L'); /* as Python 2 wrote long integers */
        if (npy->dimensions < 2) {
            shape[npy->dimensions] = value;
        }
        npy->dimensions++;
        if (!take(c, ',')) {
            if (!take(c, ')')) {
                return bad_header("'shape'");
            }
            break;
        }
    }
    REFUSE_IF(npy->dimensions != 1 && npy->dimensions != 2, OKRA_EUNSUPPORTED,
              "the array has %d dimensions; expected 1 or 2", npy->dimensions);
    npy->rows = shape[0];
    npy->cols = shape[1];
    return OKRA_OK;
}

static okra_status parse_dictionary(cursor c, okra_npy_ *npy)
{
    char key[32];
    unsigned seen = 0;
    if (!take(&c, '{')) {
        return bad_header("dictionary");
    }
    while (!take(&c, '}')) {
        if (!accept_string(&c, key, sizeof key) || !take(&c, ':')) {
            return bad_header("dictionary");
        }
        if (strcmp(key, "descr") == 0) {
            CHK(parse_type(&c, npy));
            seen |= 1;
        } else if (strcmp(key, "shape") == 0) {
            CHK(parse_shape(&c, npy));
            seen |= 2;
        } else if (strcmp(key, "fortran_order") == 0) {
            npy->fortran = accept_word(&c, "True");
            if (!npy->fortran && !accept_word(&c, "False")) {
                return bad_header("'fortran_order'");
            }
            seen |= 4;
        } else {
            return bad_header("dictionary");
        }
        if (!take(&c, ',')) {
            if (!take(&c, '}')) {
                return bad_header("dictionary");
            }
            break;
        }
    }
    if (seen != 7) {
        return bad_header(!(seen & 1)   ? "'descr'"
                          : !(seen & 2) ? "'shape'"
                                        : "'fortran_order'");
    }
    return OKRA_OK;
}

okra_status okra_npy_parse_(const unsigned char *p, okra_int size, okra_npy_ *out)
{
    okra_npy_ npy = {0};
    REFUSE_IF(size < MAGIC || memcmp(p, "\x93NUMPY", MAGIC) != 0, OKRA_EFORMAT,
              "not a NumPy array file: it does not begin with \\x93NUMPY");
    REFUSE_IF(size < PREAMBLE2, OKRA_EFORMAT, "the array's header is cut short");
    REFUSE_IF(p[6] < 1 || p[6] > 3, OKRA_EVERSION,
              "the array file has version %d.%d; expected 1 to 3", p[6], p[7]);
    okra_int length = p[8] | p[9] << 8, begin = PREAMBLE1;
    if (p[6] > 1) {
        length |= (okra_int)p[10] << 16 | (okra_int)p[11] << 24;
        begin = PREAMBLE2;
    }
    REFUSE_IF(length > size - begin || length > HEADER_MOST, OKRA_EFORMAT,
              "the array's header is cut short");
    npy.offset = begin + length;
    const char *header = (const char *)p + begin;
    CHK(parse_dictionary((cursor){header, header + length}, &npy));
    REFUSE_IF(npy.rows > 0 && npy.cols == 0, OKRA_EFORMAT,
              "the array has %" PRId64 " rows of no elements", npy.rows);
    okra_int area, bytes, rest = size - npy.offset;
    REFUSE_IF(__builtin_mul_overflow(npy.rows, npy.cols, &area) ||
                  __builtin_mul_overflow(area, npy.size, &bytes) || bytes > rest,
              OKRA_EFORMAT,
              "an array of %" PRId64 " x %" PRId64
              " elements of %d bytes does not fit in the %" PRId64
              " bytes after the header",
              npy.rows, npy.cols, npy.size, rest);
    REFUSE_IF(bytes < rest, OKRA_EFORMAT,
              "%" PRId64 " bytes follow the array of %" PRId64 " x %" PRId64 " elements",
              rest - bytes, npy.rows, npy.cols);
    *out = npy;
    return OKRA_OK;
}

size_t okra_npy_header_(const char *descr, okra_int n, okra_int d,
                        char header[OKRA_NPY_HEADER_])
{
    char shape[64];
    if (d < 0) {
        snprintf(shape, sizeof shape, "(%" PRId64 ",)", n);
    } else {
        snprintf(shape, sizeof shape, "(%" PRId64 ", %" PRId64 ")", n, d);
    }
    memset(header, ' ', OKRA_NPY_HEADER_);
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = OKRA_NPY_HEADER_ - PREAMBLE1;
    header[9] = 0;
    int length =
        snprintf(header + PREAMBLE1, OKRA_NPY_HEADER_ - PREAMBLE1,
                 "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape);
    header[PREAMBLE1 + length] = ' ';
    header[OKRA_NPY_HEADER_ - 1] = '\n';
    return OKRA_NPY_HEADER_;
}
