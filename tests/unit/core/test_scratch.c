/* Arrays that may be larger than memory: in memory, in a file, and where neither does. */
#include "harness.h"

#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static okra_context *context_of(okra_int bytes)
{
    okra_context *ctx = NULL;
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_memory(ctx, okra_account_bytes_(ctx) + bytes));
    return ctx;
}

/* Rows in an order that is not theirs, and one of them twice. */
static void check_rows(okra_context *ctx, bool file)
{
    enum { ROWS = 7, COLS = 3 };
    double rows[ROWS * COLS];
    okra_scratch_ s = {0};
    CHECK_OK(okra_scratch_create_(ctx, ROWS, COLS, "a toy", &s));
    CHECK((s.file != 0) == file && (s.memory == NULL) == file);
    for (okra_int i = 0; i < ROWS * COLS; i++) {
        rows[i] = (double)i / 3;
    }
    CHECK_OK(okra_scratch_write_(&s, 0, 2, rows + 2 * COLS));
    CHECK_OK(okra_scratch_write_(&s, 4, 3, rows + 4 * COLS));
    CHECK_OK(okra_scratch_write_(&s, 0, 4, rows));
    CHECK_OK(okra_scratch_write_(&s, 7, 0, rows));
    CHECK(harness_relative(ROWS * COLS, s.p, rows) == 0);
    okra_scratch_clear_(&s);
    CHECK(s.p == NULL && s.file == 0);
    okra_scratch_clear_(&s);
}

TEST(a_quarter_of_what_is_left_is_memory)
{
    okra_context *large = context_of(4 * 21 * 8);
    check_rows(large, false);
    okra_context_free(large);
    okra_context *small = context_of(4 * 21 * 8 - 4);
    check_rows(small, true);
    okra_scratch_ s = {0};
    CHECK_OK(okra_scratch_create_(small, 0, 5, "nothing", &s));
    CHECK(s.file == 0);
    okra_scratch_clear_(&s);
    CHECK_FAILS(okra_scratch_create_(small, INT64_MAX / 2, 1000, "a giant", &s),
                OKRA_EBUDGET, "a giant of");
    okra_context_free(small);
}

static okra_int entries(const char *folder)
{
    okra_int count = 0;
    DIR *d = opendir(folder);
    while (d && readdir(d)) {
        count++;
    }
    if (d) {
        closedir(d);
    }
    return count;
}

TEST(files_have_no_name_and_go_where_tmpdir_says)
{
    char folder[] = "/tmp/okra-scratch-XXXXXX";
    const char *usual = getenv("TMPDIR");
    CHECK(mkdtemp(folder) != NULL);
    okra_context *ctx = context_of(100000);
    okra_scratch_ s = {0};
    setenv("TMPDIR", folder, 1);
    CHECK_OK(okra_scratch_create_(ctx, 10000, 10, "a toy", &s));
    CHECK(s.file != 0 && entries(folder) == 2); /* . and .. */
    struct stat info;
    CHECK(fstat(s.file - 1, &info) == 0 && info.st_size == 800000);
    CHECK(info.st_blocks * 512 >= 800000); /* claimed, not a hole */
    okra_scratch_clear_(&s);
    CHECK_ALLOCATIONS(okra_scratch_create_(ctx, 10000, 10, "a toy", &s),
                      okra_scratch_clear_(&s));
    setenv("TMPDIR", "/nowhere/at/all", 1);
    CHECK_FAILS(okra_scratch_create_(ctx, 10000, 10, "a toy", &s), OKRA_EIO,
                "no file can be created in /nowhere/at/all (TMPDIR): No such file");
    unsetenv("TMPDIR");
    CHECK_OK(okra_scratch_create_(ctx, 10000, 10, "a toy", &s));
    okra_scratch_clear_(&s);
    if (usual) {
        setenv("TMPDIR", usual, 1);
    }
    rmdir(folder);
    okra_context_free(ctx);
}

/* A disk that is too small, as the limit on the size of files gives it. */
TEST(no_room)
{
    struct rlimit usual, small;
    okra_context *ctx = context_of(100000);
    okra_scratch_ s = {0};
    CHECK(getrlimit(RLIMIT_FSIZE, &usual) == 0);
    small = usual;
    small.rlim_cur = 799999;
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHECK_FAILS(okra_scratch_create_(ctx, 10000, 10, "a toy", &s), OKRA_EIO,
                "(TMPDIR) does not take its 800000 bytes: File too large");
    small.rlim_cur = 800000;
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHECK_OK(okra_scratch_create_(ctx, 10000, 10, "a toy", &s));
    okra_scratch_clear_(&s);
    CHECK(setrlimit(RLIMIT_FSIZE, &usual) == 0);
    okra_context_free(ctx);
}

TEST(a_file_that_cannot_be_written)
{
    okra_context *ctx = context_of(100000);
    okra_scratch_ s = {0};
    double row[10] = {0};
    CHECK_OK(okra_scratch_create_(ctx, 10000, 10, "a toy", &s));
    okra_scratch_ bad = s;
    bad.file = 1 + 12345;
    CHECK_FAILS(okra_scratch_write_(&bad, 0, 1, row), OKRA_EIO,
                "a file in TMPDIR cannot be written: Bad file descriptor");
    okra_scratch_clear_(&s);
    okra_context_free(ctx);
}

MAIN(RUN(a_quarter_of_what_is_left_is_memory),
     RUN(files_have_no_name_and_go_where_tmpdir_says), RUN(no_room),
     RUN(a_file_that_cannot_be_written))
