/*
 * context.c: the settings of a run. A NULL context means the defaults everywhere.
 */
#include "core/core.h"
#include "okra/more/group.h"
#include "okra/program.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

/* ---- the memory and the processors that control groups leave this process, as
 * containers and job schedulers set them.
 *
 * /proc/self/cgroup names the group: "0::PATH" of version 2, "N:...,memory,...:PATH" of
 * version 1. A limit of a group above it holds too, so that all on the way up to the root
 * are read; in a container the path may be that of the host, of which the root alone is
 * there.
 */

enum { PATH_MOST = 4096 };

/* What limits a resource: its controller, and the files of a group in version 2 and 1. A
 * limit is one number, or one divided by another, which may stand in a second file. */
typedef struct resource {
    const char *controller;
    int numbers;
    const char *two[2], *one[2];
} resource;

/* Up to two numbers from folder/name; how many there are. "max" is none. */
static int read_numbers(const char *folder, const char *name, double out[2])
{
    char path[3 * PATH_MOST + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    int count = f ? fscanf(f, "%lf %lf", &out[0], &out[1]) : 0;
    if (f) {
        fclose(f);
    }
    return count;
}

/* The least of the limits at folder/path and above it, DBL_MAX: none. */
static double least(const char *root, const char *folder, char *path,
                    const char *const files[2], int wanted)
{
    double limit = DBL_MAX;
    char group[3 * PATH_MOST];
    for (;;) {
        double numbers[2], period[2];
        snprintf(group, sizeof group, "%s%s%s", root, folder, path);
        int count = read_numbers(group, files[0], numbers);
        if (count == 1 && files[1] && read_numbers(group, files[1], period) > 0) {
            numbers[count++] = period[0];
        }
        double over = count == 2 ? numbers[1] : 1;
        if (count == wanted && numbers[0] > 0 && over > 0) {
            limit = fmin(limit, numbers[0] / over);
        }
        char *slash = strrchr(path, '/');
        if (!slash) {
            return limit;
        }
        *slash = '\0';
    }
}

/* The least limit of the groups of this process. Version 1 has a folder of its own for
 * each controller. */
static double limit_of(const char *root, resource r)
{
    double limit = DBL_MAX;
    char name[PATH_MOST], line[PATH_MOST], list[PATH_MOST + 2], folder[64], word[64];
    snprintf(name, sizeof name, "%s/proc/self/cgroup", root);
    snprintf(folder, sizeof folder, "/sys/fs/cgroup/%s", r.controller);
    snprintf(word, sizeof word, ",%s,", r.controller);
    FILE *f = fopen(name, "r");
    while (f && fgets(line, sizeof line, f)) {
        char *first = strchr(line, ':'), *second = first ? strchr(first + 1, ':') : NULL;
        if (!second) {
            continue;
        }
        char *path = second + 1;
        path[strcspn(path, "\n")] = '\0';
        snprintf(list, sizeof list, ",%.*s,", (int)(second - first - 1), first + 1);
        if (strncmp(line, "0::", 3) == 0) {
            limit = fmin(limit, least(root, "/sys/fs/cgroup", path, r.two, r.numbers));
        } else if (strstr(list, word)) {
            limit = fmin(limit, least(root, folder, path, r.one, r.numbers));
        }
    }
    if (f) {
        fclose(f);
    }
    return limit;
}

okra_int okra_memory_limit_(const char *root)
{
    double bytes = limit_of(
        root, (resource){"memory", 1, {"memory.max"}, {"memory.limit_in_bytes"}});
    return bytes < (double)INT64_MAX ? (okra_int)bytes : INT64_MAX;
}

/* cpu.max: "QUOTA PERIOD" in microseconds, or "max PERIOD". */
int okra_processor_limit_(const char *root)
{
    double processors = limit_of(
        root,
        (resource){"cpu", 2, {"cpu.max"}, {"cpu.cfs_quota_us", "cpu.cfs_period_us"}});
    return processors < 1 ? 1 : processors < INT_MAX ? (int)processors : INT_MAX;
}

enum { THREADS_MOST = 1024, WARNING_SIZE = 1024 };

/* The processors that this process may run on, asked each time: programs change it. */
static int affinity(void)
{
    enum { MOST = 1 << 16 };
    static _Thread_local unsigned long set[MOST / (8 * sizeof(unsigned long))];
    size_t size = CPU_ALLOC_SIZE(CPU_SETSIZE);
    while (sched_getaffinity(0, size, (cpu_set_t *)set) != 0) {
        if (size >= sizeof set) {
            return 1;
        }
        size *= 2; /* the kernel knows of more processors */
    }
    int count = CPU_COUNT_S(size, (cpu_set_t *)set);
    return count > 0 ? count : 1;
}

/* Those, or fewer where control groups, which are read once, allow less of their time. */
static int default_threads(void)
{
    static atomic_int found;
    if (atomic_load(&found) == 0) {
        atomic_store(&found, OKRA_MIN_(okra_processor_limit_(""), (int)THREADS_MOST));
    }
    int processors = affinity(), limit = atomic_load(&found);
    return OKRA_MIN_(processors, limit);
}

/* Three quarters of the machine's memory, or of what the process may have of it beside
 * the buffers of its workers; found once. */
static okra_int default_memory(void)
{
    static atomic_llong found;
    if (atomic_load(&found) == 0) {
        long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
        okra_int all = pages > 0 && size > 0 ? (okra_int)pages * size : INT64_MAX;
        okra_int limit = okra_memory_limit_(""), least = OKRA_MIN_(all, limit);
        double rest;
        (void)okra_blas_room_(&rest);
        least = rest < (double)least ? (okra_int)rest : least;
        atomic_store(&found, least < INT64_MAX ? least / 4 * 3 : (okra_int)1 << 32);
    }
    return atomic_load(&found);
}

okra_status okra_context_create(okra_context **out)
{
    okra_context *c;
    NOT_NULL(out);
    ZMAKE(c, 1);
    c->processors = default_threads();
    c->account = okra_account_open_();
    *out = c;
    return OKRA_OK;
}

void okra_context_free(okra_context *context)
{
    if (context) {
        if (context->engine) {
            context->close_engine(context->engine);
        }
        okra_account_close_(context->account);
    }
    okra_free_(context);
}

void okra_context_hold_engine_(okra_context *context, void *engine,
                               void (*close)(void *engine))
{
    if (context->engine) {
        context->close_engine(context->engine);
    }
    context->engine = engine;
    context->close_engine = close;
    context->group = (okra_processes_){0};
}

const okra_processes_ *okra_context_processes_(const okra_context *context)
{
    return context && context->group.ranks > 0 ? &context->group : NULL;
}

int okra_context_processes(const okra_context *context)
{
    return context && context->group.ranks > 0 ? context->group.ranks : 1;
}

void okra_context_set_distributed(okra_context *context, bool apart)
{
    if (context) {
        context->apart = apart;
    }
}

bool okra_context_is_primary(const okra_context *context)
{
    return !context || context->group.rank == 0;
}

okra_status okra_context_finish_together(okra_context *context, okra_status status,
                                         bool *talks)
{
    const okra_processes_ *group = okra_context_processes_(context);
    bool ignored;
    GIVE(talks, true);
    return group ? group->agree(group->state, status, "a file, or the end",
                                talks ? talks : &ignored)
                 : status;
}

okra_status okra_context_same_(const okra_context *context, const char *what,
                               uint64_t mark)
{
    const okra_processes_ *group = okra_context_processes_(context);
    char text[128];
    bool talks;
    snprintf(text, sizeof text, "%s, fingerprint %016llx", what,
             (unsigned long long)mark);
    return group ? group->agree(group->state, OKRA_OK, text, &talks) : OKRA_OK;
}

_Thread_local int okra_callbacks_;

okra_status okra_context_set_threads(okra_context *context, int threads)
{
    NOT_NULL(context);
    REFUSE_IF(threads < 0 || threads > THREADS_MOST, OKRA_EARG,
              "threads is %d, expected 0 (all cores) to %d", threads, THREADS_MOST);
    REFUSE_IF(okra_callbacks_ > 0 || okra_inside_worker_, OKRA_EARG,
              "the number of threads cannot change while a call is under way");
    context->threads = threads;
    context->processors = default_threads();
    return OKRA_OK;
}

okra_status okra_context_set_memory(okra_context *context, okra_int bytes)
{
    NOT_NULL(context);
    REFUSE_IF(bytes < 0, OKRA_EARG, "memory is %lld bytes, expected 0 or more",
              (long long)bytes);
    context->memory = bytes;
    okra_account_limit_(context->account, bytes);
    return OKRA_OK;
}

static okra_status choose(const char *what, int value, int *field)
{
    REFUSE_IF(value < -1 || value > 1, OKRA_EARG, "%s is %d, expected -1, 0 or 1", what,
              value);
    *field = value;
    return OKRA_OK;
}

okra_status okra_context_set_strict(okra_context *context, int strict)
{
    NOT_NULL(context);
    return choose("strict", strict, &context->strict);
}

int okra_context_strict_(const okra_context *context)
{
    return context ? context->strict : 0;
}

okra_status okra_context_set_header(okra_context *context, int header)
{
    NOT_NULL(context);
    return choose("header", header, &context->header);
}

int okra_context_header_(const okra_context *context)
{
    return context ? context->header : 0;
}

void okra_context_set_seed(okra_context *context, uint64_t seed)
{
    if (context) {
        context->seed = seed;
    }
}

void okra_context_set_progress(okra_context *context, okra_progress_fn fn, void *user)
{
    if (context) {
        context->progress = fn;
        context->progress_user = user;
    }
}

void okra_context_set_warning(okra_context *context, okra_warning_fn fn, void *user)
{
    if (context) {
        context->warning = fn;
        context->warning_user = user;
    }
}

void okra_context_cancel(okra_context *context)
{
    if (context) {
        atomic_store(&context->cancelled, true);
    }
}

void okra_context_resume(okra_context *context)
{
    if (context) {
        atomic_store(&context->cancelled, false);
    }
}

int okra_context_threads(const okra_context *context)
{
    return context ? okra_threads_(context) : default_threads();
}

int okra_threads_(const okra_context *context)
{
    static atomic_int found;
    if (context) {
        return context->threads > 0 ? context->threads : context->processors;
    }
    if (atomic_load(&found) == 0) {
        atomic_store(&found, default_threads());
    }
    return atomic_load(&found);
}

okra_int okra_context_memory(const okra_context *context)
{
    return context && context->memory > 0 ? context->memory : default_memory();
}

uint64_t okra_context_seed(const okra_context *context)
{
    return context ? context->seed : 0;
}

okra_status okra_cancelled_(const okra_context *context)
{
    REFUSE_IF(context && atomic_load(&context->cancelled), OKRA_ECANCELLED,
              "stopped on request");
    return okra_guard_check_();
}

void okra_progress_(const okra_context *context, const char *what, okra_int done,
                    okra_int total)
{
    if (context && context->progress && !okra_inside_watch_) {
        okra_callbacks_++;
        context->progress(context->progress_user, what, done, total);
        okra_callbacks_--;
    }
}

void okra_progress_end_(const okra_context *context, const char *what)
{
    okra_progress_(context, what, 1, 1);
}

void okra_mute_(okra_context *context, bool muted)
{
    if (context) {
        context->muted += muted ? 1 : -1;
    }
}

bool okra_warns_(const okra_context *context)
{
    return context && context->warning && !context->muted;
}

void okra_warn_(const okra_context *context, const char *format, ...)
{
    if (okra_warns_(context)) {
        char text[WARNING_SIZE], safe[WARNING_SIZE];
        va_list args;
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        okra_printable_(text, strchr(format, '\n') != NULL, safe, sizeof safe);
        okra_callbacks_++;
        context->warning(context->warning_user, safe);
        okra_callbacks_--;
    }
}

okra_status okra_parse_bytes(const char *text, okra_int *bytes)
{
    NOT_NULL(text, bytes);
    char *end = NULL;
    double value = okra_strtod_(text, &end);
    static const char units[] = "kmgt";
    double scale = 1;
    if (end != text && *end) {
        char lower = (char)(*end >= 'A' && *end <= 'Z' ? *end - 'A' + 'a' : *end);
        const char *u = strchr(units, lower);
        if (u) {
            scale = pow(1024, (double)(u - units) + 1);
            end++;
            if (*end == 'i') {
                end++;
            }
        }
        if (*end == 'B' || *end == 'b') {
            end++;
        }
    }
    REFUSE_IF(end == text || *end || !(value * scale >= 0) || value * scale > 9e18,
              OKRA_EARG, "memory size is '%s', expected bytes such as 8G, 512M or 1.5e9",
              text);
    *bytes = (okra_int)(value * scale);
    return OKRA_OK;
}

const char *okra_context_doing(const okra_context *context, okra_int *size)
{
    const char *what = context ? atomic_load(&context->doing) : NULL;
    if (size) {
        *size = context ? atomic_load(&context->doing_size) : 0;
    }
    return what ? what : "";
}
