/*
 * blas.c: what every operation shares: sizes that fit, threads of BLAS, the processor
 * whose code it runs, and progress of long operations.
 */
#include "linalg/blas.h"
#include "okra/program.h"

#include <cblas.h>
#include <strings.h>
#include <sys/resource.h>

/* ---- threads ---- */

/* The number of BLAS threads belongs to the process: what was found is put back. */
static atomic_int holders, found;

static void set_threads(int threads)
{
    if (openblas_get_num_threads() != threads) {
        openblas_set_num_threads(threads);
    }
}

void okra_blas_hold_(int threads)
{
    if (okra_inside_worker_) {
        return; /* the loop holds it */
    }
    if (atomic_fetch_add(&holders, 1) == 0) {
        atomic_store(&found, openblas_get_num_threads());
    }
    set_threads(threads);
}

void okra_blas_release_(void)
{
    if (!okra_inside_worker_ && atomic_fetch_sub(&holders, 1) == 1) {
        set_threads(atomic_load(&found));
    }
}

/* OpenBLAS takes a buffer of addresses for each of its threads and each of ours that is
 * in it. Where a limit (ulimit -v, -d) refuses one it asks again, for ever: a hang, at
 * exit too. So there are as many workers as half of the limit has buffers for, one at
 * least where all of it has: T of OpenBLAS, ours, and as much for the program. */
static const double buffer = 128 << 20;

static double limit_of_process(void)
{
    double least = (double)INFINITY;
    struct rlimit limit;
    for (int k = 0; k < 2; k++) {
        if (getrlimit(k ? RLIMIT_DATA : RLIMIT_AS, &limit) == 0 &&
            limit.rlim_cur != RLIM_INFINITY) {
            least = fmin(least, (double)limit.rlim_cur);
        }
    }
    return least;
}

/* Of OpenBLAS, before anything holds them. */
static int own_threads;

__attribute__((constructor)) static void count_threads(void)
{
    own_threads = openblas_get_num_threads();
}

/* The limit is asked for once: the number of workers must not change within a call. */
int okra_blas_room_(double *rest)
{
    static _Atomic double known = -1;
    if (atomic_load(&known) < 0) {
        atomic_store(&known, limit_of_process());
    }
    double limit = atomic_load(&known), others = 1 + own_threads;
    *rest = (double)INFINITY;
    if (isinf(limit)) {
        return INT_MAX;
    }
    double most = floor(limit / 2 / buffer) - others;
    int room = most > 1 ? (int)most : limit >= buffer * (others + 1);
    *rest = fmax(limit / 8, limit - buffer * (others + room));
    return room;
}

okra_status okra_blas_check(void)
{
    double rest, limit = limit_of_process();
    int room = okra_blas_room_(&rest), threads = own_threads;
    REFUSE_IF(
        room<1, OKRA_EMEM,
             "this process may have %.0f MiB (ulimit -v, -d), and matrix products on %d "
             "thread%s need %.0f: raise the limit%s",
             limit / 1048576, threads, threads> 1
            ? "s"
            : "",
        buffer * (threads + 2) / 1048576,
        threads > 1 ? ", or set OPENBLAS_NUM_THREADS=1" : "");
    return OKRA_OK;
}

int okra_blas_team_(okra_context *ctx, double work, double each)
{
    double most = OKRA_MIN_(work / each, (double)okra_workers_(ctx));
    return most < 2 ? 1 : (int)most;
}

/* ---- the processor whose code BLAS runs ---- */

/* OpenBLAS chooses by a list of processors. One that is newer than the list gets the code
 * of a processor of 2004, which has no AVX and is four times slower. The processor's own
 * flags tell that this has happened, and which code it could run. The choice is made when
 * OpenBLAS is loaded, so that it can only be mended before the program starts, by
 * OPENBLAS_CORETYPE. */

/* Whether the code of this name uses vectors of AVX2 or more. */
static bool modern(const char *name)
{
    static const char *const names[] = {"Haswell", "Zen", "SkylakeX", "Cooperlake",
                                        "SapphireRapids"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcasecmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* The newest code that this processor can run, NULL: nothing newer than AVX. */
static const char *best(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl")) {
        return "SkylakeX";
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return "Haswell";
    }
#endif
    return NULL;
}

/* What the user chose stays. A test sets OKRA_TEST_PROCESSOR to have a choice of its own
 * taken for that of OpenBLAS. */
static bool chosen(void)
{
    const char *type = getenv("OPENBLAS_CORETYPE");
    return type && *type && !getenv("OKRA_TEST_PROCESSOR");
}

const char *okra_blas_core(const char **better)
{
    const char *name = openblas_get_corename();
    GIVE(better, modern(name) || chosen() ? NULL : best());
    return name;
}

/* Once in the life of the process. */
static void warn_of_core(const okra_context *ctx)
{
    static atomic_bool told;
    const char *better;
    if (atomic_load(&told) || !ctx || !ctx->warning || ctx->muted) {
        return;
    }
    atomic_store(&told, true);
    const char *name = okra_blas_core(&better);
    if (better) {
        okra_warn_(ctx,
                   "OpenBLAS does not know this processor and runs code for %s, which is "
                   "several times slower: set OPENBLAS_CORETYPE=%s in the environment "
                   "before the program starts",
                   name, better);
    }
}

/* ---- checks ---- */

okra_status okra_blas_enter_(okra_context *ctx, const char *op, int count,
                             const okra_mat_ *views)
{
    for (int i = 0; i < count; i++) {
        okra_mat_ A = views[i];
        REFUSE_IF(A.rows > INT_MAX || A.ld > INT_MAX, OKRA_EUNSUPPORTED,
                  "%s: a matrix of %lld x %lld with row stride %lld; BLAS takes at most "
                  "%d",
                  op, (long long)A.rows, (long long)A.cols, (long long)A.ld, INT_MAX);
    }
    CHK(okra_cancelled_(ctx));
    CHK(okra_blas_check());
    warn_of_core(ctx);
    if (ctx) { /* for okra_context_doing */
        atomic_store_explicit(&ctx->doing, op, memory_order_relaxed);
        atomic_store_explicit(&ctx->doing_size, views[0].rows, memory_order_relaxed);
    }
    return OKRA_OK;
}

okra_status okra_blas_finite_(const char *op, bool lower, okra_mat_ A)
{
    for (okra_int i = 0; i < A.rows; i++) {
        okra_int cols = lower ? OKRA_MIN_(i + 1, A.cols) : A.cols;
        for (okra_int j = 0; j < cols; j++) {
            double a = A.p[i * A.ld + j];
            REFUSE_IF(!isfinite(a), OKRA_ENUMERIC, "%s: element (%lld, %lld) of A is %g",
                      op, (long long)i, (long long)j, a);
        }
    }
    return OKRA_OK;
}

/* ---- progress ---- */

/* Operations that OpenBLAS would end in a fraction of a second go straight on. */
static const double least = 5e9; /* operations: 0.1 s on one core */

static struct {
    const char *what;
    _Atomic double rate; /* operations per second: of two cores with AVX-512, at first */
} kinds[] = {
    [OKRA_WORK_PRODUCT_] = {"products", 1e11},
    [OKRA_WORK_FACTOR_] = {"factor", 8e10},
    [OKRA_WORK_SOLVE_] = {"solve", 8e10},
    [OKRA_WORK_EIGEN_] = {"eigenvectors", 4e10},
    [OKRA_WORK_SINGULAR_] = {"singular values", 3e10},
};

okra_status okra_blas_watched_(okra_context *ctx, okra_work_ kind, double work,
                               okra_call_ call, void *arg)
{
    return (work < least && okra_watch_least_ > 0) || !okra_watches_(ctx)
               ? call(arg)
               : okra_watched_rate_(ctx, kinds[kind].what, work, &kinds[kind].rate, call,
                                    arg);
}
