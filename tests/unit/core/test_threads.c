/* The parallel loop: every index once, same chunks for any number of threads, failures,
 * cancellation, loops inside loops, progress. */
#include "harness.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1000 };

typedef struct job {
    okra_int begin[MOST], end[MOST]; /* by index: the chunk it was in */
    atomic_int visits[MOST];
    atomic_int calls;
    int workers;
    atomic_int bad_worker;
    okra_int fail_from, fail_step; /* chunks that begin at or after, every step, fail */
    okra_context *context;
    okra_int cancel_at;
} job;

static job *fresh(okra_context *context)
{
    static job j;
    memset(&j, 0, sizeof j);
    j.context = context;
    j.workers = okra_workers_(context);
    j.fail_from = j.cancel_at = -1;
    return &j;
}

static okra_status body(void *arg, okra_int begin, okra_int end, int worker)
{
    job *j = arg;
    atomic_fetch_add(&j->calls, 1);
    if (worker < 0 || worker >= j->workers) {
        atomic_store(&j->bad_worker, 1);
    }
    for (okra_int i = begin; i < end; i++) {
        j->begin[i] = begin;
        j->end[i] = end;
        atomic_fetch_add(&j->visits[i], 1);
    }
    if (begin == j->cancel_at) {
        okra_context_cancel(j->context);
    }
    if (j->fail_from >= 0 && begin >= j->fail_from &&
        (begin - j->fail_from) % j->fail_step == 0) {
        return okra_fail_(OKRA_ENUMERIC, "chunk at %lld", (long long)begin);
    }
    return OKRA_OK;
}

static okra_context *with_threads(int threads)
{
    okra_context *c = NULL;
    CHECK_OK(okra_context_create(&c));
    CHECK_OK(okra_context_set_threads(c, threads));
    return c;
}

TEST(every_index_once_in_the_same_chunks)
{
    static const okra_int counts[] = {0, 1, 2, 17, 64, 65, 1000};
    static const okra_int grains[] = {0, 1, 7, 64, 5000};
    for (int threads = 1; threads <= 5; threads += 2) {
        okra_context *c = with_threads(threads);
        CHECK(okra_workers_(c) == threads);
        for (size_t a = 0; a < sizeof counts / sizeof *counts; a++) {
            for (size_t b = 0; b < sizeof grains / sizeof *grains; b++) {
                okra_int n = counts[a], grain = OKRA_MAX_(grains[b], 1);
                job *j = fresh(c);
                CHECK_OK(okra_parallel_(c, n, grains[b], NULL, body, j));
                int wrong = 0;
                for (okra_int i = 0; i < n; i++) {
                    wrong += j->visits[i] != 1 || j->begin[i] != i / grain * grain ||
                             j->end[i] != OKRA_MIN_(i / grain * grain + grain, n);
                }
                CHECK(wrong == 0);
                CHECK(j->calls == (n + grain - 1) / grain);
                CHECK(j->bad_worker == 0);
            }
        }
        okra_context_free(c);
    }
    CHECK_OK(okra_parallel_(NULL, 10, 1, NULL, body, fresh(NULL)));
    CHECK_OK(okra_parallel_(NULL, -1, 1, NULL, body, fresh(NULL)));
}

TEST(the_first_failure_by_chunk_wins)
{
    for (int threads = 1; threads <= 4; threads++) {
        okra_context *c = with_threads(threads);
        for (int round = 0; round < 100; round++) {
            job *j = fresh(c);
            j->fail_from = 30;
            j->fail_step = 10;
            CHECK_FAILS(okra_parallel_(c, MOST, 10, NULL, body, j), OKRA_ENUMERIC, NULL);
            CHECK_TEXT(okra_message(), "chunk at 30");
            for (int i = 0; i < 40; i++) {
                CHECK(j->visits[i] == 1);
            }
        }
        okra_context_free(c);
    }
}

TEST(chunks_after_a_failure_are_skipped)
{
    okra_context *c = with_threads(1);
    job *j = fresh(c);
    j->fail_from = 20;
    j->fail_step = 1;
    CHECK_FAILS(okra_parallel_(c, MOST, 10, NULL, body, j), OKRA_ENUMERIC, "chunk at 20");
    CHECK(j->calls == 3);
    okra_context_free(c);
}

TEST(a_request_to_stop_is_heard_between_chunks)
{
    for (int threads = 1; threads <= 3; threads++) {
        okra_context *c = with_threads(threads);
        job *j = fresh(c);
        j->cancel_at = 50;
        CHECK_FAILS(okra_parallel_(c, MOST, 10, NULL, body, j), OKRA_ECANCELLED,
                    "stopped on request");
        CHECK(j->calls < 100);
        /* It stands: nothing is begun, not even an empty loop. */
        j = fresh(c);
        CHECK_FAILS(okra_parallel_(c, MOST, 10, NULL, body, j), OKRA_ECANCELLED, NULL);
        CHECK_FAILS(okra_parallel_(c, 0, 10, NULL, body, j), OKRA_ECANCELLED, NULL);
        CHECK(j->calls == 0);
        okra_context_resume(c);
        CHECK_OK(okra_parallel_(c, MOST, 10, NULL, body, j));
        CHECK(j->calls == 100);
        okra_context_free(c);
    }
}

typedef struct nest {
    okra_context *context;
    double *out;
    okra_int fail_row;
    atomic_int bad;
} nest;

typedef struct nest_row {
    nest *nest;
    okra_int row;
} nest_row;

static okra_status nested_inner(void *arg, okra_int begin, okra_int end, int worker)
{
    nest_row *r = arg;
    if (worker != 0 || okra_workers_(r->nest->context) != 1) {
        atomic_store(&r->nest->bad, 1);
    }
    for (okra_int i = begin; i < end; i++) {
        r->nest->out[r->row * 20 + i] += (double)(r->row * 100 + i);
    }
    if (r->row == r->nest->fail_row && begin == 10) {
        return okra_fail_(OKRA_ENUMERIC, "row %lld", (long long)r->row);
    }
    return OKRA_OK;
}

static okra_status nested_outer(void *arg, okra_int begin, okra_int end, int worker)
{
    nest *n = arg;
    okra_status st = OKRA_OK;
    (void)worker;
    for (okra_int row = begin; row < end; row++) {
        nest_row r = {n, row};
        TRY(okra_parallel_(n->context, 20, 5, NULL, nested_inner, &r));
    }
done:
    return st;
}

TEST(a_loop_inside_a_loop_runs_in_its_worker)
{
    for (int threads = 1; threads <= 3; threads++) {
        double out[400] = {0};
        nest n = {.context = with_threads(threads), .out = out, .fail_row = -1};
        CHECK_OK(okra_parallel_(n.context, 20, 1, NULL, nested_outer, &n));
        CHECK(n.bad == 0);
        int wrong = 0;
        for (int i = 0; i < 400; i++) {
            wrong += out[i] != i / 20 * 100 + i % 20;
        }
        CHECK(wrong == 0);
        CHECK(okra_workers_(n.context) == threads); /* outside again */
        n.fail_row = 7;
        CHECK_FAILS(okra_parallel_(n.context, 20, 1, NULL, nested_outer, &n),
                    OKRA_ENUMERIC, "row 7");
        CHECK(okra_workers_(n.context) == threads);
        okra_context_free(n.context);
    }
}

typedef struct watcher {
    pthread_t caller;
    okra_int last, total;
    int calls, wrong;
} watcher;

static void watch(void *user, const char *what, okra_int done, okra_int total)
{
    watcher *w = user;
    w->calls++;
    w->wrong += strcmp(what, "work") != 0 || done < w->last || done > total ||
                !pthread_equal(w->caller, pthread_self());
    w->last = done;
    w->total = total;
}

TEST(progress_comes_from_the_caller_and_ends_at_the_total)
{
    for (int threads = 1; threads <= 3; threads++) {
        okra_context *c = with_threads(threads);
        watcher w = {.caller = pthread_self()};
        okra_context_set_progress(c, watch, &w);
        CHECK_OK(okra_parallel_(c, 105, 10, "work", body, fresh(c)));
        CHECK(w.calls >= 1 && w.wrong == 0 && w.last == 105 && w.total == 105);
        w.calls = 0;
        CHECK_OK(okra_parallel_(c, 105, 10, NULL, body, fresh(c)));
        CHECK(w.calls == 0);
        okra_context_free(c);
    }
}

/* Two chunks that are certainly in two threads: each waits until both have begun. The one
 * in the caller's thread then ends first, or last. */
typedef struct meeting {
    atomic_int begun;
    bool caller_last, failing;
} meeting;

static okra_status meet(void *arg, okra_int begin, okra_int end, int worker)
{
    meeting *m = arg;
    (void)end;
    atomic_fetch_add(&m->begun, 1);
    for (int i = 0; i < 5000 && atomic_load(&m->begun) < 2; i++) {
        usleep(1000);
    }
    if ((worker == 0) == m->caller_last) {
        usleep(20000);
    }
    if (m->failing) {
        return okra_fail_(OKRA_ENUMERIC, "chunk %lld", (long long)begin);
    }
    return OKRA_OK;
}

TEST(the_order_of_ending_does_not_matter)
{
    okra_context *c = with_threads(2);
    watcher w = {.caller = pthread_self()};
    okra_context_set_progress(c, watch, &w);
    for (int last = 0; last < 2; last++) {
        meeting m = {.caller_last = last};
        w.last = 0;
        CHECK_OK(okra_parallel_(c, 2, 1, "work", meet, &m));
        CHECK(m.begun == 2 && w.wrong == 0 && w.last == 2);
        m = (meeting){.caller_last = last, .failing = true};
        w.last = 0;
        CHECK_FAILS(okra_parallel_(c, 2, 1, "work", meet, &m), OKRA_ENUMERIC, "chunk 0");
        CHECK(m.begun == 2 && w.wrong == 0);
    }
    okra_context_free(c);
}

static okra_status sums(void *arg, okra_int begin, okra_int end, int worker)
{
    double *partial = arg;
    (void)worker;
    for (okra_int i = begin; i < end; i++) {
        partial[begin / 7] += 1 / (1.0 + (double)i);
    }
    return OKRA_OK;
}

TEST(same_bits_for_any_number_of_threads)
{
    double first[143] = {0};
    for (int threads = 1; threads <= 6; threads++) {
        double partial[143] = {0};
        okra_context *c = with_threads(threads);
        CHECK_OK(okra_parallel_(c, MOST, 7, NULL, sums, partial));
        if (threads == 1) {
            memcpy(first, partial, sizeof first);
        }
        CHECK(memcmp(first, partial, sizeof first) == 0);
        okra_context_free(c);
    }
}

typedef struct timed {
    bool slow;
    pthread_t thread[20];
} timed;

static okra_status who(void *arg, okra_int begin, okra_int end, int worker)
{
    timed *t = arg;
    (void)end;
    (void)worker;
    t->thread[begin] = pthread_self();
    for (clock_t from = clock(); t->slow && clock() - from < CLOCKS_PER_SEC / 100;) {
    }
    return OKRA_OK;
}

static int others(const timed *t)
{
    int count = 0;
    for (int i = 0; i < 20; i++) {
        count += !pthread_equal(t->thread[i], pthread_self());
    }
    return count;
}

/* A loop whose first chunk was quick wakes nobody, unless it is known to be large. On a
 * busy machine that chunk may be interrupted, which looks slow, but not in half of them.
 */
TEST(a_small_loop_stays_in_its_caller)
{
    enum { LOOPS = 40 };
    okra_context *c = with_threads(3);
    timed quick = {.slow = false}, slow = {.slow = true};
    int stayed = 0;
    for (int k = 0; k < LOOPS; k++) {
        CHECK_OK(okra_parallel_least_(c, 50, 20, 1, NULL, who, &quick));
        stayed += others(&quick) == 0;
    }
    CHECK(stayed > LOOPS / 2);
    CHECK_OK(okra_parallel_least_(c, 50, 20, 1, NULL, who, &slow));
    CHECK(others(&slow) > 0);
    CHECK_OK(okra_parallel_least_(c, 1e12, 20, 1, NULL, who, &slow));
    CHECK(others(&slow) > 0);
    okra_context_free(c);
}

/* Scratch is made for so many workers as there are: a mask that widens within a call must
 * not bring more. A new context follows it, and one that is told so. */
TEST(the_default_stays_the_same)
{
    cpu_set_t all, one;
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    size_t first = 0;
    while (!CPU_ISSET(first, &all)) {
        first++;
    }
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    int before = okra_workers_(NULL), most = okra_context_threads(NULL);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    okra_context *ctx = with_threads(0);
    CHECK(okra_workers_(ctx) == 1 && okra_context_threads(ctx) == 1);
    CHECK(okra_workers_(NULL) == before && okra_context_threads(NULL) == 1);
    CHECK(sched_setaffinity(0, sizeof all, &all) == 0);
    CHECK(okra_workers_(ctx) == 1 && okra_context_threads(ctx) == 1);
    CHECK_OK(okra_context_set_threads(ctx, 0));
    CHECK(okra_workers_(ctx) == most && okra_context_threads(NULL) == most);
    okra_context_free(ctx);
}

typedef struct asking {
    okra_context *ctx;
    int calls, refused;
} asking;

static void change_threads(void *user, const char *what, okra_int done, okra_int total)
{
    (void)what, (void)done, (void)total;
    asking *a = user;
    a->calls++;
    a->refused += okra_context_set_threads(a->ctx, 3) == OKRA_EARG;
}

static void change_in_warning(void *user, const char *text)
{
    change_threads(user, text, 0, 0);
}

static okra_status change_in_worker(void *arg, okra_int begin, okra_int end, int worker)
{
    (void)begin, (void)end, (void)worker;
    asking *a = arg;
    return okra_context_set_threads(a->ctx, 3) == OKRA_EARG
               ? OKRA_OK
               : okra_fail_(OKRA_EINTERNAL, "changed");
}

TEST(a_callback_cannot_change_the_number_of_threads)
{
    asking a = {.ctx = with_threads(2)};
    okra_context_set_progress(a.ctx, change_threads, &a);
    okra_context_set_warning(a.ctx, change_in_warning, &a);
    okra_progress_(a.ctx, "work", 1, 2);
    okra_warn_(a.ctx, "beware");
    CHECK(a.calls == 2 && a.refused == 2);
    CHECK_OK(okra_parallel_(a.ctx, 10, 1, NULL, change_in_worker, &a));
    CHECK(okra_context_threads(a.ctx) == 2);
    CHECK_OK(okra_context_set_threads(a.ctx, 3));
    CHECK(okra_context_threads(a.ctx) == 3);
    okra_context_free(a.ctx);
}

MAIN(RUN(every_index_once_in_the_same_chunks), RUN(the_first_failure_by_chunk_wins),
     RUN(chunks_after_a_failure_are_skipped),
     RUN(a_request_to_stop_is_heard_between_chunks),
     RUN(a_loop_inside_a_loop_runs_in_its_worker),
     RUN(progress_comes_from_the_caller_and_ends_at_the_total),
     RUN(the_order_of_ending_does_not_matter), RUN(same_bits_for_any_number_of_threads),
     RUN(a_small_loop_stays_in_its_caller), RUN(the_default_stays_the_same),
     RUN(a_callback_cannot_change_the_number_of_threads))
