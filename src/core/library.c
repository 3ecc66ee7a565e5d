/*
 * library.c: the folder of the file that this code was loaded from (libokra.so, or a
 * program that okra is linked into), where engines are looked for.
 *
 * The kernel's map of this process names that file in full; what the loader was given may
 * be relative to a current directory of the past. Neither the current directory nor a
 * variable of the environment is asked.
 */
#include "core/core.h"
#include "okra/version.h"
#include "build_info.h"

enum { LINE = PATH_MAX + 128 };

/* "begin-end perms offset device inode   path\n": its path where `at` lies within. */
static const char *path_of(char *line, uintptr_t at)
{
    uintptr_t begin, end;
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &begin, &end) != 2 || at < begin ||
        at >= end) {
        return NULL;
    }
    line[strcspn(line, "\n")] = '\0';
    return strchr(line, '/');
}

okra_status okra_library_folder_(char **out)
{
    char line[LINE];
    const char *path = NULL;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && !path && fgets(line, sizeof line, maps)) {
        path = path_of(line, (uintptr_t)&okra_library_folder_);
    }
    if (maps) {
        fclose(maps);
    }
    REFUSE_IF(!path, OKRA_EUNSUPPORTED,
              "the folder of the okra library is not known: "
              "/proc/self/maps does not name it");
    char *folder = okra_strndup_(path, (size_t)(strrchr(path, '/') - path));
    GOT(folder);
    *out = folder;
    return OKRA_OK;
}

/* ---- which okra this is, and what is built in ---- */

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "GCC " __VERSION__
#endif

const char *okra_version(void)
{
    return OKRA_VERSION;
}

const char *okra_build_info(void)
{
    return "version: " OKRA_VERSION "\n"
           "compiler: " COMPILER "\n" OKRA_BUILD_INFO;
}
