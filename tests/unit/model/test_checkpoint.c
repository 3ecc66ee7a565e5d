/*
 * Checkpoints of moments and factors: a fit that is stopped goes on with the same bits, a
 * file of another fit or an altered one is refused.
 */
#include "pairs.h"

#include "data/files/archive.h"

#include <sys/stat.h>
#include <unistd.h>

enum { ROWS = 1500, WIDE = 4 };

typedef struct rows {
    double x[ROWS * WIDE], y[ROWS * D];
    okra_data *train_x, *train_y;
} rows;

static void rows_make(rows *p)
{
    okra_random_ r = okra_random_create_(5, 0);
    harness_normals(&r, ROWS * WIDE, p->x);
    harness_normals(&r, ROWS * D, p->y);
    CHECK_OK(okra_data_dense(p->x, ROWS, WIDE, WIDE, &p->train_x));
    CHECK_OK(okra_data_dense(p->y, ROWS, D, D, &p->train_y));
}

static void rows_free(rows *p)
{
    okra_data_free(p->train_x);
    okra_data_free(p->train_y);
}

/* Fits with "settings checkpoint=FILE". */
static okra_status fit(okra_context *ctx, const okra_data *x, const okra_data *y,
                       const char *settings, const char *file, okra_model **model)
{
    char text[700];
    snprintf(text, sizeof text, "%s checkpoint=%s", settings, files_path(file));
    okra_options *o = settings_of(okra_fit_options, text);
    okra_status st = okra_fit(ctx, x, y, o, model);
    okra_options_free(o);
    return st;
}

/* The arrays of two models have the same bits. */
static bool same(const okra_model *a, const okra_model *b)
{
    bool equal = true;
    for (okra_int i = 0; i < a->store->count; i++) {
        okra_mat_ A = a->store->items[i].A;
        okra_mat_ B = okra_store_mat_(b->store, a->store->items[i].name);
        if (a->store->items[i].sort != OKRA_KEPT_MATRIX_) {
            continue;
        }
        CHECK(B.rows == A.rows && B.cols == A.cols);
        for (okra_int k = 0; k < A.rows; k++) {
            equal = equal && memcmp(A.p + k * A.ld, B.p + k * B.ld,
                                    (size_t)A.cols * sizeof *A.p) == 0;
        }
    }
    return equal;
}

static const char *const low[] = {
    "kx=rbf(sigma=2) ky=linear low-rank-x=nystrom(rank=20) lambda=0.1",
    "kx=rbf(sigma=2) ky=linear low-rank-x=nystrom(rank=300) lambda=1e-12",
    "kx=rbf(sigma=2) ky=linear low-rank-x=rff(rank=30) operator=ccov lambda=0.1",
    "kx=rbf(sigma=2) ky=rbf(sigma=1) low-rank=nystrom(rank=20) operator=cov",
    "kx=linear ky=linear low-rank-x=sketch(rank=3) center-output=yes",
};
enum { LOW = sizeof low / sizeof *low };

typedef struct stopper {
    okra_context *ctx;
    int left; /* reports until it stops */
} stopper;

static void stop(void *user, const char *what, okra_int done, okra_int total)
{
    stopper *s = user;
    (void)total;
    if (strcmp(what, "moments") == 0 && done > 0 && s->left-- == 0) {
        okra_context_cancel(s->ctx);
    }
}

/* Stopped after 1, 2, ... rounds of six and started again: the bits of a fit in one go.
 * An engine with memory of its own takes all rows at once. */
TEST(moments_go_on)
{
    rows p;
    rows_make(&p);
    for (int c = 0; c < LOW; c++) {
        okra_model *whole = NULL;
        unlink(files_path("whole"));
        CHECK_OK(fit(NULL, p.train_x, p.train_y, low[c], "whole", &whole));
        int stopped = 0;
        for (int left = 0; left < 6; left++) {
            okra_context *ctx = NULL;
            okra_model *again = NULL;
            stopper s = {NULL, left};
            CHECK_OK(okra_context_create(&ctx));
            s.ctx = ctx;
            okra_context_set_progress(ctx, stop, &s);
            unlink(files_path("part"));
            okra_status st = fit(ctx, p.train_x, p.train_y, low[c], "part", &again);
            CHECK(st == OKRA_OK || st == OKRA_ECANCELLED);
            stopped += st == OKRA_ECANCELLED;
            okra_model_free(again);
            again = NULL;
            okra_context_free(ctx);
            CHECK(access(files_path("part"), F_OK) ==
                  0); /* a round ends before it stops */
            CHECK_OK(fit(NULL, p.train_x, p.train_y, low[c], "part", &again));
            CHECK(same(whole, again));
            okra_model_free(again);
        }
        bool rounds = okra_engine_is_host_(NULL) || okra_context_processes_(NULL);
        CHECK(stopped >= (rounds ? 4 : 1));
        okra_model_free(whole);
    }
    rows_free(&p);
}

/* Rounds move the last bits of sums: by 4.0e-14 of the coefficients, and by 6.7e-11 where
 * sums are of kernel values, which the first one has (moments.c). */
TEST(rounds_change_rounding_alone)
{
    rows p;
    rows_make(&p);
    for (int c = 0; c < LOW; c++) {
        okra_int m = 0, d = 0;
        okra_model *kept = NULL, *plain = pairs_fit(p.train_x, p.train_y, low[c]);
        unlink(files_path("rounds"));
        CHECK_OK(fit(NULL, p.train_x, p.train_y, low[c], "rounds", &kept));
        const double *A = okra_store_get_(plain->store, "coefficients", &m, &d);
        const double *B = okra_store_get_(kept->store, "coefficients", &m, &d);
        CHECK(A && B);
        CHECK_NEAR(harness_relative(m * d, B, A), 0, c == 0 ? 7e-10 : 4e-13);
        okra_model_free(plain);
        okra_model_free(kept);
    }
    rows_free(&p);
}

static const char *const dense[] = {
    "kx=rbf(sigma=1) ky=linear lambda=0.1",
    "kx=rbf(sigma=1) ky=rbf(sigma=1) lambda=0.1",
    "kx=linear ky=linear lambda=1e-3 center-output=yes keep=coefficients",
};

/* The factor is that of a plain fit, and so is the model; read again it is the same. */
TEST(factors_are_kept)
{
    pairs p;
    pairs_make(3, &p);
    for (int c = 0; c < 3; c++) {
        okra_model *plain = pairs_fit(p.train_x, p.train_y, dense[c]);
        unlink(files_path("factor"));
        for (int again = 0; again < 2; again++) {
            okra_model *kept = NULL;
            CHECK_OK(fit(NULL, p.train_x, p.train_y, dense[c], "factor", &kept));
            CHECK(same(plain, kept));
            CHECK_TEXT(okra_model_json(kept), okra_model_json(plain));
            okra_model_free(kept);
        }
        okra_model_free(plain);
    }
    pairs_free(&p);
}

TEST(others_are_refused)
{
    pairs p, q;
    okra_model *model = NULL;
    const char *const settings[] = {
        dense[0], "kx=rbf(sigma=1) ky=linear low-rank-x=nystrom(rank=4) lambda=0.1"};
    pairs_make(3, &p);
    pairs_make(4, &q);
    for (int c = 0; c < 2; c++) {
        char other[300];
        unlink(files_path("other"));
        CHECK_OK(fit(NULL, p.train_x, p.train_y, settings[c], "other", &model));
        okra_model_free(model);
        model = NULL;
        CHECK_FAILS(fit(NULL, q.train_x, p.train_y, settings[c], "other", &model),
                    OKRA_EARG, "another fit: other data or options");
        CHECK_FAILS(fit(NULL, p.train_x, q.train_y, settings[c], "other", &model),
                    OKRA_EARG, "another fit");
        const char *const more[] = {"lambda=0.2", "kx=rbf(sigma=2)", "center-output=yes"};
        for (int k = 0; k < 3; k++) {
            snprintf(other, sizeof other, "%s %s", settings[c], more[k]);
            CHECK_FAILS(fit(NULL, p.train_x, p.train_y, other, "other", &model),
                        OKRA_EARG, "another fit");
        }
        CHECK_FAILS(fit(NULL, p.train_x, p.train_y, settings[!c], "other", &model),
                    OKRA_EFORMAT, "no checkpoint of such a fit");
    }
    static const struct {
        const char *settings, *message;
    } bad[] = {{"operator=cov", "operator identity"},
               {"lambda=0", "lambda above 0"},
               {"low-rank-x=nystrom(rank=3) operator=diagonal(t=0.5) kx=linear",
                "does not go with the operator diagonal"}};
    for (int k = 0; k < 3; k++) {
        CHECK_FAILS(fit(NULL, p.train_x, p.train_y, bad[k].settings, "bad", &model),
                    OKRA_EARG, bad[k].message);
    }
    CHECK_FAILS(fit(NULL, p.train_x, p.train_y, dense[0], "no/such/folder", &model),
                OKRA_EIO, "no/such/folder");
    okra_options *o = settings_of(okra_fit_options, "ky=linear lambda=0.1");
    CHECK_OK(okra_options_set(o, "checkpoint", "-"));
    CHECK_FAILS(okra_fit(NULL, p.train_x, p.train_y, o, &model), OKRA_EARG,
                "not standard output");
    okra_options_free(o);
    pairs_free(&p);
    pairs_free(&q);
}

/* Every byte altered, and every length: refused, and the file is still there. */
TEST(altered_files_are_refused)
{
    pairs p;
    const char *const settings[] = {
        dense[0], "kx=rbf(sigma=1) ky=linear low-rank-x=nystrom(rank=4) lambda=0.1"};
    pairs_make(3, &p);
    for (int c = 0; c < 2; c++) {
        okra_model *model = NULL;
        static unsigned char bytes[1 << 16];
        unlink(files_path("altered"));
        CHECK_OK(fit(NULL, p.train_x, p.train_y, settings[c], "altered", &model));
        okra_model_free(model);
        model = NULL;
        FILE *file = fopen(files_path("altered"), "rb");
        size_t size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        CHECK(size > 300 && size < sizeof bytes);
        for (size_t i = 0; i < size; i++) {
            bytes[i] ^= (unsigned char)(1 + i % 255);
            files_make("altered", (const char *)bytes, size);
            okra_status st =
                fit(NULL, p.train_x, p.train_y, settings[c], "altered", &model);
            CHECK(st != OKRA_OK && strstr(okra_message(), "altered"));
            bytes[i] ^= (unsigned char)(1 + i % 255);
        }
        for (size_t length = 0; length < size; length += 1 + length / 50) {
            files_make("altered", (const char *)bytes, length);
            CHECK(fit(NULL, p.train_x, p.train_y, settings[c], "altered", &model) !=
                  OKRA_OK);
        }
        files_make("altered", (const char *)bytes, size);
        CHECK_OK(fit(NULL, p.train_x, p.train_y, settings[c], "altered", &model));
        okra_model_free(model);
    }
    pairs_free(&p);
}

/* The header of a checkpoint, changed and sealed again. */
static void reseal(const char *entry, int place, uint64_t value)
{
    okra_zip_ *zip = NULL;
    okra_zip_writer_ *out = NULL;
    okra_writer_ *file = NULL;
    const char *name;
    CHECK_OK(okra_zip_open_(NULL, files_path("sealed"), &zip));
    CHECK_OK(okra_writer_open_(files_path("resealed"), &file));
    CHECK_OK(okra_zip_writer_create_(file, &out));
    for (size_t i = 0; (name = okra_zip_each_(zip, i)); i++) {
        const unsigned char *bytes = NULL;
        unsigned char copy[1 << 14];
        okra_int size = 0;
        void *owned = NULL;
        CHECK_OK(okra_zip_entry_(NULL, zip, (okra_int)i, &bytes, &size, &owned));
        CHECK(size <= (okra_int)sizeof copy);
        memcpy(copy, bytes, (size_t)size);
        if (strcmp(name, entry) == 0) {
            memcpy(copy + 8 * place, &value, sizeof value);
        }
        CHECK_OK(okra_zip_add_(out, name, copy, (size_t)size, NULL, 0, 0, 0, NULL));
        okra_free_(owned);
    }
    CHECK_OK(okra_zip_finish_(out));
    okra_zip_writer_free_(out);
    CHECK_OK(okra_writer_commit_(file));
    okra_zip_close_(zip);
}

TEST(sealed_lies_are_refused)
{
    static const uint64_t values[] = {0, 2, 11, 13, 1u << 31, UINT64_MAX, UINT64_MAX / 2};
    static const struct {
        const char *settings, *entry;
        int places[4];
    } cases[] = {{"kx=rbf(sigma=1) ky=linear lambda=0.1", "okra-factor-1", {0, 1, 2, -1}},
                 {"kx=rbf(sigma=1) ky=linear low-rank-x=nystrom(rank=4) lambda=0.1",
                  "okra-moments-1",
                  {0, 1, 2, 3}}};
    pairs p;
    okra_model *model = NULL;
    pairs_make(3, &p);
    for (int c = 0; c < 2; c++) {
        unlink(files_path("sealed"));
        CHECK_OK(fit(NULL, p.train_x, p.train_y, cases[c].settings, "sealed", &model));
        okra_model_free(model);
        model = NULL;
        for (int k = 0; k < 4 && cases[c].places[k] >= 0; k++) {
            for (int v = 1; v < 7; v++) {
                if (values[v] == 2 && cases[c].places[k] == 2) {
                    continue; /* as it was: two outputs */
                }
                reseal(cases[c].entry, cases[c].places[k], values[v]);
                CHECK(fit(NULL, p.train_x, p.train_y, cases[c].settings, "resealed",
                          &model) != OKRA_OK);
            }
        }
    }
    static const uint64_t wrong[] = {N + 1, N - 1}; /* too many, not the end of a round */
    for (int k = 0; k < 2; k++) {
        reseal("okra-moments-1", 4, wrong[k]);
        CHECK_FAILS(
            fit(NULL, p.train_x, p.train_y, cases[1].settings, "resealed", &model),
            OKRA_EFORMAT, "no checkpoint");
    }
    unlink(files_path("sealed"));
    CHECK_OK(fit(NULL, p.train_x, p.train_y, cases[0].settings, "sealed", &model));
    okra_model_free(model);
    model = NULL;
    const double numbers[] = {-1, nan(""), -HUGE_VAL, HUGE_VAL};
    for (int k = 0; k < 4; k++) { /* the jitter; the first pivot, and the last */
        static const int places[] = {3, 0, N * N - 1};
        for (int e = 0; e < 3; e++) {
            uint64_t bits = 0;
            memcpy(&bits, &numbers[k], sizeof bits);
            reseal(e ? "0" : "okra-factor-1", places[e], bits);
            CHECK_FAILS(
                fit(NULL, p.train_x, p.train_y, cases[0].settings, "resealed", &model),
                OKRA_EFORMAT, "no checkpoint");
        }
    }
    pairs_free(&p);
}

static okra_status try_fit(const pairs *p, const char *settings)
{
    okra_model *model = NULL;
    okra_options *o = NULL;
    okra_status st = okra_fit_options(&o);
    const char *const names[] = {"kx", "ky", "lambda", "checkpoint", "low-rank-x"};
    const char *const values[] = {"rbf(sigma=1)", "linear", "0.1", files_path("alloc"),
                                  settings};
    for (int i = 0; st == OKRA_OK && i < 5 && *values[i]; i++) {
        st = okra_options_set(o, names[i], values[i]);
    }
    for (int again = 0; st == OKRA_OK && again < 2; again++) {
        st = okra_fit(NULL, p->train_x, p->train_y, o, &model);
        okra_model_free(model);
        model = NULL;
    }
    okra_options_free(o);
    unlink(files_path("alloc"));
    return st;
}

TEST(allocations)
{
    pairs p;
    pairs_make(9, &p);
    CHECK_ALLOCATIONS(try_fit(&p, ""), (void)0);
    CHECK_ALLOCATIONS(try_fit(&p, "nystrom(rank=4)"), (void)0);
    pairs_free(&p);
    files_clean();
}

/* What the host has kept of some rows goes on with another engine, which may take all
 * rows at once: none counts twice. The last test: the host stays. */
TEST(rounds_of_the_host_go_on_elsewhere)
{
    rows p;
    okra_context *other = NULL;
    const char *name = getenv("OKRA_TEST_ENGINE");
    rows_make(&p);
    okra_engine_assume_(NULL);
    CHECK_OK(okra_context_create(&other));
    CHECK_OK(okra_context_set_engine(other, name ? name : "host"));
    for (int c = 0; c < LOW; c++) {
        okra_context *ctx = NULL;
        okra_model *part = NULL, *plain = NULL;
        okra_int m = 0, d = 0;
        stopper s = {NULL, 2};
        CHECK_OK(okra_context_create(&ctx));
        s.ctx = ctx;
        okra_context_set_progress(ctx, stop, &s);
        unlink(files_path("plain"));
        CHECK_OK(fit(other, p.train_x, p.train_y, low[c], "plain", &plain));
        unlink(files_path("elsewhere"));
        okra_status st = fit(ctx, p.train_x, p.train_y, low[c], "elsewhere", &part);
        CHECK(st == OKRA_ECANCELLED);
        okra_context_free(ctx);
        CHECK_OK(fit(other, p.train_x, p.train_y, low[c], "elsewhere", &part));
        const double *A = okra_store_get_(plain->store, "coefficients", &m, &d);
        const double *B = okra_store_get_(part->store, "coefficients", &m, &d);
        CHECK(A && B);
        CHECK_NEAR(harness_relative(m * d, B, A), 0, c == 0 ? 7e-10 : 4e-13);
        okra_model_free(plain);
        okra_model_free(part);
    }
    okra_context_free(other);
    rows_free(&p);
    files_clean();
}

MAIN(RUN(moments_go_on), RUN(rounds_change_rounding_alone), RUN(factors_are_kept),
     RUN(others_are_refused), RUN(altered_files_are_refused),
     RUN(sealed_lies_are_refused), RUN(allocations),
     RUN(rounds_of_the_host_go_on_elsewhere))
