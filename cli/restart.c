/*
 * restart.c: the right code of the matrix library.
 *
 * OpenBLAS chooses its code when it is loaded, before main. Where it took that of a very
 * old processor because it does not know this one (okra_blas_core), the program sets
 * OPENBLAS_CORETYPE and starts itself again with the same arguments; OKRA_RESTARTED keeps
 * it from doing so twice. Where that cannot be done the library warns.
 */
#include "cli.h"

#include <stdlib.h>
#include <unistd.h>

void cli_restart(char **argv)
{
    const char *better;
    okra_blas_core(&better);
    if (!better || getenv("OKRA_RESTARTED") ||
        setenv("OPENBLAS_CORETYPE", better, 1) != 0 ||
        setenv("OKRA_RESTARTED", "1", 1) != 0) {
        return;
    }
    execv("/proc/self/exe", argv);
    unsetenv("OPENBLAS_CORETYPE"); /* it did not work: the library will say so */
}
