/*
 * One prediction after the other from one model: what stays with the model gives the
 * answers of a prediction of all at once, is there once and not made again (bytes are
 * counted), goes with the model, and is left out where the memory budget is small.
 */
#include "pairs.h"
#include "okra/more/update.h"

enum { MOST = 1100, WIDTH = 4, LABELS = 14, ITEMS = 5, TESTS = 9, TOP = 3 };

static double x[MOST * WIDTH], asked[TESTS * WIDTH], y[MOST * LABELS];

/* n pairs: label sets, rankings or numbers. */
static okra_data *outputs(okra_random_ *r, okra_int n, const char *what)
{
    okra_data *data = NULL, *own = NULL;
    bool ranks = strcmp(what, "ranks") == 0;
    okra_int d = ranks ? ITEMS : LABELS, order[ITEMS];
    for (okra_int i = 0; i < n * d; i++) {
        y[i] = strcmp(what, "sets") == 0 ? okra_random_uniform_(r) < 0.3
                                         : okra_random_normal_(r);
        if (ranks && i % d == 0) {
            for (okra_int j = 0; j < d; j++) {
                okra_int k = okra_random_below_(r, j + 1);
                order[j] = order[k];
                order[k] = j + 1;
            }
        }
        y[i] = ranks ? (double)order[i % d] : y[i];
    }
    CHECK_OK(okra_data_dense(y, n, d, d, &data));
    CHECK_OK(okra_data_copy(data, &own));
    okra_data_free(data);
    return own;
}

static okra_prediction *ask(okra_context *ctx, const okra_model *model, okra_int first,
                            okra_int count, const okra_options *options)
{
    okra_data *t = NULL;
    okra_prediction *p = NULL;
    CHECK_OK(okra_data_dense(asked + first * WIDTH, count, WIDTH, WIDTH, &t));
    CHECK_OK(okra_predict(ctx, model, t, options, NULL, &p));
    okra_data_free(t);
    return p;
}

/* Copies of one output come one after the other, by their number. */
static void check_copies(const okra_int *index, const double *distance, okra_int top)
{
    for (okra_int k = 1; k < top; k++) {
        const double *a = y + index[k - 1] * LABELS, *b = y + index[k] * LABELS;
        if (memcmp(a, b, LABELS * sizeof *y) == 0) {
            CHECK(index[k - 1] < index[k] && distance[k - 1] == distance[k]);
        }
    }
}

/* Test input i by itself as row i of all of them. */
static void compare(okra_context *ctx, const okra_model *model, okra_int i,
                    const okra_options *options, const okra_prediction *all, bool chosen)
{
    okra_int top = 0;
    okra_prediction *one = ask(ctx, model, i, 1, options);
    const double *got = okra_prediction_distance(one, &top);
    const double *want = okra_prediction_distance(all, &top);
    for (okra_int k = 0; got && want && k < top; k++) {
        CHECK_NEAR(got[k], want[i * top + k], 1e-11); /* 4e-14 at worst */
    }
    const okra_int *index = okra_prediction_index(one, &top);
    for (okra_int k = 0; chosen && k < top; k++) {
        CHECK(index[k] == okra_prediction_index(all, &top)[i * top + k]);
    }
    if (chosen && got) {
        check_copies(index, got, top);
        check_copies(okra_prediction_index(all, &top) + i * top, want + i * top, top);
    }
    const okra_data *a = okra_prediction_objects(one), *b = okra_prediction_objects(all);
    for (okra_int j = 0; j < b->d; j++) {
        CHECK(a->values[j] == b->values[i * b->ld + j]);
    }
    okra_prediction_free(one);
}

/* Bytes that one prediction takes at most beside what there was. */
static okra_int growth(okra_context *ctx, const okra_model *model,
                       const okra_options *options)
{
    okra_int live = okra_alloc_live_bytes_();
    okra_alloc_reset_peak_();
    okra_prediction_free(ask(ctx, model, 0, 1, options));
    return okra_alloc_peak_bytes_() - live;
}

typedef struct kind {
    const char *what, *fit, *predict;
    okra_int n;
    bool chosen;
    double again; /* doubles per training output that a query may need to be decoded */
} kind;

static const kind kinds[] = {
    /* 64 losses a training output are one panel of them */
    {"sets", "kx=rbf(sigma=2) ky=tanimoto lambda=0.1", "decode=loss:f1 top=3", 600, true,
     30},
    {"sets", "kx=rbf(sigma=2) ky=tanimoto lambda=0.1", "decode=loss:mae top=3", 150, true,
     30},
    {"sets", "kx=rbf(sigma=2) ky=tanimoto lambda=0.1",
     "decode=loss:kernel-loss:kernel=dice top=3", 600, true, 30},
    {"sets", "kx=rbf(sigma=2) ky=tanimoto lambda=0.1", "decode=loss:f1 over-all=yes", 600,
     false, 120},
    {"sets", "kx=rbf(sigma=2) ky=tanimoto lambda=0.1", "decode=labels", 600, false, 120},
    {"ranks", "kx=rbf(sigma=2) ky=kendall lambda=0.1", "decode=rankings", 600, false,
     200},
    /* coordinates of 512 candidates are there; as many kernel values were too many */
    {"sets", "kx=rbf(sigma=2) ky=tanimoto method=kpca", "decode=candidates top=3", 600,
     true, 760},
    {"sets", "kx=rbf(sigma=2) ky=tanimoto lambda=0.1", "decode=candidates top=3", MOST,
     true, 30},
    {"numbers", "kx=rbf(sigma=2) ky=rbf(sigma=2) lambda=0.1 center-output=yes",
     "decode=candidates top=3", MOST, true, 30},
};

static void check(const kind *k, uint64_t seed)
{
    okra_random_ r = okra_random_create_(seed, 3);
    okra_data *train = NULL, *out = NULL;
    okra_context *ctx = NULL;
    harness_normals(&r, k->n * WIDTH, x);
    harness_normals(&r, TESTS * WIDTH, asked);
    CHECK_OK(okra_data_dense(x, k->n, WIDTH, WIDTH, &train));
    out = outputs(&r, k->n, k->what);
    okra_int before = okra_alloc_live_blocks_();
    okra_model *model = pairs_fit(train, out, k->fit),
               *small = pairs_fit(train, out, k->fit);
    okra_options *options = settings_of(okra_predict_options, k->predict);
    okra_options *none = settings_of(okra_predict_options, "decode=none");
    okra_prediction *all = ask(NULL, model, 0, TESTS, options);
    okra_int least = 0;
    for (okra_int i = 0; i < 2 * TESTS; i++) {
        compare(NULL, model, i % TESTS, options, all, k->chosen);
        least = growth(NULL, model, none);
    }
    if (!getenv("OKRA_TEST_ENGINE")) { /* nothing new stays, and little is made */
        okra_int live = okra_alloc_live_bytes_(), blocks = okra_alloc_live_blocks_();
        double more = (double)(growth(NULL, model, options) - least);
        CHECK(okra_alloc_live_bytes_() == live && okra_alloc_live_blocks_() == blocks);
        CHECK(more < 8 * k->again * (double)k->n);
    }
    /* A budget that has no room for all of it: half of it stays at most. What an engine
     * holds of the model counts in it. */
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_memory(ctx, 8 * 700 * k->n));
    okra_int live = okra_alloc_live_bytes_();
    for (okra_int i = 0; i < TESTS && !getenv("OKRA_TEST_ENGINE"); i++) {
        compare(ctx, small, i, options, all, k->chosen);
    }
    CHECK(okra_alloc_live_bytes_() - live <= 4 * 700 * k->n);
    okra_options_free(none);
    okra_context_free(ctx);
    okra_prediction_free(all);
    okra_options_free(options);
    okra_model_free(model);
    okra_model_free(small);
    CHECK(okra_alloc_live_blocks_() == before);
    okra_data_free(train);
    okra_data_free(out);
}

TEST(single_predictions_are_those_of_all)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        int failed = harness_failures;
        check(&kinds[k], k);
        if (harness_failures > failed) {
            printf("    %s, %s\n", kinds[k].fit, kinds[k].predict);
        }
    }
}

/* A pair more: what the model before kept does not count. */
TEST(a_changed_model_keeps_its_own)
{
    const kind *cases[] = {&kinds[0], &kinds[4], &kinds[7]};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const kind *k = cases[c];
        okra_random_ r = okra_random_create_(c, 4);
        okra_data *train = NULL, *more = NULL;
        harness_normals(&r, k->n * WIDTH, x);
        harness_normals(&r, TESTS * WIDTH, asked);
        CHECK_OK(okra_data_dense(x, k->n, WIDTH, WIDTH, &train));
        CHECK_OK(okra_data_dense(asked, 1, WIDTH, WIDTH, &more));
        okra_data *out = outputs(&r, k->n, k->what);
        okra_data *value = outputs(&r, 1, k->what);
        okra_model *model = pairs_fit(train, out, k->fit), *changed = NULL;
        okra_options *options = settings_of(okra_predict_options, k->predict);
        for (okra_int i = 0; i < TESTS; i++) {
            okra_prediction_free(ask(NULL, model, i, 1, options));
        }
        okra_update_request request = {OKRA_SIZED(okra_update_request)};
        request.x = more;
        request.y = value;
        CHECK_OK(okra_model_update(NULL, model, &request, NULL, &changed));
        okra_prediction *all = ask(NULL, changed, 0, TESTS, options);
        for (okra_int i = 0; i < TESTS; i++) {
            compare(NULL, changed, i, options, all, k->chosen);
        }
        okra_prediction_free(all);
        okra_options_free(options);
        okra_model_free(model);
        okra_model_free(changed);
        okra_data_free(train);
        okra_data_free(more);
        okra_data_free(out);
        okra_data_free(value);
    }
}

MAIN(RUN(single_predictions_are_those_of_all), RUN(a_changed_model_keeps_its_own))
