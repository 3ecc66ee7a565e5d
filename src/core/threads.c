/*
 * threads.c: a parallel loop over chunks.
 *
 * Chunks are handed out by an atomic counter; what a chunk computes does not depend on
 * who computes it, so results have the same bits for every number of threads. Workers are
 * started for each loop: some tens of microseconds, little beside the loops they serve,
 * and nothing lives on between calls. A loop inside a worker runs in that worker.
 */
#include "core/core.h"
#include "core/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { ERROR_SIZE = 2048 };

typedef struct loop {
    okra_context *context;
    okra_int count, grain, chunks;
    const char *what;
    okra_body_ body;
    void *arg;
    atomic_llong next, done;
    /* The failure with the smallest chunk number. */
    pthread_mutex_t lock;
    okra_int failed_chunk;
    okra_status status;
    char message[ERROR_SIZE];
    atomic_bool stop;
} loop;

typedef struct worker {
    loop *loop;
    int index;
    pthread_t thread;
} worker;

static _Thread_local bool inside_worker;
static atomic_int open_loops;

static void record_failure(loop *l, okra_int chunk, okra_status status)
{
    pthread_mutex_lock(&l->lock);
    if (l->status == OKRA_OK || chunk < l->failed_chunk) {
        l->failed_chunk = chunk;
        l->status = status;
        snprintf(l->message, sizeof l->message, "%s", okra_message());
    }
    pthread_mutex_unlock(&l->lock);
    atomic_store(&l->stop, true);
}

static void work(loop *l, int index)
{
    while (!atomic_load(&l->stop)) {
        okra_int chunk = atomic_fetch_add(&l->next, 1);
        if (chunk >= l->chunks) {
            break;
        }
        okra_int begin = chunk * l->grain;
        okra_int end = OKRA_MIN_(begin + l->grain, l->count);
        okra_status st = okra_cancelled_(l->context);
        if (st == OKRA_OK) {
            st = l->body(l->arg, begin, end, index);
        }
        if (st != OKRA_OK) {
            record_failure(l, chunk, st);
        }
        okra_int done = atomic_fetch_add(&l->done, end - begin) + (end - begin);
        if (index == 0 && l->what) {
            okra_progress_(l->context, l->what, done, l->count);
        }
    }
}

static void *worker_main(void *arg)
{
    worker *w = arg;
    inside_worker = true;
    work(w->loop, w->index);
    return NULL;
}

bool okra_inside_worker_(void)
{
    return inside_worker;
}

int okra_workers_(const okra_context *context)
{
    return inside_worker ? 1 : okra_context_threads(context);
}

/* While loops are open, BLAS calls come from their workers and must not fan out. */
static void enter(void)
{
    if (atomic_fetch_add(&open_loops, 1) == 0) {
        okra_blas_threads_(1);
    }
}

static void leave(const okra_context *context)
{
    if (atomic_fetch_sub(&open_loops, 1) == 1) {
        okra_blas_threads_(okra_context_threads(context));
    }
}

okra_status okra_parallel_(okra_context *context, okra_int count, okra_int grain,
                           const char *what, okra_body_ body, void *arg)
{
    okra_status st = OKRA_OK;
    worker *workers = NULL;
    if (count <= 0) {
        return okra_cancelled_(context);
    }
    grain = OKRA_MAX_(grain, 1);
    loop l = {.context = context,
              .count = count,
              .grain = grain,
              .chunks = (count - 1) / grain + 1,
              .what = inside_worker ? NULL : what,
              .body = body,
              .arg = arg,
              .status = OKRA_OK};
    int threads = okra_workers_(context);
    threads = (int)OKRA_MIN_((okra_int)threads, l.chunks);
    ALLOC(workers, threads);
    pthread_mutex_init(&l.lock, NULL);
    bool nested = inside_worker;
    if (!nested) {
        enter();
    }
    inside_worker = true;
    int started = 1;
    for (; started < threads; started++) {
        workers[started] = (worker){.loop = &l, .index = started};
        if (pthread_create(&workers[started].thread, NULL, worker_main,
                           &workers[started]) != 0) {
            break; /* fewer threads do the same chunks */
        }
    }
    work(&l, 0);
    for (int i = 1; i < started; i++) {
        pthread_join(workers[i].thread, NULL);
    }
    inside_worker = nested;
    if (!nested) {
        leave(context);
    }
    pthread_mutex_destroy(&l.lock);
    if (l.status != OKRA_OK) {
        FAIL(l.status, "%s", l.message);
    }
    if (l.what) {
        okra_progress_(context, what, count, count);
    }
done:
    okra_free_(workers);
    return st;
}
