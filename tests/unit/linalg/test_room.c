/* test_room.c: a limit of addresses that has buffers of BLAS for some threads alone: as
 * many work, where all together would wait for ever; a limit for none is an error. */
#include "harness.h"

#include "linalg/blas.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 150, THREADS = 32 };

static okra_status multiply(void *arg, okra_int begin, okra_int end, int worker)
{
    double *all = arg;
    (void)worker;
    for (okra_int k = begin; k < end; k++) {
        okra_mat_ A = okra_mat_of_(all + 2 * k * N * N, N, N);
        okra_mat_ B = okra_mat_of_(all + (2 * k + 1) * N * N, N, N);
        CHK(okra_blas_enter_(NULL, "a product", 1, &A));
        CHK(okra_blas_gemm_(NULL, false, false, 1, A, A, 0, B));
    }
    return OKRA_OK;
}

/* The status of a process with this limit, which multiplies on many threads. */
static int run(rlim_t megabytes)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {megabytes << 20, megabytes << 20};
        okra_context *many = NULL;
        double *all = okra_zalloc_((okra_int)2 * THREADS * N * N, sizeof *all);
        alarm(60);
        bool ready = setrlimit(RLIMIT_AS, &limit) == 0 &&
                     okra_context_create(&many) == OKRA_OK &&
                     okra_context_set_threads(many, THREADS) == OKRA_OK;
        okra_status st = okra_parallel_(many, THREADS, 1, NULL, multiply, all);
        _exit(!ready || !all ? 9 : st == OKRA_EMEM ? 2 : st != OKRA_OK);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool sanitized = true; /* sanitizers take addresses of their own */
#else
static const bool sanitized = false;
#endif

TEST(workers_fit_the_limit)
{
    rlim_t own = (rlim_t)sysconf(_SC_NPROCESSORS_ONLN);
    CHECK(sanitized || run(128 * (own + 4)) == 0);
    CHECK(sanitized || run(128 * (own + 8)) == 0);
    CHECK(sanitized || run(128 * (own + 1)) == 2);
}

MAIN(RUN(workers_fit_the_limit))
