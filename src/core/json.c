/*
 * json.c: jansson with an eye on its memory.
 *
 * Writing, jansson passes over the loss of a key; reading, it passes over the loss of a
 * character and then writes past the end of a block. So its allocations go through
 * take(): okra's function is put before the one that is in use, blocks stay those of that
 * one, and other users of jansson in the process see no difference. A failure is
 * remembered by the thread that asked. While it parses it is given a place of a reserve
 * that was set aside, so that it comes to a sound end; what it made is then thrown away.
 */
#include "core/json.h"

#include <pthread.h>

enum { ALIGN = 16, RESERVE_LEAST = 1 << 16 };

static json_malloc_t before;
static json_free_t release;
static _Thread_local bool lost;
static _Thread_local char *reserve;
static _Thread_local size_t reserve_used, reserve_size;

static void *take(size_t size)
{
    void *p = okra_alloc_told_to_fail_() ? NULL : before(size);
    if (!p) {
        size_t whole = (size + ALIGN - 1) / ALIGN * ALIGN;
        lost = true;
        if (reserve && whole >= size && whole <= reserve_size - reserve_used) {
            p = reserve + reserve_used;
            reserve_used += whole;
        }
    }
    return p;
}

static void give(void *p)
{
    const char *at = p;
    if (!reserve || at < reserve || at >= reserve + reserve_size) {
        release(p);
    }
}

static void install(void)
{
    json_get_alloc_funcs(&before, &release);
    json_set_alloc_funcs(take, give);
}

void okra_json_watch_(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
    lost = false;
}

bool okra_json_lost_(void)
{
    return lost;
}

json_t *okra_json_parse_(const char *text, size_t size, size_t flags, json_error_t *where)
{
    okra_int room = RESERVE_LEAST + OKRA_JSON_PARSED_ * (okra_int)size;
    json_t *value = NULL;
    okra_json_watch_();
    reserve = okra_alloc_(room, 1); /* most often not a byte of it is touched */
    if (!reserve) {
        lost = true;
        return NULL;
    }
    reserve_used = 0;
    reserve_size = (size_t)room;
    value = json_loadb(text, size, flags, where);
    if (lost) {
        json_decref(value);
        value = NULL;
    }
    char *block = reserve;
    reserve = NULL;
    okra_free_(block);
    return value;
}
