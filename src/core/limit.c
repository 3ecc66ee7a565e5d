/*
 * limit.c: the memory that a control group leaves this process, as containers and job
 * schedulers set it.
 *
 * /proc/self/cgroup names the group: "0::PATH" of version 2, "N:...,memory,...:PATH" of
 * version 1. A limit of a group above it holds too, so that all on the way up to the root
 * are read; in a container the path may be that of the host, of which the root alone is
 * there.
 */
#include "core/core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_MOST = 4096 };

/* The number in a file, or INT64_MAX: "max", no such file, or no number. */
static okra_int read_limit(const char *path)
{
    FILE *f = fopen(path, "r");
    long long value = 0;
    bool found = f && fscanf(f, "%lld", &value) == 1 && value > 0;
    if (f) {
        fclose(f);
    }
    return found ? (okra_int)value : INT64_MAX;
}

/* The least of the limits at folder/path and above it. */
static okra_int least(const char *root, const char *folder, char *path, const char *name)
{
    okra_int limit = INT64_MAX;
    char file[3 * PATH_MOST];
    for (;;) {
        snprintf(file, sizeof file, "%s%s%s/%s", root, folder, path, name);
        okra_int here = read_limit(file);
        limit = OKRA_MIN_(limit, here);
        char *slash = strrchr(path, '/');
        if (!slash) {
            return limit;
        }
        *slash = '\0';
    }
}

/* Whether the comma-separated list that ends at `end` has the word `memory`. */
static bool has_memory(const char *list, const char *end)
{
    while (list < end) {
        size_t length = strcspn(list, ",:");
        if (length == 6 && strncmp(list, "memory", 6) == 0) {
            return true;
        }
        list += length + 1;
    }
    return false;
}

okra_int okra_memory_limit_(const char *root)
{
    okra_int limit = INT64_MAX;
    char name[PATH_MOST], line[PATH_MOST];
    snprintf(name, sizeof name, "%s/proc/self/cgroup", root);
    FILE *f = fopen(name, "r");
    while (f && fgets(line, sizeof line, f)) {
        char *first = strchr(line, ':'), *second = first ? strchr(first + 1, ':') : NULL;
        if (!second) {
            continue;
        }
        char *path = second + 1;
        path[strcspn(path, "\n")] = '\0';
        okra_int here = INT64_MAX;
        if (strncmp(line, "0::", 3) == 0) {
            here = least(root, "/sys/fs/cgroup", path, "memory.max");
        } else if (has_memory(first + 1, second)) {
            here = least(root, "/sys/fs/cgroup/memory", path, "memory.limit_in_bytes");
        }
        limit = OKRA_MIN_(limit, here);
    }
    if (f) {
        fclose(f);
    }
    return limit;
}
