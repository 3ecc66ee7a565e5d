/*
 * original.c: data sets as their makers publish them, turned into the files of entries.
 *
 *   zip.train, zip.test      text: digit and 256 grey levels in [-1, 1], row by row
 *   usps_all.mat             data: 256 x 1100 x 10 bytes, images by columns, 1, ..., 9, 0
 *   letter.data              text: id, letter, next id, word, position, fold, 128 bits
 *   ankurDataPoseSilhouette.mat   Y, Z, Y_test, Z_test: silhouettes and poses
 *   nips_1-17.mat            counts: words x papers, docs_authors: papers x authors
 *
 * Texts may be packed by gzip.
 */
#include "original.h"

#include "original_job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

okra_status original_no_memory(const original_job *j)
{
    return okra_fail(OKRA_EMEM, "%s: no memory to convert it", j->from);
}

okra_status original_save(const original_job *j, const char *name, double *values,
                          okra_int n, okra_int d)
{
    char path[PAPER_PATH];
    okra_data *data = NULL;
    snprintf(path, sizeof path, "%s/%s", j->folder, name);
    okra_status st = okra_data_dense(values, n, d, d, &data);
    if (st == OKRA_OK) {
        st = okra_data_write(j->context, data, path);
    }
    okra_data_free(data);
    free(values);
    return st;
}

FILE *original_create(const original_job *j, const char *name)
{
    char path[PAPER_PATH];
    snprintf(path, sizeof path, "%s/%s", j->folder, name);
    return fopen(path, "w");
}

okra_status original_close(const original_job *j, FILE *file)
{
    bool good = file && !ferror(file);
    if (file && fclose(file) != 0) {
        good = false;
    }
    return good ? OKRA_OK : okra_fail(OKRA_EIO, "%s: %s", j->folder, strerror(errno));
}

/* ---- which is which ---- */

static const struct original {
    const char *name, *folder, *files, *part;
    okra_status (*make)(const original_job *j);
} originals[] = {
    {"zip.train", "usps", "train_x.npy train_y.npy", "train", original_zip_digits},
    {"zip.test", "usps", "test_x.npy test_y.npy", "test", original_zip_digits},
    {"usps_all.mat", "usps11000", "x.npy y.npy", NULL, original_usps_all},
    {"letter.data", "ocr_letters", "pixels.npy letters.tsv words.tsv", NULL,
     original_letter_data},
    {"ankurDataPoseSilhouette.mat", "poser",
     "train_x.npy train_y.npy test_x.npy test_y.npy", NULL, original_poser},
    {"nips_1-17.mat", "nips12", /* more volumes of the same */
     "edges.tsv papers.tsv doc_indptr.npy doc_words.npy doc_counts.npy", NULL,
     original_nips},
};
enum { ORIGINALS = sizeof originals / sizeof *originals };

/* The next name of a list separated by spaces, with the folder before it; false at the
 * end. */
static bool next_file(const struct original *o, const char **p, char *file, size_t size)
{
    size_t width = strcspn(*p, " ");
    snprintf(file, size, "%s/%.*s", o->folder, (int)width, *p);
    *p += width + ((*p)[width] == ' ');
    return width > 0;
}

static const struct original *find(const char *file)
{
    for (size_t k = 0; k < ORIGINALS; k++) {
        const char *p = originals[k].files;
        char one[128];
        while (next_file(&originals[k], &p, one, sizeof one)) {
            if (strcmp(one, file) == 0) {
                return &originals[k];
            }
        }
    }
    return NULL;
}

const char *paper_original_name(const char *file)
{
    const struct original *o = find(file);
    return o ? o->name : NULL;
}

bool paper_original(const char *data, const char *file, char *path, size_t size)
{
    const struct original *o = find(file);
    for (int k = 0; o && k < 4; k++) {
        snprintf(path, size, "%s/%s%s%s%s", data, k & 2 ? o->folder : "",
                 k & 2 ? "/" : "", o->name, k & 1 ? ".gz" : "");
        if (access(path, R_OK) == 0) {
            return true;
        }
    }
    return false;
}

okra_status paper_convert(okra_context *context, const char *data, const char *file,
                          const char *scratch)
{
    char from[PAPER_PATH], folder[PAPER_PATH];
    const struct original *o = find(file);
    if (!o || !paper_original(data, file, from, sizeof from)) {
        return okra_fail(OKRA_EINTERNAL, "%s is made from no other file", file);
    }
    snprintf(folder, sizeof folder, "%s/%s", scratch, o->folder);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        return okra_fail(OKRA_EIO, "%s: %s", folder, strerror(errno));
    }
    return o->make(&(original_job){context, from, folder, o->part});
}

void paper_convert_clean(const char *scratch)
{
    for (size_t k = 0; k < ORIGINALS; k++) {
        const char *p = originals[k].files;
        char file[128], path[PAPER_PATH];
        while (next_file(&originals[k], &p, file, sizeof file)) {
            snprintf(path, sizeof path, "%s/%s", scratch, file);
            unlink(path);
        }
        snprintf(path, sizeof path, "%s/%s", scratch, originals[k].folder);
        rmdir(path);
    }
    rmdir(scratch);
}
