/*
 * index_files.h: files of candidates in a folder of their own, and a model to rank them.
 */
#ifndef OKRA_TEST_INDEX_FILES_H
#define OKRA_TEST_INDEX_FILES_H

#include "harness.h"
#include "ranking.h"

#include "candidates/index.h"
#include "model/model.h"
#include "okra/more/index.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRAIN = 12, QUERIES = 5, MOST = 400 };

static char folder[64];

static inline const char *path_of(const char *name)
{
    static char text[8][512];
    static int turn;
    char *path = text[turn++ % 8];
    snprintf(path, 512, "%s/%s", folder, name);
    return path;
}

static inline void remove_folder(const char *path)
{
    char command[600];
    snprintf(command, sizeof command, "rm -rf %s", path);
    CHECK(system(command) == 0);
}

static inline void open_folder(void)
{
    strcpy(folder, "/tmp/okra-index-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
}

/* Chains, branches and rings with letters drawn at random. */
static inline void random_smiles(okra_random_ *r, char *text)
{
    static const char *const pieces[] = {"C", "N",    "O",        "C(C)",  "C(=O)",
                                         "S", "C(F)", "c1ccccc1", "C1CC1", "C(Cl)"};
    int length = 2 + (int)okra_random_below_(r, 6);
    strcpy(text, "C");
    for (int k = 0; k < length; k++) {
        strcat(text, pieces[okra_random_below_(r, 10)]);
    }
}

static char lines[MOST][160];

static inline void write_source(const char *name, int count)
{
    FILE *f = fopen(path_of(name), "w");
    CHECK(f != NULL);
    for (int k = 0; f && k < count; k++) {
        fprintf(f, "%s\n", lines[k]);
    }
    if (f) {
        fclose(f);
    }
}

static inline void make_lines(int count, uint64_t seed)
{
    okra_random_ r = okra_random_create_(seed, 0);
    for (int k = 0; k < count; k++) {
        random_smiles(&r, lines[k]);
    }
}

/* A model of TRAIN pairs and QUERIES inputs more, of three numbers each; frees outputs.
 */
static inline okra_model *fit_outputs(const double *x, const char *ky, okra_data *outputs,
                                      okra_data **queries)
{
    okra_data *inputs = NULL;
    okra_options *options = NULL;
    okra_model *model = NULL;
    CHECK_OK(okra_data_dense(x, TRAIN, 3, 3, &inputs));
    CHECK_OK(okra_data_dense(x + TRAIN * 3, QUERIES, 3, 3, queries));
    CHECK_OK(okra_fit_options(&options));
    CHECK_OK(okra_options_set(options, "kx", "rbf(sigma=1)"));
    CHECK_OK(okra_options_set(options, "ky", ky));
    CHECK_OK(okra_options_set(options, "lambda", "0.1"));
    CHECK_OK(okra_fit(NULL, inputs, outputs, options, &model));
    okra_options_free(options);
    okra_data_free(inputs);
    okra_data_free(outputs);
    return model;
}

static inline okra_model *make_model(const char *ky, okra_data **queries)
{
    okra_random_ r = okra_random_create_(9, 1);
    static double x[(TRAIN + QUERIES) * 3];
    char text[TRAIN][160];
    const char *smiles[TRAIN];
    okra_data *outputs = NULL;
    harness_normals(&r, (TRAIN + QUERIES) * 3, x);
    for (int i = 0; i < TRAIN; i++) {
        random_smiles(&r, text[i]);
        smiles[i] = text[i];
    }
    CHECK_OK(okra_data_smiles(NULL, smiles, TRAIN, &outputs));
    return fit_outputs(x, ky, outputs, queries);
}

static inline okra_status build(const char *source, const char *name, const char *ky,
                                const okra_model *model, okra_int rank, okra_int shard,
                                okra_index_report *report)
{
    okra_index_request request = {OKRA_SIZED(okra_index_request),
                                  .source = path_of(source),
                                  .path = path_of(name),
                                  .ky = ky,
                                  .model = model,
                                  .rank = rank,
                                  .shard = shard};
    return okra_index_build(NULL, &request, report);
}

static inline long size_of(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (long)info.st_size : -1;
}

#endif
