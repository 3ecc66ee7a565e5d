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
