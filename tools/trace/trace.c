/* Lists the distinct functions that a program enters, in the order of first entry, for
 * code that was compiled with -finstrument-functions: lines "OBJECT OFFSET" in the file
 * that TRACE_OUT names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define QUIET __attribute__((no_instrument_function))
enum { SLOTS = 1 << 16 };

static void *seen[SLOTS], *order[SLOTS];
static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

QUIET static void write_out(void)
{
    const char *path = getenv("TRACE_OUT");
    FILE *out = path ? fopen(path, "w") : NULL;
    if (!out)
        return;
    for (int i = 0; i < count; i++) {
        Dl_info info;
        if (dladdr(order[i], &info))
            fprintf(out, "%s %#jx\n", info.dli_fname,
                    (uintmax_t)((uintptr_t)order[i] - (uintptr_t)info.dli_fbase));
    }
    fclose(out);
}

/* The slot of a function in an open table; empty where it was not entered so far. */
QUIET static unsigned slot(void *function)
{
    unsigned i = (unsigned)(((uintptr_t)function * 0x9E3779B97F4A7C15u) >> 48);
    while (1) {
        void *there = __atomic_load_n(&seen[i], __ATOMIC_ACQUIRE);
        if (!there || there == function)
            return i;
        i = (i + 1) % SLOTS;
    }
}

QUIET void __cyg_profile_func_enter(void *function, void *site)
{
    (void)site;
    if (seen[slot(function)])
        return;
    pthread_mutex_lock(&lock);
    unsigned i = slot(function);
    if (!seen[i] && count < SLOTS - 1) {
        if (!count)
            atexit(write_out);
        order[count++] = function;
        __atomic_store_n(&seen[i], function, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
}

QUIET void __cyg_profile_func_exit(void *function, void *site)
{
    (void)function;
    (void)site;
}
