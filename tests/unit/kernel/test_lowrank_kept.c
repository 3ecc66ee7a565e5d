/*
 * EXPR | chol(...) and its like: what a model keeps of them, objects they are bound to
 * again, and what they refuse.
 */
#include "lowrank_points.h"

#include "../data/files.h"

/* What a model keeps gives the same bits; what is not whole is refused. */
TEST(files)
{
    for (int c = 0; c < SPECS * SORTS; c++) {
        points p;
        seen s, again;
        okra_store_ *store = NULL;
        double one[ALL * ALL], two[ALL * ALL];
        char text[160];
        sort which = (sort)(c / SPECS);
        if (!fits(which, specs[c % SPECS])) {
            continue;
        }
        snprintf(text, sizeof text, "%s | %s | center", kernels[which], specs[c % SPECS]);
        make((uint64_t)c, which, N, false, &p);
        CHECK_OK(see(text, &p, NULL, &s));
        CHECK_OK(okra_store_create_(&store));
        CHECK_OK(okra_trained_kernel_save_(s.bound, store, "k"));
        CHECK_OK(see(text, &p, store, &again));
        values(&s, &p, ones, one);
        values(&again, &p, ones, two);
        CHECK(memcmp(one, two, sizeof one) == 0);
        unsee(&s);
        unsee(&again);
        okra_store_free_(store);
        clear(&p);
    }
    points p;
    seen s;
    okra_store_ *store = NULL;
    double two[4] = {0, 1, 2, 3};
    make(1, VECTORS, N, false, &p);
    CHECK_OK(okra_store_create_(&store));
    CHECK_FAILS(see("linear | chol(rank=2)", &p, store, &s), OKRA_EFORMAT,
                "the matrix 'k.leaf0.basis' is missing");
    unsee(&s);
    okra_store_ *empty = NULL;
    CHECK_OK(okra_store_create_(&empty));
    CHECK_OK(okra_store_put_copy_(empty, "k.leaf0.basis", two, 1, 0));
    CHECK_OK(okra_store_put_copy_(empty, "k.leaf0.factor", two, 0, 0));
    CHECK_FAILS(see("linear | chol(rank=2)", &p, empty, &s), OKRA_EFORMAT, "no features");
    unsee(&s);
    okra_store_free_(empty);
    CHECK_OK(okra_store_put_copy_(store, "k.leaf0.basis", two, 1, 2));
    CHECK_OK(okra_store_put_copy_(store, "k.leaf0.factor", (double[]){1, 0, 0, 1}, 2, 2));
    CHECK_FAILS(see("linear | chol(rank=2)", &p, store, &s), OKRA_EFORMAT,
                "the matrix 'k.leaf0.features' is missing");
    unsee(&s);
    CHECK_OK(okra_store_put_copy_(store, "k.leaf0.features", two, 2, 2));
    CHECK_FAILS(see("linear | chol(rank=2)", &p, store, &s), OKRA_EFORMAT,
                "'k.leaf0.features' is 2 x 2, expected");
    unsee(&s);
    okra_store_free_(store);
    clear(&p);
}

/* A kernel that read a file does not need it again. */
TEST(files_of_the_kernel_within)
{
    points p;
    seen s, again;
    okra_store_ *store = NULL;
    double one[ALL * ALL], two[ALL * ALL];
    static const char matrix[] = "2,1,0\n1,2,0\n0,0,1\n";
    char text[600];
    make(3, VECTORS, N, false, &p);
    const char *path = files_make("metric.csv", matrix, strlen(matrix));
    snprintf(text, sizeof text, "metric(file=%s) | nystrom(rank=2)", path);
    CHECK_OK(see(text, &p, NULL, &s));
    CHECK_OK(okra_store_create_(&store));
    CHECK_OK(okra_trained_kernel_save_(s.bound, store, "k"));
    CHECK(remove(path) == 0);
    CHECK_OK(see(text, &p, store, &again));
    values(&s, &p, NULL, one);
    values(&again, &p, NULL, two);
    CHECK(memcmp(one, two, sizeof one) == 0);
    unsee(&s);
    unsee(&again);
    okra_store_free_(store);
    clear(&p);
}

/* Bound to other objects the features stay, but the means of `center` are theirs. */
TEST(bound_again)
{
    for (int c = 0; c < SORTS; c++) {
        points p;
        seen s;
        okra_trained_kernel_ *again = NULL;
        double G[ALL * ALL], got[M * M], want[M * M], mean[M], grand = 0;
        char text[160];
        make((uint64_t)c, (sort)c, N, false, &p);
        snprintf(text, sizeof text, "%s | nystrom(rank=5)", kernels[c]);
        CHECK_OK(see(text, &p, NULL, &s));
        values(&s, &p, ones, G);
        unsee(&s);
        for (okra_int i = 0; i < M; i++) {
            mean[i] = 0;
            for (okra_int j = 0; j < M; j++) {
                mean[i] += G[(N + i) * ALL + N + j] / M;
            }
            grand += mean[i] / M;
        }
        for (okra_int i = 0; i < M * M; i++) {
            want[i] =
                G[(N + i / M) * ALL + N + i % M] - mean[i / M] - mean[i % M] + grand;
        }
        strcat(text, " | center");
        CHECK_OK(see(text, &p, NULL, &s));
        CHECK_OK(okra_trained_kernel_again_(NULL, s.bound, p.test, &again));
        CHECK_OK(okra_trained_kernel_gram_(NULL, again, okra_mat_of_(got, M, M)));
        CHECK_NEAR(harness_relative(M * M, got, want), 0, 1e-13);
        okra_trained_kernel_free_(again);
        unsee(&s);
        clear(&p);
    }
}

TEST(refused)
{
    static const struct {
        sort which;
        const char *text;
        okra_status status;
        const char *message;
    } bad[] = {
        {STRINGS, "spectrum(k=2) | rff(rank=4)", OKRA_EUNSUPPORTED,
         "expected rbf(...) on vectors"},
        {STRINGS, "rbf(sigma=1) | rff(rank=4)", OKRA_EUNSUPPORTED, "on vectors"},
        {STRINGS, "rbf(sigma=1) | chol(rank=4)", OKRA_EARG, "kernel linear"},
        {STRINGS, "spectrum(k=2) | nystrom(rank=4,pivots=centres)", OKRA_EUNSUPPORTED,
         "centres"},
        {VECTORS, "linear | center | chol(rank=4)", OKRA_EUNSUPPORTED, "whole training"},
        {VECTORS, "linear | chol(rank=4) | nystrom(rank=3)", OKRA_EARG, "another"},
        {VECTORS, "(linear | chol(rank=4)) + linear | nystrom(rank=3)", OKRA_EARG,
         "another"},
        {VECTORS, "position(linear | chol(rank=4))", OKRA_EARG, "low rank within"},
        {VECTORS, "patches(linear | chol(rank=4),width=2)", OKRA_EARG, "low rank within"},
        {VECTORS, "(linear@1 | chol(rank=4))@2", OKRA_EARG, "chosen twice"},
        {VECTORS, "((linear | chol(rank=4))@1)@2", OKRA_EARG, "chosen twice"},
        {VECTORS, "(linear | chol(rank=4))@2", OKRA_EARG, "no part 2"},
        {VECTORS, "linear | chol", OKRA_EARG, "chol needs rank"},
        {VECTORS, "linear | chol(rank=0)", OKRA_EARG, "rank"},
        {VECTORS, "linear | sketch(rank=4,kind=gaussian,p=0.5)", OKRA_EARG,
         "p = 0.5 is for kind=sparse"},
        {VECTORS, "linear | chol(rank={3,4})", OKRA_EARG, "grid of values"},
        {VECTORS, "chol(rank=4)", OKRA_EARG, "follows a kernel and a pipe"},
        {VECTORS, "linear | chul(rank=4)", OKRA_EARG, "did you mean 'chol'"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        points p;
        seen s;
        make(1, bad[i].which, N, false, &p);
        CHECK_FAILS(see(bad[i].text, &p, NULL, &s), bad[i].status, bad[i].message);
        unsee(&s);
        clear(&p);
    }
    /* test objects of another sort or width */
    points p, q;
    seen s;
    make(1, VECTORS, N, false, &p);
    make(1, STRINGS, N, false, &q);
    points mixed = {p.train, q.test, NULL};
    CHECK_FAILS(see("linear | chol(rank=2)", &mixed, NULL, &s), OKRA_EARG, "strings");
    unsee(&s);
    clear(&p);
    clear(&q);
    double K[4] = {1, 0, 0, 1};
    okra_data *gram = NULL;
    okra_kernel *kernel = NULL;
    CHECK_OK(okra_data_gram(K, 2, 2, 2, NULL, &gram));
    CHECK_OK(okra_kernel_parse("precomputed | chol(rank=1)", &kernel));
    CHECK_FAILS(okra_gram(NULL, kernel, gram, NULL, K, 2), OKRA_EUNSUPPORTED, "low rank");
    okra_kernel_free(kernel);
    okra_data_free(gram);
}

MAIN(RUN(files), RUN(files_of_the_kernel_within), RUN(bound_again), RUN(refused))
