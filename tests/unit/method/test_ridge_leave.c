/*
 * Left-out predictions of ridge in closed form against models fitted without the part,
 * whose systems are written out in full.
 */
#include "ridge.h"

static const double lambdas[] = {1e-3, 0.1, 10};
enum { COUNT = sizeof lambdas / sizeof *lambdas };

typedef struct kept {
    bool embedding;
    size_t calls;
    double values[COUNT][N * N], slack[COUNT][N];
    bool has_slack;
} kept;

static okra_status keep(okra_context *ctx, void *user, const okra_left_ *left)
{
    (void)ctx;
    kept *k = user;
    okra_mat_ from = left->H.p ? left->H : left->W;
    CHECK(left->lambda == k->calls && (left->H.p == NULL) != (left->W.p == NULL));
    k->embedding = left->H.p != NULL;
    CHECK_OK(
        okra_mat_copy_(from, okra_mat_of_(k->values[k->calls], from.rows, from.cols)));
    k->has_slack = left->slack != NULL;
    if (left->slack) {
        memcpy(k->slack[k->calls], left->slack, (size_t)from.rows * sizeof(double));
    }
    k->calls++;
    return OKRA_OK;
}

static okra_int part_of(const okra_parts_ *parts, okra_int i)
{
    return parts->part ? parts->part[i] : i;
}

/* The pairs outside part s; the inputs of the part become the queries, at most M. */
static toy without(const toy *t, const okra_parts_ *parts, okra_int s, okra_int *in,
                   okra_int *queries)
{
    toy u = {.d = t->d};
    okra_int n = 0, m = 0;
    for (okra_int i = 0; i < t->n; i++) {
        if (part_of(parts, i) == s) {
            queries[m++] = i;
        } else {
            in[n++] = i;
        }
    }
    u.n = n;
    u.m = m;
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            u.K[i * n + j] = t->K[in[i] * t->n + in[j]];
        }
        memcpy(u.Y + i * LD, t->Y + in[i] * LD, sizeof(double) * LD);
        for (okra_int q = 0; q < m; q++) {
            u.Kx[q * n + i] = t->K[queries[q] * t->n + in[i]];
        }
    }
    return u;
}

/* Of rank 2: eigenvalues 3, 1, 0 along the rows of E. */
static const double A[] = {2, 1, 0, 1, 2, 0, 0, 0, 0}, g[] = {3, 1, 0};
static const double E[] = {M_SQRT1_2, M_SQRT1_2, 0, M_SQRT1_2, -M_SQRT1_2, 0, 0, 0, 1};

/* H (m x d) of the matrix operator: a ridge with the kernel g_j k on each coordinate of
 * Y E'. Weights are solved for, since they stay small where coefficients cancel. */
static void naive_rotated(const toy *u, double lambda, bool center, double *H)
{
    memset(H, 0, (size_t)(u->m * u->d) * sizeof *H);
    for (okra_int e = 0; e < D; e++) {
        double B[N * N], W[M * N];
        toy v = *u;
        for (okra_int i = 0; i < u->n * u->n; i++) {
            v.K[i] *= g[e];
        }
        for (okra_int i = 0; i < u->m * u->n; i++) {
            v.Kx[i] *= g[e];
        }
        naive_identity(&v, lambda, B);
        naive_weights(&v, B, center, W);
        for (okra_int q = 0; q < u->m; q++) {
            double h = 0;
            for (okra_int i = 0; i < u->n; i++) {
                h += W[q * u->n + i] * inner(D, E + e * D, u->Y + i * LD);
            }
            for (okra_int j = 0; j < D; j++) {
                H[q * D + j] += h * E[e * D + j];
            }
        }
    }
}

/* Row i of `out`: weights over all n inputs, or the embedding, of the model without the
 * part of i. */
static void refit(const toy *t, const okra_parts_ *parts, bool matrix, double lambda,
                  bool center, bool embedding, double *out)
{
    for (okra_int s = 0; s < parts->count; s++) {
        okra_int in[N], queries[N], width = embedding ? t->d : t->n;
        double B[N * N], W[M * N], H[M * D];
        toy u = without(t, parts, s, in, queries);
        if (matrix) {
            naive_rotated(&u, lambda, center, H);
        } else {
            naive_identity(&u, lambda, B);
            naive_weights(&u, B, center, W);
        }
        for (okra_int q = 0; q < u.m; q++) {
            double *row = out + queries[q] * width;
            for (okra_int j = 0; j < width; j++) {
                row[j] = matrix ? H[q * D + j] : 0;
            }
            for (okra_int i = 0; !matrix && i < u.n; i++) {
                for (okra_int j = 0; embedding && j < width; j++) {
                    row[j] += W[q * u.n + i] * u.Y[i * LD + j];
                }
                if (!embedding) {
                    row[in[i]] = W[q * u.n + i];
                }
            }
        }
    }
}

static const okra_int thirds[] = {0, 1, 2, 0, 1, 2, 0, 2, 1}, pairs_of_two[] = {1, 0, 1};

static okra_parts_ split(int which, okra_int n)
{
    okra_parts_ one = {n, NULL}, three = {3, thirds}, two = {2, pairs_of_two};
    return which == 0 ? one : n == 3 ? two : three;
}

TEST(equals_refitting)
{
    static const okra_int sizes[] = {2, 3, N};
    char spec[80];
    double worst = 0;
    write_matrix("matrix:", D, D, A, spec, sizeof spec);
    for (int c = 0; c < 20 * SHAPES * 3 * 2 * 2 * 3; c++) {
        int rest = c;
        int s = rest % SHAPES, size = (rest /= SHAPES) % 3, center = (rest /= 3) % 2;
        int parted = (rest /= 2) % 2, form = (rest /= 2) % 3; /* W, H, matrix */
        okra_int n = sizes[size];
        if (parted && (n == 2 || form == 2)) {
            continue;
        }
        toy t = make_toy(s, n, (uint64_t)c, true);
        okra_parts_ parts = split(parted, n);
        const char *pairs[] = {"operator", form == 2 ? spec : "identity", "center-output",
                               center ? "yes" : "no", NULL};
        okra_options *o = options_of(pairs);
        okra_problem_ p = problem_of(&t, form > 0);
        kept k = {.calls = 0};
        CHECK_OK(
            ridge()->leave(NULL, &p, o, lambdas, COUNT, &parts, form == 1, keep, &k));
        CHECK(k.calls == COUNT && k.embedding == (form > 0));
        for (size_t l = 0; l < COUNT; l++) {
            double want[N * N];
            refit(&t, &parts, form == 2, lambdas[l], center, form > 0, want);
            double error = harness_relative(n * (form > 0 ? t.d : n), k.values[l], want);
            worst = error > worst || error != error ? error : worst;
        }
        okra_options_free(o);
    }
    remove(spec + strlen("matrix:"));
    /* ten times the worst of the cases above, 9.8e-12, at lambda = 1e-3 */
    CHECK_NEAR(worst, 0, 1e-10);
}

TEST(slack_is_one_minus_the_leverage)
{
    toy t = make_toy(RANDOM, N, 3, true);
    okra_parts_ parts = split(0, N);
    okra_options *o = options_of(NULL);
    for (int form = 0; form < 2; form++) {
        okra_problem_ p = problem_of(&t, true);
        kept k = {.calls = 0};
        CHECK_OK(ridge()->leave(NULL, &p, o, lambdas, COUNT, &parts, form, keep, &k));
        CHECK(k.has_slack);
        for (size_t l = 0; l < COUNT; l++) {
            double B[N * N], KB[N * N];
            naive_identity(&t, lambdas[l], B);
            times(N, N, N, t.K, B, KB);
            for (okra_int i = 0; i < N; i++) {
                /* measured 4e-13 */
                CHECK_NEAR(k.slack[l][i], 1 - KB[i * N + i], 4e-12);
            }
        }
    }
    okra_options_free(o);
}

/* K has negative eigenvalues, and with lambda no factor: they count as 0 in both forms.
 */
TEST(a_matrix_that_is_not_positive)
{
    toy t = make_toy(RANDOM, N, 4, true);
    okra_parts_ parts = split(0, N);
    okra_options *o = options_of(NULL);
    okra_problem_ p = problem_of(&t, true);
    kept weights = {.calls = 0}, features = {.calls = 0};
    for (okra_int i = 0; i < N; i++) {
        t.K[i * N + i] -= 1;
    }
    CHECK_OK(ridge()->leave(NULL, &p, o, lambdas, 2, &parts, false, keep, &weights));
    CHECK_OK(ridge()->leave(NULL, &p, o, lambdas, 2, &parts, true, keep, &features));
    CHECK(weights.calls == 2 && features.calls == 2);
    for (size_t l = 0; l < 2; l++) {
        double H[N * D] = {0};
        for (okra_int k = 0; k < N * N; k++) {
            for (okra_int j = 0; j < t.d; j++) {
                H[k / N * t.d + j] += weights.values[l][k] * t.Y[k % N * LD + j];
            }
        }
        CHECK_NEAR(harness_relative(N * t.d, features.values[l], H), 0, 1e-9);
    }
    okra_options_free(o);
}

/* Columns with lambda m_j are those of plain ridges with lambda m_j, parts too. */
TEST(outputs_with_lambdas_of_their_own)
{
    const double multiples[D] = {2, 0.25, 2};
    const okra_int folds[N] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
    for (int c = 0; c < 24; c++) {
        toy t = make_toy(c % SHAPES, N, (uint64_t)c, true);
        okra_problem_ p = problem_of(&t, true);
        const char *center = c % 2 ? "yes" : "no";
        okra_parts_ parts = {c % 4 < 2 ? 3 : N, c % 4 < 2 ? folds : NULL};
        kept own = {0};
        okra_options *o = options_of(
            (const char *[]){"output-lambda", "2,0.25,2", "center-output", center, NULL});
        okra_options *q = options_of((const char *[]){"center-output", center, NULL});
        CHECK_OK(ridge()->leave(NULL, &p, o, lambdas, COUNT, &parts, true, keep, &own));
        CHECK(own.calls == COUNT && own.embedding && !own.has_slack);
        for (okra_int j = 0; j < D; j++) {
            double some[COUNT];
            kept one = {0};
            for (int l = 0; l < COUNT; l++) {
                some[l] = lambdas[l] * multiples[j];
            }
            CHECK_OK(ridge()->leave(NULL, &p, q, some, COUNT, &parts, true, keep, &one));
            for (int k = 0; k < COUNT * N; k++) {
                okra_int at = k % N * D + j;
                CHECK_NEAR(own.values[k / N][at], one.values[k / N][at],
                           1e-10 * (1 + fabs(one.values[k / N][at])));
            }
        }
        okra_options_free(o);
        okra_options_free(q);
    }
}

TEST(what_has_no_closed_form)
{
    char spec[80];
    write_matrix("matrix:", D, D, A, spec, sizeof spec);
    const char *operators[] = {"cov", "ccov", spec};
    toy t = make_toy(RANDOM, N, 1, true);
    okra_problem_ p = problem_of(&t, true);
    okra_parts_ parts = split(1, N);
    for (int c = 0; c < 3; c++) {
        const char *pairs[] = {"operator", operators[c], NULL};
        okra_options *o = options_of(pairs);
        kept k = {.calls = 0};
        CHECK_FAILS(ridge()->leave(NULL, &p, o, lambdas, 1, &parts, true, keep, &k),
                    OKRA_EUNSUPPORTED, "no closed form");
        CHECK(k.calls == 0);
        okra_options_free(o);
    }
    remove(spec + strlen("matrix:"));
}

static okra_status stop(okra_context *ctx, void *user, const okra_left_ *left)
{
    (void)ctx, (void)user, (void)left;
    return okra_fail_(OKRA_ECANCELLED, "enough");
}

TEST(failures_are_clean)
{
    char spec[80];
    write_matrix("matrix:", D, D, A, spec, sizeof spec);
    toy t = make_toy(RANDOM, N, 1, true);
    okra_problem_ p = problem_of(&t, true);
    for (int form = 0; form < 3; form++) {
        const char *pairs[] = {"operator", form == 2 ? spec : "identity", "center-output",
                               "yes", NULL};
        okra_options *o = options_of(pairs);
        okra_parts_ parts = split(form < 2, N);
        kept k;
        CHECK_ALLOCATIONS((k.calls = 0, ridge()->leave(NULL, &p, o, lambdas, COUNT,
                                                       &parts, form == 1, keep, &k)),
                          (void)0);
        CHECK_FAILS(
            ridge()->leave(NULL, &p, o, lambdas, COUNT, &parts, form == 1, stop, NULL),
            OKRA_ECANCELLED, "enough");
        okra_options_free(o);
    }
    remove(spec + strlen("matrix:"));
}

MAIN(RUN(equals_refitting), RUN(slack_is_one_minus_the_leverage),
     RUN(outputs_with_lambdas_of_their_own), RUN(a_matrix_that_is_not_positive),
     RUN(what_has_no_closed_form), RUN(failures_are_clean))
