/*
 * watch.c: progress of one long call that tells nothing itself.
 *
 * The call runs in a thread of its own, and the calling thread reports ten times per
 * second what share of it should be done by now: by the time that the call is expected to
 * take, and by the share that it says it has done, once it has. A call that takes longer
 * than expected approaches its end more and more slowly and never reaches it.
 */
#include "core/core.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

double okra_now_(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { ERROR_SIZE = 2048 };

static const double tick = 0.1; /* seconds between reports */

/* A call that should be over sooner is not watched; tests set it. */
double okra_watch_least_ = 1;

typedef struct okra_meter_ {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    okra_call_ call;
    void *arg;
    double begin, work, done, when; /* operations in all, done by the time `when` */
    bool over;
    okra_status status;
    char message[ERROR_SIZE];
} okra_meter_;

void okra_worked_(const okra_context *context, double work)
{
    okra_meter_ *meter = context ? context->meter : NULL;
    if (meter) {
        pthread_mutex_lock(&meter->lock);
        meter->done += work;
        meter->when = okra_now_();
        pthread_mutex_unlock(&meter->lock);
    }
}

double okra_watch_share_(double elapsed, double expected)
{
    static const double straight = 0.9; /* as the clock; then ever more slowly */
    double t = expected > 0 ? elapsed / expected : 1;
    return t < straight ? t
                        : 1 - (1 - straight) * (1 - straight) / (t - 2 * straight + 1);
}

_Thread_local bool okra_inside_watch_;

static void *run(void *arg)
{
    okra_meter_ *m = arg;
    okra_inside_watch_ = true;
    okra_status st = m->call(m->arg);
    pthread_mutex_lock(&m->lock);
    m->status = st;
    snprintf(m->message, sizeof m->message, "%s", okra_message());
    m->over = true;
    pthread_cond_signal(&m->ended);
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

/* The share done by now. Needs the lock. */
static double share(const okra_meter_ *m, double expected)
{
    double time = okra_now_(), done = m->work > 0 ? m->done / m->work : 0;
    if (done > 0) { /* the speed so far is the better guess the more is done */
        double measured = (m->when - m->begin) / done;
        expected = done * measured + (1 - done) * expected;
    }
    double by_clock = okra_watch_share_(time - m->begin, expected);
    return OKRA_MIN_(OKRA_MAX_(by_clock, done), 0.999);
}

static void report_until_over(const okra_context *ctx, okra_meter_ *m, const char *what,
                              double expected)
{
    enum { STEPS = 1000 };
    okra_int last = 0;
    pthread_mutex_lock(&m->lock);
    while (!m->over) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += (long)(1e9 * tick);
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&m->ended, &m->lock, &until);
        last = OKRA_MAX_(last, (okra_int)(STEPS * share(m, expected)));
        if (!m->over) {
            pthread_mutex_unlock(&m->lock);
            okra_progress_(ctx, what, last, STEPS);
            pthread_mutex_lock(&m->lock);
        }
    }
    pthread_mutex_unlock(&m->lock);
    okra_progress_(ctx, what, STEPS, STEPS);
}

/* Signals stay with the threads of the program. */
static bool start(okra_meter_ *m, pthread_t *id)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(id, NULL, run, m) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

bool okra_watches_(const okra_context *context)
{
    return context && context->progress && !okra_inside_worker_ && !okra_inside_watch_;
}

okra_status okra_watched_(okra_context *context, const char *what, double work,
                          double expected, okra_call_ call, void *arg)
{
    okra_status st;
    pthread_t id;
    if (!okra_watches_(context) || expected < okra_watch_least_) {
        return call(arg);
    }
    okra_meter_ m = {.call = call, .arg = arg, .work = work, .begin = okra_now_()};
    pthread_mutex_init(&m.lock, NULL);
    pthread_cond_init(&m.ended, NULL);
    okra_progress_(context, what, 0, 1000);
    context->meter = &m;
    if (start(&m, &id)) {
        report_until_over(context, &m, what, expected);
        pthread_join(id, NULL);
        st = m.status == OKRA_OK ? OKRA_OK : okra_fail_(m.status, "%s", m.message);
    } else { /* no thread to be had: the call goes on unwatched */
        st = call(arg);
    }
    context->meter = NULL;
    pthread_cond_destroy(&m.ended);
    pthread_mutex_destroy(&m.lock);
    return st;
}

okra_status okra_watched_rate_(okra_context *context, const char *what, double work,
                               _Atomic double *rate, okra_call_ call, void *arg)
{
    double begin = okra_now_();
    CHK(okra_watched_(context, what, work, work / atomic_load(rate), call, arg));
    double elapsed = okra_now_() - begin;
    if (elapsed > 0.1) {
        atomic_store(rate, work / elapsed);
    }
    return OKRA_OK;
}
