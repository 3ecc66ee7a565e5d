/*
 * Any bytes as model.json of an archive that is sound otherwise (arrays, CRCs, seal):
 * refused with a message, or a model that predicts without harm.
 */
#include "data/files/archive.h"
#include "model/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)    \
    do {                    \
        if (!(condition)) { \
            abort();        \
        }                   \
    } while (0)

/* The arrays of a model of two pairs of numbers, of any kind a text may name. */
static void put_arrays(okra_saver_ *saver)
{
    static const double values[] = {1, 2, 0.5, 1};
    static const okra_int integers[] = {0, 1, 2};
    static const struct {
        const char *folder, *name, *dtype;
        okra_int rows, cols;
        const void *values;
    } arrays[] = {
        {"x", "values", "<f8", 2, 1, values},
        {"x", "indptr", "<i8", 3, -1, integers},
        {"x", "indices", "<i8", 2, -1, integers},
        {"x", "codes", "<i8", 2, -1, integers},
        {"x", "names", "|u1", 4, -1, "a\0b"},
        {"x", "bits", "<u8", 2, 1, integers},
        {"y", "values", "<f8", 2, 1, values},
        {"y", "codes", "<i8", 2, -1, integers},
        {"y", "diagonal", "<f8", 2, -1, values},
        {"bag", "factor", "<f8", 2, 2, values},
        {"bag", "coefficients", "<f8", 2, 1, values},
    };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        okra_int width = arrays[i].dtype[2] - '0';
        okra_int cols = arrays[i].cols < 0 ? 1 : arrays[i].cols;
        CHECK(okra_saver_put_(saver, arrays[i].folder, arrays[i].name, arrays[i].dtype,
                              arrays[i].rows, arrays[i].cols, arrays[i].values,
                              cols * width) == OKRA_OK);
    }
}

static void write_model(const char *path, const uint8_t *data, size_t size)
{
    okra_writer_ *file = NULL;
    okra_saver_ saver = {.arrays = json_object()};
    CHECK(okra_writer_open_(path, &file) == OKRA_OK);
    CHECK(okra_zip_writer_create_(file, &saver.zip) == OKRA_OK);
    put_arrays(&saver);
    CHECK(okra_zip_add_(saver.zip, "model.json", data, size, NULL, 0, 0, 0, NULL) ==
          OKRA_OK);
    CHECK(okra_zip_finish_(saver.zip) == OKRA_OK);
    okra_zip_writer_free_(saver.zip);
    CHECK(okra_writer_commit_(file) == OKRA_OK);
    json_decref(saver.arrays);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const double one = 1.5;
    static okra_context *ctx;
    char path[64];
    okra_model *model = NULL;
    okra_prediction *prediction = NULL;
    okra_data *x = NULL;
    /* a model is synced when written: memory is faster than a disk */
    snprintf(path, sizeof path, "%s/okra-fuzz-model-%ld",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (long)getpid());
    if (!ctx) {
        CHECK(okra_context_create(&ctx) == OKRA_OK);
        CHECK(okra_context_set_memory(ctx, INT64_C(1) << 28) == OKRA_OK);
        CHECK(okra_context_set_threads(ctx, 1) == OKRA_OK);
    }
    okra_int live = okra_alloc_live_blocks_();
    write_model(path, data, size);
    okra_status st = okra_model_load(ctx, path, &model);
    CHECK(st == OKRA_OK || okra_message()[0]);
    CHECK(st != OKRA_EINTERNAL && st != OKRA_EIO);
    if (st == OKRA_OK) {
        CHECK(okra_data_dense(&one, 1, 1, 1, &x) == OKRA_OK);
        st = okra_predict(ctx, model, x, NULL, NULL, &prediction);
        CHECK(st == OKRA_OK || okra_message()[0]);
    }
    okra_prediction_free(prediction);
    okra_data_free(x);
    okra_model_free(model);
    unlink(path);
    CHECK(okra_alloc_live_blocks_() == live);
    return 0;
}
