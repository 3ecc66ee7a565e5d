/*
 * guard.c: files that stay mapped, and may be cut short meanwhile by another process.
 *
 * A page beyond the new end of such a file is a signal (SIGBUS) where it is read. The
 * handler, which is there from the first file on, puts a page of zeros in its place and
 * notes the file; every loop then fails (okra_cancelled_) until it is closed. What is
 * changed or cut off within a page is no signal: the end of a loop and of an output ask
 * for the file's size and time (okra_guard_settle_). A fault anywhere else goes to the
 * handler that was there before. The table has fixed slots, so that the handler needs no
 * lock; a file beyond them is mapped without guard.
 */
#include "core/core.h"

#include <pthread.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SLOTS = 4096, NAME = 256 };

static struct slot {
    atomic_uintptr_t begin, end; /* 0, 0: free */
    atomic_bool cut;
    char name[NAME];
    int fd; /* its own, or -1: the system has none left */
    struct stat then;
} slots[SLOTS];
static atomic_int files_cut, used; /* slots from `used` on were never taken */
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

/* The child of a fork has no thread that would unlock it. */
static void unlock_child(void)
{
    pthread_mutex_init(&lock, NULL);
}

void okra_guard_open_(int fd, const void *base, const struct stat *info, const char *name)
{
    pthread_mutex_lock(&lock);
    if (!installed) {
        struct sigaction ours = {.sa_sigaction = on_fault,
                                 .sa_flags = SA_SIGINFO | SA_NODEFER};
        sigemptyset(&ours.sa_mask);
        installed = sigaction(SIGBUS, &ours, &before) == 0;
        (void)pthread_atfork(NULL, NULL, unlock_child);
    }
    int k = 0;
    while (k < SLOTS && atomic_load(&slots[k].begin)) {
        k++;
    }
    if (k < SLOTS) {
        snprintf(slots[k].name, NAME, "%s", name);
        atomic_store(&slots[k].cut, false);
        slots[k].fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        slots[k].then = *info;
        atomic_store(&slots[k].begin, (uintptr_t)base);
        atomic_store(&slots[k].end, (uintptr_t)base + (uintptr_t)info->st_size);
        atomic_store(&used, OKRA_MAX_(atomic_load(&used), k + 1));
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
            if (slots[k].fd >= 0) {
                close(slots[k].fd);
            }
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

bool okra_same_file_(const struct stat *a, const struct stat *b)
{
    return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

okra_status okra_guard_settle_(void)
{
    okra_status st = okra_guard_check_();
    if (atomic_load(&used) > 0) {
        pthread_mutex_lock(&lock);
        for (int k = 0; k < atomic_load(&used) && st == OKRA_OK; k++) {
            struct stat now;
            if (atomic_load(&slots[k].begin) && slots[k].fd >= 0 &&
                fstat(slots[k].fd, &now) == 0 && !okra_same_file_(&slots[k].then, &now)) {
                st = okra_fail_(OKRA_EIO, "%s: it changed while it was read",
                                slots[k].name);
            }
        }
        pthread_mutex_unlock(&lock);
    }
    return st;
}
