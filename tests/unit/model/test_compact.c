/*
 * test_compact.c: half of a factor and back; what is dropped; sizes; files that do not
 * fit.
 */
#include "pairs.h"

#include "model/model.h"

#include "data/files/archive.h"
#include "okra/more/update.h"

#include <math.h>
#include <string.h>

#include <unistd.h>

TEST(half_and_whole)
{
    for (okra_int n = 2; n < 9; n++) {
        double L[64], half[36];
        okra_int rows, cols, used = 0;
        okra_store_ *store = NULL;
        for (okra_int i = 0; i < n * n; i++) {
            L[i] = (double)(i + 1);
            if (i % n <= i / n) { /* what lies above is not kept */
                half[used++] = L[i];
            }
        }
        CHECK_OK(okra_store_create_(&store));
        CHECK(okra_compact_count_(n) == n * (n + 1) / 2 && used == n * (n + 1) / 2);
        CHECK_OK(okra_compact_spread_(NULL, half, okra_compact_count_(n), n, store));
        const double *back = okra_store_get_(store, "factor", &rows, &cols);
        CHECK(back && rows == n && cols == n);
        for (okra_int i = 0; i < n * n; i++) {
            CHECK(back[i] == (i % n <= i / n ? L[i] : 0));
        }
        CHECK_FAILS(
            okra_compact_spread_(NULL, half, okra_compact_count_(n) - 1, n, store),
            OKRA_EFORMAT, "which is not n (n + 1) / 2");
        CHECK_FAILS(okra_compact_spread_(NULL, half, 3, INT64_MAX / 2, store),
                    OKRA_EFORMAT, "which is not n (n + 1) / 2");
        CHECK_FAILS(okra_compact_spread_(NULL, half, 0, -1, store), OKRA_EFORMAT,
                    "which is not n (n + 1) / 2");
        okra_store_free_(store);
    }
    okra_mat_ A = okra_mat_view_(NULL, 2, 2, 2), one = okra_mat_view_(NULL, 1, 1, 1);
    CHECK(okra_compact_halves_("factor", A, OKRA_COMPACT_YES));
    CHECK(!okra_compact_halves_("factor", A, OKRA_COMPACT_NO));
    CHECK(!okra_compact_halves_("factor", one, OKRA_COMPACT_YES));
    CHECK(!okra_compact_halves_("B", A, OKRA_COMPACT_YES));
}

/* ---- matrices that lie elsewhere ---- */

typedef struct elsewhere {
    okra_int rows, cols, asked, freed;
    double bad; /* the value of the last entry, or 0 */
} elsewhere;

static double entry_of(const elsewhere *e, okra_int i, okra_int j)
{
    bool last = i == e->rows - 1 && j == e->cols - 1;
    return e->bad != 0 && last ? e->bad : (double)(i * 7 + j) + 0.25;
}

static okra_status get_rows(okra_context *ctx, const void *self, okra_int first,
                            okra_mat_ block)
{
    elsewhere *e = (elsewhere *)(uintptr_t)self;
    (void)ctx;
    e->asked = OKRA_MAX_(e->asked, block.rows);
    for (okra_int i = 0; i < block.rows; i++) {
        for (okra_int j = 0; j < block.cols; j++) {
            block.p[i * block.ld + j] = entry_of(e, first + i, j);
        }
    }
    return OKRA_OK;
}

static void count_free(void *self)
{
    ((elsewhere *)self)->freed++;
}

/* One array of an archive, written from blocks of rows; how many bytes it has. */
static okra_status write_rows(const char *path, elsewhere *e, bool half)
{
    okra_rows_ source = {get_rows, NULL, e};
    okra_saver_ saver = {0};
    json_t *about = json_object();
    CHECK_OK(okra_saver_begin_(NULL, path, &saver));
    okra_status st =
        okra_saver_put_rows_(NULL, &saver, "bag", half ? "factor.half" : "B", &source,
                             okra_mat_view_(NULL, e->rows, e->cols, e->cols), half);
    if (st == OKRA_OK) {
        CHECK_OK(okra_saver_end_(&saver, "about.json", about));
    }
    okra_saver_clear_(&saver);
    json_decref(about);
    return st;
}

/* More than one block: of 2^18 numbers, so that 1,100 columns make 238 rows. */
TEST(blocks_of_rows)
{
    static const struct {
        okra_int rows, cols;
        bool half;
    } shapes[] = {{1, 1, false},     {3, 5, false},      {2000, 600, false},
                  {2, 2, true},      {1100, 1100, true}, {1100, 1100, false},
                  {2, 300000, false}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        elsewhere e = {.rows = shapes[s].rows, .cols = shapes[s].cols};
        okra_zip_ *zip = NULL;
        const unsigned char *bytes = NULL;
        okra_int size = 0;
        void *owned = NULL;
        CHECK_OK(write_rows("rows.zip", &e, shapes[s].half));
        CHECK(e.asked == OKRA_MAX_(1, OKRA_MIN_(e.rows, (1 << 18) / e.cols)));
        CHECK_OK(okra_zip_open_(NULL, "rows.zip", &zip));
        CHECK_OK(okra_zip_check_seal_(zip));
        CHECK(strcmp(okra_zip_each_(zip, 0),
                     shapes[s].half ? "bag/factor.half.npy" : "bag/B.npy") == 0);
        CHECK_OK(okra_zip_entry_(NULL, zip, 0, &bytes, &size, &owned));
        okra_int count = shapes[s].half ? okra_compact_count_(e.rows) : e.rows * e.cols,
                 at = 0;
        const double *values = (const double *)(const void *)(bytes + size - 8 * count);
        okra_int wrong = 0;
        for (okra_int i = 0; i < e.rows; i++) {
            for (okra_int j = 0; j < (shapes[s].half ? i + 1 : e.cols); j++) {
                wrong += values[at++] != entry_of(&e, i, j);
            }
        }
        CHECK(wrong == 0 && at == count);
        okra_zip_close_(zip);
        unlink("rows.zip");
    }
    elsewhere e = {.rows = 2000, .cols = 600, .bad = (double)INFINITY};
    CHECK_FAILS(write_rows("rows.zip", &e, false), OKRA_EFORMAT, "of 'B'");
    CHECK(access("rows.zip", F_OK) != 0);
}

TEST(a_store_with_rows_elsewhere)
{
    elsewhere e = {.rows = 3, .cols = 2};
    okra_store_item_ item = {.A = {NULL, 3, 2, 2}, .source = {get_rows, count_free, &e}};
    okra_store_ *store = NULL;
    okra_int rows = 0, cols = 0;
    CHECK_OK(okra_store_create_(&store));
    CHECK_OK(okra_store_add_(store, "B", item));
    CHECK(okra_store_has_(store, "B") && !okra_store_has_(store, "C"));
    CHECK(!okra_store_get_(store, "B", &rows, &cols) && rows == 3 && cols == 2);
    CHECK(okra_store_find_(store, OKRA_KEPT_MATRIX_, "B")->source.get == get_rows);
    CHECK(!okra_store_edit_(store, "B", &rows, &cols));
    CHECK_OK(okra_store_settle_(NULL, store, "C")); /* nothing to do */
    CHECK_OK(okra_store_settle_(NULL, store, "B"));
    CHECK(e.freed == 1 && !store->items[0].source.get);
    const double *values = okra_store_get_(store, "B", &rows, &cols);
    for (okra_int i = 0; i < 6; i++) {
        CHECK(values && values[i] == entry_of(&e, i / 2, i % 2));
    }
    okra_store_free_(store);
    CHECK(e.freed == 1);
    CHECK_OK(okra_store_create_(&store));
    CHECK_OK(okra_store_add_(store, "B", item));
    okra_store_free_(store);
    CHECK(e.freed == 2);
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
            CHECK_OK(
                c == 1
                    ? okra_model_save(NULL, model,
                                      (&(okra_save_request){OKRA_SIZED(okra_save_request),
                                                            .compact = OKRA_COMPACT_YES}),
                                      name[c])
                    : okra_model_save(NULL, model,
                                      (&(okra_save_request){OKRA_SIZED(okra_save_request),
                                                            .compact = (okra_compact)c}),
                                      name[c]));
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
    okra_store_ *store = NULL;
    double *factor = NULL;
    CHECK_OK(okra_store_create_(&store));
    CHECK_FAILS(okra_compact_promise_(NULL, knn, 3, store, &factor), OKRA_EFORMAT,
                "of method knn, which has no such factor");
    CHECK_FAILS(okra_compact_promise_(NULL, ridge, 0, store, &factor), OKRA_EFORMAT,
                "for 0 training pairs");
    CHECK_FAILS(okra_compact_promise_(NULL, ridge, INT64_MAX / 2, store, &factor),
                OKRA_EFORMAT, "has none or has it already");
    okra_context *small = NULL;
    CHECK_OK(okra_context_create(&small));
    CHECK_OK(okra_context_set_memory(small, 1 << 20));
    CHECK_FAILS(okra_compact_promise_(small, ridge, 2000000000, store, &factor),
                OKRA_EBUDGET, "the factor of a compact model");
    CHECK(!factor);
    CHECK_OK(okra_compact_promise_(NULL, ridge, 3, store, &factor));
    CHECK(factor && factor[0] == 1 && factor[1] == 0 && factor[4] == 1);
    CHECK_FAILS(okra_compact_promise_(NULL, ridge, 3, store, &factor), OKRA_EFORMAT,
                "has it already");
    okra_context_free(small);
    okra_store_free_(store);
}

MAIN(RUN(half_and_whole), RUN(blocks_of_rows), RUN(a_store_with_rows_elsewhere),
     RUN(predictions_have_the_same_bits), RUN(promises_that_cannot_be_kept))
