/*
 * text_files.c: text files that are written whole or not at all.
 */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct cli_file {
    FILE *stream;
    char *path;      /* NULL for standard output                         */
    char *temporary; /* NULL: a device or a pipe, which is written itself */
    bool silent;     /* of a process that does not talk */
};

static void forget(cli_file *file)
{
    free(file->path);
    free(file->temporary);
    free(file);
}

/* What a symbolic link names, so that the link stays; `path` itself where it is none. */
static const char *follow(const char *path, char buffer[PATH_MAX])
{
    struct stat found;
    if (lstat(path, &found) != 0 || !S_ISLNK(found.st_mode)) {
        return path;
    }
    if (realpath(path, buffer)) {
        return buffer;
    }
    /* It names nothing yet. */
    char target[PATH_MAX];
    ssize_t length = readlink(path, target, sizeof target - 1);
    const char *slash = strrchr(path, '/');
    if (length < 0) {
        return path;
    }
    target[length] = '\0';
    bool beside = *target != '/' && slash;
    int size = snprintf(buffer, PATH_MAX, "%.*s%s", beside ? (int)(slash + 1 - path) : 0,
                        path, target);
    return size < PATH_MAX ? buffer : path;
}

/* The permissions of the file that is replaced, or those of a new one. */
static mode_t permissions(const char *path)
{
    struct stat found;
    if (stat(path, &found) == 0) {
        return found.st_mode & 0777 & ~(found.st_gid == getegid() ? 0 : (mode_t)070);
    }
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* The stream of a new file beside the target, or that of a target that is no file. */
static bool open_stream(cli_file *file)
{
    struct stat found;
    size_t size = strlen(file->path) + 12;
    bool there = stat(file->path, &found) == 0;
    if (there && S_ISDIR(found.st_mode)) {
        errno = EISDIR;
        return false;
    }
    if (there && !S_ISREG(found.st_mode)) {
        int fd = open(file->path, O_WRONLY | O_CLOEXEC);
        return fd >= 0 && (file->stream = fdopen(fd, "w"));
    }
    if (!(file->temporary = malloc(size))) {
        return false;
    }
    snprintf(file->temporary, size, "%s.tmpXXXXXX", file->path);
    int fd = mkstemp(file->temporary);
    if (fd >= 0 && fchmod(fd, permissions(file->path)) == 0 &&
        (file->stream = fdopen(fd, "w"))) {
        return true;
    }
    int why = errno;
    if (fd >= 0) {
        close(fd);
        unlink(file->temporary);
    }
    errno = why;
    return false;
}

cli_file *cli_file_open(const cli_run *run, const char *path)
{
    char buffer[PATH_MAX];
    cli_file *file = calloc(1, sizeof *file);
    bool direct = strcmp(path, "-") == 0, talks = okra_context_is_primary(run->context);
    if (file &&
        (direct || !talks)) { /* of a process that does not talk it goes nowhere */
        file->stream = stdout;
        file->silent = !direct;
        return file;
    }
    if (!file || !(file->path = strdup(follow(path, buffer)))) {
        cli_failure(run, "out of memory");
    } else if (open_stream(file)) {
        return file;
    } else {
        cli_failure(run, "%s: %s", file->path, strerror(errno));
    }
    if (file) {
        forget(file);
    }
    return NULL;
}

FILE *cli_file_stream(cli_file *file)
{
    return file->stream;
}

int cli_file_close(const cli_run *run, cli_file *file, int status)
{
    if (status == CLI_DONE && cli_json_lost()) {
        status = cli_failure(run, "%s: out of memory", file->path ? file->path : "-");
    }
    if (status == CLI_DONE && file->silent) {
        status =
            cli_status(run, okra_context_finish_together(run->context, OKRA_OK, NULL));
    }
    if (file->path) {
        bool good = fflush(file->stream) == 0 && !ferror(file->stream) &&
                    (!file->temporary || fsync(fileno(file->stream)) == 0);
        good = fclose(file->stream) == 0 && good;
        if (status == CLI_DONE && good) {
            status = cli_status(
                run, okra_context_finish_together(run->context, OKRA_OK, NULL));
        }
        if (status == CLI_DONE && good && file->temporary &&
            rename(file->temporary, file->path) != 0) {
            good = false;
        }
        if (status == CLI_DONE && !good) {
            status = cli_failure(run, "%s: %s", file->path, strerror(errno));
        }
        if (status != CLI_DONE && file->temporary) {
            unlink(file->temporary);
        }
    }
    forget(file);
    return status;
}
