/*
 * watch.c: long calls of engines report progress.
 *
 * The host's operations watch themselves (linalg/watch.c). What another engine is
 * expected to take comes from the rate of its last call of this kind; the first call has
 * a guess, which its caller gives.
 */
#include "engine/open.h"

#include <stdatomic.h>

okra_status okra_engine_watched_(okra_context *ctx, const okra_large_ *A,
                                 _Atomic double *rate, const char *what, double work,
                                 okra_call_ call, void *arg)
{
    if (A->engine->verbs == &okra_engine_host_class_) {
        return call(arg);
    }
    double begin = okra_now_();
    okra_status st = okra_watched_(ctx, what, work, work / atomic_load(rate), call, arg);
    double elapsed = okra_now_() - begin;
    if (st == OKRA_OK && elapsed > 0.1) {
        atomic_store(rate, work / elapsed);
    }
    return st;
}
