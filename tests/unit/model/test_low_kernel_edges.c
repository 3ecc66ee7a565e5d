/*
 * Low rank by kernels EXPR | SPEC: missing outputs, what is refused, failing allocations.
 */
#include "pairs.h"

/* Ridge with missing outputs has no factored form. Ten times the worst over 200 seeds,
 * which was 1.2e-12. */
TEST(missing_outputs)
{
    for (uint64_t seed = 0; seed < 12; seed++) {
        pairs p;
        okra_int rows, cols;
        okra_data *y = NULL;
        pairs_make(seed, &p);
        p.y[3] = p.y[8] = (double)NAN;
        CHECK_OK(okra_data_missing(p.y, N, D, D, &y));
        okra_model *a = pairs_fit(p.train_x, y, "kx=rbf(sigma=1)");
        okra_model *b =
            pairs_fit(p.train_x, y, "kx=rbf(sigma=1) low-rank-x=chol(rank=12,tol=0)");
        okra_prediction *pa = pairs_predict(a, p.test_x, "decode=explicit", false, true);
        okra_prediction *pb = pairs_predict(b, p.test_x, "decode=explicit", false, true);
        const double *one = okra_prediction_embedding(pa, &rows, &cols);
        const double *two = okra_prediction_embedding(pb, &rows, &cols);
        CHECK_NEAR(harness_relative(rows * cols, two, one), 0, 1.2e-11);
        okra_prediction_free(pa);
        okra_prediction_free(pb);
        okra_model_free(a);
        okra_model_free(b);
        okra_data_free(y);
        pairs_free(&p);
    }
}

TEST(refused)
{
    static const pairs_bad bad[] = {
        {"method=knn low-rank=chol(rank=3) low-rank-y=chol(rank=3)", OKRA_EARG,
         "either it or these"},
        {"method=knn low-rank-y=chol(rank=3)", OKRA_EARG, "leave it out"},
        {"method=knn low-rank-x=chul(rank=3)", OKRA_EARG, "low-rank-x: "},
        {"method=knn ky=rbf(sigma=1) low-rank-y=chol", OKRA_EARG, "low-rank-y: "},
        {"method=knn kx=linear|chol(rank=2) low-rank-x=chol(rank=2)", OKRA_EARG,
         "low-rank-x: "},
        {"kx=linear|chol(rank=2) low-rank-x=chol(rank=2)", OKRA_EUNSUPPORTED,
         "of low rank already"},
        {"method=knn kx=linear|center low-rank-x=chol(rank=2)", OKRA_EUNSUPPORTED,
         "whole training set"},
        {"method=knn kx=linear low-rank-x=rff(rank=2)", OKRA_EUNSUPPORTED,
         "expected rbf"},
        {"method=soar associate=linear|chol(rank=2)", OKRA_EUNSUPPORTED,
         "without low rank"}};
    pairs p;
    pairs_make(8, &p);
    pairs_check_refused(&p, bad, sizeof bad / sizeof *bad);
    /* decoders that need derivatives, or the kernel's structure */
    static const char *const decoders[][3] = {
        {"tgp-kl", "optimum", "no derivative of 'chol'"},
        {"tgp-kl", "gradient", "has a criterion of its own"},
        {"knn", "gradient", "no derivative of 'chol'"},
        {"knn", "fixed-point", "needs an RBF output kernel"},
        {"knn", "explicit", "needs outputs with explicit features"}};
    for (int d = 0; d < 5; d++) {
        char text[80];
        snprintf(text, sizeof text, "method=%s ky=rbf(sigma=1) low-rank-y=chol(rank=4)",
                 decoders[d][0]);
        okra_model *model = pairs_fit(p.train_x, p.train_y, text);
        okra_prediction *q = NULL;
        okra_options *o = settings_of(okra_predict_options, "");
        CHECK_OK(okra_options_set(o, "decode", decoders[d][1]));
        CHECK_FAILS(okra_predict(NULL, model, p.test_x, o, NULL, &q), OKRA_EUNSUPPORTED,
                    decoders[d][2]);
        okra_options_free(o);
        okra_model_free(model);
    }
    pairs_free(&p);
}

/* Methods that take the kernel apart need it whole. */
TEST(structured_methods_say_why)
{
    static const char *const settings[] = {
        "method=m3n kx=position(linear) ky=position(zero-one) low-rank-x=chol(rank=2)",
        "method=constrained kx=position(linear) ky=position(zero-one) "
        "low-rank-x=chol(rank=2)",
        "method=jkm kx=patches(linear,width=2,patch=1,overlap=0) "
        "low-rank-x=chol(rank=2)"};
    static const char *const messages[] = {
        "it is position(linear,map=no) | chol(rank=2,tol=1e-10)",
        "it is position(linear,map=no) | chol(rank=2,tol=1e-10)",
        "it is patches(linear,width=2,patch=1,overlap=0) | chol(rank=2,tol=1e-10)"};
    static const char *const words[] = {"ab", "b", "aba", "bb"};
    static const okra_int offsets[] = {0, 2, 3, 6, 8};
    pairs p;
    okra_data *x = NULL, *y = NULL;
    pairs_make(1, &p);
    CHECK_OK(okra_data_sequences(offsets, p.x, NULL, 4, 2, &x));
    CHECK_OK(okra_data_strings(words, 4, &y));
    for (int c = 0; c < 3; c++) {
        okra_model *model = NULL;
        okra_options *o = settings_of(okra_fit_options, settings[c]);
        CHECK_FAILS(
            okra_fit(NULL, c < 2 ? x : p.train_y, c < 2 ? y : p.train_y, o, &model),
            OKRA_EUNSUPPORTED, messages[c]);
        okra_options_free(o);
    }
    okra_data_free(x);
    okra_data_free(y);
    pairs_free(&p);
}

TEST(allocations)
{
    static const char *const settings[] = {
        "method=knn kx=rbf(sigma=1) ky=rbf(sigma=1) low-rank=nystrom(rank=5)",
        "method=tgp-kl kx=rbf(sigma=1) ky=rbf(sigma=1) low-rank-y=sketch(rank=5)",
        "method=margin loss=huber kx=rbf(sigma=1)|chol(rank=5)",
        "kx=rbf(sigma=1) low-rank-x=rff(rank=4)"};
    pairs_check_allocations(settings, sizeof settings / sizeof *settings);
}

MAIN(RUN(missing_outputs), RUN(refused), RUN(structured_methods_say_why),
     RUN(allocations))
