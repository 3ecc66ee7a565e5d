/*
 * Thin factors: broken ones, texts and kernels that are refused, and what they ask of
 * memory.
 */
#include "thin_points.h"

/* As a model file is read: checked, then loaded. */
static okra_status load(const points *p, okra_store_ *store)
{
    okra_map_ *map = NULL;
    okra_int rank = 0;
    okra_status st = okra_map_check_kept_(p->kernel, p->data, okra_data_count(p->data),
                                          store, "y", &rank);
    st = st == OKRA_OK ? okra_map_load_(NULL, p->kernel, p->data, store, "y", &map) : st;
    okra_map_free_(map);
    return st;
}

static void check_broken(const points *p, const double *basis, okra_int count,
                         okra_int rank, const char *message)
{
    okra_store_ *store = NULL;
    double *places = okra_alloc_(count, sizeof *places);
    double *F = okra_alloc_(rank * rank, sizeof *F);
    okra_fill_(rank * rank, 1, F);
    memcpy(places, basis, (size_t)count * sizeof *basis);
    CHECK_OK(okra_store_create_(&store));
    CHECK_OK(okra_store_put_(store, "y.basis", &places, 1, count));
    CHECK_OK(okra_store_put_(store, "y.factor", &F, rank, rank));
    CHECK_FAILS(load(p, store), OKRA_EFORMAT, message);
    okra_store_free_(store);
}

TEST(broken_maps_are_refused)
{
    points p;
    okra_store_ *store = NULL;
    make(4, N, false, "rbf(sigma=1)", &p);
    check_broken(&p, (const double[]){0, N}, 2, 2, "'y.basis' is or holds 40");
    check_broken(&p, (const double[]){0, (double)NAN}, 2, 2, "'y.basis' is or holds");
    check_broken(&p, (const double[]){0, 1}, 2, 3, "a basis of 2 for 3");
    CHECK_OK(okra_store_create_(&store));
    CHECK_FAILS(load(&p, store), OKRA_EFORMAT, "the matrix 'y.basis' is missing");
    double *w = okra_zalloc_(P, sizeof *w);
    CHECK_OK(okra_store_put_(store, "y.waves", &w, 1, P));
    CHECK_FAILS(load(&p, store), OKRA_EFORMAT, "the number 'y.scale' is missing");
    okra_store_free_(store);
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
    CHECK_FAILS(okra_map_create_(ctx, p.kernel, p.data, &low, 1, NULL, &map),
                OKRA_EBUDGET, NULL);
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
    okra_trained_kernel_ *bound = NULL;
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
            CHECK_OK(okra_trained_kernel_create_(NULL, kernel, data, &bound));
            held = okra_alloc_live_bytes_();
            okra_trained_kernel_free_(bound);
        }
        CHECK_OK(okra_low_parse_(cases[c].text, &low));
        CHECK_OK(
            okra_context_set_memory(ctx, held + (okra_int)(8 * MANY * cases[c].fit)));
        CHECK_FAILS(okra_map_create_(ctx, kernel, data, &low, 1, NULL, &map),
                    OKRA_EBUDGET, cases[c].message);
        okra_map_free_(map);
    }
    okra_context_free(ctx);
    okra_kernel_free(kernel);
    okra_data_free(data);
    free(x);
}

MAIN(RUN(broken_maps_are_refused), RUN(bad_texts), RUN(what_cannot_be_thinned),
     RUN(sums_that_overflow_are_told), RUN(allocations), RUN(budget_is_asked),
     RUN(vectors_of_all_objects_are_asked_for))
