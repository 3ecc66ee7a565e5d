/*
 * guard.c: files that stay mapped, and may be cut short meanwhile by another process.
 *
 * A page beyond the new end of such a file is a signal (SIGBUS) where it is read. The
 * handler, which is there from the first file on, puts a page of zeros in its place and
 * notes the file; every loop then fails (okra_cancelled_) until it is closed. A fault
 * anywhere else goes to the handler that was there before. The table has fixed slots, so
 * that the handler needs no lock; a file beyond them is mapped without guard.
 */
#include "core/core.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLOTS = 4096, NAME = 256 };

static struct slot {
    atomic_uintptr_t begin, end; /* 0, 0: free */
    atomic_bool cut;
    char name[NAME];
} slots[SLOTS];
static atomic_int files_cut;
static struct sigaction before;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool installed;

static void on_fault(int number, siginfo_t *info, void *context)
{
    uintptr_t at = (uintptr_t)info->si_addr, page = (uintptr_t)getpagesize();
    for (int k = 0; k < SLOTS; k++) {
        if (at >= atomic_load(&slots[k].begin) && at < atomic_load(&slots[k].end) &&
            mmap((void *)(at / page * page), page, PROT_READ,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED) {
            if (!atomic_exchange(&slots[k].cut, true)) {
                atomic_fetch_add(&files_cut, 1);
            }
            return;
        }
    }
    if (before.sa_flags & SA_SIGINFO) {
        before.sa_sigaction(number, info, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(number);
    } else {
        sigaction(number, &before, NULL); /* the fault comes again */
    }
}

void okra_guard_open_(const void *base, okra_int size, const char *name)
{
    pthread_mutex_lock(&lock);
    if (!installed) {
        struct sigaction ours = {.sa_sigaction = on_fault,
                                 .sa_flags = SA_SIGINFO | SA_NODEFER};
        sigemptyset(&ours.sa_mask);
        installed = sigaction(SIGBUS, &ours, &before) == 0;
    }
    int k = 0;
    while (k < SLOTS && atomic_load(&slots[k].begin)) {
        k++;
    }
    if (k < SLOTS) {
        snprintf(slots[k].name, NAME, "%s", name);
        atomic_store(&slots[k].cut, false);
        atomic_store(&slots[k].begin, (uintptr_t)base);
        atomic_store(&slots[k].end, (uintptr_t)base + (uintptr_t)size);
    }
    pthread_mutex_unlock(&lock);
}

void okra_guard_close_(const void *base)
{
    pthread_mutex_lock(&lock);
    for (int k = 0; k < SLOTS; k++) {
        if (atomic_load(&slots[k].begin) == (uintptr_t)base) {
            atomic_fetch_sub(&files_cut, atomic_load(&slots[k].cut));
            atomic_store(&slots[k].end, 0);
            atomic_store(&slots[k].begin, 0);
            break;
        }
    }
    pthread_mutex_unlock(&lock);
}

okra_status okra_guard_check_(void)
{
    for (int k = 0; k < SLOTS && atomic_load(&files_cut) > 0; k++) {
        REFUSE_IF(atomic_load(&slots[k].begin) && atomic_load(&slots[k].cut), OKRA_EIO,
                  "%s: it was cut short while it was read", slots[k].name);
    }
    return OKRA_OK;
}
