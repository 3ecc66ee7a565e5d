/*
 * test_network.c: kernels between nodes against definitions written out: exp by its
 * Taylor series with squaring, inverses by the equation they solve, powers by products.
 */
#include "grams.h"
#include "kernel/networks/network.h"

enum { N = 24 };

/* Two components and a node without edges; weights if asked for. */
static okra_network_ *random_network(uint64_t seed, okra_int n, bool weighted)
{
    okra_random_ r = okra_random_create_(seed, 4);
    okra_link_ *edges = malloc((size_t)(n * n) * sizeof *edges);
    okra_int count = 0;
    okra_network_ *network = NULL;
    for (okra_int i = 0; i < n - 1; i++) {
        for (okra_int j = 0; j < i; j++) {
            bool same = (i < n / 3) == (j < n / 3);
            if (same && okra_random_uniform_(&r) < (i - j == 1 ? 1 : 4.0 / (double)n)) {
                edges[count++] =
                    (okra_link_){i, j, weighted ? 0.25 + okra_random_uniform_(&r) : 1};
            }
        }
    }
    CHECK_OK(okra_network_create_(n, edges, count, NULL, NULL, &network));
    free(edges);
    return network;
}

static void laplacian(const okra_network_ *w, bool normalized, double *L)
{
    okra_int n = w->nodes;
    double *d = calloc((size_t)n, sizeof *d);
    memset(L, 0, (size_t)(n * n) * sizeof *L);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int k = w->adjacency.indptr[i]; k < w->adjacency.indptr[i + 1]; k++) {
            L[i * n + w->adjacency.indices[k]] = -w->adjacency.values[k];
            d[i] += w->adjacency.values[k];
        }
        L[i * n + i] = d[i];
    }
    for (okra_int i = 0; i < n * n && normalized; i++) {
        double s = d[i / n] * d[i % n];
        L[i] = s > 0 ? L[i] / sqrt(s) : 0;
    }
    free(d);
}

static void multiply(okra_int n, const double *A, const double *B, double *C)
{
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            long double sum = 0;
            for (okra_int k = 0; k < n; k++) {
                sum += (long double)A[i * n + k] * B[k * n + j];
            }
            C[i * n + j] = (double)sum;
        }
    }
}

static void multiply_long(okra_int n, const long double *A, const long double *B,
                          long double *C)
{
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            C[i * n + j] = 0;
            for (okra_int k = 0; k < n; k++) {
                C[i * n + j] += A[i * n + k] * B[k * n + j];
            }
        }
    }
}

/* exp(A): Taylor series of A / 2^10, squared ten times, in long double. */
static void exponential(okra_int n, const double *A, double *out)
{
    size_t bytes = (size_t)(n * n) * sizeof(long double);
    long double *term = calloc(1, bytes), *next = malloc(bytes), *small = malloc(bytes);
    long double *E = calloc(1, bytes);
    for (okra_int i = 0; i < n; i++) {
        term[i * n + i] = E[i * n + i] = 1;
    }
    for (okra_int i = 0; i < n * n; i++) {
        small[i] = A[i] / 1024;
    }
    for (int k = 1; k < 24; k++) {
        multiply_long(n, term, small, next);
        for (okra_int i = 0; i < n * n; i++) {
            term[i] = next[i] / k;
            E[i] += term[i];
        }
    }
    for (int k = 0; k < 10; k++) {
        multiply_long(n, E, E, next);
        memcpy(E, next, bytes);
    }
    for (okra_int i = 0; i < n * n; i++) {
        out[i] = (double)E[i];
    }
    free(term);
    free(next);
    free(small);
    free(E);
}

TEST(diffusion_is_the_exponential)
{
    static double L[N * N], E[N * N], K[N * N];
    for (int form = 0; form < 4; form++) {
        bool normalized = form % 2, weighted = form / 2;
        okra_network_ *w = random_network((uint64_t)form, N, weighted);
        okra_data *nodes = NULL;
        CHECK_OK(okra_nodes_create_(w, NULL, N, "test", &nodes));
        laplacian(w, normalized, L);
        for (int i = 0; i < N * N; i++) {
            L[i] *= -0.7;
        }
        exponential(N, L, E);
        gram(normalized ? "diffusion(beta=0.7,normalized=1)" : "diffusion(beta=0.7)",
             nodes, NULL, K);
        CHECK(harness_relative(N * N, K, E) < 1e-14); /* measured: 8.9e-16 */
        /* components do not meet; a node alone meets itself */
        CHECK_NEAR(K[0 * N + N - 2], 0, 1e-15);
        CHECK_NEAR(K[(N - 1) * N + N - 1], 1, 1e-15);
        CHECK_NEAR(K[(N - 1) * N], 0, 1e-15);
        okra_data_free(nodes);
        okra_network_free_(w);
    }
}

TEST(other_kernels_solve_their_equations)
{
    static double L[N * N], K[N * N], A[N * N], B[N * N], P[N * N];
    okra_network_ *w = random_network(7, N, true);
    okra_data *nodes = NULL;
    CHECK_OK(okra_nodes_create_(w, NULL, N, "test", &nodes));
    laplacian(w, false, L);
    /* (I + 0.5 L) K = I */
    gram("regularized-laplacian(sigma2=0.5)", nodes, NULL, K);
    for (int i = 0; i < N * N; i++) {
        A[i] = 0.5 * L[i] + (i % (N + 1) == 0);
    }
    multiply(N, A, K, B);
    for (int i = 0; i < N * N; i++) {
        CHECK_NEAR(B[i], i % (N + 1) == 0, 1e-14); /* measured: 1.1e-15 */
    }
    /* L K L = L, K L K = K: the pseudo-inverse */
    gram("commute-time", nodes, NULL, K);
    multiply(N, L, K, A);
    multiply(N, A, L, B);
    CHECK(harness_relative(N * N, B, L) < 1e-14); /* measured: 8.8e-16 */
    multiply(N, K, L, A);
    multiply(N, A, K, B);
    CHECK(harness_relative(N * N, B, K) < 1e-14); /* measured: 4.6e-16 */
    CHECK_NEAR(K[N * N - 1], 0, 0);
    /* (3 I - L)^3, normalised */
    laplacian(w, true, L);
    gram("p-step(a=3,p=3)", nodes, NULL, K);
    for (int i = 0; i < N * N; i++) {
        A[i] = 3 * (i % (N + 1) == 0) - L[i];
    }
    multiply(N, A, A, B);
    multiply(N, B, A, P);
    CHECK(harness_relative(N * N, K, P) < 1e-14); /* measured: 4.6e-16 */
    okra_data_free(nodes);
    okra_network_free_(w);
}

static double heat(const void *beta, double x)
{
    return exp(-*(const double *)beta * x);
}

TEST(action_equals_the_dense_exponential)
{
    static const double betas[] = {0, 0.01, 1, 5, 100};
    enum { M = 37 };
    static double L[N * N], E[N * N], X[N * M], Y[N * M], Z[N * M];
    okra_random_ r = okra_random_create_(9, 9);
    harness_normals(&r, N * M, X);
    for (int form = 0; form < 10; form++) {
        bool normalized = form % 2;
        double beta = betas[form / 2];
        okra_network_ *w = random_network(3, N, true);
        laplacian(w, normalized, L);
        for (int i = 0; i < N * N; i++) {
            L[i] *= -beta;
        }
        exponential(N, L, E);
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < M; j++) {
                Z[i * M + j] = 0;
                for (int k = 0; k < N; k++) {
                    Z[i * M + j] += E[i * N + k] * X[k * M + j];
                }
            }
        }
        CHECK_OK(okra_network_apply_(NULL, w, normalized, heat, &beta,
                                     okra_mat_of_(X, N, M), okra_mat_of_(Y, N, M), NULL));
        CHECK(harness_relative(N * M, Y, Z) < 2e-13); /* measured: 2e-14 */
        okra_network_free_(w);
    }
}

/* Above 1,000 nodes and with few objects the kernel acts on columns: the same values as
 * the whole matrix, for nodes in and out of the training set. */
TEST(large_networks_take_the_action)
{
    enum { BIG = 1200, TRAIN = 20, TEST_NODES = 70 };
    okra_network_ *w = random_network(12, BIG, false);
    okra_data *train = NULL, *test = NULL;
    okra_int codes[TEST_NODES];
    double *F = malloc(sizeof *F * BIG * BIG), K[TEST_NODES * TRAIN];
    double self[TEST_NODES];
    okra_kernel *kernel = NULL;
    okra_trained_kernel_ *bound = NULL;
    okra_test_side_ *other = NULL;
    for (okra_int i = 0; i < TEST_NODES; i++) {
        codes[i] = i * 17 % BIG;
    }
    codes[3] = codes[1]; /* a repeat in the training set */
    CHECK_OK(okra_nodes_create_(w, codes, TRAIN, "train", &train));
    CHECK_OK(okra_nodes_create_(w, codes, TEST_NODES, "test", &test));
    CHECK_OK(okra_kernel_parse("diffusion(beta=0.5)", &kernel));
    okra_alloc_reset_peak_();
    CHECK_OK(okra_trained_kernel_create_(NULL, kernel, train, &bound));
    CHECK_OK(okra_test_side_create_(NULL, bound, test, &other));
    CHECK(okra_alloc_peak_bytes_() < 8 * BIG * BIG); /* no whole matrix was made */
    CHECK_OK(
        okra_test_side_cross_(NULL, bound, other, 0, okra_mat_of_(K, TEST_NODES, TRAIN)));
    CHECK_OK(okra_test_side_diagonal_(NULL, bound, other, self));
    CHECK_OK(okra_network_dense_(NULL, w, false, heat, &(double){0.5},
                                 okra_mat_of_(F, BIG, BIG)));
    for (okra_int i = 0; i < TEST_NODES; i++) {
        CHECK_NEAR(self[i], F[codes[i] * BIG + codes[i]], 4e-15); /* measured: 3.6e-16 */
        for (okra_int j = 0; j < TRAIN; j++) {
            CHECK_NEAR(K[i * TRAIN + j], F[codes[i] * BIG + codes[j]], 4e-15);
        }
    }
    okra_test_side_free_(other);
    okra_trained_kernel_free_(bound);
    okra_kernel_free(kernel);
    okra_data_free(train);
    okra_data_free(test);
    okra_network_free_(w);
    free(F);
}

TEST(bad_networks_and_arguments_are_refused)
{
    const okra_link_ loop[] = {{0, 1, 1}, {2, 2, 1}}, far[] = {{0, 5, 1}};
    const okra_link_ twice[] = {{0, 1, 1}, {1, 2, 1}, {1, 0, 1}}, weight[] = {{0, 1, -1}};
    const okra_link_ heavy[] = {{0, 1, 1e308}, {1, 2, 1e308}};
    okra_network_ *w = NULL, *v = NULL;
    okra_data *a = NULL, *b = NULL;
    okra_kernel *kernel = NULL;
    okra_int bad = -1, codes[] = {0, 3};
    double K[9];
    CHECK_FAILS(okra_network_create_(3, loop, 2, NULL, &bad, &w), OKRA_EFORMAT, "itself");
    CHECK(bad == 1);
    CHECK_FAILS(okra_network_create_(3, far, 1, NULL, &bad, &w), OKRA_EFORMAT, "node 5");
    CHECK(bad == 0);
    CHECK_FAILS(okra_network_create_(3, twice, 3, NULL, &bad, &w), OKRA_EFORMAT, "twice");
    CHECK(bad == 2);
    CHECK_FAILS(okra_network_create_(3, weight, 1, NULL, &bad, &w), OKRA_EFORMAT, "-1");
    CHECK_FAILS(okra_network_create_(3, heavy, 2, NULL, &bad, &w), OKRA_EFORMAT,
                "the weight 1e+308 of an edge; expected at most 1e150");
    CHECK_FAILS(okra_network_create_(INT64_MAX, weight, 0, NULL, NULL, &w), OKRA_EFORMAT,
                "at most");
    CHECK_OK(okra_network_create_(3, twice, 2, NULL, NULL, &w));
    CHECK_OK(okra_network_create_(3, twice, 1, NULL, NULL, &v));
    CHECK(okra_network_equal_(w, w) && !okra_network_equal_(w, v));
    CHECK_FAILS(okra_nodes_create_(w, codes, 2, "test", &a), OKRA_EFORMAT, "node 3");
    CHECK_OK(okra_nodes_create_(w, NULL, 3, "one.tsv", &a));
    CHECK_OK(okra_nodes_create_(v, NULL, 3, "two.tsv", &b));
    CHECK_OK(okra_kernel_parse("diffusion", &kernel));
    CHECK_FAILS(okra_gram(NULL, kernel, a, b, K, 3), OKRA_EARG, "another network");
    okra_kernel_free(kernel);
    CHECK_OK(okra_kernel_parse("p-step(a=3,normalized=0)", &kernel));
    CHECK_FAILS(okra_gram(NULL, kernel, a, NULL, K, 3), OKRA_EARG, "less than 4");
    okra_kernel_free(kernel);
    CHECK_OK(okra_kernel_parse("p-step(a=4,p=2,normalized=0)", &kernel));
    CHECK_OK(okra_gram(NULL, kernel, a, NULL, K, 3));
    /* rows (3, 1, 0) and (1, 2, 1) of 4 - L: 3 + 2; measured: 3.6e-15 */
    CHECK_NEAR(K[1], 5, 4e-14);
    okra_kernel_free(kernel);
    const double beta = 1e9;
    CHECK_FAILS(okra_network_apply_(NULL, w, false, heat, &beta, okra_mat_of_(K, 3, 1),
                                    okra_mat_of_(K + 3, 3, 1), NULL),
                OKRA_EUNSUPPORTED, "too fast");
    okra_data_free(a);
    okra_data_free(b);
    okra_network_free_(w);
    okra_network_free_(v);
}

static okra_status whole(const char *text, okra_int n, double *K)
{
    okra_status st = OKRA_OK;
    const okra_link_ edges[] = {{0, 1, 1}, {1, 2, 1}};
    const char *const names[] = {"a", "b", "c"};
    okra_network_ *w = NULL;
    okra_data *data = NULL;
    okra_kernel *kernel = NULL;
    okra_context *ctx = NULL;
    TRY(okra_context_create(&ctx));
    TRY(okra_context_set_threads(ctx, 1));
    TRY(okra_network_create_(n, edges, 2, n == 3 ? names : NULL, NULL, &w));
    TRY(okra_nodes_create_(w, NULL, 3, "test", &data));
    TRY(okra_kernel_parse(text, &kernel));
    TRY(okra_gram(ctx, kernel, data, NULL, K, 3));
done:
    okra_network_free_(w);
    okra_data_free(data);
    okra_kernel_free(kernel);
    okra_context_free(ctx);
    return st;
}

TEST(allocations_may_fail)
{
    double K[9], large[9];
    CHECK_ALLOCATIONS(whole("diffusion", 3, K), (void)0);
    CHECK_ALLOCATIONS(whole("diffusion", 1500, large), (void)0);
    for (int i = 0; i < 9; i++) {
        CHECK_NEAR(large[i], K[i], 1e-14);
    }
}

MAIN(RUN(diffusion_is_the_exponential), RUN(other_kernels_solve_their_equations),
     RUN(action_equals_the_dense_exponential), RUN(large_networks_take_the_action),
     RUN(bad_networks_and_arguments_are_refused), RUN(allocations_may_fail))
