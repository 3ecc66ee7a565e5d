/*
 * zip_write.c: uncompressed zip archives whose entries can be memory-mapped.
 *
 * An entry's bytes begin at a multiple of 64: the local header carries an extra field
 * (id 0xd935, known to zip tools as alignment padding) that fills the gap.
 */
#include "data/files/archive.h"

#include <zlib.h>

enum {
    ALIGNMENT = 64,
    LOCAL_SIZE = 30,
    CENTRAL_SIZE = 46,
    ZIP64_LOCAL = 20, /* id, size, two sizes            */
    ZIP64_ID = 1,
    PADDING_ID = 0xd935,
    PADDING_LEAST = 6, /* id, size, the alignment */
    VERSION = 20,
    VERSION64 = 45,
    DATE_1980 = 0x21 /* 1980-01-01, the least date there is */
};

/* The 32-bit form of a number that may have to go to the zip64 field. */
#define NARROW(zip, value) ((value) >= (zip)->big ? UINT32_MAX : (uint64_t)(value))

/* A record under construction; fields are little-endian. */
typedef struct record {
    unsigned char p[256];
    size_t size;
} record;

static void put(record *r, uint64_t value, int bytes)
{
    for (int k = 0; k < bytes; k++) {
        r->p[r->size++] = (unsigned char)(value >> (8 * k));
    }
}

typedef struct entry {
    char *name;
    okra_int size, header; /* header: offset of the local header */
    uint32_t crc;
} entry;

struct okra_zip_writer_ {
    okra_writer_ *file;
    entry *entries;
    okra_int count;
    okra_int big; /* sizes and offsets from here on need zip64 */
    uint32_t crc; /* of every byte so far                      */
};

okra_status okra_zip_writer_create_(okra_writer_ *file, okra_zip_writer_ **out)
{
    okra_zip_writer_ *zip;
    ZMAKE(zip, 1);
    zip->file = file;
    zip->big = UINT32_MAX;
    *out = zip;
    return OKRA_OK;
}

void okra_zip_writer_free_(okra_zip_writer_ *zip)
{
    if (!zip) {
        return;
    }
    for (okra_int k = 0; k < zip->count; k++) {
        okra_free_(zip->entries[k].name);
    }
    FREE(zip->entries, zip);
}

void okra_zip_writer_zip64_(okra_zip_writer_ *zip, okra_int least)
{
    zip->big = least;
}

static okra_status put_bytes(okra_zip_writer_ *zip, const void *p, size_t size)
{
    zip->crc = (uint32_t)crc32_z(zip->crc, p, size);
    return okra_writer_put_(zip->file, p, size);
}

/* What local and central headers share, from "version needed" to "name length". */
static void put_common(record *r, const okra_zip_writer_ *zip, const entry *e)
{
    put(r, e->size >= zip->big ? VERSION64 : VERSION, 2);
    put(r, 0, 2); /* flags */
    put(r, 0, 2); /* stored */
    put(r, 0, 2); /* time */
    put(r, DATE_1980, 2);
    put(r, e->crc, 4);
    put(r, NARROW(zip, e->size), 4);
    put(r, NARROW(zip, e->size), 4);
    put(r, strlen(e->name), 2);
}

static okra_status put_local(okra_zip_writer_ *zip, const entry *e)
{
    bool wide = e->size >= zip->big;
    okra_int end = okra_writer_position_(zip->file) + LOCAL_SIZE +
                   (okra_int)strlen(e->name) + (wide ? ZIP64_LOCAL : 0) + PADDING_LEAST;
    okra_int gap = (ALIGNMENT - end % ALIGNMENT) % ALIGNMENT;
    record head = {.size = 0}, extra = {.size = 0};
    if (wide) {
        put(&extra, ZIP64_ID, 2);
        put(&extra, 16, 2);
        put(&extra, (uint64_t)e->size, 8);
        put(&extra, (uint64_t)e->size, 8);
    }
    put(&extra, PADDING_ID, 2);
    put(&extra, (uint64_t)(2 + gap), 2);
    put(&extra, ALIGNMENT, 2);
    memset(extra.p + extra.size, 0, (size_t)gap);
    extra.size += (size_t)gap;

    put(&head, 0x04034b50, 4);
    put_common(&head, zip, e);
    put(&head, extra.size, 2);
    CHK(put_bytes(zip, head.p, head.size));
    CHK(put_bytes(zip, e->name, strlen(e->name)));
    return put_bytes(zip, extra.p, extra.size);
}

okra_status okra_zip_add_pieces_(okra_zip_writer_ *zip, const char *name,
                                 const void *head, size_t head_size, okra_int size,
                                 okra_piece_fn_ *next, void *user, uint32_t *crc)
{
    const void *p = NULL;
    REFUSE_IF(strlen(name) > UINT16_MAX, OKRA_EARG,
              "a zip entry's name has %zu bytes; at most 65535 are possible",
              strlen(name));
    RESIZE(zip->entries, zip->count + 1);
    entry *e = &zip->entries[zip->count];
    *e = (entry){.name = okra_strdup_(name),
                 .size = (okra_int)head_size + size,
                 .header = okra_writer_position_(zip->file),
                 .crc = (uint32_t)crc32_z(0, head, head_size)};
    GOT(e->name);
    zip->count++;
    for (okra_int k = 0, more = 1; more; k++) {
        size_t bytes = 0;
        CHK(next(user, k, &p, &bytes));
        more = bytes > 0;
        e->crc = more ? (uint32_t)crc32_z(e->crc, p, bytes) : e->crc;
    }
    CHK(put_local(zip, e));
    zip->crc = (uint32_t)crc32_combine(zip->crc, e->crc, e->size);
    CHK(okra_writer_put_(zip->file, head, head_size));
    for (okra_int k = 0, more = 1; more; k++) {
        size_t bytes = 0;
        CHK(next(user, k, &p, &bytes));
        more = bytes > 0;
        CHK(more ? okra_writer_put_(zip->file, p, bytes) : OKRA_OK);
    }
    GIVE(crc, e->crc);
    return OKRA_OK;
}

typedef struct strided {
    const unsigned char *p;
    okra_int rows;
    size_t width, stride;
} strided;

static okra_status next_row(void *user, okra_int k, const void **p, size_t *bytes)
{
    const strided *s = user;
    if (k < s->rows) {
        *p = s->p + (size_t)k * s->stride;
        *bytes = s->width;
    }
    return OKRA_OK;
}

okra_status okra_zip_add_(okra_zip_writer_ *zip, const char *name, const void *head,
                          size_t head_size, const void *body, okra_int rows, size_t width,
                          size_t stride, uint32_t *crc)
{
    strided s = {body, rows, width, stride};
    return okra_zip_add_pieces_(zip, name, head, head_size, rows * (okra_int)width,
                                next_row, &s, crc);
}

static okra_status put_central(okra_zip_writer_ *zip, okra_int k)
{
    const entry *e = &zip->entries[k];
    okra_int at = e->header;
    record head = {.size = 0}, extra = {.size = 0};
    int wide = (e->size >= zip->big ? 16 : 0) + (at >= zip->big ? 8 : 0);
    if (wide) {
        put(&extra, ZIP64_ID, 2);
        put(&extra, (uint64_t)wide, 2);
    }
    if (e->size >= zip->big) {
        put(&extra, (uint64_t)e->size, 8);
        put(&extra, (uint64_t)e->size, 8);
    }
    if (at >= zip->big) {
        put(&extra, (uint64_t)at, 8);
    }
    put(&head, 0x02014b50, 4);
    put(&head, wide ? VERSION64 : VERSION, 2);
    put_common(&head, zip, e);
    put(&head, extra.size, 2);
    put(&head, 0, 8); /* comment, disk, attributes inside */
    put(&head, 0, 2);
    put(&head, NARROW(zip, at), 4);
    CHK(put_bytes(zip, head.p, head.size));
    CHK(put_bytes(zip, e->name, strlen(e->name)));
    return put_bytes(zip, extra.p, extra.size);
}

okra_status okra_zip_finish_(okra_zip_writer_ *zip)
{
    okra_int begin = okra_writer_position_(zip->file);
    for (okra_int k = 0; k < zip->count; k++) {
        CHK(put_central(zip, k));
    }
    okra_int end = okra_writer_position_(zip->file);
    record r = {.size = 0};
    bool many = zip->count >= UINT16_MAX;
    if (many || begin >= zip->big || end - begin >= zip->big) {
        put(&r, 0x06064b50, 4);
        put(&r, 44, 8); /* of this record, after this field */
        put(&r, VERSION64, 2);
        put(&r, VERSION64, 2);
        put(&r, 0, 8); /* disks */
        put(&r, (uint64_t)zip->count, 8);
        put(&r, (uint64_t)zip->count, 8);
        put(&r, (uint64_t)(end - begin), 8);
        put(&r, (uint64_t)begin, 8);
        put(&r, 0x07064b50, 4);
        put(&r, 0, 4);
        put(&r, (uint64_t)end, 8);
        put(&r, 1, 4);
    }
    put(&r, 0x06054b50, 4);
    put(&r, 0, 4);
    put(&r, many ? UINT16_MAX : (uint64_t)zip->count, 2);
    put(&r, many ? UINT16_MAX : (uint64_t)zip->count, 2);
    put(&r, NARROW(zip, end - begin), 4);
    put(&r, NARROW(zip, begin), 4);
    put(&r, OKRA_SEAL_SIZE_, 2);
    CHK(put_bytes(zip, r.p, r.size));
    return okra_writer_printf_(zip->file, OKRA_SEAL_TEXT_ "%08" PRIx32, zip->crc);
}
