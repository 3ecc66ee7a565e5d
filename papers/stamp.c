/*
 * stamp.c: what a result was made by: commit, digest of the sources, class of machine.
 */
#include "run.h"

#include "stamp.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *paper_source(void)
{
    return PAPER_SOURCE;
}

/* The model of the processor as the system names it, without a line's end. */
static void processor(char *name, size_t size)
{
    char line[256];
    snprintf(name, size, "unknown processor");
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon) {
            const char *text = colon + 1 + strspn(colon + 1, " ");
            snprintf(name, size, "%.*s", (int)strcspn(text, "\n"), text);
            break;
        }
    }
    if (file) {
        fclose(file);
    }
}

void paper_stamp(json_t *result, const okra_context *context, const char *engine)
{
    char name[128], machine[256];
    processor(name, sizeof name);
    double bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    snprintf(machine, sizeof machine, "%s, %ld cores, %.0f GiB", name,
             sysconf(_SC_NPROCESSORS_ONLN), bytes / (1024.0 * 1024.0 * 1024.0));
    json_object_set_new(result, "commit", json_string(PAPER_COMMIT));
    json_object_set_new(result, "source", json_string(PAPER_SOURCE));
    json_object_set_new(result, "machine", json_string(machine));
    json_object_set_new(result, "threads", json_integer(okra_context_threads(context)));
    if (engine) {
        json_object_set_new(result, "engine", json_string(engine));
    }
}
