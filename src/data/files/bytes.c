/*
 * bytes.c: the bytes of a whole file, mapped when large, read when small or a pipe.
 */
#include "data/data.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAP_FROM = 1 << 20,  /* below this a read is cheaper than page faults */
    FIRST_READ = 1 << 16 /* of a pipe, whose size is unknown             */
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

static okra_status open_fd(const okra_context *ctx, int fd, okra_bytes_ *out)
{
    struct stat info;
    REFUSE_IF(fstat(fd, &info) != 0, OKRA_EIO, "cannot be read: %s", strerror(errno));
    REFUSE_IF(S_ISDIR(info.st_mode), OKRA_EIO, "is a directory; expected a file");
    if (!S_ISREG(info.st_mode)) {
        return read_all(ctx, fd, FIRST_READ, out);
    }
    if (info.st_size >= MAP_FROM && lseek(fd, 0, SEEK_CUR) == 0) {
        void *base = mmap(NULL, (size_t)info.st_size, PROT_READ,
                          MAP_PRIVATE | MAP_NORESERVE, fd, 0);
        if (base != MAP_FAILED) {
            *out = (okra_bytes_){
                .p = base, .size = info.st_size, .base = base, .mapped = true};
            return OKRA_OK;
        }
    }
    okra_status st =
        okra_budget_ask_(ctx, (double)info.st_size + 1, "the file's content");
    /* One byte more than expected lets the first read see the end. */
    return st == OKRA_OK ? read_all(ctx, fd, info.st_size + 1, out) : st;
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
        st = open_fd(ctx, fd, out);
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
        munmap(bytes->base, (size_t)bytes->size);
    } else {
        okra_free_(bytes->base);
    }
    *bytes = (okra_bytes_){0};
}
