/*
 * blas.c: what every operation shares: sizes that fit, threads of BLAS, the processor
 * whose code it runs, and progress of long operations.
 */
#include "linalg/blas.h"
#include "okra/program.h"

#include <cblas.h>
#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <strings.h>

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
    if (okra_inside_worker_()) {
        return; /* the loop holds it */
    }
    if (atomic_fetch_add(&holders, 1) == 0) {
        atomic_store(&found, openblas_get_num_threads());
    }
    set_threads(threads);
}

void okra_blas_release_(void)
{
    if (!okra_inside_worker_() && atomic_fetch_sub(&holders, 1) == 1) {
        set_threads(atomic_load(&found));
    }
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
    if (atomic_load(&told) || !okra_warns_(ctx)) {
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
    warn_of_core(ctx);
    okra_doing_(ctx, op, views[0].rows);
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

/* What an operation is expected to take is its number of operations over a rate: that of
 * a small product, measured once in the process, times the share of it that this kind of
 * operation reached when it last ran (before that: on a processor of two cores with
 * AVX-512). Operations that OpenBLAS would end in a fraction of a second go straight on.
 */
static const double least = 5e9; /* operations: 0.1 s on one core */

enum { TRIAL = 256, TRIALS = 3 };

static _Atomic double product_rate; /* operations per second */

static struct {
    const char *what;
    _Atomic double share; /* of the rate of a product */
} kinds[] = {
    [OKRA_WORK_PRODUCT_] = {"products", 1},
    [OKRA_WORK_FACTOR_] = {"factor", 0.8},
    [OKRA_WORK_SOLVE_] = {"solve", 0.8},
    [OKRA_WORK_EIGEN_] = {"eigenvectors", 0.4},
    [OKRA_WORK_SINGULAR_] = {"singular values", 0.3},
};

/* The best of three products; 0: there is no memory for them. */
static double measure(okra_context *ctx)
{
    OWNED double *A = okra_alloc_(3 * TRIAL * TRIAL, sizeof *A);
    double best_rate = 0;
    if (!A) {
        return 0;
    }
    okra_mat_ of[3];
    for (int k = 0; k < 3; k++) {
        of[k] = okra_mat_of_(A + k * TRIAL * TRIAL, TRIAL, TRIAL);
        okra_mat_fill_(of[k], 1);
    }
    for (int k = 0; k < TRIALS; k++) {
        double begin = okra_now_();
        if (okra_blas_gemm_(ctx, false, true, 1, of[0], of[1], 0, of[2]) != OKRA_OK) {
            break;
        }
        best_rate = OKRA_MAX_(best_rate, 2.0 * TRIAL * TRIAL * TRIAL /
                                             OKRA_MAX_(okra_now_() - begin, 1e-6));
    }
    return best_rate;
}

okra_status okra_blas_watched_(okra_context *ctx, okra_work_ kind, double work,
                               okra_call_ call, void *arg)
{
    if (!okra_watches_(ctx) || (work < least && okra_watch_least_ > 0)) {
        return call(arg);
    }
    if (!(atomic_load(&product_rate) > 0)) {
        atomic_store(&product_rate, measure(ctx));
    }
    double product = OKRA_MAX_(atomic_load(&product_rate), 1), begin = okra_now_();
    double expected = work / (product * atomic_load(&kinds[kind].share));
    CHK(okra_watched_(ctx, kinds[kind].what, work, expected, call, arg));
    double elapsed = okra_now_() - begin;
    if (elapsed > 0.1) {
        atomic_store(&kinds[kind].share, work / elapsed / product);
    }
    return OKRA_OK;
}
