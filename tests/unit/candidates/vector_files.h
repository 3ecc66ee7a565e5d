/*
 * vector_files.h: files of candidates that are vectors, and a model to rank them.
 */
#ifndef OKRA_TEST_VECTOR_FILES_H
#define OKRA_TEST_VECTOR_FILES_H

#include "index_files.h"
#include "okra/more/index.h"

enum { WIDTH = 5, COUNT = 230 };

static double vectors[COUNT][WIDTH], y[TRAIN][WIDTH];

/* Normal numbers; some rows are 0, some are repeated, values of -0 among them. */
static inline void make_vectors(uint64_t seed)
{
    okra_random_ r = okra_random_create_(seed, 0);
    harness_normals(&r, COUNT * WIDTH, vectors[0]);
    for (int j = 0; j < WIDTH; j++) {
        vectors[17][j] = vectors[3][j];
        vectors[40][j] = 0;
        vectors[41][j] = -0.0;
        vectors[200][j] = vectors[3][j];
    }
    vectors[5][2] = -0.0;
}

static inline void write_vectors(const char *name, int rows)
{
    okra_data *data = NULL;
    CHECK_OK(okra_data_missing(vectors[0], rows, WIDTH, WIDTH, &data));
    CHECK_OK(okra_data_write(NULL, data, path_of(name)));
    okra_data_free(data);
}

static inline okra_model *fit_vectors(const char *ky, okra_int width, okra_data **queries)
{
    okra_random_ r = okra_random_create_(8, 2);
    static double x[(TRAIN + QUERIES) * 3];
    okra_data *outputs = NULL;
    harness_normals(&r, (TRAIN + QUERIES) * 3, x);
    harness_normals(&r, TRAIN * WIDTH, y[0]);
    CHECK_OK(okra_data_dense(y[0], TRAIN, width, WIDTH, &outputs));
    return fit_outputs(x, ky, outputs, queries);
}

static inline okra_status build_from(const char *source, const char *name, const char *ky,
                                     const okra_model *model, okra_int rank,
                                     okra_int shard, const char *table,
                                     const char *columns, okra_index_report *report)
{
    okra_index_request request = {OKRA_SIZED(okra_index_request),
                                  .source = path_of(source),
                                  .path = path_of(name),
                                  .ky = ky,
                                  .model = model,
                                  .rank = rank,
                                  .shard = shard,
                                  .columns = columns,
                                  .table = table ? path_of(table) : NULL};
    return okra_index_build(NULL, &request, report);
}

#endif
