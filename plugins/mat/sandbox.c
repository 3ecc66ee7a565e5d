/*
 * sandbox.c: what okra-mat gives up before it looks at the file.
 *
 * Limits of the process bound memory and time. A seccomp filter refuses (EPERM) every
 * system call that is not in the list: nothing is connected, started, written to disk or
 * mapped as code. A second filter, once the file is open, refuses to open others, which
 * HDF5 would do for external links and for filters that are plugins.
 */
#include "mat.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROOM = 64 << 20 }; /* for libraries: what they allocate whatever the file */

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef ARCHITECTURE
#define LOAD(field) \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, field))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, what)
/* The next two lines apply where the number loaded is this call. */
#define CALL(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1)
#define ALLOW(name) CALL(name), RETURN(SECCOMP_RET_ALLOW)
/* Allowed unless argument `at` has one of `bits`: five lines. */
#define UNLESS(name, at, bits)                                              \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 4),                 \
        LOAD(args[at]), /* the lower half: little-endian */                 \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, 1), RETURN(REFUSE), \
        RETURN(SECCOMP_RET_ALLOW)
#define REFUSE (SECCOMP_RET_ERRNO | (EPERM & SECCOMP_RET_DATA))
/* Another architecture's numbers mean other calls. */
#define BEGIN                                                            \
    LOAD(arch), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0), \
        RETURN(SECCOMP_RET_KILL_PROCESS), LOAD(nr)

static const struct sock_filter reading[] = {
    BEGIN,
#ifdef __NR_open
    UNLESS(open, 1, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC),
    ALLOW(stat),
    ALLOW(lstat),
    ALLOW(access),
    ALLOW(readlink),
#endif
    UNLESS(openat, 2, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC),
    UNLESS(mmap, 2, PROT_EXEC),
    UNLESS(mprotect, 2, PROT_EXEC),
    ALLOW(newfstatat),
    ALLOW(fstat),
    ALLOW(statx),
    ALLOW(faccessat),
    ALLOW(readlinkat),
    ALLOW(getcwd),
    ALLOW(read),
    ALLOW(readv),
    ALLOW(pread64),
    ALLOW(lseek),
    ALLOW(write),
    ALLOW(writev),
    ALLOW(close),
    ALLOW(fcntl),
    ALLOW(munmap),
    ALLOW(mremap),
    ALLOW(madvise),
    ALLOW(brk),
    ALLOW(futex),
    ALLOW(getrandom),
    ALLOW(clock_gettime),
    ALLOW(gettimeofday),
    ALLOW(getpid),
    ALLOW(gettid),
    ALLOW(tgkill),
    ALLOW(rt_sigaction),
    ALLOW(rt_sigprocmask),
    ALLOW(rt_sigreturn),
    ALLOW(sched_getaffinity),
    ALLOW(prlimit64),
    ALLOW(uname),
    ALLOW(prctl), /* for the second filter, which ends it */
    ALLOW(exit),
    ALLOW(exit_group),
    RETURN(REFUSE),
};

static const struct sock_filter closed[] = {
    BEGIN,
#ifdef __NR_open
    CALL(open),   RETURN(REFUSE),
#endif
    CALL(openat), RETURN(REFUSE), RETURN(SECCOMP_RET_ALLOW),
};

static bool apply(const struct sock_filter *rows, size_t count)
{
    struct sock_fprog program = {(unsigned short)count,
                                 (struct sock_filter *)(uintptr_t)rows};
    /* A kernel without seccomp leaves the limits. */
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 || errno == EINVAL ||
           errno == ENOSYS;
}
#define APPLY(rows) apply(rows, sizeof(rows) / sizeof *(rows))
#else
#define APPLY(rows) true
#endif

static bool limit(int what, int64_t most)
{
    struct rlimit value;
    if (getrlimit((__rlimit_resource_t)what, &value) != 0) {
        return false;
    }
    if (value.rlim_max == RLIM_INFINITY || value.rlim_max > (rlim_t)most) {
        value.rlim_max = (rlim_t)most;
    }
    value.rlim_cur = value.rlim_max;
    return setrlimit((__rlimit_resource_t)what, &value) == 0;
}

/* Bytes of address space in use. */
static int64_t address_space(void)
{
    long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f || fscanf(f, "%lld", &pages) != 1) {
        pages = 0;
    }
    if (f) {
        fclose(f);
    }
    return pages * sysconf(_SC_PAGESIZE);
}

static void close_others(void)
{
    if (syscall(__NR_close_range, 3U, ~0U, 0U) != 0) { /* Linux before 5.9 */
        for (int fd = 3; fd < 65536; fd++) {
            close(fd);
        }
    }
}

bool sandbox_enter(int64_t memory, int64_t seconds)
{
    int64_t most = 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close_others();
    if (memory < 0 || seconds <= 0 ||
        __builtin_add_overflow(memory, address_space() + ROOM, &most)) {
        return false;
    }
    return limit(RLIMIT_AS, most) && limit(RLIMIT_CPU, seconds) &&
           limit(RLIMIT_CORE, 0) && limit(RLIMIT_FSIZE, 0) && limit(RLIMIT_NOFILE, 16) &&
           prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && APPLY(reading);
}

bool sandbox_close(void)
{
    return APPLY(closed);
}
