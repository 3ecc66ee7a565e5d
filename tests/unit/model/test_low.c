/*
 * Models of low rank: equal to the dense ones at full rank, and what does not go
 * together.
 */
#include "low.h"

/* Ten times the worst over 1,200 seeds, which was 6.4e-12: K is moved by 10 m eps, and
 * the problem multiplies that by its condition number. */
static const double SAME = 6e-11;

TEST(full_rank_equals_dense)
{
    static const char *const operators[] = {"identity", "cov", "ccov"};
    static const char *const outputs[] = {"linear", "0.5*linear", "rbf(sigma=1)"};
    for (int c = 0; c < 3 * 3 * 2 * RANKS * 2; c++) {
        int rest = c, with = pick(&rest, 3), output = pick(&rest, 3);
        bool center = pick(&rest, 2);
        pairs p;
        char dense[160];
        pairs_make((uint64_t)c, &p);
        snprintf(dense, sizeof dense,
                 "kx=rbf(sigma=1) ky=%s operator=%s lambda=0.05 center-output=%s",
                 outputs[output], operators[with], center ? "yes" : "no");
        okra_model *a = pairs_fit(p.train_x, p.train_y, dense);
        okra_model *b =
            fit_of_rank(p.train_x, p.train_y, dense, ranks[pick(&rest, RANKS)]);
        check_same(a, b, &p, output < 2 ? "decode=explicit" : "", SAME);
        check_same(a, b, &p, "", SAME);
        okra_model_free(a);
        okra_model_free(b);
        pairs_free(&p);
    }
}

/* Ten times the worst over 180 models: mu near the bound of rounding enter. */
static const double KPCA = 2e-9;

/* Kernel PCA: predictions, and distances in the p coordinates that are compared, which of
 * all directions the dense form divides by the smallest variance: 1.6e-7 at worst. */
TEST(kpca_of_full_rank_equals_dense)
{
    static const char *const outputs[] = {"linear", "0.5*linear", "rbf(sigma=1)"};
    static const char *const components[] = {"all", "1", "0.8"};
    for (int c = 0; c < 3 * 3 * RANKS * 4; c++) {
        int rest = c, output = pick(&rest, 3), kept = pick(&rest, 3);
        pairs p;
        char dense[160];
        double distance[2][M];
        pairs_make((uint64_t)c, &p);
        snprintf(dense, sizeof dense,
                 "method=kpca kx=rbf(sigma=1) ky=%s lambda=0.05 components=%s",
                 outputs[output], components[kept]);
        okra_model *a = pairs_fit(p.train_x, p.train_y, dense), *again = NULL;
        okra_model *b =
            fit_of_rank(p.train_x, p.train_y, dense, ranks[pick(&rest, RANKS)]);
        check_same(a, b, &p, "", KPCA);
        if (output < 2) {
            check_same(a, b, &p, "decode=explicit", KPCA);
        }
        CHECK_OK(okra_model_save(NULL, b, NULL, files_path("kpca.okra")));
        CHECK_OK(okra_model_load(NULL, files_path("kpca.okra"), &again));
        const okra_model *models[] = {a, again};
        for (int k = 0; k < 2; k++) {
            okra_int top;
            okra_prediction *q = NULL;
            okra_predict_request request = {OKRA_SIZED(okra_predict_request),
                                            .candidates = p.test_y};
            CHECK_OK(okra_predict(NULL, models[k], p.test_x, NULL, &request, &q));
            memcpy(distance[k], okra_prediction_distance(q, &top), sizeof distance[k]);
            okra_prediction_free(q);
        }
        for (int i = 0; i < M; i++) {
            CHECK_NEAR(distance[1][i], distance[0][i], kept == 0 ? 1.6e-6 : KPCA);
        }
        okra_model_free(a);
        okra_model_free(b);
        okra_model_free(again);
        pairs_free(&p);
    }
}

/* Inputs without outputs: 12 inputs, the first 8 have outputs. Ten times the worst of the
 * cases, 1.5e-12. */
TEST(semi_supervised_of_full_rank_equals_dense)
{
    enum { PLAIN, MATRIX, GAUSSIAN, KINDS };
    files_make("S.csv", "2,0.5\n0.5,1\n", 12);
    for (int c = 0; c < KINDS * 2 * RANKS * 4; c++) {
        int rest = c, kind = pick(&rest, KINDS);
        bool center = pick(&rest, 2);
        pairs p;
        char dense[700], matrix[600];
        okra_data *labelled = NULL;
        okra_int index[8];
        pairs_make((uint64_t)c, &p);
        for (okra_int i = 0; i < 8; i++) {
            index[i] = i;
        }
        CHECK_OK(okra_data_take(p.train_y, index, 8, &labelled));
        snprintf(matrix, sizeof matrix, " operator=matrix:%s", files_path("S.csv"));
        snprintf(dense, sizeof dense,
                 "kx=rbf(sigma=1) ky=%s lambda=0.05 lambda2=0.1 graph=gram "
                 "center-output=%s%s",
                 kind == GAUSSIAN ? "rbf(sigma=1)" : "linear", center ? "yes" : "no",
                 kind == MATRIX ? matrix : "");
        okra_model *a = pairs_fit(p.train_x, labelled, dense);
        okra_model *b =
            fit_of_rank(p.train_x, labelled, dense, ranks[pick(&rest, RANKS)]);
        check_same(a, b, &p, "", 1.5e-11);
        okra_model_free(a);
        okra_model_free(b);
        okra_data_free(labelled);
        pairs_free(&p);
    }
}

/* tr(K - G G') / tr(K) of the first m columns of a pivoted Cholesky factor. */
static double naive_error(const char *kernel, const okra_data *data, int m)
{
    double K[N * N], left = 0, trace = 0;
    okra_kernel *k = NULL;
    CHECK_OK(okra_kernel_parse(kernel, &k));
    CHECK_OK(okra_gram(NULL, k, data, NULL, K, N));
    okra_kernel_free(k);
    for (int i = 0; i < N; i++) {
        trace += K[i * N + i];
    }
    for (int step = 0; step < m; step++) { /* K <- its Schur complement */
        int at = 0;
        double column[N];
        for (int i = 0; i < N; i++) {
            at = K[i * N + i] > K[at * N + at] ? i : at;
        }
        double pivot = K[at * N + at];
        for (int i = 0; i < N; i++) {
            column[i] = K[i * N + at];
        }
        for (int i = 0; i < N * N; i++) {
            K[i] -= column[i / N] * column[i % N] / pivot;
        }
    }
    for (int i = 0; i < N; i++) {
        left += K[i * N + i];
    }
    return left / trace;
}

/* Every method and operator tells the trace errors of both sides. Ten times the worst of
 * the cases, 1.1e-14. */
TEST(trace_errors_are_told)
{
    static const char *const methods[] = {"operator=identity", "operator=ccov",
                                          "method=kpca", "center-output=yes",
                                          "method=margin"};
    for (int c = 0; c < 5 * 5 * 4; c++) {
        int rest = c, method = pick(&rest, 5), mx = 1 + pick(&rest, 5), my = 6 - mx;
        pairs p;
        char text[240];
        double x = -1, y = -1;
        pairs_make((uint64_t)c, &p);
        snprintf(text, sizeof text,
                 "kx=rbf(sigma=1) ky=rbf(sigma=2) %s low-rank-x=chol(rank=%d) "
                 "low-rank-y=chol(rank=%d)",
                 methods[method], mx, my);
        okra_model *model = pairs_fit(p.train_x, p.train_y, text);
        CHECK(okra_store_get_number_(model->store, "x.trace-error", &x));
        CHECK(okra_store_get_number_(model->store, "y.trace-error", &y));
        CHECK_NEAR(x, naive_error("rbf(sigma=1)", p.train_x, mx), 1.1e-13);
        CHECK_NEAR(y, naive_error("rbf(sigma=2)", p.train_y, my), 1.1e-13);
        okra_model_free(model);
        pairs_free(&p);
    }
}

static void fitted(const pairs *p, const char *settings, double *F, double *error)
{
    okra_int ld;
    okra_model *model = pairs_fit(p->train_x, p->train_y, settings);
    okra_prediction *q =
        pairs_predict(model, p->train_x, "decode=explicit", false, false);
    const double *h = okra_data_values(okra_prediction_objects(q), &ld);
    memcpy(F, h, N * D * sizeof *F);
    CHECK(okra_store_get_number_(model->store, "x.trace-error", error) ==
          (strstr(settings, "low-rank") != NULL));
    okra_prediction_free(q);
    okra_model_free(model);
}

/* At the training inputs, low rank less dense is lambda (K~ + lambda I)^-1 (K - K~)
 * (K + lambda I)^-1 Y, so that its norm is at most tr(K - K~) / lambda |Y|: the error
 * falls with the rank as the trace error says. */
TEST(errors_fall_as_the_trace_error_predicts)
{
    for (int c = 0; c < 20; c++) {
        pairs p;
        double dense[N * D], low[N * D], first = 0, trace = 0, distance = 0, Y;
        pairs_make((uint64_t)c, &p);
        fitted(&p, "kx=rbf(sigma=1) lambda=0.3", dense, &trace);
        Y = sqrt(okra_dot_(N * D, p.y, p.y));
        for (int rank = 1; rank <= N; rank++) {
            char text[120];
            snprintf(text, sizeof text,
                     "kx=rbf(sigma=1) lambda=0.3 low-rank-x=chol(rank=%d,tol=0)", rank);
            fitted(&p, text, low, &trace);
            for (int i = 0; i < N * D; i++) {
                low[i] -= dense[i];
            }
            distance = sqrt(okra_dot_(N * D, low, low));
            CHECK(distance <= trace * N / 0.3 * Y + 1e-10);
            first = rank == 1 ? distance : first;
        }
        CHECK(distance < 1e-12 * first); /* 8.3e-14 at worst */
        pairs_free(&p);
    }
}

TEST(components_that_do_not_fit)
{
    pairs p;
    okra_components_ c;
    void *state = NULL;
    pairs_make(1, &p);
    okra_model *m = pairs_fit(p.train_x, p.train_y,
                              "method=kpca kx=rbf(sigma=1) low-rank=chol(rank=5)");
    CHECK_OK(m->method->compares->components(m->store, N, &c));
    CHECK(c.axes && c.width == D && c.p == D);
    c.width++;
    okra_output_ output = m->training->output;
    output.components = &c;
    okra_decode_request_ request = {.tests = 1, .top = 1};
    CHECK_FAILS(okra_decoder_open_(NULL, okra_decoder_find_("candidates"), &output, NULL,
                                   &request, &state),
                OKRA_EFORMAT, "of 3 features, its outputs have 2");
    okra_model_free(m);
    pairs_free(&p);
}

/* Low rank of the inputs alone: weights over all outputs. */
TEST(weights_of_full_rank_equal_dense)
{
    for (int c = 0; c < 2 * RANKS; c++) {
        pairs p;
        char low[160];
        okra_int rows, cols;
        const char *dense = c % 2 ? "kx=rbf(sigma=1) ky=rbf(sigma=1) center-output=yes"
                                  : "kx=rbf(sigma=1) ky=rbf(sigma=1)";
        pairs_make((uint64_t)c, &p);
        snprintf(low, sizeof low, "%s low-rank-x=%s", dense, ranks[c / 2]);
        okra_model *a = pairs_fit(p.train_x, p.train_y, dense);
        okra_model *b = pairs_fit(p.train_x, p.train_y, low);
        check_same(a, b, &p, "", SAME);
        okra_prediction *pa = pairs_predict(a, p.test_x, "decode=none", true, false);
        okra_prediction *pb = pairs_predict(b, p.test_x, "decode=none", true, false);
        const double *wa = okra_prediction_weights(pa, &rows, &cols);
        const double *wb = okra_prediction_weights(pb, &rows, &cols);
        CHECK(rows == M && cols == N);
        CHECK_NEAR(harness_relative(M * N, wb, wa), 0, SAME);
        okra_prediction_free(pa);
        okra_prediction_free(pb);
        okra_model_free(a);
        okra_model_free(b);
        pairs_free(&p);
    }
}

TEST(matrix_operator_equals_dense)
{
    pairs p;
    char dense[600], low[700];
    pairs_make(3, &p);
    files_make("A.csv", "2,0.5\n0.5,1\n", 12);
    snprintf(dense, sizeof dense, "kx=rbf(sigma=1) operator=matrix:%s lambda=0.1",
             files_path("A.csv"));
    snprintf(low, sizeof low, "%s low-rank-x=nystrom(rank=12)", dense);
    okra_model *a = pairs_fit(p.train_x, p.train_y, dense);
    okra_model *b = pairs_fit(p.train_x, p.train_y, low);
    check_same(a, b, &p, "decode=explicit", SAME);
    okra_model_free(a);
    okra_model_free(b);
    pairs_free(&p);
}

/* Every lambda of a path is the model fitted alone. */
TEST(paths_equal_single_fits)
{
    static const char *const settings[] = {
        "kx=rbf(sigma=1) low-rank-x=nystrom(rank=7)",
        "kx=rbf(sigma=1) operator=cov low-rank-x=nystrom(rank=7)",
        "kx=rbf(sigma=1) ky=rbf(sigma=1) low-rank-x=nystrom(rank=7)",
        "kx=rbf(sigma=1) ky=rbf(sigma=1) low-rank=sketch(rank=7)",
        "method=margin kx=rbf(sigma=1) tolerance=1e-14 low-rank-x=nystrom(rank=7)"};
    static const double lambda[] = {0.01, 1};
    for (int k = 0; k < 5; k++) {
        pairs p;
        okra_model *models[2] = {NULL};
        pairs_make(5, &p);
        okra_options *o = settings_of(okra_fit_options, settings[k]);
        CHECK_OK(okra_fit_as(NULL, p.train_x, p.train_y, o,
                             (&(okra_fit_request){OKRA_SIZED(okra_fit_request),
                                                  .lambda = lambda, .count = 2}),
                             models));
        for (int l = 0; l < 2; l++) {
            char one[200];
            snprintf(one, sizeof one, "%s lambda=%g", settings[k], lambda[l]);
            okra_model *alone = pairs_fit(p.train_x, p.train_y, one);
            check_same(alone, models[l], &p, "", SAME);
            okra_model_free(alone);
            okra_model_free(models[l]);
        }
        okra_options_free(o);
        pairs_free(&p);
    }
}

/* What is saved predicts the same bits, and holds the basis of the inputs alone. */
TEST(files_keep_the_basis)
{
    static const char *const settings[] = {
        "kx=rbf(sigma=1) low-rank-x=nystrom(rank=5)",
        "kx=rbf(sigma=1) low-rank-x=rff(rank=30)",
        "kx=rbf(sigma=1) low-rank-x=sketch(rank=5,p=0.2)",
        "kx=rbf(sigma=1) ky=rbf(sigma=2) low-rank-x=nystrom(rank=5)",
        "kx=rbf(sigma=1) ky=rbf(sigma=2) low-rank=chol(rank=5)",
        "kx=rbf(sigma=1) ky=rbf(sigma=2) operator=ccov low-rank=rff(rank=16)",
        ("kx=rbf(sigma=1) ky=rbf(sigma=2) low-rank-x=chol(rank=5) "
         "low-rank-y=sketch(rank=4)"),
        "kx=rbf(sigma=1) ky=rbf(sigma=2) low-rank=nystrom(rank=5,pivots=centres)",
        "method=margin kx=rbf(sigma=1) ky=rbf(sigma=2) low-rank=chol(rank=5)",
        "method=margin kx=rbf(sigma=1) low-rank-x=nystrom(rank=5)",
        "method=margin loss=huber kx=rbf(sigma=1) ky=rbf(sigma=2) low-rank=chol(rank=5)"};
    for (int k = 0; k < 11; k++) {
        pairs p;
        double one[M], two[M];
        okra_model *again = NULL;
        pairs_make(6, &p);
        okra_model *model = pairs_fit(p.train_x, p.train_y, settings[k]);
        CHECK(model->training->x->n == 5 || k == 1 || k == 2 || k == 5);
        CHECK(okra_model_count(model) == N);
        CHECK_OK(okra_model_save(NULL, model, NULL, files_path("low.okra")));
        CHECK_OK(okra_model_load(NULL, files_path("low.okra"), &again));
        losses(model, &p, one);
        losses(again, &p, two);
        CHECK(memcmp(one, two, sizeof one) == 0);
        check_same(model, again, &p, "", 0);
        okra_model_free(model);
        okra_model_free(again);
        pairs_free(&p);
    }
}

MAIN(RUN(full_rank_equals_dense), RUN(kpca_of_full_rank_equals_dense),
     RUN(semi_supervised_of_full_rank_equals_dense), RUN(trace_errors_are_told),
     RUN(errors_fall_as_the_trace_error_predicts), RUN(components_that_do_not_fit),
     RUN(weights_of_full_rank_equal_dense), RUN(matrix_operator_equals_dense),
     RUN(paths_equal_single_fits), RUN(files_keep_the_basis))
