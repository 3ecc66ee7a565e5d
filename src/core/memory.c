/*
 * memory.c: the one allocator, and the budget.
 *
 * Blocks are 64-byte aligned (a cache line, an AVX-512 vector) and preceded by a header
 * line that holds their size and their account, so that live bytes can be counted, of the
 * process and of each context. A block goes to the account of the context that its thread
 * worked for last: that asked the budget, or runs the loop that the thread helps with.
 * Counters are atomic; accounts are slots of a fixed table, so that a block may outlive
 * its context.
 */
#include "core/core.h"

#include <sys/mman.h>

enum { ALIGNMENT = 64, ACCOUNTS = 1024 };

static atomic_llong live_blocks, live_bytes, peak_bytes;
static atomic_llong fail_countdown = -1;
/* Account 0 belongs to nobody. A slot is free when no context has it and no block of its
 * last owner is left. */
static atomic_llong account_bytes[ACCOUNTS];
static atomic_llong account_limit[ACCOUNTS]; /* the budget that was set; 0: none */
static atomic_bool account_owned[ACCOUNTS];
static _Thread_local int account_now;

typedef struct header {
    size_t size;
    int account;
    void *base; /* what the system gave */
} header;
#define HEADER_OF(p) ((header *)(void *)((char *)(p)-ALIGNMENT))

/* From this many bytes on, zeros are pages that the system has not handed out yet: what
 * is never written costs nothing. */
static const size_t lazy_least = (size_t)64 << 20;

/* Matrices that are read from end to end are bound by memory, and half of that time goes
 * by looking up pages of 4 KiB: Linux is asked for pages of 2 MiB within blocks of some
 * of them, which begin at one where that matters. It may say no. */
static const size_t page = (size_t)2 << 20;
static void *get_base(size_t bytes, bool zeros)
{
    void *base = NULL;
    if (zeros) {
        return calloc(bytes + (size_t)2 * ALIGNMENT, 1);
    }
    /* No rounding up: the address sanitizer then sees the first byte past the end. */
    if (posix_memalign(&base, bytes >= 4 * page ? page : ALIGNMENT, ALIGNMENT + bytes) !=
        0) {
        return NULL;
    }
#ifdef MADV_HUGEPAGE
    uintptr_t begin = ((uintptr_t)base + page - 1) / page * page;
    uintptr_t end = ((uintptr_t)base + bytes) / page * page;
    if (bytes >= 2 * page && end > begin) {
        (void)madvise((void *)begin, (size_t)(end - begin), MADV_HUGEPAGE);
    }
#endif
    return base;
}

static void *get_block(okra_int count, size_t size, bool zeros)
{
    if (count < 0 || (size > 0 && (uint64_t)count > (SIZE_MAX / 2) / size)) {
        (void)okra_fail_(OKRA_EMEM,
                         "%lld elements of %zu bytes are more than can be addressed",
                         (long long)count, size);
        return NULL;
    }
    size_t bytes = (size_t)count * size;
    bool lazy = zeros && bytes >= lazy_least, fails = false;
    /* A budget that was set holds for what nobody asked it for, but for a quarter and
     * 16 MiB of small blocks beside what was asked. */
    long long small = 16 << 20, set = atomic_load(&account_limit[account_now]);
    if (set > 0 && (long long)bytes >
                       set + set / 4 + small - atomic_load(&account_bytes[account_now])) {
        (void)okra_fail_(OKRA_EMEM,
                         "%lld elements of %zu bytes are beyond the memory budget",
                         (long long)count, size);
        return NULL;
    }
    /* glibc returns freed memory to the system at once beyond twice the largest block it
     * has seen freed, and asks for it again, page by page, in the next call: a third of
     * the time of a small fit. Freeing one block of 31 MiB, which is never touched, tells
     * it that such sizes come and go; beyond 32 MiB it does not listen. */
    static atomic_flag told = ATOMIC_FLAG_INIT;
    if (bytes >= 1 << 16 && !atomic_flag_test_and_set(&told)) {
        void *volatile block = malloc((size_t)31 << 20);
        free(block);
    }
    for (long long left = atomic_load(&fail_countdown); left >= 0;) { /* of a test */
        if (atomic_compare_exchange_weak(&fail_countdown, &left, left - 1)) {
            fails = left == 0;
            break;
        }
    }
    void *base = fails ? NULL : get_base(bytes, lazy);
    if (!base) {
        (void)okra_fail_(OKRA_EMEM, "could not allocate %zu bytes", bytes);
        return NULL;
    }
    uintptr_t at = ((uintptr_t)base + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    void *p = (void *)(at + ALIGNMENT);
    *HEADER_OF(p) = (header){bytes, account_now, base};
    long long size_now =
        atomic_fetch_add(&live_bytes, (long long)bytes) + (long long)bytes;
    long long peak = atomic_load(&peak_bytes);
    while (size_now > peak &&
           !atomic_compare_exchange_weak(&peak_bytes, &peak, size_now)) {
    }
    atomic_fetch_add(&live_blocks, 1);
    atomic_fetch_add(&account_bytes[account_now], (long long)bytes);
    if (zeros && !lazy) {
        memset(p, 0, bytes);
    }
    return p;
}

void *okra_alloc_(okra_int count, size_t size)
{
    return get_block(count, size, false);
}

void *okra_zalloc_(okra_int count, size_t size)
{
    return get_block(count, size, true);
}

/* What grows does so with a file, of which nobody knew how much it holds: it obeys the
 * budget. Small blocks do not count. The default budget is of all contexts together. */
void *okra_realloc_(void *p, okra_int count, size_t size)
{
    const double small = 1 << 20;
    double bytes = (double)count * (double)size;
    okra_int set = atomic_load(&account_limit[account_now]);
    okra_int used = atomic_load(set > 0 ? &account_bytes[account_now] : &live_bytes);
    if (bytes > small &&
        (double)used + bytes > (double)(set > 0 ? set : okra_context_memory(NULL))) {
        (void)okra_fail_(OKRA_EMEM,
                         "%lld elements of %zu bytes are beyond the memory budget",
                         (long long)count, size);
        return NULL;
    }
    void *fresh = okra_alloc_(count, size);
    if (fresh && p) {
        size_t old = HEADER_OF(p)->size, new = (size_t)count *size;
        memcpy(fresh, p, OKRA_MIN_(old, new));
        okra_free_(p);
    }
    return fresh;
}

char *okra_strndup_(const char *text, size_t length)
{
    char *copy = okra_alloc_((okra_int)length + 1, 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

char *okra_format_(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = length < 0 ? NULL : okra_alloc_((okra_int)length + 1, 1);
    if (text) {
        vsnprintf(text, (size_t)length + 1, format, again);
    }
    va_end(again);
    return text;
}

void okra_free_(void *p)
{
    if (p) {
        header *h = HEADER_OF(p);
        atomic_fetch_sub(&live_blocks, 1);
        atomic_fetch_sub(&live_bytes, (long long)h->size);
        atomic_fetch_sub(&account_bytes[h->account], (long long)h->size);
        free(h->base);
    }
}

okra_int okra_alloc_live_blocks_(void)
{
    return atomic_load(&live_blocks);
}

okra_int okra_alloc_live_bytes_(void)
{
    return atomic_load(&live_bytes);
}

okra_int okra_alloc_peak_bytes_(void)
{
    return atomic_load(&peak_bytes);
}

void okra_alloc_reset_peak_(void)
{
    atomic_store(&peak_bytes, atomic_load(&live_bytes));
}

void okra_alloc_fail_at_(okra_int k)
{
    atomic_store(&fail_countdown, k);
}

int okra_account_open_(void)
{
    for (int a = 1; a < ACCOUNTS; a++) {
        if (!atomic_exchange(&account_owned[a], true)) {
            if (atomic_load(&account_bytes[a]) == 0) {
                return a;
            }
            atomic_store(&account_owned[a], false);
        }
    }
    return 0;
}

void okra_account_close_(int account)
{
    if (account > 0) {
        atomic_store(&account_limit[account], 0);
        atomic_store(&account_owned[account], false);
    }
}

void okra_account_limit_(int account, okra_int bytes)
{
    if (account > 0) {
        atomic_store(&account_limit[account], bytes);
    }
}

void okra_account_use_(const okra_context *context)
{
    if (context) {
        account_now = context->account;
    }
}

okra_int okra_account_bytes_(const okra_context *context)
{
    return atomic_load(&account_bytes[context ? context->account : 0]);
}

/* A budget that was set is of the context. The default one is a share of the machine's
 * memory, and all contexts use that together. */
okra_int okra_memory_used_(const okra_context *context)
{
    bool own = context && context->account > 0 && context->memory > 0;
    return atomic_load(own ? &account_bytes[context->account] : &live_bytes);
}

okra_int okra_memory_left_(const okra_context *context)
{
    return okra_context_memory(context) - okra_memory_used_(context);
}

/* 1234567 -> "1.18 MiB", for messages. */
static void say_bytes(double bytes, char text[32])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB",
                                        "TiB",   "PiB", "EiB"};
    size_t u = 0;
    while (bytes >= 1024 && u + 1 < sizeof units / sizeof *units) {
        bytes /= 1024;
        u++;
    }
    snprintf(text, 32, u == 0 ? "%.0f %s" : "%.2f %s", bytes, units[u]);
}

okra_status okra_budget_ask_(const okra_context *context, double bytes, const char *what,
                             ...)
{
    double budget = (double)okra_context_memory(context);
    double used = (double)okra_memory_used_(context);
    okra_account_use_(context);
    if (used + bytes <= budget) {
        return OKRA_OK;
    }
    char name[256], need[32], have[32], in_use[32];
    va_list args;
    va_start(args, what);
    vsnprintf(name, sizeof name, what, args);
    va_end(args);
    say_bytes(bytes, need);
    say_bytes(budget, have);
    say_bytes(used, in_use);
    return okra_fail_(
        OKRA_EBUDGET,
        "%s needs %s (%.0f bytes); the memory budget is %s, of which %s are "
        "in use",
        name, need, bytes, have, in_use);
}

okra_status okra_doubles_(const okra_context *context, okra_int rows, okra_int cols,
                          const char *what, double **out)
{
    REFUSE_IF(rows < 0 || cols < 0 || (cols > 0 && rows > INT64_MAX / 8 / cols),
              OKRA_EBUDGET, "%s of %lld x %lld doubles is more than can be addressed",
              what, (long long)rows, (long long)cols);
    CHK(okra_budget_ask_(context, 8.0 * (double)rows * (double)cols,
                         "%s of %lld x %lld doubles", what, (long long)rows,
                         (long long)cols));
    double *p;
    MAKE(p, rows * cols);
    *out = p;
    return OKRA_OK;
}

okra_status okra_reserve_(void *at, okra_int need, okra_int *room, size_t size)
{
    void *block;
    memcpy(&block, at, sizeof block);
    if (need > *room) {
        okra_int larger = OKRA_MAX_(need, 2 * *room + 16);
        GOT(block = okra_realloc_(block, larger, size));
        memcpy(at, &block, sizeof block);
        *room = larger;
    }
    return OKRA_OK;
}

static struct okra_hash_place_ *slot_at(const okra_hashed_ *s, uint64_t hash, okra_int at)
{
    return &s->slots[((hash ^ hash >> 29) + (uint64_t)at) & (uint64_t)(s->room - 1)];
}

okra_status okra_hashed_put_(okra_hashed_ *s, uint64_t hash, okra_int number)
{
    okra_int at = 0;
    if (2 * (s->used + 1) > s->room) {
        okra_hashed_ more = {.room = s->room ? 2 * s->room : 1024};
        ZMAKE(more.slots, more.room);
        for (okra_int k = 0; k < s->room; k++) {
            if (s->slots[k].number) {
                CHK(okra_hashed_put_(&more, s->slots[k].hash, s->slots[k].number - 1));
            }
        }
        okra_free_(s->slots);
        *s = more;
    }
    while (slot_at(s, hash, at)->number) {
        at++;
    }
    *slot_at(s, hash, at) = (struct okra_hash_place_){hash, number + 1};
    s->used++;
    return OKRA_OK;
}

okra_int okra_hashed_next_(const okra_hashed_ *s, uint64_t hash, okra_int *at)
{
    while (s->room > 0 && slot_at(s, hash, *at)->number) {
        const struct okra_hash_place_ *here = slot_at(s, hash, (*at)++);
        if (here->hash == hash) {
            return here->number - 1;
        }
    }
    return -1;
}
