/*
 * stream.c: the bytes of a file in pieces. A plain file is one piece; a gzipped one comes
 * in pieces of at most PIECE bytes, so that memory does not depend on what it unpacks to.
 */
#include "data/files/stream.h"

#include <inttypes.h>
#include <zlib.h>

enum { PIECE = 1 << 16, GZIP_WINDOW = 15 + 16 };

struct okra_stream_ {
    const okra_bytes_ *bytes;
    okra_int taken; /* bytes of the file handed to the unpacker or to the caller */
    bool gzip, ended;
    z_stream z;
    unsigned char piece[PIECE];
};

static voidpf unpacker_alloc(voidpf opaque, uInt count, uInt size)
{
    (void)opaque;
    return okra_alloc_((okra_int)count, size);
}

static void unpacker_free(voidpf opaque, voidpf block)
{
    (void)opaque;
    okra_free_(block);
}

okra_status okra_stream_create_(const okra_bytes_ *bytes, okra_stream_ **out)
{
    FREED_BY(okra_stream_drop_) okra_stream_ *s = NULL;
    ZMAKE(s, 1);
    s->bytes = bytes;
    s->z.zalloc = unpacker_alloc;
    s->z.zfree = unpacker_free;
    if (bytes->size >= 2 && bytes->p[0] == 0x1f && bytes->p[1] == 0x8b) {
        if (inflateInit2(&s->z, GZIP_WINDOW) != Z_OK) {
            return OKRA_EMEM;
        }
        s->gzip = true;
    }
    *out = TAKE(s);
    return OKRA_OK;
}

void okra_stream_free_(okra_stream_ *s)
{
    if (s && s->gzip) {
        inflateEnd(&s->z);
    }
    okra_free_(s);
}

/* Hands the unpacker more input when it has used up its own (its counts are 32-bit). */
static void refill(okra_stream_ *s)
{
    if (s->z.avail_in == 0) {
        okra_int left = OKRA_MIN_(s->bytes->size - s->taken, (okra_int)1 << 30);
        s->z.next_in = (Bytef *)(uintptr_t)(s->bytes->p + s->taken);
        s->z.avail_in = (uInt)left;
        s->taken += left;
    }
}

static okra_status unpack(okra_stream_ *s, okra_int *size)
{
    s->z.next_out = s->piece;
    s->z.avail_out = PIECE;
    while (!s->ended && s->z.avail_out > 0) {
        refill(s);
        int code = inflate(&s->z, Z_NO_FLUSH);
        okra_int place = s->taken - (okra_int)s->z.avail_in;
        if (code == Z_STREAM_END) {
            refill(s);
            s->ended = s->z.avail_in == 0;
            code = s->ended ? Z_OK : inflateReset(&s->z);
        }
        if (code == Z_MEM_ERROR) {
            return OKRA_EMEM;
        }
        REFUSE_IF(code != Z_OK, OKRA_EFORMAT,
                  "gzip: %s at byte %" PRId64 " of %" PRId64 " (%s)",
                  code == Z_BUF_ERROR ? "the file ends too early" : "damaged data", place,
                  s->bytes->size, s->z.msg ? s->z.msg : "cut short");
    }
    *size = PIECE - (okra_int)s->z.avail_out;
    return OKRA_OK;
}

okra_status okra_stream_next_(okra_stream_ *s, const unsigned char **piece,
                              okra_int *size)
{
    if (s->gzip) {
        *piece = s->piece;
        return unpack(s, size);
    }
    *piece = s->bytes->p + s->taken;
    *size = s->bytes->size - s->taken;
    s->taken = s->bytes->size;
    return OKRA_OK;
}
