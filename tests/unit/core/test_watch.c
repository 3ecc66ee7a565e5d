/* A long call is watched: reports come from the caller, grow, and end at the total; a
 * failure keeps its message; what is short or unheard runs in the calling thread. */
#include "harness.h"

#include <pthread.h>
#include <time.h>

typedef struct heard {
    pthread_t caller;
    int count, foreign, back, others;
    okra_int last, before, total; /* before: the last but one */
} heard;

static void hear(void *user, const char *what, okra_int done, okra_int total)
{
    heard *h = user;
    h->foreign += !pthread_equal(h->caller, pthread_self());
    h->others += strcmp(what, "work") != 0;
    h->back += done < h->last;
    h->count++;
    h->before = h->last;
    h->last = done;
    h->total = total;
}

static okra_context *heard_by(heard *h)
{
    okra_context *c = NULL;
    *h = (heard){.caller = pthread_self()};
    CHECK_OK(okra_context_create(&c));
    okra_context_set_progress(c, hear, h);
    return c;
}

typedef struct work {
    okra_context *context;
    pthread_t thread;
    int steps; /* of 50 ms */
    bool tells, fails;
} work;

static okra_status run(void *arg)
{
    work *w = arg;
    if (w->tells) { /* is not heard: it comes from another thread */
        okra_progress_(w->context, "inner", 1, 2);
    }
    struct timespec pause = {0, 50000000};
    w->thread = pthread_self();
    for (int i = 0; i < w->steps; i++) {
        nanosleep(&pause, NULL);
        if (w->tells) {
            okra_worked_(w->context, 1);
        }
    }
    return w->fails ? okra_fail_(OKRA_ENUMERIC, "step %d", w->steps) : OKRA_OK;
}

TEST(the_share_grows_and_stays_below_one)
{
    double last = -1;
    int wrong = 0;
    for (double t = 0; t < 1000; t += 0.01) {
        double share = okra_watch_share_(t, 3);
        wrong += !(share > last && share < 1);
        last = share;
    }
    CHECK(wrong == 0);
    CHECK_NEAR(okra_watch_share_(1.5, 3), 0.5, 1e-15);
    CHECK(okra_watch_share_(3, 3) > 0.9 && okra_watch_share_(6, 3) < 1);
    CHECK(okra_watch_share_(0, 0) < 1);
}

TEST(a_long_call_is_reported_by_the_caller)
{
    for (int tells = 0; tells < 2; tells++) {
        heard h;
        okra_context *c = heard_by(&h);
        work w = {.context = c, .steps = 12, .tells = tells};
        CHECK_OK(okra_watched_(c, "work", 12, 2, run, &w));
        CHECK(!pthread_equal(w.thread, h.caller));
        CHECK(h.count >= 3 && h.foreign == 0 && h.back == 0 && h.others == 0);
        CHECK(h.last == h.total && h.total > 0);
        okra_context_free(c);
    }
}

TEST(what_is_done_counts_more_than_what_was_expected)
{
    heard h;
    okra_context *c = heard_by(&h);
    work w = {.context = c, .steps = 12, .tells = true};
    /* by the clock alone nothing of a million seconds would be done */
    CHECK_OK(okra_watched_(c, "work", 12, 1e6, run, &w));
    CHECK(h.before > h.total / 2);
    okra_context_free(c);
}

TEST(a_failure_keeps_its_message)
{
    heard h;
    okra_context *c = heard_by(&h);
    work w = {.context = c, .steps = 3, .fails = true};
    CHECK_FAILS(okra_watched_(c, "work", 1, 2, run, &w), OKRA_ENUMERIC, "step 3");
    CHECK(c->meter == NULL);
    okra_context_free(c);
}

static okra_status inside(void *arg, okra_int begin, okra_int end, int worker)
{
    work *w = arg;
    (void)begin, (void)end, (void)worker;
    return okra_watched_(w->context, "work", 1, 100, run, w);
}

TEST(short_or_unheard_calls_stay_in_their_thread)
{
    heard h;
    okra_context *c = heard_by(&h), *mute = NULL;
    work w = {.context = c, .steps = 1};
    CHECK_OK(okra_watched_(c, "work", 1, 0.5, run, &w));
    CHECK(pthread_equal(w.thread, pthread_self()) && h.count == 0);
    CHECK_OK(okra_context_create(&mute));
    CHECK_OK(okra_watched_(mute, "work", 1, 100, run, &w));
    CHECK(pthread_equal(w.thread, pthread_self()));
    CHECK_OK(okra_watched_(NULL, "work", 1, 100, run, &w));
    CHECK(pthread_equal(w.thread, pthread_self()));
    CHECK_OK(okra_parallel_(c, 1, 1, NULL, inside, &w));
    CHECK(pthread_equal(w.thread, pthread_self()) && h.count == 0);
    okra_context_free(mute);
    okra_context_free(c);
}

MAIN(RUN(the_share_grows_and_stays_below_one), RUN(a_long_call_is_reported_by_the_caller),
     RUN(what_is_done_counts_more_than_what_was_expected),
     RUN(a_failure_keeps_its_message), RUN(short_or_unheard_calls_stay_in_their_thread))
