/*
 * Low rank for methods without a factored form of their own: kernels EXPR | SPEC. At full
 * rank they equal the dense ones; at a small one, the same method on Gram matrices
 * Phi Phi' that are written out here.
 */
#include "lowrank_naive.h"
#include "pairs.h"
#include "okra/more/leave.h"
enum { SEEDS = 6 };

enum { TOP = 4, ALL = N + M, MOST = M * (N + TOP) };

typedef struct way {
    const char *settings; /* method and options, inputs under rbf(sigma=1) */
    const char *ky;
    bool labels;      /* outputs are labels          */
    bool explicit;    /* it needs explicit features: the output kernel stays */
    bool own;         /* what a last digit changes: Gram values are the kernel's own */
    double tolerance; /* of full rank; 0: stopping rules change with a last digit */
} way;

/* At full rank, relative to the largest value: ten times the worst over 200 seeds. Trees
 * choose among features that split alike, unless there is but one to choose; of a small
 * rank the coefficients of support vectors and of distances are not unique. */
static const way ways[] = {
    {"method=ridge", "rbf(sigma=1)", 0, 0, 0, 1.5e-11},
    {"method=ridge operator=ccov", "linear", 0, 1, 0, 6e-11},
    {"method=kpca components=2", "rbf(sigma=1)", 0, 0, 0, 2.6e-11},
    {"method=margin", "rbf(sigma=1)", 0, 0, 1, 1.4e-12},
    {"method=margin loss=epsilon tolerance=1e-12", "rbf(sigma=1)", 0, 0, 1, 3.2e-11},
    {"method=margin loss=huber tolerance=1e-12", "linear", 0, 1, 0, 3.3e-11},
    {"method=knn k=3", "rbf(sigma=1)", 0, 0, 0, 3e-13},
    {"method=knn k=2", "linear", 0, 1, 0, 3e-13},
    {"method=tgp-kl", "rbf(sigma=1)", 0, 0, 0, 3.2e-11},
    {"method=tgp-kl neighbours=5", "rbf(sigma=1)", 0, 0, 0, 3.2e-11},
    {"method=tgp-hsic", "rbf(sigma=1)", 0, 0, 0, 3e-12},
    {"method=soar", "linear", 0, 1, 0, 2.8e-10},
    {"method=soar learner=svr", "linear", 0, 1, 1, 0},
    {"method=ok3 trees=20 features=1", "rbf(sigma=1)", 0, 0, 1, 4e-13},
    {"method=svm", "zero-one", 1, 1, 1, 1.7e-8},
    {"method=svr", "linear", 0, 1, 1, 1.7e-8}};
enum { WAYS = sizeof ways / sizeof *ways };

/* Weights or embeddings of the test inputs, then the distances of the best candidates. */
static okra_int outcome(const okra_model *model, const okra_data *x,
                        const okra_data *candidates, double *out)
{
    okra_prediction *p = NULL;
    okra_int rows, cols, top, count = 0;
    char text[16];
    bool weights = okra_model_form_(model) == OKRA_FORM_WEIGHTS;
    snprintf(text, sizeof text, "top=%d", TOP);
    okra_options *options = settings_of(okra_predict_options, text);
    okra_predict_request request = {OKRA_SIZED(okra_predict_request),
                                    .candidates = candidates, .weights = weights,
                                    .embedding = !weights};
    CHECK_OK(okra_predict(NULL, model, x, options, &request, &p));
    okra_options_free(options);
    if (!p) {
        return 0;
    }
    const double *values = weights ? okra_prediction_weights(p, &rows, &cols)
                                   : okra_prediction_embedding(p, &rows, &cols);
    memcpy(out, values, (size_t)(rows * cols) * sizeof *out);
    count = rows * cols;
    const double *distance = okra_prediction_distance(p, &top);
    for (okra_int i = 0; i < M * top; i++) {
        out[count++] = distance[i];
    }
    okra_prediction_free(p);
    return count;
}

static okra_data *outputs(const way *w, const pairs *p)
{
    okra_data *y = NULL;
    okra_int codes[N];
    for (int i = 0; i < N; i++) {
        codes[i] = i < 3 ? i : (okra_int)(fabs(100 * p->y[i])) % 3;
    }
    if (w->labels) {
        CHECK_OK(okra_data_labels(codes, N, NULL, 3, &y));
    } else {
        y = okra_data_retain(p->train_y);
    }
    return y;
}

/* Options of fit; SPECs of low rank, or NULL. */
static const char *options_of(const way *w, const char *on_x, const char *on_y,
                              char text[300])
{
    snprintf(text, 300, "kx=rbf(sigma=1)%s%s ky=%s%s%s %s", on_x ? "|" : "",
             on_x ? on_x : "", w->ky, on_y ? "|" : "", on_y ? on_y : "", w->settings);
    return text;
}

static double compare(const okra_model *a, const okra_data *xa, const okra_model *b,
                      const okra_data *xb, const okra_data *candidates)
{
    double one[MOST], two[MOST];
    okra_int count = outcome(a, xa, NULL, one);
    CHECK(count > 0 && count == outcome(b, xb, candidates, two));
    return harness_relative(count, one, two);
}

TEST(full_rank_equals_dense)
{
    static const char *const full[] = {"chol(rank=12,tol=0)", "nystrom(rank=12)",
                                       "nystrom(rank=12,pivots=kmeans)"};
    for (int c = 0; c < WAYS * SEEDS; c++) {
        const way *w = &ways[c % WAYS];
        pairs p;
        char dense[330], low[330];
        if (w->tolerance == 0) {
            continue;
        }
        pairs_make((uint64_t)c, &p);
        okra_data *y = outputs(w, &p);
        options_of(w, NULL, NULL, dense);
        options_of(w, full[c % 3], w->explicit ? NULL : full[c % 3], low);
        if (strstr(w->settings, "=sv")) {
            strcat(dense, " svm-tolerance=1e-9");
            strcat(low, " svm-tolerance=1e-9");
        }
        okra_model *a = pairs_fit(p.train_x, y, dense);
        okra_model *b = pairs_fit(p.train_x, y, low);
        CHECK_NEAR(compare(b, p.test_x, a, p.test_x, NULL), 0, w->tolerance);
        okra_model_free(a);
        okra_model_free(b);
        okra_data_free(y);
        pairs_free(&p);
    }
}

/* Gram data of training and test objects under rbf(sigma=1) of low rank by incomplete
 * Cholesky: written out, or (own) as the kernel has them. A test object's own value is
 * that before low rank. */
static void low_gram(const okra_data *train, const okra_data *test, int rank, bool own,
                     okra_data **gram, okra_data **rows)
{
    okra_kernel *k = NULL, *low = NULL;
    okra_data *both = NULL, *a = NULL, *b = NULL;
    okra_int among[N];
    char text[80];
    okra_int m = test->n, all = N + m;
    double K[4 * N * N], G[4 * N * N], square[N * N], cross[N * N], self[N];
    snprintf(text, sizeof text, "rbf(sigma=1) | chol(rank=%d)", rank);
    CHECK_OK(okra_kernel_parse("rbf(sigma=1)", &k));
    CHECK_OK(okra_kernel_parse(text, &low));
    CHECK_OK(okra_data_concat(train, test, &both));
    CHECK_OK(okra_gram(NULL, k, both, NULL, K, all));
    for (okra_int i = 0; i < N; i++) {
        among[i] = i;
    }
    lowrank_naive(all, K, among, N, rank, G);
    for (okra_int i = 0; i < N * N; i++) {
        square[i] = G[i / N * all + i % N];
    }
    for (okra_int i = 0; i < m * N; i++) {
        cross[i] = G[(N + i / N) * all + i % N];
        self[i / N] = 1;
    }
    if (own) {
        CHECK_OK(okra_gram(NULL, low, train, NULL, square, N));
        CHECK_OK(okra_gram(NULL, low, test, train, cross, N));
    }
    CHECK_OK(okra_data_gram(square, N, N, N, NULL, &a));
    CHECK_OK(okra_data_gram(cross, m, N, N, self, &b));
    CHECK_OK(okra_data_copy(a, gram));
    CHECK_OK(okra_data_copy(b, rows));
    okra_data_free(a);
    okra_data_free(b);
    okra_data_free(both);
    okra_kernel_free(k);
    okra_kernel_free(low);
}

/* Ten times the worst over 200 seeds, which was 7.7e-13 (tgp-kl of neighbours). */
static const double SMALL = 8e-12;

TEST(small_rank_equals_gram_matrices_of_it)
{
    for (int c = 0; c < WAYS * SEEDS; c++) {
        const way *w = &ways[c % WAYS];
        pairs p;
        char low[300], given[300];
        okra_data *gx = NULL, *tx = NULL, *gy = NULL, *ty = NULL;
        pairs_make((uint64_t)c, &p);
        okra_data *y = outputs(w, &p);
        low_gram(p.train_x, p.test_x, 4, w->own, &gx, &tx);
        options_of(w, "chol(rank=4)", w->explicit ? NULL : "chol(rank=5)", low);
        snprintf(given, sizeof given, "kx=precomputed ky=%s %s",
                 w->explicit ? w->ky : "precomputed", w->settings);
        if (!w->explicit) { /* the training outputs are candidates */
            low_gram(p.train_y, p.train_y, 5, w->own, &gy, &ty);
        }
        okra_model *a = pairs_fit(p.train_x, y, low);
        okra_model *b = pairs_fit(gx, w->explicit ? y : gy, given);
        CHECK_NEAR(compare(a, p.test_x, b, tx, ty), 0, SMALL);
        okra_model_free(a);
        okra_model_free(b);
        okra_data_free(gx);
        okra_data_free(tx);
        okra_data_free(gy);
        okra_data_free(ty);
        okra_data_free(y);
        pairs_free(&p);
    }
}

/* --low-rank-x SPEC is --kx 'EXPR | SPEC', bit for bit; and ridge on such kernels is its
 * factored form. Ten times the worst over 400 models, 4.7e-15. */
TEST(options_are_kernels)
{
    static const struct {
        const char *option, *kernels;
        bool same; /* the same method on the same kernels */
    } cases[] = {
        {"method=knn k=2 kx=rbf(sigma=1) low-rank-x=nystrom(rank=5)",
         "method=knn k=2 kx=rbf(sigma=1)|nystrom(rank=5)", true},
        {"method=tgp-kl kx=rbf(sigma=1) ky=rbf(sigma=1) low-rank=nystrom(rank=5)",
         "method=tgp-kl kx=rbf(sigma=1)|nystrom(rank=5) ky=rbf(sigma=1)|nystrom(rank=5)",
         true},
        {"method=knn k=2 kx=rbf(sigma=1) low-rank=rff(rank=6)",
         "method=knn k=2 kx=rbf(sigma=1)|rff(rank=6)", true},
        {"kx=rbf(sigma=1) ky=rbf(sigma=1) low-rank-y=sketch(rank=5,p=0.5)",
         "kx=rbf(sigma=1) ky=rbf(sigma=1)|sketch(rank=5,p=0.5)", true},
        {"kx=rbf(sigma=1) ky=rbf(sigma=1) low-rank=nystrom(rank=5)",
         "kx=rbf(sigma=1)|nystrom(rank=5) ky=rbf(sigma=1)|nystrom(rank=5)", false},
        {"kx=rbf(sigma=1) ky=rbf(sigma=1) operator=ccov low-rank=rff(rank=6)",
         "kx=rbf(sigma=1)|rff(rank=6) ky=rbf(sigma=1)|rff(rank=6) operator=ccov", false}};
    for (int c = 0; c < 6 * SEEDS; c++) {
        pairs p;
        double one[M], two[M], mean;
        pairs_make((uint64_t)c, &p);
        okra_model *a = pairs_fit(p.train_x, p.train_y, cases[c % 6].option);
        okra_model *b = pairs_fit(p.train_x, p.train_y, cases[c % 6].kernels);
        CHECK_OK(okra_model_loss(NULL, a, p.test_x, p.test_y, &mean, one));
        CHECK_OK(okra_model_loss(NULL, b, p.test_x, p.test_y, &mean, two));
        if (cases[c % 6].same) {
            CHECK(memcmp(one, two, sizeof one) == 0);
        } else {
            CHECK_NEAR(harness_relative(M, two, one), 0, 4.7e-14);
        }
        okra_model_free(a);
        okra_model_free(b);
        pairs_free(&p);
    }
}

static double number(const okra_model *model, const char *name)
{
    double value = -1;
    return okra_store_get_number_(model->store, name, &value) ? value : -1;
}

TEST(ranks_and_trace_errors_are_told)
{
    pairs p;
    double K[N * N], G[N * N], all = 0, kept = 0;
    pairs_make(3, &p);
    okra_kernel *k = NULL;
    CHECK_OK(okra_kernel_parse("rbf(sigma=1)", &k));
    CHECK_OK(okra_gram(NULL, k, p.train_x, NULL, K, N));
    okra_kernel_free(k);
    const okra_int among[N] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    lowrank_naive(N, K, among, N, 4, G);
    for (int i = 0; i < N; i++) {
        all += K[i * (N + 1)];
        kept += G[i * (N + 1)];
    }
    okra_model *m = pairs_fit(p.train_x, p.train_y,
                              "method=knn kx=rbf(sigma=1) ky=rbf(sigma=1) "
                              "low-rank-x=chol(rank=4) low-rank-y=rff(rank=5)");
    CHECK(number(m, "x.rank") == 4 && number(m, "y.rank") == 6);
    CHECK_NEAR(number(m, "x.trace-error"), 1 - kept / all, 1e-13);
    CHECK(number(m, "y.trace-error") == -1);
    okra_model_free(m);
    m = pairs_fit(p.train_x, p.train_y,
                  "method=knn ky=rbf(sigma=1) low-rank-y=chol(rank=12)");
    CHECK(number(m, "x.rank") == -1 && number(m, "y.rank") == 12);
    CHECK(number(m, "y.trace-error") < 1e-13);
    okra_model_free(m);
    pairs_free(&p);
}

/* The farther from the dense method, the smaller the rank. */
TEST(errors_fall_with_the_rank)
{
    static const int picked[] = {0, 4, 8, 10, 15};
    for (int c = 0; c < 5; c++) {
        const way *w = &ways[picked[c]];
        double mean[4] = {0};
        for (uint64_t seed = 0; seed < 20; seed++) {
            pairs p;
            char text[300], spec[40];
            pairs_make(seed, &p);
            okra_model *a =
                pairs_fit(p.train_x, p.train_y, options_of(w, NULL, NULL, text));
            for (int r = 0; r < 4; r++) {
                snprintf(spec, sizeof spec, "chol(rank=%d)", 3 * r + 3);
                okra_model *b =
                    pairs_fit(p.train_x, p.train_y, options_of(w, spec, NULL, text));
                mean[r] += compare(b, p.test_x, a, p.test_x, NULL) / 20;
                okra_model_free(b);
            }
            okra_model_free(a);
            pairs_free(&p);
        }
        CHECK(mean[0] > mean[1] && mean[1] > mean[2] && mean[2] > mean[3]);
    }
}

/* What is saved predicts the same bits. */
TEST(files)
{
    static const char *const specs[] = {"chol(rank=4)", "nystrom(rank=4)",
                                        "sketch(rank=4,p=0.4)", "rff(rank=6)",
                                        "nystrom(rank=4,pivots=centres)"};
    for (int c = 0; c < WAYS * 5; c++) {
        const way *w = &ways[c % WAYS];
        pairs p;
        char text[300];
        okra_model *again = NULL;
        pairs_make((uint64_t)c, &p);
        okra_data *y = outputs(w, &p);
        options_of(w, specs[c / WAYS], w->explicit ? NULL : specs[c / WAYS], text);
        okra_model *model = pairs_fit(p.train_x, y, text);
        CHECK_OK(okra_model_save(NULL, model, NULL, files_path("low.okra")));
        CHECK_OK(okra_model_load(NULL, files_path("low.okra"), &again));
        CHECK(compare(again, p.test_x, model, p.test_x, NULL) == 0);
        CHECK_TEXT(okra_kernel_text(again->training->kx),
                   okra_kernel_text(model->training->kx));
        okra_model_free(model);
        okra_model_free(again);
        okra_data_free(y);
        pairs_free(&p);
    }
}

/* Random Fourier features of ridge keep frequencies, and say of which kernel. */
TEST(waves_say_what_they_are)
{
    pairs p;
    okra_model *again = NULL;
    pairs_make(1, &p);
    okra_model *m =
        pairs_fit(p.train_x, p.train_y, "kx=rbf(sigma=2) low-rank-x=rff(rank=8)");
    CHECK(strstr(okra_model_json(m), "\"x\": \"rbf(sigma=2) | rff(rank=8)\""));
    CHECK_OK(okra_model_save(NULL, m, NULL, files_path("waves.okra")));
    CHECK_OK(okra_model_load(NULL, files_path("waves.okra"), &again));
    CHECK(strstr(okra_model_json(again), "\"x\": \"rbf(sigma=2) | rff(rank=8)\""));
    CHECK(compare(again, p.test_x, m, p.test_x, NULL) == 0);
    okra_model_free(m);
    okra_model_free(again);
    pairs_free(&p);
}

/* Strings and graphs as inputs and outputs. */
TEST(strings_and_graphs)
{
    static const char *const texts[] = {"CCO",    "CCNC", "CCCl", "COCC", "CC(=O)O",
                                        "CNC",    "OCCO", "NCC",  "CCSC", "CCCC",
                                        "C1CC1O", "FCC",  "CCN",  "OCC",  "CCBr",
                                        "COC",    "CC=O", "CNCC", "NCCN"};
    static const char *const methods[] = {"knn k=2", "tgp-kl", "tgp-hsic",
                                          "margin loss=epsilon", "margin loss=huber"};
    okra_data *strings = NULL, *graphs = NULL, *sides[2][2];
    okra_int index[ALL];
    CHECK_OK(okra_data_strings(texts, ALL, &strings));
    CHECK_OK(okra_data_smiles(NULL, texts, ALL, &graphs));
    for (okra_int i = 0; i < ALL; i++) {
        index[i] = i;
    }
    for (int s = 0; s < 2; s++) {
        CHECK_OK(okra_data_take(s ? graphs : strings, index, N, &sides[s][0]));
        CHECK_OK(okra_data_take(s ? graphs : strings, index + N, M, &sides[s][1]));
    }
    for (int c = 0; c < 5 * 2; c++) {
        char dense[200], low[300];
        const char *of_x = c < 5 ? "ssk(length=2)|normalize" : "wl|normalize";
        const char *of_y = c < 5 ? "wl|normalize" : "ssk(length=2)|normalize";
        okra_data *const *x = sides[c >= 5], *const *y = sides[c < 5];
        snprintf(dense, sizeof dense, "method=%s kx=%s ky=%s", methods[c % 5], of_x,
                 of_y);
        snprintf(low, sizeof low,
                 "method=%s kx=%s|nystrom(rank=12) ky=%s|nystrom(rank=12)",
                 methods[c % 5], of_x, of_y);
        okra_model *a = pairs_fit(x[0], y[0], dense), *b = pairs_fit(x[0], y[0], low);
        CHECK_NEAR(compare(b, x[1], a, x[1], NULL), 0, 1e-8);
        okra_model_free(a);
        okra_model_free(b);
    }
    for (int s = 0; s < 4; s++) {
        okra_data_free(sides[s / 2][s % 2]);
    }
    okra_data_free(strings);
    okra_data_free(graphs);
}

/* One pair, two, and pairs that repeat; the rank is cut to what there is. */
TEST(degenerate)
{
    for (int c = 0; c < 3 * WAYS; c++) {
        const way *w = &ways[c % WAYS];
        pairs p;
        char text[300];
        okra_int index[] = {0, 1, 0, 1}, n = c / WAYS == 2 ? 4 : 1 + c / WAYS;
        okra_data *x = NULL, *y = NULL;
        okra_prediction *q = NULL;
        if (strstr(w->settings, "neighbours") || strstr(w->settings, "k=")) {
            continue; /* more neighbours than there are */
        }
        pairs_make((uint64_t)c, &p);
        okra_data *all = outputs(w, &p);
        CHECK_OK(okra_data_take(p.train_x, index, n, &x));
        CHECK_OK(okra_data_take(all, index, n, &y));
        options_of(w, "chol(rank=9)", w->explicit ? NULL : "chol(rank=9)", text);
        okra_model *m = pairs_fit(x, y, text);
        CHECK(number(m, "x.rank") == (n == 1 ? 1 : 2));
        CHECK_OK(okra_predict(NULL, m, p.test_x, NULL, NULL, &q));
        okra_prediction_free(q);
        okra_model_free(m);
        okra_data_free(x);
        okra_data_free(y);
        okra_data_free(all);
        pairs_free(&p);
    }
}

MAIN(RUN(full_rank_equals_dense), RUN(small_rank_equals_gram_matrices_of_it),
     RUN(options_are_kernels), RUN(ranks_and_trace_errors_are_told),
     RUN(errors_fall_with_the_rank), RUN(files), RUN(waves_say_what_they_are),
     RUN(strings_and_graphs), RUN(degenerate))
