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
#include <sys/resource.h>
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

/* OpenBLAS asks for a buffer of addresses a thread, and where a limit (ulimit -v, -d)
 * refuses it asks again, for ever: a hang, at exit too, that only SIGKILL ends. So a
 * process that may have less ends before its first product, past OpenBLAS's own exit. */
void cli_check_limits(void)
{
    const double buffer = 128 << 20; /* and as much for the program beside the threads' */
    const char *wanted = getenv("OPENBLAS_NUM_THREADS");
    long threads = wanted ? atol(wanted) : 0, cores = sysconf(_SC_NPROCESSORS_ONLN);
    threads = threads > 0 && threads < cores ? threads : cores;
    double need = buffer * (double)(threads + 2);
    const struct {
        __rlimit_resource_t what;
        char option;
    } limits[] = {{RLIMIT_AS, 'v'}, {RLIMIT_DATA, 'd'}};
    for (int i = 0; i < 2; i++) {
        struct rlimit limit;
        if (getrlimit(limits[i].what, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
            (double)limit.rlim_cur < need) {
            fprintf(
                stderr,
                "okra: this process may have %.0f MiB (ulimit -%c), and matrix products "
                "on %ld thread%s need %.0f: raise the limit%s\n",
                (double)limit.rlim_cur / 1048576, limits[i].option, threads,
                threads > 1 ? "s" : "", need / 1048576,
                threads > 1 ? ", or set OPENBLAS_NUM_THREADS=1" : "");
            _exit(CLI_FAILED);
        }
    }
}
