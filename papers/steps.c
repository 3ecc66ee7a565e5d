/*
 * steps.c: finished steps of an entry, on disk, so that a killed run goes on and several
 * processes share one run.
 *
 * Two files beside the result. NAME.partial has a line a step; NAME.claims has no bytes:
 * whoever computes a step holds a lock on the byte that belongs to its key, and the
 * system drops the lock when a process dies. A step that another process computes is
 * passed over with values of 1, and a run that passed over some ends by starting again
 * once they are there (paper_execute): what is told comes from finished steps alone.
 */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

double paper_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double paper_spent(const paper_run *run)
{
    return run->before + paper_now() - run->begin;
}

/* ---- lines ---- */

/* One line a step: the CRC-32 of what follows, a space, {"key": ..., "source": ...,
 * "seconds": ..., "took": ..., "values": [...]}; seconds are those of the run so far. A
 * line that was cut off or altered is not believed, and its step is computed again; so is
 * a step of other sources, whose protocol or mathematics may be another. */
enum { SUM = 9 }; /* eight digits and the space */

static void sum_of(const char *text, size_t length, char sum[SUM + 1])
{
    snprintf(sum, SUM + 1, "%08lx ",
             crc32_z(0, (const Bytef *)text, length) & 0xffffffff);
}

static json_t *read_step(const char *line, size_t length)
{
    char sum[SUM + 1];
    length -= length > 0 && line[length - 1] == '\n';
    if (length <= SUM) {
        return NULL;
    }
    sum_of(line + SUM, length - SUM, sum);
    return memcmp(sum, line, SUM) == 0 ? json_loadb(line + SUM, length - SUM, 0, NULL)
                                       : NULL;
}

/* Steps of two engines differ in their last digits: each has a file of its own. */
static void path_of(const paper_run *run, const char *end, char *path, size_t size)
{
    const char *engine = run->settings->engine;
    bool host = !engine || strcmp(engine, "host") == 0;
    snprintf(path, size, "%s/%s-%s-seed%llu%s%s.%s", run->settings->results,
             run->entry->name, run->settings->quick ? "quick" : "full",
             (unsigned long long)paper_seed(run), host ? "" : "-", host ? "" : engine,
             end);
}

/* Takes what was added since; true if the last line is whole. */
static bool take_lines(paper_run *run, bool others)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    bool whole = true;
    if (!run->lines || fseek(run->lines, run->read, SEEK_SET) != 0) {
        return true;
    }
    while ((length = getline(&line, &room, run->lines)) > 0) {
        whole = line[length - 1] == '\n';
        if (!whole) {
            break;
        }
        run->read += length;
        json_t *step = read_step(line, (size_t)length);
        const char *key = json_string_value(json_object_get(step, "key"));
        const char *source = json_string_value(json_object_get(step, "source"));
        if (key && source && strcmp(source, paper_source()) == 0 &&
            !json_object_get(run->steps, key)) {
            json_object_set(run->steps, key, json_object_get(step, "values"));
            run->before =
                others ? run->before + json_number_value(json_object_get(step, "took"))
                       : json_number_value(json_object_get(step, "seconds"));
        }
        json_decref(step);
    }
    clearerr(run->lines);
    free(line);
    return whole;
}

/* Opens or makes a plain file: no link is followed, no pipe is waited for. */
static int open_plain(const char *path)
{
    struct stat info;
    int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                  0666);
    if (fd >= 0 && (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))) {
        close(fd);
        errno = EEXIST;
        fd = -1;
    }
    return fd;
}

okra_status paper_steps_open(paper_run *run)
{
    char path[PAPER_PATH];
    run->steps = json_object();
    run->passed = json_object();
    path_of(run, "claims", path, sizeof path);
    run->claims = open_plain(path);
    if (run->claims >= 0) {
        path_of(run, "partial", path, sizeof path);
        int fd = open_plain(path);
        run->lines = fd >= 0 ? fdopen(fd, "a+") : NULL;
    }
    if (!run->lines) {
        return okra_fail(OKRA_EIO, "%s: %s", path, strerror(errno));
    }
    if (!take_lines(run, false)) { /* so that the next step has a line of its own */
        fputc('\n', run->lines);
        fflush(run->lines);
    }
    return OKRA_OK;
}

void paper_steps_close(paper_run *run)
{
    if (run->lines) {
        fclose(run->lines);
    }
    if (run->claims >= 0) {
        close(run->claims);
    }
    json_decref(run->steps);
    json_decref(run->passed);
}

void paper_forget(okra_context *context, const paper_entry *entry,
                  const paper_settings *settings)
{
    char path[PAPER_PATH];
    const paper_run run = {.context = context, .entry = entry, .settings = settings};
    path_of(&run, "partial", path, sizeof path);
    unlink(path);
    path_of(&run, "claims", path, sizeof path);
    unlink(path);
}

/* ---- claims ---- */

/* Locks (F_WRLCK) or frees (F_UNLCK) the byte of a key; false if another holds it. Two
 * keys of one byte are computed one after the other. */
static bool claim(const paper_run *run, const char *key, short how)
{
    struct flock lock = {.l_type = how, .l_whence = SEEK_SET, .l_len = 1};
    lock.l_start = (off_t)(crc32_z(0, (const Bytef *)key, strlen(key)) & 0x7fffffff);
    return fcntl(run->claims, F_SETLK, &lock) == 0 ||
           (errno != EACCES && errno != EAGAIN);
}

static bool known(paper_run *run, const char *key, double *values, size_t count)
{
    const json_t *array = json_object_get(run->steps, key);
    if (!json_is_array(array) || json_array_size(array) != count) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *v = json_array_get(array, i);
        values[i] = json_is_number(v) ? json_number_value(v) : (double)NAN;
    }
    return true;
}

bool paper_have(paper_run *run, const char *key, double *values, size_t count)
{
    if (known(run, key, values, count)) {
        return true;
    }
    bool mine = claim(run, key, F_WRLCK);
    take_lines(run, true); /* after the claim: it may have been finished just before */
    if (known(run, key, values, count)) {
        if (mine) {
            claim(run, key, F_UNLCK);
        }
        return true;
    }
    run->claimed = paper_now();
    for (size_t i = 0; !mine && i < count; i++) {
        values[i] = 1;
    }
    if (!mine) {
        json_object_set_new(run->passed, key, json_true());
    }
    return !mine;
}

void paper_steps_await(paper_run *run)
{
    const struct timespec pause = {.tv_nsec = 100000000};
    double begin = paper_now();
    const char *key;
    json_t *value;
    bool wait = true;
    while (wait) {
        take_lines(run, true);
        wait = false;
        json_object_foreach(run->passed, key, value)
        {
            bool idle = json_object_get(run->steps, key) || claim(run, key, F_WRLCK);
            if (idle) {
                claim(run, key, F_UNLCK);
            }
            wait = wait || !idle;
        }
        wait = wait && nanosleep(&pause, NULL) == 0; /* a signal ends it */
    }
    json_object_clear(run->passed);
    run->begin += paper_now() - begin;
}

/* ---- a finished step ---- */

/* What json_dumps made, to where it came from. */
static void json_release(char *text)
{
    json_free_t release;
    json_get_alloc_funcs(NULL, &release);
    release(text);
}

/* The line of a step, with its sum and its end; NULL without memory. To be freed. */
static char *line_of(const paper_run *run, const char *key, json_t *array, size_t count)
{
    json_t *step = json_pack("{s:s,s:s,s:f,s:f,s:O}", "key", key, "source",
                             paper_source(), "seconds", paper_spent(run), "took",
                             paper_now() - run->claimed, "values", array);
    char *text = json_dumps(step, JSON_COMPACT | JSON_REAL_PRECISION(17)), *line = NULL;
    json_t *again = text ? json_loads(text, 0, NULL) : NULL;
    if (again && json_equal(step, again) && json_array_size(array) == count) {
        size_t room = strlen(text) + SUM + 2;
        char sum[SUM + 1];
        sum_of(text, strlen(text), sum);
        line = malloc(room);
        if (line) {
            snprintf(line, room, "%s%s\n", sum, text);
        }
    }
    json_decref(again);
    json_decref(step);
    json_release(text);
    return line;
}

okra_status paper_keep(paper_run *run, const char *key, const double *values,
                       size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(array,
                              isfinite(values[i]) ? json_real(values[i]) : json_null());
    }
    char *line = line_of(run, key, array, count);
    if (!line) {
        json_decref(array);
        return okra_fail(OKRA_EMEM, "there is no memory to keep step %s", key);
    }
    json_object_set_new(run->steps, key, array);
    /* In one piece, so that lines of two processes do not mix. */
    size_t length = strlen(line);
    bool good = write(fileno(run->lines), line, length) == (ssize_t)length;
    free(line);
    claim(run, key, F_UNLCK);
    return good ? OKRA_OK
                : okra_fail(OKRA_EIO, "%s: step %s cannot be kept: %s", run->entry->name,
                            key, strerror(errno));
}
