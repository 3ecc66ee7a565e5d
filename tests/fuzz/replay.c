/*
 * replay.c: runs a fuzz target without a fuzzer: on each file of a folder, on its
 * beginnings (a truncated file), and on copies with one byte altered; then on COUNT
 * random inputs, in child processes, so that one that crashes or hangs is found and told.
 *
 * Usage: fuzz_NAME FOLDER [COUNT [SEED]]
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* At most this many cuts and this many alterations a file: a second or two in all. */
enum { VARIANTS = 64 };

/* An exact-size heap copy, so that the sanitizer sees a read past the end. */
static void run_copy(const uint8_t *data, size_t size, size_t altered, uint8_t mask)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy) {
        return;
    }
    if (size) {
        memcpy(copy, data, size);
        copy[altered % size] ^= mask;
    }
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void run_variants(const uint8_t *data, size_t size)
{
    size_t step = size / VARIANTS + 1;
    run_copy(data, size, 0, 0);
    for (size_t cut = 0; cut < size; cut += step) {
        run_copy(data, cut, 0, 0);
        run_copy(data, size, cut, (uint8_t)(1u << cut % 8));
        run_copy(data, size, cut, 0xff);
    }
}

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    int ok = 0;
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        goto done;
    }
    long length = ftell(file);
    if (length < 0 || fseek(file, 0, SEEK_SET) != 0) {
        goto done;
    }
    size_t size = (size_t)length;
    data = malloc(size + 1);
    if (!data || fread(data, 1, size, file) != size) {
        goto done;
    }
    run_variants(data, size);
    ok = 1;
done:
    free(data);
    if (file) {
        fclose(file);
    }
    return ok;
}

/* ---- random inputs ---- */

enum { BATCH = 250, INPUT_MOST = 40, SECONDS = 20 };

static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static size_t random_input(uint64_t seed, long index, uint8_t input[INPUT_MOST])
{
    uint64_t state = mix(mix(seed) + (uint64_t)index);
    size_t size = 4 + (size_t)(state % (INPUT_MOST - 3));
    for (size_t i = 0; i < size; i++) {
        state = mix(state);
        input[i] = (uint8_t)state;
    }
    return size;
}

/* Inputs first..last-1 in a child; 0 if it ends well. */
static int run_batch(uint64_t seed, long first, long last)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        for (long k = first; k < last; k++) {
            uint8_t input[INPUT_MOST];
            size_t size = random_input(seed, k, input);
            alarm(SECONDS);
            run_copy(input, size, 0, 0);
        }
        _exit(0);
    }
    return child < 0 || waitpid(child, &status, 0) != child || status != 0;
}

static void tell(const char *name, uint64_t seed, long index)
{
    uint8_t input[INPUT_MOST];
    size_t size = random_input(seed, index, input);
    fprintf(stderr, "%s: input %ld of seed %llu fails; as a file: printf '", name, index,
            (unsigned long long)seed);
    for (size_t i = 0; i < size; i++) {
        fprintf(stderr, "\\x%02x", input[i]);
    }
    fprintf(stderr, "' > input\n");
}

static int run_random(const char *name, long count, uint64_t seed)
{
    int failures = 0;
    for (long first = 0; first < count; first += BATCH) {
        long last = first + BATCH < count ? first + BATCH : count;
        bool well = !run_batch(seed, first, last);
        for (long k = first; !well && k < last; k++) { /* which of them? */
            if (run_batch(seed, k, k + 1)) {
                tell(name, seed, k);
                failures++;
            }
        }
    }
    printf("%ld random inputs, %d failures\n", count, failures);
    return failures;
}

int main(int argc, char **argv)
{
    DIR *folder = argc >= 2 && argc <= 4 ? opendir(argv[1]) : NULL;
    if (!folder) {
        fprintf(stderr, "usage: %s FOLDER (of files to replay) [COUNT [SEED]]\n",
                argv[0]);
        return 2;
    }
    int files = 0, failures = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[4096];
        if (entry->d_name[0] == '.') {
            continue;
        }
        snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
        files++;
        if (!run_file(path)) {
            failures++;
            fprintf(stderr, "%s could not be read\n", path);
        }
    }
    closedir(folder);
    printf("%d files replayed\n", files);
    if (argc > 2) {
        failures += run_random(argv[0], atol(argv[2]),
                               argc > 3 ? strtoull(argv[3], NULL, 10) : 1);
    }
    return failures || files == 0;
}
