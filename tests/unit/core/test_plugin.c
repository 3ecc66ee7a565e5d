/* Files beside the program that okra is linked into. */
#include "harness.h"

#include <sys/stat.h>
#include <unistd.h>

TEST(folder)
{
    char *folder = NULL, program[4096] = "";
    CHECK(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    *strrchr(program, '/') = '\0';
    /* Whatever the current directory is. */
    CHECK(chdir("/") == 0);
    CHECK_OK(okra_library_folder_(&folder));
    CHECK_TEXT(folder, program);
    okra_free_(folder);
    CHECK_ALLOCATIONS(okra_library_folder_(&folder), okra_free_(folder));
}

TEST(file)
{
    char *path = NULL, *folder = NULL, name[64], full[4200], inner[4200];
    CHECK_OK(okra_library_folder_(&folder));
    snprintf(name, sizeof name, "okra-plugin-test-%d", (int)getpid());
    CHECK_FAILS(okra_library_file_(name, &path), OKRA_EUNSUPPORTED,
                "or in its subfolder okra");
    snprintf(full, sizeof full, "%s/okra", folder);
    bool made = mkdir(full, 0700) == 0;
    snprintf(inner, sizeof inner, "%s/okra/%s", folder, name);
    FILE *f = fopen(inner, "w");
    CHECK(f != NULL);
    fclose(f);
    CHECK_OK(okra_library_file_(name, &path));
    CHECK_TEXT(path, inner);
    okra_free_(path);
    CHECK_ALLOCATIONS(okra_library_file_(name, &path), okra_free_(path));
    /* beside it comes first, and a folder is no file */
    snprintf(full, sizeof full, "%s/%s", folder, name);
    CHECK(mkdir(full, 0700) == 0);
    CHECK_OK(okra_library_file_(name, &path));
    CHECK_TEXT(path, inner);
    okra_free_(path);
    CHECK(rmdir(full) == 0 && rename(inner, full) == 0);
    CHECK_OK(okra_library_file_(name, &path));
    CHECK_TEXT(path, full);
    okra_free_(path);
    CHECK(unlink(full) == 0);
    snprintf(full, sizeof full, "%s/okra", folder);
    CHECK(!made || rmdir(full) == 0);
    okra_free_(folder);
}

MAIN(RUN(folder), RUN(file))
