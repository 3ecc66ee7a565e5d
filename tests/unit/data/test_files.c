/* Whole files: read by mapping, reading and from pipes; written whole or not at all. */
#include "data/data.h"
#include "files.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>

TEST(bytes)
{
    okra_bytes_ bytes = {0};
    CHECK_OK(okra_bytes_open_(NULL, files_make("small", "hello", 5), &bytes));
    CHECK(bytes.size == 5 && !bytes.mapped && memcmp(bytes.p, "hello", 5) == 0);
    okra_bytes_close_(&bytes);
    CHECK(bytes.p == NULL);
    CHECK_OK(okra_bytes_open_(NULL, files_make("empty", "", 0), &bytes));
    CHECK(bytes.size == 0);
    okra_bytes_close_(&bytes);
    size_t size = 3 << 20;
    char *big = malloc(size);
    memset(big, 'x', size);
    CHECK_OK(okra_bytes_open_(NULL, files_make("big", big, size), &bytes));
    CHECK(bytes.size == (okra_int)size && !bytes.mapped);
    CHECK(memcmp(bytes.p, big, size) == 0);
    okra_bytes_close_(&bytes);
    free(big);
    CHECK_FAILS(okra_bytes_open_(NULL, "/nowhere/x", &bytes), OKRA_EIO,
                "/nowhere/x: cannot be opened: No such file or directory");
    CHECK_FAILS(okra_bytes_open_(NULL, "/tmp", &bytes), OKRA_EIO,
                "/tmp: is a directory; expected a file");
    /* A file of the proc system has size 0 but content. */
    CHECK_OK(okra_bytes_open_(NULL, "/proc/self/stat", &bytes));
    CHECK(bytes.size > 10);
    okra_bytes_close_(&bytes);
    /* Reading fails after opening succeeded: this one has no page at address 0. */
    CHECK_FAILS(okra_bytes_open_(NULL, "/proc/self/mem", &bytes), OKRA_EIO,
                "/proc/self/mem: cannot be read: Input/output error");
    files_clean();
}

/* A file without read permission: root reads it all the same, so a child without root's
 * rights tries; where there is nobody to become, the test says so. */
TEST(no_permission)
{
    okra_bytes_ bytes = {0};
    const char *path = files_make("secret", "x", 1);
    chmod(files_folder, 0755);
    chmod(path, 0);
    if (geteuid() == 0 && seteuid(65534) != 0) {
        files_clean();
        SKIP("root, and no other user to become");
    }
    CHECK_FAILS(okra_bytes_open_(NULL, path, &bytes), OKRA_EIO,
                "secret: cannot be opened: Permission denied");
    okra_writer_ *w = NULL;
    chmod(files_folder, 0555);
    if (getuid() == 0 && seteuid(0) == 0) {
        chmod(files_folder, 0555);
        CHECK(seteuid(65534) == 0);
    }
    CHECK_FAILS(okra_writer_open_(files_path("new"), &w), OKRA_EIO,
                "new: cannot be written: Permission denied");
    if (getuid() == 0) {
        CHECK(seteuid(0) == 0);
    }
    chmod(files_folder, 0755);
    files_clean();
}

TEST(pipes)
{
    okra_bytes_ bytes = {0};
    int ends[2];
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        char block[1000];
        memset(block, 'y', sizeof block);
        for (int k = 0; k < 300; k++) {
            if (write(ends[1], block, sizeof block) < 0) {
                _exit(1);
            }
        }
        _exit(0);
    }
    close(ends[1]);
    int kept = dup(0);
    dup2(ends[0], 0);
    CHECK_OK(okra_bytes_open_(NULL, "-", &bytes));
    dup2(kept, 0);
    close(kept);
    close(ends[0]);
    waitpid(child, NULL, 0);
    CHECK(bytes.size == 300000 && bytes.p[299999] == 'y');
    okra_bytes_close_(&bytes);
    /* More than the budget allows: refused while it grows. */
    okra_context *context = NULL;
    CHECK_OK(okra_context_create(&context));
    CHECK_OK(okra_context_set_memory(context, 100000));
    CHECK_FAILS(okra_bytes_open_(context, "/dev/zero", &bytes), OKRA_EBUDGET,
                "/dev/zero: the file's content needs");
    CHECK_FAILS(
        okra_bytes_open_(context, files_make("f", (char[200000]){0}, 200000), &bytes),
        OKRA_EBUDGET, "the file's content needs");
    okra_context_free(context);
    files_clean();
}

static okra_status write_file(const char *path, const char *text, bool commit)
{
    okra_status st = OKRA_OK;
    okra_writer_ *w = NULL;
    TRY(okra_writer_open_(path, &w));
    TRY(okra_writer_put_(w, text, strlen(text)));
    TRY(okra_writer_printf_(w, " %d%s", 7, "!"));
    if (commit) {
        okra_writer_ *file = w;
        w = NULL;
        TRY(okra_writer_commit_(file));
    }
done:
    okra_writer_abort_(w);
    return st;
}

static bool file_is(const char *name, const char *want)
{
    okra_bytes_ bytes = {0};
    if (okra_bytes_open_(NULL, files_path(name), &bytes) != OKRA_OK) {
        return false;
    }
    bool same =
        bytes.size == (okra_int)strlen(want) && memcmp(bytes.p, want, strlen(want)) == 0;
    okra_bytes_close_(&bytes);
    return same;
}

TEST(writer)
{
    struct stat info;
    mode_t before = umask(027);
    CHECK_OK(write_file(files_path("a"), "one", true));
    umask(before);
    CHECK(file_is("a", "one 7!") && files_count() == 1);
    CHECK(stat(files_path("a"), &info) == 0 && (info.st_mode & 0777) == 0640);
    CHECK_OK(write_file(files_path("a"), "two", false)); /* abandoned */
    CHECK(file_is("a", "one 7!") && files_count() == 1);
    CHECK_OK(write_file(files_path("a"), "two", true));
    CHECK(file_is("a", "two 7!") && files_count() == 1);
    CHECK_FAILS(write_file("/tmp", "x", true), OKRA_EIO,
                "/tmp: cannot be written: it is a directory");
    CHECK_FAILS(write_file("/nowhere/x", "x", true), OKRA_EIO,
                "/nowhere/x: cannot be written: No such file or directory");
    CHECK_OK(write_file("/dev/null", "x", true));
    CHECK_FAILS(write_file("/dev/full", "x", true), OKRA_EIO,
                "/dev/full: cannot be written: No space left on device");
    okra_writer_abort_(NULL);
    CHECK_ALLOCATIONS(write_file(files_path("b"), "x", true), (void)0);
    CHECK(files_count() == 2);
    files_clean();
}

/* What is replaced keeps its permissions; a link stays a link. */
TEST(what_is_there)
{
    struct stat info;
    char link[600], far[600], round[600];
    mode_t before = umask(022);
    CHECK_OK(write_file(files_path("a"), "one", true));
    CHECK(chmod(files_path("a"), 0600) == 0);
    snprintf(link, sizeof link, "%s", files_path("link"));
    snprintf(far, sizeof far, "%s", files_path("far"));
    snprintf(round, sizeof round, "%s", files_path("round"));
    CHECK(symlink("a", link) == 0 && symlink(link, far) == 0);
    CHECK_OK(write_file(far, "two", true));
    CHECK(file_is("a", "two 7!") && files_count() == 3);
    CHECK(stat(files_path("a"), &info) == 0 && (info.st_mode & 0777) == 0600);
    CHECK(lstat(far, &info) == 0 && S_ISLNK(info.st_mode));
    CHECK(unlink(files_path("a")) == 0); /* links that name nothing yet */
    CHECK_OK(write_file(far, "three", true));
    CHECK(file_is("a", "three 7!") && files_count() == 3);
    CHECK(stat(files_path("a"), &info) == 0 && (info.st_mode & 0777) == 0644);
    CHECK(symlink("round", round) == 0);
    CHECK_FAILS(write_file(round, "x", true), OKRA_EIO,
                "cannot be written: Too many levels of symbolic links");
    CHECK_ALLOCATIONS(write_file(far, "four", true), (void)0);
    umask(before);
    files_clean();
}

/* Pieces larger and smaller than the buffer arrive in order; the position counts. */
TEST(pieces)
{
    okra_writer_ *w = NULL;
    size_t size = 200000;
    char *text = malloc(size + 1);
    for (size_t k = 0; k < size; k++) {
        text[k] = (char)('a' + k % 26);
    }
    text[size] = '\0';
    CHECK_OK(okra_writer_open_(files_path("p"), &w));
    CHECK_OK(okra_writer_put_(w, text, 10));
    CHECK_OK(okra_writer_put_(w, text + 10, 100000));
    CHECK_OK(okra_writer_printf_(w, "%.*s", 1990, text + 100010));
    CHECK_OK(okra_writer_put_(w, NULL, 0));
    CHECK_OK(okra_writer_put_(w, text + 102000, size - 102000));
    CHECK(okra_writer_position_(w) == (okra_int)size);
    CHECK_OK(okra_writer_commit_(w));
    CHECK(file_is("p", text));
    free(text);
    files_clean();
}

/* The target's folder vanishes before the commit: an error, and nothing is left. */
TEST(commit_fails)
{
    okra_writer_ *w = NULL;
    char path[600];
    snprintf(path, sizeof path, "%s", files_path("gone"));
    CHECK_OK(okra_writer_open_(path, &w));
    CHECK_OK(okra_writer_put_(w, "x", 1));
    CHECK(mkdir(path, 0700) == 0);
    char inner[700];
    snprintf(inner, sizeof inner, "%s/inner", path);
    CHECK(mkdir(inner, 0700) == 0);
    CHECK_FAILS(okra_writer_commit_(w), OKRA_EIO,
                "gone: cannot be written: Is a directory");
    CHECK(files_count() == 1);
    rmdir(inner);
    files_clean();
}

/* Several processes write one name, which comes and goes: each writes it whole. */
TEST(writers_of_one_name)
{
    enum { CHILDREN = 3, TIMES = 200 };
    char path[600];
    snprintf(path, sizeof path, "%s", files_path("shared"));
    pid_t child[CHILDREN];
    for (int c = 0; c < CHILDREN; c++) {
        child[c] = fork();
        if (child[c] == 0) {
            int failed = 0;
            for (int i = 0; i < TIMES; i++) {
                okra_writer_ *w = NULL;
                failed += okra_writer_open_(path, &w) != OKRA_OK ||
                          okra_writer_put_(w, "whole", 5) != OKRA_OK ||
                          okra_writer_commit_(w) != OKRA_OK;
                unlink(path);
            }
            _exit(failed > 0);
        }
    }
    for (int c = 0; c < CHILDREN; c++) {
        int status = 0;
        CHECK(waitpid(child[c], &status, 0) == child[c]);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    CHECK(files_count() == 0);
}

MAIN(RUN(bytes), RUN(no_permission), RUN(pipes), RUN(writer), RUN(what_is_there),
     RUN(pieces), RUN(commit_fails), RUN(writers_of_one_name))
