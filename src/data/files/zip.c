/*
 * zip.c: zip archives (PKWARE APPNOTE 6.3: sections 4.3 and 4.5.3 for zip64), read, and
 * written uncompressed, so that entries can be memory-mapped: their bytes begin at
 * multiples of 64. The local header carries an extra field (id 0xd935, known to zip tools
 * as alignment padding) that fills the gap.
 */
#include "data/files/archive.h"

#include <zlib.h>

enum {
    END_SIZE = 22,
    END64_SIZE = 56,
    LOCATOR_SIZE = 20,
    CENTRAL_SIZE = 46,
    LOCAL_SIZE = 30,
    COMMENT_MOST = 65535,
    ENTRIES_MOST = 100000,
    ZIP64_ID = 1,
    ENCRYPTED = 1,
    STORED = 0,
    DEFLATED = 8,
    ALIGNMENT = 64,
    ZIP64_LOCAL = 20, /* id, size, two sizes */
    PADDING_ID = 0xd935,
    PADDING_LEAST = 6, /* id, size, the alignment */
    VERSION = 20,
    VERSION64 = 45,
    DATE_1980 = 0x21 /* 1980-01-01, the least date there is */
};
#define SIGN_END UINT32_C(0x06054b50)
#define SIGN_END64 UINT32_C(0x06064b50)
#define SIGN_LOCATOR UINT32_C(0x07064b50)
#define SIGN_CENTRAL UINT32_C(0x02014b50)
#define SIGN_LOCAL UINT32_C(0x04034b50)

typedef struct entry {
    char *name;
    okra_int offset; /* of the entry's bytes; while it is written, of its local header */
    okra_int packed, size;
    uint32_t crc;
    int method;
} entry;

struct okra_zip_ {
    okra_bytes_ bytes;
    entry *entries;
    okra_int count;
};

static uint64_t get(const unsigned char *p, int bytes)
{
    uint64_t value = 0;
    for (int k = bytes; k-- > 0;) {
        value = value << 8 | p[k];
    }
    return value;
}

/* Is [offset, offset + length) inside a file of `size` bytes? */
static bool inside(uint64_t offset, uint64_t length, okra_int size)
{
    return offset <= (uint64_t)size && length <= (uint64_t)size - offset;
}

typedef struct directory {
    uint64_t count, size, offset;
} directory;

/* The end record is the last thing in the file, but for a comment of up to 64 KiB. */
static okra_status find_directory(const unsigned char *p, okra_int size, directory *dir)
{
    okra_int at = size - END_SIZE, least = OKRA_MAX_(at - COMMENT_MOST, 0);
    while (at >= least && !(get(p + at, 4) == SIGN_END &&
                            get(p + at + 20, 2) == (uint64_t)(size - at - END_SIZE))) {
        at--;
    }
    REFUSE_IF(at < least, OKRA_EFORMAT,
              "not a zip archive, or cut short: it has no end record");
    const unsigned char *end = p + at;
    *dir = (directory){get(end + 10, 2), get(end + 12, 4), get(end + 16, 4)};
    uint64_t disk = get(end + 4, 2), disk_dir = get(end + 6, 2);
    if (at >= LOCATOR_SIZE && get(end - LOCATOR_SIZE, 4) == SIGN_LOCATOR) {
        uint64_t where = get(end - LOCATOR_SIZE + 8, 8);
        REFUSE_IF(!inside(where, END64_SIZE, size) || get(p + where, 4) != SIGN_END64,
                  OKRA_EFORMAT, "the zip64 end record is not where its locator says");
        const unsigned char *end64 = p + where;
        *dir = (directory){get(end64 + 32, 8), get(end64 + 40, 8), get(end64 + 48, 8)};
        disk = get(end64 + 16, 4);
        disk_dir = get(end64 + 20, 4);
    }
    REFUSE_IF(disk != 0 || disk_dir != 0, OKRA_EUNSUPPORTED,
              "the archive is in several parts");
    REFUSE_IF(!inside(dir->offset, dir->size, size) ||
                  dir->count > dir->size / CENTRAL_SIZE,
              OKRA_EFORMAT,
              "the directory (%" PRIu64 " entries, %" PRIu64 " bytes from byte %" PRIu64
              ") does not fit in the file's %" PRId64 " bytes",
              dir->count, dir->size, dir->offset, size);
    /* Each takes memory beside the file. */
    REFUSE_IF(dir->count > ENTRIES_MOST, OKRA_EFORMAT,
              "an archive of %" PRIu64 " files, expected at most %d", dir->count,
              ENTRIES_MOST);
    return OKRA_OK;
}

/* Replaces the values that are all ones by those of the zip64 extra field. */
static void apply_zip64(const unsigned char *extra, uint64_t length, uint64_t *values[3])
{
    while (length >= 4) {
        uint64_t id = get(extra, 2), size = get(extra + 2, 2);
        if (size > length - 4) {
            break;
        }
        if (id == ZIP64_ID) {
            const unsigned char *p = extra + 4;
            for (int k = 0; k < 3; k++) {
                if (*values[k] == UINT32_MAX) {
                    if (size < 8) {
                        break;
                    }
                    *values[k] = get(p, 8);
                    p += 8;
                    size -= 8;
                }
            }
            return;
        }
        extra += 4 + size;
        length -= 4 + size;
    }
}

/* Fills one entry from the central directory and its local header. */
static okra_status read_entry(const okra_zip_ *zip, const unsigned char *central,
                              uint64_t room, entry *e, uint64_t *used)
{
    REFUSE_IF(room < CENTRAL_SIZE || get(central, 4) != SIGN_CENTRAL, OKRA_EFORMAT,
              "entry %" PRId64 " of the zip directory is damaged", zip->count);
    uint64_t name = get(central + 28, 2), extra = get(central + 30, 2),
             comment = get(central + 32, 2);
    *used = CENTRAL_SIZE + name + extra + comment;
    REFUSE_IF(*used > room, OKRA_EFORMAT,
              "entry %" PRId64 " of the zip directory is cut short", zip->count);
    GOT(e->name = okra_strndup_((const char *)central + CENTRAL_SIZE, (size_t)name));
    uint64_t packed = get(central + 20, 4), size = get(central + 24, 4),
             at = get(central + 42, 4);
    uint64_t *values[] = {&size, &packed, &at};
    apply_zip64(central + CENTRAL_SIZE + name, extra, values);
    e->method = (int)get(central + 10, 2);
    e->crc = (uint32_t)get(central + 16, 4);
    REFUSE_IF(get(central + 8, 2) & ENCRYPTED, OKRA_EUNSUPPORTED,
              "entry '%s' is encrypted", e->name);
    REFUSE_IF(e->method != STORED && e->method != DEFLATED, OKRA_EUNSUPPORTED,
              "entry '%s' is compressed by method %d; expected stored or deflated",
              e->name, e->method);
    REFUSE_IF(!inside(at, LOCAL_SIZE, zip->bytes.size) ||
                  get(zip->bytes.p + at, 4) != SIGN_LOCAL,
              OKRA_EFORMAT, "entry '%s' has no header at byte %" PRIu64, e->name, at);
    uint64_t offset =
        at + LOCAL_SIZE + get(zip->bytes.p + at + 26, 2) + get(zip->bytes.p + at + 28, 2);
    REFUSE_IF(!inside(offset, packed, zip->bytes.size) || size > INT64_MAX ||
                  (e->method == STORED && packed != size),
              OKRA_EFORMAT,
              "entry '%s' (%" PRIu64 " bytes, stored in %" PRIu64 " from byte %" PRIu64
              ") does not fit in the file's %" PRId64 " bytes",
              e->name, size, packed, offset, zip->bytes.size);
    e->offset = (okra_int)offset;
    e->packed = (okra_int)packed;
    e->size = (okra_int)size;
    return OKRA_OK;
}

/* What could not be read, without the bytes, which stay the caller's. */
static void drop(okra_zip_ **zip)
{
    if (*zip) {
        (*zip)->bytes = (okra_bytes_){0};
        okra_zip_close_(*zip);
    }
}

okra_status okra_zip_adopt_(okra_bytes_ *bytes, okra_zip_ **out)
{
    FREED_BY(drop) okra_zip_ *zip = NULL;
    directory dir = {0};
    CHK(find_directory(bytes->p, bytes->size, &dir));
    ZMAKE(zip, 1);
    ZMAKE(zip->entries, (okra_int)dir.count);
    zip->bytes = *bytes;
    const unsigned char *central = bytes->p + dir.offset;
    uint64_t room = dir.size, used = 0;
    for (uint64_t k = 0; k < dir.count; k++) {
        okra_status st = read_entry(zip, central, room, &zip->entries[k], &used);
        zip->count++; /* so that the name is freed */
        CHK(st);
        central += used;
        room -= used;
    }
    *bytes = (okra_bytes_){0};
    *out = TAKE(zip);
    return OKRA_OK;
}

okra_status okra_zip_open_(const okra_context *ctx, const char *path, okra_zip_ **out)
{
    FREED_BY(okra_bytes_close_) okra_bytes_ bytes = {0};
    CHK(okra_bytes_open_(ctx, path, &bytes));
    return okra_at_(okra_zip_adopt_(&bytes, out), "%s", path);
}

okra_bytes_ *okra_zip_bytes_(okra_zip_ *zip)
{
    return &zip->bytes;
}

static void free_entries(entry *entries, okra_int count)
{
    for (okra_int k = 0; k < count; k++) {
        okra_free_(entries[k].name);
    }
    okra_free_(entries);
}

void okra_zip_close_(okra_zip_ *zip)
{
    if (zip) {
        free_entries(zip->entries, zip->count);
        okra_bytes_close_(&zip->bytes);
        okra_free_(zip);
    }
}

const char *okra_zip_each_(const okra_zip_ *zip, size_t index)
{
    return (okra_int)index < zip->count ? zip->entries[index].name : NULL;
}

okra_int okra_zip_find_(const okra_zip_ *zip, const char *name)
{
    for (okra_int k = 0; k < zip->count; k++) {
        if (strcmp(zip->entries[k].name, name) == 0) {
            return k;
        }
    }
    return -1;
}

bool okra_zip_stored_(const okra_zip_ *zip, okra_int index, okra_int *size)
{
    *size = zip->entries[index].size;
    return zip->entries[index].method == STORED;
}

/* Inflates exactly e->size bytes; zlib counts in 32 bits, hence the pieces. */
static okra_status inflate_entry(const okra_zip_ *zip, const entry *e, unsigned char *to)
{
    const okra_int piece = INT32_C(1) << 30;
    z_stream z = {0};
    okra_int in = e->packed, out = e->size;
    int code = Z_OK;
    CHK(okra_inflate_open_(&z, -MAX_WBITS));
    z.next_in = (Bytef *)(uintptr_t)(zip->bytes.p + e->offset);
    z.next_out = to;
    while (code == Z_OK) {
        if (z.avail_in == 0) {
            z.avail_in = (uInt)OKRA_MIN_(in, piece);
            in -= z.avail_in;
        }
        if (z.avail_out == 0) {
            z.avail_out = (uInt)OKRA_MIN_(out, piece);
            out -= z.avail_out;
        }
        code = inflate(&z, Z_NO_FLUSH);
    }
    bool whole = code == Z_STREAM_END && out == 0 && z.avail_out == 0;
    inflateEnd(&z);
    GOT(code != Z_MEM_ERROR);
    REFUSE_IF(!whole, OKRA_EFORMAT,
              "entry '%s' does not inflate to its %" PRId64 " bytes", e->name, e->size);
    return OKRA_OK;
}

okra_status okra_zip_entry_(const okra_context *ctx, const okra_zip_ *zip, okra_int index,
                            const unsigned char **bytes, okra_int *size, void **owned)
{
    const entry *e = &zip->entries[index];
    const unsigned char *p = zip->bytes.p + e->offset;
    OWNED unsigned char *block = NULL;
    if (e->method == DEFLATED) {
        REFUSE_IF(e->size / OKRA_RATIO_MOST_ > e->packed, OKRA_EFORMAT,
                  "entry '%s' claims %" PRId64 " bytes, more than its %" PRId64
                  " packed bytes can give",
                  e->name, e->size, e->packed);
        CHK(okra_budget_ask_(ctx, (double)e->size, "entry '%s'", e->name));
        MAKE(block, e->size);
        CHK(inflate_entry(zip, e, block));
        p = block;
    }
    uint32_t crc = (uint32_t)crc32_z(0, p, (size_t)e->size);
    REFUSE_IF(crc != e->crc, OKRA_EFORMAT,
              "entry '%s' is damaged: its CRC-32 is %08" PRIx32 ", expected %08" PRIx32,
              e->name, crc, e->crc);
    *bytes = p;
    *size = e->size;
    *owned = TAKE(block);
    return OKRA_OK;
}

okra_status okra_zip_check_seal_(const okra_zip_ *zip)
{
    char seal[OKRA_SEAL_SIZE_ + 1];
    okra_int before = zip->bytes.size - OKRA_SEAL_SIZE_;
    const unsigned char *found = zip->bytes.p + before;
    /* The comment's length stands right before it. */
    REFUSE_IF(before < END_SIZE || get(found - 2, 2) != OKRA_SEAL_SIZE_ ||
                  memcmp(found, OKRA_SEAL_TEXT_, sizeof OKRA_SEAL_TEXT_ - 1) != 0,
              OKRA_EFORMAT, "the archive has no seal");
    uint32_t crc = (uint32_t)crc32_z(0, zip->bytes.p, (size_t)before);
    snprintf(seal, sizeof seal, OKRA_SEAL_TEXT_ "%08" PRIx32, crc);
    REFUSE_IF(memcmp(found, seal, OKRA_SEAL_SIZE_) != 0, OKRA_EFORMAT,
              "the file was altered: its bytes have the CRC-32 %08" PRIx32
              ", its seal says %.8s",
              crc, (const char *)found + sizeof OKRA_SEAL_TEXT_ - 1);
    return OKRA_OK;
}

/* ---- writing ---- */

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
    if (zip) {
        free_entries(zip->entries, zip->count);
        okra_free_(zip);
    }
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
    put(&head, SIGN_LOCAL, 4);
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
                 .offset = okra_writer_position_(zip->file),
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
    okra_int at = e->offset;
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
    put(&head, SIGN_CENTRAL, 4);
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
        put(&r, SIGN_END64, 4);
        put(&r, 44, 8); /* of this record, after this field */
        put(&r, VERSION64, 2);
        put(&r, VERSION64, 2);
        put(&r, 0, 8); /* disks */
        put(&r, (uint64_t)zip->count, 8);
        put(&r, (uint64_t)zip->count, 8);
        put(&r, (uint64_t)(end - begin), 8);
        put(&r, (uint64_t)begin, 8);
        put(&r, SIGN_LOCATOR, 4);
        put(&r, 0, 4);
        put(&r, (uint64_t)end, 8);
        put(&r, 1, 4);
    }
    put(&r, SIGN_END, 4);
    put(&r, 0, 4);
    put(&r, many ? UINT16_MAX : (uint64_t)zip->count, 2);
    put(&r, many ? UINT16_MAX : (uint64_t)zip->count, 2);
    put(&r, NARROW(zip, end - begin), 4);
    put(&r, NARROW(zip, begin), 4);
    put(&r, OKRA_SEAL_SIZE_, 2);
    CHK(put_bytes(zip, r.p, r.size));
    return okra_writer_printf_(zip->file, OKRA_SEAL_TEXT_ "%08" PRIx32, zip->crc);
}
