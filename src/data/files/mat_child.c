/*
 * mat_child.c: a MATLAB file read by okra-mat in a process of its own.
 *
 * The program gets the file as standard input, a pipe as standard output, no other
 * descriptor and an environment of two lines; it bounds its own memory and time and gives
 * up all system calls but reading before it looks at the file (plugins/mat/sandbox.c).
 * Here its answer is checked like any file, its time is bounded again, and its end by a
 * signal becomes an error.
 */
#include "data/files/mat_child.h"
#include "data/files/mat.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAIT_MS = 100, TEXT_MOST = 1024, SECONDS = 60, SECONDS_BYTES = 1 << 20 };

/* ---- taking the answer ---- */

typedef struct answer {
    okra_source_ *source;
    int fd;
    double until; /* seconds of the monotonic clock */
    bool ended;
    okra_mat_record_ r;
} answer;

static okra_status take(answer *a, void *to, okra_int size)
{
    for (okra_int have = 0; have < size;) {
        CHK(okra_cancelled_(a->source->ctx));
        REFUSE_IF(okra_now_() > a->until, OKRA_EFORMAT,
                  "its reading took too long and was ended");
        struct pollfd ready = {.fd = a->fd, .events = POLLIN};
        if (poll(&ready, 1, WAIT_MS) <= 0) {
            continue;
        }
        ssize_t got = read(a->fd, (char *)to + have, (size_t)(size - have));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            a->ended = true;
            return okra_fail_(OKRA_EFORMAT, "%s, which reads it, ended early",
                              OKRA_MAT_PROGRAM_);
        }
        have += got;
    }
    return OKRA_OK;
}

/* What comes from the other side is shown without control characters. */
static void tame(char *text, size_t length)
{
    for (size_t k = 0; k < length; k++) {
        unsigned char c = (unsigned char)text[k];
        text[k] = c < 0x20 || c == 0x7f ? '?' : text[k];
    }
    text[length] = '\0';
}

static okra_status take_error(answer *a)
{
    char text[TEXT_MOST + 1];
    REFUSE_IF(a->r.count < 0 || a->r.count > TEXT_MOST, OKRA_EFORMAT,
              "%s said something absurd", OKRA_MAT_PROGRAM_);
    CHK(take(a, text, a->r.count));
    tame(text, (size_t)a->r.count);
    okra_status told = (okra_status)a->r.status;
    bool known = told == OKRA_EARG || told == OKRA_EUNSUPPORTED || told == OKRA_EMEM;
    return okra_fail_(known ? told : OKRA_EFORMAT, "%s", *text ? text : "damaged");
}

/* The next record, of this kind or an error. */
static okra_status take_record(answer *a, okra_mat_kind_ kind)
{
    CHK(take(a, &a->r, sizeof a->r));
    okra_mat_record_ *r = &a->r;
    if (memcmp(r->magic, OKRA_MAT_MAGIC_, sizeof r->magic) == 0 &&
        r->kind == OKRA_MAT_ERROR_) {
        CHK(take_error(a));
    }
    REFUSE_IF(memcmp(r->magic, OKRA_MAT_MAGIC_, sizeof r->magic) != 0 ||
                  r->kind != (int32_t)kind || r->rows < 0 || r->cols < 0 ||
                  r->count < 0 ||
                  (r->rows > 0 && r->cols == 0 && kind == OKRA_MAT_SHAPE_),
              OKRA_EFORMAT, "%s said something absurd", OKRA_MAT_PROGRAM_);
    tame(r->name, strnlen(r->name, sizeof r->name - 1));
    return OKRA_OK;
}

static okra_status take_dense(answer *a, okra_data **out)
{
    const okra_source_ *source = a->source;
    OWNED double *values = NULL;
    okra_int n = a->r.rows, d = a->r.cols, area = 0;
    CHK(okra_area_(n, d, sizeof(double), &area));
    CHK(okra_bytes_claim_(&source->bytes, area, "elements"));
    /* Twice: the other side holds it too. */
    CHK(okra_budget_ask_(source->ctx, 16.0 * (double)area,
                         "variable '%s' of %" PRId64 " x %" PRId64, a->r.name, n, d));
    CHK(take_record(a, OKRA_MAT_DATA_));
    CHK(okra_doubles_(source->ctx, n, d, "a variable", &values));
    CHK(take(a, values, 8 * area));
    CHK(okra_finite_(values, n, d, d));
    return okra_data_adopt_dense_(&values, n, d, source->name, out);
}

static okra_status take_sparse(answer *a, okra_data **out)
{
    const okra_source_ *source = a->source;
    FREED_BY(okra_csr_free_) okra_csr_ csr = {0};
    okra_int n = a->r.rows, d = a->r.cols;
    CHK(okra_bytes_claim_(&source->bytes, n, "rows"));
    CHK(okra_budget_ask_(source->ctx, 8.0 * ((double)n + (double)d),
                         "a sparse matrix of %" PRId64 " x %" PRId64, n, d));
    CHK(take_record(a, OKRA_MAT_DATA_));
    okra_int count = a->r.count;
    CHK(okra_budget_ask_(source->ctx, 8.0 * (double)n + 32.0 * (double)count,
                         "a sparse matrix of %" PRId64 " elements", count));
    MAKE(csr.indptr, n + 1);
    MAKE(csr.indices, count);
    MAKE(csr.values, count);
    CHK(take(a, csr.indptr, 8 * (n + 1)));
    CHK(take(a, csr.indices, 8 * count));
    CHK(take(a, csr.values, 8 * count));
    bool ordered = csr.indptr[0] == 0 && csr.indptr[n] == count;
    for (okra_int i = 0; i < n; i++) {
        ordered = ordered && csr.indptr[i] <= csr.indptr[i + 1];
    }
    REFUSE_IF(!ordered, OKRA_EFORMAT, "%s said something absurd", OKRA_MAT_PROGRAM_);
    okra_status st = okra_data_adopt_sparse_(&csr, n, d, source->name, out);
    st = st == OKRA_EARG ? OKRA_EFORMAT : st; /* an entry that is there twice */
    return st;
}

okra_status okra_mat_receive_(okra_source_ *source, int fd, double seconds, bool *ended,
                              okra_data **out)
{
    okra_status st = OKRA_OK;
    answer a = {.source = source, .fd = fd, .until = okra_now_() + seconds};
    TRY(take_record(&a, OKRA_MAT_SHAPE_));
    TRY(a.r.sparse ? take_sparse(&a, out) : take_dense(&a, out));
done:
    *ended = a.ended;
    return st;
}

/* ---- the other process ---- */

static okra_status start(const char *program, okra_int memory, okra_int seconds,
                         const char *part, int in, int out, pid_t *pid)
{
    okra_status st = OKRA_OK;
    char bytes[32], limit[32], name[] = OKRA_MAT_PROGRAM_;
    char locking[] = "HDF5_USE_FILE_LOCKING=FALSE", plugins[] = "HDF5_PLUGIN_PRELOAD=::";
    char *environment[] = {locking, plugins, NULL};
    char *arguments[] = {name, bytes, limit, (char *)(uintptr_t)part, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    snprintf(bytes, sizeof bytes, "%" PRId64, memory);
    snprintf(limit, sizeof limit, "%" PRId64, seconds);
    sigemptyset(&none);
    sigfillset(&all);
    int code = posix_spawn_file_actions_init(&files);
    REFUSE_IF(code != 0, OKRA_EMEM, "could not start %s: %s", program, strerror(code));
    /* Apart from the terminal's signals: whoever stops okra, okra stops it. */
    code = posix_spawnattr_init(&attributes);
    code = code ? code : posix_spawnattr_setsigmask(&attributes, &none);
    code = code ? code : posix_spawnattr_setsigdefault(&attributes, &all);
    code = code ? code : posix_spawnattr_setpgroup(&attributes, 0);
    code = code ? code
                : posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK |
                                                            POSIX_SPAWN_SETSIGDEF |
                                                            POSIX_SPAWN_SETPGROUP);
    code = code ? code : posix_spawn_file_actions_adddup2(&files, in, 0);
    code = code ? code : posix_spawn_file_actions_adddup2(&files, out, 1);
    code = code ? code
                : posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    code = code ? code
                : posix_spawn(pid, program, &files, &attributes, arguments, environment);
    if (code != 0) {
        st = okra_fail_(code == ENOMEM ? OKRA_EMEM : OKRA_EIO, "could not start %s: %s",
                        program, strerror(code));
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return st;
}

/* Waits for the end of the process; where its answer ended early, says why. */
static okra_status finish(pid_t pid, bool ended, okra_int seconds, okra_status st)
{
    int status = 0;
    pid_t got;
    if (st != OKRA_OK && !ended) {
        kill(pid, SIGKILL);
    }
    do {
        got = waitpid(pid, &status, 0);
    } while (got < 0 && errno == EINTR);
    if (!ended || got != pid) { /* a host program may have taken the status */
        return st;
    }
    REFUSE_IF(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, OKRA_EFORMAT,
              "%s, which reads it, was killed: it needs more than %" PRId64
              " s of processor time, or somebody ended it",
              OKRA_MAT_PROGRAM_, seconds);
    REFUSE_IF(WIFSIGNALED(status), OKRA_EFORMAT,
              "damaged: %s, which reads it, crashed (signal %d, %s)", OKRA_MAT_PROGRAM_,
              WTERMSIG(status), strsignal(WTERMSIG(status)));
    return okra_fail_(OKRA_EFORMAT, "%s, which reads it, ended with status %d",
                      OKRA_MAT_PROGRAM_, WEXITSTATUS(status));
}

okra_status okra_mat_child_(okra_source_ *source, okra_data **out)
{
    okra_status st = OKRA_OK;
    char *program = NULL;
    int file = -1, ends[2] = {-1, -1};
    pid_t pid = -1;
    bool ended = false;
    okra_int seconds = SECONDS + source->bytes.size / SECONDS_BYTES;
    okra_data *data = NULL;
    st = okra_library_file_(OKRA_MAT_PROGRAM_, &program);
    if (st == OKRA_EUNSUPPORTED) {
        okra_message_prefix_("MATLAB files are read by a program that is not installed");
    }
    TRY(st);
    file = open(source->path, O_RDONLY | O_CLOEXEC);
    FAIL_IF(file < 0 || pipe2(ends, O_CLOEXEC) != 0, OKRA_EIO, "cannot be read: %s",
            strerror(errno));
    TRY(start(program, okra_context_memory(source->ctx), seconds, source->part, file,
              ends[1], &pid));
    close(ends[1]);
    ends[1] = -1;
    st = okra_mat_receive_(source, ends[0], 4.0 * (double)seconds, &ended, &data);
    close(ends[0]); /* it must not wait for a reader */
    ends[0] = -1;
    TRY(finish(pid, ended, seconds, st));
    *out = TAKE(data);
done:
    okra_data_free(data);
    for (int k = 0; k < 2; k++) {
        if (ends[k] >= 0) {
            close(ends[k]);
        }
    }
    if (file >= 0) {
        close(file);
    }
    okra_free_(program);
    return st;
}
