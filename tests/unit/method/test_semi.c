/*
 * Semi-supervised ridge against the dense systems of Brouard et al. 2016: B = J (lambda I
 * + K (J'J + 2 lambda_2 M))^-1 by elimination with pivoting, and the nd x nd system of a
 * matrix operator.
 */
#include "solve/graph.h"
#include "ridge.h"

/* What is promised. The worst relative error over 100 seeds, every shape and setting was
 * 9e-11 (weights) and 4e-10 (matrix), at lambda = 1e-3 with systems of condition 1e6. */
static const double WEIGHTS = 1e-9, MATRIX = 1e-9;
enum { LABELLED = 5, SEEDS = 12 };

static void predict(const toy *t, okra_int n, const okra_store_ *store, bool embed,
                    okra_int cols, double *out)
{
    double Kx[M * N];
    memcpy(Kx, t->Kx, sizeof Kx);
    okra_query_ q = {.m = t->m, .n = n, .Kx = okra_mat_of_(Kx, t->m, t->n)};
    CHECK_OK((embed ? ridge()->embed : ridge()->predict)(NULL, store, &q,
                                                         okra_mat_of_(out, t->m, cols)));
}

/* M as the graph's own test checks it. */
static void penalty(const toy *t, const char *graph, double *out)
{
    double eye[N * N];
    okra_graph_ *g = NULL;
    identity(t->n, eye);
    CHECK_OK(okra_graph_create_(
        NULL, graph, &(okra_graph_kernel_){.K = okra_mat_view_(t->K, t->n, t->n, t->n)},
        &g));
    CHECK_OK(okra_graph_apply_(NULL, g, okra_mat_of_(eye, t->n, t->n),
                               okra_mat_of_(out, t->n, t->n)));
    okra_graph_free_(g);
}

/* W (m x n) = Kx B', B = J (lambda I + g K P)^-1: (lambda I + g P K) B' = J'. */
static void naive_semi(const toy *t, okra_int n, const char *graph, double lambda,
                       double lambda2, double g, double *W)
{
    double P[N * N], A[N * N], Bt[N * N] = {0};
    okra_int all = t->n;
    penalty(t, graph, P);
    for (okra_int i = 0; i < all * all; i++) {
        P[i] = 2 * lambda2 * P[i] + (i % (all + 1) == 0 && i / all < n);
    }
    times(all, all, all, P, t->K, A);
    for (okra_int i = 0; i < all * all; i++) {
        A[i] = g * A[i] + (i % (all + 1) == 0 ? lambda : 0);
    }
    for (okra_int i = 0; i < n; i++) {
        Bt[i * n + i] = 1;
    }
    eliminate(all, A, n, Bt);
    times(t->m, all, n, t->Kx, Bt, W);
}

static const struct {
    const char *lambda, *lambda2, *graph;
} SETTINGS[] = {{"0.1", "1", "knn(k=3)"},
                {"0.001", "0.1", "knn(k=2) | normalized | power(p=2)"},
                {"1", "30", "knn(share=0.4) | diffusion(beta=0.5)"}};

TEST(weights_equal_the_dense_formula)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        for (int s = 0; s < 3; s++) {
            for (okra_int n = 1; n <= N; n += 4) {
                toy t = make_toy(seed % 2 ? DUPLICATED : RANDOM, N, seed, true);
                double got[M * N], want[M * N], H[M * D], wantH[M * D];
                const char *pairs[] = {
                    "lambda", SETTINGS[s].lambda, "lambda2", SETTINGS[s].lambda2,
                    "graph",  SETTINGS[s].graph,  NULL};
                okra_store_ *store = NULL;
                CHECK_OK(fit_part(&t, n, true, pairs, &store));
                CHECK(ridge()->form(store) == OKRA_FORM_WEIGHTS);
                predict(&t, n, store, false, n, got);
                naive_semi(&t, n, SETTINGS[s].graph, atof(SETTINGS[s].lambda),
                           atof(SETTINGS[s].lambda2), 1, want);
                double error = harness_relative(t.m * n, got, want);
                CHECK_NEAR(error, 0, WEIGHTS);
                predict(&t, n, store, true, D, H);
                for (okra_int i = 0; i < t.m * D; i++) {
                    wantH[i] = 0;
                    for (okra_int j = 0; j < n; j++) {
                        wantH[i] += want[i / D * n + j] * t.Y[j * LD + i % D];
                    }
                }
                CHECK_NEAR(harness_relative(t.m * D, H, wantH), 0, WEIGHTS);
                okra_store_free_(store);
            }
        }
    }
}

/* A small lambda under a strong penalty: close numbers are subtracted, and the step of
 * refinement brings the digits back. Worst over these seeds 1.6e-12. */
TEST(small_lambda_keeps_its_digits)
{
    double worst = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        toy t = make_toy(RANDOM, N, seed, true);
        double got[M * N], want[M * N];
        const char *pairs[] = {"lambda", "1e-6",     "lambda2", "10",
                               "graph",  "knn(k=3)", NULL};
        okra_store_ *store = NULL;
        CHECK_OK(fit_part(&t, LABELLED, false, pairs, &store));
        predict(&t, LABELLED, store, false, LABELLED, got);
        naive_semi(&t, LABELLED, "knn(k=3)", 1e-6, 10, 1, want);
        worst = fmax(worst, harness_relative(t.m * LABELLED, got, want));
        okra_store_free_(store);
    }
    CHECK_NEAR(worst, 0, 2e-11);
}

TEST(rank_deficient_inputs)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        toy t = make_toy(RANK_DEFICIENT, N, seed, true);
        double got[M * N], want[M * N];
        char file[64], graph[80];
        snprintf(file, sizeof file, "semi-%d.csv", (int)getpid());
        snprintf(graph, sizeof graph, "file(%s)", file);
        FILE *f = fopen(file, "w"); /* a path through all inputs */
        for (okra_int i = 0; f && i < N * N; i++) {
            fprintf(f, "%d%c", llabs((long long)(i / N - i % N)) == 1,
                    i % N == N - 1 ? '\n' : ',');
        }
        fclose(f);
        const char *pairs[] = {"lambda", "0.1", "lambda2", "1", "graph", graph, NULL};
        okra_store_ *store = NULL;
        CHECK_OK(fit_part(&t, LABELLED, false, pairs, &store));
        predict(&t, LABELLED, store, false, LABELLED, got);
        naive_semi(&t, LABELLED, graph, 0.1, 1, 1, want);
        CHECK_NEAR(harness_relative(t.m * LABELLED, got, want), 0, WEIGHTS);
        okra_store_free_(store);
        unlink(file);
    }
}

/* lambda_2 = 0, and the limit: the supervised weights over the labelled alone. */
TEST(small_lambda2_is_supervised)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        toy t = make_toy(seed % 2 ? DUPLICATED : RANDOM, N, seed, true), part = t;
        double got[M * N], want[M * N], B[N * N];
        part.n = LABELLED;
        for (okra_int i = 0; i < LABELLED * LABELLED; i++) {
            part.K[i] = t.K[i / LABELLED * N + i % LABELLED];
        }
        for (okra_int i = 0; i < M * LABELLED; i++) {
            part.Kx[i] = t.Kx[i / LABELLED * N + i % LABELLED];
        }
        naive_identity(&part, 0.1, B);
        naive_weights(&part, B, false, want);
        static const char *const values[] = {"0", "1e-12", "1e-6"};
        static const double allowed[] = {1e-12, 1e-10, 1e-3};
        for (int k = 0; k < 3; k++) {
            const char *pairs[] = {"lambda", "0.1", "lambda2", values[k], NULL};
            okra_store_ *store = NULL;
            CHECK_OK(fit_part(&t, LABELLED, false, pairs, &store));
            predict(&t, LABELLED, store, false, LABELLED, got);
            CHECK_NEAR(harness_relative(M * LABELLED, got, want), 0, allowed[k]);
            okra_store_free_(store);
        }
    }
}

static void write_square(const char *name, const double *A)
{
    FILE *f = fopen(name, "w");
    for (okra_int i = 0; f && i < D * D; i++) {
        fprintf(f, "%.17g%c", A[i], i % D == D - 1 ? '\n' : ',');
    }
    CHECK(f && fclose(f) == 0);
}

/* h(x) = A C k_x, (lambda I + (P K) (x) A) vec(C) = vec(Y' J): columns stacked. */
static void naive_semi_matrix(const toy *t, okra_int n, const char *graph, double lambda,
                              double lambda2, const double *A, double *H)
{
    static double S[N * D * N * D];
    double P[N * N], PK[N * N], c[N * D];
    okra_int all = t->n, size = all * D;
    penalty(t, graph, P);
    for (okra_int i = 0; i < all * all; i++) {
        P[i] = 2 * lambda2 * P[i] + (i % (all + 1) == 0 && i / all < n);
    }
    times(all, all, all, P, t->K, PK);
    for (okra_int r = 0; r < size; r++) {
        for (okra_int q = 0; q < size; q++) {
            S[r * size + q] =
                PK[r / D * all + q / D] * A[r % D * D + q % D] + (r == q ? lambda : 0);
        }
        c[r] = r / D < n ? t->Y[r / D * LD + r % D] : 0;
    }
    eliminate(size, S, 1, c);
    for (okra_int i = 0; i < t->m * D; i++) {
        H[i] = 0;
        for (okra_int j = 0; j < all; j++) {
            H[i] += t->Kx[i / D * all + j] * inner(D, A + i % D * D, c + j * D);
        }
    }
}

TEST(matrix_operator)
{
    char file[64], text[80];
    snprintf(file, sizeof file, "semi-operator-%d.csv", (int)getpid());
    snprintf(text, sizeof text, "matrix:%s", file);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        toy t = make_toy(seed % 2 ? DUPLICATED : RANDOM, N, seed, true);
        okra_random_ r = okra_random_create_(seed, 77);
        double root[D * D], A[D * D], got[M * D], want[M * D];
        harness_normals(&r, D * D, root);
        for (okra_int i = 0; seed % 3 == 0 && i < D; i++) {
            root[i] = root[D + i]; /* a singular operator */
        }
        for (okra_int i = 0; i < D * D; i++) {
            A[i] = inner(D, root + i / D * D, root + i % D * D);
        }
        write_square(file, A);
        for (int s = 0; s < 3; s++) {
            const char *pairs[] = {
                "lambda", SETTINGS[s].lambda, "lambda2",  SETTINGS[s].lambda2,
                "graph",  SETTINGS[s].graph,  "operator", text,
                NULL};
            okra_store_ *store = NULL;
            CHECK_OK(fit_part(&t, LABELLED, true, pairs, &store));
            CHECK(ridge()->form(store) == OKRA_FORM_EMBEDDING &&
                  ridge()->width(store) == D);
            predict(&t, LABELLED, store, false, D, got);
            naive_semi_matrix(&t, LABELLED, SETTINGS[s].graph, atof(SETTINGS[s].lambda),
                              atof(SETTINGS[s].lambda2), A, want);
            double error = harness_relative(M * D, got, want);
            CHECK_NEAR(error, 0, MATRIX);
            okra_store_free_(store);
        }
        /* A = I is the identity operator. */
        identity(D, A);
        write_square(file, A);
        const char *with[] = {"lambda2", "1", "operator", text, NULL};
        const char *without[] = {"lambda2", "1", NULL};
        okra_store_ *a = NULL, *b = NULL;
        CHECK_OK(fit_part(&t, LABELLED, true, with, &a));
        CHECK_OK(fit_part(&t, LABELLED, true, without, &b));
        predict(&t, LABELLED, a, true, D, got);
        predict(&t, LABELLED, b, true, D, want);
        CHECK_NEAR(harness_relative(M * D, got, want), 0, 5e-14); /* worst 4.2e-15 */
        okra_store_free_(a);
        okra_store_free_(b);
    }
    unlink(file);
}

TEST(a_path_shares_and_agrees)
{
    const double lambda[] = {1e-3, 0.1, 5};
    toy t = make_toy(RANDOM, N, 3, true);
    okra_problem_ p = problem_of(&t, true);
    p.n = LABELLED;
    p.unlabelled = N - LABELLED;
    const char *pairs[] = {"lambda2", "0.5", "graph", "knn(k=2)", NULL};
    okra_options *o = options_of(pairs);
    okra_store_ *stores[3] = {0};
    for (int l = 0; l < 3; l++) {
        CHECK_OK(okra_store_create_(&stores[l]));
    }
    CHECK_OK(ridge()->path(NULL, &p, o, lambda, 3, stores));
    for (int l = 0; l < 3; l++) {
        double got[M * N], want[M * N];
        predict(&t, LABELLED, stores[l], false, LABELLED, got);
        naive_semi(&t, LABELLED, "knn(k=2)", lambda[l], 0.5, 1, want);
        CHECK_NEAR(harness_relative(M * LABELLED, got, want), 0, WEIGHTS);
        okra_store_free_(stores[l]);
    }
    okra_options_free(o);
}

TEST(refusals)
{
    toy t = make_toy(RANDOM, N, 1, true);
    okra_store_ *store = NULL;
    const char *graph[] = {"graph", "gram", NULL};
    const char *cov[] = {"operator", "cov", "lambda2", "1", NULL};
    const char *bad[] = {"lambda2", "1", "graph", "ring", NULL};
    const char *good[] = {"lambda2", "1", "graph", "knn(k=2)", NULL};
    CHECK_FAILS(fit_part(&t, LABELLED, false, NULL, &store), OKRA_ESHAPE,
                "there are 9 inputs and 5 outputs; expected as many");
    CHECK_FAILS(fit_part(&t, N, false, graph, &store), OKRA_EARG,
                "graph is set but lambda2");
    CHECK_FAILS(fit_part(&t, N, false, cov, &store), OKRA_EUNSUPPORTED,
                "the operator is cov");
    CHECK_FAILS(fit_part(&t, N, false, bad, &store), OKRA_EARG, "expected gram");
    okra_options *o = options_of(good);
    CHECK_ALLOCATIONS(fit_with(&t, LABELLED, true, o, &store), okra_store_free_(store));
    okra_options_free(o);
}

MAIN(RUN(weights_equal_the_dense_formula), RUN(small_lambda_keeps_its_digits),
     RUN(rank_deficient_inputs), RUN(small_lambda2_is_supervised), RUN(matrix_operator),
     RUN(a_path_shares_and_agrees), RUN(refusals))
