/* What okra-mat cannot do once it is in its sandbox. */
#include "harness.h"

#include "../../../plugins/mat/mat.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* The number that body() returns in a process inside the sandbox; -signal if it died. */
static inline int inside(int (*body)(void))
{
    pid_t pid = fork();
    if (pid == 0) {
        _exit(sandbox_enter(INT64_C(1) << 30, 5) ? body() : 100);
    }
    int status = 0;
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static inline int read_a_file(void)
{
    char c;
    int fd = open("/proc/self/maps", O_RDONLY);
    return fd >= 0 && read(fd, &c, 1) == 1 ? 0 : 1;
}

static inline int open_after_close(void)
{
    return sandbox_close() && open("/dev/null", O_RDONLY) < 0 && errno == EPERM ? 0 : 1;
}

static inline int write_a_file(void)
{
    return open("/tmp", O_WRONLY | O_TMPFILE, 0600) < 0 && errno == EPERM &&
                   open("/dev/null", O_RDWR) < 0 && errno == EPERM
               ? 0
               : 1;
}

static inline int connect_somewhere(void)
{
    return socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM &&
                   socket(AF_UNIX, SOCK_STREAM, 0) < 0 && errno == EPERM
               ? 0
               : 1;
}

static inline int start_something(void)
{
    char name[] = "/bin/true";
    char *arguments[] = {name, NULL};
    execv(name, arguments);
    return errno == EPERM && fork() < 0 && errno == EPERM ? 0 : 1;
}

static inline int make_code(void)
{
    return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
                       MAP_FAILED &&
                   errno == EPERM
               ? 0
               : 1;
}

static inline int take_memory(void)
{
    return mmap(NULL, (size_t)2 << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
                   MAP_FAILED
               ? 0
               : 1;
}

static inline int keep_descriptors(void)
{
    return fcntl(9, F_GETFD) < 0 && errno == EBADF ? 0 : 1;
}

TEST(refused)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    SKIP("a sanitizer's own system calls are refused too; okra-mat is built without one");
#elif defined __x86_64__ || defined __aarch64__
    CHECK(dup2(1, 9) == 9);
    CHECK(inside(read_a_file) == 0);
    CHECK(inside(open_after_close) == 0);
    CHECK(inside(write_a_file) == 0);
    CHECK(inside(connect_somewhere) == 0);
    CHECK(inside(start_something) == 0);
    CHECK(inside(make_code) == 0);
    CHECK(inside(take_memory) == 0);
    CHECK(inside(keep_descriptors) == 0);
    close(9);
#else
    SKIP("no filter of system calls for this architecture");
#endif
}

TEST(absurd_limits)
{
    CHECK(!sandbox_enter(-1, 5));
    CHECK(!sandbox_enter(INT64_MAX, 5));
    CHECK(!sandbox_enter(1, 0));
}

MAIN(RUN(refused), RUN(absurd_limits))
