/* Leave-one-out of a model against models fitted without the pair. */
#include "harness.h"
#include "pairs.h"
#include "okra/more/leave.h"

static okra_data *without(const okra_data *data, okra_int i)
{
    okra_int index[N], count = 0;
    okra_data *out = NULL;
    for (okra_int k = 0; k < N; k++) {
        if (k != i) {
            index[count++] = k;
        }
    }
    CHECK_OK(okra_data_take(data, index, count, &out));
    return out;
}

/* The losses and nearest outputs of models that were fitted anew. */
static void compare(const pairs *p, const char *settings, double tolerance)
{
    double losses[N];
    okra_prediction *left = NULL, *one = NULL;
    okra_int top = 0;
    okra_options *options = settings_of(okra_fit_options, settings);
    okra_options *nearest = settings_of(okra_predict_options, "decode=candidates");
    okra_model *model = pairs_fit(p->train_x, p->train_y, settings);
    CHECK_OK(okra_model_leave(NULL, model, options, losses, &left));
    const okra_int *index = okra_prediction_index(left, &top);
    CHECK(okra_prediction_count(left) == N && top == 1);
    CHECK(okra_data_count(okra_prediction_objects(left)) == N);
    CHECK(okra_data_count(okra_model_outputs(model)) == N);
    for (okra_int i = 0; i < N; i++) {
        okra_data *x = without(p->train_x, i), *y = without(p->train_y, i), *xi = NULL,
                  *yi = NULL;
        double loss = NAN;
        okra_model *rest = pairs_fit(x, y, settings);
        CHECK_OK(okra_data_take(p->train_x, &i, 1, &xi));
        CHECK_OK(okra_data_take(p->train_y, &i, 1, &yi));
        CHECK_OK(okra_model_loss(NULL, rest, xi, yi, &loss, NULL));
        CHECK_NEAR(losses[i], loss, tolerance);
        CHECK_OK(okra_predict(NULL, rest, xi, nearest, NULL, &one));
        okra_int best = okra_prediction_index(one, &top)[0];
        CHECK(index[i] == best + (best >= i));
        okra_prediction_free(one);
        okra_model_free(rest);
        okra_data_free(x);
        okra_data_free(y);
        okra_data_free(xi);
        okra_data_free(yi);
    }
    okra_prediction_free(left);
    okra_model_free(model);
    okra_options_free(nearest);
    okra_options_free(options);
}

TEST(equals_fitting_without_the_pair)
{
    /* Worst over 20 seeds: 3.8e-14, of a loss of 6.5. */
    for (uint64_t seed = 0; seed < 3; seed++) {
        pairs p;
        pairs_make(seed, &p);
        compare(&p, "kx=rbf(sigma=1) lambda=0.1", 4e-13);
        compare(&p, "kx=rbf(sigma=1) ky=rbf(sigma=2) lambda=0.1", 4e-13);
        compare(&p, "kx=linear ky=2*linear lambda=1", 4e-13);
        pairs_free(&p);
    }
}

TEST(says_where_there_is_no_closed_form)
{
    pairs p;
    okra_prediction *left = NULL;
    okra_data *one_x = NULL, *one_y = NULL;
    const okra_int first = 0;
    pairs_make(1, &p);
    okra_model *knn = pairs_fit(p.train_x, p.train_y, "method=knn k=2");
    CHECK_FAILS(okra_model_leave(NULL, knn, NULL, NULL, &left), OKRA_EUNSUPPORTED,
                "method knn");
    CHECK_OK(okra_data_take(p.train_x, &first, 1, &one_x));
    CHECK_OK(okra_data_take(p.train_y, &first, 1, &one_y));
    okra_model *one = pairs_fit(one_x, one_y, "lambda=1");
    CHECK_FAILS(okra_model_leave(NULL, one, NULL, NULL, &left), OKRA_ESHAPE, "one");
    okra_model *model = pairs_fit(p.train_x, p.train_y, "kx=rbf(sigma=1) lambda=1");
    okra_options *options = settings_of(okra_fit_options, "kx=rbf(sigma=1) lambda=1");
    double losses[N];
    CHECK_ALLOCATIONS(okra_model_leave(NULL, model, options, losses, &left),
                      okra_prediction_free(left));
    okra_options_free(options);
    okra_model_free(model);
    okra_model_free(one);
    okra_model_free(knn);
    okra_data_free(one_x);
    okra_data_free(one_y);
    pairs_free(&p);
}

/* Options other than those of the fit would give the leave-one-out of another model. */
TEST(options_must_be_those_of_the_fit)
{
    static const struct {
        const char *options, *message;
    } cases[] = {
        {"kx=rbf(sigma=2) ky=rbf(sigma=1) lambda=0.5", "kx is 'rbf(sigma=2)'"},
        {"kx=rbf(sigma=1) lambda=0.5", "ky is"},
        {"kx=rbf(sigma=1) ky=rbf(sigma=1) lambda=0.25", "which had '0.5'"},
        {"kx=rbf(sigma=1) ky=rbf(sigma=1) operator=cov lambda=0.5", "operator is 'cov'"},
        {"kx=rbf(sigma=1) ky=rbf(sigma=1) center-output=yes lambda=0.5",
         "center-output is"}};
    pairs p;
    okra_prediction *left = NULL;
    pairs_make(2, &p);
    okra_model *model =
        pairs_fit(p.train_x, p.train_y, "kx=rbf(sigma=1) ky=rbf(sigma=1) lambda=0.5");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        okra_options *options = settings_of(okra_fit_options, cases[c].options);
        CHECK_FAILS(okra_model_leave(NULL, model, options, NULL, &left), OKRA_EARG,
                    cases[c].message);
        okra_options_free(options);
    }
    const char *good[] = {"kx=rbf(sigma=1) ky=rbf(sigma=1) lambda=0.50",
                          "kx=rbf(sigma=1) ky=rbf(sigma=1)"};
    for (int g = 0; g < 2; g++) {
        okra_options *options = settings_of(okra_fit_options, good[g]);
        CHECK_OK(okra_model_leave(NULL, model, options, NULL, &left));
        okra_prediction_free(left);
        okra_options_free(options);
    }
    okra_model_free(model);
    pairs_free(&p);
}

MAIN(RUN(equals_fitting_without_the_pair), RUN(says_where_there_is_no_closed_form),
     RUN(options_must_be_those_of_the_fit))
