/*
 * Updates of models that are fitted anew, of other objects than vectors, of kernels with
 * statistics; what is refused.
 */
#include "field.h"
#include "okra/more/update.h"

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

/* Copies and hardly any lambda, which counts as 0: such a fit keeps no factor. */
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
    CHECK_TEXT(report.why, "the model does not keep its factor");
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
    const double *a = okra_store_get_(changed->store, "coefficients", &rows, &cols);
    const double *b = okra_store_get_(want->store, "coefficients", &rows, &cols);
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
    okra_mat_ a = okra_store_mat_(changed->store, "factor"),
              b = okra_store_mat_(want->store, "factor");
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

MAIN(RUN(others_are_fitted_anew), RUN(singular_matrices_are_factored_anew),
     RUN(kernels_keep_their_statistics), RUN(other_objects), RUN(refusals),
     RUN(failing_allocations))
