/*
 * Selection for links: the areas of cells against links fitted and ranked one by one.
 */
#include "../link/toy.h"
#include "select/select.h"
#include "okra/more/link.h"
#include "okra/more/ranking.h"
#include "okra/more/select.h"

static okra_options *options_of(const char *const *pairs)
{
    okra_options *o = NULL;
    CHECK_OK(okra_select_options(&o));
    for (; *pairs; pairs += 2) {
        CHECK_OK(okra_options_set(o, pairs[0], pairs[1]));
    }
    return o;
}

static okra_status run(const toy *t, const char *const *pairs,
                       const okra_select_request *request, okra_selection **out)
{
    okra_options *o = options_of(pairs);
    okra_status st = okra_select_links(NULL, &t->task, NULL, o, request, out);
    okra_options_free(o);
    return st;
}

static bool is_edge(const toy *t, okra_int a, okra_int b)
{
    for (okra_int k = 0; k < t->edge_count; k++) {
        if ((t->edges[k].a == a && t->edges[k].b == b) ||
            (t->edges[k].a == b && t->edges[k].b == a)) {
            return true;
        }
    }
    return false;
}

/* A fit on the nodes outside the fold, and the area of the pairs with one inside. */
static double area_of_fold(const toy *t, const okra_int *fold, okra_int which,
                           const char *const *fit, bool pr)
{
    okra_int labelled[NODES], n = 0, count = 0;
    okra_link edges[EDGES], pairs[SQUARE];
    okra_int edge_count = 0;
    double score[SQUARE], area;
    unsigned char positive[SQUARE];
    bool in[NODES] = {false};
    for (okra_int i = 0; i < t->n; i++) {
        if (fold[i] != which) {
            in[t->labelled[i]] = true;
            labelled[n++] = t->labelled[i];
        }
    }
    for (okra_int k = 0; k < t->edge_count; k++) {
        if (in[t->edges[k].a] && in[t->edges[k].b]) {
            edges[edge_count++] = t->edges[k];
        }
    }
    for (okra_int i = 0; i < t->n; i++) {
        for (okra_int j = 0; j < i; j++) {
            if (fold[i] == which || fold[j] == which) {
                okra_int a = t->labelled[i], b = t->labelled[j];
                pairs[count] = (okra_link){a, b, 0};
                positive[count++] = is_edge(t, a, b);
            }
        }
    }
    okra_link_task task = {t->data, labelled, n, edges, edge_count, NULL};
    okra_options *o = toy_options(fit);
    okra_links *links = NULL;
    okra_ranking *r = NULL;
    CHECK_OK(okra_link_fit(NULL, &task, o, NULL, &links));
    CHECK_OK(okra_link_score(NULL, links, pairs, count));
    for (okra_int k = 0; k < count; k++) {
        score[k] = pairs[k].value;
    }
    CHECK_OK(okra_ranking_create(count, score, positive, &r));
    area = pr ? okra_ranking_auc_pr(r) : okra_ranking_auc_roc(r);
    okra_ranking_free(r);
    okra_links_free(links);
    okra_options_free(o);
    return area;
}

TEST(folds_equal_fits_on_the_rest)
{
    okra_int fold[NODES];
    toy t;
    toy_make(&t, 5, 12, 0.45);
    for (okra_int i = 0; i < t.n; i++) {
        fold[i] = i % 3;
    }
    okra_data *folds = NULL;
    CHECK_OK(okra_data_labels(fold, t.n, NULL, 3, &folds));
    okra_select_request request = {OKRA_SIZED(okra_select_request), .folds = folds};
    for (int pr = 0; pr < 2; pr++) {
        const char *grid[] = {"kx", TOY_KX,    "lambda", "0.1,1",
                              "cv", "kfold:3", "metric", pr ? "auc-pr" : "auc-roc",
                              NULL};
        okra_selection *s = NULL;
        CHECK_OK(run(&t, grid, &request, &s));
        CHECK(okra_selection_count(s) == 2);
        for (okra_int c = 0; c < 2; c++) {
            const char *const fit[] = {"kx=" TOY_KX, c ? "lambda=1" : "lambda=0.1", NULL};
            double want = 0, mean, error;
            for (okra_int f = 0; f < 3; f++) {
                want += area_of_fold(&t, fold, f, fit, pr) / 3;
            }
            CHECK_OK(okra_selection_cell(s, c, &mean, &error));
            CHECK_NEAR(mean, want, 1e-14);
            CHECK(error > 0);
        }
        double best, other, error;
        CHECK_OK(okra_selection_cell(s, okra_selection_best(s), &best, &error));
        CHECK_OK(okra_selection_cell(s, 1 - okra_selection_best(s), &other, &error));
        CHECK(best >= other); /* areas are gains, not losses */
        okra_selection_free(s);
    }
    okra_data_free(folds);
    toy_free(&t);
}

TEST(leave_one_out_is_that_of_links)
{
    for (int semi = 0; semi < 2; semi++) {
        toy t;
        toy_make(&t, 5, 10, 0.45);
        const char *grid[] = {"kx", "rbf(gamma={0.5,2})", "lambda",  "0.1,1",
                              "ky", "diffusion(beta=1)",  "lambda2", semi ? "0.05" : "0",
                              NULL};
        okra_selection *s = NULL;
        CHECK_OK(run(&t, grid, NULL, &s));
        CHECK(okra_selection_count(s) == 4);
        for (okra_int c = 0; c < 4; c++) {
            const char *const fit[] = {c < 2 ? "kx=rbf(gamma=0.5)" : "kx=rbf(gamma=2)",
                                       semi ? "lambda2=0.05" : "lambda2=0", NULL};
            okra_options *o = toy_options(fit);
            double lambda = c % 2 ? 1 : 0.1, want, mean, error;
            CHECK_OK(okra_link_leave(NULL, &t.task, o, NULL, &lambda, 1, &want, NULL));
            CHECK_OK(okra_selection_cell(s, c, &mean, &error));
            CHECK_NEAR(mean, want, 1e-14);
            CHECK(isnan(error));
            okra_options_free(o);
        }
        okra_selection_free(s);
        toy_free(&t);
    }
}

/* With new nodes as inputs without outputs, the left-out scores are those of fits whose
 * node is among them: it keeps its place in the graph, and loses its output. */
TEST(leave_one_out_keeps_the_new_nodes)
{
    const char *const fit[] = {"kx=" TOY_KX, "ky=precomputed", "lambda=0.2",
                               "lambda2=0.1", NULL};
    double L[SQUARE], W[SQUARE], score[SQUARE], lambda = 0.2, got;
    unsigned char positive[SQUARE];
    okra_int count = 0;
    toy t;
    toy_make(&t, 8, 9, 0.4);
    toy_diffusion(&t, 1, L);
    okra_options *o = toy_options(fit), *predict = NULL;
    CHECK_OK(okra_predict_options(&predict));
    CHECK_OK(okra_options_set(predict, "decode", "none"));
    okra_int n = t.n;
    for (okra_int i = 0; i < n; i++) {
        okra_int order[NODES], others = 0;
        double part[SQUARE];
        okra_data *x = NULL, *y = NULL, *query = NULL;
        okra_model *model = NULL;
        for (okra_int j = 0; j < n; j++) {
            if (j != i) {
                order[others++] = t.labelled[j];
            }
        }
        order[others] = t.labelled[i];
        for (okra_int j = 0; j < t.m; j++) {
            order[n + j] = t.fresh[j];
        }
        for (okra_int a = 0; a < others; a++) {
            for (okra_int b = 0; b < others; b++) {
                part[a * others + b] = L[(a + (a >= i)) * n + b + (b >= i)];
            }
        }
        CHECK_OK(okra_data_take(t.data, order, NODES, &x));
        CHECK_OK(okra_data_gram(part, others, others, others, NULL, &y));
        CHECK_OK(okra_data_take(t.data, &t.labelled[i], 1, &query));
        CHECK_OK(okra_fit(NULL, x, y, o, &model));
        double w[NODES];
        okra_predict_request request = {OKRA_SIZED(okra_predict_request),
                                        .weights = true};
        okra_prediction *p = NULL;
        okra_int rows = 0, ld = 0;
        CHECK_OK(okra_predict(NULL, model, query, predict, &request, &p));
        memcpy(w, okra_prediction_weights(p, &rows, &ld), (size_t)others * sizeof *w);
        CHECK(rows == 1 && ld == others);
        okra_prediction_free(p);
        for (okra_int j = 0; j < n; j++) {
            W[i * n + j] = j == i ? 0 : w[j - (j > i)];
        }
        okra_model_free(model);
        okra_data_free(x);
        okra_data_free(y);
        okra_data_free(query);
    }
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < i; j++) {
            score[count] = 0;
            for (okra_int k = 0; k < n * n; k++) {
                score[count] += W[i * n + k / n] * L[k] * W[j * n + k % n];
            }
            positive[count++] = t.A[i * n + j] > 0;
        }
    }
    okra_ranking *want = NULL;
    CHECK_OK(okra_ranking_create(count, score, positive, &want));
    CHECK_OK(okra_options_set(o, "ky", "diffusion(beta=1)"));
    CHECK_OK(okra_link_leave(NULL, &t.task, o, NULL, &lambda, 1, &got, NULL));
    CHECK_NEAR(got, okra_ranking_auc_roc(want), 1e-12);
    okra_ranking_free(want);
    okra_options_free(o);
    okra_options_free(predict);
    toy_free(&t);
}

TEST(nested_links_and_other_methods)
{
    toy t;
    okra_selection *s = NULL;
    toy_make(&t, 5, 13, 0.6);
    const char *loo[] = {"kx", TOY_KX, "lambda", "0.1,1", "cv", "nested:3,loo", NULL};
    CHECK_OK(run(&t, loo, NULL, &s));
    CHECK(okra_selection_outer_count(s) == 3);
    for (okra_int f = 0; f < 3; f++) {
        double area = okra_selection_outer_error(s, f);
        CHECK(area >= 0 && area <= 1);
    }
    okra_selection_free(s);
    const char *knn[] = {"method", "knn", "k",       "1..3", "kx",
                         TOY_KX,   "cv",  "kfold:3", NULL};
    CHECK_OK(run(&t, knn, NULL, &s));
    CHECK(okra_selection_count(s) == 3);
    okra_selection_free(s);
    knn[7] = "loo";
    CHECK_FAILS(run(&t, knn, NULL, &s), OKRA_EUNSUPPORTED, "expected cv kfold:K");
    const char *mse[] = {"metric", "mse", NULL};
    CHECK_FAILS(run(&t, mse, NULL, &s), OKRA_EARG, "expected auc-roc or auc-pr");
    toy_free(&t);
}

TEST(folds_with_nothing_to_rank_are_refused)
{
    toy t;
    okra_selection *s = NULL;
    okra_data *folds = NULL;
    okra_int fold[NODES];
    toy_make(&t, 5, 8, 0); /* one edge */
    okra_link only = t.edges[0];
    CHECK(t.edge_count == 1);
    for (okra_int i = 0; i < t.n; i++) {
        fold[i] = t.labelled[i] == only.a || t.labelled[i] == only.b;
    }
    CHECK_OK(okra_data_labels(fold, t.n, NULL, 2, &folds));
    okra_select_request request = {OKRA_SIZED(okra_select_request), .folds = folds};
    const char *grid[] = {"kx", TOY_KX, "cv", "kfold:2", NULL};
    CHECK_FAILS(run(&t, grid, &request, &s), OKRA_EARG, "no edge, so that no pair");
    for (okra_int i = 0; i < t.n; i++) {
        fold[i] = t.labelled[i] == only.a;
    }
    okra_data_free(folds);
    CHECK_OK(okra_data_labels(fold, t.n, NULL, 2, &folds));
    request.folds = folds;
    CHECK_FAILS(run(&t, grid, &request, &s), OKRA_EARG, "without an edge between them");
    okra_data_free(folds);
    toy_free(&t);
    toy_make(&t, 5, 6, 1); /* all edges */
    const char *loo[] = {"kx", TOY_KX, NULL};
    CHECK_FAILS(run(&t, loo, NULL, &s), OKRA_EARG, "no pair is negative");
    toy_free(&t);
}

TEST(failing_allocations)
{
    toy t;
    okra_selection *s = NULL;
    toy_make(&t, 5, 8, 0.6);
    const char *pairs[] = {"kx", TOY_KX, "cv", "kfold:2", NULL};
    okra_options *o = options_of(pairs);
    CHECK_ALLOCATIONS(okra_select_links(NULL, &t.task, NULL, o, NULL, &s),
                      okra_selection_free(s));
    CHECK_OK(okra_options_set(o, "cv", "loo"));
    CHECK_ALLOCATIONS(okra_select_links(NULL, &t.task, NULL, o, NULL, &s),
                      okra_selection_free(s));
    okra_options_free(o);
    toy_free(&t);
}

/* Kernel and lambda of links where they are open: those of a selection; on more nodes
 * than it looks at, and where nothing can be left out. */
TEST(open_options_of_links_are_chosen)
{
    enum { MANY = 400 };
    toy t;
    toy_make(&t, 5, 12, 0.45);
    okra_options *o =
        options_of((const char *const[]){"kx", "auto", "lambda", "auto", NULL});
    okra_options *fit = NULL, *best = NULL;
    okra_selection *s = NULL, *same = NULL;
    okra_links *links = NULL;
    CHECK_OK(okra_choose_links(NULL, &t.task, NULL, NULL, &fit, &s));
    okra_link_settings both = {OKRA_SIZED(okra_link_settings), .beta = 1,
                               .together = true};
    CHECK_OK(okra_select_links(NULL, &t.task, &both, o, NULL, &same));
    CHECK_OK(okra_selection_options(same, okra_selection_best(same), &best, NULL));
    CHECK_TEXT(okra_options_get(fit, "kx"), okra_options_get(best, "kx"));
    CHECK_TEXT(okra_options_get(fit, "lambda"), okra_options_get(best, "lambda"));
    CHECK(!okra_options_is_set(fit, "center-output"));
    CHECK_OK(okra_link_fit(NULL, &t.task, fit, NULL, &links));
    okra_links_free(links);
    okra_options_free(fit);
    okra_options_free(best);
    okra_options_free(o);
    okra_selection_free(s);
    okra_selection_free(same);
    /* what is given is kept */
    o = options_of((const char *const[]){"kx", "rbf(sigma=3)", "lambda", "0.2", NULL});
    CHECK_OK(okra_choose_links(NULL, &t.task, NULL, o, &fit, &s));
    CHECK(!s);
    CHECK_TEXT(okra_options_get(fit, "kx"), "rbf(sigma=3)");
    CHECK_TEXT(okra_options_get(fit, "lambda"), "0.2");
    okra_options_free(fit);
    okra_options_free(o);
    /* a method without a closed form, one of links alone, nodes that are known */
    okra_link_settings known = {OKRA_SIZED(okra_link_settings), .beta = 1, .known = true};
    static const char *const methods[] = {"knn", "kcca", "ridge"};
    for (int m = 0; m < 3; m++) {
        o = options_of((const char *const[]){"method", methods[m], NULL});
        CHECK_OK(okra_choose_links(NULL, &t.task, m == 2 ? &known : NULL, o, &fit, &s));
        CHECK(!strstr(okra_options_get(fit, "kx"), "auto"));
        okra_options_free(fit);
        okra_selection_free(s);
        s = NULL;
        okra_options_free(o);
    }
    CHECK_FAILS(okra_choose_links(NULL, NULL, NULL, NULL, &fit, &s), OKRA_EARG,
                "task is NULL");
    toy_free(&t);
    /* a ring of many nodes: some are looked at, and they have edges */
    double *x = calloc(MANY * 2, sizeof *x);
    okra_int labelled[MANY];
    okra_link edges[MANY];
    okra_data *data = NULL;
    for (okra_int i = 0; i < MANY; i++) {
        x[2 * i] = cos(0.009 * (double)i);
        x[2 * i + 1] = sin(0.009 * (double)i);
        labelled[i] = i;
        edges[i] = (okra_link){i, (i + 1) % MANY, 1};
    }
    CHECK_OK(okra_data_dense(x, MANY, 2, 2, &data));
    okra_link_task task = {data, labelled, MANY, edges, MANY, NULL};
    CHECK_OK(okra_choose_links(NULL, &task, NULL, NULL, &fit, &s));
    CHECK(s && strstr(okra_selection_json(s), "\"nodes\": 30"));
    okra_options_free(fit);
    okra_selection_free(s);
    okra_data_free(data);
    free(x);
}

MAIN(RUN(open_options_of_links_are_chosen), RUN(folds_equal_fits_on_the_rest),
     RUN(leave_one_out_is_that_of_links), RUN(leave_one_out_keeps_the_new_nodes),
     RUN(nested_links_and_other_methods), RUN(folds_with_nothing_to_rank_are_refused),
     RUN(failing_allocations))
