/*
 * The operator (1 - t) k(x,x') I + t diag(x o x') against its nd x nd system written out
 * in full, fitted and left out, on random, duplicated and rank-deficient inputs.
 */
#include "ridge.h"

/* Ten times the worst relative error over 100 seeds, every shape, size and t, which was
 * 1.1e-12 and 9.2e-13. */
static const double FITTED = 1e-11, LEFT = 9e-12;
static const double ts[] = {0, 0.3, 0.9, 1};
static const char *const t_texts[] = {"diagonal(t=0)", "diagonal(t=0.3)",
                                      "diagonal(t=0.9)", "diagonal(t=1)"};
static const okra_int SIZES[] = {1, 2, 3, N};
static const double LAMBDA = 0.05;
enum { SEEDS = 8, XLD = D + 1 };

/* A toy whose inputs have vectors of the outputs' length beside the kernel. */
typedef struct paired {
    toy t;
    double X[N * XLD], Q[M * XLD];
    okra_data *x, *q;
} paired;

static void make(int shape, okra_int n, uint64_t seed, paired *p)
{
    p->t = make_toy(shape, n, seed, true);
    okra_random_ r = okra_random_create_(seed, 77);
    harness_normals(&r, n * XLD, p->X);
    harness_normals(&r, M * XLD, p->Q);
    for (okra_int i = n / 2; shape == DUPLICATED && i < n; i++) {
        memcpy(p->X + i * XLD, p->X + (i - n / 2) * XLD, sizeof(double) * XLD);
    }
    for (okra_int i = 0; i < n; i++) { /* a coordinate without input */
        p->X[i * XLD + 1] *= seed % 3 != 0;
    }
    CHECK_OK(okra_data_dense(p->X, n, D, XLD, &p->x));
    CHECK_OK(okra_data_dense(p->Q, M, D, XLD, &p->q));
}

static void clear(paired *p)
{
    okra_data_free(p->x);
    okra_data_free(p->q);
}

/* H (m x d) at queries with Gram rows Kx (m x n) and vectors q, from the nd x nd system
 * of the pairs `in`; centred: y less the mean of those pairs, restored after. */
static void naive(const paired *p, const okra_int *in, okra_int n, double t, bool center,
                  okra_int m, const double *Kx, const double *q, double *H)
{
    static double S[N * D * N * D];
    double c[N * D], mean[D] = {0};
    okra_int all = p->t.n;
    for (okra_int i = 0; center && i < n * D; i++) {
        mean[i % D] += p->t.Y[in[i / D] * LD + i % D] / (double)n;
    }
    for (okra_int a = 0; a < n * D; a++) {
        for (okra_int b = 0; b < n * D; b++) {
            okra_int i = in[a / D], j = in[b / D], u = a % D, v = b % D;
            double k = u == v ? (1 - t) * p->t.K[i * all + j] +
                                    t * p->X[i * XLD + u] * p->X[j * XLD + u]
                              : 0;
            S[a * n * D + b] = k + (a == b ? LAMBDA : 0);
        }
        c[a] = p->t.Y[in[a / D] * LD + a % D] - mean[a % D];
    }
    eliminate(n * D, S, 1, c);
    for (okra_int r = 0; r < m; r++) {
        for (okra_int u = 0; u < D; u++) {
            H[r * D + u] = mean[u];
            for (okra_int i = 0; i < n; i++) {
                double k =
                    (1 - t) * Kx[r * n + i] + t * q[r * XLD + u] * p->X[in[i] * XLD + u];
                H[r * D + u] += k * c[i * D + u];
            }
        }
    }
}

static okra_problem_ problem_with(const paired *p)
{
    okra_problem_ problem = problem_of(&p->t, true);
    problem.x = p->x;
    return problem;
}

static okra_status fit_paired(const paired *p, const okra_options *o, okra_store_ **out)
{
    okra_status st = OKRA_OK;
    okra_problem_ problem = problem_with(p);
    okra_store_ *store = NULL;
    TRY(okra_store_create_(&store));
    TRY(okra_method_fit_(NULL, ridge(), &problem, o, store));
    *out = store;
    store = NULL;
done:
    okra_store_free_(store);
    return st;
}

static const okra_int everyone[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};

TEST(predictions_equal_the_full_system)
{
    double got[M * D], want[M * D], worst = 0;
    for (int c = 0; c < SHAPES * 4 * 4 * SEEDS; c++) {
        paired p;
        int rest = c, shape = pick(&rest, SHAPES);
        make(shape, SIZES[pick(&rest, 4)], (uint64_t)c, &p);
        int k = pick(&rest, 4);
        bool center = c % 2;
        const char *pairs[] = {"lambda",   "0.05",          "operator",
                               t_texts[k], "center-output", center ? "yes" : "no",
                               NULL};
        okra_options *o = options_of(pairs);
        okra_store_ *store = NULL;
        CHECK_OK(fit_paired(&p, o, &store));
        CHECK(ridge()->form(store) == OKRA_FORM_EMBEDDING && ridge()->width(store) == D);
        for (okra_int q = 0; q < M; q++) { /* one query at a time: first is not 0 */
            okra_query_ query = {.m = 1,
                                 .n = p.t.n,
                                 .Kx = okra_mat_of_(p.t.Kx + q * p.t.n, 1, p.t.n),
                                 .x = p.q,
                                 .first = q};
            CHECK_OK(
                ridge()->predict(NULL, store, &query, okra_mat_of_(got + q * D, 1, D)));
        }
        naive(&p, everyone, p.t.n, ts[k], center, M, p.t.Kx, p.Q, want);
        worst = fmax(worst, harness_relative(M * D, got, want));
        okra_store_free_(store);
        okra_options_free(o);
        clear(&p);
    }
    CHECK_NEAR(worst, 0, FITTED);
}

/* t = 0 is plain ridge. */
TEST(without_the_diagonal_it_is_identity_and_tensor_is_too)
{
    paired p;
    make(RANDOM, N, 5, &p);
    double H[3][M * D];
    const char *operators[] = {"diagonal(t=0)", "identity", "tensor"};
    for (int k = 0; k < 3; k++) {
        const char *pairs[] = {"operator", operators[k], NULL};
        okra_options *o = options_of(pairs);
        okra_store_ *store = NULL;
        CHECK_OK(fit_paired(&p, o, &store));
        okra_query_ query = {.m = M, .n = N, .Kx = okra_mat_of_(p.t.Kx, M, N), .x = p.q};
        CHECK_OK(ridge()->embed(NULL, store, &query, okra_mat_of_(H[k], M, D)));
        okra_store_free_(store);
        okra_options_free(o);
    }
    CHECK_NEAR(harness_relative(M * D, H[0], H[1]), 0, 1e-13);
    CHECK(memcmp(H[1], H[2], sizeof H[1]) == 0);
    clear(&p);
}

typedef struct kept {
    double H[2][N * D];
    int calls;
} kept;

static okra_status keep(okra_context *ctx, void *user, const okra_left_ *left)
{
    (void)ctx;
    kept *k = user;
    CHECK(left->W.p == NULL && (int)left->lambda == k->calls);
    CHECK_OK(okra_mat_copy_(left->H, okra_mat_of_(k->H[k->calls++], left->H.rows, D)));
    return OKRA_OK;
}

TEST(left_out_predictions_equal_models_without_the_pair)
{
    static const double lambdas[] = {3, 0.05};
    double want[N * D], worst = 0;
    for (int c = 0; c < SHAPES * 3 * 4 * SEEDS; c++) {
        paired p;
        int rest = c, shape = pick(&rest, SHAPES);
        make(shape, SIZES[1 + pick(&rest, 3)], (uint64_t)c, &p);
        okra_problem_ problem = problem_with(&p);
        int k = pick(&rest, 4);
        okra_int n = p.t.n;
        const char *pairs[] = {"operator", t_texts[k], "center-output",
                               c % 2 ? "yes" : "no", NULL};
        okra_options *o = options_of(pairs);
        okra_parts_ parts = {n, c % 5 ? NULL : everyone};
        kept got = {.calls = 0};
        CHECK_OK(ridge()->leave(NULL, &problem, o, lambdas, 2, &parts, true, keep, &got));
        CHECK(got.calls == 2);
        for (okra_int i = 0; i < n; i++) {
            okra_int in[N], count = 0;
            double Kx[N];
            for (okra_int j = 0; j < n; j++) {
                if (j != i) {
                    Kx[count] = p.t.K[i * n + j];
                    in[count++] = j;
                }
            }
            naive(&p, in, count, ts[k], c % 2, 1, Kx, p.X + i * XLD, want + i * D);
        }
        worst = fmax(worst, harness_relative(n * D, got.H[1], want));
        okra_options_free(o);
        clear(&p);
    }
    CHECK_NEAR(worst, 0, LEFT);
}

static void refused(paired *p, const char *const *pairs, okra_status status,
                    const char *text)
{
    okra_options *o = options_of(pairs);
    okra_store_ *store = NULL;
    CHECK_FAILS(fit_paired(p, o, &store), status, text);
    okra_options_free(o);
}

TEST(what_it_cannot_do_is_refused)
{
    static const char *const bad[] = {"diagonal", "diagonal(t=2)", "diagonal(t=)",
                                      "diagonal(t=0.5", "diagonal(s=0.5)"};
    static const okra_int two[] = {0, 0, 1};
    paired p;
    make(RANDOM, 3, 1, &p);
    for (int k = 0; k < 5; k++) {
        const char *pairs[] = {"operator", bad[k], NULL};
        refused(&p, pairs, OKRA_EARG, "expected diagonal(t=V) with 0 <= V <= 1");
    }
    const char *semi[] = {"operator", "diagonal(t=0.5)", "lambda2", "1", NULL};
    refused(&p, semi, OKRA_EUNSUPPORTED, "the operator is diagonal(t=0.5)");
    const char *pairs[] = {"operator", "diagonal(t=0.5)", NULL};
    okra_options *o = options_of(pairs);
    okra_store_ *store = NULL;
    okra_parts_ parts = {2, two};
    okra_problem_ problem = problem_with(&p);
    kept got = {.calls = 0};
    CHECK_FAILS(ridge()->leave(NULL, &problem, o, &LAMBDA, 1, &parts, true, keep, &got),
                OKRA_EUNSUPPORTED, "no closed form");
    CHECK_OK(fit_paired(&p, o, &store));
    okra_query_ query = {.m = 1, .n = 3, .Kx = okra_mat_of_(p.t.Kx, 1, 3)};
    double H[D];
    CHECK_FAILS(ridge()->predict(NULL, store, &query, okra_mat_of_(H, 1, D)), OKRA_ESHAPE,
                "dense vectors of length 3");
    okra_store_free_(store);
    okra_data_free(p.x);
    CHECK_OK(okra_data_dense(p.X, 3, 2, XLD, &p.x));
    refused(&p, pairs, OKRA_ESHAPE, "expected dense inputs of length 3, found 3 dense");
    p.t.Y[1] = NAN;
    refused(&p, pairs, OKRA_EUNSUPPORTED, "without missing values");
    okra_options_free(o);
    clear(&p);
}

TEST(failing_allocations)
{
    paired p;
    make(RANDOM, 3, 1, &p);
    const char *pairs[] = {"operator", "diagonal(t=0.5)", "center-output", "yes", NULL};
    okra_options *o = options_of(pairs);
    okra_store_ *store = NULL;
    okra_problem_ problem = problem_with(&p);
    okra_parts_ parts = {3, everyone};
    kept got;
    CHECK_ALLOCATIONS(fit_paired(&p, o, &store), okra_store_free_(store));
    CHECK_ALLOCATIONS((got.calls = 0, ridge()->leave(NULL, &problem, o, &LAMBDA, 1,
                                                     &parts, true, keep, &got)),
                      (void)0);
    okra_options_free(o);
    clear(&p);
}

MAIN(RUN(predictions_equal_the_full_system),
     RUN(without_the_diagonal_it_is_identity_and_tensor_is_too),
     RUN(left_out_predictions_equal_models_without_the_pair),
     RUN(what_it_cannot_do_is_refused), RUN(failing_allocations))
