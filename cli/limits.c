/*
 * limits.c: limits of the process that the matrix library cannot live with.
 *
 * OpenBLAS asks for a buffer of addresses a thread, and where a limit (ulimit -v, -d)
 * refuses it asks again, for ever: a hang, at exit too, that only SIGKILL ends. So a
 * process that may have less ends before its first product, past OpenBLAS's own exit.
 */
#include "cli.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

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
