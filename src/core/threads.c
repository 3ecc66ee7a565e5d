/*
 * threads.c: a parallel loop over chunks.
 *
 * Chunks are handed out by an atomic counter; what a chunk computes does not depend on
 * who computes it, so results have the same bits for every number of threads.
 *
 * Helpers are kept between loops, asleep; nobody spins. The caller posts its loop, wakes
 * helpers and begins at once: a helper that wakes when all chunks are taken joins
 * nothing, and the caller waits only for chunks that are being computed. On a busy
 * machine a loop therefore never waits for a thread that the machine has no room for. A
 * loop that may be small begins alone: its first chunk tells how long the rest will take.
 * A loop inside a worker runs in that worker. After a fork the child starts with no
 * helpers.
 */
#include "core/core.h"

#include <pthread.h>
#include <signal.h>

enum { ERROR_SIZE = 2048 };
/* A loop of this many operations, or seconds, is worth helpers: a millisecond or
 * more, some hundred times what it costs to wake one. */
static const double large_work = 2e7, large_time = 1e-3;

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
    /* Under the lock of the pool: helpers that may still join, that ever joined, and that
     * work now. */
    int wanted, joined, busy;
    pthread_cond_t left; /* busy became 0 */
    struct loop *after;  /* in the list of posted loops */
} loop;

/* The helpers of the process, and the loops that want some. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t posted;
    loop *loops;
    int helpers, wanted;
    bool forks; /* what a fork needs is known */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .posted = PTHREAD_COND_INITIALIZER};

_Thread_local bool okra_inside_worker_;

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

/* One chunk; false when there is none left. */
static bool step(loop *l, int index)
{
    okra_int chunk = atomic_load(&l->stop) ? l->chunks : atomic_fetch_add(&l->next, 1);
    if (chunk >= l->chunks) {
        return false;
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
    return true;
}

static void work(loop *l, int index)
{
    okra_account_use_(l->context);
    while (step(l, index)) {
    }
}

/* Does the first chunk; whether the others will take long enough for helpers. By the
 * clock that needs no system call: a chunk that was interrupted looks longer than it is,
 * which wakes a helper for once in vain. */
static bool worth_helpers(loop *l)
{
    double begin = okra_now_();
    step(l, 0);
    return (okra_now_() - begin) * (double)(l->chunks - 1) >= large_time;
}

/* ---- helpers ---- */

/* The oldest loop that wants a helper. Needs the lock. */
static loop *find_loop(void)
{
    loop *l = pool.loops;
    while (l && l->wanted == 0) {
        l = l->after;
    }
    return l;
}

static void *help(void *unused)
{
    okra_inside_worker_ = true;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        loop *l = find_loop();
        if (!l) {
            pthread_cond_wait(&pool.posted, &pool.lock);
            continue;
        }
        int index = ++l->joined;
        l->wanted--;
        l->busy++;
        pthread_mutex_unlock(&pool.lock);
        work(l, index);
        pthread_mutex_lock(&pool.lock);
        l->wanted = 0; /* every chunk is taken */
        if (--l->busy == 0) {
            pthread_cond_signal(&l->left);
        }
    }
    return NULL;
}

static void before_fork(void)
{
    pthread_mutex_lock(&pool.lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&pool.lock);
}

static void in_child(void)
{
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.posted, NULL);
    pool.loops = NULL;
    pool.helpers = pool.wanted = 0;
}

/* Starts helpers until all loops can have theirs; with fewer the same chunks are done.
 * Signals stay with the threads of the program, but for that of guard.c, which is of the
 * thread that reads. Needs the lock. */
static void start_helpers(void)
{
    sigset_t all, before;
    if (!pool.forks) {
        pool.forks = pthread_atfork(before_fork, after_fork, in_child) == 0;
    }
    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (pthread_t id; pool.helpers < pool.wanted; pool.helpers++) {
        if (pthread_create(&id, NULL, help, NULL) != 0) {
            break;
        }
        pthread_detach(id);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void post(loop *l, int helpers)
{
    pthread_cond_init(&l->left, NULL);
    pthread_mutex_lock(&pool.lock);
    l->wanted = helpers;
    pool.wanted += helpers;
    if (pool.helpers < pool.wanted) {
        start_helpers();
    }
    loop **last = &pool.loops;
    while (*last) {
        last = &(*last)->after;
    }
    *last = l;
    for (int i = 0; i < helpers; i++) {
        pthread_cond_signal(&pool.posted);
    }
    pthread_mutex_unlock(&pool.lock);
}

/* Takes the loop back and waits for those who work on it. */
static void withdraw(loop *l, int helpers)
{
    pthread_mutex_lock(&pool.lock);
    l->wanted = 0;
    while (l->busy > 0) {
        pthread_cond_wait(&l->left, &pool.lock);
    }
    pool.wanted -= helpers;
    loop **at = &pool.loops;
    while (*at != l) {
        at = &(*at)->after;
    }
    *at = l->after;
    pthread_mutex_unlock(&pool.lock);
    pthread_cond_destroy(&l->left);
}

/* ---- loops ---- */

int okra_workers_(const okra_context *context)
{
    double rest;
    int room = okra_inside_worker_ ? 1 : okra_blas_room_(&rest);
    return OKRA_MIN_(OKRA_MAX_(room, 1), okra_threads_(context));
}

okra_status okra_parallel_least_(okra_context *context, double least, okra_int count,
                                 okra_int grain, const char *what, okra_body_ body,
                                 void *arg)
{
    if (count <= 0) {
        return okra_cancelled_(context);
    }
    grain = OKRA_MAX_(grain, 1);
    loop l = {.context = context,
              .count = count,
              .grain = grain,
              .chunks = (count - 1) / grain + 1,
              .what = okra_inside_worker_ ? NULL : what,
              .body = body,
              .arg = arg,
              .status = OKRA_OK};
    okra_int threads = okra_workers_(context);
    int helpers = (int)OKRA_MIN_(threads, l.chunks) - 1;
    bool nested = okra_inside_worker_;
    okra_blas_hold_(1); /* BLAS calls come from the workers */
    pthread_mutex_init(&l.lock, NULL);
    okra_inside_worker_ = true;
    bool shared = helpers > 0 && (least >= large_work || worth_helpers(&l));
    if (shared) {
        post(&l, helpers);
    }
    work(&l, 0);
    if (shared) {
        withdraw(&l, helpers);
    }
    okra_inside_worker_ = nested;
    okra_blas_release_();
    pthread_mutex_destroy(&l.lock);
    REFUSE_IF(l.status != OKRA_OK, l.status, "%s", l.message);
    if (l.what) {
        okra_progress_(context, what, count, count);
    }
    return okra_guard_settle_(); /* of what the last chunks read */
}

okra_status okra_parallel_(okra_context *context, okra_int count, okra_int grain,
                           const char *what, okra_body_ body, void *arg)
{
    return okra_parallel_least_(context, INFINITY, count, grain, what, body, arg);
}

typedef struct states {
    const okra_each_ *each;
    const void *arg;
    char *state; /* one a worker */
    int workers;
} states;

static void clear_states(states *s)
{
    for (int k = 0; s->state && k < s->workers; k++) {
        s->each->clear(s->state + (size_t)k * s->each->size);
    }
    okra_free_(s->state);
}

static okra_status some(void *arg, okra_int begin, okra_int end, int worker)
{
    const states *s = arg;
    for (okra_int i = begin; i < end; i++) {
        CHK(s->each->one(s->arg, s->state + (size_t)worker * s->each->size, i));
    }
    return OKRA_OK;
}

okra_status okra_parallel_each_(okra_context *context, okra_int count, okra_int grain,
                                const char *what, const okra_each_ *each, const void *arg)
{
    FREED_BY(clear_states) states s = {each, arg, NULL, okra_workers_(context)};
    GOT(s.state = okra_zalloc_(s.workers, each->size));
    for (int k = 0; k < s.workers; k++) {
        CHK(each->open(arg, s.state + (size_t)k * each->size));
    }
    return okra_parallel_(context, count, grain, what, some, &s);
}
