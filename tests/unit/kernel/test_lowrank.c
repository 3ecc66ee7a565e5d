/*
 * Thin factors of Gram matrices against the Gram matrices themselves.
 */
#include "thin_points.h"

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
    CHECK_FAILS(okra_map_create_(NULL, kernel, words, &low, 1, NULL, &map),
                OKRA_EUNSUPPORTED, "dense vectors");
    okra_data_free(words);
    okra_kernel_free(kernel);
}

/* One row far out does not draw the centres together: as many as there are rows hold all
 * but it, whatever its size. */
TEST(centres_with_a_row_far_out)
{
    for (int power = 0; power <= 100; power += 20) {
        points p;
        double trace;
        make(3, N, false, "rbf(sigma=1)", &p);
        p.x[0] = pow(10, power);
        CHECK_OK(okra_gram(NULL, p.kernel, p.data, NULL, p.K, N));
        CHECK_NEAR(error_of(&p, "nystrom(rank=40,pivots=centres)", &trace), 0, 1e-11);
        clear(&p);
    }
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
    CHECK_OK(okra_map_create_(NULL, kernel, data, &low, 1, NULL, &map));
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
        okra_store_ *store = NULL;
        make(4, N, false, "rbf(sigma=1)", &p);
        CHECK_OK(map_from(&p, kinds[k], &map));
        CHECK_OK(okra_store_create_(&store));
        CHECK(!okra_map_saved_(store, "y"));
        CHECK_OK(okra_map_save_(map, store, "y"));
        CHECK(okra_map_saved_(store, "y"));
        CHECK_OK(okra_map_load_(NULL, p.kernel, p.data, store, "y", &again));
        gram_of(&p, map, a);
        gram_of(&p, again, b);
        CHECK(memcmp(a, b, sizeof a) == 0);
        okra_map_free_(again);
        okra_map_free_(map);
        okra_store_free_(store);
        clear(&p);
    }
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
     RUN(centres_with_a_row_far_out), RUN(pivots_do_not_repeat),
     RUN(leverage_finds_outliers), RUN(sparse_sketches_keep_few),
     RUN(blocks_follow_the_budget), RUN(wide_vectors_are_taken_in_pieces),
     RUN(greedy_reports_its_trace_and_stops), RUN(waves_approach_the_kernel),
     RUN(saved_maps_come_back))
