/*
 * watch.c: long operations report progress.
 *
 * What an operation is expected to take is its number of operations over a rate: that of
 * a small product, measured once in the process, times the share of it that this kind of
 * operation reached when it last ran (before that: on a processor of two cores with
 * AVX-512). Operations that OpenBLAS would end in a fraction of a second go straight on.
 */
#include "linalg/backend.h"

#include <stdatomic.h>

static const double least = 5e9; /* operations: 0.1 s on one core */

enum { TRIAL = 256, TRIALS = 3 };

static _Atomic double product_rate[2]; /* operations per second: blas, ref */

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
static double measure(okra_context *ctx, const okra_backend_ *backend)
{
    double *A = okra_alloc_(3 * TRIAL * TRIAL, sizeof *A), best = 0;
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
        if (backend->gemm(ctx, false, true, 1, of[0], of[1], 0, of[2]) != OKRA_OK) {
            break;
        }
        best = OKRA_MAX_(best, 2.0 * TRIAL * TRIAL * TRIAL /
                                   OKRA_MAX_(okra_now_() - begin, 1e-6));
    }
    okra_free_(A);
    return best;
}

okra_status okra_linalg_watched_(okra_context *ctx, const okra_backend_ *backend,
                                 okra_work_ kind, double work, okra_call_ call, void *arg)
{
    _Atomic double *rate = &product_rate[backend == &okra_backend_ref_];
    if (!okra_watches_(ctx) || (work < least && okra_watch_least_ > 0)) {
        return call(arg);
    }
    if (!(atomic_load(rate) > 0)) {
        atomic_store(rate, measure(ctx, backend));
    }
    double product = OKRA_MAX_(atomic_load(rate), 1), begin = okra_now_();
    double expected = work / (product * atomic_load(&kinds[kind].share));
    CHK(okra_watched_(ctx, kinds[kind].what, work, expected, call, arg));
    double elapsed = okra_now_() - begin;
    if (elapsed > 0.1) {
        atomic_store(&kinds[kind].share, work / elapsed / product);
    }
    return OKRA_OK;
}
