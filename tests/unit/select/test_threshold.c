/*
 * The threshold of scores of labels, against every threshold tried on predictions of
 * models fitted without a pair, decoded and judged by okra_score.
 */
#include "toy.h"
#include "okra/more/traits.h"

enum { N = 24, D = 5 };

typedef struct sets {
    double x[N * WIDTH], y[N * D];
    okra_data *inputs, *outputs;
} sets;

/* Labels that one pair in four has; `empty`: some pairs have none, else at least one.
 * kind: dense, or sparse. */
static sets *make_sets(bool empty, okra_kind kind, uint64_t seed)
{
    sets *s = calloc(1, sizeof *s);
    okra_random_ r = okra_random_create_(seed, 11);
    okra_int indptr[N + 1] = {0}, indices[N * D], used = 0;
    double ones[N * D];
    harness_normals(&r, N * WIDTH, s->x);
    for (int i = 0; i < N; i++) {
        double noise[D];
        harness_normals(&r, D, noise);
        for (int j = 0; j < D; j++) {
            bool in = s->x[i * WIDTH + j % WIDTH] + noise[j] > 1 ||
                      (!empty && j == i % D && noise[j] > -0.5);
            s->y[i * D + j] = in;
        }
        s->y[i * D + i % D] = empty ? s->y[i * D + i % D] : 1;
        for (int j = 0; j < D; j++) {
            if (s->y[i * D + j] != 0) {
                ones[used] = 1;
                indices[used++] = j;
            }
        }
        indptr[i + 1] = used;
    }
    if (empty) {
        memset(s->y, 0, D * sizeof *s->y); /* there is one in any case */
    }
    CHECK_OK(okra_data_dense(s->x, N, WIDTH, WIDTH, &s->inputs));
    if (kind == OKRA_SPARSE) {
        CHECK_OK(okra_data_sparse(indptr, indices, ones, N, D, &s->outputs));
    } else {
        CHECK_OK(okra_data_dense(s->y, N, D, D, &s->outputs));
    }
    return s;
}

static void free_sets(sets *s)
{
    okra_data_free(s->inputs);
    okra_data_free(s->outputs);
    free(s);
}

/* h (N x D): scores of each pair by a model of those in other parts. */
static void refit(okra_context *c, const sets *s, const okra_options *fit, int parts,
                  double *h)
{
    for (int p = 0; p < parts; p++) {
        okra_int train[N], test[N], n = 0, m = 0;
        okra_data *data[3];
        okra_model *model = NULL;
        okra_prediction *out = NULL;
        okra_options *none = NULL;
        okra_predict_request r = {OKRA_SIZED(okra_predict_request), .embedding = true};
        for (int i = 0; i < N; i++) {
            *(i % parts == p ? &test[m++] : &train[n++]) = i;
        }
        CHECK_OK(okra_data_take(s->inputs, train, n, &data[0]));
        CHECK_OK(okra_data_take(s->outputs, train, n, &data[1]));
        CHECK_OK(okra_data_take(s->inputs, test, m, &data[2]));
        CHECK_OK(okra_fit(c, data[0], data[1], fit, &model));
        CHECK_OK(okra_predict_options(&none));
        CHECK_OK(okra_options_set(none, "decode", "none"));
        r.weights = s->outputs->kind == OKRA_SPARSE;
        r.embedding = !r.weights;
        CHECK_OK(okra_predict(c, model, data[2], none, &r, &out));
        for (okra_int k = 0; k < m; k++) {
            double *row = h + test[k] * D;
            memset(row, 0, D * sizeof *row);
            for (okra_int j = 0; j < D; j++) {
                row[j] = r.embedding ? out->embedding[k * D + j] : 0;
                for (okra_int i = 0; r.weights && i < n; i++) {
                    row[j] += out->weights[k * n + i] * s->y[train[i] * D + j];
                }
            }
        }
        okra_prediction_free(out);
        okra_options_free(none);
        okra_model_free(model);
        for (int k = 0; k < 3; k++) {
            okra_data_free(data[k]);
        }
    }
}

/* The sets above t, the best label of those that would be empty. */
static double value_at(okra_context *c, const sets *s, const double *h, double t,
                       bool nonempty, const char *metric)
{
    double y[N * D], value;
    okra_data *truth = NULL, *made = NULL;
    for (int i = 0; i < N; i++) {
        int top = 0, size = 0;
        for (int j = 0; j < D; j++) {
            y[i * D + j] = h[i * D + j] > t;
            size += h[i * D + j] > t;
            top = h[i * D + j] > h[i * D + top] ? j : top;
        }
        if (size == 0 && nonempty) {
            y[i * D + top] = 1;
        }
    }
    CHECK_OK(okra_data_dense(s->y, N, D, D, &truth));
    CHECK_OK(okra_data_dense(y, N, D, D, &made));
    CHECK_OK(okra_score(c, metric, truth, made, &value, NULL, NULL));
    okra_data_free(truth);
    okra_data_free(made);
    return value;
}

static void check(bool empty, okra_kind kind, const char *metric, uint64_t seed)
{
    okra_context *c = NULL;
    okra_selection *found = NULL;
    okra_options *fit = NULL;
    double h[N * D], mean, error, least = INFINITY, most = -INFINITY;
    bool loss;
    CHECK_OK(okra_context_create(&c));
    sets *s = make_sets(empty, kind, seed);
    okra_options *o = select_options((const char *const[]){
        "kx", "rbf(sigma=2)", "ky", "linear", "lambda", "{0.01,0.1,1}", "decode",
        empty ? "labels:threshold=auto" : "labels:threshold=auto,nonempty=yes",
        metric ? "metric" : NULL, metric, NULL});
    CHECK_OK(okra_select(c, s->inputs, s->outputs, o, NULL, &found));
    const char *judge = metric ? metric : "f1:average=example";
    CHECK_OK(okra_metric_is_loss(judge, &loss));
    for (okra_int k = 0; k < 3; k++) {
        CHECK_OK(okra_selection_options(found, k, &fit, NULL));
        const char *decode = okra_options_get(fit, "decode");
        double t = strtod(strstr(decode, "threshold=") + 10, NULL);
        refit(c, s, fit, N, h);
        least = INFINITY;
        most = -INFINITY;
        for (int b = 1; b < 200; b++) {
            double v = value_at(c, s, h, b / 200.0, !empty, judge);
            least = fmin(least, v);
            most = fmax(most, v);
        }
        double best = loss ? least : most;
        /* 5e-15 measured */
        CHECK_NEAR(value_at(c, s, h, t, !empty, judge), best, 1e-12);
        CHECK_OK(okra_selection_cell(found, k, &mean, &error));
        CHECK(!metric || fabs(mean - best) < 1e-12);
        CHECK((strstr(decode, "nonempty=yes") != NULL) == !empty);
        okra_options_free(fit);
    }
    okra_options_free(o);
    okra_selection_free(found);
    free_sets(s);
    okra_context_free(c);
}

TEST(thresholds_are_the_best_of_all_for_left_out_pairs)
{
    static const char *const metrics[] = {"f1:average=example", "f1:average=micro",
                                          "hamming", "f1:average=example,empty=1", NULL};
    for (uint64_t seed = 1; seed <= 4; seed++) {
        for (int k = 0; k < 5; k++) {
            check(seed % 2, OKRA_DENSE, metrics[k], seed);
        }
    }
    check(false, OKRA_SPARSE, "f1:average=example", 6);
}

/* What okra_choose keeps in the model is what it chose; a predicted set is not empty. */
TEST(the_choice_keeps_the_threshold_in_the_model)
{
    okra_context *c = NULL;
    okra_options *fit = NULL;
    okra_model *model = NULL;
    okra_prediction *p = NULL;
    CHECK_OK(okra_context_create(&c));
    sets *s = make_sets(false, OKRA_DENSE, 8);
    CHECK_OK(okra_choose(c, s->inputs, s->outputs, NULL, &fit, NULL));
    const char *decode = okra_options_get(fit, "decode");
    CHECK(strncmp(decode, "labels:threshold=0.", 19) == 0 &&
          strstr(decode, ",nonempty=yes"));
    CHECK_OK(okra_fit(c, s->inputs, s->outputs, fit, &model));
    CHECK_OK(okra_predict(c, model, s->inputs, NULL, NULL, &p));
    for (int i = 0; i < N; i++) {
        double size = 0;
        for (int j = 0; j < D; j++) {
            size += p->decoded.objects->values[i * p->decoded.objects->ld + j];
        }
        CHECK(size >= 1);
    }
    okra_prediction_free(p);
    okra_model_free(model);
    okra_options_free(fit);
    free_sets(s);
    okra_context_free(c);
}

/* Methods that are fitted anew for every fold. */
TEST(methods_without_a_closed_form_have_a_threshold_too)
{
    okra_context *c = NULL;
    okra_options *fit = NULL;
    CHECK_OK(okra_context_create(&c));
    sets *s = make_sets(false, OKRA_DENSE, 9);
    okra_options *o = select_options((const char *const[]){"method", "knn", NULL});
    CHECK_OK(okra_choose(c, s->inputs, s->outputs, o, &fit, NULL));
    const char *decode = okra_options_get(fit, "decode");
    CHECK(strncmp(decode, "labels:threshold=0.", 19) == 0 &&
          !strstr(decode, "threshold=0.5,"));
    okra_options_free(fit);
    okra_options_free(o);
    free_sets(s);
    okra_context_free(c);
}

TEST(thresholds_that_cannot_be_are_refused)
{
    okra_context *c = NULL;
    okra_selection *found = NULL;
    CHECK_OK(okra_context_create(&c));
    sets *s = make_sets(false, OKRA_DENSE, 10);
    okra_options *o = select_options(
        (const char *const[]){"kx", "linear", "ky", "linear", "lambda", "1", "decode",
                              "labels:threshold=auto", "metric", "zero-one", NULL});
    CHECK_FAILS(okra_select(c, s->inputs, s->outputs, o, NULL, &found), OKRA_EARG,
                "decoder labels: threshold=auto is chosen by f1:average=example, "
                "f1:average=micro or hamming; metric is 'zero-one'");
    CHECK_OK(okra_options_set(o, "metric", "hamming"));
    CHECK_OK(okra_options_set(o, "ky", "tanimoto"));
    CHECK_FAILS(okra_select(c, s->inputs, s->outputs, o, NULL, &found), OKRA_EARG,
                "decoder labels: threshold=auto cuts scores, which the linear kernel "
                "alone has");
    okra_options_free(o);
    free_sets(s);
    okra_context_free(c);
}

MAIN(RUN(thresholds_are_the_best_of_all_for_left_out_pairs),
     RUN(the_choice_keeps_the_threshold_in_the_model),
     RUN(methods_without_a_closed_form_have_a_threshold_too),
     RUN(thresholds_that_cannot_be_are_refused))
