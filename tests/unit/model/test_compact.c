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
        CHECK_OK(okra_compact_pack_(NULL, "factor", okra_mat_of_(L, n, n), &half));
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
    CHECK_OK(okra_compact_pack_(NULL, "B", okra_mat_of_(one, 2, 2), &none));
    CHECK(!none);
}

/* Saved whole and compact, loaded, predicted: the same bits, and sizes as told. */
TEST(predictions_have_the_same_bits)
{
    static const char *const settings[] = {
        "kx=rbf(sigma=1) lambda=0.1",
        "kx=rbf(sigma=1) ky=rbf(sigma=2) lambda=0.1",
        "kx=rbf(sigma=1) lambda=0.1 center-output=yes",
        "kx=rbf(sigma=1) ky=rbf(sigma=2) lambda=0.1 operator=cov",
        "kx=standardize|rbf(sigma=1) ky=rbf(sigma=2) lambda=0.1",
        "kx=rbf(sigma=1) ky=rbf(sigma=2) lambda=1e-12 center-output=yes",
        "method=tgp-kl kx=rbf(sigma=1) ky=rbf(sigma=2)",
        "method=kpca kx=rbf(sigma=1) ky=rbf(sigma=2)",
        "method=knn kx=rbf(sigma=1) ky=rbf(sigma=2)"};
    pairs p;
    pairs_make(3, &p);
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++) {
        char name[3][64];
        okra_model *model = pairs_fit(p.train_x, p.train_y, settings[s]);
        okra_prediction *q[3] = {NULL, NULL, NULL};
        for (int c = 0; c < 3; c++) {
            okra_model *loaded = NULL;
            snprintf(name[c], sizeof name[c], "compact-%d-%d.okra", (int)getpid(), c);
            CHECK_OK(c == 1 ? okra_model_save_compact(NULL, model, name[c])
                            : okra_model_save_as(NULL, model, (okra_compact)c, name[c]));
            CHECK_OK(okra_model_load(NULL, name[c], &loaded));
            CHECK_OK(okra_predict(NULL, loaded, p.test_x, NULL, NULL, &q[c]));
            okra_model_free(loaded);
            unlink(name[c]);
        }
        okra_int ld, n = okra_data_count(okra_prediction_objects(q[0]));
        const double *a = okra_data_values(okra_prediction_objects(q[0]), &ld);
        const double *b = okra_data_values(okra_prediction_objects(q[1]), &ld);
        const double *c = okra_data_values(okra_prediction_objects(q[2]), &ld);
        for (okra_int i = 0; i < n * ld; i++) {
            CHECK(a[i] == b[i]);
            CHECK(a[i] == c[i]);
        }
        CHECK(okra_model_bytes(model, OKRA_COMPACT_YES) <=
              okra_model_bytes(model, OKRA_COMPACT_NO));
        CHECK(okra_model_bytes(model, OKRA_COMPACT_RECOMPUTE) <=
              okra_model_bytes(model, OKRA_COMPACT_NO));
        okra_prediction_free(q[2]);
        okra_prediction_free(q[0]);
        okra_prediction_free(q[1]);
        okra_model_free(model);
    }
    pairs_free(&p);
}

/* A file that asks for a factor where there is none to be made, or too large a one. */
TEST(promises_that_cannot_be_kept)
{
    const okra_method_ *ridge = okra_method_find_("ridge"),
                       *knn = okra_method_find_("knn");
    okra_bag_ *bag = NULL;
    double *factor = NULL;
    CHECK_OK(okra_bag_create_(&bag));
    CHECK_FAILS(okra_compact_promise_(NULL, knn, 3, bag, &factor), OKRA_EFORMAT,
                "of method knn, which has no such factor");
    CHECK_FAILS(okra_compact_promise_(NULL, ridge, 0, bag, &factor), OKRA_EFORMAT,
                "for 0 training pairs");
    CHECK_FAILS(okra_compact_promise_(NULL, ridge, INT64_MAX / 2, bag, &factor),
                OKRA_EFORMAT, "has none or has it already");
    okra_context *small = NULL;
    CHECK_OK(okra_context_create(&small));
    CHECK_OK(okra_context_set_memory(small, 1 << 20));
    CHECK_FAILS(okra_compact_promise_(small, ridge, 2000000000, bag, &factor),
                OKRA_EBUDGET, "the factor of a compact model");
    CHECK(!factor);
    CHECK_OK(okra_compact_promise_(NULL, ridge, 3, bag, &factor));
    CHECK(factor && factor[0] == 1 && factor[1] == 0 && factor[4] == 1);
    CHECK_FAILS(okra_compact_promise_(NULL, ridge, 3, bag, &factor), OKRA_EFORMAT,
                "has it already");
    okra_context_free(small);
    okra_bag_free_(bag);
}

MAIN(RUN(half_and_whole), RUN(predictions_have_the_same_bits),
     RUN(promises_that_cannot_be_kept))
