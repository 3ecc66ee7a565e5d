/*
 * test_compact.c: half of a factor and back; what is dropped; sizes; files that do not
 * fit.
 */
#include "pairs.h"

#include "model/model.h"

#include <unistd.h>

TEST(half_and_whole)
{
    for (okra_int n = 2; n < 9; n++) {
        double L[64], *half = NULL;
        okra_int rows, cols;
        okra_bag_ *bag = NULL;
        for (okra_int i = 0; i < n * n; i++) {
            L[i] =
                i % n <= i / n ? (double)(i + 1) : -7; /* what lies above is not kept */
        }
        CHECK_OK(okra_bag_create_(&bag));
        CHECK_OK(okra_compact_pack_(NULL, "factor", L, n, n, &half));
        CHECK(half && okra_compact_count_(n) == n * (n + 1) / 2);
        CHECK_OK(okra_compact_spread_(NULL, half, okra_compact_count_(n), n, bag));
        const double *back = okra_bag_get_(bag, "factor", &rows, &cols);
        CHECK(back && rows == n && cols == n);
        for (okra_int i = 0; i < n * n; i++) {
            CHECK(back[i] == (i % n <= i / n ? L[i] : 0));
        }
        CHECK_FAILS(okra_compact_spread_(NULL, half, okra_compact_count_(n) - 1, n, bag),
                    OKRA_EFORMAT, "which is not n (n + 1) / 2");
        CHECK_FAILS(okra_compact_spread_(NULL, half, 3, INT64_MAX / 2, bag), OKRA_EFORMAT,
                    "which is not n (n + 1) / 2");
        CHECK_FAILS(okra_compact_spread_(NULL, half, 0, -1, bag), OKRA_EFORMAT,
                    "which is not n (n + 1) / 2");
        okra_free_(half);
        okra_bag_free_(bag);
    }
    double *none = NULL, one[4] = {1, 2, 3, 4};
    CHECK_OK(okra_compact_pack_(NULL, "B", one, 2, 2, &none));
    CHECK(!none);
}

/* Saved whole and compact, loaded, predicted: the same bits, and sizes as told. */
TEST(predictions_have_the_same_bits)
{
    static const char *const settings[] = {
        "kx=rbf(sigma=1) lambda=0.1", "kx=rbf(sigma=1) ky=rbf(sigma=2) lambda=0.1",
        "kx=rbf(sigma=1) lambda=0.1 center-output=yes",
        "kx=rbf(sigma=1) ky=rbf(sigma=2) lambda=0.1 operator=cov"};
    pairs p;
    pairs_make(3, &p);
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++) {
        char name[2][64];
        okra_model *model = pairs_fit(p.train_x, p.train_y, settings[s]);
        okra_prediction *q[2] = {NULL, NULL};
        for (int c = 0; c < 2; c++) {
            okra_model *loaded = NULL;
            snprintf(name[c], sizeof name[c], "compact-%d-%d.okra", (int)getpid(), c);
            CHECK_OK(c ? okra_model_save_compact(NULL, model, name[c])
                       : okra_model_save(NULL, model, name[c]));
            CHECK_OK(okra_model_load(NULL, name[c], &loaded));
            CHECK_OK(okra_predict(NULL, loaded, p.test_x, NULL, NULL, &q[c]));
            okra_model_free(loaded);
            unlink(name[c]);
        }
        okra_int ld, n = okra_data_count(okra_prediction_objects(q[0]));
        const double *a = okra_data_values(okra_prediction_objects(q[0]), &ld);
        const double *b = okra_data_values(okra_prediction_objects(q[1]), &ld);
        for (okra_int i = 0; i < n * ld; i++) {
            CHECK(a[i] == b[i]);
        }
        CHECK(okra_model_bytes(model, true) <= okra_model_bytes(model, false));
        okra_prediction_free(q[0]);
        okra_prediction_free(q[1]);
        okra_model_free(model);
    }
    pairs_free(&p);
}

MAIN(RUN(half_and_whole), RUN(predictions_have_the_same_bits))
