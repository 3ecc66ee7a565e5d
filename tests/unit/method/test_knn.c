/*
 * k nearest neighbours against a full sort.
 */
#include "naive.h"

static const okra_method_ *knn(void)
{
    return okra_method_find_("knn");
}

static okra_status fit(const toy *t, const char *k, okra_store_ **out)
{
    okra_status st = OKRA_OK;
    const okra_option_table *table = &knn()->options;
    okra_options *o = NULL;
    okra_store_ *store = NULL;
    okra_problem_ p = problem_of(t, false);
    TRY(okra_options_create(&table, 1, &o));
    TRY(okra_options_set(o, "k", k));
    TRY(okra_store_create_(&store));
    TRY(knn()->fit(NULL, &p, o, store));
    *out = store;
    store = NULL;
done:
    okra_store_free_(store);
    okra_options_free(o);
    return st;
}

static okra_query_ query_of(toy *t, double *train_self)
{
    for (okra_int i = 0; i < t->n; i++) {
        train_self[i] = t->K[i * t->n + i];
    }
    return (okra_query_){.m = t->m,
                         .n = t->n,
                         .Kx = okra_mat_of_(t->Kx, t->m, t->n),
                         .self = t->self,
                         .train_self = train_self};
}

/* i is a neighbour if fewer than k others come before it by (distance, index). */
static bool is_neighbour(const toy *t, okra_int q, okra_int i, okra_int k)
{
    okra_int before = 0;
    const double *k_x = t->Kx + q * t->n;
    double d_i = t->K[i * t->n + i] - 2 * k_x[i];
    for (okra_int j = 0; j < t->n; j++) {
        double d_j = t->K[j * t->n + j] - 2 * k_x[j];
        before += d_j < d_i || (d_j == d_i && j < i);
    }
    return before < k;
}

TEST(neighbours_equal_full_sort)
{
    CHECK(okra_method_takes_(knn(), OKRA_TAKES_SELF_));
    for (int c = 0; c < 200; c++) {
        toy t = make_toy(c % SHAPES, 1 + c % N, (uint64_t)c, false);
        okra_int k = 1 + c % 7 % t.n;
        double self[N], W[M * N];
        char text[8];
        okra_store_ *store = NULL;
        snprintf(text, sizeof text, "%d", (int)k);
        CHECK_OK(fit(&t, text, &store));
        okra_query_ q = query_of(&t, self);
        CHECK(okra_method_form_(knn(), store) == OKRA_FORM_WEIGHTS);
        CHECK_OK(knn()->predict(NULL, store, &q, okra_mat_of_(W, t.m, t.n)));
        for (okra_int i = 0; i < t.m * t.n; i++) {
            bool near = is_neighbour(&t, i / t.n, i % t.n, k);
            CHECK(W[i] == (near ? 1 / (double)k : 0));
        }
        okra_store_free_(store);
    }
}

TEST(same_bits_for_any_number_of_threads)
{
    toy t = make_toy(RANDOM, N, 1, false);
    double self[N], W[2][M * N];
    okra_store_ *store = NULL;
    CHECK_OK(fit(&t, "3", &store));
    for (int threads = 1; threads <= 2; threads++) {
        okra_context *ctx = NULL;
        CHECK_OK(okra_context_create(&ctx));
        CHECK_OK(okra_context_set_threads(ctx, threads));
        okra_query_ q = query_of(&t, self);
        CHECK_OK(knn()->predict(ctx, store, &q, okra_mat_of_(W[threads - 1], t.m, t.n)));
        okra_context_free(ctx);
    }
    CHECK(memcmp(W[0], W[1], sizeof W[0]) == 0);
    okra_store_free_(store);
}

TEST(bad_k_is_refused)
{
    toy t = make_toy(RANDOM, 3, 1, false);
    okra_store_ *store = NULL;
    CHECK_FAILS(fit(&t, "0", &store), OKRA_EARG, "k is 0");
    CHECK_FAILS(fit(&t, "4", &store), OKRA_EARG,
                "k is 4, expected at most 3, the number of training pairs");
}

static okra_status nothing_left(toy *t, const okra_store_ *store)
{
    double self[N], W[M * N];
    okra_query_ q = query_of(t, self);
    return knn()->predict(NULL, store, &q, okra_mat_of_(W, t->m, t->n));
}

TEST(failing_allocations_are_survived)
{
    toy t = make_toy(RANDOM, 3, 1, false);
    okra_store_ *store = NULL;
    CHECK_ALLOCATIONS(fit(&t, "2", &store), okra_store_free_(store));
    CHECK_OK(fit(&t, "2", &store));
    CHECK_ALLOCATIONS(nothing_left(&t, store), (void)0);
    okra_store_free_(store);
}

TEST(methods_are_found_by_name)
{
    CHECK(okra_method_find_("no such method") == NULL);
    for (size_t i = 0; okra_methods_[i]; i++) {
        CHECK(okra_method_find_(okra_methods_[i]->name) == okra_methods_[i]);
    }
}

MAIN(RUN(neighbours_equal_full_sort), RUN(same_bits_for_any_number_of_threads),
     RUN(bad_k_is_refused), RUN(failing_allocations_are_survived),
     RUN(methods_are_found_by_name))
