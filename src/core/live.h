/*
 * live.h: the handles that callers hold. The layer that the build writes from the public
 * headers (cmake/OkraGuard.cmake) asks here before a call and tells here after it; the
 * library itself calls its functions directly, and what it makes for itself is not here.
 */
#ifndef OKRA_LIVE_H_
#define OKRA_LIVE_H_

#include "core/core.h"

/* Whether `handle` is not NULL, and no handle of this kind (1..63) that a caller may use;
 * then the message says so, of the argument `name` of `function`. It takes no lock: a
 * handler of signals may ask. */
bool okra_dead_(const char *function, const char *name, const void *handle, int kind,
                const char *type);
/* The same of any of `count` handles at `at` (NULL: there are none). */
bool okra_dead_any_(const char *function, const char *name, const void *at, size_t count,
                    int kind, const char *type);

/* Before a call that makes `count` handles: there will be place for them. Each such call
 * is followed by one of okra_born_ with the same count. */
okra_status okra_expect_(size_t count) OKRA_CHECK;
/* The caller owns what the `count` pointers at `at` point to (NULL: none), once more. */
void okra_born_(const void *at, bool made, size_t count, int kind);
/* The caller gives back what it owns; false, with a message, where it does not. Then
 * nothing may be freed. What the handle lent is gone with it. */
bool okra_died_(const char *function, const void *handle, int kind, const char *type);
/* `handle` (NULL: none) may be used for as long as `owner`. False: no memory. */
bool okra_lent_(const void *owner, int owner_kind, const void *handle, int kind);

/* Around every call of a caller: within the outermost one the default number of threads
 * stays what it was when it was first asked for, see okra_context_threads_lately_. */
void okra_enter_(void);
void okra_leave_(void);
/* How many are under way in this thread: 2 where a callback calls. */
int okra_calls_(void);

#endif
