/*
 * writer.c: files that appear whole or not at all.
 *
 * Bytes go to a temporary file in the target's folder; commit syncs it, renames it over
 * the target and syncs the folder, so that a crash leaves either the old file or the new
 * one. A temporary file is locked while its writer lives; the next writer of that name
 * removes those that nobody locks.
 *
 * A target that is a symbolic link stays one: the file that it names is replaced. Whether
 * it may be followed is the system's to say; a link (to a folder on the way, too) or pipe
 * in a sticky folder that belongs to somebody else than the caller and the folder's owner
 * is refused on systems that follow it. A target that is there keeps its permissions,
 * owner and group where the system allows it; where not, nobody may read the new file who
 * could not read the old one. Standard output ("-") and targets that are not plain files
 * (a pipe, a terminal) are written directly, for there is nothing to rename.
 */
#include "data/data.h"
#include "okra/more/group.h"
#include "okra/program.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 1 << 16, LINE = 512, ATTEMPTS = 100, LINKS = 40 };
/* Behind the name of a temporary file: ".xxxxxxxx.tmp". */
enum { TAIL = 13, STEM_MOST = NAME_MAX - TAIL };

struct okra_writer_ {
    okra_context *ctx;
    int fd, folder;               /* the target's folder; AT_FDCWD: none is open */
    char *path;                   /* as it was given                    */
    char *name;                   /* of the target in its folder        */
    char temporary[NAME_MAX + 1]; /* "": there is none        */
    okra_int position;
    size_t used; /* of the buffer */
    unsigned char buffer[BUFFER];
};

static const char *shown(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard output" : path;
}

/* OKRA_EIO at once, with what the system says, unless it did what it was asked for. */
#define MUST(w, done)                                                           \
    REFUSE_IF(!(done), OKRA_EIO, "%s: cannot be written: %s", shown((w)->path), \
              strerror(errno))

/* ---- the target ---- */

/* What a stranger put into a folder where everybody may, and which he may lead astray. */
static okra_status refuse_strangers(const okra_writer_ *w, int fd,
                                    const struct stat *found)
{
    struct stat folder;
    MUST(w, fstat(fd, &folder) == 0);
    bool open_to_all = folder.st_mode & S_ISVTX && folder.st_mode & 022;
    REFUSE_IF(open_to_all && found->st_uid != geteuid() && found->st_uid != folder.st_uid,
              OKRA_EIO,
              "%s: cannot be written: another user put a %s there, in a folder that all "
              "may write to",
              w->path, S_ISLNK(found->st_mode) ? "symbolic link" : "pipe");
    return OKRA_OK;
}

/* Goes from the folder *fd into that of `path`, which ends with its name: step by step,
 * for each folder on the way may be a link. */
static okra_status walk(const okra_writer_ *w, int links, const char *path, int *fd)
{
    char step[NAME_MAX + 1], next[PATH_MAX];
    for (size_t used = 0;; path += used + strspn(path + used, "/")) {
        struct stat found;
        used = *path == '/' ? 1 : strcspn(path, "/");
        if (path[used] == '\0' && *path != '/') {
            return OKRA_OK;
        }
        errno = used > NAME_MAX ? ENAMETOOLONG : links == 0 ? ELOOP : 0;
        snprintf(step, sizeof step, "%.*s", (int)OKRA_MIN_(used, NAME_MAX), path);
        MUST(w, !(errno != 0 || fstatat(*fd, step, &found, AT_SYMLINK_NOFOLLOW) != 0));
        if (S_ISLNK(found.st_mode)) {
            CHK(refuse_strangers(w, *fd, &found));
            ssize_t length = readlinkat(*fd, step, next, sizeof next - 2);
            MUST(w, length >= 0);
            memcpy(next + length, "/", 2);
            CHK(walk(w, links - 1, next, fd));
            continue;
        }
        int inner = openat(*fd, step, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        MUST(w, inner >= 0);
        close(*fd);
        *fd = inner;
    }
}

/* Opens the folder of a path, which is relative to the folder at hand. */
static okra_status enter(okra_writer_ *w, const char *path)
{
    const char *slash = strrchr(path, '/');
    OWNED char *name = okra_strdup_(slash ? slash + 1 : path);
    GOT(name);
    int fd = openat(w->folder, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    MUST(w, fd >= 0);
    if (w->folder >= 0) {
        close(w->folder);
    }
    w->folder = fd;
    CHK(walk(w, LINKS, path, &w->folder));
    /* Where files may be made, not listed, it stays as it is. */
    fd = openat(w->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        close(w->folder);
        w->folder = fd;
    }
    okra_free_(w->name);
    w->name = TAKE(name);
    return OKRA_OK;
}

/* What lies there under the target's name; *here is false where nothing does. */
static okra_status look(const okra_writer_ *w, struct stat *found, bool *here)
{
    *here = fstatat(w->folder, w->name, found, AT_SYMLINK_NOFOLLOW) == 0;
    MUST(w, *here || errno == ENOENT);
    bool leads = *here && (S_ISLNK(found->st_mode) || S_ISFIFO(found->st_mode));
    return leads ? refuse_strangers(w, w->folder, found) : OKRA_OK;
}

/* Goes on to the plain file that a path names through links to links, or will name.
 * `there`: the system found `target` so; *same is false where that is no longer true. */
static okra_status follow(okra_writer_ *w, bool there, const struct stat *target,
                          bool *same)
{
    char next[PATH_MAX];
    struct stat found;
    bool here = false;
    for (int links = 0; links < LINKS; links++) {
        CHK(look(w, &found, &here));
        if (!here || !S_ISLNK(found.st_mode)) {
            *same = here == there && (!here || (found.st_ino == target->st_ino &&
                                                found.st_dev == target->st_dev));
            return OKRA_OK;
        }
        ssize_t length = readlinkat(w->folder, w->name, next, sizeof next - 1);
        MUST(w, length >= 0);
        next[length] = '\0';
        CHK(enter(w, next));
    }
    return okra_fail_(OKRA_EIO, "%s: cannot be written: too many symbolic links",
                      w->path);
}

/* ---- the temporary file ---- */

/* Owner, group and permissions of the file that is replaced. Where owner or group cannot
 * stay, who was of them may do no more than before. */
static bool take_permissions(int fd, const struct stat *old)
{
    struct stat now;
    if (fchown(fd, old->st_uid, old->st_gid) != 0 &&
        fchown(fd, (uid_t)-1, old->st_gid) != 0 && errno != EPERM) {
        return false;
    }
    if (fstat(fd, &now) != 0) {
        return false;
    }
    mode_t mode = old->st_mode & 0777, user = mode >> 6, group = mode >> 3 & 7;
    if (now.st_gid != old->st_gid) {
        mode &= 0700 | group;
    }
    if (now.st_uid != old->st_uid) {
        mode &= 0700 | user << 3 | user;
    }
    return fchmod(fd, mode) == 0;
}

/* The beginning of names of temporary files: the target's, cut where it is too long. */
static size_t stem_of(const char *name)
{
    size_t length = strlen(name);
    if (length > STEM_MOST) {
        length = STEM_MOST;
        while (length > 0 && (name[length] & 0xc0) == 0x80) { /* within a character */
            length--;
        }
    }
    return length;
}

static bool is_temporary(const char *entry, const char *name, size_t stem)
{
    return strlen(entry) == stem + TAIL && memcmp(entry, name, stem) == 0 &&
           entry[stem] == '.' && strspn(entry + stem + 1, "0123456789abcdef") == 8 &&
           strcmp(entry + stem + 9, ".tmp") == 0;
}

/* Removes temporary files of writers that were killed: plain files of the caller that
 * nobody has locked. */
static void sweep(const okra_writer_ *w)
{
    size_t stem = stem_of(w->name);
    int fd = openat(w->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *e; folder && (e = readdir(folder));) {
        struct stat info;
        int file = is_temporary(e->d_name, w->name, stem)
                       ? openat(w->folder, e->d_name,
                                O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
                       : -1;
        if (file >= 0) {
            if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) &&
                info.st_uid == geteuid() && flock(file, LOCK_EX | LOCK_NB) == 0) {
                unlinkat(w->folder, e->d_name, 0);
            }
            close(file);
        }
    }
    if (folder) {
        closedir(folder);
    } else if (fd >= 0) {
        close(fd);
    }
}

/* Locks the file; false where a sweep was faster. File systems without locks do not
 * sweep. */
static bool keep(int fd)
{
    struct stat info;
    bool free = flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    return free && fstat(fd, &info) == 0 && info.st_nlink > 0;
}

/* Opens a fresh file beside the target; its permissions are those of `old`, or follow the
 * umask where there is none. */
static okra_status open_temporary(okra_writer_ *w, const struct stat *old)
{
    sweep(w);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        uint64_t random = 0;
        if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) {
            random = (uint64_t)getpid() + (uint64_t)attempt;
        }
        snprintf(w->temporary, sizeof w->temporary, "%.*s.%08llx.tmp",
                 (int)stem_of(w->name), w->name, (unsigned long long)random >> 32);
        w->fd = openat(w->folder, w->temporary,
                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                       old ? 0600 : 0666);
        if (w->fd >= 0 && keep(w->fd)) {
            MUST(w, !old || take_permissions(w->fd, old));
            return OKRA_OK;
        }
        if (w->fd >= 0) {
            close(w->fd);
            w->fd = -1;
            errno = EEXIST;
        }
        w->temporary[0] = '\0';
        if (errno != EEXIST) {
            break;
        }
    }
    MUST(w, false);
    return OKRA_OK;
}

okra_status okra_writer_open_(const char *path, okra_writer_ **out)
{
    return okra_writer_join_(NULL, path, out);
}

/* Another writer of that name may be faster: then what lies there is looked at again. */
static okra_status join(okra_context *ctx, const char *path, int attempt,
                        okra_writer_ **out)
{
    FREED_BY(okra_writer_drop_) okra_writer_ *w = NULL;
    struct stat info;
    MAKE(w, 1);
    *w = (okra_writer_){.ctx = ctx, .fd = -1, .folder = AT_FDCWD};
    path = okra_context_is_primary(ctx) ? path : "/dev/null";
    GOT(w->path = okra_strdup_(path));
    if (strcmp(path, "-") == 0) {
        w->fd = STDOUT_FILENO;
        *out = TAKE(w);
        return OKRA_OK;
    }
    bool there = stat(path, &info) == 0, same = true;
    MUST(w, there || errno == ENOENT);
    REFUSE_IF(there && S_ISDIR(info.st_mode), OKRA_EIO,
              "%s: cannot be written: it is a directory", path);
    CHK(enter(w, path));
    if (!there || S_ISREG(info.st_mode)) {
        CHK(follow(w, there, &info, &same));
        if (!same && attempt < ATTEMPTS) {
            return join(ctx, path, attempt + 1, out);
        }
        REFUSE_IF(!same, OKRA_EIO, "%s: cannot be written: it changed meanwhile", path);
        CHK(open_temporary(w, there ? &info : NULL));
    } else {
        CHK(look(w, &info, &there));
        w->fd = open(path, O_WRONLY | O_CLOEXEC);
        MUST(w, w->fd >= 0);
    }
    *out = TAKE(w);
    return OKRA_OK;
}

okra_status okra_writer_join_(okra_context *ctx, const char *path, okra_writer_ **out)
{
    return join(ctx, path, 0, out);
}

static okra_status flush(okra_writer_ *w, const unsigned char *p, size_t size)
{
    while (size > 0) {
        ssize_t wrote = write(w->fd, p, size);
        MUST(w, wrote >= 0 || errno == EINTR);
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
    MUST(w, length >= 0);
    okra_status st = text ? okra_writer_put_(w, text, (size_t)length) : OKRA_EMEM;
    if (text != line) {
        okra_free_(text);
    }
    return st;
}

okra_int okra_writer_position_(const okra_writer_ *w)
{
    return w->position;
}

okra_status okra_file_open(okra_context *context, const char *path, okra_file **out,
                           int *fd)
{
    NOT_NULL(path, out, fd);
    CHK(okra_writer_join_(context, path, out));
    *fd = (*out)->fd;
    return OKRA_OK;
}

okra_status okra_file_close(okra_file *file, bool keep)
{
    NOT_NULL(file);
    if (keep) {
        return okra_writer_commit_(file);
    }
    okra_writer_abort_(file);
    return OKRA_OK;
}

okra_status okra_writer_commit_(okra_writer_ *writer)
{
    FREED_BY(okra_writer_drop_) okra_writer_ *w = writer;
    CHK(okra_guard_settle_()); /* what was written may be wrong */
    CHK(flush(w, w->buffer, w->used));
    w->used = 0;
    CHK(okra_context_finish_together(w->ctx, OKRA_OK, NULL));
    if (w->temporary[0]) {
        MUST(w, fsync(w->fd) == 0 &&
                    renameat(w->folder, w->temporary, w->folder, w->name) == 0);
        w->temporary[0] = '\0';
        /* Makes the rename itself durable. Some file systems refuse to sync a folder: the
         * file is then whole all the same, so that is no error. */
        (void)fsync(w->folder);
    }
    return OKRA_OK;
}

void okra_writer_abort_(okra_writer_ *w)
{
    if (!w) {
        return;
    }
    if (w->temporary[0]) {
        unlinkat(w->folder, w->temporary, 0);
    }
    if (w->fd >= 0 && w->fd != STDOUT_FILENO) {
        close(w->fd);
    }
    if (w->folder >= 0) {
        close(w->folder);
    }
    FREE(w->name, w->path, w);
}
