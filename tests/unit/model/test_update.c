/*
 * Models whose pairs come and go against models fitted on the same pairs: predictions of
 * weights and embeddings at test inputs.
 */
#include "field.h"
#include "okra/more/update.h"

static const char *const factored[] = {
    "kx=rbf(sigma=1) lambda=0.05",
    "kx=rbf(sigma=1) lambda=0.05 center-output=yes",
    "kx=rbf(sigma=1) ky=rbf(sigma=1) lambda=0.05",
    "kx=rbf(sigma=1) ky=rbf(sigma=1) lambda=0.05 center-output=yes",
    "kx=linear lambda=0.05 operator=tensor",
    "kx=poly(degree=2)|normalize lambda=0.05",
};
enum { FACTORED = sizeof factored / sizeof *factored };

/* 20 pairs, of which 5 go (the last, the first, or here and there), and 7 that come. */
static void check_change(const field *f, const char *settings, int how)
{
    okra_int all[MANY], kept[MANY], gone[5], at = 0, q = 0;
    okra_update_report report = {OKRA_SIZED(okra_update_report)};
    okra_model *changed = NULL;
    for (okra_int i = 0; i < MANY; i++) {
        all[i] = i;
    }
    for (okra_int i = 0; i < 5; i++) {
        gone[i] = how == 0 ? 19 - i : how == 1 ? i : 3 * (4 - i) + 2;
    }
    for (okra_int i = 0; i < 27; i++) {
        bool goes = false;
        for (q = 0; q < 5; q++) {
            goes = goes || gone[q] == i;
        }
        if (!goes) {
            kept[at++] = i;
        }
    }
    okra_model *before = fit_rows(f, all, 20, settings);
    okra_model *want = fit_rows(f, kept, at, settings);
    CHECK_OK(change(f, before, all + 20, 7, gone, 5, &report, &changed));
    CHECK(report.how == OKRA_UPDATE_FACTOR && report.added == 7 && report.removed == 5);
    CHECK(report.drift < 1e-14 && !report.why);
    CHECK(okra_model_count(changed) == 22);
    CHECK_NEAR(apart(f, changed, want), 0, CLOSE);
    okra_model_free(before);
    okra_model_free(want);
    okra_model_free(changed);
}

TEST(changed_factor_equals_a_fit)
{
    for (int c = 0; c < 3 * 3 * FACTORED * 2; c++) {
        int rest = c, shape = pick(&rest, 3), how = pick(&rest, 3);
        const char *settings = factored[pick(&rest, FACTORED)];
        check_change(make_field((uint64_t)c, shape), settings, how);
    }
}

/* From one pair to many, one at a time, and back again. */
TEST(many_single_changes)
{
    const field *f = make_field(7, 0);
    okra_int all[MANY], last = 0;
    okra_update_report report = {OKRA_SIZED(okra_update_report)};
    for (okra_int i = 0; i < MANY; i++) {
        all[i] = i;
    }
    okra_model *first = fit_rows(f, all, 1, factored[1]), *now = NULL, *next = NULL;
    okra_model *whole = fit_rows(f, all, MANY, factored[1]);
    CHECK_OK(change(f, first, all + 1, 1, NULL, 0, &report, &now));
    for (okra_int i = 2; i < MANY; i++) {
        CHECK_OK(change(f, now, all + i, 1, NULL, 0, &report, &next));
        CHECK(report.how == OKRA_UPDATE_FACTOR);
        okra_model_free(now);
        now = next;
    }
    CHECK_NEAR(apart(f, now, whole), 0, CLOSE);
    for (okra_int i = MANY - 1; i >= 1; i--) {
        last = i;
        CHECK_OK(change(f, now, NULL, 0, &last, 1, &report, &next));
        okra_model_free(now);
        now = next;
    }
    CHECK_NEAR(apart(f, now, first), 0, CLOSE);
    okra_model_free(first);
    okra_model_free(whole);
    okra_model_free(now);
}

/* Predictions of weights at the test inputs, to be freed. */
static double *weights_of(const field *f, const okra_model *model)
{
    okra_data *t = NULL;
    okra_int rows = 0, cols = 0;
    CHECK_OK(okra_data_dense(f->t, TESTS_, WIDE, WIDE, &t));
    okra_prediction *p = pairs_predict(model, t, "decode=none", true, false);
    const double *w = okra_prediction_weights(p, &rows, &cols);
    double *copy = okra_alloc_(rows * cols, sizeof *copy);
    CHECK(copy && w);
    memcpy(copy, w, (size_t)(rows * cols) * sizeof *copy);
    okra_prediction_free(p);
    okra_data_free(t);
    return copy;
}

/* Models that grew from one another share memory; none changes another, whichever goes
 * first. */
TEST(models_that_share_a_factor_stay_what_they_are)
{
    const field *f = make_field(5, 0);
    okra_int all[MANY];
    okra_update_report report = {OKRA_SIZED(okra_update_report)};
    okra_model *a = NULL, *b = NULL, *c = NULL, *d = NULL;
    for (okra_int i = 0; i < MANY; i++) {
        all[i] = i;
    }
    okra_model *first = fit_rows(f, all, 10, factored[0]);
    CHECK_OK(change(f, first, all + 10, 5, NULL, 0, &report, &a)); /* moves */
    CHECK_OK(change(f, a, all + 15, 5, NULL, 0, &report, &b));     /* appends to it */
    double *before = weights_of(f, b);
    CHECK_OK(change(f, a, all + 30, 5, NULL, 0, &report, &c)); /* another branch */
    CHECK_OK(change(f, b, all + 20, 5, NULL, 0, &report, &d)); /* appends again */
    const double *memory = okra_store_mat_(a->store, "factor").p;
    CHECK(okra_store_mat_(b->store, "factor").p == memory);
    CHECK(okra_store_mat_(c->store, "factor").p != memory);
    CHECK(okra_store_mat_(d->store, "factor").p == memory);
    double *after = weights_of(f, b);
    CHECK(harness_relative(20 * TESTS_, after, before) == 0);
    okra_int rows_c[20], rows_d[25];
    for (okra_int i = 0; i < 25; i++) {
        rows_d[i] = i;
        if (i < 20) {
            rows_c[i] = i < 15 ? i : i + 15;
        }
    }
    okra_model *want_c = fit_rows(f, rows_c, 20, factored[0]);
    okra_model *want_d = fit_rows(f, rows_d, 25, factored[0]);
    CHECK_NEAR(apart(f, c, want_c), 0, CLOSE);
    CHECK_NEAR(apart(f, d, want_d), 0, CLOSE);
    okra_model_free(first);
    okra_model_free(a);
    okra_model_free(d); /* the last rows are free again: the next one has them */
    CHECK_OK(change(f, b, all + 20, 5, NULL, 0, &report, &d));
    CHECK(okra_store_mat_(d->store, "factor").p == memory);
    okra_model_free(b);
    CHECK_NEAR(apart(f, d, want_d), 0, CLOSE);
    okra_model_free(c);
    okra_model_free(d);
    okra_model_free(want_c);
    okra_model_free(want_d);
    okra_free_(before);
    okra_free_(after);
}

/* ---- matrix operators ---- */

static const char *const matrices[] = {"2,0.5\n0.5,1\n", "3,0\n0,3\n", "1,1\n1,1\n"};

TEST(matrix_operators_have_a_factor_for_each_eigenvalue)
{
    static const int factors[] = {2, 1, 1}; /* different eigenvalues above 0 */
    for (int c = 0; c < 3 * 2 * 3; c++) {
        int rest = c, which = pick(&rest, 3), center = pick(&rest, 2);
        char settings[800], slim[700];
        const char *file = files_make("A.csv", matrices[which], strlen(matrices[which]));
        snprintf(slim, sizeof slim, "kx=rbf(sigma=1) lambda=0.05 operator=matrix:%s%s",
                 file, center ? " center-output=yes" : "");
        snprintf(settings, sizeof settings, "%s keep=weights", slim);
        const field *f = make_field((uint64_t)c, pick(&rest, 3));
        okra_int all[MANY];
        for (okra_int i = 0; i < MANY; i++) {
            all[i] = i;
        }
        okra_model *first = fit_rows(f, all, 20, settings);
        okra_model *spectral = fit_rows(f, all, 20, slim);
        CHECK_NEAR(apart(f, first, spectral), 0, CLOSE);
        CHECK(okra_store_mat_(first->store, "factor.0").rows == 20);
        CHECK((okra_store_mat_(first->store, "factor.1").p != NULL) ==
              (factors[which] == 2));
        okra_model *want = fit_rows(f, all, 35, slim);
        okra_update_report report = {OKRA_SIZED(okra_update_report)};
        okra_model *grown = NULL, *back = NULL, *anew = NULL;
        remove(file); /* a model opens no files */
        CHECK_OK(change(f, first, all + 20, 15, NULL, 0, &report, &grown));
        CHECK(report.how == OKRA_UPDATE_FACTOR && report.drift < 1e-14);
        CHECK_NEAR(apart(f, grown, want), 0, CLOSE);
        CHECK_OK(change(f, grown, NULL, 0, all + 20, 15, &report, &back));
        CHECK_NEAR(apart(f, back, first), 0, CLOSE);
        CHECK_OK(change(f, spectral, all + 20, 15, NULL, 0, &report, &anew));
        CHECK(report.how == OKRA_UPDATE_REFIT);
        CHECK_TEXT(report.why, "the model does not keep its factor");
        CHECK_NEAR(apart(f, anew, want), 0, 1e-15);
        okra_model_free(first);
        okra_model_free(spectral);
        okra_model_free(want);
        okra_model_free(grown);
        okra_model_free(back);
        okra_model_free(anew);
    }
}

MAIN(RUN(changed_factor_equals_a_fit), RUN(many_single_changes),
     RUN(models_that_share_a_factor_stay_what_they_are),
     RUN(matrix_operators_have_a_factor_for_each_eigenvalue))
