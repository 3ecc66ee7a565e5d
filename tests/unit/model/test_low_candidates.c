/*
 * Models of low rank: what candidates cost, what does not go together, plans of memory.
 */
#include "low.h"
#include "okra/more/update.h"

/* See test_low.c. */
static const double SAME = 6e-11;

/* A stored model meets a candidate c in as many numbers as it has output features, not in
 * n: l(c,c) - 2 <psi(c), h> + |h|^2 with psi and h made here, the distances of decoding.
 * Ten times the worst over 1,000 models, which was 4.1e-15. */
static void check_distances(const okra_model *model, const pairs *p, okra_int rank)
{
    const okra_map_ *map = model->training->map_y;
    double V[M * N], Psi[M * N], h[M * N], self[M];
    okra_batches_ walk = {0};
    okra_panels_ *panels = NULL;
    okra_mat_ panel = {0}, Vm = okra_mat_of_(V, M, map->columns);
    okra_int top = 0;
    CHECK_OK(okra_panels_create_(NULL, &model->training->output, p->test_y, &panels));
    CHECK_OK(okra_panels_get_(NULL, panels, 0, false, &panel));
    CHECK(panel.rows == rank && panel.cols == M);
    okra_panels_free_(panels);
    CHECK_OK(okra_batches_open_(NULL, model, p->test_x, 0, &walk));
    CHECK_OK(okra_batches_predict_(NULL, &walk, 0, okra_mat_of_(h, M, rank)));
    okra_batches_close_(&walk);
    CHECK_OK(okra_map_values_(NULL, map, p->test_y, 0, Vm));
    CHECK_OK(okra_map_features_(NULL, map, Vm, okra_mat_of_(Psi, M, rank)));
    CHECK_OK(okra_map_self_(NULL, map, p->test_y, self));
    okra_options *o = settings_of(okra_predict_options, "top=7");
    okra_predict_request request = {OKRA_SIZED(okra_predict_request),
                                    .candidates = p->test_y};
    okra_prediction *q = NULL;
    CHECK_OK(okra_predict(NULL, model, p->test_x, o, &request, &q));
    const double *distance = okra_prediction_distance(q, &top);
    const okra_int *index = okra_prediction_index(q, &top);
    for (okra_int i = 0; i < M * top; i++) {
        const double *a = Psi + index[i] * rank, *b = h + i / top * rank;
        double want = self[index[i]] - 2 * okra_dot_(rank, a, b) + okra_dot_(rank, b, b);
        CHECK_NEAR(distance[i], want, 4.1e-14);
    }
    okra_prediction_free(q);
    okra_options_free(o);
}

TEST(candidates_cost_their_features)
{
    static const char *const kinds[] = {"nystrom(rank=5)", "sketch(rank=5,p=0.4)",
                                        "rff(rank=6)", "chol(rank=5)",
                                        "nystrom(rank=5,pivots=centres)"};
    for (int c = 0; c < 5 * 10; c++) {
        pairs p;
        char settings[160];
        okra_model *model = NULL;
        pairs_make((uint64_t)c, &p);
        snprintf(settings, sizeof settings,
                 "kx=rbf(sigma=1) ky=rbf(sigma=2) operator=%s lambda=0.05 low-rank=%s",
                 c / 5 % 2 ? "ccov" : "identity", kinds[c % 5]);
        okra_model *made = pairs_fit(p.train_x, p.train_y, settings);
        CHECK_OK(okra_model_save(NULL, made, NULL, files_path("cost.okra")));
        CHECK_OK(okra_model_load(NULL, files_path("cost.okra"), &model));
        check_distances(model, &p, c % 5 == 2 ? 6 : 5);
        okra_model_free(made);
        okra_model_free(model);
        pairs_free(&p);
    }
}

TEST(candidates_may_be_given)
{
    pairs p;
    pairs_make(7, &p);
    okra_model *a = pairs_fit(p.train_x, p.train_y, "kx=rbf(sigma=1) ky=rbf(sigma=1)");
    okra_model *b = pairs_fit(p.train_x, p.train_y,
                              "kx=rbf(sigma=1) ky=rbf(sigma=1) low-rank=chol(rank=12)");
    const okra_model *models[] = {a, b};
    double distance[2][M];
    for (int k = 0; k < 2; k++) {
        okra_int top;
        okra_prediction *q = NULL;
        okra_options *o = settings_of(okra_predict_options, "");
        okra_predict_request request = {OKRA_SIZED(okra_predict_request),
                                        .candidates = p.test_y};
        CHECK_OK(okra_predict(NULL, models[k], p.test_x, o, &request, &q));
        memcpy(distance[k], okra_prediction_distance(q, &top), sizeof distance[k]);
        okra_prediction_free(q);
        okra_options_free(o);
    }
    CHECK_NEAR(harness_relative(M, distance[1], distance[0]), 0, SAME);
    okra_model_free(a);
    okra_model_free(b);
    pairs_free(&p);
}

TEST(what_does_not_go_together)
{
    static const pairs_bad bad[] = {
        {"low-rank=chol(rank=3) low-rank-x=chol(rank=3)", OKRA_EARG,
         "either it or these"},
        {"low-rank-y=chol(rank=3)", OKRA_EARG, "leave it out"},
        {"low-rank-x=chol(rank=3) low-rank-y=chol(rank=3)", OKRA_EARG, "leave it out"},
        {"low-rank-x=chol(rank=3) ky=rbf(sigma=1) operator=cov", OKRA_EARG,
         "needs low-rank-y"},
        {"low-rank-x=chol(rank=3) ky=rbf(sigma=1) method=kpca", OKRA_EARG,
         "kpca: low-rank-x needs low-rank-y"},
        {"low-rank-x=chol(rank=3) method=kpca components=x", OKRA_EARG, "components is"},
        {"low-rank-x=chol(rank=3) lambda2=1 graph=knn(k=2)|diffusion", OKRA_EUNSUPPORTED,
         "diffusion needs a matrix of all pairs"},
        {"low-rank-x=chol(rank=3) lambda2=1 graph=gram|power", OKRA_EUNSUPPORTED,
         "a power of gram needs a matrix of all pairs"},
        {"low-rank-x=chol(rank=3) kx=linear lambda2=1 graph=gram", OKRA_EARG,
         "not below 0"},
        {"low-rank-x=chol(rank=3) lambda2=1 graph=gram solver=cg", OKRA_EUNSUPPORTED,
         "leave lambda2 out"},
        {"low-rank-x=chol(rank=x)", OKRA_EARG, "low-rank-x: "},
        {"low-rank-x=chol(rank=3) low-rank-y=chol ky=rbf(sigma=1)", OKRA_EARG,
         "low-rank-y: "},
    };
    pairs p;
    pairs_make(8, &p);
    pairs_check_refused(&p, bad, sizeof bad / sizeof *bad);
    okra_model *model = pairs_fit(
        p.train_x, p.train_y, "kx=rbf(sigma=1) ky=rbf(sigma=1) low-rank=chol(rank=3)");
    okra_prediction *q = NULL;
    okra_options *o = settings_of(okra_predict_options, "");
    okra_predict_request weights = {OKRA_SIZED(okra_predict_request), .weights = true};
    CHECK_FAILS(okra_predict(NULL, model, p.test_x, o, &weights, &q), OKRA_EUNSUPPORTED,
                "embeddings");
    CHECK_OK(okra_options_set(o, "decode", "explicit"));
    CHECK_FAILS(okra_predict(NULL, model, p.test_x, o, NULL, &q), OKRA_EUNSUPPORTED,
                "low rank");
    okra_options_free(o);
    okra_model_free(model);
    pairs_free(&p);
}

static okra_status plan(const pairs *p, const char *settings, char *text, size_t size,
                        double *seconds)
{
    okra_options *o = settings_of(okra_fit_options, settings);
    okra_status st = okra_fit_plan(NULL, p->train_x, p->train_y, o, text, size, seconds);
    okra_options_free(o);
    return st;
}

TEST(plans)
{
    static const struct {
        const char *settings, *text;
    } cases[] = {
        {"low-rank-x=nystrom(rank=5)", "rank 5 of 12 inputs, 2 output features; 1 pass "},
        {"low-rank-x=nystrom(rank=5) ky=rbf(sigma=1)", "0 output features; 2 passes"},
        {"low-rank=chol(rank=99) ky=rbf(sigma=1)", "rank 12 of 12 inputs, 12 output"},
        {"low-rank=sketch(rank=4) ky=rbf(sigma=1)", "rank 4 of 12 inputs, 4 output"},
        {"low-rank-x=rff(rank=30) kx=rbf(sigma=1)", "rank 30 of 12 inputs"},
        {"low-rank-x=nystrom(rank=5) operator=diagonal(t=0.5)", "2 passes"},
        {"low-rank-x=nystrom(rank=5) lambda2=1 graph=gram", "3 passes"},
        {"low-rank-x=nystrom(rank=5) lambda2=1 graph=knn(k=2)|power(p=2)",
         "2 passes over the data in blocks of 12 rows; 0.00 GiB and a block of 0.00 GiB, "
         "0.00 GiB of features in memory or TMPDIR"},
        {"method=margin low-rank-x=nystrom(rank=5)",
         "1 pass over the data in blocks of 12 rows, then about 15 rounds on "
         "features in memory"},
        {"method=margin loss=huber low-rank-x=nystrom(rank=5)", "about 5 Newton steps"},
        {"method=margin loss=epsilon low-rank-x=nystrom(rank=5)",
         "about 40 Newton steps"},
        {"low-rank-x=nystrom(rank=5) solver=cg cg-iterations=7", "at most 8 passes"}};
    pairs p;
    char text[400];
    double seconds = -1;
    pairs_make(1, &p);
    CHECK_OK(plan(&p, "", text, sizeof text, &seconds));
    CHECK(seconds == 0 && !*text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_OK(plan(&p, cases[i].settings, text, sizeof text, &seconds));
        CHECK(seconds > 0 && strstr(text, cases[i].text));
    }
    /* methods that form Gram matrices have none */
    CHECK_OK(plan(&p, "low-rank-x=chol(rank=3) method=knn", text, sizeof text, &seconds));
    CHECK(seconds == 0 && !*text);
    CHECK_FAILS(
        plan(&p, "low-rank-x=chol(rank=3) method=kn", text, sizeof text, &seconds),
        OKRA_EARG, "did you mean 'knn'");
    CHECK_FAILS(plan(&p, "low-rank-x=chol", text, sizeof text, &seconds), OKRA_EARG,
                "low-rank-x: low rank: chol needs rank");
    pairs_free(&p);
}

TEST(allocations)
{
    static const char *const settings[] = {
        "kx=rbf(sigma=1) low-rank-x=nystrom(rank=5)",
        "kx=rbf(sigma=1) ky=rbf(sigma=1) low-rank-x=nystrom(rank=5)",
        "kx=rbf(sigma=1) ky=rbf(sigma=1) operator=ccov low-rank=sketch(rank=5)",
        "kx=rbf(sigma=1) ky=rbf(sigma=1) low-rank=rff(rank=6) center-output=yes",
        "method=kpca kx=rbf(sigma=1) low-rank=nystrom(rank=5,pivots=centres)",
        "method=kpca kx=rbf(sigma=1) ky=rbf(sigma=1) low-rank=chol(rank=5)",
        "kx=rbf(sigma=1) low-rank-x=nystrom(rank=5) lambda2=0.1 graph=gram",
        "method=margin kx=rbf(sigma=1) ky=rbf(sigma=1) low-rank=sketch(rank=5)",
        "method=margin loss=epsilon kx=rbf(sigma=1) low-rank-x=chol(rank=5)",
        "method=margin kx=rbf(sigma=1) low-rank-x=chol(rank=5) lambda2=0.1 graph=gram"};
    pairs_check_allocations(settings, sizeof settings / sizeof *settings);
}

MAIN(RUN(candidates_cost_their_features), RUN(candidates_may_be_given),
     RUN(what_does_not_go_together), RUN(plans), RUN(allocations))
