/*
 * run.c: the context of a call, its warnings and progress, and interrupts.
 *
 * The library works in a thread of its own that blocks every signal and never calls R.
 * This thread waits, asks R every 50 ms whether the user wants to stop (R_ToplevelExec
 * keeps R's jump inside of it), and then cancels the context, which the library looks at
 * far more often than it reports progress.
 */
#include "bridge.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SHOWN = 64, TELLS = 64 };

typedef struct run {
    okra_context *context;
    pthread_mutex_t lock; /* of all below, while a job is under way */
    char *told[TELLS];    /* warnings, each once; those beyond are dropped */
    int tells;
    bool shows, news;
    char what[SHOWN];
    okra_int done, total;
} run;

static void warned(void *user, const char *text)
{
    run *r = user;
    if (strncmp(text, "note: ", 6) == 0) {
        return; /* of a file: its data say their kind here */
    }
    pthread_mutex_lock(&r->lock);
    bool known = r->tells == TELLS;
    for (int k = 0; k < r->tells && !known; k++) {
        known = strcmp(r->told[k], text) == 0;
    }
    size_t size = strlen(text) + 1;
    char *copy = known ? NULL : malloc(size);
    if (copy) {
        memcpy(copy, text, size);
        r->told[r->tells++] = copy;
    }
    pthread_mutex_unlock(&r->lock);
}

static void progressed(void *user, const char *what, okra_int done, okra_int total)
{
    run *r = user;
    pthread_mutex_lock(&r->lock);
    strncpy(r->what, what, SHOWN - 1);
    r->done = done;
    r->total = total;
    r->news = true;
    pthread_mutex_unlock(&r->lock);
}

static void free_run(void *pointer)
{
    run *r = pointer;
    for (int k = 0; k < r->tells; k++) {
        free(r->told[k]);
    }
    okra_context_free(r->context);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

static SEXP setting(SEXP settings, const char *name)
{
    SEXP names = Rf_getAttrib(settings, R_NamesSymbol);
    for (R_xlen_t i = 0; i < XLENGTH(settings); i++) {
        if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0) {
            return VECTOR_ELT(settings, i);
        }
    }
    return R_NilValue;
}

static okra_status settle(okra_context *context, SEXP settings)
{
    SEXP threads = setting(settings, "threads"), memory = setting(settings, "memory");
    SEXP seed = setting(settings, "seed"), engine = setting(settings, "engine");
    SEXP header = setting(settings, "header");
    okra_status st = OKRA_OK;
    if (threads != R_NilValue) {
        st = okra_context_set_threads(context, Rf_asInteger(threads));
    }
    if (st == OKRA_OK && memory != R_NilValue) {
        st = okra_context_set_memory(context, (okra_int)Rf_asReal(memory));
    }
    if (seed != R_NilValue) {
        okra_context_set_seed(context, (uint64_t)Rf_asReal(seed));
    }
    if (st == OKRA_OK && header != R_NilValue) {
        st = okra_context_set_header(context, Rf_asLogical(header) ? 1 : -1);
    }
    if (st == OKRA_OK && engine != R_NilValue) {
        st = okra_context_set_engine(context, CHAR(STRING_ELT(engine, 0)));
    }
    return st;
}

SEXP C_context(SEXP settings)
{
    SEXP handle = PROTECT(handle_new(A_CONTEXT, free_run, R_NilValue));
    run *r = calloc(1, sizeof *r);
    if (!r || pthread_mutex_init(&r->lock, NULL) != 0) {
        free(r);
        Rf_error("out of memory");
    }
    handle_hold(handle, r);
    okra_status st = okra_context_create(&r->context);
    st = st ? st : settle(r->context, settings);
    if (st == OKRA_OK) {
        r->shows = Rf_asLogical(setting(settings, "verbose")) == TRUE;
        okra_context_set_warning(r->context, warned, r);
        if (r->shows) {
            okra_context_set_progress(r->context, progressed, r);
        }
    }
    UNPROTECT(1);
    return st == OKRA_OK ? handle : failure(st);
}

SEXP C_warnings(SEXP context)
{
    const run *r = handle_get(context, A_CONTEXT);
    SEXP out = PROTECT(Rf_allocVector(STRSXP, r->tells));
    for (int k = 0; k < r->tells; k++) {
        SET_STRING_ELT(out, k, Rf_mkCharCE(r->told[k], CE_UTF8));
    }
    UNPROTECT(1);
    return out;
}

/* ---- a job and the one who waits for it ---- */

typedef struct work {
    run *r;
    job_fn fn;
    void *job;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool over;
    okra_status status;
    char *message; /* of the thread that failed; NULL: no memory for it */
} work;

static void *do_work(void *user)
{
    work *w = user;
    okra_status st = w->fn(w->r->context, w->job);
    char *message = NULL;
    if (st != OKRA_OK) {
        size_t size = strlen(okra_message()) + 1;
        message = malloc(size);
        if (message) {
            memcpy(message, okra_message(), size);
        }
    }
    pthread_mutex_lock(&w->lock);
    w->status = st;
    w->message = message;
    w->over = true;
    pthread_cond_signal(&w->ended);
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static void ask(void *unused)
{
    (void)unused;
    R_CheckUserInterrupt();
}

typedef struct line {
    char what[SHOWN];
    okra_int done, total;
} line;

static void print_line(void *user)
{
    const line *l = user;
    REprintf("\r%s %.0f of %.0f ", l->what, (double)l->done, (double)l->total);
}

/* Printing may jump as well, where a connection of R's catches what is printed. */
static void show(run *r)
{
    line l = {.done = 0};
    pthread_mutex_lock(&r->lock);
    bool news = r->news;
    memcpy(l.what, r->what, SHOWN);
    l.done = r->done;
    l.total = r->total;
    r->news = false;
    pthread_mutex_unlock(&r->lock);
    if (news) {
        R_ToplevelExec(print_line, &l);
    }
}

/* Whether the work is over, after 50 ms at the most. */
static bool wait_for(work *w)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 50000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_mutex_lock(&w->lock);
    int late = 0;
    while (!w->over && late == 0) {
        late = pthread_cond_timedwait(&w->ended, &w->lock, &until);
    }
    bool over = w->over;
    pthread_mutex_unlock(&w->lock);
    return over;
}

okra_status run_job(SEXP context, job_fn fn, void *job)
{
    run *r = handle_get(context, A_CONTEXT);
    work w = {.r = r, .fn = fn, .job = job};
    pthread_mutex_init(&w.lock, NULL);
    pthread_cond_init(&w.ended, NULL);
    sigset_t all, former;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former);
    pthread_t thread;
    bool own = pthread_create(&thread, NULL, do_work, &w) == 0;
    pthread_sigmask(SIG_SETMASK, &former, NULL);
    if (!own) {
        do_work(&w);
    }
    while (!wait_for(&w)) {
        if (!R_ToplevelExec(ask, NULL)) {
            okra_context_cancel(r->context);
        }
        if (r->shows) {
            show(r);
        }
    }
    if (own) {
        pthread_join(thread, NULL);
    }
    pthread_cond_destroy(&w.ended);
    pthread_mutex_destroy(&w.lock);
    okra_context_resume(r->context);
    failure_says(w.message);
    return w.status;
}
