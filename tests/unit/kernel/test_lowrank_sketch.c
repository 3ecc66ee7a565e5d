/*
 * Sketches: products with a random matrix kept by its entries against naive sums over the
 * dense one.
 */
#include "kernel/gram/trained_kernel.h"
#include "kernel/lowrank/lowrank.h"
#include "kernel_data.h"

enum { N = 70, WIDE = 5 };

static okra_status draw(okra_int n, const char *text, uint64_t seed, okra_int **index,
                        okra_sketch_ **S)
{
    okra_low_ low;
    okra_random_ r = okra_random_create_(seed, 1);
    okra_status st = okra_low_parse_(text, &low);
    return st == OKRA_OK ? okra_sketch_draw_(NULL, &low, n, low.rank, &r, index, S) : st;
}

/* D (rows x cols) <- S */
static void fill(const okra_sketch_ *S, double *D)
{
    memset(D, 0, (size_t)(S->rows * S->cols) * sizeof *D);
    for (okra_int k = 0; k < S->rows; k++) {
        for (okra_int e = S->start ? S->start[k] : 0;
             e < (S->start ? S->start[k + 1] : S->cols); e++) {
            D[k * S->cols + (S->start ? S->column[e] : e)] +=
                S->value[S->start ? e : k * S->cols + e];
        }
    }
}

static const struct {
    okra_int n;
    const char *text;
} cases[] = {
    {N, "sketch(rank=9)"},     {N, "sketch(rank=9,p=0.05)"},        {N, "sketch(rank=1)"},
    {N, "sketch(rank=6,p=1)"}, {N, "sketch(rank=6,kind=gaussian)"}, {1, "sketch(rank=1)"},
    {2, "sketch(rank=2,p=1)"}, {1, "sketch(rank=1,kind=gaussian)"}};
enum { CASES = sizeof cases / sizeof *cases };

/* U = V S, U += V S with some rows of S, X = S A, all with rows farther apart than they
 * are wide. Ten times the worst over 100 seeds: 7.9e-16 relative. */
TEST(products_are_those_of_the_dense_matrix)
{
    enum { R = 33, LD = N + 3 };
    for (int c = 0; c < CASES * 10; c++) {
        double D[N * N], V[R * LD], U[R * LD], X[N * LD], want[N * LD];
        okra_int *index = NULL;
        okra_sketch_ *S = NULL;
        okra_random_ r = okra_random_create_((uint64_t)c, 2);
        CHECK_OK(
            draw(cases[c % CASES].n, cases[c % CASES].text, (uint64_t)c, &index, &S));
        if (!S) {
            continue;
        }
        okra_int b = S->rows, m = S->cols, first = b / 3, some = b - first;
        fill(S, D);
        harness_normals(&r, R * LD, V);
        harness_normals(&r, R * LD, U);
        memcpy(want, U, sizeof U);
        for (okra_int i = 0; i < R * m; i++) {
            for (okra_int k = 0; k < some; k++) {
                want[i / m * LD + i % m] +=
                    V[i / m * LD + k] * D[(first + k) * m + i % m];
            }
        }
        CHECK_OK(okra_sketch_right_(NULL, (okra_mat_){V, R, some, LD}, S, first, true,
                                    (okra_mat_){U, R, m, LD}));
        CHECK_NEAR(harness_relative(R * LD, U, want), 0, 8e-15);
        for (okra_int i = 0; i < R * m; i++) {
            want[i / m * LD + i % m] = 0;
            for (okra_int k = 0; k < b; k++) {
                want[i / m * LD + i % m] += V[i / m * LD + k] * D[k * m + i % m];
            }
        }
        CHECK_OK(okra_sketch_right_(NULL, (okra_mat_){V, R, b, LD}, S, 0, false,
                                    (okra_mat_){U, R, m, LD}));
        CHECK_NEAR(harness_relative(R * LD, U, want), 0, 8e-15);
        harness_normals(&r, N * LD, X);
        memcpy(want, X, sizeof X);
        for (okra_int i = 0; i < b * WIDE; i++) {
            want[i / WIDE * LD + i % WIDE] = 0;
            for (okra_int k = 0; k < m; k++) {
                want[i / WIDE * LD + i % WIDE] +=
                    D[i / WIDE * m + k] * V[k * LD + i % WIDE];
            }
        }
        CHECK_OK(okra_sketch_left_(NULL, S, (okra_mat_){V, m, WIDE, LD},
                                   (okra_mat_){X, b, WIDE, LD}));
        CHECK_NEAR(harness_relative(b * LD, X, want), 0, 8e-15);
        okra_free_(index);
        okra_sketch_free_(S);
    }
}

/* S'KS in blocks of one row and of many. Ten times the worst over 100 seeds: 6.9e-15. */
TEST(sketched_gram_is_that_of_the_dense_matrices)
{
    for (int c = 0; c < CASES * 10; c++) {
        double D[N * N], x[N * 3], K[N * N], G[N * N], want[N * N];
        okra_int *index = NULL;
        okra_sketch_ *S = NULL;
        okra_data *all = NULL, *data = NULL;
        okra_kernel *kernel = NULL;
        okra_trained_kernel_ *bound = NULL;
        okra_context *ctx = NULL;
        okra_random_ r = okra_random_create_((uint64_t)c, 2);
        harness_normals(&r, N * 3, x);
        CHECK_OK(
            draw(cases[c % CASES].n, cases[c % CASES].text, (uint64_t)c, &index, &S));
        CHECK_OK(okra_data_dense(x, N, 3, 3, &all));
        CHECK_OK(okra_data_take(all, index, S->rows, &data));
        CHECK_OK(okra_kernel_parse("rbf(sigma=1)", &kernel));
        CHECK_OK(okra_gram(NULL, kernel, data, NULL, K, S->rows));
        CHECK_OK(okra_trained_kernel_create_(NULL, kernel, data, &bound));
        CHECK_OK(okra_context_create(&ctx));
        okra_int b = S->rows, m = S->cols;
        if (c % 2) { /* a few rows at a time */
            CHECK_OK(okra_context_set_memory(ctx, okra_account_bytes_(ctx) +
                                                      8 * 7 * (b + 2 * m)));
        }
        fill(S, D);
        for (okra_int i = 0; i < m * m; i++) {
            want[i] = 0;
            for (okra_int k = 0; k < b * b; k++) {
                want[i] += D[k / b * m + i / m] * K[k] * D[k % b * m + i % m];
            }
        }
        CHECK_OK(okra_sketch_gram_(ctx, bound, S, okra_mat_of_(G, m, m)));
        CHECK_NEAR(harness_relative(m * m, G, want), 0, 7e-14);
        okra_context_free(ctx);
        okra_trained_kernel_free_(bound);
        okra_kernel_free(kernel);
        okra_data_free(data);
        okra_data_free(all);
        okra_free_(index);
        okra_sketch_free_(S);
    }
}

/* A sparse sketch takes the memory of its entries, not of 20 rank x rank numbers, and no
 * row of it is empty. */
TEST(memory_is_that_of_the_entries)
{
    enum { MANY = 20000, RANK = 200 };
    okra_int before = okra_alloc_live_bytes_(), *index = NULL;
    okra_sketch_ *S = NULL;
    CHECK_OK(draw(MANY, "sketch(rank=200)", 1, &index, &S));
    CHECK(S->rows > 15 * RANK && S->entries < 25 * RANK);
    CHECK(okra_alloc_live_bytes_() - before < 8 * (2 * S->entries + 2 * S->rows) + 4096);
    for (okra_int k = 0; k < S->rows; k++) {
        CHECK(S->start[k] < S->start[k + 1] && index[k] < MANY);
        CHECK(k == 0 || index[k - 1] < index[k]);
    }
    okra_free_(index);
    okra_sketch_free_(S);
}

TEST(threads_do_not_matter)
{
    enum { R = 200, M = 40 };
    okra_int *index = NULL;
    okra_sketch_ *S = NULL;
    okra_random_ r = okra_random_create_(3, 2);
    CHECK_OK(draw(N, "sketch(rank=40,p=0.1)", 1, &index, &S));
    double V[R * N], U[2][R * M], X[2][N * WIDE];
    harness_normals(&r, R * N, V);
    for (int t = 0; t < 2; t++) {
        okra_context *ctx = NULL;
        CHECK_OK(okra_context_create(&ctx));
        CHECK_OK(okra_context_set_threads(ctx, 1 + 2 * t));
        CHECK_OK(okra_sketch_right_(ctx, okra_mat_of_(V, R, S->rows), S, 0, false,
                                    okra_mat_of_(U[t], R, M)));
        CHECK_OK(okra_sketch_left_(ctx, S, okra_mat_of_(V, M, WIDE),
                                   okra_mat_of_(X[t], S->rows, WIDE)));
        okra_context_free(ctx);
    }
    CHECK(memcmp(U[0], U[1], sizeof U[0]) == 0);
    CHECK(memcmp(X[0], X[1], (size_t)(S->rows * WIDE) * sizeof(double)) == 0);
    okra_free_(index);
    okra_sketch_free_(S);
}

static void put(okra_store_ *store, const char *name, const double *values,
                okra_int count)
{
    if (values) {
        CHECK_OK(okra_store_put_copy_(store, name, values, 1, count));
    }
}

/* A basis of three objects seen through two combinations, and one thing wrong. */
TEST(broken_sketches_are_refused)
{
    static const double good_start[] = {0, 1, 2, 3}, good_column[] = {0, 1, 1},
                        good_value[] = {1, 2, 3};
    static const struct {
        const double start[4], column[3], value[3];
        okra_int starts, columns, values;
        const char *message;
    } bad[] = {
        {{0, 1, 2, 3},
         {0, 1, 1},
         {1, 2, 3},
         3,
         3,
         3,
         "'y.start' is 1 x 3, expected 1 x 4"},
        {{0, 1, 2, 3},
         {0, 1, 1},
         {1, 2, 3},
         4,
         2,
         3,
         "'y.column' is 1 x 2, expected 1 x 3"},
        {{0, 1, 2, 3}, {0, 1, 1}, {1, 2, 3}, 4, 0, 3, "not whole"},
        {{0, 1, 2, 3}, {0, 1, 1}, {1, 2, 3}, 4, 3, 0, "not whole"},
        {{0, 1, 2, 4}, {0, 1, 1}, {1, 2, 3}, 4, 3, 3, "'y.start' is or holds 4"},
        {{0, 1, 2, 2}, {0, 1, 1}, {1, 2, 3}, 4, 3, 3, "out of order"},
        {{1, 1, 2, 3}, {0, 1, 1}, {1, 2, 3}, 4, 3, 3, "out of order"},
        {{0, 2, 1, 3}, {0, 1, 1}, {1, 2, 3}, 4, 3, 3, "out of order"},
        {{0, 0.5, 2, 3}, {0, 1, 1}, {1, 2, 3}, 4, 3, 3, "'y.start' is or holds 0.5"},
        {{0, 1, 2, 3}, {0, 2, 1}, {1, 2, 3}, 4, 3, 3, "'y.column' is or holds 2"},
        {{0, 1, 2, 3}, {0, -1, 1}, {1, 2, 3}, 4, 3, 3, "'y.column' is or holds -1"},
        {{0, 1, 2, 3}, {0, NAN, 1}, {1, 2, 3}, 4, 3, 3, "'y.column' is or holds nan"},
        {{0, 1, 2, 3}, {0, 1, 1}, {1, NAN, 3}, 4, 3, 3, "'y.value'"},
        {{0, 1, 2, 3}, {0, 1, 1}, {1, INFINITY, 3}, 4, 3, 3, "'y.value'"}};
    enum { BAD = sizeof bad / sizeof *bad };
    const double x[] = {1, 2, 3}, basis[] = {0, 1, 2}, factor[] = {1, 0, 0, 1};
    okra_data *data = NULL;
    okra_kernel *kernel = NULL;
    CHECK_OK(okra_data_dense(x, 3, 1, 1, &data));
    CHECK_OK(okra_kernel_parse("linear", &kernel));
    for (int c = 0; c < BAD + 2; c++) {
        okra_store_ *store = NULL;
        okra_map_ *map = NULL;
        CHECK_OK(okra_store_create_(&store));
        CHECK_OK(okra_store_put_copy_(store, "y.basis", basis, 1, 3));
        CHECK_OK(okra_store_put_copy_(store, "y.factor", factor, 2, 2));
        if (c == BAD + 1) {
            put(store, "y.sketch", good_value, 3);
        } else if (c == BAD) {
            put(store, "y.start", good_start, 4);
            put(store, "y.column", good_column, 3);
            put(store, "y.value", good_value, 3);
        } else {
            put(store, "y.start", bad[c].start, bad[c].starts);
            put(store, "y.column", bad[c].columns ? bad[c].column : NULL, bad[c].columns);
            put(store, "y.value", bad[c].values ? bad[c].value : NULL, bad[c].values);
        }
        okra_int rank = 0;
        okra_status st =
            okra_map_check_kept_(kernel, data, 3, store, "y", &rank); /* as models are */
        st = st ? st : okra_map_load_(NULL, kernel, data, store, "y", &map);
        if (c == BAD) {
            CHECK_OK(st);
        } else {
            CHECK_FAILS(st, OKRA_EFORMAT,
                        c < BAD ? bad[c].message : "'y.sketch' is 1 x 3, expected 3 x 2");
        }
        okra_map_free_(map);
        okra_store_free_(store);
    }
    okra_data_free(data);
    okra_kernel_free(kernel);
}

static okra_status draw_and_free(const char *text)
{
    okra_int *index = NULL;
    okra_sketch_ *S = NULL;
    okra_status st = draw(300, text, 1, &index, &S);
    okra_free_(index);
    okra_sketch_free_(S);
    return st;
}

TEST(allocations)
{
    CHECK_ALLOCATIONS(draw_and_free("sketch(rank=9)"), (void)0);
    CHECK_ALLOCATIONS(draw_and_free("sketch(rank=9,kind=gaussian)"), (void)0);
    CHECK_FAILS(draw_and_free("sketch(rank=1,p=1e-12)"), OKRA_EARG,
                "no entry of 300 x 1");
}

MAIN(RUN(products_are_those_of_the_dense_matrix),
     RUN(sketched_gram_is_that_of_the_dense_matrices), RUN(memory_is_that_of_the_entries),
     RUN(threads_do_not_matter), RUN(broken_sketches_are_refused), RUN(allocations))
