/*
 * Folds of kernel PCA: slices of Gram matrices give the weights of a fit on the subset,
 * and cells are scored by models that decode in their own components. (Decoding the same
 * weights in the whole feature space chooses other candidates: the parts of a candidate
 * outside the components count there.)
 */
#include "toy.h"

static const char *const KX = "rbf(sigma=1)", *const KY = "rbf(sigma=0.7)";

typedef struct split {
    toy *t;
    okra_int train[PAIRS], test[PAIRS], n, m;
    okra_data *x, *y, *test_x, *test_y;
    okra_options *fit, *predict;
    okra_model *model;
    okra_prediction *prediction;
} split;

static void open(split *s, okra_int fold, const char *components)
{
    *s = (split){.t = make_toy(PAIRS, 0, false, false, 4)};
    for (okra_int i = 0; i < PAIRS; i++) {
        if (i % 2 == fold) {
            s->test[s->m++] = i;
        } else {
            s->train[s->n++] = i;
        }
    }
    CHECK_OK(okra_data_take(s->t->inputs, s->train, s->n, &s->x));
    CHECK_OK(okra_data_take(s->t->outputs, s->train, s->n, &s->y));
    CHECK_OK(okra_data_take(s->t->inputs, s->test, s->m, &s->test_x));
    CHECK_OK(okra_data_take(s->t->outputs, s->test, s->m, &s->test_y));
    CHECK_OK(okra_fit_options(&s->fit));
    CHECK_OK(okra_predict_options(&s->predict));
    CHECK_OK(okra_options_set(s->fit, "method", "kpca"));
    CHECK_OK(okra_options_set(s->fit, "kx", KX));
    CHECK_OK(okra_options_set(s->fit, "ky", KY));
    CHECK_OK(okra_options_set(s->fit, "components", components));
    CHECK_OK(okra_fit(NULL, s->x, s->y, s->fit, &s->model));
    okra_predict_request request = {OKRA_SIZED(okra_predict_request), .weights = true};
    CHECK_OK(
        okra_predict(NULL, s->model, s->test_x, s->predict, &request, &s->prediction));
}

static void shut(split *s)
{
    okra_data *all[] = {s->x, s->y, s->test_x, s->test_y};
    for (int i = 0; i < 4; i++) {
        okra_data_free(all[i]);
    }
    okra_prediction_free(s->prediction);
    okra_model_free(s->model);
    okra_options_free(s->fit);
    okra_options_free(s->predict);
    free_toy(s->t);
}

TEST(slices_give_the_weights_of_a_fit_on_the_subset)
{
    static const char *const components[] = {"all", "1", "3", "0.8"};
    const okra_method_ *kpca = okra_method_find_("kpca");
    okra_select_request nothing = {OKRA_SIZED(okra_select_request)};
    for (int c = 0; c < 4; c++) {
        split s;
        okra_view_ *view = NULL;
        okra_store_ *store = NULL;
        okra_block_ block;
        double *P = NULL;
        okra_int rows, cols;
        open(&s, c % 2, components[c]);
        okra_pairs_ source = {.x = s.t->inputs,
                              .y = s.t->outputs,
                              .n = PAIRS,
                              .inputs = PAIRS,
                              .request = &nothing};
        okra_view_request_ r = {.kx = KX,
                                .ky = KY,
                                .method = kpca,
                                .train = s.train,
                                .test = s.test,
                                .n = s.n,
                                .m = s.m,
                                .rows = true};
        CHECK_OK(okra_view_create_(NULL, &source, &r, &view));
        CHECK(view->problem.given_L &&
              (view->problem.given_K || !okra_engine_is_host_(NULL)));
        CHECK_OK(okra_store_create_(&store));
        CHECK_OK(okra_method_fit_(NULL, kpca, &view->problem, s.fit, store));
        CHECK_OK(okra_view_predict_(NULL, view, kpca, store, &P, &block));
        const double *want = okra_prediction_weights(s.prediction, &rows, &cols);
        CHECK(rows == s.m && cols == s.n && block.W.cols == s.n);
        for (okra_int i = 0; i < s.m * s.n; i++) {
            /* worst seen 4e-15 */
            CHECK_NEAR(P[i], want[i], 5e-14);
        }
        okra_free_(P);
        okra_store_free_(store);
        okra_view_free_(view);
        okra_source_clear_(&source);
        shut(&s);
    }
}

TEST(cells_are_scored_as_models_predict)
{
    okra_int fold[PAIRS];
    okra_data *folds = NULL;
    okra_selection *selection = NULL;
    double want = 0, mean, error;
    for (okra_int i = 0; i < PAIRS; i++) {
        fold[i] = i % 2;
    }
    CHECK_OK(okra_data_labels(fold, PAIRS, NULL, 2, &folds));
    const char *pairs[] = {"method", "kpca",   "kx",  KX,   "ky",      KY,  "components",
                           "1",      "metric", "mse", "cv", "kfold:2", NULL};
    okra_options *o = select_options(pairs);
    okra_select_request request = {OKRA_SIZED(okra_select_request), .folds = folds};
    toy *t = make_toy(PAIRS, 0, false, false, 4);
    CHECK_OK(okra_select(NULL, t->inputs, t->outputs, o, &request, &selection));
    for (okra_int f = 0; f < 2; f++) {
        split s;
        double value;
        open(&s, f, "1");
        CHECK_OK(okra_score(NULL, "mse", s.test_y, okra_prediction_objects(s.prediction),
                            &value, NULL, NULL));
        want += value / 2;
        shut(&s);
    }
    CHECK_OK(okra_selection_cell(selection, 0, &mean, &error));
    CHECK_NEAR(mean, want, 1e-14);
    okra_selection_free(selection);
    okra_options_free(o);
    okra_data_free(folds);
    free_toy(t);
}

MAIN(RUN(slices_give_the_weights_of_a_fit_on_the_subset),
     RUN(cells_are_scored_as_models_predict))
