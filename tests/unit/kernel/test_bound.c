/*
 * Kernels bound to a training set: centring, other rows, labels, Gram matrices of the
 * user, threads; and the properties every kernel has.
 */
#include "grams.h"
#include "kernel_data.h"

/* ---- center ---- */

/* H K H on the training set; for test rows (k - 1/n K 1)(I - 1/n 1 1') written out, and
 * k(x,x) - 2 mean k(x,.) + mean K for their self-similarities. */
TEST(center_against_its_formulas)
{
    enum { N = 230, M = 7, D = 5 }; /* more than one tile */
    okra_random_ r = okra_random_create_(3, 0);
    double *x = random_values(&r, N * D, 1, false),
           *y = random_values(&r, M * D, 1, false);
    double *K = okra_alloc_(N * N, 8), *C = okra_alloc_(N * N, 8);
    double *k = okra_alloc_(M * N, 8), *c = okra_alloc_(M * N, 8);
    double mean[N] = {0}, grand = 0, self[M], train_self[N];
    okra_data *train = data_of(OKRA_DENSE, x, N, D), *test = data_of(OKRA_DENSE, y, M, D);
    okra_kernel *kernel = parse("poly(degree=2) | center");
    okra_trained_kernel_ *bound = NULL;
    okra_test_side_ *other = NULL;

    gram("poly(degree=2)", train, NULL, K);
    gram("poly(degree=2)", test, train, k);
    CHECK_OK(okra_trained_kernel_create_(NULL, kernel, train, &bound));
    CHECK_OK(okra_test_side_create_(NULL, bound, test, &other));
    CHECK_OK(okra_trained_kernel_gram_(NULL, bound, okra_mat_of_(C, N, N)));
    CHECK_OK(okra_test_side_cross_(NULL, bound, other, 0, okra_mat_of_(c, M, N)));
    CHECK_OK(okra_trained_kernel_diagonal_(NULL, bound, train_self));
    CHECK_OK(okra_test_side_diagonal_(NULL, bound, other, self));
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            mean[i] += K[i * N + j] / N;
        }
        grand += mean[i] / N;
    }
    /* worst over 20 seeds 1.1e-13, the largest |k| being about 700 */
    double tolerance = 1.2e-12;
    for (int i = 0; i < N; i++) {
        double row = 0;
        for (int j = 0; j < N; j++) {
            CHECK_NEAR(C[i * N + j], K[i * N + j] - mean[i] - mean[j] + grand, tolerance);
            row += C[i * N + j];
        }
        CHECK_NEAR(row, 0, N * tolerance);
        CHECK(C[i * N + i] == train_self[i]);
    }
    for (int i = 0; i < M; i++) {
        double own = 0, xx = 1;
        for (int j = 0; j < N; j++) {
            own += k[i * N + j] / N;
        }
        for (int j = 0; j < N; j++) {
            CHECK_NEAR(c[i * N + j], k[i * N + j] - own - mean[j] + grand, tolerance);
        }
        for (int j = 0; j < D; j++) {
            xx += y[i * D + j] * y[i * D + j];
        }
        CHECK_NEAR(self[i], xx * xx - 2 * own + grand, tolerance);
    }
    okra_test_side_free_(other);
    okra_trained_kernel_free_(bound);
    okra_kernel_free(kernel);
    okra_data_free(test);
    okra_data_free(train);
    okra_free_(c);
    okra_free_(k);
    okra_free_(C);
    okra_free_(K);
    okra_free_(y);
    okra_free_(x);
}

/* What a model keeps of `center` gives back the same bits. */
TEST(center_saved_and_restored)
{
    enum { N = 12, M = 3, D = 4 };
    okra_random_ r = okra_random_create_(4, 0);
    double x[N * D], y[M * D], before[M * N], after[M * N];
    harness_normals(&r, N * D, x);
    harness_normals(&r, M * D, y);
    okra_data *train = data_of(OKRA_DENSE, x, N, D), *test = data_of(OKRA_DENSE, y, M, D);
    okra_kernel *kernel = parse("(linear | center)*(rbf(sigma=2) | center) | normalize");
    okra_trained_kernel_ *bound = NULL, *again = NULL;
    okra_test_side_ *other = NULL;
    okra_store_ *store = NULL, *empty = NULL;

    CHECK_OK(okra_store_create_(&store));
    CHECK_OK(okra_store_create_(&empty));
    CHECK_OK(okra_trained_kernel_create_(NULL, kernel, train, &bound));
    CHECK_OK(okra_trained_kernel_save_(bound, store, "kx"));
    CHECK_OK(okra_test_side_create_(NULL, bound, test, &other));
    CHECK_OK(okra_test_side_cross_(NULL, bound, other, 0, okra_mat_of_(before, M, N)));
    okra_test_side_free_(other);
    CHECK_OK(okra_trained_kernel_load_(NULL, kernel, train, store, "kx", &again));
    CHECK_OK(okra_test_side_create_(NULL, again, test, &other));
    CHECK_OK(okra_test_side_cross_(NULL, again, other, 0, okra_mat_of_(after, M, N)));
    CHECK(memcmp(before, after, sizeof before) == 0);
    okra_test_side_free_(other);
    okra_trained_kernel_free_(again);
    CHECK_FAILS(okra_trained_kernel_load_(NULL, kernel, train, empty, "kx", &again),
                OKRA_EFORMAT,
                "the training means 'kx.center4' of kernel (linear | center)*");
    CHECK(okra_store_has_(store, "kx.middle1") && okra_store_has_(store, "kx.center4"));
    CHECK_ALLOCATIONS(okra_trained_kernel_load_(NULL, kernel, train, store, "kx", &again),
                      okra_trained_kernel_free_(again));
    okra_trained_kernel_free_(bound);
    okra_store_free_(empty);
    okra_store_free_(store);
    okra_kernel_free(kernel);
    okra_data_free(test);
    okra_data_free(train);
}

/* ---- properties ---- */

static const char *const kernels[] = {
    "linear",
    "rbf(sigma=2)",
    "poly(degree=2,gamma=0.1)",
    "cosine",
    "tanimoto",
    "laplacian(gamma=0.1)",
    "zero-one",
    "linear | center",
    "rbf(gamma=0.05) | center | normalize",
    "linear + (cosine | power(p=3))*rbf(sigma=3)",
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

/* Symmetric to the bit, positive semidefinite to rounding, the same under any order. */
TEST(symmetric_definite_and_without_order)
{
    enum { N = 250, D = 6 };
    okra_random_ r = okra_random_create_(8, 0);
    double *x = random_values(&r, N * D, 1, false), *w = okra_alloc_(N, sizeof *w);
    double *K = okra_alloc_(N * N, sizeof *K), *P = okra_alloc_(N * N, sizeof *P);
    okra_int order[N];
    okra_data *data = data_of(OKRA_DENSE, x, N, D), *shuffled = NULL;
    for (okra_int i = 0; i < N; i++) {
        order[i] = i;
    }
    okra_random_shuffle_(&r, N, order);
    CHECK_OK(okra_data_take(data, order, N, &shuffled));
    for (int k = 0; k < KERNELS; k++) {
        double scale = 0, difference = 0;
        gram(kernels[k], data, NULL, K);
        gram(kernels[k], shuffled, NULL, P);
        for (okra_int i = 0; i < N; i++) {
            for (okra_int j = 0; j < N; j++) {
                harness_checks++;
                if (K[i * N + j] != K[j * N + i]) {
                    harness_fail(__FILE__, __LINE__, kernels[k]);
                }
                scale = fmax(scale, fabs(K[i * N + j]));
                difference =
                    fmax(difference, fabs(P[i * N + j] - K[order[i] * N + order[j]]));
            }
        }
        CHECK_NEAR(difference / scale, 0, 1.5e-13); /* worst over 20 seeds 1.4e-14 */
        CHECK_OK(okra_eigh_(NULL, okra_mat_of_(K, N, N), w));
        CHECK(w[0] >= -1e-13 * w[N - 1]); /* worst over 20 seeds 1e-14 */
    }
    okra_data_free(shuffled);
    okra_data_free(data);
    okra_free_(P);
    okra_free_(K);
    okra_free_(w);
    okra_free_(x);
}

/* Rows of a cross matrix, in blocks of any size and transposed, are those of the Gram
 * matrix, to rounding; the diagonal is that of the bound kernel, to the bit. */
TEST(cross_agrees_with_gram)
{
    enum { N = 205, D = 4, FIRST = 100, ROWS = 17 };
    okra_random_ r = okra_random_create_(9, 0);
    double *x = random_values(&r, N * D, 0.8, false);
    double *K = okra_alloc_(N * N, 8), *C = okra_alloc_(N * N, 8);
    double part[ROWS * N], turned[N * ROWS], self[N], other_self[N];
    okra_data *data = data_of(OKRA_DENSE, x, N, D);
    for (int k = 0; k < KERNELS; k++) {
        okra_kernel *kernel = parse(kernels[k]);
        okra_trained_kernel_ *bound = NULL;
        okra_test_side_ *other = NULL;
        CHECK_OK(okra_trained_kernel_create_(NULL, kernel, data, &bound));
        CHECK_OK(okra_test_side_create_(NULL, bound, data, &other));
        CHECK(bound->train.n == N && other->view.n == N);
        CHECK(bound->train.data == data);
        CHECK_OK(okra_trained_kernel_gram_(NULL, bound, okra_mat_of_(K, N, N)));
        CHECK_OK(okra_test_side_cross_(NULL, bound, other, 0, okra_mat_of_(C, N, N)));
        CHECK_OK(okra_test_side_cross_(NULL, bound, other, FIRST,
                                       okra_mat_of_(part, ROWS, N)));
        CHECK_OK(okra_test_side_cross_t_(NULL, bound, other, FIRST,
                                         okra_mat_of_(turned, N, ROWS)));
        CHECK_OK(okra_trained_kernel_diagonal_(NULL, bound, self));
        CHECK_OK(okra_test_side_diagonal_(NULL, bound, other, other_self));
        CHECK_NEAR(harness_relative(N * N, C, K), 0,
                   2.5e-14); /* worst over 20 seeds 2.4e-15 */
        CHECK_NEAR(harness_relative(ROWS * N, part, K + FIRST * N), 0, 2e-14);
        for (int i = 0; i < ROWS; i++) {
            for (int j = 0; j < N; j++) {
                CHECK(turned[j * ROWS + i] == part[i * N + j]);
            }
        }
        for (int i = 0; i < N; i++) {
            CHECK(K[i * N + i] == self[i]);
            CHECK_NEAR(other_self[i], self[i], 1e-13 * fabs(self[i]) + 1e-14);
        }
        okra_test_side_free_(other);
        okra_trained_kernel_free_(bound);
        okra_kernel_free(kernel);
    }
    okra_data_free(data);
    okra_free_(C);
    okra_free_(K);
    okra_free_(x);
}

/* The same bits for every number of threads. */
TEST(threads_do_not_matter)
{
    enum { N = 410, D = 9 };
    okra_random_ r = okra_random_create_(10, 0);
    double *x = random_values(&r, N * D, 0.5, false);
    double *K[2] = {okra_alloc_(N * N, 8), okra_alloc_(N * N, 8)};
    for (int kind = OKRA_DENSE; kind <= OKRA_SPARSE; kind++) {
        okra_data *data = data_of((okra_kind)kind, x, N, D);
        for (int k = 0; k < KERNELS; k++) {
            for (int t = 0; t < 2; t++) {
                okra_context *context = NULL;
                okra_kernel *kernel = parse(kernels[k]);
                CHECK_OK(okra_context_create(&context));
                CHECK_OK(okra_context_set_threads(context, t ? 3 : 1));
                CHECK_OK(okra_gram(context, kernel, data, NULL, K[t], N));
                okra_kernel_free(kernel);
                okra_context_free(context);
            }
            CHECK(memcmp(K[0], K[1], N * N * sizeof *x) == 0);
        }
        okra_data_free(data);
    }
    okra_free_(K[1]);
    okra_free_(K[0]);
    okra_free_(x);
}

/* Large enough to be written past the caches: same values as block by block. */
TEST(large_matrices)
{
    enum { N = 2900, D = 2, ROWS = 3 };
    okra_random_ r = okra_random_create_(11, 0);
    double *x = random_values(&r, N * D, 1, false), *K = okra_alloc_(N * (N + 1), 8);
    double part[ROWS * N];
    okra_data *data = data_of(OKRA_DENSE, x, N, D);
    okra_kernel *kernel = parse("rbf(sigma=1)");
    okra_trained_kernel_ *bound = NULL;
    okra_test_side_ *other = NULL;
    CHECK_OK(okra_trained_kernel_create_(NULL, kernel, data, &bound));
    CHECK_OK(okra_test_side_create_(NULL, bound, data, &other));
    CHECK_OK(okra_trained_kernel_gram_(NULL, bound, (okra_mat_){K, N, N, N + 1}));
    for (okra_int i = 0; i < N; i += 500) {
        CHECK_OK(
            okra_test_side_cross_(NULL, bound, other, i, okra_mat_of_(part, ROWS, N)));
        for (okra_int j = 0; j < ROWS * N; j++) {
            okra_int row = i + j / N, col = j % N;
            double want = part[j], got = K[row * (N + 1) + col];
            if (!(fabs(got - want) <= 1e-14) || got != K[col * (N + 1) + row]) {
                harness_fail(__FILE__, __LINE__, "large matrix");
                j = ROWS * N;
            }
        }
        harness_checks++;
    }
    okra_test_side_free_(other);
    okra_trained_kernel_free_(bound);
    okra_kernel_free(kernel);
    okra_data_free(data);
    okra_free_(K);
    okra_free_(x);
}

TEST(empty_collections)
{
    double x[] = {1, 2}, K[1] = {7};
    okra_data *none = data_of(OKRA_DENSE, x, 0, 2), *one = data_of(OKRA_DENSE, x, 1, 2);
    for (int k = 0; k < KERNELS; k++) {
        okra_kernel *kernel = parse(kernels[k]);
        CHECK_OK(okra_gram(NULL, kernel, none, NULL, K, 1));
        CHECK_OK(okra_gram(NULL, kernel, none, one, K, 1));
        CHECK_OK(okra_gram(NULL, kernel, one, none, K, 1));
        CHECK(K[0] == 7);
        okra_kernel_free(kernel);
    }
    okra_data_free(one);
    okra_data_free(none);
}

/* Labels are the same when their names are, whatever their numbers. */
TEST(labels)
{
    okra_int a[] = {0, 1, 0}, b[] = {0, 1};
    const char *const names_a[] = {"cat", "dog"}, *const names_b[] = {"dog", "cow"};
    double K[9];
    okra_data *train = NULL, *test = NULL, *plain = NULL;
    CHECK_OK(okra_data_labels(a, 3, names_a, 2, &train));
    CHECK_OK(okra_data_labels(b, 2, names_b, 2, &test));
    CHECK_OK(okra_data_labels(b, 2, NULL, 2, &plain));
    gram("zero-one", train, NULL, K);
    const double want[] = {1, 0, 1, 0, 1, 0, 1, 0, 1};
    CHECK(memcmp(K, want, sizeof want) == 0);
    gram("zero-one", test, train, K);
    const double named[] = {0, 1, 0, 0, 0, 0};
    CHECK(memcmp(K, named, sizeof named) == 0);
    gram("zero-one", plain, train, K);
    const double numbered[] = {1, 0, 1, 0, 1, 0};
    CHECK(memcmp(K, numbered, sizeof numbered) == 0);
    okra_data_free(plain);
    okra_data_free(test);
    okra_data_free(train);
}

TEST(precomputed)
{
    double G[] = {4, 2, 2, 9}, g[] = {1, 3, 2, 0}, wide[] = {1, 2, 3, 4, 5, 6};
    double skew[] = {1, 2, 3, 1}, self[] = {1, 16}, K[6];
    okra_data *train = NULL, *bare = NULL, *full = NULL, *oblong = NULL, *bad = NULL;
    okra_kernel *plain = parse("precomputed"), *cosine = parse("precomputed | normalize");
    okra_trained_kernel_ *bound = NULL;
    okra_test_side_ *other = NULL;
    CHECK_OK(okra_data_gram(G, 2, 2, 2, NULL, &train));
    CHECK_OK(okra_data_gram(g, 2, 2, 2, NULL, &bare));
    CHECK_OK(okra_data_gram(g, 2, 2, 2, self, &full));
    CHECK_OK(okra_data_gram(wide, 2, 3, 3, NULL, &oblong));
    CHECK_OK(okra_data_gram(skew, 2, 2, 2, NULL, &bad));
    CHECK_OK(okra_gram(NULL, plain, train, NULL, K, 2));
    CHECK(memcmp(K, G, sizeof G) == 0);
    CHECK_OK(okra_gram(NULL, plain, bare, train, K, 2));
    CHECK(memcmp(K, g, sizeof g) == 0);
    CHECK_OK(okra_gram(NULL, cosine, full, train, K, 2));
    const double want[] = {1 / 2., 3 / 3., 2 / 8., 0};
    CHECK_NEAR(harness_relative(4, K, want), 0, 1e-15);
    CHECK_FAILS(okra_gram(NULL, cosine, bare, train, K, 2), OKRA_EARG,
                "`normalize` needs the self-similarities of its objects");
    CHECK_OK(okra_trained_kernel_create_(NULL, plain, train, &bound));
    CHECK_OK(okra_test_side_create_(NULL, bound, bare, &other));
    CHECK_FAILS(okra_test_side_diagonal_(NULL, bound, other, K), OKRA_EARG,
                "give the diagonal too");
    okra_test_side_free_(other);
    CHECK_FAILS(okra_test_side_create_(NULL, bound, oblong, &other), OKRA_ESHAPE,
                "has 3 columns, expected one for each of the 2 training objects");
    okra_trained_kernel_free_(bound);
    CHECK_FAILS(okra_gram(NULL, plain, oblong, NULL, K, 2), OKRA_ESHAPE,
                "is 2 x 3, a training Gram matrix is square");
    CHECK_FAILS(okra_gram(NULL, plain, bad, NULL, K, 2), OKRA_EARG,
                "is not symmetric: 3 at (1, 0), 2 at (0, 1), counted from 0");
    okra_kernel_free(cosine);
    okra_kernel_free(plain);
    okra_data_free(bad);
    okra_data_free(oblong);
    okra_data_free(full);
    okra_data_free(bare);
    okra_data_free(train);
}

/* 1 of strings that are equal, also of other collections. */
TEST(equal_strings)
{
    static const char *const a[] = {"ab", "", "ab", "abc", "b"}, *const b[] = {"b", "ab",
                                                                               ""};
    okra_data *x = NULL, *y = NULL;
    double K[25], C[15];
    CHECK_OK(okra_data_strings(a, 5, &x));
    CHECK_OK(okra_data_strings(b, 3, &y));
    gram("zero-one", x, NULL, K);
    gram("zero-one", x, y, C);
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < 5; j++) {
            CHECK(K[i * 5 + j] == (strcmp(a[i], a[j]) == 0));
        }
        for (int j = 0; j < 3; j++) {
            CHECK(C[i * 3 + j] == (strcmp(a[i], b[j]) == 0));
        }
    }
    okra_data_free(x);
    okra_data_free(y);
}

MAIN(RUN(equal_strings), RUN(center_against_its_formulas), RUN(center_saved_and_restored),
     RUN(symmetric_definite_and_without_order), RUN(cross_agrees_with_gram),
     RUN(threads_do_not_matter), RUN(large_matrices), RUN(empty_collections), RUN(labels),
     RUN(precomputed))
