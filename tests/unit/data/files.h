/* files.h: files of a test: a folder of its own, files with given bytes, reading them. */
#ifndef OKRA_TEST_FILES_H
#define OKRA_TEST_FILES_H

#include "data/data.h"
#include "harness.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

static char files_folder[64];
static char files_path_text[512];

/* The path of `name` in the test's folder, which is made on first use. */
static inline const char *files_path(const char *name)
{
    if (!files_folder[0]) {
        strcpy(files_folder, "/tmp/okra-test-XXXXXX");
        if (!mkdtemp(files_folder)) {
            abort();
        }
    }
    snprintf(files_path_text, sizeof files_path_text, "%s/%s", files_folder, name);
    return files_path_text;
}

static inline const char *files_make(const char *name, const void *bytes, size_t size)
{
    FILE *f = fopen(files_path(name), "wb");
    if (!f || fwrite(bytes, 1, size, f) != size || fclose(f) != 0) {
        abort();
    }
    return files_path_text;
}

/* How many entries the folder has: to see that no temporary file stays. */
static inline int files_count(void)
{
    int count = 0;
    DIR *dir = opendir(files_folder);
    if (!dir) {
        return -1;
    }
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        count += e->d_name[0] != '.';
    }
    closedir(dir);
    return count;
}

/* Removes the folder and what is in it. */
static inline void files_clean(void)
{
    DIR *dir = files_folder[0] ? opendir(files_folder) : NULL;
    if (dir) {
        for (struct dirent *e; (e = readdir(dir)) != NULL;) {
            if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
                remove(files_path(e->d_name));
            }
        }
        closedir(dir);
        rmdir(files_folder);
    }
    files_folder[0] = '\0';
}

/* Reads `text` as the file `name`; prefix is "labels:" or the like, part ":name" or "".
 */
static inline okra_status files_read(const char *prefix, const char *name,
                                     const char *part, const void *bytes, size_t size,
                                     okra_data **out)
{
    char spec[1200];
    snprintf(spec, sizeof spec, "%s%s%s", prefix, files_make(name, bytes, size), part);
    return okra_data_read(NULL, spec, out);
}

static inline okra_status files_text(const char *prefix, const char *name,
                                     const char *text, okra_data **out)
{
    return files_read(prefix, name, "", text, strlen(text), out);
}

/* Do the values of dense data equal these, exactly? */
static inline bool files_dense(const okra_data *data, okra_int n, okra_int d,
                               const double *want)
{
    bool same = data && data->kind == OKRA_DENSE && data->n == n && data->d == d;
    for (okra_int i = 0; same && i < n; i++) {
        same = memcmp(data->values + i * data->ld, want + i * d,
                      (size_t)d * sizeof *want) == 0;
    }
    return same;
}

#endif
