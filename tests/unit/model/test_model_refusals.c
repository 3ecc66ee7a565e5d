/*
 * Fitting and predicting: every refusal says why; runs that are cancelled or short of
 * memory; what a model keeps.
 */
#include "okra/metric.h"
#include "okra/more/leave.h"
#include "okra/more/traits.h"
#include "pairs.h"

static const char *const rbf = "kx=rbf(sigma=1.5) ky=rbf(sigma=2) lambda=0.1";

TEST(what_fit_refuses)
{
    pairs p;
    okra_data *none = NULL;
    okra_model *models[2] = {NULL, NULL};
    double lambda[] = {1, -1};
    pairs_make(11, &p);
    CHECK_OK(okra_data_dense(p.t, 0, P, P, &none));
    CHECK_FAILS(pairs_try_fit(p.train_x, p.test_y, ""), OKRA_ESHAPE,
                "there are 12 inputs and 7 outputs; expected as many of each");
    CHECK_FAILS(pairs_try_fit(p.train_x, p.test_y, "method=knn"), OKRA_ESHAPE,
                "x has 12 dense vectors of length 3, y has 7 dense vectors of length 2; "
                "expected as many of each");
    CHECK_FAILS(pairs_try_fit(none, none, ""), OKRA_ESHAPE,
                "there are no training pairs");
    CHECK_FAILS(pairs_try_fit(p.train_x, p.train_y, "method=rigde"), OKRA_EARG,
                "there is no method 'rigde'; did you mean 'ridge'?");
    CHECK_FAILS(pairs_try_fit(p.train_x, p.train_y, "method=zzzzzzzzz"), OKRA_EARG,
                "there is no method 'zzzzzzzzz'");
    CHECK_FAILS(pairs_try_fit(p.train_x, p.train_y, "method=knn lambda=1"), OKRA_EARG,
                "method knn does not use the option 'lambda'");
    CHECK_FAILS(pairs_try_fit(p.train_x, p.train_y, "kx=rbf("), OKRA_EARG, "kx: ");
    CHECK_FAILS(pairs_try_fit(p.train_x, p.train_y, "ky=rbf("), OKRA_EARG, "ky: ");
    CHECK_FAILS(pairs_try_fit(p.train_x, p.train_y, "kx=precomputed"), OKRA_EARG, "kx: ");
    CHECK_FAILS(okra_fit_as(NULL, p.train_x, p.train_y, NULL,
                            (&(okra_fit_request){OKRA_SIZED(okra_fit_request),
                                                 .lambda = lambda, .count = 0}),
                            models),
                OKRA_EARG, "the path has no lambda");
    CHECK_FAILS(okra_fit_as(NULL, p.train_x, p.train_y, NULL,
                            (&(okra_fit_request){OKRA_SIZED(okra_fit_request),
                                                 .lambda = lambda, .count = 2}),
                            models),
                OKRA_EARG, "ridge: lambda is -1");
    okra_options *knn = settings_of(okra_fit_options, "method=knn");
    CHECK_FAILS(okra_fit_as(NULL, p.train_x, p.train_y, knn,
                            (&(okra_fit_request){OKRA_SIZED(okra_fit_request),
                                                 .lambda = lambda, .count = 1}),
                            models),
                OKRA_EARG, "method knn has no lambda to follow a path of");
    CHECK(!models[0] && !models[1]);
    okra_options_free(knn);
    okra_data_free(none);
    pairs_free(&p);
}

TEST(what_predict_refuses)
{
    pairs p;
    okra_prediction *o = NULL;
    double value;
    pairs_make(12, &p);
    okra_model *model = pairs_fit(p.train_x, p.train_y, rbf);
    okra_options *decode = settings_of(okra_predict_options, "decode=explicitt");
    CHECK_FAILS(okra_predict(NULL, model, p.test_x, decode, NULL, &o), OKRA_EARG,
                "there is no decoder 'explicitt'; did you mean 'explicit'?");
    okra_options *unused =
        settings_of(okra_predict_options, "decode=none allow-empty-candidates=yes");
    CHECK_FAILS(okra_predict(NULL, model, p.test_x, unused, NULL, &o), OKRA_EARG,
                "decoder none does not use the option 'allow-empty-candidates'");
    okra_predict_request request = {OKRA_SIZED(okra_predict_request), .embedding = true};
    CHECK_FAILS(okra_predict(NULL, model, p.test_x, NULL, &request, &o),
                OKRA_EUNSUPPORTED,
                "the output kernel rbf(sigma=2) has no explicit features");
    CHECK_FAILS(okra_predict(NULL, model, p.test_y, NULL, NULL, &o), OKRA_ESHAPE, NULL);
    CHECK_FAILS(okra_model_loss(NULL, model, p.train_x, p.test_y, &value, NULL),
                OKRA_ESHAPE, "x has 12 dense vectors");
    CHECK(o == NULL);
    okra_options_free(decode);
    okra_options_free(unused);
    okra_model_free(model);
    pairs_free(&p);
}

TEST(what_must_be_given)
{
    pairs p;
    pairs_make(31, &p);
    okra_model *model = pairs_fit(p.train_x, p.train_y, ""), *none = NULL;
    okra_prediction *prediction = NULL;
    okra_options *options = settings_of(okra_fit_options, "");
    double value = 7;
    CHECK_FAILS(okra_fit(NULL, NULL, p.train_y, NULL, &none), OKRA_EARG,
                "okra_fit: x is NULL");
    CHECK_FAILS(okra_fit(NULL, p.train_x, NULL, NULL, &none), OKRA_EARG,
                "okra_fit: y is NULL");
    okra_fit_request both = {OKRA_SIZED(okra_fit_request), .x_files = "list:a",
                             .y_files = "list:b"};
    CHECK_FAILS(okra_fit_as(NULL, p.train_x, p.train_y, NULL, &both, &none), OKRA_EARG,
                "from memory or from files, not from both");
    both.basis = model;
    CHECK_FAILS(okra_fit_as(NULL, NULL, NULL, NULL, &both, &none), OKRA_EUNSUPPORTED,
                "one of these: rows in files, a basis, several lambdas");
    CHECK_FAILS(okra_predict_values(NULL, model, NULL, 1, 1, &value), OKRA_EARG,
                "okra_predict_values: x is NULL");
    CHECK_FAILS(okra_fit_as(NULL, NULL, p.train_y, NULL,
                            (&(okra_fit_request){OKRA_SIZED(okra_fit_request),
                                                 .lambda = &value, .count = 1}),
                            &none),
                OKRA_EARG, "okra_fit_as: x is NULL");
    CHECK_FAILS(okra_fit_as(NULL, p.train_x, NULL, NULL,
                            (&(okra_fit_request){OKRA_SIZED(okra_fit_request),
                                                 .lambda = &value, .count = 1}),
                            &none),
                OKRA_EARG, "okra_fit_as: y is NULL");
    CHECK_FAILS(okra_fit_as(NULL, p.train_x, p.train_y, NULL,
                            (&(okra_fit_request){OKRA_SIZED(okra_fit_request),
                                                 .lambda = NULL, .count = 1}),
                            &none),
                OKRA_EARG, "the path has no lambda");
    CHECK_FAILS(okra_predict(NULL, NULL, p.test_x, NULL, NULL, &prediction), OKRA_EARG,
                "okra_predict: model is NULL");
    CHECK_FAILS(okra_predict(NULL, model, NULL, NULL, NULL, &prediction), OKRA_EARG,
                "okra_predict: x is NULL");
    CHECK_FAILS(okra_model_loss(NULL, NULL, p.test_x, p.test_y, &value, NULL), OKRA_EARG,
                "okra_model_loss: model is NULL");
    CHECK_FAILS(okra_model_loss(NULL, model, NULL, p.test_y, &value, NULL), OKRA_EARG,
                "okra_model_loss: x is NULL");
    CHECK_FAILS(okra_model_loss(NULL, model, p.test_x, NULL, &value, NULL), OKRA_EARG,
                "okra_model_loss: y is NULL");
    CHECK_FAILS(okra_model_load(NULL, NULL, &none), OKRA_EARG,
                "okra_model_load: path is NULL");
    CHECK_FAILS(okra_model_save(NULL, model, NULL, NULL), OKRA_EARG,
                "okra_model_save: path is NULL");
    CHECK_FAILS(okra_model_save(NULL, NULL, NULL, "x.okra"), OKRA_EARG,
                "okra_model_save: model is NULL");
    CHECK_FAILS(okra_score(NULL, NULL, p.test_y, p.test_y, &value, NULL, NULL), OKRA_EARG,
                "okra_score: spec is NULL");
    CHECK_FAILS(okra_score(NULL, "mse", NULL, p.test_y, &value, NULL, NULL), OKRA_EARG,
                "okra_score: truth is NULL");
    CHECK_FAILS(okra_score(NULL, "mse", p.test_y, NULL, &value, NULL, NULL), OKRA_EARG,
                "okra_score: predicted is NULL");
    CHECK_FAILS(okra_options_set(NULL, "kx", "linear"), OKRA_EARG,
                "okra_options_set: options is NULL");
    CHECK_FAILS(okra_options_set(options, NULL, "linear"), OKRA_EARG,
                "okra_options_set: name is NULL");
    CHECK_FAILS(okra_options_set(options, "kx", NULL), OKRA_EARG,
                "okra_options_set: value is NULL");
    CHECK(!none && !prediction && value == 7);
    okra_options_free(options);
    okra_model_free(model);
    pairs_free(&p);
}

TEST(a_cancelled_run_stops)
{
    pairs p;
    okra_context *context = NULL;
    okra_model *none = NULL;
    okra_prediction *o = NULL;
    double value;
    pairs_make(13, &p);
    okra_model *model = pairs_fit(p.train_x, p.train_y, rbf);
    CHECK_OK(okra_context_create(&context));
    okra_context_cancel(context);
    CHECK_FAILS(okra_fit(context, p.train_x, p.train_y, NULL, &none), OKRA_ECANCELLED,
                NULL);
    CHECK_FAILS(okra_predict(context, model, p.test_x, NULL, NULL, &o), OKRA_ECANCELLED,
                NULL);
    CHECK_FAILS(okra_model_loss(context, model, p.test_x, p.test_y, &value, NULL),
                OKRA_ECANCELLED, NULL);
    CHECK_FAILS(okra_model_save(context, model, NULL, files_path("cancelled.okra")),
                OKRA_ECANCELLED, NULL);
    CHECK(files_count() == 0);
    okra_context_resume(context);
    CHECK_OK(okra_predict(context, model, p.test_x, NULL, NULL, &o));
    okra_prediction_free(o);
    okra_model_free(model);
    okra_context_free(context);
    files_clean();
    pairs_free(&p);
}

TEST(the_model_keeps_what_it_needs)
{
    pairs p;
    pairs_make(14, &p);
    okra_model *model = pairs_fit(p.train_x, p.train_y, rbf);
    okra_prediction *before = pairs_predict(model, p.test_x, "", true, false);
    memset(p.x, 0, sizeof p.x); /* the data only borrowed it */
    memset(p.y, 0, sizeof p.y);
    okra_int rows, cols;
    okra_prediction *after = pairs_predict(model, p.test_x, "", true, false);
    CHECK(memcmp(okra_prediction_weights(before, &rows, &cols),
                 okra_prediction_weights(after, &rows, &cols),
                 M * N * sizeof(double)) == 0);
    okra_prediction_free(before);
    okra_prediction_free(after);
    okra_model_free(model);
    pairs_free(&p);
}

TEST(tables_and_names)
{
    size_t count;
    const char *help;
    const okra_option_table *table;
    CHECK(okra_option_tables("fit", &count) && count > 1);
    CHECK(okra_option_tables("select", &count) && count > 2);
    CHECK(okra_option_tables("predict", &count) && count > 1);
    CHECK(!okra_option_tables("bake", &count) && count == 0);
    size_t methods = 0, decoders = 0;
    while (okra_method_name(methods, &help, &table)) {
        CHECK(*help && table->owner);
        methods++;
    }
    while (okra_decoder_name(decoders, &help, &table)) {
        CHECK(*help && table->owner);
        decoders++;
    }
    CHECK(methods >= 2 && decoders >= 3);
}

TEST(failing_allocations)
{
    pairs p;
    okra_context *one = NULL;
    okra_model *model = NULL, *models[2] = {NULL, NULL};
    okra_prediction *o = NULL;
    double lambda[] = {0.1, 1}, value = 0, each[M];
    pairs_make(15, &p);
    CHECK_OK(okra_context_create(&one));
    CHECK_OK(okra_context_set_threads(one, 1));
    okra_options *fit = settings_of(okra_fit_options, rbf);
    okra_options *linear = settings_of(okra_fit_options, "kx=rbf(sigma=1)|center");
    CHECK_ALLOCATIONS(okra_fit(one, p.train_x, p.train_y, fit, &model),
                      okra_model_free(model));
    CHECK_ALLOCATIONS(okra_fit(one, p.train_x, p.train_y, linear, &model),
                      okra_model_free(model));
    CHECK_ALLOCATIONS(okra_fit_as(one, p.train_x, p.train_y, fit,
                                  (&(okra_fit_request){OKRA_SIZED(okra_fit_request),
                                                       .lambda = lambda, .count = 2}),
                                  models),
                      (okra_model_free(models[0]), okra_model_free(models[1])));
    CHECK_OK(okra_fit(one, p.train_x, p.train_y, linear, &model));
    okra_int ranges[2 * M];
    for (int t = 0; t < M; t++) {
        ranges[2 * t] = t % 2;
        ranges[2 * t + 1] = N - t;
    }
    okra_predict_request request = {OKRA_SIZED(okra_predict_request), .ranges = ranges,
                                    .weights = true, .embedding = true};
    CHECK_ALLOCATIONS(okra_predict(one, model, p.test_x, NULL, &request, &o),
                      okra_prediction_free(o));
    CHECK_ALLOCATIONS(okra_model_loss(one, model, p.test_x, p.test_y, &value, each),
                      (void)0);
    okra_model_free(model);
    okra_options_free(fit);
    okra_options_free(linear);
    okra_context_free(one);
    pairs_free(&p);
}

TEST(traits_are_those_of_the_methods)
{
    static const okra_trait all[] = {
        OKRA_TRAIT_MISSING, OKRA_TRAIT_UNLABELLED, OKRA_TRAIT_LOW_RANK,
        OKRA_TRAIT_PATH,    OKRA_TRAIT_LEAVE_OUT,  OKRA_TRAIT_VARIANCE,
        OKRA_TRAIT_SELF,    OKRA_TRAIT_LINKS,      OKRA_TRAIT_WEIGHTS};
    enum { ALL = sizeof all / sizeof *all };
    static const struct {
        const char *method;
        bool has[ALL];
    } known[] = {{"ridge", {true, true, true, true, true, true, false, false, true}},
                 {"kpca", {false, false, true, true, false, true, false, false, true}},
                 {"knn", {false, false, false, false, false, false, true, false, true}},
                 {"kcca", {false, false, false, false, false, false, false, true, false}},
                 {"nothing", {false}}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        for (int t = 0; t < ALL; t++) {
            CHECK(okra_method_has(known[i].method, all[t]) == known[i].has[t]);
        }
    }
    CHECK(!okra_method_has(NULL, OKRA_TRAIT_PATH));
    CHECK(!okra_method_has("ridge", (okra_trait)99));
}

TEST(traits_are_those_of_the_decoders)
{
    static const struct {
        const char *decoder;
        bool chooses, makes_up, reports, nothing;
    } known[] = {{"candidates", true, false, false, false},
                 {"explicit", false, false, false, false},
                 {"fixed-point", false, false, false, false},
                 {"gradient", false, false, false, false},
                 {"labels", false, true, false, false},
                 {"loss", true, false, false, false},
                 {"position", false, true, false, false},
                 {"string", false, true, false, false},
                 {"rewrite", false, true, true, false},
                 {"transcribe", false, true, false, false},
                 {"rankings", false, true, false, false},
                 {"optimum", false, false, true, false},
                 {"none", false, false, false, true},
                 {"nobody", false, false, false, false}};
    size_t count = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *name = known[i].decoder;
        CHECK(okra_decoder_has(name, OKRA_DECODER_CHOOSES) == known[i].chooses);
        CHECK(okra_decoder_has(name, OKRA_DECODER_MAKES_UP) == known[i].makes_up);
        CHECK(okra_decoder_has(name, OKRA_DECODER_REPORTS) == known[i].reports);
        CHECK(okra_decoder_has(name, OKRA_DECODER_NOTHING) == known[i].nothing);
    }
    while (okra_decoder_name(count, NULL, NULL)) {
        count++;
    }
    CHECK(count + 1 == sizeof known / sizeof *known); /* no other decoder, but nobody */
}

MAIN(RUN(traits_are_those_of_the_methods), RUN(traits_are_those_of_the_decoders),
     RUN(what_fit_refuses), RUN(what_predict_refuses), RUN(what_must_be_given),
     RUN(a_cancelled_run_stops), RUN(the_model_keeps_what_it_needs),
     RUN(tables_and_names), RUN(failing_allocations))
