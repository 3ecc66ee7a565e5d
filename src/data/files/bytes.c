/*
 * bytes.c: the bytes of a whole file. Other processes may change it at any time, and
 * readers go through it twice: they get a copy. Only arrays of numbers and shards of an
 * index stay mapped where they are large.
 */
#include "data/files/formats.h"
#include "okra/more/group.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
    LARGE = 1 << 20,  /* bytes from which a file may be mapped, or copied to another */
    COPIED = 1 << 17, /* doubles at a time                                          */
    FIRST_READ = 1 << 16, /* of a pipe, whose size is unknown                           */
};

/* Reads to the end of `fd`. `hint` is the size expected; files may change meanwhile. */
static okra_status read_all(const okra_context *ctx, int fd, okra_int hint,
                            okra_bytes_ *out)
{
    okra_int capacity = hint, size = 0;
    OWNED unsigned char *block = NULL;
    MAKE(block, capacity);
    for (;;) {
        if (size == capacity) {
            capacity = OKRA_MAX_(2 * capacity, FIRST_READ);
            CHK(okra_budget_ask_(ctx, (double)capacity, "the file's content"));
            RESIZE(block, capacity);
        }
        ssize_t got = read(fd, block + size, (size_t)(capacity - size));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        REFUSE_IF(got < 0, OKRA_EIO, "cannot be read: %s", strerror(errno));
        if (got == 0) {
            break;
        }
        size += got;
    }
    *out = (okra_bytes_){.p = block, .size = size, .base = block};
    block = NULL;
    return OKRA_OK;
}

/* Is the file still the one that was opened? */
static okra_status unchanged(int fd, const struct stat *then, okra_int size)
{
    struct stat now;
    REFUSE_IF(fstat(fd, &now) != 0, OKRA_EIO, "cannot be read: %s", strerror(errno));
    REFUSE_IF(then->st_size > 0 &&
                  (size != then->st_size || !okra_same_file_(then, &now)),
              OKRA_EIO, "it changed while it was read");
    return OKRA_OK;
}

/* At most `count` bytes from `at` on; fewer at the end of the file. */
static okra_status read_some(int fd, okra_int at, okra_int count, unsigned char *to,
                             okra_int *size)
{
    for (*size = 0; *size < count;) {
        ssize_t got = pread(fd, to + *size, (size_t)(count - *size), at + *size);
        REFUSE_IF(got < 0 && errno != EINTR, OKRA_EIO, "cannot be read: %s",
                  strerror(errno));
        if (got == 0) {
            return OKRA_OK;
        }
        *size += OKRA_MAX_(got, 0);
    }
    return OKRA_OK;
}

/* A copy of a large file, where there is room. */
static okra_status copy_all(const okra_context *ctx, int fd, okra_int size,
                            okra_bytes_ *out)
{
    FREED_BY(okra_scratch_clear_) okra_scratch_ s = {0};
    OWNED double *block = NULL;
    okra_int words = (size + 7) / 8, some = 0, got = 0;
    CHK(okra_scratch_create_(ctx, words, 1, "the file's content", &s));
    if (!s.memory) {
        ZMAKE(block, COPIED);
    }
    do { /* of a file that became shorter the rest stays undefined */
        okra_int at = got / 8, count = OKRA_MIN_(COPIED, words - at);
        double *to = s.memory ? s.memory + at : block;
        CHK(read_some(fd, got, OKRA_MIN_(8 * count, size - got), (unsigned char *)to,
                      &some));
        CHK(s.memory ? OKRA_OK : okra_scratch_write_(&s, at, count, block));
        got += some;
    } while (some == 8 * COPIED && got < size);
    *out = (okra_bytes_){.p = (const void *)s.p, .size = got, .copy = s};
    s = (okra_scratch_){0};
    return OKRA_OK;
}

static okra_status open_fd(const okra_context *ctx, int fd, const char *path,
                           okra_int least, okra_bytes_ *out)
{
    FREED_BY(okra_bytes_close_) okra_bytes_ bytes = {0};
    struct stat info;
    REFUSE_IF(fstat(fd, &info) != 0, OKRA_EIO, "cannot be read: %s", strerror(errno));
    REFUSE_IF(S_ISDIR(info.st_mode), OKRA_EIO, "is a directory; expected a file");
    if (!S_ISREG(info.st_mode)) {
        return read_all(ctx, fd, FIRST_READ, out);
    }
    if (least == 0) {
        least = okra_memory_left_(ctx) / 4 / okra_context_processes(ctx);
    }
    okra_int begin = OKRA_MAX_(0, lseek(fd, 0, SEEK_CUR)); /* of standard input */
    bool whole = info.st_size >= LARGE && begin == 0;
    if (whole && info.st_size >= least) {
        void *base = mmap(NULL, (size_t)info.st_size, PROT_READ,
                          MAP_PRIVATE | MAP_NORESERVE, fd, 0);
        if (base != MAP_FAILED) {
            okra_guard_open_(fd, base, &info, path);
            *out = (okra_bytes_){
                .p = base, .size = info.st_size, .base = base, .mapped = true};
            return OKRA_OK;
        }
    }
    if (whole) {
        CHK(copy_all(ctx, fd, info.st_size, &bytes));
    } else { /* one byte more than expected lets the first read see the end */
        CHK(okra_budget_ask_(ctx, (double)info.st_size + 1, "the file's content"));
        CHK(read_all(ctx, fd, info.st_size + 1, &bytes));
    }
    CHK(unchanged(fd, &info, begin + bytes.size));
    *out = TAKE(bytes);
    return OKRA_OK;
}

/* Standard input, a pipe, a terminal: what one process reads no other does. */
static bool flows(const char *path)
{
    struct stat info;
    return strcmp(path, "-") == 0 ||
           (stat(path, &info) == 0 &&
            (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode) || S_ISCHR(info.st_mode)));
}

okra_status okra_bytes_open_(const okra_context *ctx, const char *path, okra_bytes_ *out)
{
    return okra_bytes_map_(ctx, path, INT64_MAX, out);
}

okra_status okra_bytes_map_(const okra_context *ctx, const char *path, okra_int least,
                            okra_bytes_ *out)
{
    okra_status st;
    bool standard = strcmp(path, "-") == 0;
    bool one = okra_context_processes(ctx) > 1 && flows(path);
    int fd = one ? -1 : standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (one) {
        st = okra_fail_(OKRA_EUNSUPPORTED,
                        "it reaches one of %d processes alone: name a file",
                        okra_context_processes(ctx));
    } else if (fd < 0) {
        st = okra_fail_(OKRA_EIO, "cannot be opened: %s", strerror(errno));
    } else {
        st = open_fd(ctx, fd, path, least, out);
    }
    if (fd >= 0 && !standard) {
        close(fd);
    }
    if (st != OKRA_OK) {
        okra_message_prefix_("%s", standard ? "standard input" : path);
    }
    return st;
}

okra_status okra_bytes_there_(const char *path, bool *there)
{
    struct stat info;
    *there = stat(path, &info) == 0;
    REFUSE_IF(*there ? access(path, R_OK) != 0 : errno != ENOENT, OKRA_EIO,
              "cannot be read: %s", strerror(errno));
    REFUSE_IF(*there && !S_ISREG(info.st_mode), OKRA_EIO,
              "is no plain file, which finished work is kept in");
    return OKRA_OK;
}

okra_status okra_bytes_claim_(const okra_bytes_ *bytes, okra_int count, const char *what)
{
    REFUSE_IF(count > 1 << 20 && count / OKRA_RATIO_MOST_ > bytes->size, OKRA_EFORMAT,
              "it claims %" PRId64 " %s, absurd for a file of %" PRId64 " bytes", count,
              what, bytes->size);
    return OKRA_OK;
}

void okra_bytes_close_(okra_bytes_ *bytes)
{
    if (bytes->mapped) {
        okra_guard_close_(bytes->base);
        munmap(bytes->base, (size_t)bytes->size);
    } else {
        okra_free_(bytes->base);
    }
    okra_scratch_clear_(&bytes->copy);
    *bytes = (okra_bytes_){0};
}

/* ---- the bytes of a file in pieces ----
 * A plain file is one piece; a gzipped one comes in pieces of at most PIECE bytes, so
 * that memory does not depend on what it unpacks to.
 */

enum { PIECE = 1 << 16, GZIP_WINDOW = 15 + 16 };

struct okra_stream_ {
    const okra_bytes_ *bytes;
    okra_int taken; /* bytes of the file handed to the unpacker or to the caller */
    bool gzip, ended;
    z_stream z;
    unsigned char piece[PIECE];
};

static voidpf get(voidpf opaque, uInt count, uInt size)
{
    return okra_alloc_(count, size);
}

static void give_back(voidpf opaque, voidpf block)
{
    okra_free_(block);
}

okra_status okra_inflate_open_(struct z_stream_s *z, int window)
{
    z->zalloc = get;
    z->zfree = give_back;
    return inflateInit2(z, window) == Z_OK ? OKRA_OK : OKRA_EMEM;
}

okra_status okra_stream_create_(const okra_bytes_ *bytes, okra_stream_ **out)
{
    FREED_BY(okra_stream_drop_) okra_stream_ *s = NULL;
    ZMAKE(s, 1);
    s->bytes = bytes;
    if (bytes->size >= 2 && bytes->p[0] == 0x1f && bytes->p[1] == 0x8b) {
        CHK(okra_inflate_open_(&s->z, GZIP_WINDOW));
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
        GOT(code != Z_MEM_ERROR);
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
