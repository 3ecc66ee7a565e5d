/*
 * live.c: a set of addresses with the kind of handle in their low bits, which the
 * alignment of okra_alloc_ leaves free. It is open addressing in a table that only grows:
 * who reads takes no lock, and who read an old table saw what was true then.
 */
#include "core/live.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum { FIRST = 1024, KINDS = 64, GONE = 1 };

/* A handle that another one lent. */
typedef struct loan {
    uintptr_t key;
    struct loan *next;
} loan;

typedef struct slot {
    atomic_uintptr_t key; /* 0: never used; GONE: not any more     */
    okra_int own, lent;   /* by the caller; by how many handles    */
    loan *loans;          /* what this one lends                   */
} slot;

typedef struct table {
    size_t size, used; /* a power of 2; slots that are not 0 */
    slot *slots;
} table;

static slot first[FIRST];
static table start = {FIRST, 0, first};
static _Atomic(table *) current = &start;
static size_t promised; /* slots for calls that run now */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uintptr_t key_of(const void *handle, int kind)
{
    uintptr_t at = (uintptr_t)handle;
    return at % KINDS == 0 ? at | (uintptr_t)kind : 0;
}

/* The slot of a key, or the one that it would take: GONE or 0. */
static slot *look(const table *t, uintptr_t key)
{
    slot *free_one = NULL;
    size_t i = (size_t)(((uint64_t)key * UINT64_C(0x9E3779B97F4A7C15)) >> 20);
    for (;; i++) {
        slot *s = &t->slots[i & (t->size - 1)];
        uintptr_t k = atomic_load_explicit(&s->key, memory_order_acquire);
        if (k == key) {
            return s;
        }
        free_one = !free_one && k == GONE ? s : free_one;
        if (k == 0) {
            return free_one ? free_one : s;
        }
    }
}

static slot *find(uintptr_t key)
{
    slot *s = key ? look(atomic_load(&current), key) : NULL;
    return s && atomic_load(&s->key) == key ? s : NULL;
}

static bool is_dead(const void *handle, int kind)
{
    return handle && !find(key_of(handle, kind));
}

bool okra_dead_(const char *function, const char *name, const void *handle, int kind,
                const char *type)
{
    if (!is_dead(handle, kind)) {
        return false;
    }
    okra_fail_(OKRA_EARG,
               "%s: %s is no %s that lives: it was freed, or okra did not make it",
               function, name, type);
    return true;
}

static const void *pointer_at(const void *at, size_t k)
{
    const void *p;
    memcpy(&p, (const char *)at + k * sizeof p, sizeof p);
    return p;
}

bool okra_dead_any_(const char *function, const char *name, const void *at, size_t count,
                    int kind, const char *type)
{
    for (size_t k = 0; at && k < count; k++) {
        if (okra_dead_(function, name, pointer_at(at, k), kind, type)) {
            return true;
        }
    }
    return false;
}

/* ---- changes, under the lock ---- */

/* A table with room for what lives, what was promised and as much again. */
static okra_status grow(table *old, size_t more)
{
    size_t live = 0, size = 2 * old->size; /* all old ones together are smaller */
    for (size_t i = 0; i < old->size; i++) {
        live += atomic_load(&old->slots[i].key) > GONE;
    }
    REFUSE_IF(more > SIZE_MAX / 64 / sizeof(slot), OKRA_EMEM,
              "out of memory: %zu handles", more);
    while (size < 4 * (live + more)) {
        size *= 2;
    }
    /* Somebody may still read the old one: tables stay, and are nobody's memory. */
    void *block = mmap(NULL, sizeof(table) + size * sizeof(slot), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REFUSE_IF(block == MAP_FAILED, OKRA_EMEM, "out of memory: %zu handles", live + more);
    table *t = block;
    *t = (table){size, live, (slot *)(t + 1)};
    for (size_t i = 0; i < old->size; i++) {
        const slot *from = &old->slots[i];
        uintptr_t key = atomic_load(&from->key);
        if (key > GONE) {
            slot *to = look(t, key);
            *to = (slot){key, from->own, from->lent, from->loans};
        }
    }
    atomic_store(&current, t);
    return OKRA_OK;
}

static okra_status promise(size_t count)
{
    table *t = atomic_load(&current);
    size_t taken = t->used + promised;
    if (count > t->size || 2 * (taken + count) > t->size) {
        CHK(grow(t, promised + count));
    }
    promised += count;
    return OKRA_OK;
}

/* The slot of a key, made where there is none; promised before. */
static slot *enter(uintptr_t key)
{
    table *t = atomic_load(&current);
    slot *s = look(t, key);
    uintptr_t was = atomic_load(&s->key);
    if (was != key) {
        t->used += was == 0;
        s->own = s->lent = 0;
        s->loans = NULL;
        atomic_store_explicit(&s->key, key, memory_order_release);
    }
    return s;
}

/* GONE keeps the way to slots behind it; where none is used there, it is 0 again. */
static void leave(slot *s)
{
    table *t = atomic_load(&current);
    size_t mask = t->size - 1, i = (size_t)(s - t->slots);
    atomic_store(&s->key, GONE);
    if (atomic_load(&t->slots[(i + 1) & mask].key) != 0) {
        return;
    }
    for (; atomic_load(&t->slots[i & mask].key) == GONE; i--) {
        atomic_store(&t->slots[i & mask].key, 0);
        t->used--;
    }
}

/* What nobody holds any more is gone, and so is what it alone lent. */
static void settle(slot *s)
{
    loan *waiting = NULL;
    for (;;) {
        if (s && s->own == 0 && s->lent == 0) {
            loan **end = &s->loans;
            while (*end) {
                end = &(*end)->next;
            }
            *end = waiting;
            waiting = s->loans;
            leave(s);
        }
        if (!waiting) {
            return;
        }
        loan *one = waiting;
        waiting = one->next;
        s = find(one->key);
        okra_free_(one);
        if (s) {
            s->lent--;
        }
    }
}

okra_status okra_expect_(size_t count)
{
    pthread_mutex_lock(&lock);
    okra_status st = promise(count);
    pthread_mutex_unlock(&lock);
    return st;
}

void okra_born_(const void *at, bool made, size_t count, int kind)
{
    pthread_mutex_lock(&lock);
    for (size_t k = 0; at && made && k < count; k++) {
        uintptr_t key = key_of(pointer_at(at, k), kind);
        if (key > (uintptr_t)kind) {
            enter(key)->own++;
        }
    }
    promised -= count;
    pthread_mutex_unlock(&lock);
}

bool okra_died_(const char *function, const void *handle, int kind, const char *type)
{
    pthread_mutex_lock(&lock);
    slot *s = handle ? find(key_of(handle, kind)) : NULL;
    bool owned = s && s->own > 0;
    if (owned) {
        s->own--;
        settle(s);
    }
    pthread_mutex_unlock(&lock);
    if (handle && !owned) {
        okra_fail_(OKRA_EARG,
                   "%s: this %s is not the caller's: it was freed, or lent, or "
                   "okra did not make it",
                   function, type);
    }
    return owned;
}

/* Under the lock: one loan more, unless it is known. */
static okra_status lend(uintptr_t owner, uintptr_t key)
{
    slot *from = find(owner);
    for (const loan *l = from ? from->loans : NULL; l; l = l->next) {
        if (l->key == key) {
            return OKRA_OK;
        }
    }
    if (from) {
        loan *l;
        CHK(promise(1));
        promised--;
        MAKE(l, 1);
        slot *to = enter(key);
        from = find(owner); /* the table may have grown */
        to->lent++;
        *l = (loan){key, from->loans};
        from->loans = l;
    }
    return OKRA_OK;
}

bool okra_lent_(const void *owner, int owner_kind, const void *handle, int kind)
{
    uintptr_t from = key_of(owner, owner_kind), key = key_of(handle, kind);
    if (!owner || !handle || !key) {
        return true;
    }
    pthread_mutex_lock(&lock);
    okra_status st = lend(from, key);
    pthread_mutex_unlock(&lock);
    return st == OKRA_OK;
}
