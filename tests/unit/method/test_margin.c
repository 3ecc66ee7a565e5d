/*
 * Margin: the hinge dual against a slow reference on a quadratic form written out in
 * full, conditions of optimality, limits that are known, and the robust losses by the
 * value of the primal, which no perturbation may lower.
 */
#include "method/smoothness/graph.h"
#include "naive.h"

#include <unistd.h>

enum { LABELLED = 5, SEEDS = 12 };
static char operator_file[64], operator_text[80];

static const okra_method_ *method(const char *name)
{
    return okra_method_find_(name);
}

static okra_options *options_of(const char *name, const char *const *pairs)
{
    const okra_option_table *table = &method(name)->options;
    okra_options *o = NULL;
    CHECK_OK(okra_options_create(&table, 1, &o));
    for (; pairs && *pairs; pairs += 2) {
        CHECK_OK(okra_options_set(o, pairs[0], pairs[1]));
    }
    return o;
}

static okra_status fit_with(const char *name, const toy *t, okra_int n, bool features,
                            const okra_options *o, okra_bag_ **bag)
{
    okra_status st = OKRA_OK;
    okra_problem_ p = problem_of(t, features);
    okra_bag_ *b = NULL;
    p.n = n;
    p.unlabelled = t->n - n;
    p.given_L_ld = t->n;
    TRY(okra_bag_create_(&b));
    TRY(okra_method_fit_(NULL, method(name), &p, o, b));
    *bag = b;
    b = NULL;
done:
    okra_bag_free_(b);
    return st;
}

static okra_status fit(const char *name, const toy *t, okra_int n, bool features,
                       const char *const *pairs, okra_bag_ **bag)
{
    okra_options *o = options_of(name, pairs);
    okra_status st = fit_with(name, t, n, features, o, bag);
    okra_options_free(o);
    return st;
}

/* Of rows of k(., train): m x t->n. */
static void predict(const char *name, const toy *t, const double *rows, okra_int m,
                    okra_int n, const okra_bag_ *bag, bool embed, okra_int cols,
                    double *out)
{
    double Kx[N * N];
    memcpy(Kx, rows, (size_t)(m * t->n) * sizeof *rows);
    okra_query_ q = {.m = m, .n = n, .Kx = okra_mat_of_(Kx, m, t->n)};
    CHECK_OK((embed ? method(name)->embed
                    : method(name)->predict)(NULL, bag, &q, okra_mat_of_(out, m, cols)));
}

static double number(const okra_bag_ *bag, const char *name)
{
    double value = NAN;
    CHECK(okra_bag_get_number_(bag, name, &value));
    return value;
}

/* X = (lambda I + 2 lambda2 g M K)^-1 J' (N x n), S = J K X (n x n). */
static void naive_deformed(const toy *t, okra_int n, const char *graph, double lambda,
                           double lambda2, double g, double *X, double *S)
{
    double P[N * N], A[N * N], eye[N * N];
    okra_int all = t->n;
    okra_graph_ *made = NULL;
    identity(all, eye);
    memset(P, 0, sizeof P);
    if (graph) {
        CHECK_OK(
            okra_graph_create_(NULL, graph, okra_mat_view_(t->K, all, all, all), &made));
        CHECK_OK(okra_graph_apply_(NULL, made, okra_mat_of_(eye, all, all),
                                   okra_mat_of_(P, all, all)));
        okra_graph_free_(made);
    }
    times(all, all, all, P, t->K, A);
    for (okra_int i = 0; i < all * all; i++) {
        A[i] = 2 * lambda2 * g * A[i] + lambda * eye[i];
    }
    for (okra_int i = 0; i < all * n; i++) {
        X[i] = i / n == i % n;
    }
    eliminate(all, A, n, X);
    times(n, all, n, t->K, X, S);
}

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

static void write_operator(const double *A)
{
    FILE *f = fopen(operator_file, "w");
    for (okra_int i = 0; f && i < D * D; i++) {
        fprintf(f, "%.17g%c", A[i], i % D == D - 1 ? '\n' : ',');
    }
    CHECK(f && fclose(f) == 0);
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
            okra_bag_ *bag = NULL;
            CHECK_OK(fit("margin", &t, n, false, pairs, &bag));
            const double *scale = okra_bag_get_(bag, "scale", &rows, &cols);
            CHECK(rows == 1 && cols == n);
            for (okra_int i = 0; i < n * n; i++) {
                Q[i] = t.L[i] * t.K[i] / 0.1;
                a[i / n] = scale[i / n] * 0.1;
            }
            CHECK_NEAR(qp_gap(n, Q, a, &kkt), 0, 1e-8);
            CHECK(kkt < 1e-5); /* the gap is quadratic in it */
            CHECK(number(bag, "gap") < 1e-8 && number(bag, "converged") == 1);
            okra_bag_free_(bag);
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
            okra_bag_ *bag = NULL;
            CHECK_OK(fit("margin", &t, n, true, graphs[k] ? semi : plain, &bag));
            CHECK(method("margin")->form(bag) == OKRA_FORM_WEIGHTS);
            predict("margin", &t, t.Kx, M, n, bag, false, n, got);
            times(M, t.n, n, t.Kx, X, want);
            for (okra_int i = 0; i < M * n; i++) {
                want[i] *= a[i % n] / 2;
            }
            CHECK_NEAR(harness_relative(M * n, got, want), 0, 1e-13); /* worst 9.2e-15 */
            double H[M * D], W[M * D];
            predict("margin", &t, t.Kx, M, n, bag, true, D, H);
            for (okra_int i = 0; i < M * D; i++) {
                W[i] = 0;
                for (okra_int j = 0; j < n; j++) {
                    W[i] += got[i / D * n + j] * t.Y[j * LD + i % D];
                }
            }
            CHECK_NEAR(harness_relative(M * D, H, W), 0, 1e-13);
            okra_bag_free_(bag);
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
            okra_bag_ *bag = NULL;
            CHECK_OK(fit("margin", &t, n, true, semi ? with : without, &bag));
            CHECK(method("margin")->form(bag) == OKRA_FORM_EMBEDDING);
            predict("margin", &t, t.Kx, M, n, bag, false, D, got);
            CHECK_NEAR(harness_relative(M * D, got, want), 0, 6e-13); /* worst 5.3e-14 */
            okra_bag_free_(bag);
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
        okra_bag_ *bag = NULL;
        CHECK_OK(fit("margin", &part, LABELLED, true, plain, &bag));
        predict("margin", &part, part.Kx, M, LABELLED, bag, true, D, want);
        okra_bag_free_(bag);
        for (int k = 0; k < 3; k++) {
            const toy *on = k == 0 ? &part : &t;
            CHECK_OK(fit("margin", on, LABELLED, true, others[k], &bag));
            predict("margin", on, on->Kx, M, LABELLED, bag, true, D, got);
            CHECK_NEAR(harness_relative(M * D, got, want), 0, 6e-6); /* worst 5.2e-7 */
            okra_bag_free_(bag);
        }
    }
}

/* Huber with a large delta is ridge, also without explicit features. */
TEST(huber_becomes_ridge)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        toy t = make_toy((int)(seed % SHAPES), N, seed, seed % 2);
        double got[M * N], want[M * N];
        const char *huber[] = {"loss",      "huber", "delta", "1e6",
                               "tolerance", "1e-14", NULL};
        okra_bag_ *a = NULL, *b = NULL;
        CHECK_OK(fit("margin", &t, N, false, huber, &a));
        CHECK_OK(fit("ridge", &t, N, false, NULL, &b));
        predict("margin", &t, t.Kx, M, N, a, false, N, got);
        predict("ridge", &t, t.Kx, M, N, b, false, N, want);
        CHECK_NEAR(harness_relative(M * N, got, want), 0, 1e-13); /* worst 8.3e-15 */
        okra_bag_free_(a);
        okra_bag_free_(b);
    }
}

/* sum L(|y_i - h(x_i)|) + lambda |h|^2 of h(x) = sum_i (B k_x)_i y_i, written out: |h|^2
 * = sum_ij L_ij (B K B')_ij. */
static double primal(const toy *t, const double *B, bool huber, double width,
                     double lambda)
{
    double KB[N * N], BKB[N * N], value = 0; /* KB = K B' */
    okra_int n = t->n;
    for (okra_int i = 0; i < n * n; i++) {
        KB[i] = inner(n, t->K + i / n * n, B + i % n * n);
    }
    times(n, n, n, B, KB, BKB);
    for (okra_int i = 0; i < n; i++) {
        double e[N], r2 = 0; /* e: coefficients of y_i - h(x_i) */
        for (okra_int j = 0; j < n; j++) {
            e[j] = (i == j) - KB[i * n + j];
        }
        for (okra_int j = 0; j < n * n; j++) {
            r2 += e[j / n] * e[j % n] * t->L[j];
        }
        double r = sqrt(fmax(r2, 0));
        value += !huber      ? fmax(0, r - width)
                 : r > width ? 2 * width * r - width * width
                             : r2;
    }
    return value + lambda * inner(n * n, t->L, BKB);
}

TEST(robust_losses_are_minimal)
{
    for (uint64_t seed = 0; seed < 2 * SEEDS; seed++) {
        bool huber = seed % 2;
        for (int s = 0; s < SHAPES; s++) {
            toy t = make_toy((int)s, seed % 5 == 0 ? 2 : N, seed, seed % 3 == 0);
            okra_int n = t.n, r = 0, c = 0;
            const char *width = seed % 4 < 2 ? "0.3" : huber ? "0.05" : "0";
            const char *pairs[] = {"loss", huber ? "huber" : "epsilon",
                                   huber ? "delta" : "tube", width, NULL};
            okra_bag_ *bag = NULL;
            double B[N * N], other[N * N];
            CHECK_OK(fit("margin", &t, n, false, pairs, &bag));
            const double *found = okra_bag_get_(bag, "B", &r, &c);
            CHECK(r == n && c == n);
            memcpy(B, found, (size_t)(n * n) * sizeof *B);
            double best = primal(&t, B, huber, atof(width), 0.1);
            /* The value is what the dual says, to the gap that was reported. */
            /* Interpolated outputs: the root of a rounded 0 is 1e-8 each, seen 4e-8. */
            double noise = atof(width) == 0 ? 4e-7 : 1e-10;
            CHECK_NEAR(best, number(bag, "dual"), 1e-8 * fmax(1, best) + noise);
            CHECK_NEAR(best - number(bag, "dual"), number(bag, "gap"), noise);
            CHECK(number(bag, "converged") == 1);
            okra_random_ random = okra_random_create_(seed, 9);
            for (int k = 0; k < 20; k++) {
                for (okra_int i = 0; i < n * n; i++) {
                    other[i] =
                        B[i] + (k % 2 ? 1e-2 : 1e-4) * okra_random_normal_(&random);
                }
                CHECK(primal(&t, other, huber, atof(width), 0.1) > best - 1e-8 - noise);
            }
            okra_bag_free_(bag);
        }
    }
}

/* With a general operator the solution is checked by its duality gap, which margin
 * measures from scratch, and by the matrix that only mixes equal coordinates. */
TEST(robust_losses_with_a_matrix_operator)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        okra_random_ r = okra_random_create_(seed, 6);
        double root[D * D], A[D * D];
        harness_normals(&r, D * D, root);
        for (okra_int i = 0; i < D * D; i++) {
            root[i] = seed % 2 && i >= D * (D - 1) ? 0 : root[i]; /* or singular */
        }
        for (okra_int i = 0; i < D * D; i++) {
            A[i] = inner(D, root + i / D * D, root + i % D * D);
        }
        write_operator(A);
        for (int k = 0; k < 4; k++) {
            toy t = make_toy(k % 2 ? DUPLICATED : RANDOM, N, seed, true);
            const char *pairs[] = {"loss",      k < 2 ? "huber" : "epsilon",
                                   "operator",  operator_text,
                                   "tolerance", "1e-9",
                                   "lambda2",   "0.3",
                                   NULL};
            okra_bag_ *bag = NULL;
            CHECK_OK(fit("margin", &t, LABELLED, true, pairs, &bag));
            CHECK(number(bag, "converged") == 1 && number(bag, "gap") > -1e-12);
            CHECK(number(bag, "gap") <= 1e-9 * fmax(1, number(bag, "dual")));
            okra_bag_free_(bag);
        }
        /* Huber with a large delta is ridge with the same operator. */
        toy t = make_toy(RANDOM, N, seed, true);
        double got[M * D], want[M * D];
        const char *huber[] = {"loss",      "huber", "delta",    "1e6",
                               "tolerance", "1e-13", "operator", operator_text,
                               "lambda2",   "0.3",   NULL};
        const char *ridge[] = {"operator", operator_text, "lambda2", "0.3", NULL};
        okra_bag_ *a = NULL, *b = NULL;
        CHECK_OK(fit("margin", &t, LABELLED, true, huber, &a));
        CHECK_OK(fit("ridge", &t, LABELLED, true, ridge, &b));
        predict("margin", &t, t.Kx, M, LABELLED, a, true, D, got);
        predict("ridge", &t, t.Kx, M, LABELLED, b, true, D, want);
        CHECK_NEAR(harness_relative(M * D, got, want), 0, 7e-6); /* worst 6.6e-7 */
        okra_bag_free_(a);
        okra_bag_free_(b);
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
        okra_bag_ *bags[3] = {0}, *one = NULL;
        for (int l = 0; l < 3; l++) {
            CHECK_OK(okra_bag_create_(&bags[l]));
        }
        CHECK_OK(method("margin")->path(NULL, &p, o, lambda, 3, bags));
        for (int l = 0; l < 3; l++) {
            double got[M * N], want[M * N];
            CHECK_OK(okra_options_set(o, "lambda", texts[l]));
            CHECK_OK(fit_with("margin", &t, N, true, o, &one));
            predict("margin", &t, t.Kx, M, N, bags[l], false, N, got);
            predict("margin", &t, t.Kx, M, N, one, false, N, want);
            CHECK_NEAR(harness_relative(M * N, got, want), 0, 2e-8); /* worst 1.1e-9 */
            okra_bag_free_(bags[l]);
            okra_bag_free_(one);
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
    okra_bag_ *bag = NULL;
    const char *cov[] = {"operator", "cov", NULL};
    const char *tube[] = {"tube", "0.1", NULL};
    const char *delta[] = {"loss", "epsilon", "delta", "0.1", NULL};
    const char *matrix[] = {"operator", "matrix:x.npy", NULL};
    CHECK_FAILS(fit("margin", &t, N, true, cov, &bag), OKRA_EUNSUPPORTED, "operator cov");
    CHECK_FAILS(fit("margin", &t, N, true, tube, &bag), OKRA_EARG, "loss epsilon");
    CHECK_FAILS(fit("margin", &t, N, true, delta, &bag), OKRA_EARG, "loss huber");
    CHECK_FAILS(fit("margin", &t, N, false, matrix, &bag), OKRA_EUNSUPPORTED,
                "explicit features");
    CHECK_FAILS(fit("margin", &t, LABELLED, true, NULL, &bag), OKRA_ESHAPE,
                "9 inputs and 5 outputs");
    toy none = t;
    none.n = 0;
    CHECK_FAILS(fit("margin", &none, 0, true, NULL, &bag), OKRA_ESHAPE, "no training");
    /* A gap that no arithmetic reaches is a warning, not a failure. */
    const char *strict[] = {"tolerance", "1e-300", "lambda", "0.001", NULL};
    okra_options *o = options_of("margin", strict);
    okra_context *context = NULL;
    int warnings = 0;
    CHECK_OK(okra_context_create(&context));
    okra_context_set_warning(context, count_warning, &warnings);
    okra_problem_ p = problem_of(&t, true);
    CHECK_OK(okra_bag_create_(&bag));
    CHECK_OK(okra_method_fit_(context, method("margin"), &p, o, bag));
    CHECK(warnings == (number(bag, "converged") == 0));
    okra_bag_free_(bag);
    okra_options_free(o);
    okra_context_free(context);
    for (int k = 0; k < 3; k++) {
        static const char *const losses[] = {"hinge", "epsilon", "huber"};
        const char *pairs[] = {"loss", losses[k], "lambda2", "0.5", NULL};
        o = options_of("margin", pairs);
        CHECK_ALLOCATIONS(fit_with("margin", &t, LABELLED, k < 2, o, &bag),
                          okra_bag_free_(bag));
        okra_options_free(o);
    }
    /* A model whose parts do not fit. */
    CHECK_OK(fit("margin", &t, N, true, NULL, &bag));
    double out[M * N];
    okra_query_ q = {.m = M, .n = 3, .Kx = okra_mat_of_(t.Kx, M, 3)};
    CHECK_FAILS(method("margin")->predict(NULL, bag, &q, okra_mat_of_(out, M, 3)),
                OKRA_EFORMAT, "'scale' has 9 values for 3");
    okra_bag_free_(bag);
    unlink(operator_file);
}

int main(void)
{
    snprintf(operator_file, sizeof operator_file, "margin-%d.csv", (int)getpid());
    snprintf(operator_text, sizeof operator_text, "matrix:%s", operator_file);
    const harness_test tests[] = {RUN(hinge_meets_the_conditions_of_optimality),
                                  RUN(hinge_equals_the_reference),
                                  RUN(hinge_with_a_matrix_operator),
                                  RUN(limits),
                                  RUN(huber_becomes_ridge),
                                  RUN(robust_losses_are_minimal),
                                  RUN(robust_losses_with_a_matrix_operator),
                                  RUN(a_path_agrees_with_single_fits),
                                  RUN(refusals_and_warnings)};
    return harness_main(tests, sizeof tests / sizeof *tests);
}
