/*
 * memory.c: no answer is given where a part of it was lost for want of memory.
 *
 * The commands build their JSON piece by piece, and jansson itself passes over some
 * failures. So it gets a reserve for them; once that is used up, nothing that is made of
 * JSON is printed or kept, and the program does not end with status 0.
 */
#include "cli.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { RESERVE = 1 << 20, ALIGN = 16 };

static atomic_bool lost;
static atomic_size_t used;
static _Alignas(
    ALIGN) char reserve[RESERVE]; /* pages that are not touched cost nothing */

static void *take(size_t size)
{
    void *p = malloc(size);
    if (!p && size <= RESERVE - ALIGN) {
        size_t whole = (size + ALIGN - 1) / ALIGN * ALIGN;
        size_t at = atomic_fetch_add(&used, whole);
        p = at <= RESERVE - whole ? reserve + at : NULL;
    }
    if (!p) {
        atomic_store(&lost, true);
    }
    return p;
}

static void give(void *p)
{
    const char *at = p;
    if (at < reserve || at >= reserve + RESERVE) {
        free(p);
    }
}

int cli_ask(const cli_run *run, const char *path, double times)
{
    static double asked;
    struct stat info;
    double most = (double)okra_context_memory(run->context);
    if (stat(path, &info) == 0 && S_ISREG(info.st_mode)) {
        asked += times * (double)info.st_size;
    }
    return asked <= most
               ? CLI_DONE
               : cli_failure(run,
                             "%s: what is read so far takes about %.0f MiB, more "
                             "than the memory budget of %.0f MiB (--memory)",
                             path, asked / 1048576, most / 1048576);
}

void *cli_alloc(size_t count, size_t size)
{
    void *p = calloc(count, size);
    if (!p) {
        atomic_store(&lost, true);
    }
    return p;
}

int cli_no_memory(const cli_run *run)
{
    return cli_failure(run, "out of memory");
}

void *cli_make(const cli_run *run, size_t count, size_t size)
{
    double most =
        run->context ? (double)okra_context_memory(run->context) : (double)INFINITY;
    double asked = (double)count * (double)size;
    void *p = asked <= most ? cli_alloc(count, size) : NULL;
    if (asked > most) {
        cli_failure(run,
                    "%.0f MiB are more than the memory budget of %.0f MiB (--memory)",
                    asked / 1048576, most / 1048576);
    } else if (!p) {
        cli_no_memory(run);
    }
    return p;
}

void cli_free_at(void *at)
{
    void *block;
    memcpy(&block, at, sizeof block);
    free(block);
}

void cli_watch_json(void)
{
    json_set_alloc_funcs(take, give);
}

void cli_lose(void)
{
    atomic_store(&lost, true);
}

bool cli_json_lost(void)
{
    return atomic_load(&lost);
}

void cli_json_free(char *text)
{
    give(text);
}
