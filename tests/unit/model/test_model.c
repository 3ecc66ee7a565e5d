/*
 * Fitting and predicting: weights, embeddings, objects and losses agree with one another
 * and with the formulas written out; blocks do not matter.
 * Tolerances are about ten times the worst error over 100 seeds, which stands beside
 * them.
 */
#include "pairs.h"
#include "okra/more/leave.h"

static const char *const rbf = "kx=rbf(sigma=1.5) ky=rbf(sigma=2) lambda=0.1";

static double rbf_of(okra_int d, const double *a, const double *b, double sigma)
{
    double d2 = 0;
    for (okra_int j = 0; j < d; j++) {
        d2 += (a[j] - b[j]) * (a[j] - b[j]);
    }
    return exp(-d2 / (2 * sigma * sigma));
}

/* l(y,y) - 2 sum w_i l(y_i,y) + w'Lw, l an RBF of width 2 */
static double distance_to(const pairs *p, const double *w, const double *y)
{
    double value = 1;
    for (int i = 0; i < N; i++) {
        value -= 2 * w[i] * rbf_of(D, p->y + i * D, y, 2);
        for (int j = 0; j < N; j++) {
            value += w[i] * w[j] * rbf_of(D, p->y + i * D, p->y + j * D, 2);
        }
    }
    return value;
}

/* (K + lambda I) w = k_x is what the weights of ridge must satisfy. */
TEST(weights_solve_the_ridge_system)
{
    pairs p;
    okra_int rows, cols;
    pairs_make(1, &p);
    okra_model *model = pairs_fit(p.train_x, p.train_y, rbf);
    okra_prediction *o = pairs_predict(model, p.test_x, "", true, false);
    const double *W = okra_prediction_weights(o, &rows, &cols);
    CHECK(rows == M && cols == N);
    CHECK(okra_prediction_count(o) == M);
    CHECK(okra_model_count(model) == N);
    double worst = 0;
    for (int t = 0; t < M; t++) {
        for (int i = 0; i < N; i++) {
            double left = 0.1 * W[t * N + i];
            for (int j = 0; j < N; j++) {
                left += rbf_of(P, p.x + i * LDX, p.x + j * LDX, 1.5) * W[t * N + j];
            }
            worst = fmax(worst, fabs(left - rbf_of(P, p.x + i * LDX, p.t + t * P, 1.5)));
        }
    }
    CHECK_NEAR(worst, 0, 6e-15); /* worst: 5.6e-16 */
    okra_prediction_free(o);
    okra_model_free(model);
    pairs_free(&p);
}

TEST(candidates_are_ranked_by_true_distance)
{
    pairs p;
    okra_int rows, cols, top;
    pairs_make(2, &p);
    okra_model *model = pairs_fit(p.train_x, p.train_y, rbf);
    okra_prediction *o = pairs_predict(model, p.test_x, "top=3", true, false);
    const double *W = okra_prediction_weights(o, &rows, &cols);
    const okra_int *index = okra_prediction_index(o, &top);
    const double *distance = okra_prediction_distance(o, &top);
    CHECK(top == 3);
    for (int t = 0; t < M; t++) {
        double least = HUGE_VAL;
        for (int i = 0; i < N; i++) {
            least = fmin(least, distance_to(&p, W + t * N, p.y + i * D));
        }
        /* worst: 2.4e-15, here and below */
        CHECK_NEAR(distance[3 * t], least, 2.5e-14);
        CHECK(distance[3 * t] <= distance[3 * t + 1]);
        CHECK(distance[3 * t + 1] <= distance[3 * t + 2]);
        for (int k = 0; k < 3; k++) {
            const double *y = p.y + index[3 * t + k] * D;
            CHECK_NEAR(distance[3 * t + k], distance_to(&p, W + t * N, y), 2.5e-14);
        }
    }
    okra_prediction_free(o);
    okra_model_free(model);
    pairs_free(&p);
}

/* The embedding is W Y, the explicit decoding is the embedding, with scaled kernels too.
 */
TEST(embedding_is_the_weighted_sum_of_outputs)
{
    static const char *const settings[] = {
        "kx=rbf(sigma=1) lambda=0.1", "kx=rbf(sigma=1) ky=4*linear lambda=0.1",
        "kx=rbf(sigma=1) operator=cov lambda=0.1", "method=knn k=3 kx=rbf(sigma=1)"};
    pairs p;
    pairs_make(3, &p);
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++) {
        okra_int rows, cols, d, ld;
        okra_model *model = pairs_fit(p.train_x, p.train_y, settings[s]);
        okra_prediction *o =
            pairs_predict(model, p.test_x, "decode=explicit", true, true);
        const double *W = okra_prediction_weights(o, &rows, &cols);
        const double *H = okra_prediction_embedding(o, &rows, &d);
        const double *E = okra_data_values(okra_prediction_objects(o), &ld);
        CHECK(rows == M && d == D);
        for (int t = 0; t < M; t++) {
            for (int j = 0; j < D; j++) {
                double h = 0;
                for (int i = 0; i < N; i++) {
                    h += W[t * N + i] * p.y[i * D + j];
                }
                CHECK_NEAR(H[t * D + j], h, 4e-14); /* worst: 4.1e-15 */
                CHECK(E[t * ld + j] == H[t * D + j]);
            }
        }
        okra_prediction_free(o);
        o = pairs_predict(model, p.test_x, "decode=explicit", false, false);
        CHECK(!okra_prediction_weights(o, &rows, &cols) && rows == 0 && cols == 0);
        CHECK(!okra_prediction_embedding(o, &rows, &cols) && rows == 0 && cols == 0);
        okra_prediction_free(o);
        okra_model_free(model);
    }
    pairs_free(&p);
}

TEST(kept_weights_do_not_change_the_objects)
{
    pairs p;
    pairs_make(4, &p);
    okra_model *model = pairs_fit(p.train_x, p.train_y, "kx=rbf(sigma=1) lambda=0.1");
    okra_int a, b;
    okra_prediction *with = pairs_predict(model, p.test_x, "decode=explicit", true, true);
    okra_prediction *without =
        pairs_predict(model, p.test_x, "decode=explicit", false, false);
    CHECK(memcmp(okra_data_values(okra_prediction_objects(with), &a),
                 okra_data_values(okra_prediction_objects(without), &b),
                 M * D * sizeof(double)) == 0);
    okra_prediction_free(with);
    okra_prediction_free(without);
    okra_model_free(model);
    pairs_free(&p);
}

TEST(a_path_gives_the_models_of_its_lambdas)
{
    static const double lambda[] = {1e-3, 0.1, 10};
    static const char *const operators[] = {"identity", "cov", "ccov"};
    pairs p;
    pairs_make(5, &p);
    for (size_t o = 0; o < 3; o++) {
        char settings[120];
        okra_model *models[3] = {NULL};
        snprintf(settings, sizeof settings, "kx=rbf(sigma=1) ky=rbf(sigma=1) operator=%s",
                 operators[o]);
        okra_options *options = settings_of(okra_fit_options, settings);
        CHECK_OK(okra_fit_as(NULL, p.train_x, p.train_y, options,
                             (&(okra_fit_request){OKRA_SIZED(okra_fit_request),
                                                  .lambda = lambda, .count = 3}),
                             models));
        for (size_t i = 0; i < 3 && models[i]; i++) {
            char one[160];
            snprintf(one, sizeof one, "%s lambda=%.17g", settings, lambda[i]);
            okra_model *single = pairs_fit(p.train_x, p.train_y, one);
            okra_int rows, cols;
            okra_prediction *a = pairs_predict(models[i], p.test_x, "", true, false);
            okra_prediction *b = pairs_predict(single, p.test_x, "", true, false);
            /* worst: 4.9e-14 */
            CHECK_NEAR(harness_relative(M * N, okra_prediction_weights(a, &rows, &cols),
                                        okra_prediction_weights(b, &rows, &cols)),
                       0, 5e-13);
            char text[64];
            snprintf(text, sizeof text, "\"lambda\": \"%.17g\"", lambda[i]);
            CHECK(strstr(okra_model_json(models[i]), text) != NULL);
            snprintf(text, sizeof text, "%.17g", lambda[i]);
            CHECK_TEXT(okra_model_option(models[i], "lambda"), text);
            CHECK_TEXT(okra_model_option(models[i], "kx"), "rbf(sigma=1)");
            CHECK_TEXT(okra_model_option(models[i], "operator"), operators[o]);
            CHECK(!okra_model_option(models[i], "k"));
            okra_prediction_free(a);
            okra_prediction_free(b);
            okra_model_free(single);
        }
        okra_model_free(models[1]); /* the others still hold the training set */
        okra_model_free(models[0]);
        okra_model_free(models[2]);
        okra_options_free(options);
    }
    pairs_free(&p);
}

TEST(loss_is_the_squared_distance_to_the_truth)
{
    pairs p;
    okra_int rows, cols;
    double value = 0, each[M];
    pairs_make(6, &p);
    okra_model *model = pairs_fit(p.train_x, p.train_y, rbf);
    okra_prediction *o = pairs_predict(model, p.test_x, "decode=none", true, false);
    const double *W = okra_prediction_weights(o, &rows, &cols);
    CHECK(!okra_prediction_objects(o));
    CHECK_OK(okra_model_loss(NULL, model, p.test_x, p.test_y, &value, each));
    double sum = 0;
    for (int t = 0; t < M; t++) {
        double want = distance_to(&p, W + t * N, p.u + t * D);
        CHECK_NEAR(each[t], want, 2.5e-14); /* worst: 2.7e-15 */
        sum += each[t];
    }
    CHECK(value == sum / M);
    double alone = 0;
    CHECK_OK(okra_model_loss(NULL, model, p.test_x, p.test_y, &alone, NULL));
    CHECK(alone == value);
    okra_prediction_free(o);
    okra_model_free(model);
    pairs_free(&p);
}

/* With a matrix operator the prediction is an embedding: I as the matrix is plain ridge.
 */
TEST(matrix_operator_predicts_embeddings)
{
    static const double eye[] = {1, 0, 0, 1};
    pairs p;
    okra_data *A = NULL;
    char settings[600];
    double a = 0, b = 0;
    pairs_make(7, &p);
    CHECK_OK(okra_data_dense(eye, D, D, D, &A));
    CHECK_OK(okra_data_write(NULL, A, files_path("a.npy")));
    snprintf(settings, sizeof settings, "kx=rbf(sigma=1) lambda=0.1 operator=matrix:%s",
             files_path("a.npy"));
    okra_model *model = pairs_fit(p.train_x, p.train_y, settings);
    okra_model *plain = pairs_fit(p.train_x, p.train_y, "kx=rbf(sigma=1) lambda=0.1");
    okra_int rows, cols;
    okra_prediction *o = pairs_predict(model, p.test_x, "decode=explicit", false, true);
    okra_prediction *q = pairs_predict(plain, p.test_x, "decode=explicit", false, true);
    /* worst: 1.5e-14 */
    CHECK_NEAR(harness_relative(M * D, okra_prediction_embedding(o, &rows, &cols),
                                okra_prediction_embedding(q, &rows, &cols)),
               0, 1.5e-13);
    CHECK_OK(okra_model_loss(NULL, model, p.test_x, p.test_y, &a, NULL));
    CHECK_OK(okra_model_loss(NULL, plain, p.test_x, p.test_y, &b, NULL));
    CHECK_NEAR(a, b, 1.6e-13); /* worst: 1.6e-14 */
    okra_predict_request request = {OKRA_SIZED(okra_predict_request), .weights = true};
    okra_prediction *none = NULL;
    CHECK_FAILS(
        okra_predict(NULL, model, p.test_x, NULL, &request, &none), OKRA_EUNSUPPORTED,
        "this model (method ridge) predicts embeddings: there are no weights over "
        "the training outputs");
    okra_prediction_free(o);
    okra_prediction_free(q);
    okra_model_free(model);
    okra_model_free(plain);
    okra_data_free(A);
    files_clean();
    pairs_free(&p);
}

/* A budget that leaves room for a row or two at a time gives the same predictions. */
TEST(blocks_do_not_matter)
{
    pairs p;
    okra_context *tight = NULL;
    okra_int rows, cols, top;
    pairs_make(8, &p);
    okra_model *model = pairs_fit(p.train_x, p.train_y, rbf);
    okra_options *options = settings_of(okra_predict_options, "top=2");
    okra_predict_request request = {OKRA_SIZED(okra_predict_request), .weights = true};
    okra_prediction *small = NULL, *large = NULL;
    CHECK_OK(okra_context_create(&tight));
    CHECK_OK(okra_context_set_threads(tight, 1));
    bool refused = false;
    for (okra_int room = 1 << 10; !small; room += 256) {
        CHECK_OK(okra_context_set_memory(tight, okra_account_bytes_(tight) + room));
        okra_status st = okra_predict(tight, model, p.test_x, options, &request, &small);
        refused = refused || st == OKRA_EBUDGET;
        CHECK(st == OKRA_OK || st == OKRA_EBUDGET);
        if (st != OKRA_OK && st != OKRA_EBUDGET) {
            break;
        }
    }
    CHECK(refused);
    CHECK_OK(okra_predict(NULL, model, p.test_x, options, &request, &large));
    if (small && large) {
        CHECK_NEAR(harness_relative(M * N, okra_prediction_weights(small, &rows, &cols),
                                    okra_prediction_weights(large, &rows, &cols)),
                   0, 1e-15); /* worst: 0, the rows being independent */
        CHECK(memcmp(okra_prediction_index(small, &top),
                     okra_prediction_index(large, &top), 2 * M * sizeof(okra_int)) == 0);
    }
    okra_prediction_free(small);
    okra_prediction_free(large);
    okra_options_free(options);
    okra_context_free(tight);
    okra_model_free(model);
    pairs_free(&p);
}

TEST(nothing_to_predict)
{
    pairs p;
    okra_data *none = NULL;
    okra_int rows, cols;
    double value;
    pairs_make(9, &p);
    CHECK_OK(okra_data_dense(p.t, 0, P, P, &none));
    okra_model *model = pairs_fit(p.train_x, p.train_y, rbf);
    okra_prediction *o = pairs_predict(model, none, "", true, false);
    CHECK(okra_prediction_count(o) == 0);
    CHECK(okra_data_count(okra_prediction_objects(o)) == 0);
    okra_prediction_weights(o, &rows, &cols);
    CHECK(rows == 0 && cols == N);
    CHECK_FAILS(okra_model_loss(NULL, model, none, none, &value, NULL), OKRA_ESHAPE,
                "there are no test pairs");
    okra_prediction_free(o);
    okra_model_free(model);
    okra_data_free(none);
    pairs_free(&p);
}

TEST(one_pair_is_a_training_set)
{
    pairs p;
    okra_data *x = NULL, *y = NULL;
    okra_int ld;
    pairs_make(10, &p);
    CHECK_OK(okra_data_dense(p.x, 1, P, P, &x));
    CHECK_OK(okra_data_dense(p.y, 1, D, D, &y));
    okra_model *model = pairs_fit(x, y, rbf);
    okra_prediction *o = pairs_predict(model, p.test_x, "", false, false);
    const double *objects = okra_data_values(okra_prediction_objects(o), &ld);
    for (int t = 0; t < M; t++) {
        CHECK(objects[t * ld] == p.y[0]);
    }
    okra_prediction_free(o);
    okra_model_free(model);
    okra_data_free(x);
    okra_data_free(y);
    pairs_free(&p);
}

/* The door of plain numbers gives what okra_predict gives, with any row stride, and after
 * a file, too. */
TEST(values_are_those_of_the_prediction)
{
    pairs p;
    okra_model *model = NULL, *loaded = NULL;
    okra_int ld = 0;
    pairs_make(11, &p);
    const okra_int m = M, d = okra_data_width(p.test_x);
    const okra_int width = okra_data_width(p.train_y);
    const double *x = okra_data_values(p.test_x, &ld);
    double wide[M * 64], out[M * 64];
    CHECK(d <= 60 && width <= 64 && okra_data_count(p.test_x) == m);
    for (okra_int i = 0; i < m * (d + 2); i++) {
        wide[i] = i % (d + 2) < d ? x[i / (d + 2) * ld + i % (d + 2)] : (double)NAN;
    }
    model = pairs_fit(p.train_x, p.train_y, "kx=rbf(sigma=1) ky=linear lambda=0.1");
    okra_prediction *prediction = NULL;
    CHECK_OK(okra_predict(NULL, model, p.test_x, NULL, NULL, &prediction));
    const double *want = okra_data_values(okra_prediction_objects(prediction), &ld);
    CHECK(ld == width);
    CHECK_OK(okra_predict_values(NULL, model, wide, m, d + 2, out));
    CHECK(memcmp(out, want, (size_t)(m * width) * sizeof *out) == 0);
    CHECK_OK(okra_model_save(NULL, model, NULL, "values.okra"));
    CHECK_OK(okra_model_load(NULL, "values.okra", &loaded));
    CHECK_TEXT(okra_model_option(loaded, "lambda"), "0.1");
    CHECK_TEXT(okra_model_option(loaded, "ky"), "linear");
    CHECK_TEXT(okra_model_option(loaded, "method"), "ridge");
    memset(out, 0, (size_t)(m * width) * sizeof *out);
    CHECK_OK(okra_predict_values(NULL, loaded, x, m, d, out));
    CHECK(memcmp(out, want, (size_t)(m * width) * sizeof *out) == 0);
    CHECK_FAILS(okra_predict_values(NULL, loaded, wide, m, d, out), OKRA_EFORMAT, "nan");
    okra_model_free(loaded);
    okra_model_free(model);
    okra_prediction_free(prediction);
    pairs_free(&p);
    remove("values.okra");
}

MAIN(RUN(weights_solve_the_ridge_system), RUN(candidates_are_ranked_by_true_distance),
     RUN(embedding_is_the_weighted_sum_of_outputs),
     RUN(kept_weights_do_not_change_the_objects),
     RUN(a_path_gives_the_models_of_its_lambdas),
     RUN(loss_is_the_squared_distance_to_the_truth),
     RUN(matrix_operator_predicts_embeddings), RUN(blocks_do_not_matter),
     RUN(nothing_to_predict), RUN(one_pair_is_a_training_set),
     RUN(values_are_those_of_the_prediction))
