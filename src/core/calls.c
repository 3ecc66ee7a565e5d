/*
 * calls.c: the calls of a caller, and the default number of threads within each.
 *
 * The default follows the processors that the process may use, and these may change at
 * any time. Loops index scratch by their worker, so the number must be the same from the
 * first scratch of a call to its last loop.
 */
#include "core/core.h"
#include "core/live.h"

#include <time.h>

/* The default as this thread last asked for it; `kept` until the call of the caller ends.
 */
static _Thread_local struct {
    int calls, count;
    bool kept;
    struct timespec when;
} asked;

void okra_enter_(void)
{
    asked.kept = asked.calls++ > 0 && asked.kept;
}

void okra_leave_(void)
{
    asked.calls--;
}

int okra_calls_(void)
{
    return asked.calls;
}

void okra_threads_keep_(int count)
{
    asked.count = count;
    asked.kept = true;
}

int okra_threads_default_(void)
{
    static const long fresh = 10000000; /* nanoseconds */
    struct timespec now;
    if (asked.kept) {
        return asked.count;
    }
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now); /* no system call */
    if (asked.count == 0 || now.tv_sec != asked.when.tv_sec ||
        now.tv_nsec - asked.when.tv_nsec > fresh) {
        asked.count = okra_context_threads(NULL);
        asked.when = now;
    }
    asked.kept = asked.calls > 0;
    return asked.count;
}
