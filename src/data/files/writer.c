/*
 * writer.c: files that appear whole or not at all.
 *
 * Bytes go to a temporary file in the target's folder; commit syncs it, renames it over
 * the target and syncs the folder, so that a crash leaves either the old file or the new
 * one. A target that is a symbolic link stays one: the file that it names is replaced; a
 * target that is there keeps its permissions, and its group where the system allows it.
 * Standard output ("-") and targets that are not plain files (a pipe, a terminal)
 * are written directly, for there is nothing to rename.
 */
#include "data/data.h"
#include "okra/more/group.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 1 << 16, LINE = 512, ATTEMPTS = 100, LINKS = 40 };

struct okra_writer_ {
    okra_context *ctx;
    int fd;
    char *path, *temporary; /* temporary is NULL when written directly */
    okra_int position;
    size_t used; /* of the buffer */
    unsigned char buffer[BUFFER];
};

static const char *shown(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard output" : path;
}

static okra_status cannot_write(const okra_writer_ *w)
{
    return okra_fail_(OKRA_EIO, "%s: cannot be written: %s", shown(w->path),
                      strerror(errno));
}

/* Puts in place of a link what it names, through links to links. */
static okra_status follow(char **path)
{
    char target[PATH_MAX];
    for (int links = 0; links < LINKS; links++) {
        ssize_t length = readlink(*path, target, sizeof target - 1);
        if (length < 0) {
            return OKRA_OK; /* no link, or nothing there */
        }
        target[length] = '\0';
        const char *slash = strrchr(*path, '/');
        char *next = *target == '/' || !slash
                         ? okra_strdup_(target)
                         : okra_format_("%.*s/%s", (int)(slash - *path), *path, target);
        GOT(next);
        okra_free_(*path);
        *path = next;
    }
    return okra_fail_(OKRA_EIO, "%s: cannot be written: too many symbolic links", *path);
}

/* The permissions of the file that is replaced; its group's only where it stays the
 * group. */
static bool take_permissions(int fd, const struct stat *old)
{
    struct stat now;
    if (fchown(fd, (uid_t)-1, old->st_gid) != 0 && errno != EPERM) {
        return false;
    }
    mode_t mode = old->st_mode & 0777;
    if (fstat(fd, &now) != 0) {
        return false;
    }
    return fchmod(fd, now.st_gid == old->st_gid ? mode : mode & ~(mode_t)070) == 0;
}

/* Opens a fresh file beside the target; its permissions are those of `old`, or follow the
 * umask where there is none. */
static okra_status open_temporary(okra_writer_ *w, const struct stat *old)
{
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        uint64_t random = 0;
        if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) {
            random = (uint64_t)getpid() + (uint64_t)attempt;
        }
        w->temporary =
            okra_format_("%s.%08llx.tmp", w->path, (unsigned long long)random >> 32);
        GOT(w->temporary);
        w->fd = open(w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                     old ? 0600 : 0666);
        if (w->fd >= 0) {
            return !old || take_permissions(w->fd, old) ? OKRA_OK : cannot_write(w);
        }
        okra_free_(w->temporary);
        w->temporary = NULL;
        if (errno != EEXIST) {
            break;
        }
    }
    return cannot_write(w);
}

okra_status okra_writer_open_(const char *path, okra_writer_ **out)
{
    return okra_writer_join_(NULL, path, out);
}

okra_status okra_writer_join_(okra_context *ctx, const char *path, okra_writer_ **out)
{
    FREED_BY(okra_writer_drop_) okra_writer_ *w = NULL;
    struct stat info;
    MAKE(w, 1);
    *w = (okra_writer_){.ctx = ctx, .fd = -1};
    path = okra_context_is_primary(ctx) ? path : "/dev/null";
    GOT(w->path = okra_strdup_(path));
    if (strcmp(path, "-") == 0) {
        w->fd = STDOUT_FILENO;
    } else if (stat(path, &info) != 0) {
        CHK(follow(&w->path));
        CHK(open_temporary(w, NULL));
    } else if (S_ISREG(info.st_mode)) {
        CHK(follow(&w->path));
        CHK(open_temporary(w, &info));
    } else if (S_ISDIR(info.st_mode)) {
        return okra_fail_(OKRA_EIO, "%s: cannot be written: it is a directory", path);
    } else {
        w->fd = open(path, O_WRONLY | O_CLOEXEC);
        if (w->fd < 0) {
            return cannot_write(w);
        }
    }
    *out = TAKE(w);
    return OKRA_OK;
}

static okra_status flush(okra_writer_ *w, const unsigned char *p, size_t size)
{
    while (size > 0) {
        ssize_t wrote = write(w->fd, p, size);
        if (wrote < 0 && errno != EINTR) {
            return cannot_write(w);
        }
        if (wrote > 0) {
            p += wrote;
            size -= (size_t)wrote;
        }
    }
    return OKRA_OK;
}

okra_status okra_writer_put_(okra_writer_ *w, const void *bytes, size_t size)
{
    w->position += (okra_int)size;
    if (size > BUFFER - w->used) {
        CHK(flush(w, w->buffer, w->used));
        w->used = 0;
    }
    if (size >= BUFFER) {
        return flush(w, bytes, size);
    }
    if (size > 0) {
        memcpy(w->buffer + w->used, bytes, size);
        w->used += size;
    }
    return OKRA_OK;
}

okra_status okra_writer_printf_(okra_writer_ *w, const char *format, ...)
{
    char line[LINE], *text = line;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (length >= LINE) {
        text = okra_alloc_((okra_int)length + 1, 1);
        if (text) {
            vsnprintf(text, (size_t)length + 1, format, again);
        }
    }
    va_end(again);
    okra_status st = length < 0 ? cannot_write(w)
                     : text     ? okra_writer_put_(w, text, (size_t)length)
                                : OKRA_EMEM;
    if (text != line) {
        okra_free_(text);
    }
    return st;
}

okra_int okra_writer_position_(const okra_writer_ *w)
{
    return w->position;
}

/* Makes the rename itself durable. Some file systems refuse to sync a folder: the file is
 * then whole all the same, so that is no error. `path` is cut at its last slash. */
static void sync_folder(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash) {
        slash[1] = '\0';
    }
    int fd = open(slash ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

okra_status okra_writer_commit_(okra_writer_ *w)
{
    okra_status st = OKRA_OK;
    TRY(flush(w, w->buffer, w->used));
    w->used = 0;
    TRY(okra_context_finish_together(w->ctx, OKRA_OK, NULL));
    if (w->temporary) {
        int fd = w->fd;
        if (fsync(fd) != 0) {
            st = cannot_write(w);
            goto done;
        }
        w->fd = -1;
        if (close(fd) != 0 || rename(w->temporary, w->path) != 0) {
            st = cannot_write(w);
            goto done;
        }
        okra_free_(w->temporary);
        w->temporary = NULL;
        sync_folder(w->path);
    }
done:
    okra_writer_abort_(w);
    return st;
}

void okra_writer_abort_(okra_writer_ *w)
{
    if (!w) {
        return;
    }
    if (w->fd >= 0 && w->fd != STDOUT_FILENO) {
        close(w->fd);
    }
    if (w->temporary) {
        unlink(w->temporary);
    }
    FREE(w->temporary, w->path, w);
}
