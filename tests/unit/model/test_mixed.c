/*
 * Factors in single precision: the answers of double precision, proved by residuals that
 * plain loops compute, or double precision itself with a warning.
 */
#include "pairs.h"

enum { MOST = 700, INPUTS = 4, OUTPUTS = 3 };

static char warned[400];

static void keep_text(void *user, const char *text)
{
    (void)user;
    snprintf(warned, sizeof warned, "%s", text);
}

enum { RANDOM, DUPLICATED, DEFICIENT, TINY, SHAPES };

typedef struct problem {
    okra_int n;
    double x[MOST * INPUTS], y[MOST * OUTPUTS], t[M * INPUTS];
    okra_data *train_x, *train_y, *test_x;
} problem;

static problem *make(int shape, okra_int n, uint64_t seed)
{
    problem *p = calloc(1, sizeof *p);
    okra_random_ r = okra_random_create_(seed, 1);
    p->n = n;
    harness_normals(&r, n * INPUTS, p->x);
    harness_normals(&r, n * OUTPUTS, p->y);
    harness_normals(&r, M * INPUTS, p->t);
    for (okra_int i = 0; shape == DUPLICATED && i < n / 2; i++) {
        memcpy(p->x + (n - 1 - i) * INPUTS, p->x + i * INPUTS, INPUTS * sizeof(double));
    }
    for (okra_int i = 0; shape == TINY && i < n * OUTPUTS; i++) {
        p->y[i] *= i % OUTPUTS ? 1e-60 : 0; /* and a column of zeros */
    }
    CHECK_OK(okra_data_dense(p->x, n, INPUTS, INPUTS, &p->train_x));
    CHECK_OK(okra_data_dense(p->y, n, OUTPUTS, OUTPUTS, &p->train_y));
    CHECK_OK(okra_data_dense(p->t, M, INPUTS, INPUTS, &p->test_x));
    return p;
}

static void release(problem *p)
{
    okra_data_free(p->train_x);
    okra_data_free(p->train_y);
    okra_data_free(p->test_x);
    free(p);
}

static double kernel(bool linear, const double *a, const double *b)
{
    double dot = 0, distance = 0;
    for (int j = 0; j < INPUTS; j++) {
        dot += a[j] * b[j];
        distance += (a[j] - b[j]) * (a[j] - b[j]);
    }
    return linear ? dot : exp(-distance / 4);
}

static okra_model *fit(const problem *p, int threads, const char *settings)
{
    okra_context *ctx = NULL;
    okra_model *model = NULL;
    okra_options *o = settings_of(okra_fit_options, settings);
    *warned = 0;
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_threads(ctx, threads));
    okra_context_set_warning(ctx, keep_text, NULL);
    CHECK_OK(okra_fit(ctx, p->train_x, p->train_y, o, &model));
    okra_options_free(o);
    okra_context_free(ctx);
    return model;
}

static const double *coefficients(const problem *p, const okra_model *model)
{
    okra_int rows = 0, cols = 0;
    const double *C = okra_store_get_(model->store, "coefficients", &rows, &cols);
    CHECK(C && rows == p->n && cols == OUTPUTS);
    return C;
}

/* The largest |y - (K + lambda I) c| / |y| of all columns, by the definition. */
static double residual(const problem *p, const char *text, double lambda, const double *C)
{
    double left[OUTPUTS] = {0}, all[OUTPUTS] = {0}, most = 0;
    double *K = malloc((size_t)(p->n * p->n) * sizeof *K);
    okra_kernel *kx = NULL;
    CHECK_OK(okra_kernel_parse(text, &kx));
    CHECK_OK(okra_gram(NULL, kx, p->train_x, NULL, K, p->n));
    for (okra_int i = 0; i < p->n; i++) {
        for (int o = 0; o < OUTPUTS; o++) {
            double y = p->y[i * OUTPUTS + o], r = y - lambda * C[i * OUTPUTS + o];
            for (okra_int j = 0; j < p->n; j++) {
                r -= K[i * p->n + j] * C[j * OUTPUTS + o];
            }
            left[o] += r * r;
            all[o] += y * y;
        }
    }
    for (int o = 0; o < OUTPUTS; o++) {
        most = fmax(most, all[o] > 0 ? sqrt(left[o] / all[o]) : left[o]);
    }
    okra_kernel_free(kx);
    free(K);
    return most;
}

static void predict(const problem *p, bool linear, const double *C, double *out)
{
    memset(out, 0, M * OUTPUTS * sizeof *out);
    for (okra_int i = 0; i < M; i++) {
        for (okra_int j = 0; j < p->n; j++) {
            double k = kernel(linear, p->t + i * INPUTS, p->x + j * INPUTS);
            for (int o = 0; o < OUTPUTS; o++) {
                out[i * OUTPUTS + o] += k * C[j * OUTPUTS + o];
            }
        }
    }
}

static bool is_mixed(const okra_model *model, double *steps, double *told)
{
    return okra_store_get_number_(model->store, "mixed.steps", steps) &&
           okra_store_get_number_(model->store, "mixed.residual", told);
}

/* Blocks of 256: fewer rows, whole blocks, some more. */
TEST(answers_are_those_of_double_precision)
{
    static const okra_int sizes[] = {1, 2, 255, 256, 257, 600};
    static const double lambdas[] = {10, 0.1, 0.01};
    int mixed = 0, count = SHAPES * 6 * 3;
    for (int c = 0; c < count; c++) {
        int rest = c, shape = pick(&rest, SHAPES);
        okra_int n = sizes[pick(&rest, 6)];
        double lambda = lambdas[pick(&rest, 3)], steps = 0, told = 1;
        double one[M * OUTPUTS], two[M * OUTPUTS];
        bool linear = shape == DEFICIENT;
        const char *kx = linear ? "linear" : "rbf(gamma=0.25)";
        char text[200];
        problem *p = make(shape, n, (uint64_t)c);
        snprintf(text, sizeof text, "kx=%s keep=coefficients lambda=%g precision=double",
                 kx, lambda);
        okra_model *exact = fit(p, 2, text);
        CHECK(!is_mixed(exact, &steps, &told));
        snprintf(strstr(text, "double"), 8, "mixed");
        okra_model *model = fit(p, 2, text);
        if (is_mixed(model, &steps, &told)) {
            mixed++;
            CHECK(steps <= (okra_engine_is_host_(NULL) ? 10 : 20) && told <= 1e-12);
            CHECK_TEXT(warned, "");
            /* plain loops round, too: the worst of these cases is 1.2e-12 */
            CHECK(residual(p, kx, lambda, coefficients(p, model)) <= 2e-12);
        } else {
            CHECK(strstr(warned, "double precision is taken"));
        }
        predict(p, linear, coefficients(p, exact), one);
        predict(p, linear, coefficients(p, model), two);
        /* the promise is 1e-9; ten times the worst of these cases, 1.8e-11 */
        CHECK_NEAR(harness_relative(M * OUTPUTS, two, one), 0, 1.8e-10);
        okra_model_free(exact);
        okra_model_free(model);
        release(p);
    }
    CHECK(mixed >= count * 3 / 4);
}

/* lambda below the rounding of single precision, and none at all. */
TEST(falls_back_with_a_warning)
{
    static const char *const settings[] = {
        "kx=rbf(gamma=0.25) lambda=1e-8", "kx=linear lambda=1e-8",
        "kx=rbf(gamma=0.25) lambda=1e-12", "kx=rbf(gamma=0.25) lambda=0"};
    for (int c = 0; c < 4 * 3; c++) {
        int rest = c, s = pick(&rest, 4);
        problem *p = make(rest, 300, (uint64_t)c);
        double steps, told;
        char text[200];
        snprintf(text, sizeof text, "%s keep=coefficients precision=double", settings[s]);
        okra_model *exact = fit(p, 2, text);
        snprintf(strstr(text, "double"), 8, "mixed");
        okra_model *model = fit(p, 2, text);
        CHECK(!is_mixed(model, &steps, &told));
        CHECK(s >= 2 || strstr(warned, "double precision is taken"));
        CHECK(memcmp(coefficients(p, exact), coefficients(p, model),
                     (size_t)(p->n * OUTPUTS) * sizeof(double)) == 0);
        okra_model_free(exact);
        okra_model_free(model);
        release(p);
    }
}

/* Any number of threads, and again: the same bits. */
TEST(bits_stay)
{
    problem *p = make(RANDOM, MOST, 3);
    static const char *const text = "kx=rbf(gamma=0.25) lambda=0.01 precision=mixed";
    okra_model *one = fit(p, 1, text), *two = fit(p, 2, text), *three = fit(p, 2, text);
    size_t bytes = (size_t)(p->n * OUTPUTS) * sizeof(double);
    CHECK(memcmp(coefficients(p, three), coefficients(p, two), bytes) == 0);
    CHECK(memcmp(coefficients(p, one), coefficients(p, two), bytes) == 0);
    okra_model_free(one);
    okra_model_free(two);
    okra_model_free(three);
    release(p);
}

/* Weights of pairs: 2 is the pair twice. A kernel without a program: its matrix is kept.
 */
TEST(weights_and_other_kernels)
{
    problem *p = make(RANDOM, 200, 5), *twice = make(RANDOM, 200, 5);
    double w[MOST], one[M * OUTPUTS], two[M * OUTPUTS], steps, told;
    okra_int count = 200;
    for (okra_int i = 0; i < 200; i++) {
        w[i] = i % 3 ? 1 : 2;
        if (i % 3 == 0) {
            memcpy(twice->x + count * INPUTS, p->x + i * INPUTS, INPUTS * sizeof *w);
            memcpy(twice->y + count++ * OUTPUTS, p->y + i * OUTPUTS, OUTPUTS * sizeof *w);
        }
    }
    okra_data *plain = p->train_y;
    CHECK_OK(okra_data_weigh(plain, w, 200, &p->train_y));
    okra_data_free(twice->train_x);
    okra_data_free(twice->train_y);
    CHECK_OK(okra_data_dense(twice->x, count, INPUTS, INPUTS, &twice->train_x));
    CHECK_OK(okra_data_dense(twice->y, count, OUTPUTS, OUTPUTS, &twice->train_y));
    twice->n = count;
    static const char *const text = "kx=rbf(gamma=0.25) lambda=0.1 precision=mixed";
    okra_model *a = fit(p, 2, text), *b = fit(twice, 2, text);
    CHECK(is_mixed(a, &steps, &told) && is_mixed(b, &steps, &told));
    predict(p, false, coefficients(p, a), one);
    predict(twice, false, coefficients(twice, b), two);
    CHECK_NEAR(harness_relative(M * OUTPUTS, one, two), 0, 1e-11);
    okra_data_free(p->train_y);
    p->train_y = plain;
    okra_model_free(a);
    okra_model_free(b);
    release(p);
    release(twice);
}

/* Neighbouring lambdas share a factor; each has its own proof. */
TEST(several_lambdas)
{
    static const double lambda[] = {0.1, 0.101, 3, 0.05};
    problem *p = make(RANDOM, 400, 9);
    okra_options *o = settings_of(okra_fit_options,
                                  "kx=rbf(gamma=0.25) keep=coefficients precision=mixed");
    okra_model *models[4] = {NULL};
    okra_fit_request q = {OKRA_SIZED(okra_fit_request), .lambda = lambda, .count = 4};
    CHECK_OK(okra_fit_as(NULL, p->train_x, p->train_y, o, &q, models));
    for (int l = 0; l < 4; l++) {
        double steps, told;
        CHECK(is_mixed(models[l], &steps, &told));
        CHECK(residual(p, "rbf(gamma=0.25)", lambda[l], coefficients(p, models[l])) <=
              1e-12);
        okra_model_free(models[l]);
    }
    okra_options_free(o);
    release(p);
}

TEST(what_does_not_go_is_refused)
{
    static const pairs_bad bad[] = {
        {"kx=rbf(sigma=1) precision=mixed keep=weights", OKRA_EARG,
         "ridge: precision mixed keeps coefficients alone, not weights"},
        {"kx=rbf(sigma=1) precision=mixed operator=cov", OKRA_EARG,
         "ridge: precision mixed is for the operator identity, without output-lambda and "
         "lambda2"},
        {"kx=rbf(sigma=1) precision=mixed low-rank-x=chol(rank=3)", OKRA_EARG,
         "ridge: precision mixed does not go with low-rank-x"},
        {"kx=rbf(sigma=1) ky=rbf(sigma=1) precision=mixed", OKRA_EARG,
         "ridge: precision mixed needs outputs with explicit features"},
        {"kx=rbf(sigma=1) precision=mixed checkpoint=none", OKRA_EARG,
         "ridge: precision mixed has no checkpoint"}};
    pairs p;
    pairs_make(1, &p);
    pairs_check_refused(&p, bad, sizeof bad / sizeof *bad);
    pairs_free(&p);
}

TEST(failing_allocations_are_survived)
{
    pairs p;
    pairs_make(1, &p);
    okra_options *o =
        settings_of(okra_fit_options, "kx=rbf(sigma=1) lambda=0.1 precision=mixed");
    okra_model *model = NULL;
    CHECK_ALLOCATIONS(okra_fit(NULL, p.train_x, p.train_y, o, &model),
                      okra_model_free(model));
    okra_options_free(o);
    pairs_free(&p);
}

MAIN(RUN(answers_are_those_of_double_precision), RUN(falls_back_with_a_warning),
     RUN(bits_stay), RUN(weights_and_other_kernels), RUN(several_lambdas),
     RUN(what_does_not_go_is_refused), RUN(failing_allocations_are_survived))
