/*
 * Paths of lambdas, and what every fit must keep: limits, memory, bits.
 */
#include "ridge.h"

static okra_status fit_path(const toy *t, const okra_options *o, const double *lambda,
                            size_t count, okra_store_ **stores)
{
    okra_status st = OKRA_OK;
    okra_problem_ p = problem_of(t, true);
    for (size_t l = 0; l < count; l++) {
        stores[l] = NULL;
    }
    for (size_t l = 0; l < count; l++) {
        TRY(okra_store_create_(&stores[l]));
    }
    TRY(ridge()->path(NULL, &p, o, lambda, count, stores));
done:
    for (size_t l = 0; st != OKRA_OK && l < count; l++) {
        okra_store_free_(stores[l]);
    }
    return st;
}

static void free_path(okra_store_ **stores, size_t count)
{
    for (size_t l = 0; l < count; l++) {
        okra_store_free_(stores[l]);
    }
}

TEST(path_equals_single_fits)
{
    static const double lambda[] = {1e-3, 0.1, 10};
    enum { COUNT = sizeof lambda / sizeof *lambda };
    char spec[80];
    const double A[] = {2, 1, 0, 1, 2, 0, 0, 0, 0.5};
    write_matrix("matrix:", D, D, A, spec, sizeof spec);
    const char *operators[] = {"identity", "cov", "ccov", spec};
    for (int c = 0; c < 4 * SHAPES * 2; c++) {
        int rest = c, shape = pick(&rest, SHAPES);
        toy t = make_toy(shape, c % 5 ? N : 1, (uint64_t)c, true);
        const char *pairs[] = {"operator", operators[pick(&rest, 4)], "center-output",
                               c % 2 ? "yes" : "no", NULL};
        okra_options *o = options_of(pairs);
        okra_store_ *stores[COUNT], *one = NULL;
        CHECK_OK(fit_path(&t, o, lambda, COUNT, stores));
        for (size_t l = 0; l < COUNT; l++) {
            double a[M * N], b[M * N];
            CHECK_OK(okra_options_set_number(o, "lambda", lambda[l]));
            CHECK_OK(fit(&t, true, o, &one));
            okra_int cols = ridge()->form(one) == OKRA_FORM_WEIGHTS ? t.n : t.d;
            CHECK(ridge()->form(one) == ridge()->form(stores[l]));
            apply(ridge()->predict, &t, one, cols, a);
            apply(ridge()->predict, &t, stores[l], cols, b);
            /* ten times the worst of 600 cases, 6.0e-12, at lambda = 1e-3 */
            CHECK_NEAR(harness_relative(t.m * cols, b, a), 0, 6e-11);
            apply(ridge()->embed, &t, one, t.d, a);
            apply(ridge()->embed, &t, stores[l], t.d, b);
            CHECK_NEAR(harness_relative(t.m * t.d, b, a), 0, 6e-11);
            okra_store_free_(one);
        }
        free_path(stores, COUNT);
        okra_options_free(o);
    }
    unlink(spec + 7);
}

TEST(bad_lambdas_are_refused)
{
    const double zero[] = {1, -1}, infinite[] = {1, (double)INFINITY};
    toy t = make_toy(RANDOM, 3, 1, true);
    okra_store_ *stores[2];
    okra_options *o = options_of(NULL);
    CHECK_FAILS(fit_path(&t, o, zero, 2, stores), OKRA_EARG,
                "lambda is -1, expected a number of 0 or more");
    CHECK_FAILS(fit_path(&t, o, infinite, 2, stores), OKRA_EARG, "lambda is inf");
    CHECK_FAILS(okra_options_set(o, "lambda", "-1"), OKRA_EARG, "lambda is -1");
    t.n = 0;
    CHECK_FAILS(fit_path(&t, o, zero, 1, stores), OKRA_ESHAPE, "no training pairs");
    okra_options_free(o);
}

static void keep_text(void *user, const char *text)
{
    snprintf(user, 200, "%s", text);
}

/* A Gram matrix with a clearly negative eigenvalue is reported, not silently used. */
TEST(indefinite_input_is_reported)
{
    char text[200] = "";
    const double lambda[] = {0.1, 1};
    toy t = make_toy(RANDOM, 2, 1, true);
    t.K[0] = t.K[3] = 1;
    t.K[1] = t.K[2] = 2;
    okra_context *ctx = NULL;
    okra_store_ *stores[2] = {NULL, NULL};
    okra_problem_ p = problem_of(&t, false);
    CHECK_OK(okra_context_create(&ctx));
    okra_context_set_warning(ctx, keep_text, text);
    CHECK_OK(okra_store_create_(&stores[0]));
    CHECK_OK(okra_store_create_(&stores[1]));
    CHECK_OK(ridge()->path(ctx, &p, NULL, lambda, 2, stores));
    CHECK(strstr(text, "not positive semi-definite: its smallest eigenvalue is -1"));
    free_path(stores, 2);
    okra_context_free(ctx);
}

/* Nor by a factor in single precision, which meets a negative pivot. */
TEST(mixed_precision_meets_a_negative_pivot)
{
    const double lambda[] = {0.1, 1};
    toy t = make_toy(RANDOM, 2, 1, true);
    t.K[0] = t.K[3] = 1;
    t.K[1] = t.K[2] = 2;
    const char *mixed[] = {"precision", "mixed", NULL};
    const char *slim[] = {"keep", "coefficients", "precision", "double", NULL};
    okra_options *one = options_of(mixed), *two = options_of(slim);
    okra_store_ *a[2], *b[2];
    CHECK_OK(fit_path(&t, one, lambda, 2, a));
    CHECK_OK(fit_path(&t, two, lambda, 2, b));
    for (int l = 0; l < 2; l++) {
        double steps, C[2][M * D];
        CHECK(!okra_store_get_number_(a[l], "mixed.steps", &steps));
        apply(ridge()->embed, &t, a[l], t.d, C[0]);
        apply(ridge()->embed, &t, b[l], t.d, C[1]);
        CHECK(memcmp(C[0], C[1], sizeof C[0]) == 0);
    }
    free_path(a, 2);
    free_path(b, 2);
    okra_options_free(one);
    okra_options_free(two);
}

TEST(failing_allocations_are_survived)
{
    const double lambda[] = {0.1, 1};
    const char *operators[] = {"identity", "cov"};
    toy t = make_toy(RANDOM, 4, 1, true);
    for (int c = 0; c < 2; c++) {
        const char *pairs[] = {"operator", operators[c], "center-output", "yes", NULL};
        okra_options *o = options_of(pairs);
        okra_store_ *store = NULL, *stores[2];
        CHECK_ALLOCATIONS(fit(&t, true, o, &store), okra_store_free_(store));
        CHECK_ALLOCATIONS(fit_path(&t, o, lambda, 2, stores), free_path(stores, 2));
        okra_options_free(o);
    }
}

TEST(matrix_operator_survives_failing_allocations)
{
    char spec[80], with_mu[120];
    const double A[] = {2, 1, 0, 1, 2, 0, 0, 0, 0.5};
    toy t = make_toy(RANDOM, 4, 1, true);
    write_matrix("graph:", D, D, A, spec, sizeof spec);
    snprintf(with_mu, sizeof with_mu, "%s,mu=0.5", spec);
    const char *pairs[] = {"operator", with_mu, NULL};
    okra_options *o = options_of(pairs);
    okra_store_ *store = NULL;
    CHECK_ALLOCATIONS(fit(&t, true, o, &store), okra_store_free_(store));
    okra_options_free(o);
    unlink(spec + strlen("graph:"));
}

TEST(a_fit_that_does_not_fit_says_so)
{
    okra_context *ctx = NULL;
    okra_store_ *store = NULL;
    toy t = make_toy(RANDOM, N, 1, false);
    okra_problem_ p = problem_of(&t, false);
    p.n = 1000; /* refused before the matrix is looked at */
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_store_create_(&store));
    CHECK_OK(okra_context_set_memory(ctx, 1 << 20));
    CHECK_FAILS(okra_method_fit_(ctx, ridge(), &p, NULL, store), OKRA_EBUDGET,
                "the Gram matrix of the inputs of 1000 x 1000 doubles needs");
    okra_store_free_(store);
    okra_context_free(ctx);
}

TEST(a_path_can_be_cancelled)
{
    const double lambda[] = {0.1, 1};
    okra_context *ctx = NULL;
    okra_store_ *stores[2] = {NULL, NULL};
    toy t = make_toy(RANDOM, N, 1, false);
    okra_problem_ p = problem_of(&t, false);
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_store_create_(&stores[0]));
    CHECK_OK(okra_store_create_(&stores[1]));
    okra_context_cancel(ctx);
    CHECK_FAILS(ridge()->path(ctx, &p, NULL, lambda, 2, stores), OKRA_ECANCELLED, NULL);
    free_path(stores, 2);
    okra_context_free(ctx);
}

/* Large enough for blocked and threaded routines. */
TEST(same_bits_in_every_fit)
{
    enum { LARGE = 150 };
    const char *operators[] = {"identity", "ccov"};
    double *K = calloc(LARGE * LARGE, sizeof *K);
    for (int i = 0; i < LARGE * LARGE; i++) {
        double step = (i / LARGE - i % LARGE) / 20.0;
        K[i] = exp(-step * step);
    }
    okra_problem_ p = {.n = LARGE,
                       .given_K = K,
                       .given_K_ld = LARGE,
                       .given_L = K,
                       .given_L_ld = LARGE,
                       .feature_scale = 1};
    for (int c = 0; c < 4; c++) {
        const char *pairs[] = {"operator", operators[c / 2], NULL};
        const double *found[2];
        okra_store_ *stores[2] = {NULL, NULL};
        okra_options *o = options_of(pairs);
        for (int i = 0; i < 2; i++) {
            okra_context *ctx = NULL;
            okra_int n;
            CHECK_OK(okra_context_create(&ctx));
            CHECK_OK(okra_context_set_threads(ctx, 1 + c % 2));
            CHECK_OK(okra_store_create_(&stores[i]));
            CHECK_OK(okra_method_fit_(ctx, ridge(), &p, o, stores[i]));
            found[i] = okra_store_get_(stores[i], c / 2 ? "B" : "factor", &n, &n);
            okra_context_free(ctx);
        }
        CHECK(memcmp(found[0], found[1], sizeof(double) * LARGE * LARGE) == 0);
        free_path(stores, 2);
        okra_options_free(o);
    }
    free(K);
}

/* n^2 for K and its factor, n d for the outputs: far below 2.5 n^2. */
TEST(identity_needs_little_memory)
{
    enum { BIGGER = 300, WIDE = 20 };
    double *K = calloc(BIGGER * BIGGER, sizeof *K);
    double *Y = calloc(BIGGER * WIDE, sizeof *Y);
    for (int i = 0; i < BIGGER; i++) {
        K[i * BIGGER + i] = 1;
        Y[i * WIDE] = i;
    }
    okra_problem_ p = {.n = BIGGER,
                       .given_K = K,
                       .given_K_ld = BIGGER,
                       .features = Y,
                       .features_ld = WIDE,
                       .d = WIDE,
                       .feature_scale = 1};
    okra_store_ *store = NULL;
    CHECK_OK(okra_store_create_(&store));
    okra_int before = okra_alloc_live_bytes_();
    okra_alloc_reset_peak_();
    CHECK_OK(okra_method_fit_(NULL, ridge(), &p, NULL, store));
    double used = (double)(okra_alloc_peak_bytes_() - before);
    CHECK(getenv("OKRA_TEST_ENGINE") || used < 1.2 * 8 * BIGGER * BIGGER);
    okra_store_free_(store);
    free(K);
    free(Y);
}

MAIN(RUN(path_equals_single_fits), RUN(bad_lambdas_are_refused),
     RUN(indefinite_input_is_reported), RUN(mixed_precision_meets_a_negative_pivot),
     RUN(failing_allocations_are_survived),
     RUN(matrix_operator_survives_failing_allocations),
     RUN(a_fit_that_does_not_fit_says_so), RUN(a_path_can_be_cancelled),
     RUN(same_bits_in_every_fit), RUN(identity_needs_little_memory))
