/* The folder of the program that okra is linked into. */
#include "harness.h"

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

MAIN(RUN(folder))
