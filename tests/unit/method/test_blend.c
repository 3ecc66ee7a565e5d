/*
 * The blend of ridge and trees: its weight against refits and a search.
 */
#include "eliminate.h"
#include "forest.h"

/* The prediction of ridge at x_i without the pair, by a system of n - 1 pairs. */
static void naive_ridge(const toy *t, okra_mat_ F, double lambda, bool center, okra_int i,
                        double *out)
{
    double A[N * N], w[N], sum = 0;
    okra_int at[N], m = 0;
    for (okra_int j = 0; j < t->n; j++) {
        if (j != i) {
            at[m++] = j;
        }
    }
    for (okra_int a = 0; a < m; a++) {
        w[a] = t->K[at[a] * t->n + i];
        for (okra_int b = 0; b < m; b++) {
            A[a * m + b] = t->K[at[a] * t->n + at[b]] + (a == b ? lambda : 0);
        }
    }
    eliminate(m, A, 1, w);
    for (okra_int a = 0; a < m; a++) {
        sum += w[a];
    }
    for (okra_int k = 0; k < F.cols; k++) {
        out[k] = 0;
        for (okra_int a = 0; a < m; a++) {
            double more = center ? (1 - sum) / (double)m : 0;
            out[k] += (w[a] + more) * F.p[at[a] * F.cols + k];
        }
    }
}

/* sum_i |f_i - (1 - a) r_i - a t_i|^2 - a^2 v_i (1/m_i - 1/T) */
static double risk(const toy *t, const unseen *z, const double *R, double a)
{
    double sum = 0;
    okra_mat_ F = z->judged.F;
    for (okra_int i = 0; i < t->n; i++) {
        for (okra_int k = 0; k < F.cols; k++) {
            double f = F.p[i * F.cols + k], tree = f + z->E[i * F.cols + k];
            sum += pow(f - (1 - a) * R[i * F.cols + k] - a * tree, 2);
        }
        sum -= a * a * z->noise[i] * (1 / z->count[i] - 1.0 / TREES);
    }
    return sum;
}

static double search(const toy *t, const unseen *z, const double *R)
{
    double low = 0, high = 1;
    while (high - low > 1e-9) { /* a parabola that opens upwards */
        double a = low + (high - low) / 3, b = high - (high - low) / 3;
        if (risk(t, z, R, a) <= risk(t, z, R, b)) {
            high = b;
        } else {
            low = a;
        }
    }
    return (low + high) / 2;
}

TEST(the_weight_is_that_of_a_search)
{
    okra_int inside = 0;
    for (int c = 0; c < SOME(60); c++) {
        static toy t;
        static unseen z;
        static double R[N * N], W[3][M * N];
        bool features = c % 2 == 0, center = c % 3 == 0;
        double lambda = pow(10, c % 5 - 3), a = -1;
        char text[32];
        okra_store_ *store = NULL;
        make(c % SHAPES, c < 8 ? 3 + c % 3 : N, (uint64_t)c, &t);
        snprintf(text, sizeof text, "%.17g", lambda);
        const char *const set[] = {"lambda", text, "center-output", center ? "yes" : "no",
                                   "trees",  "11", "parts",         "3",
                                   NULL};
        okra_problem_ p = problem_of(&t, features);
        CHECK_OK(okra_judged_create_(NULL, &p, &z.judged));
        CHECK_OK(fit(NULL, "blend", &t, features, set, &store));
        naive_unseen(&t, store, z.judged.F, &z);
        for (okra_int i = 0; i < t.n; i++) {
            naive_ridge(&t, z.judged.F, lambda, center, i, R + i * z.judged.F.cols);
        }
        CHECK(okra_store_get_number_(store, "blend", &a));
        CHECK_NEAR(a, search(&t, &z, R), 3e-7); /* of the search: worst 3e-8 */
        inside += a > 0 && a < 1;
        okra_query_ q = query_of(&t);
        double Kx[M * N];
        memcpy(Kx, t.Kx, sizeof Kx);
        CHECK_OK(okra_method_find_("blend")->predict(NULL, store, &q,
                                                     okra_mat_of_(W[0], M, t.n)));
        memcpy(t.Kx, Kx, sizeof Kx);
        CHECK_OK(okra_method_find_("ridge")->predict(NULL, store, &q,
                                                     okra_mat_of_(W[1], M, t.n)));
        CHECK_OK(okra_trees_weights_(NULL, store,
                                     okra_mat_view_(t.X + t.n * LD, M, P, LD),
                                     okra_mat_of_(W[2], M, t.n)));
        for (okra_int i = 0; i < M * t.n; i++) {
            CHECK_NEAR(W[0][i], (1 - a) * W[1][i] + a * W[2][i], 1e-14);
        }
        okra_judged_clear_(&z.judged);
        okra_store_free_(store);
        drop(&t);
    }
    CHECK(inside > 5 || SOME(60) < 60);
}

TEST(one_and_two_pairs_can_be_fitted)
{
    for (okra_int n = 1; n <= 2; n++) {
        static toy t;
        okra_store_ *store = NULL;
        const char *const set[] = {"lambda", "1", "center-output", "yes", NULL};
        double a = -1, W[M * N], sum = 0;
        make(PLAIN, n, 1, &t);
        CHECK_OK(fit(NULL, "blend", &t, true, set, &store));
        CHECK(okra_store_get_number_(store, "blend", &a) && a >= 0 && a <= 1);
        okra_query_ q = query_of(&t);
        CHECK_OK(
            okra_method_find_("blend")->predict(NULL, store, &q, okra_mat_of_(W, M, n)));
        for (okra_int i = 0; i < n; i++) {
            sum += W[i];
        }
        CHECK_NEAR(sum, 1, 1e-14);
        okra_store_free_(store);
        drop(&t);
    }
}

/* ---- left-out predictions for selection ---- */

typedef struct heard {
    double P[3][N * N];
    bool weights;
} heard;

static okra_status hear(okra_context *ctx, void *user, const okra_left_ *left_out)
{
    heard *h = user;
    okra_mat_ A = left_out->W.p ? left_out->W : left_out->H;
    (void)ctx;
    h->weights = left_out->W.p != NULL;
    return okra_mat_copy_(A, okra_mat_of_(h->P[left_out->lambda], A.rows, A.cols));
}

static okra_status leave(const toy *t, bool explicitly, const okra_int *part,
                         okra_int count, const double *lambda, size_t lambdas, heard *h)
{
    const okra_method_ *method = okra_method_find_("blend");
    FREED_BY(okra_options_drop_) okra_options *o = NULL;
    const okra_option_table *tables[] = {&method->options,
                                         &okra_method_find_("ridge")->options};
    okra_problem_ p = problem_of(t, true);
    okra_parts_ parts = {count, part};
    CHK(okra_options_create(tables, 2, &o));
    CHK(okra_options_set(o, "trees", "11"));
    return method->leave(NULL, &p, o, lambda, lambdas, &parts, explicitly, hear, h);
}

TEST(left_out_predictions_do_not_see_their_part)
{
    static toy t;
    static heard W, H, one;
    const double lambda[] = {0.01, 1, 10};
    okra_int part[N];
    make(PLAIN, N, 5, &t);
    for (okra_int i = 0; i < N; i++) {
        part[i] = i / 3;
    }
    for (int c = 0; c < 2; c++) {
        okra_int count = c ? N / 3 : N;
        CHECK_OK(leave(&t, false, c ? part : NULL, count, lambda, 3, &W));
        CHECK_OK(leave(&t, true, c ? part : NULL, count, lambda, 3, &H));
        CHECK(W.weights && !H.weights);
        for (int l = 0; l < 3; l++) {
            CHECK_OK(leave(&t, false, c ? part : NULL, count, lambda + l, 1, &one));
            for (okra_int i = 0; i < N; i++) {
                for (okra_int j = 0; j < N; j++) {
                    CHECK_NEAR(one.P[0][i * N + j], W.P[l][i * N + j], 1e-14);
                    if (c ? part[i] == part[j] : i == j) {
                        CHECK_NEAR(W.P[l][i * N + j], 0, 1e-14);
                    }
                }
                for (okra_int k = 0; k < D; k++) { /* the same in the space of outputs */
                    double sum = 0;
                    for (okra_int j = 0; j < N; j++) {
                        sum += W.P[l][i * N + j] * t.Y[j * D + k];
                    }
                    CHECK_NEAR(H.P[l][i * D + k], sum, 2e-14); /* worst 2e-15 */
                }
            }
        }
    }
    drop(&t);
}

/* ---- the rest ---- */

TEST(same_bits_for_any_number_of_threads)
{
    static toy t;
    static const char *const names[] = {"nodes", "roots", "items"};
    make(PLAIN, N, 1, &t);
    okra_store_ *store[2] = {NULL, NULL};
    for (int k = 0; k < 2; k++) {
        okra_context *ctx = NULL;
        const char *const set[] = {"lambda", "0.1", NULL};
        CHECK_OK(okra_context_create(&ctx));
        CHECK_OK(okra_context_set_threads(ctx, 1 + 2 * k));
        CHECK_OK(fit(ctx, "blend", &t, true, set, &store[k]));
        okra_context_free(ctx);
    }
    for (int k = 0; k < 3; k++) {
        okra_mat_ a = okra_store_mat_(store[0], names[k]),
                  b = okra_store_mat_(store[1], names[k]);
        CHECK(a.rows == b.rows && a.cols == b.cols);
        CHECK(!memcmp(a.p, b.p, (size_t)(a.rows * a.cols) * sizeof *a.p));
    }
    double a = -1, b = -2;
    okra_store_get_number_(store[0], "blend", &a);
    okra_store_get_number_(store[1], "blend", &b);
    CHECK(memcmp(&a, &b, sizeof a) == 0);
    okra_store_free_(store[0]);
    okra_store_free_(store[1]);
    drop(&t);
}

static okra_status predicted(toy *t, const okra_store_ *store)
{
    double W[M * N];
    okra_query_ q = query_of(t);
    return okra_method_find_("blend")->predict(NULL, store, &q, okra_mat_of_(W, M, t->n));
}

TEST(failing_allocations_are_survived)
{
    static toy t;
    static heard h;
    okra_store_ *store = NULL;
    const char *const set[] = {"lambda", "0.1", "trees", "3", "parts", "2", NULL};
    const double lambda = 0.1;
    make(PLAIN, 5, 1, &t);
    CHECK_ALLOCATIONS(fit(NULL, "blend", &t, true, set, &store), okra_store_free_(store));
    CHECK_ALLOCATIONS(fit(NULL, "blend", &t, false, set, &store),
                      okra_store_free_(store));
    CHECK_ALLOCATIONS(leave(&t, false, NULL, 5, &lambda, 1, &h), (void)0);
    CHECK_OK(fit(NULL, "blend", &t, true, set, &store));
    CHECK_ALLOCATIONS(predicted(&t, store), (void)0);
    okra_store_free_(store);
    drop(&t);
}

MAIN(RUN(the_weight_is_that_of_a_search), RUN(one_and_two_pairs_can_be_fitted),
     RUN(left_out_predictions_do_not_see_their_part),
     RUN(same_bits_for_any_number_of_threads), RUN(failing_allocations_are_survived))
