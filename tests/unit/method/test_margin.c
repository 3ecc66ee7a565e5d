/*
 * Margin: the hinge dual against a slow reference on a quadratic form written out in
 * full, conditions of optimality, limits that are known, paths, what is refused.
 */
#include "margin.h"

/* Cyclic coordinate descent until nothing moves: slow and simple. */
static void naive_qp(okra_int n, const double *Q, double *a)
{
    for (okra_int i = 0; i < n; i++) {
        a[i] = 0;
    }
    for (int sweep = 0; sweep < 200000; sweep++) {
        double moved = 0;
        for (okra_int i = 0; i < n; i++) {
            double slope = inner(n, Q + i * n, a) - 1;
            double fresh = a[i] - slope / Q[i * n + i];
            fresh = fresh < 0 ? 0 : fresh > 1 ? 1 : fresh;
            moved = fmax(moved, fabs(fresh - a[i]));
            a[i] = fresh;
        }
        if (moved < 1e-15) {
            break;
        }
    }
}

/* P - D of the box programme, and the largest violation of its optimality conditions. */
static double qp_gap(okra_int n, const double *Q, const double *a, double *kkt)
{
    double gap = 0;
    *kkt = 0;
    for (okra_int i = 0; i < n; i++) {
        double g = inner(n, Q + i * n, a), slope = g - 1;
        gap += fmax(0, 1 - g) + a[i] * g - a[i];
        *kkt = fmax(*kkt, a[i] <= 0 ? -slope : a[i] >= 1 ? slope : fabs(slope));
    }
    return gap;
}

TEST(hinge_meets_the_conditions_of_optimality)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        for (int s = 0; s < SHAPES; s++) {
            toy t = make_toy((int)s, seed % 3 == 0 ? 2 : N, seed, seed % 2);
            okra_int n = t.n, rows = 0, cols = 0;
            double Q[N * N], a[N], kkt;
            const char *pairs[] = {"lambda", "0.05", "tolerance", "1e-12", NULL};
            okra_store_ *store = NULL;
            CHECK_OK(fit("margin", &t, n, false, pairs, &store));
            const double *scale = okra_store_get_(store, "scale", &rows, &cols);
            CHECK(rows == 1 && cols == n);
            for (okra_int i = 0; i < n * n; i++) {
                Q[i] = t.L[i] * t.K[i] / 0.1;
                a[i / n] = scale[i / n] * 0.1;
            }
            CHECK_NEAR(qp_gap(n, Q, a, &kkt), 0, 1e-8);
            CHECK(kkt < 1e-5); /* the gap is quadratic in it */
            CHECK(number(store, "gap") < 1e-8 && number(store, "converged") == 1);
            okra_store_free_(store);
        }
    }
}

/* Weights and embedding of the test rows: supervised (no graph) and semi-supervised. */
TEST(hinge_equals_the_reference)
{
    static const char *const graphs[] = {NULL, "knn(k=3)",
                                         "knn(k=2) | normalized | power(p=2)"};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        for (int k = 0; k < 3; k++) {
            toy t = make_toy(RANDOM, graphs[k] ? N : LABELLED, seed, true);
            okra_int n = LABELLED;
            double X[N * N], S[N * N], Q[N * N], a[N], want[M * N], got[M * N];
            const char *semi[] = {"lambda",  "0.2",     "tolerance", "1e-13", "graph",
                                  graphs[k], "lambda2", "0.5",       NULL};
            const char *plain[] = {"lambda", "0.2", "tolerance", "1e-13", NULL};
            naive_deformed(&t, n, graphs[k], 0.2, 0.5, 1, X, S);
            for (okra_int i = 0; i < n * n; i++) {
                Q[i] = t.L[i / n * t.n + i % n] * S[i] / 2;
            }
            naive_qp(n, Q, a);
            okra_store_ *store = NULL;
            CHECK_OK(fit("margin", &t, n, true, graphs[k] ? semi : plain, &store));
            CHECK(method("margin")->form(store) == OKRA_FORM_WEIGHTS);
            predict("margin", &t, t.Kx, M, n, store, false, n, got);
            times(M, t.n, n, t.Kx, X, want);
            for (okra_int i = 0; i < M * n; i++) {
                want[i] *= a[i % n] / 2;
            }
            CHECK_NEAR(harness_relative(M * n, got, want), 0, 1e-13); /* worst 9.2e-15 */
            double H[M * D], W[M * D];
            predict("margin", &t, t.Kx, M, n, store, true, D, H);
            for (okra_int i = 0; i < M * D; i++) {
                W[i] = 0;
                for (okra_int j = 0; j < n; j++) {
                    W[i] += got[i / D * n + j] * t.Y[j * LD + i % D];
                }
            }
            CHECK_NEAR(harness_relative(M * D, H, W), 0, 1e-13);
            okra_store_free_(store);
        }
    }
}

TEST(hinge_with_a_matrix_operator)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        okra_random_ r = okra_random_create_(seed, 5);
        double root[D * D], A[D * D];
        harness_normals(&r, D * D, root);
        for (okra_int i = 0; i < D * D; i++) {
            A[i] = inner(D, root + i / D * D, root + i % D * D);
        }
        write_operator(A);
        for (int semi = 0; semi < 2; semi++) {
            toy t = make_toy(RANDOM, semi ? N : LABELLED, seed, true);
            okra_int n = LABELLED;
            double E[D * D], g[D], Q[N * N] = {0}, a[N], X[D][N * N], S[N * N];
            double want[M * D] = {0}, got[M * D], W[M * N];
            memcpy(E, A, sizeof A);
            CHECK_OK(okra_eigh_(NULL, okra_mat_of_(E, D, D), g));
            for (okra_int j = 0; j < D; j++) {
                naive_deformed(&t, n, semi ? "knn(k=3)" : NULL, 0.2, 0.5, g[j], X[j], S);
                for (okra_int i = 0; i < n * n; i++) {
                    Q[i] += g[j] * inner(D, t.Y + i / n * LD, E + j * D) *
                            inner(D, t.Y + i % n * LD, E + j * D) * S[i] / 2;
                }
            }
            naive_qp(n, Q, a);
            for (okra_int j = 0; j < D; j++) {
                times(M, t.n, n, t.Kx, X[j], W);
                for (okra_int i = 0; i < M * n; i++) {
                    double y = inner(D, t.Y + i % n * LD, E + j * D);
                    for (okra_int c = 0; c < D; c++) {
                        want[i / n * D + c] +=
                            g[j] * W[i] * a[i % n] * y * E[j * D + c] / 2;
                    }
                }
            }
            const char *with[] = {"lambda",    "0.2",      "operator", operator_text,
                                  "tolerance", "1e-13",    "lambda2",  "0.5",
                                  "graph",     "knn(k=3)", NULL};
            const char *without[] = {"lambda",    "0.2",   "operator", operator_text,
                                     "tolerance", "1e-13", NULL};
            okra_store_ *store = NULL;
            CHECK_OK(fit("margin", &t, n, true, semi ? with : without, &store));
            CHECK(method("margin")->form(store) == OKRA_FORM_EMBEDDING);
            predict("margin", &t, t.Kx, M, n, store, false, D, got);
            CHECK_NEAR(harness_relative(M * D, got, want), 0, 6e-13); /* worst 5.3e-14 */
            okra_store_free_(store);
        }
    }
}

/* A = I equals the identity operator, lambda_2 -> 0 the supervised solution. */
TEST(limits)
{
    static const char *const losses[] = {"hinge", "epsilon", "huber"};
    double A[D * D];
    identity(D, A);
    write_operator(A);
    for (uint64_t seed = 0; seed < 3 * SEEDS; seed++) {
        toy t = make_toy(RANDOM, N, seed, true), part = t;
        const char *loss = losses[seed % 3];
        double got[M * D], want[M * D];
        part.n = LABELLED;
        for (okra_int i = 0; i < LABELLED * LABELLED; i++) {
            part.K[i] = t.K[i / LABELLED * N + i % LABELLED];
            part.L[i] = t.L[i / LABELLED * N + i % LABELLED];
        }
        for (okra_int i = 0; i < M * LABELLED; i++) {
            part.Kx[i] = t.Kx[i / LABELLED * N + i % LABELLED];
        }
        const char *plain[] = {"loss", loss, "tolerance", "1e-12", NULL};
        const char *matrix[] = {"loss",     loss,          "tolerance", "1e-12",
                                "operator", operator_text, NULL};
        const char *semi[] = {"loss",    loss,    "tolerance", "1e-12",
                              "lambda2", "1e-10", NULL};
        const char *both[] = {"loss",  loss,       "tolerance",   "1e-12", "lambda2",
                              "1e-10", "operator", operator_text, NULL};
        const char *const *others[] = {matrix, semi, both};
        okra_store_ *store = NULL;
        CHECK_OK(fit("margin", &part, LABELLED, true, plain, &store));
        predict("margin", &part, part.Kx, M, LABELLED, store, true, D, want);
        okra_store_free_(store);
        for (int k = 0; k < 3; k++) {
            const toy *on = k == 0 ? &part : &t;
            CHECK_OK(fit("margin", on, LABELLED, true, others[k], &store));
            predict("margin", on, on->Kx, M, LABELLED, store, true, D, got);
            CHECK_NEAR(harness_relative(M * D, got, want), 0, 6e-6); /* worst 5.2e-7 */
            okra_store_free_(store);
        }
    }
}

TEST(a_path_agrees_with_single_fits)
{
    const double lambda[] = {2, 0.3, 0.01};
    static const char *const texts[] = {"2", "0.3", "0.01"};
    static const char *const losses[] = {"hinge", "epsilon", "huber"};
    for (int k = 0; k < 3; k++) {
        toy t = make_toy(RANDOM, N, 4, true);
        okra_problem_ p = problem_of(&t, true);
        const char *pairs[] = {"loss", losses[k], "tolerance", "1e-13", NULL};
        okra_options *o = options_of("margin", pairs);
        okra_store_ *stores[3] = {0}, *one = NULL;
        for (int l = 0; l < 3; l++) {
            CHECK_OK(okra_store_create_(&stores[l]));
        }
        CHECK_OK(method("margin")->path(NULL, &p, o, lambda, 3, stores));
        for (int l = 0; l < 3; l++) {
            double got[M * N], want[M * N];
            CHECK_OK(okra_options_set(o, "lambda", texts[l]));
            CHECK_OK(fit_with("margin", &t, N, true, o, &one));
            predict("margin", &t, t.Kx, M, N, stores[l], false, N, got);
            predict("margin", &t, t.Kx, M, N, one, false, N, want);
            CHECK_NEAR(harness_relative(M * N, got, want), 0, 2e-8); /* worst 1.1e-9 */
            okra_store_free_(stores[l]);
            okra_store_free_(one);
        }
        okra_options_free(o);
    }
}

static void count_warning(void *user, const char *text)
{
    CHECK(strstr(text, "duality gap") != NULL);
    ++*(int *)user;
}

TEST(refusals_and_warnings)
{
    toy t = make_toy(RANDOM, N, 1, true);
    okra_store_ *store = NULL;
    const char *cov[] = {"operator", "cov", NULL};
    const char *tube[] = {"tube", "0.1", NULL};
    const char *delta[] = {"loss", "epsilon", "delta", "0.1", NULL};
    const char *matrix[] = {"operator", "matrix:x.npy", NULL};
    CHECK_FAILS(fit("margin", &t, N, true, cov, &store), OKRA_EUNSUPPORTED,
                "operator cov");
    CHECK_FAILS(fit("margin", &t, N, true, tube, &store), OKRA_EARG, "loss epsilon");
    CHECK_FAILS(fit("margin", &t, N, true, delta, &store), OKRA_EARG, "loss huber");
    CHECK_FAILS(fit("margin", &t, N, false, matrix, &store), OKRA_EUNSUPPORTED,
                "explicit features");
    CHECK_FAILS(fit("margin", &t, LABELLED, true, NULL, &store), OKRA_ESHAPE,
                "9 inputs and 5 outputs");
    toy none = t;
    none.n = 0;
    CHECK_FAILS(fit("margin", &none, 0, true, NULL, &store), OKRA_ESHAPE, "no training");
    /* A gap that no arithmetic reaches is a warning, not a failure. */
    const char *strict[] = {"tolerance", "1e-300", "lambda", "0.001", NULL};
    okra_options *o = options_of("margin", strict);
    okra_context *context = NULL;
    int warnings = 0;
    CHECK_OK(okra_context_create(&context));
    okra_context_set_warning(context, count_warning, &warnings);
    okra_problem_ p = problem_of(&t, true);
    CHECK_OK(okra_store_create_(&store));
    CHECK_OK(okra_method_fit_(context, method("margin"), &p, o, store));
    CHECK(warnings == (number(store, "converged") == 0));
    okra_store_free_(store);
    okra_options_free(o);
    okra_context_free(context);
    for (int k = 0; k < 3; k++) {
        static const char *const losses[] = {"hinge", "epsilon", "huber"};
        const char *pairs[] = {"loss", losses[k], "lambda2", "0.5", NULL};
        o = options_of("margin", pairs);
        CHECK_ALLOCATIONS(fit_with("margin", &t, LABELLED, k < 2, o, &store),
                          okra_store_free_(store));
        okra_options_free(o);
    }
    unlink(operator_file);
}

int main(void)
{
    name_operator();
    const harness_test tests[] = {RUN(hinge_meets_the_conditions_of_optimality),
                                  RUN(hinge_equals_the_reference),
                                  RUN(hinge_with_a_matrix_operator),
                                  RUN(limits),
                                  RUN(a_path_agrees_with_single_fits),
                                  RUN(refusals_and_warnings)};
    return harness_main(tests, sizeof tests / sizeof *tests);
}
