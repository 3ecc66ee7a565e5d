/*
 * limit.c: the memory and the processors that control groups leave this process, as
 * containers and job schedulers set them.
 *
 * /proc/self/cgroup names the group: "0::PATH" of version 2, "N:...,memory,...:PATH" of
 * version 1. A limit of a group above it holds too, so that all on the way up to the root
 * are read; in a container the path may be that of the host, of which the root alone is
 * there.
 */
#include "core/core.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_MOST = 4096 };

/* The limit that the files of one group set, DBL_MAX: none. `folder` ends without '/'. */
typedef double (*reading)(const char *folder);

/* The first number in folder/name; false: "max", no such file, or no number. */
static bool read_number(const char *folder, const char *name, double *value)
{
    char path[3 * PATH_MOST + 64];
    long long number = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    bool found = f && fscanf(f, "%lld", &number) == 1 && number > 0;
    if (f) {
        fclose(f);
    }
    *value = (double)number;
    return found;
}

static double memory_2(const char *folder)
{
    double bytes;
    return read_number(folder, "memory.max", &bytes) ? bytes : DBL_MAX;
}

static double memory_1(const char *folder)
{
    double bytes;
    return read_number(folder, "memory.limit_in_bytes", &bytes) ? bytes : DBL_MAX;
}

/* cpu.max: "QUOTA PERIOD" in microseconds, or "max PERIOD". */
static double processors_2(const char *folder)
{
    char path[3 * PATH_MOST + 64];
    long long quota = 0, period = 0;
    snprintf(path, sizeof path, "%s/cpu.max", folder);
    FILE *f = fopen(path, "r");
    bool found = f && fscanf(f, "%lld %lld", &quota, &period) == 2;
    if (f) {
        fclose(f);
    }
    return found && quota > 0 && period > 0 ? (double)quota / (double)period : DBL_MAX;
}

static double processors_1(const char *folder)
{
    double quota, period;
    return read_number(folder, "cpu.cfs_quota_us", &quota) &&
                   read_number(folder, "cpu.cfs_period_us", &period)
               ? quota / period
               : DBL_MAX;
}

/* The least of the limits at folder/path and above it. */
static double least(const char *root, const char *folder, char *path, reading read)
{
    double limit = DBL_MAX;
    char group[3 * PATH_MOST];
    for (;;) {
        snprintf(group, sizeof group, "%s%s%s", root, folder, path);
        limit = fmin(limit, read(group));
        char *slash = strrchr(path, '/');
        if (!slash) {
            return limit;
        }
        *slash = '\0';
    }
}

/* Whether the comma-separated list that ends at `end` has the word. */
static bool has_word(const char *list, const char *end, const char *word)
{
    while (list < end) {
        size_t length = strcspn(list, ",:");
        if (length == strlen(word) && strncmp(list, word, length) == 0) {
            return true;
        }
        list += length + 1;
    }
    return false;
}

/* The least limit of the groups of this process. Version 1 has a folder of its own for
 * each controller. */
static double limit_of(const char *root, const char *controller, reading two, reading one)
{
    double limit = DBL_MAX;
    char name[PATH_MOST], line[PATH_MOST], folder[64];
    snprintf(name, sizeof name, "%s/proc/self/cgroup", root);
    snprintf(folder, sizeof folder, "/sys/fs/cgroup/%s", controller);
    FILE *f = fopen(name, "r");
    while (f && fgets(line, sizeof line, f)) {
        char *first = strchr(line, ':'), *second = first ? strchr(first + 1, ':') : NULL;
        if (!second) {
            continue;
        }
        char *path = second + 1;
        path[strcspn(path, "\n")] = '\0';
        if (strncmp(line, "0::", 3) == 0) {
            limit = fmin(limit, least(root, "/sys/fs/cgroup", path, two));
        } else if (has_word(first + 1, second, controller)) {
            limit = fmin(limit, least(root, folder, path, one));
        }
    }
    if (f) {
        fclose(f);
    }
    return limit;
}

okra_int okra_memory_limit_(const char *root)
{
    double bytes = limit_of(root, "memory", memory_2, memory_1);
    return bytes < (double)INT64_MAX ? (okra_int)bytes : INT64_MAX;
}

int okra_processor_limit_(const char *root)
{
    double processors = limit_of(root, "cpu", processors_2, processors_1);
    return processors < 1 ? 1 : processors < INT_MAX ? (int)processors : INT_MAX;
}
