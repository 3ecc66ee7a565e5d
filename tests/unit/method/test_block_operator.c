/*
 * Operators given as functions against the nd x nd system written out and eliminated:
 * factored, by conjugate gradients on blocks, and on products alone.
 */
#include "naive.h"
#include "okra/model.h"
#include "okra/more/operator.h"

/* Ten times the worst relative error of 1,800 systems, which was 1.6e-11 (factored) and
 * 2.9e-11 (conjugate gradients to a residual of 1e-13). */
static const double DENSE = 1.6e-10, CG = 3e-10;
enum { P = 2, XLD = P + 1 };
static const double LAMBDA = 0.05;

typedef struct task {
    int shape; /* SUM: two widths with a matrix each; FACTORS: F(x) F(x')', of rank R */
    okra_int n;
    double X[N * XLD], Y[N * LD], Q[M * XLD], A[2][D * D];
    okra_data *x, *y, *q;
    int calls, fail_at;
} task;
enum { SUM, FACTORS, DOUBLED, KINDS, R = 2 };

static void features(const double *x, double *F) /* D x R, blocks are not symmetric */
{
    for (int i = 0; i < D * R; i++) {
        F[i] = sin(x[0] * (i + 1)) + x[1] * (i % R) + 0.2 * i;
    }
}

static okra_status block(void *user, const okra_data *a, okra_int i, const okra_data *b,
                         okra_int j, double *out)
{
    const task *t = user;
    okra_int la, lb;
    const double *u = okra_data_values(a, &la) + i * la;
    const double *v = okra_data_values(b, &lb) + j * lb;
    double F[D * R], G[D * R], d2 = 0;
    features(u, F);
    features(v, G);
    for (int p = 0; p < P; p++) {
        d2 += (u[p] - v[p]) * (u[p] - v[p]);
    }
    for (int r = 0; r < D * D; r++) {
        out[r] = t->shape == FACTORS
                     ? inner(R, F + r / D * R, G + r % D * R)
                     : exp(-d2) * t->A[0][r] + exp(-0.1 * d2) * t->A[1][r];
    }
    return OKRA_OK;
}

static okra_status apply(void *user, const okra_data *a, okra_int first, okra_int m,
                         const okra_data *b, const double *v, double *out)
{
    task *t = user;
    double B[D * D];
    if (t->fail_at >= 0 && t->calls++ == t->fail_at) {
        return okra_fail(OKRA_EIO, "the user's own failure");
    }
    for (okra_int i = 0; i < m; i++) {
        for (int r = 0; r < D; r++) {
            out[i * D + r] = 0;
        }
        for (okra_int j = 0; j < okra_data_count(b); j++) {
            if (block(user, a, first + i, b, j, B) == OKRA_OK) {
                for (int r = 0; r < D; r++) {
                    out[i * D + r] += inner(D, B + r * D, v + j * D);
                }
            }
        }
    }
    return OKRA_OK;
}

static void make(task *t, int shape, okra_int n, uint64_t seed)
{
    double G[D * D];
    okra_random_ r = okra_random_create_(seed, (uint64_t)shape);
    *t = (task){.shape = shape, .n = n, .fail_at = -1};
    harness_normals(&r, n * XLD, t->X);
    harness_normals(&r, n * LD, t->Y);
    harness_normals(&r, M * XLD, t->Q);
    for (int k = 0; k < 2; k++) {
        harness_normals(&r, D * D, G);
        for (int i = 0; i < D * D; i++) {
            t->A[k][i] = inner(D, G + i / D * D, G + i % D * D);
        }
    }
    for (okra_int i = n / 2; shape == DOUBLED && i < n; i++) {
        memcpy(t->X + i * XLD, t->X + (i - n / 2) * XLD, sizeof(double) * XLD);
    }
    CHECK_OK(okra_data_dense(t->X, n, P, XLD, &t->x));
    CHECK_OK(okra_data_dense(t->Y, n, D, LD, &t->y));
    CHECK_OK(okra_data_dense(t->Q, M, P, XLD, &t->q));
}

static void clear(task *t)
{
    okra_data_free(t->x);
    okra_data_free(t->y);
    okra_data_free(t->q);
}

static void naive(task *t, double *H)
{
    static double S[N * D * N * D];
    double c[N * D], B[D * D];
    okra_int n = t->n;
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            CHECK_OK(block(t, t->x, i, t->x, j, B));
            for (int r = 0; r < D * D; r++) {
                okra_int row = i * D + r / D, col = j * D + r % D;
                S[row * n * D + col] = B[r] + (row == col ? LAMBDA : 0);
            }
        }
        memcpy(c + i * D, t->Y + i * LD, sizeof(double) * D);
    }
    eliminate(n * D, S, 1, c);
    CHECK_OK(apply(t, t->q, 0, M, t->x, c, H));
}

TEST(solutions_equal_the_full_system)
{
    static const okra_int sizes[] = {1, 2, N};
    for (int k = 0; k < KINDS * 3 * 4; k++) {
        task t;
        double C[N * D], H[M * D], want[M * D];
        int rest = k, kind = pick(&rest, KINDS);
        make(&t, kind, sizes[pick(&rest, 3)], (uint64_t)k);
        naive(&t, want);
        okra_operator ways[] = {{D, block, NULL, &t},
                                {D, block, NULL, &t},
                                {D, block, apply, &t},
                                {D, NULL, apply, &t}};
        for (int w = 0; w < 4; w++) {
            okra_operator_settings o = {OKRA_SIZED(okra_operator_settings)};
            okra_operator_report report;
            o.lambda = LAMBDA;
            o.tolerance = 1e-13;
            o.dense = w == 0 ? 2048 : -1;
            CHECK_OK(okra_operator_fit(NULL, &ways[w], t.x, t.y, &o, C, &report));
            CHECK(report.dense == (w == 0) && report.bytes > 0);
            CHECK((report.iterations == 0) == report.dense);
            CHECK(report.residual <= 2e-12);
            CHECK_OK(okra_operator_predict(NULL, &ways[w], t.x, C, t.q, H));
            CHECK_NEAR(harness_relative(M * D, H, want), 0, w ? CG : DENSE);
        }
        clear(&t);
    }
}

/* The preconditioner is the whole system when there is one pair. */
TEST(one_pair_takes_one_step)
{
    task t;
    double C[D];
    okra_operator_report report;
    okra_operator_settings o = {OKRA_SIZED(okra_operator_settings)};
    o.dense = -1;
    make(&t, SUM, 1, 3);
    okra_operator K = {D, block, NULL, &t};
    CHECK_OK(okra_operator_fit(NULL, &K, t.x, t.y, &o, C, &report));
    CHECK(report.iterations == 1);
    clear(&t);
}

/* k(x,x') A is the matrix operator of ridge. */
static okra_status separable(void *user, const okra_data *a, okra_int i,
                             const okra_data *b, okra_int j, double *out)
{
    okra_int la, lb;
    const double *u = okra_data_values(a, &la) + i * la;
    const double *v = okra_data_values(b, &lb) + j * lb;
    (void)user;
    for (int r = 0; r < D * D; r++) {
        out[r] = r % (D + 1) == 0 ? inner(P, u, v) : 0;
    }
    return OKRA_OK;
}

TEST(a_separable_operator_is_ridge)
{
    task t;
    double C[N * D], H[M * D];
    okra_int rows, cols;
    make(&t, SUM, N, 1);
    okra_operator K = {D, separable, NULL, NULL};
    CHECK_OK(okra_operator_fit(NULL, &K, t.x, t.y, NULL, C, NULL));
    CHECK_OK(okra_operator_predict(NULL, &K, t.x, C, t.q, H));
    okra_model *model = NULL;
    okra_prediction *p = NULL;
    okra_predict_request request = {OKRA_SIZED(okra_predict_request), .embedding = true};
    CHECK_OK(okra_fit(NULL, t.x, t.y, NULL, &model));
    CHECK_OK(okra_predict(NULL, model, t.q, NULL, &request, &p));
    const double *want = okra_prediction_embedding(p, &rows, &cols);
    CHECK_NEAR(harness_relative(M * D, H, want), 0, 1e-12);
    okra_prediction_free(p);
    okra_model_free(model);
    clear(&t);
}

static okra_status lopsided(void *user, const okra_data *a, okra_int i,
                            const okra_data *b, okra_int j, double *out)
{
    okra_status st = block(user, a, i, b, j, out);
    out[1] += i == j ? 1 : 0;
    return st;
}

static okra_status negative(void *user, const okra_data *a, okra_int first, okra_int m,
                            const okra_data *b, const double *v, double *out)
{
    okra_status st = apply(user, a, first, m, b, v, out);
    for (okra_int i = 0; i < m * D; i++) {
        out[i] = -out[i];
    }
    return st;
}

static int warnings;
static void count_warning(void *user, const char *text)
{
    (void)user;
    warnings += strstr(text, "conjugate gradients stopped after 1 steps") != NULL;
}

TEST(what_is_wrong_is_said)
{
    task t;
    double C[N * D], before[N * D];
    okra_operator_report report;
    okra_operator_settings o = {OKRA_SIZED(okra_operator_settings)};
    okra_context *ctx = NULL;
    make(&t, SUM, N, 2);
    memset(C, 7, sizeof C);
    memcpy(before, C, sizeof C);
    okra_operator K = {D, lopsided, NULL, &t};
    CHECK_FAILS(okra_operator_fit(NULL, &K, t.x, t.y, NULL, C, NULL), OKRA_EARG,
                "element (1, 0) of K(x_0, x_0)");
    K = (okra_operator){D, NULL, negative, &t};
    CHECK_FAILS(okra_operator_fit(NULL, &K, t.x, t.y, NULL, C, NULL), OKRA_ENUMERIC,
                "not positive semi-definite");
    K = (okra_operator){D, NULL, NULL, &t};
    CHECK_FAILS(okra_operator_fit(NULL, &K, t.x, t.y, NULL, C, NULL), OKRA_EARG,
                "both functions are NULL");
    CHECK_FAILS(okra_operator_predict(NULL, &K, t.x, C, t.q, C), OKRA_EARG, "NULL");
    K = (okra_operator){0, block, NULL, &t};
    CHECK_FAILS(okra_operator_fit(NULL, &K, t.x, t.y, NULL, C, NULL), OKRA_EARG,
                "d is 0");
    K = (okra_operator){D + 1, block, NULL, &t};
    CHECK_FAILS(okra_operator_fit(NULL, &K, t.x, t.y, NULL, C, NULL), OKRA_ESHAPE,
                "expected 9 dense vectors of length 4");
    K = (okra_operator){D, block, NULL, &t};
    CHECK_FAILS(okra_operator_fit(NULL, &K, t.q, t.y, NULL, C, NULL), OKRA_ESHAPE,
                "expected 5 dense vectors");
    CHECK_FAILS(okra_operator_fit(NULL, NULL, t.x, t.y, NULL, C, NULL), OKRA_EARG,
                "K is NULL");
    o.lambda = -1;
    CHECK_FAILS(okra_operator_fit(NULL, &K, t.x, t.y, &o, C, NULL), OKRA_EARG,
                "lambda is -1");
    /* The user's own failure comes through, in the second product too. */
    for (t.fail_at = 0; t.fail_at < 2; t.fail_at++) {
        t.calls = 0;
        K = (okra_operator){D, NULL, apply, &t};
        CHECK_FAILS(okra_operator_fit(NULL, &K, t.x, t.y, NULL, C, NULL), OKRA_EIO,
                    "the user's own failure");
    }
    CHECK(memcmp(C, before, sizeof C) == 0);
    t.fail_at = -1;
    CHECK_OK(okra_context_create(&ctx));
    okra_context_set_warning(ctx, count_warning, NULL);
    o = (okra_operator_settings){OKRA_SIZED(okra_operator_settings)};
    o.iterations = 1;
    o.dense = -1;
    CHECK_OK(okra_operator_fit(ctx, &K, t.x, t.y, &o, C, &report));
    CHECK(report.iterations == 1 && report.residual > 1e-10 && warnings == 1);
    CHECK_OK(okra_context_set_memory(ctx, okra_account_bytes_(ctx) + 4000));
    K.block = block;
    o.dense = 2048;
    CHECK_FAILS(okra_operator_fit(ctx, &K, t.x, t.y, &o, C, NULL), OKRA_EBUDGET,
                "the operator's Gram matrix");
    okra_context_cancel(ctx);
    okra_context_free(ctx);
    clear(&t);
}

/* Rows are summed in order whoever sums them. */
TEST(threads_do_not_change_the_bits)
{
    task t;
    double C[2][N * D];
    make(&t, SUM, N, 4);
    okra_operator K = {D, block, NULL, &t};
    for (int k = 0; k < 2; k++) {
        okra_context *ctx = NULL;
        okra_operator_settings o = {OKRA_SIZED(okra_operator_settings)};
        o.dense = -1;
        CHECK_OK(okra_context_create(&ctx));
        CHECK_OK(okra_context_set_threads(ctx, k + 1));
        CHECK_OK(okra_operator_fit(ctx, &K, t.x, t.y, &o, C[k], NULL));
        okra_context_free(ctx);
    }
    CHECK(memcmp(C[0], C[1], sizeof C[0]) == 0);
    clear(&t);
}

TEST(failing_allocations)
{
    task t;
    double C[N * D], H[M * D];
    make(&t, SUM, 3, 5);
    okra_operator K = {D, block, NULL, &t};
    okra_operator_settings o = {OKRA_SIZED(okra_operator_settings)};
    for (o.dense = -1; o.dense < 100; o.dense += 60) {
        CHECK_ALLOCATIONS(okra_operator_fit(NULL, &K, t.x, t.y, &o, C, NULL), (void)0);
    }
    CHECK_ALLOCATIONS(okra_operator_predict(NULL, &K, t.x, C, t.q, H), (void)0);
    clear(&t);
}

MAIN(RUN(solutions_equal_the_full_system), RUN(one_pair_takes_one_step),
     RUN(a_separable_operator_is_ridge), RUN(what_is_wrong_is_said),
     RUN(threads_do_not_change_the_bits), RUN(failing_allocations))
