/*
 * Thin factors of Gram matrices against the Gram matrices themselves.
 */
#include "kernel/lowrank/lowrank.h"
#include "kernel_data.h"

enum { N = 40, P = 3 };

typedef struct points {
    double x[N * (P + 1)];
    okra_data *data;
    okra_kernel *kernel;
    double K[N * N], self[N];
} points;

/* Rows P + 1 apart; `repeats`: the second half repeats the first. */
static void make(uint64_t seed, okra_int n, bool repeats, const char *kernel, points *p)
{
    okra_random_ r = okra_random_create_(seed, 3);
    harness_normals(&r, N * (P + 1), p->x);
    for (okra_int i = n / 2; repeats && i < n; i++) {
        memcpy(p->x + i * (P + 1), p->x + (i - n / 2) * (P + 1), P * sizeof(double));
    }
    CHECK_OK(okra_data_dense(p->x, n, P, P + 1, &p->data));
    CHECK_OK(okra_kernel_parse(kernel, &p->kernel));
    CHECK_OK(okra_gram(NULL, p->kernel, p->data, NULL, p->K, n));
}

static void clear(points *p)
{
    okra_data_free(p->data);
    okra_kernel_free(p->kernel);
}

static okra_status map_from(const points *p, const char *text, okra_map_ **map)
{
    okra_low_ low;
    okra_status st = okra_low_parse_(text, &low);
    return st == OKRA_OK ? okra_map_create_(NULL, p->kernel, p->data, &low, 1, map) : st;
}

/* G <- Phi Phi' of all points, gathered in two blocks. */
static void gram_of(const points *p, const okra_map_ *map, double *G)
{
    okra_int n = p->data->n, first = n / 3;
    double *V = okra_alloc_(n * map->columns, sizeof *V);
    double *F = okra_alloc_(n * map->rank, sizeof *F);
    for (int b = 0; b < 2; b++) {
        okra_int at = b ? first : 0, rows = b ? n - first : first;
        okra_mat_ Vm = okra_mat_of_(V, rows, map->columns);
        CHECK_OK(okra_map_values_(NULL, map, p->data, at, Vm));
        CHECK_OK(okra_map_features_(NULL, map, Vm,
                                    okra_mat_of_(F + at * map->rank, rows, map->rank)));
    }
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            G[i * n + j] = okra_dot_(map->rank, F + i * map->rank, F + j * map->rank);
        }
    }
    okra_free_(V);
    okra_free_(F);
}

static double error_of(const points *p, const char *text, double *trace)
{
    double G[N * N];
    okra_int n = p->data->n;
    okra_map_ *map = NULL;
    CHECK_OK(map_from(p, text, &map));
    if (!map) {
        return (double)NAN;
    }
    gram_of(p, map, G);
    *trace = 0;
    for (okra_int i = 0; i < n; i++) {
        *trace += p->K[i * n + i] - G[i * n + i];
    }
    for (okra_int i = 0; map->index && i < map->basis; i++) {
        for (okra_int j = 0; j < i; j++) {
            CHECK(map->index[i] != map->index[j]);
        }
    }
    okra_map_free_(map);
    return harness_relative(n * n, G, p->K);
}

static const char *const full[] = {"chol(rank=40,tol=0)",
                                   "nystrom(rank=40)",
                                   "nystrom(rank=40,pivots=leverage)",
                                   "nystrom(rank=40,pivots=kmeans)",
                                   "nystrom(rank=40,pivots=greedy)",
                                   "nystrom(rank=40,pivots=centres)",
                                   "sketch(rank=40,p=0.5)",
                                   "sketch(rank=40,kind=gaussian)"};
enum { FULL = sizeof full / sizeof *full };

/* 10 m eps is added to the basis's Gram matrix: 1e-13. Ten times the worst over 50 seeds:
 * 9.6e-14 where S is the identity, 6.8e-11 with a square random S, whose own condition
 * number enters. */
TEST(full_rank_is_exact)
{
    double trace;
    const okra_int sizes[] = {1, 2, 17, N};
    for (int c = 0; c < FULL * 4 * 2 * 3; c++) {
        points p;
        int rest = c;
        const char *spec = full[pick(&rest, FULL)];
        okra_int n = sizes[pick(&rest, 4)];
        make((uint64_t)c, n, pick(&rest, 2), "rbf(sigma=1)", &p);
        bool sketch = strstr(spec, "sketch") != NULL;
        if (strstr(spec, "p=") && p.data->n < N) {
            clear(&p); /* few entries may all fall into the same columns */
            continue;
        }
        CHECK_NEAR(error_of(&p, spec, &trace), 0, sketch ? 7e-10 : 1e-12);
        clear(&p);
    }
}

/* A linear kernel of width 3 is exhausted by three pivots. */
TEST(rank_of_the_data_suffices)
{
    points p;
    double trace;
    okra_map_ *map = NULL;
    make(5, N, false, "linear", &p);
    CHECK_NEAR(error_of(&p, "chol(rank=30)", &trace), 0, 1e-12);
    CHECK_OK(map_from(&p, "chol(rank=30)", &map));
    CHECK(map && map->rank == P);
    okra_map_free_(map);
    map = NULL;
    CHECK_OK(map_from(&p, "nystrom(rank=99)", &map)); /* no more than there are */
    CHECK(map && map->rank == N);
    okra_map_free_(map);
    clear(&p);
}

/* K - Phi Phi' is positive semi-definite, so that its trace bounds every entry, and
 * greedy pivots bring it down monotonically. */
TEST(trace_bounds_the_error)
{
    const char *const kinds[] = {"chol(tol=0,",
                                 "nystrom(",
                                 "nystrom(pivots=leverage,",
                                 "nystrom(pivots=kmeans,",
                                 "sketch(",
                                 "nystrom(pivots=centres,"};
    for (int k = 0; k < 6; k++) {
        double before = INFINITY, trace = 0;
        for (int rank = 2; rank <= 32; rank *= 2) {
            points p;
            char text[64];
            make(11, N, false, "rbf(sigma=2)", &p);
            snprintf(text, sizeof text, "%srank=%d)", kinds[k], rank);
            double error = error_of(&p, text, &trace);
            CHECK(trace > -1e-10 && error <= trace + 1e-10);
            CHECK(k > 0 || trace < before);
            before = trace;
            clear(&p);
        }
        CHECK(before < 1); /* of 40 */
    }
}

/* Centres are means, and the error is below that of as many objects at random (0.62 of it
 * over 20 seeds). */
TEST(centres_are_means)
{
    double centres = 0, uniform = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        points p;
        double trace;
        make(seed, N, false, "rbf(sigma=2)", &p);
        error_of(&p, "nystrom(rank=8,pivots=centres)", &trace);
        centres += trace;
        error_of(&p, "nystrom(rank=8)", &trace);
        uniform += trace;
        clear(&p);
    }
    CHECK(centres < 0.8 * uniform);
    points p;
    okra_map_ *map = NULL;
    make(1, 30, false, "rbf(sigma=2)", &p); /* all of them are drawn */
    CHECK_OK(map_from(&p, "nystrom(rank=1,pivots=centres)", &map));
    CHECK(map && map->index == NULL);
    for (okra_int j = 0; map && j < P; j++) {
        double mean = 0;
        for (okra_int i = 0; i < 30; i++) {
            mean += p.x[i * (P + 1) + j] / 30;
        }
        CHECK_NEAR(map->objects->values[j], mean, 1e-14);
    }
    okra_map_free_(map);
    clear(&p);
    okra_data *words = NULL;
    okra_kernel *kernel = NULL;
    okra_low_ low;
    const char *const texts[] = {"ab", "abc"};
    CHECK_OK(okra_data_strings(texts, 2, &words));
    CHECK_OK(okra_kernel_parse("spectrum(k=1)", &kernel));
    CHECK_OK(okra_low_parse_("nystrom(rank=1,pivots=centres)", &low));
    CHECK_FAILS(okra_map_create_(NULL, kernel, words, &low, 1, &map), OKRA_EUNSUPPORTED,
                "dense vectors");
    okra_data_free(words);
    okra_kernel_free(kernel);
}

/* The second half repeats the first: chosen by distance or by residual, as many objects
 * as are distinct hold all. Ten times the worst over 20 seeds, 1.8e-12. */
TEST(pivots_do_not_repeat)
{
    static const char *const kinds[] = {"nystrom(rank=20,pivots=kmeans)",
                                        "nystrom(rank=20,pivots=greedy)",
                                        "chol(rank=20)"};
    for (int c = 0; c < 3 * 20; c++) {
        points p;
        double trace;
        make((uint64_t)c, N, true, "rbf(sigma=1)", &p);
        error_of(&p, kinds[c % 3], &trace);
        CHECK_NEAR(trace, 0, 1.8e-11);
        clear(&p);
    }
}

/* Leverage finds the few objects that stand apart: 36 lie in a knot, 4 far off. Over 20
 * seeds its trace is 0.30 of that of as many objects at random. */
TEST(leverage_finds_outliers)
{
    double leverage = 0, uniform = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        points p;
        double trace;
        make(seed, N, false, "rbf(sigma=1)", &p);
        for (okra_int i = 0; i < N * (P + 1); i++) {
            p.x[i] *= i / (P + 1) % 10 == 0 ? 10 : 0.1;
        }
        CHECK_OK(okra_gram(NULL, p.kernel, p.data, NULL, p.K, N));
        error_of(&p, "nystrom(rank=8,pivots=leverage)", &trace);
        leverage += trace;
        error_of(&p, "nystrom(rank=8)", &trace);
        uniform += trace;
        clear(&p);
    }
    CHECK(leverage < 0.5 * uniform);
}

/* p: how many entries of the sketch are there, so how many objects stay. */
TEST(sparse_sketches_keep_few)
{
    static const char *const kinds[] = {"sketch(rank=4,p=1)", "sketch(rank=4,p=0.02)",
                                        "sketch(rank=4)"};
    for (int k = 0; k < 3; k++) {
        points p;
        okra_map_ *map = NULL;
        make(1, N, false, "rbf(sigma=1)", &p);
        CHECK_OK(map_from(&p, kinds[k], &map));
        CHECK(map && map->rank == 4);
        CHECK(map && (k == 0   ? map->basis == N
                      : k == 1 ? map->basis < N / 2
                               : map->basis > N / 2));
        okra_map_free_(map);
        clear(&p);
    }
}

/* Blocks take half of what is left, and no more rows than there are. */
TEST(blocks_follow_the_budget)
{
    okra_context *ctx = NULL;
    CHECK_OK(okra_context_create(&ctx));
    okra_int live = okra_alloc_live_bytes_();
    CHECK_OK(okra_context_set_memory(ctx, live + 2 * 8 * 100 * 10));
    CHECK(okra_block_rows_(ctx, 1000, 100) == 10);
    CHECK(okra_block_rows_(ctx, 7, 100) == 7);
    CHECK(okra_block_rows_(ctx, 1000, 1000000) == 1);
    CHECK_OK(okra_context_set_memory(ctx, live + ((okra_int)1 << 40)));
    CHECK(okra_block_rows_(ctx, 1000000, 1024) == 8192); /* 64 MiB */
    CHECK(okra_block_rows_(ctx, 1000000, 1000000) == 256);
    okra_context_free(ctx);
}

/* Vectors of 24 MB meet a basis of two within 12 MB: the kernel's own copy of them is
 * made in pieces, and the values are those of one piece. */
TEST(wide_vectors_are_taken_in_pieces)
{
    enum { ROWS = 3000, WIDE = 1000, BASIS = 2 };
    okra_context *ctx = NULL;
    okra_map_ *map = NULL;
    okra_kernel *kernel = NULL;
    okra_data *data = NULL;
    okra_low_ low;
    okra_random_ r = okra_random_create_(4, 4);
    double *x = malloc(sizeof *x * ROWS * WIDE), V[ROWS * BASIS], want[ROWS * BASIS];
    harness_normals(&r, ROWS * WIDE, x);
    CHECK_OK(okra_data_dense(x, ROWS, WIDE, WIDE, &data));
    CHECK_OK(okra_kernel_parse("rbf(sigma=40)", &kernel));
    CHECK_OK(okra_low_parse_("nystrom(rank=2)", &low));
    CHECK_OK(okra_map_create_(NULL, kernel, data, &low, 1, &map));
    CHECK_OK(okra_gram(NULL, kernel, data, map->objects, want, BASIS));
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_memory(ctx, okra_account_bytes_(ctx) + 12000000));
    CHECK_OK(okra_map_values_(ctx, map, data, 0, okra_mat_of_(V, ROWS, BASIS)));
    CHECK(memcmp(V, want, sizeof V) == 0);
    okra_context_free(ctx);
    okra_map_free_(map);
    okra_kernel_free(kernel);
    okra_data_free(data);
    free(x);
}

TEST(greedy_reports_its_trace_and_stops)
{
    points p;
    okra_int index[N], count = N;
    double error = -1, trace = 0;
    make(2, N, false, "rbf(sigma=2)", &p);
    CHECK_OK(okra_pivots_greedy_(NULL, p.kernel, p.data, 1e-3, index, &count, &error));
    CHECK(count < N && error <= 1e-3 * N);
    CHECK(error_of(&p, "chol(rank=40,tol=1e-3)", &trace) < 1);
    CHECK_NEAR(trace, error, 1e-10);
    count = N; /* one object at least */
    CHECK_OK(okra_pivots_greedy_(NULL, p.kernel, p.data, 1, index, &count, &error));
    CHECK(count == 1);
    clear(&p);
}

/* Entries of random Fourier features have deviation 1/sqrt(waves) at most. */
TEST(waves_approach_the_kernel)
{
    points p;
    double trace;
    make(3, N, false, "2*rbf(gamma=0.3)", &p);
    CHECK(error_of(&p, "rff(rank=20000)", &trace) < 5 / 100.0);
    CHECK_NEAR(trace, 0, 1e-11);
    clear(&p);
    make(3, N, false, "rbf(gamma=0.3) + linear", &p);
    okra_map_ *map = NULL;
    CHECK_FAILS(map_from(&p, "rff(rank=20)", &map), OKRA_EUNSUPPORTED, "expected rbf");
    clear(&p);
}

TEST(saved_maps_come_back)
{
    const char *const kinds[] = {"chol(rank=9)", "sketch(rank=9)", "rff(rank=9)",
                                 "nystrom(rank=9,pivots=centres)"};
    for (int k = 0; k < 4; k++) {
        points p;
        double a[N * N], b[N * N];
        okra_map_ *map = NULL, *again = NULL;
        okra_bag_ *bag = NULL;
        make(4, N, false, "rbf(sigma=1)", &p);
        CHECK_OK(map_from(&p, kinds[k], &map));
        CHECK_OK(okra_bag_create_(&bag));
        CHECK(!okra_map_saved_(bag, "y"));
        CHECK_OK(okra_map_save_(map, bag, "y"));
        CHECK(okra_map_saved_(bag, "y"));
        CHECK_OK(okra_map_load_(NULL, p.kernel, p.data, bag, "y", &again));
        gram_of(&p, map, a);
        gram_of(&p, again, b);
        CHECK(memcmp(a, b, sizeof a) == 0);
        okra_map_free_(again);
        okra_map_free_(map);
        okra_bag_free_(bag);
        clear(&p);
    }
}

static void check_broken(const points *p, const double *basis, okra_int count,
                         okra_int rank, const char *message)
{
    okra_bag_ *bag = NULL;
    okra_map_ *map = NULL;
    double *places = okra_alloc_(count, sizeof *places);
    double *F = okra_zalloc_(rank * rank, sizeof *F);
    memcpy(places, basis, (size_t)count * sizeof *basis);
    CHECK_OK(okra_bag_create_(&bag));
    CHECK_OK(okra_bag_put_(bag, "y.basis", places, 1, count));
    CHECK_OK(okra_bag_put_(bag, "y.factor", F, rank, rank));
    CHECK_FAILS(okra_map_load_(NULL, p->kernel, p->data, bag, "y", &map), OKRA_EFORMAT,
                message);
    okra_bag_free_(bag);
}

TEST(broken_maps_are_refused)
{
    points p;
    okra_bag_ *bag = NULL;
    okra_map_ *map = NULL;
    make(4, N, false, "rbf(sigma=1)", &p);
    check_broken(&p, (const double[]){0, N}, 2, 2, "names object 40 of 40");
    check_broken(&p, (const double[]){0, (double)NAN}, 2, 2, "names object");
    check_broken(&p, (const double[]){0, 1}, 2, 3, "a basis of 2 for 3");
    CHECK_OK(okra_bag_create_(&bag));
    CHECK_FAILS(okra_map_load_(NULL, p.kernel, p.data, bag, "y", &map), OKRA_EFORMAT,
                "not whole");
    double *w = okra_zalloc_(P, sizeof *w);
    CHECK_OK(okra_bag_put_(bag, "y.waves", w, 1, P));
    CHECK_FAILS(okra_map_load_(NULL, p.kernel, p.data, bag, "y", &map), OKRA_EFORMAT,
                "no scale");
    okra_bag_free_(bag);
    clear(&p);
}

TEST(bad_texts)
{
    static const struct {
        const char *text, *message;
    } bad[] = {{"", "expected chol("},
               {"choles(rank=3)", "expected chol("},
               {"chol", "needs rank"},
               {"chol(rank=0)", "expected 1"},
               {"chol(rank=2,tol=2)", "expected 0 to 1"},
               {"chol(rank=2,pivots=uniform)", "no parameter 'pivots'"},
               {"nystrom(rank=5,pivots=best)", "uniform|leverage|kmeans|greedy"},
               {"sketch(rank=5,kind=dense)", "gaussian|sparse"},
               {"sketch(rank=5,kind=gaussian,p=0.5)", "p = 0.5 is for kind=sparse"},
               {"rff(rank=5", "expected ',' or ')'"},
               {"rff(rank=5) x", "expected the end"},
               {"rff(rank={5,6})", "grid"}};
    okra_low_ low;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_FAILS(okra_low_parse_(bad[i].text, &low), OKRA_EARG, bad[i].message);
    }
    CHECK_OK(okra_low_parse_("sketch(rank=5,kind=gaussian,p=0)", &low)); /* the default */
    CHECK_OK(okra_low_parse_(" nystrom ( rank = 7 , pivots = kmeans ) ", &low));
    CHECK(low.kind == OKRA_LOW_NYSTROM_ && low.rank == 7);
    CHECK(low.pivots == OKRA_PIVOTS_KMEANS_);
}

TEST(what_cannot_be_thinned)
{
    points p;
    okra_map_ *map = NULL;
    make(4, N, false, "rbf(sigma=1) | center", &p);
    CHECK_FAILS(map_from(&p, "chol(rank=3)", &map), OKRA_EUNSUPPORTED, "center");
    clear(&p);
    double zero[N * P] = {0};
    make(4, N, false, "linear", &p);
    okra_data_free(p.data);
    CHECK_OK(okra_data_dense(zero, N, P, P, &p.data));
    for (int k = 0; k < FULL; k++) {
        CHECK_FAILS(map_from(&p, full[k], &map), OKRA_ENUMERIC,
                    "mean diagonal of the Gram matrix of kernel linear is 0");
    }
    okra_data_free(p.data);
    CHECK_OK(okra_data_gram(p.K, N, N, N, NULL, &p.data));
    CHECK_FAILS(map_from(&p, "chol(rank=3)", &map), OKRA_EUNSUPPORTED, "Gram matrix");
    clear(&p);
}

/* Every value is finite, but sums of them are not. */
TEST(sums_that_overflow_are_told)
{
    points p;
    okra_map_ *map = NULL;
    double x[N];
    make(4, N, false, "linear", &p);
    okra_data_free(p.data);
    for (okra_int i = 0; i < N; i++) {
        x[i] = 1e154;
    }
    CHECK_OK(okra_data_dense(x, N, 1, 1, &p.data));
    static const char *const kinds[] = {"chol(rank=2)", "sketch(rank=2,p=1)",
                                        "sketch(rank=2,kind=gaussian)"};
    for (int k = 0; k < 3; k++) {
        CHECK_FAILS(map_from(&p, kinds[k], &map), OKRA_ENUMERIC, "of kernel linear is");
    }
    clear(&p);
}

static okra_status try_map(const points *p, const char *text)
{
    okra_map_ *map = NULL;
    okra_status st = map_from(p, text, &map);
    okra_map_free_(map);
    return st;
}

TEST(allocations)
{
    points p;
    make(4, N, false, "rbf(sigma=1)", &p);
    for (int k = 0; k < FULL; k++) {
        CHECK_ALLOCATIONS(try_map(&p, full[k]), (void)0);
    }
    CHECK_ALLOCATIONS(try_map(&p, "rff(rank=10)"), (void)0);
    clear(&p);
}

TEST(budget_is_asked)
{
    points p;
    okra_context *ctx = NULL;
    okra_map_ *map = NULL;
    okra_low_ low;
    make(4, N, false, "rbf(sigma=1)", &p);
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_memory(ctx, okra_account_bytes_(ctx) + 4000));
    CHECK_OK(okra_low_parse_("chol(rank=40)", &low));
    CHECK_FAILS(okra_map_create_(ctx, p.kernel, p.data, &low, 1, &map), OKRA_EBUDGET,
                NULL);
    okra_context_free(ctx);
    clear(&p);
}

/* What choosing holds beside the inputs bound to the kernel: vectors of n, of which `fit`
 * fit the budget and the next does not. */
TEST(vectors_of_all_objects_are_asked_for)
{
    enum { MANY = 100000 };
    static const struct {
        const char *text;
        double fit;
        const char *message;
    } cases[] = {{"chol(rank=1)", 1.5, "residuals"},
                 {"nystrom(rank=1,pivots=kmeans)", 0.5, "self-similarities"},
                 {"nystrom(rank=1,pivots=kmeans)", 1.5, "distances to the chosen"},
                 {"nystrom(rank=1,pivots=kmeans)", 2.5, "a column of the Gram matrix"},
                 {"nystrom(rank=1,pivots=leverage)", 0.5, "leverage scores"},
                 {"nystrom(rank=1,pivots=leverage)", 1.5, "residuals"}};
    okra_context *ctx = NULL;
    okra_bound_ *bound = NULL;
    okra_kernel *kernel = NULL;
    okra_data *data = NULL;
    double *x = malloc(sizeof *x * MANY);
    for (okra_int i = 0; i < MANY; i++) {
        x[i] = 1 + (double)(i % 7);
    }
    CHECK_OK(okra_data_dense(x, MANY, 1, 1, &data));
    CHECK_OK(okra_kernel_parse("linear", &kernel));
    CHECK_OK(okra_context_create(&ctx));
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        okra_low_ low;
        okra_map_ *map = NULL;
        okra_int before = okra_alloc_live_bytes_(), held = before;
        if (!strstr(cases[c].text, "leverage")) { /* which binds the pilot alone */
            CHECK_OK(okra_bound_create_(NULL, kernel, data, &bound));
            held = okra_alloc_live_bytes_();
            okra_bound_free_(bound);
        }
        CHECK_OK(okra_low_parse_(cases[c].text, &low));
        CHECK_OK(
            okra_context_set_memory(ctx, held + (okra_int)(8 * MANY * cases[c].fit)));
        CHECK_FAILS(okra_map_create_(ctx, kernel, data, &low, 1, &map), OKRA_EBUDGET,
                    cases[c].message);
        okra_map_free_(map);
    }
    okra_context_free(ctx);
    okra_kernel_free(kernel);
    okra_data_free(data);
    free(x);
}

/* The draw without memory for all is the plain shuffle. */
TEST(uniform_pivots_are_a_shuffle)
{
    enum { MOST = 40 };
    for (uint64_t seed = 0; seed < 200; seed++) {
        okra_int n = 1 + (okra_int)(seed % MOST), m = 1 + (okra_int)(seed * 7) % n;
        okra_int all[MOST] = {0}, index[MOST] = {0};
        okra_random_ one = okra_random_create_(seed, 3), two = one;
        for (okra_int i = 0; i < n; i++) {
            all[i] = i;
        }
        CHECK_OK(okra_pivots_uniform_(&one, n, m, index));
        for (okra_int k = 0; k < m; k++) {
            okra_int at = k + okra_random_below_(&two, n - k);
            CHECK(index[k] == all[at]);
            all[at] = all[k];
        }
    }
    okra_random_ r = okra_random_create_(1, 1);
    okra_int few[3] = {0};
    CHECK_OK(okra_pivots_uniform_(&r, INT64_MAX / 2, 3, few));
    CHECK(few[0] != few[1] && few[1] != few[2] && few[0] != few[2]);
}

MAIN(RUN(uniform_pivots_are_a_shuffle), RUN(full_rank_is_exact),
     RUN(rank_of_the_data_suffices), RUN(trace_bounds_the_error), RUN(centres_are_means),
     RUN(pivots_do_not_repeat), RUN(leverage_finds_outliers),
     RUN(sparse_sketches_keep_few), RUN(blocks_follow_the_budget),
     RUN(wide_vectors_are_taken_in_pieces), RUN(greedy_reports_its_trace_and_stops),
     RUN(waves_approach_the_kernel), RUN(saved_maps_come_back),
     RUN(broken_maps_are_refused), RUN(bad_texts), RUN(what_cannot_be_thinned),
     RUN(sums_that_overflow_are_told), RUN(allocations), RUN(budget_is_asked),
     RUN(vectors_of_all_objects_are_asked_for))
