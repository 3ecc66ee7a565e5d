/*
 * read_files.c: reads many data files one after another, each with a small memory budget.
 *
 * Usage: read_files BUDGET [RATIO] < LIST; a line of LIST is what okra_data_read takes.
 * Before each file its line is printed, so that the culprit of a crash is known; a file
 * that takes longer than 10 s or more memory than the budget and 64 MiB is a fault. With
 * a RATIO, so is one that takes more than RATIO bytes for each of its own and 64 MiB.
 */
#include "data/data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { LINE = 4096, SECONDS_MOST = 10 };
#define SPARE (INT64_C(64) << 20)

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Shards whose rows stay in their files, brought together: as if they had been read. */
static bool like_shards(okra_context *context, const char *spec, const okra_data *data)
{
    okra_data *rows = NULL;
    okra_status st = okra_shards_open_(context, spec, &rows);
    st = st == OKRA_OK ? okra_stack_join_(context, &rows) : st;
    bool same = (st == OKRA_OK) == (data != NULL) && (data || *okra_message());
    if (same && data) {
        same = data->n == rows->n && data->d == rows->d && data->kind == rows->kind;
        for (okra_int i = 0; same && data->kind == OKRA_DENSE && i < data->n; i++) {
            for (okra_int j = 0; same && j < data->d; j++) {
                double a = data->values[i * data->ld + j];
                double b = rows->values[i * rows->ld + j];
                same = a == b || (isnan(a) && isnan(b));
            }
        }
    }
    okra_data_free(rows);
    return same;
}

/* The bytes of the file that a line ends in, 0: there is none. */
static okra_int size_of(const char *spec)
{
    const char *colon = strrchr(spec, ':');
    struct stat info;
    return stat(colon ? colon + 1 : spec, &info) == 0 ? info.st_size : 0;
}

/* Whether a file was read or refused as it should be. */
static bool read_one(okra_context *context, okra_int most, const char *spec, bool *taken)
{
    okra_data *data = NULL;
    okra_int live = okra_alloc_live_blocks_();
    okra_alloc_reset_peak_();
    double begin = now();
    okra_status st = okra_data_read(context, spec, &data);
    double took = now() - begin;
    okra_int peak = okra_alloc_peak_bytes_();
    *taken = st == OKRA_OK;
    if (st == OKRA_OK ? !data : data || !*okra_message() || st == OKRA_EINTERNAL) {
        printf("FAULT: status %s, message '%s'\n", okra_status_name(st), okra_message());
        return false;
    }
    if (okra_shards_named_(spec) && !like_shards(context, spec, data)) {
        printf("FAULT: shards that stay in their files are not those that were read\n");
        okra_data_free(data);
        return false;
    }
    okra_data_free(data);
    if (took > SECONDS_MOST || peak > most + SPARE || okra_alloc_live_blocks_() != live) {
        printf("FAULT: %.1f s, %lld bytes at most, %lld blocks left\n", took,
               (long long)peak, (long long)(okra_alloc_live_blocks_() - live));
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    okra_context *context = NULL;
    char line[LINE];
    long faults = 0, files = 0, taken = 0;
    okra_int budget = argc >= 2 ? atoll(argv[1]) : 0;
    okra_int ratio = argc == 3 ? atoll(argv[2]) : 0;
    if (budget <= 0 || okra_context_create(&context) != OKRA_OK ||
        okra_context_set_memory(context, budget) != OKRA_OK) {
        fputs("usage: read_files BUDGET [RATIO] < LIST\n", stderr);
        return 2;
    }
    while (fgets(line, sizeof line, stdin)) {
        bool was = false;
        line[strcspn(line, "\n")] = '\0';
        puts(line);
        fflush(stdout);
        okra_int most = ratio ? OKRA_MIN_(budget, ratio * size_of(line)) : budget;
        faults += !read_one(context, most, line, &was);
        files++;
        taken += was;
    }
    okra_context_free(context);
    printf("%ld files, %ld taken, %ld faults\n", files, taken, faults);
    return faults || files == 0;
}
