/*
 * Ridge against the systems written out in full: n x n for identity, n^2 x n^2 for the
 * covariance operators, nd x nd for a matrix operator.
 */
#include "ridge.h"

/* Ten times the worst relative error over 100 seeds (identity), 40 (covariances) and
 * every shape and size, which was 6.8e-14, 8.3e-13, 8.2e-12 and 1.0e-12: the naive
 * systems have condition numbers up to 1e4. All are within the 1e-10 that is promised. */
static const double IDENTITY = 7e-13, COV = 8e-12, CCOV = 8e-11, MATRIX = 1e-11;

static const okra_int SIZES[] = {1, 2, 3, N};
enum { SIZE_COUNT = sizeof SIZES / sizeof *SIZES, SEEDS = 10 };

static void check_weights(const toy *t, const char *const *pairs, const double *B,
                          bool center, double tolerance)
{
    double got[M * N], want[M * N];
    okra_store_ *store = NULL;
    okra_options *o = options_of(pairs);
    CHECK_OK(fit(t, false, o, &store));
    CHECK(ridge()->form(store) == OKRA_FORM_WEIGHTS);
    apply(ridge()->predict, t, store, t->n, got);
    naive_weights(t, B, center, want);
    CHECK_NEAR(harness_relative(t->m * t->n, got, want), 0, tolerance);
    okra_store_free_(store);
    okra_options_free(o);
}

/* Problem c: every shape of the first size, then of the next, and so on, again and again
 * with other seeds. */
static toy toy_of(int c, bool linear_output)
{
    int shape = c % SHAPES, round = c / SHAPES, size = round % SIZE_COUNT;
    return make_toy(shape, SIZES[size], (uint64_t)c, linear_output);
}

TEST(identity_equals_full_system)
{
    double B[N * N];
    const char *plain[] = {"lambda", "0.05", NULL};
    const char *centred[] = {"lambda", "0.05", "center-output", "yes", NULL};
    for (int c = 0; c < SHAPES * SIZE_COUNT * SEEDS; c++) {
        toy t = toy_of(c, false);
        naive_identity(&t, 0.05, B);
        check_weights(&t, plain, B, false, IDENTITY);
        check_weights(&t, centred, B, true, IDENTITY);
    }
}

TEST(covariance_equals_full_system)
{
    double B[N * N];
    const char *pairs[] = {"lambda",        "0.05", "operator", "cov",
                           "center-output", "no",   NULL};
    for (int c = 0; c < SHAPES * SIZE_COUNT * 2; c++) {
        toy t = toy_of(c, false);
        for (int center = 0; center < 2; center++) {
            pairs[5] = center ? "yes" : "no";
            naive_covariance(&t, 0.05, -1, center, B);
            check_weights(&t, pairs, B, center, COV);
        }
    }
}

TEST(conditional_covariance_equals_full_system)
{
    double B[N * N];
    const char *pairs[] = {"lambda", "0.02",          "operator", "ccov", "epsilon",
                           "0.1",    "center-output", "no",       NULL};
    for (int c = 0; c < SHAPES * SIZE_COUNT * 2; c++) {
        toy t = toy_of(c, false);
        for (int center = 0; center < 2; center++) {
            pairs[7] = center ? "yes" : "no";
            naive_covariance(&t, 0.02, 0.1, center, B);
            check_weights(&t, pairs, B, center, CCOV);
        }
    }
}

/* ---- operators from files ---- */

static void check_matrix(const toy *t, const char *operator_text, const double *A,
                         double lambda)
{
    double got[M * D], want[M * D];
    char number[32];
    snprintf(number, sizeof number, "%.17g", lambda);
    const char *pairs[] = {"lambda", number, "operator", operator_text, NULL};
    okra_store_ *store = NULL;
    okra_options *o = options_of(pairs);
    CHECK_OK(fit(t, true, o, &store));
    if (store) {
        CHECK(ridge()->form(store) == OKRA_FORM_EMBEDDING);
        CHECK(ridge()->width(store) == t->d);
        apply(ridge()->predict, t, store, t->d, got);
        naive_matrix(t, A, lambda, want);
        CHECK_NEAR(harness_relative(t->m * t->d, got, want), 0, MATRIX);
    }
    okra_store_free_(store);
    okra_options_free(o);
}

/* A of full rank, of rank 1, and the identity, which must give plain ridge. */
TEST(matrix_operator_equals_full_system)
{
    double G[D * D], A[D * D];
    char spec[80];
    for (int c = 0; c < SHAPES * SIZE_COUNT * 3; c++) {
        toy t = toy_of(c, true);
        okra_random_ r = okra_random_create_((uint64_t)c, 7);
        int rank = c / (SHAPES * SIZE_COUNT);
        harness_normals(&r, D * D, G);
        for (okra_int i = 0; i < D; i++) {
            for (okra_int j = 0; j < D; j++) {
                A[i * D + j] = rank == 0   ? inner(D, G + i * D, G + j * D)
                               : rank == 1 ? G[i] * G[j]
                                           : i == j;
            }
        }
        write_matrix("matrix:", D, D, A, spec, sizeof spec);
        check_matrix(&t, spec, A, 0.05);
        unlink(spec + strlen("matrix:"));
    }
}

/* A = (mu (D - M) + (1 - mu) I)^-1, inverted here by elimination. */
TEST(graph_operator_is_the_inverse_of_the_regularised_laplacian)
{
    const double adjacency[] = {0, 2, 0.5, 2, 0, 0, 0.5, 0, 3};
    const double degree[] = {2.5, 2, 0.5};
    double A[D * D], S[D * D];
    char spec[80], with_mu[120];
    write_matrix("graph:", D, D, adjacency, spec, sizeof spec);
    for (double mu = 0; mu < 1; mu += 0.3) {
        for (int i = 0; i < D * D; i++) {
            bool diagonal = i % (D + 1) == 0;
            S[i] = diagonal ? mu * degree[i / D] + 1 - mu : -mu * adjacency[i];
        }
        identity(D, A);
        eliminate(D, S, D, A);
        snprintf(with_mu, sizeof with_mu, "%s,mu=%.17g", spec, mu);
        toy t = make_toy(RANDOM, N, 3, true);
        check_matrix(&t, with_mu, A, 0.1);
    }
    unlink(spec + strlen("graph:"));
}

static void fails(const toy *t, bool features, const char *name, const char *value,
                  okra_status status, const char *text)
{
    const char *pairs[] = {name, value, NULL};
    okra_options *o = options_of(pairs);
    okra_store_ *store = NULL;
    CHECK_FAILS(fit(t, features, o, &store), status, text);
    CHECK(store == NULL);
    okra_options_free(o);
}

TEST(bad_operators_are_refused)
{
    toy t = make_toy(RANDOM, 4, 1, true);
    char spec[80], text[160];
    const double asymmetric[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    const double indefinite[] = {1, 0, 0, 0, -1, 0, 0, 0, 1};
    fails(&t, true, "operator", "covv", OKRA_EARG,
          "'covv' is unknown, expected identity");
    fails(&t, false, "operator", "matrix:a.csv", OKRA_EUNSUPPORTED,
          "operator matrix:a.csv needs outputs with explicit features");
    fails(&t, true, "operator", "graph:a.csv", OKRA_EARG, "expected graph:FILE,mu=V");
    fails(&t, true, "operator", "graph:a.csv,mu=1", OKRA_EARG, "0 <= V < 1");
    fails(&t, true, "operator", "graph:a.csv,mu=", OKRA_EARG, "0 <= V < 1");
    fails(&t, true, "operator", "graph:a.csv,mu=.5x", OKRA_EARG, "0 <= V < 1");
    fails(&t, true, "operator", "matrix:/no/such/file.csv", OKRA_EIO, "file.csv");
    fails(&t, true, "epsilon", "0.1", OKRA_EARG,
          "epsilon is for operator ccov, but the operator is identity");

    write_matrix("matrix:", D, D, asymmetric, spec, sizeof spec);
    fails(&t, true, "operator", spec, OKRA_EARG,
          "element (1, 0) is 4 but (0, 1) is 2, expected a symmetric matrix");
    unlink(spec + 7);
    write_matrix("matrix:", D, D, indefinite, spec, sizeof spec);
    fails(&t, true, "operator", spec, OKRA_EARG,
          "smallest eigenvalue of the matrix is -1");
    snprintf(text, sizeof text, "graph:%s,mu=0.5", spec + 7);
    fails(&t, true, "operator", text, OKRA_EARG,
          "element (1, 1) is -1, expected the weights");
    unlink(spec + 7);
    write_matrix("matrix:", 2, 2, indefinite, spec, sizeof spec);
    fails(&t, true, "operator", spec, OKRA_ESHAPE, "expected a matrix of 3 x 3");
    unlink(spec + 7);
}

/* ---- shared properties ---- */

/* Explicit predictions are the weights times Y, centred or not. */
TEST(embedding_equals_weights_times_outputs)
{
    const char *operators[] = {"identity", "cov", "ccov"};
    double W[M * N], H[M * D], want[M * D], Y[N * D];
    for (int c = 0; c < 3 * 2 * SHAPES; c++) {
        int rest = c, shape = pick(&rest, SHAPES);
        toy t = make_toy(shape, c % 4 ? N : 2, (uint64_t)c, true);
        const char *pairs[] = {"operator", operators[pick(&rest, 3)], "center-output",
                               c % 2 ? "yes" : "no", NULL};
        okra_options *o = options_of(pairs);
        okra_store_ *store = NULL;
        CHECK_OK(fit(&t, true, o, &store));
        apply(ridge()->predict, &t, store, t.n, W);
        apply(ridge()->embed, &t, store, t.d, H);
        CHECK_OK(okra_mat_copy_((okra_mat_){t.Y, t.n, D, LD}, okra_mat_of_(Y, t.n, D)));
        times(t.m, t.n, t.d, W, Y, want);
        /* ten times the worst of 900 cases, 8.3e-14 */
        CHECK_NEAR(harness_relative(t.m * t.d, H, want), 0, 8e-13);
        okra_store_free_(store);
        okra_options_free(o);
    }
}

TEST(embedding_without_features_is_refused)
{
    toy t = make_toy(RANDOM, 4, 1, false);
    okra_store_ *store = NULL;
    double H[M * D];
    CHECK_OK(fit(&t, false, NULL, &store));
    okra_query_ q = {.m = t.m, .n = t.n, .Kx = okra_mat_of_(t.Kx, t.m, t.n)};
    CHECK_FAILS(ridge()->embed(NULL, store, &q, okra_mat_of_(H, t.m, D)),
                OKRA_EUNSUPPORTED, "no explicit features");
    okra_store_free_(store);
}

MAIN(RUN(identity_equals_full_system), RUN(covariance_equals_full_system),
     RUN(conditional_covariance_equals_full_system),
     RUN(matrix_operator_equals_full_system),
     RUN(graph_operator_is_the_inverse_of_the_regularised_laplacian),
     RUN(bad_operators_are_refused), RUN(embedding_equals_weights_times_outputs),
     RUN(embedding_without_features_is_refused))
