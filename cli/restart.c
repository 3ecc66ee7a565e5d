/*
 * restart.c: the right code of the matrix library.
 *
 * OpenBLAS chooses its code when it is loaded, before main. Where it took that of a very
 * old processor because it does not know this one (okra_blas_core), the program sets
 * OPENBLAS_CORETYPE and starts itself again with the same arguments; OKRA_RESTARTED keeps
 * it from doing so twice. Where that cannot be done the library warns.
 *
 * The program is started by its path, so that the process keeps its name; where the file
 * was deleted or replaced meanwhile, by the kernel's link to what runs.
 */
#include "cli.h"
#include "okra/program.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether it was started as `ld.so okra ...`, whose arguments are not the program's. */
static bool through_loader(const char *file)
{
    const char *name = strrchr(file, '/');
    return name && strncmp(name, "/ld-", 4) == 0;
}

void cli_restart(char **argv)
{
    const char *better;
    char file[PATH_MAX] = "";
    okra_blas_core(&better);
    if (!better || getenv("OKRA_RESTARTED") ||
        readlink("/proc/self/exe", file, sizeof file - 1) <= 0 || through_loader(file) ||
        setenv("OPENBLAS_CORETYPE", better, 1) != 0 ||
        setenv("OKRA_RESTARTED", "1", 1) != 0) {
        return;
    }
    execv(file, argv);
    execv("/proc/self/exe", argv);
    unsetenv("OPENBLAS_CORETYPE"); /* it did not work: the library will say so */
}

/* Ends the process past OpenBLAS's own exit, which would wait for ever, too. */
void cli_check_limits(void)
{
    if (okra_blas_check() != OKRA_OK) {
        fprintf(stderr, "okra: %s\n", okra_message());
        _exit(CLI_FAILED);
    }
}
