/*
 * Models whose pairs come and go against models fitted on the same pairs: predictions of
 * weights and embeddings at test inputs.
 */
#include "pairs.h"

enum { MANY = 60, WIDE = 3, OUT = 2, TESTS_ = 9 };

typedef struct field {
    double x[MANY * WIDE], y[MANY * OUT], t[TESTS_ * WIDE];
} field;

static field *make_field(uint64_t seed, int shape)
{
    static field f;
    okra_random_ r = okra_random_create_(seed, 5);
    harness_normals(&r, MANY * WIDE, f.x);
    harness_normals(&r, MANY * OUT, f.y);
    harness_normals(&r, TESTS_ * WIDE, f.t);
    for (int i = 0; shape == 1 && i < MANY; i++) { /* every third is a copy */
        for (int k = 0; k < WIDE; k++) {
            f.x[i * WIDE + k] = f.x[i / 3 * 3 * WIDE + k];
        }
    }
    for (int i = 0; shape == 2 && i < MANY; i++) { /* of rank one */
        f.x[i * WIDE + 1] = f.x[i * WIDE + 2] = f.x[i * WIDE];
    }
    return &f;
}

static okra_data *rows_of(const double *values, const okra_int *index, okra_int count,
                          okra_int width)
{
    okra_data *all = NULL, *some = NULL;
    CHECK_OK(okra_data_dense(values, MANY, width, width, &all));
    CHECK_OK(okra_data_take(all, index, count, &some));
    okra_data_free(all);
    return some;
}

static okra_model *fit_rows(const field *f, const okra_int *index, okra_int count,
                            const char *settings)
{
    okra_data *x = rows_of(f->x, index, count, WIDE),
              *y = rows_of(f->y, index, count, OUT);
    okra_model *model = pairs_fit(x, y, settings);
    okra_data_free(x);
    okra_data_free(y);
    return model;
}

/* The rows `more` of the field come, the model's rows `gone` go. */
static okra_status change(const field *f, const okra_model *model, const okra_int *more,
                          okra_int more_count, const okra_int *gone, okra_int gone_count,
                          okra_update_report *report, okra_model **out)
{
    okra_data *x = NULL, *y = NULL;
    okra_update_request request = {OKRA_SIZED(okra_update_request), .remove = gone,
                                   .remove_count = gone_count};
    if (more_count > 0) {
        request.x = x = rows_of(f->x, more, more_count, WIDE);
        request.y = y = rows_of(f->y, more, more_count, OUT);
    }
    okra_status st = okra_model_update(NULL, model, &request, report, out);
    okra_data_free(x);
    okra_data_free(y);
    return st;
}

static double apart(const field *f, const okra_model *a, const okra_model *b)
{
    okra_data *t = NULL;
    okra_int rows = 0, cols = 0;
    CHECK_OK(okra_data_dense(f->t, TESTS_, WIDE, WIDE, &t));
    bool weights = okra_model_form_(a) == OKRA_FORM_WEIGHTS;
    bool embedding = !weights || a->training->output.features != NULL;
    CHECK(okra_model_form_(b) == okra_model_form_(a));
    okra_prediction *p = pairs_predict(a, t, "decode=none", weights, embedding);
    okra_prediction *q = pairs_predict(b, t, "decode=none", weights, embedding);
    double worst = 0;
    if (weights) {
        const double *w = okra_prediction_weights(p, &rows, &cols);
        worst =
            harness_relative(rows * cols, w, okra_prediction_weights(q, &rows, &cols));
    }
    if (embedding) {
        const double *h = okra_prediction_embedding(p, &rows, &cols);
        worst = fmax(worst, harness_relative(rows * cols, h,
                                             okra_prediction_embedding(q, &rows, &cols)));
    }
    okra_prediction_free(p);
    okra_prediction_free(q);
    okra_data_free(t);
    return worst;
}

/* lambda 0.05 and Gram matrices of rank 3 and more: condition numbers up to 1e4. Ten
 * times the worst over 100 seeds. */
static const double CLOSE = 2e-12; /* 1.7e-13 */

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
    const double *memory = okra_bag_mat_(a->bag, "factor").p;
    CHECK(okra_bag_mat_(b->bag, "factor").p == memory);
    CHECK(okra_bag_mat_(c->bag, "factor").p != memory);
    CHECK(okra_bag_mat_(d->bag, "factor").p == memory);
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
    CHECK(okra_bag_mat_(d->bag, "factor").p == memory);
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
        CHECK(okra_bag_mat_(first->bag, "factor.0").rows == 20);
        CHECK((okra_bag_mat_(first->bag, "factor.1").p != NULL) == (factors[which] == 2));
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

/* ---- a new fit ---- */

static void check_refit(const char *settings, const char *why)
{
    const field *f = make_field(11, 0);
    okra_int all[MANY], gone = 4, kept[MANY], at = 0;
    okra_update_report report = {OKRA_SIZED(okra_update_report)};
    okra_model *changed = NULL;
    for (okra_int i = 0; i < MANY; i++) {
        all[i] = i;
        if (i != gone && i < 25) {
            kept[at++] = i;
        }
    }
    okra_model *before = fit_rows(f, all, 20, settings);
    okra_model *want = fit_rows(f, kept, at, settings);
    CHECK_OK(change(f, before, all + 20, 5, &gone, 1, &report, &changed));
    CHECK(report.how == OKRA_UPDATE_REFIT);
    CHECK_TEXT(report.why, why);
    CHECK_NEAR(apart(f, changed, want), 0, 1e-15);
    okra_model_free(before);
    okra_model_free(want);
    okra_model_free(changed);
}

TEST(others_are_fitted_anew)
{
    check_refit("method=knn k=3", "the method has no other way");
    check_refit("method=kpca kx=rbf(sigma=1) components=2",
                "the method has no other way");
    check_refit("kx=rbf(sigma=1) ky=rbf(sigma=1) operator=cov lambda=0.1",
                "the operator is neither identity nor a matrix");
    check_refit("kx=rbf(sigma=1)|center lambda=0.1",
                "a kernel is centred over the training set");
    check_refit("kx=rbf(sigma=1) keep=coefficients lambda=0.1",
                "the model does not keep its factor");
    check_refit("kx=rbf(sigma=1)|chol(rank=4) lambda=0.1",
                "a kernel of low rank has its basis among the pairs");
}

/* Copies and hardly any lambda: the fit needed jitter, and so does the new one. */
TEST(singular_matrices_are_factored_anew)
{
    const field *f = make_field(3, 1);
    okra_int all[MANY];
    okra_update_report report = {OKRA_SIZED(okra_update_report)};
    okra_model *changed = NULL;
    for (okra_int i = 0; i < MANY; i++) {
        all[i] = i;
    }
    const char *settings = "kx=linear lambda=1e-300";
    okra_model *before = fit_rows(f, all, 20, settings);
    CHECK_OK(change(f, before, all + 20, 3, NULL, 0, &report, &changed));
    CHECK(report.how == OKRA_UPDATE_REFIT);
    CHECK_TEXT(report.why, "the Gram matrix is singular to rounding");
    okra_model_free(before);
    okra_model_free(changed);
}

/* The spread of standardize stays that of the first fit, and low rank keeps its basis. */
TEST(kernels_keep_their_statistics)
{
    field *f = make_field(5, 0);
    double scaled[MANY * WIDE];
    okra_int all[MANY];
    okra_update_report report = {OKRA_SIZED(okra_update_report)};
    okra_model *changed = NULL;
    for (okra_int i = 0; i < MANY; i++) {
        all[i] = i;
        f->x[i * WIDE] *= i < 20 ? 1 : 50; /* the new ones are far away */
    }
    okra_model *before = fit_rows(f, all, 20, "kx=standardize|rbf(sigma=1) lambda=0.1");
    CHECK_OK(change(f, before, all + 20, 5, NULL, 0, &report, &changed));
    CHECK(report.how == OKRA_UPDATE_FACTOR);
    for (int k = 0; k < WIDE; k++) {
        double mean = 0, spread = 0;
        for (int i = 0; i < 20; i++) {
            mean += f->x[i * WIDE + k] / 20;
        }
        for (int i = 0; i < 20; i++) {
            spread += (f->x[i * WIDE + k] - mean) * (f->x[i * WIDE + k] - mean) / 20;
        }
        for (int i = 0; i < MANY; i++) {
            scaled[i * WIDE + k] = (f->x[i * WIDE + k] - mean) / sqrt(spread);
        }
    }
    okra_data *x = rows_of(scaled, all, 25, WIDE), *y = rows_of(f->y, all, 25, OUT);
    okra_model *want = pairs_fit(x, y, "kx=rbf(sigma=1) lambda=0.1");
    okra_int rows, cols;
    const double *a = okra_bag_get_(changed->bag, "coefficients", &rows, &cols);
    const double *b = okra_bag_get_(want->bag, "coefficients", &rows, &cols);
    CHECK_NEAR(harness_relative(rows * cols, a, b), 0, CLOSE);
    okra_data_free(x);
    okra_data_free(y);
    okra_model_free(before);
    okra_model_free(want);
    okra_model_free(changed);
}

/* Strings, and inputs without outputs, which stay behind the pairs. */
TEST(other_objects)
{
    static const char *const words[] = {"abba", "ab", "bca", "a",
                                        "cab",  "bb", "acb", "ca"};
    pairs p;
    okra_data *x = NULL, *more = NULL, *y = NULL;
    okra_int two[] = {0, 1}, all[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    okra_model *changed = NULL;
    okra_update_report report = {OKRA_SIZED(okra_update_report)};
    pairs_make(1, &p);
    CHECK_OK(okra_data_strings(words, 6, &x));
    CHECK_OK(okra_data_strings(words + 6, 2, &more));
    CHECK_OK(okra_data_take(p.train_y, all, 6, &y));
    okra_model *before = pairs_fit(x, y, "kx=spectrum(k=1) ky=rbf(sigma=1) lambda=0.1");
    okra_data_free(y);
    okra_data *new_y = NULL, *whole = NULL;
    CHECK_OK(okra_data_take(p.train_y, (okra_int[]){6, 7}, 2, &new_y));
    okra_update_request request = {OKRA_SIZED(okra_update_request), .x = more, .y = new_y,
                                   .remove = two, .remove_count = 2};
    CHECK_OK(okra_model_update(NULL, before, &request, &report, &changed));
    CHECK(report.how == OKRA_UPDATE_FACTOR);
    okra_data_free(x);
    CHECK_OK(okra_data_strings(words + 2, 6, &x));
    CHECK_OK(okra_data_take(p.train_y, all + 2, 6, &whole));
    okra_model *want = pairs_fit(x, whole, "kx=spectrum(k=1) ky=rbf(sigma=1) lambda=0.1");
    okra_mat_ a = okra_bag_mat_(changed->bag, "factor"),
              b = okra_bag_mat_(want->bag, "factor");
    CHECK(a.rows == 6 && b.rows == 6);
    for (okra_int i = 0; i < 6; i++) {
        CHECK_NEAR(harness_relative(6, a.p + i * a.ld, b.p + i * b.ld), 0, CLOSE);
    }
    okra_model_free(before);
    okra_model_free(changed);
    okra_model_free(want);
    request.remove_count = 0;
    before = pairs_fit(p.train_x, new_y, "kx=rbf(sigma=1) lambda=0.1 lambda2=0.1");
    CHECK_FAILS(okra_model_update(NULL, before, &request, &report, &changed), OKRA_ESHAPE,
                "expected one kind and width");
    request.x = p.test_x;
    request.y = p.test_y;
    CHECK_OK(okra_model_update(NULL, before, &request, &report, &changed));
    CHECK(changed->training->x->n == N + M && changed->training->y->n == 2 + M);
    CHECK(changed->training->x->values[2 * P] == p.t[0]);
    CHECK(changed->training->x->values[(2 + M) * P] == p.x[2 * LDX]);
    okra_model_free(before);
    okra_model_free(changed);
    okra_data_free(x);
    okra_data_free(more);
    okra_data_free(new_y);
    okra_data_free(whole);
    pairs_free(&p);
}

/* ---- refusals ---- */

static void refused(const okra_model *m, okra_update_request request, okra_status status,
                    const char *text)
{
    okra_model *out = NULL;
    request.size = sizeof request;
    CHECK_FAILS(okra_model_update(NULL, m, &request, NULL, &out), status, text);
    CHECK(!out);
}

TEST(refusals)
{
    pairs p;
    okra_int rows[N + 1] = {0}, every[N];
    double gram[N * N] = {0};
    okra_data *K = NULL;
    pairs_make(2, &p);
    for (okra_int i = 0; i < N; i++) {
        every[i] = i;
        gram[i * N + i] = 1;
    }
    okra_model *m = pairs_fit(p.train_x, p.train_y, "kx=rbf(sigma=1) lambda=0.1");
    refused(m, (okra_update_request){0}, OKRA_EARG, "nothing to add and nothing to");
    refused(m, (okra_update_request){.x = p.test_x}, OKRA_EARG, "y is missing");
    refused(m, (okra_update_request){.y = p.test_x}, OKRA_EARG, "x is missing");
    refused(m, (okra_update_request){.x = p.train_x, .y = p.test_y}, OKRA_ESHAPE,
            "expected as many of each");
    refused(m, (okra_update_request){.x = p.test_y, .y = p.test_y}, OKRA_ESHAPE,
            "expected one kind and width");
    refused(m, (okra_update_request){.remove_count = 1}, OKRA_EARG, "and no list");
    refused(m, (okra_update_request){.remove = every, .remove_count = N}, OKRA_ESHAPE,
            "no training pairs would be left");
    rows[0] = N;
    refused(m, (okra_update_request){.remove = rows, .remove_count = 1}, OKRA_EARG,
            "row 12 is to go, expected one of the 12 training pairs");
    rows[0] = -1;
    refused(m, (okra_update_request){.remove = rows, .remove_count = 1}, OKRA_EARG,
            "row -1");
    rows[0] = rows[1] = 3;
    refused(m, (okra_update_request){.remove = rows, .remove_count = 2}, OKRA_EARG,
            "row 3 is to go twice");
    okra_model_free(m);
    CHECK_OK(okra_data_gram(gram, N, N, N, NULL, &K));
    m = pairs_fit(K, p.train_y, "kx=precomputed");
    rows[0] = 0;
    refused(m, (okra_update_request){.remove = rows, .remove_count = 1},
            OKRA_EUNSUPPORTED, "fitted on a Gram matrix");
    okra_model_free(m);
    okra_data_free(K);
    pairs_free(&p);
}

static okra_status one_change(const okra_model *m, const pairs *p, okra_model **out)
{
    okra_int gone[2] = {1, 5};
    okra_update_request request = {OKRA_SIZED(okra_update_request), .x = p->test_x,
                                   .y = p->test_y, .remove = gone, .remove_count = 2};
    return okra_model_update(NULL, m, &request, NULL, out);
}

TEST(failing_allocations)
{
    pairs p;
    okra_model *out = NULL;
    pairs_make(3, &p);
    static const char *const settings[] = {"kx=rbf(sigma=1) lambda=0.1 center-output=yes",
                                           "method=knn k=2"};
    for (int k = 0; k < 2; k++) {
        okra_model *m = pairs_fit(p.train_x, p.train_y, settings[k]);
        CHECK_ALLOCATIONS(one_change(m, &p, &out), okra_model_free(out));
        okra_model_free(m);
    }
    pairs_free(&p);
}

MAIN(RUN(changed_factor_equals_a_fit), RUN(many_single_changes),
     RUN(models_that_share_a_factor_stay_what_they_are),
     RUN(matrix_operators_have_a_factor_for_each_eigenvalue), RUN(others_are_fitted_anew),
     RUN(singular_matrices_are_factored_anew), RUN(kernels_keep_their_statistics),
     RUN(other_objects), RUN(refusals), RUN(failing_allocations))
