/*
 * replay.c: runs a fuzz target without a fuzzer: on each file of a folder, on its
 * beginnings (a truncated file), and on copies with one byte altered.
 *
 * Usage: fuzz_NAME FOLDER
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int main(int argc, char **argv)
{
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    if (!folder) {
        fprintf(stderr, "usage: %s FOLDER (of files to replay)\n", argv[0]);
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
    return failures || files == 0;
}
