/*
 * failing.c: a library for LD_PRELOAD in which allocations fail, whoever asks for them.
 *
 * OKRA_FAIL_AT=k     the k-th allocation of the process fails (counted from 1, once)
 * OKRA_FAIL_EVERY=k  every k-th fails
 * OKRA_FAIL_COUNT=F  at the end the number of allocations is written to the file F
 *
 * Counting begins when the program's libraries are loaded.
 */
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static atomic_llong calls;
static long long at, every;
static atomic_bool counting;

__attribute__((constructor)) static void begin(void)
{
    const char *one = getenv("OKRA_FAIL_AT"), *many = getenv("OKRA_FAIL_EVERY");
    at = one ? atoll(one) : 0;
    every = many ? atoll(many) : 0;
    atomic_store(&counting, true);
}

__attribute__((destructor)) static void end(void)
{
    char text[32];
    const char *path = getenv("OKRA_FAIL_COUNT");
    atomic_store(&counting, false);
    FILE *f = path ? fopen(path, "w") : NULL;
    if (f) {
        snprintf(text, sizeof text, "%lld\n", (long long)atomic_load(&calls));
        fputs(text, f);
        fclose(f);
    }
}

static bool fails(void)
{
    if (!atomic_load(&counting)) {
        return false;
    }
    long long k = atomic_fetch_add(&calls, 1) + 1;
    if (k == at || (every > 0 && k % every == 0)) {
        errno = ENOMEM;
        return true;
    }
    return false;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *p, size_t size)
{
    return fails() ? NULL : __libc_realloc(p, size);
}

void *memalign(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **p, size_t alignment, size_t size)
{
    void *block = memalign(alignment, size);
    if (!block) {
        return ENOMEM;
    }
    *p = block;
    return 0;
}
