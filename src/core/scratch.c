/*
 * scratch.c: arrays that may be larger than memory.
 *
 * One that would take more than a quarter of the memory that is left lies in a file in
 * TMPDIR instead, which has no name any more when it is created, so that nothing of it
 * outlasts the process, however that ends. Room for all of it is claimed first: a disk
 * that is too small is an error here, not a signal in the middle of the work.
 */
#include "core/core.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static size_t bytes_of(const okra_scratch_ *s)
{
    return (size_t)s->rows * (size_t)s->cols * sizeof(double);
}

/* A file without a name. */
static okra_status open_file(const char *folder, int *fd)
{
    char *path = okra_format_("%s/okra-XXXXXX", folder);
    GOT(path);
    *fd = mkostemp(path, O_CLOEXEC);
    int error = errno;
    if (*fd >= 0) {
        unlink(path);
    }
    okra_free_(path);
    return *fd >= 0 ? OKRA_OK
                    : okra_fail_(OKRA_EIO, "no file can be created in %s (TMPDIR): %s",
                                 folder, strerror(error));
}

/* 0, or why there is no room for these bytes. */
static int claim(int fd, size_t bytes)
{
    struct rlimit most; /* going beyond it is a signal */
    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY &&
        bytes > most.rlim_cur) {
        return EFBIG;
    }
    int error;
    do {
        error = posix_fallocate(fd, 0, (off_t)bytes);
    } while (error == EINTR);
    return error;
}

static okra_status open_mapped(okra_scratch_ *s, const char *what)
{
    const char *usual = getenv("TMPDIR"), *folder = usual && *usual ? usual : "/tmp";
    size_t bytes = bytes_of(s);
    int fd = -1;
    CHK(open_file(folder, &fd));
    s->file = fd + 1;
    int error = claim(fd, bytes);
    REFUSE_IF(error, OKRA_EIO,
              "%s of %lld x %lld doubles is larger than a quarter of the memory that is "
              "left, and %s (TMPDIR) does not take its %.0f bytes: %s; expected a TMPDIR "
              "with more room, or a larger memory budget",
              what, (long long)s->rows, (long long)s->cols, folder, (double)bytes,
              strerror(error));
    void *base = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    REFUSE_IF(base == MAP_FAILED, OKRA_EIO,
              "%s: a file in %s (TMPDIR) cannot be mapped: %s", what, folder,
              strerror(errno));
    s->p = base;
    return OKRA_OK;
}

okra_status okra_scratch_create_(const okra_context *context, okra_int rows,
                                 okra_int cols, const char *what, okra_scratch_ *out)
{
    FREED_BY(okra_scratch_clear_) okra_scratch_ s = {.rows = rows, .cols = cols};
    double left = (double)okra_memory_left_(context);
    double bytes = 8 * (double)rows * (double)cols;
    if (bytes == 0 || bytes <= left / 4 || bytes > (double)INT64_MAX) {
        CHK(okra_doubles_(context, rows, cols, what, &s.memory));
        s.p = s.memory;
    } else {
        CHK(open_mapped(&s, what));
    }
    *out = TAKE(s);
    return OKRA_OK;
}

okra_status okra_scratch_write_(okra_scratch_ *s, okra_int first, okra_int rows,
                                const double *values)
{
    size_t size = (size_t)(rows * s->cols) * sizeof *values;
    off_t at = (off_t)(first * s->cols) * (off_t)sizeof *values;
    const char *from = (const char *)values;
    if (s->memory && size > 0) {
        memcpy((char *)s->memory + at, values, size);
        return OKRA_OK;
    }
    while (size > 0) {
        ssize_t some = pwrite(s->file - 1, from, size, at);
        REFUSE_IF(some < 0 && errno != EINTR, OKRA_EIO,
                  "a file in TMPDIR cannot be written: %s", strerror(errno));
        some = some < 0 ? 0 : some;
        from += some;
        size -= (size_t)some;
        at += some;
    }
    return OKRA_OK;
}

void okra_scratch_clear_(okra_scratch_ *s)
{
    okra_free_(s->memory);
    if (s->file && s->p) {
        munmap((void *)(uintptr_t)s->p, bytes_of(s));
    }
    if (s->file) {
        close(s->file - 1);
    }
    *s = (okra_scratch_){0};
}
