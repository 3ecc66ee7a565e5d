/*
 * Kernels bound to a training set: objects without features, overflow, data that do not
 * fit, the budget, failing allocations.
 */
#include "grams.h"
#include "kernel_data.h"

typedef struct heard {
    int count;
    char last[512];
} heard;

static void listen(void *user, const char *text)
{
    heard *h = user;
    h->count++;
    snprintf(h->last, sizeof h->last, "%s", text);
}

TEST(objects_without_features)
{
    double x[] = {0, 0, 1, 2, 0, 0}, K[9];
    okra_data *data = data_of(OKRA_DENSE, x, 3, 2);
    okra_context *context = NULL;
    okra_kernel *cosine = parse("cosine"), *tanimoto = parse("tanimoto");
    heard h = {0, ""};
    CHECK_OK(okra_context_create(&context));
    okra_context_set_warning(context, listen, &h);
    CHECK_OK(okra_gram(context, cosine, data, NULL, K, 3));
    const double zero[] = {0, 0, 0, 0, 1, 0, 0, 0, 0};
    CHECK(memcmp(K, zero, sizeof K) == 0);
    CHECK(h.count == 1);
    CHECK(strstr(h.last, "in 2 of 3 objects (the first: row 0, from 0) the kernel finds "
                         "nothing to compare: self-similarity 0 before `normalize`; "
                         "normalized they stay the zero vector"));
    CHECK_OK(okra_gram(context, tanimoto, data, NULL, K, 3));
    const double equal[] = {1, 0, 1, 0, 1, 0, 1, 0, 1};
    CHECK(memcmp(K, equal, sizeof K) == 0);
    CHECK(h.count == 2);
    CHECK(strstr(h.last, "before `tanimoto`; they get 1 among themselves"));
    okra_kernel_free(tanimoto);
    okra_kernel_free(cosine);
    okra_context_free(context);
    okra_data_free(data);
}

/* Products of self-similarities would leave the range of doubles. */
TEST(normalize_huge_and_tiny)
{
    double x[] = {3e100, 4e100, 4e-100, 3e-100, 1, 0}, K[9];
    const double want[] = {1, 0.96, 0.6, 0.96, 1, 0.8, 0.6, 0.8, 1};
    okra_data *data = data_of(OKRA_DENSE, x, 3, 2);
    gram("cosine", data, NULL, K);
    CHECK_NEAR(harness_relative(9, K, want), 0, 1e-15);
    CHECK(K[0] == 1 && K[4] == 1 && K[8] == 1);
    okra_data_free(data);
}

TEST(overflow_is_reported)
{
    double x[] = {1, 1, 1, 1e200}, K[4], self[2];
    okra_data *data = data_of(OKRA_DENSE, x, 2, 2);
    okra_kernel *kernel = parse("poly(degree=2)");
    okra_trained_kernel_ *bound = NULL;
    CHECK_FAILS(
        okra_gram(NULL, kernel, data, NULL, K, 2), OKRA_ENUMERIC,
        "kernel poly(degree=2,gamma=1,coef0=1): the value of object 0 and training "
        "object 1 (from 0) is inf: scale the data or the parameters down");
    CHECK_OK(okra_trained_kernel_create_(NULL, kernel, data, &bound));
    CHECK_FAILS(okra_trained_kernel_diagonal_(NULL, bound, self), OKRA_ENUMERIC,
                "the value of object 1 (from 0) with itself is inf");
    okra_trained_kernel_free_(bound);
    okra_kernel_free(kernel);
    okra_data_free(data);
}

/* Squares and sums of the data overflow: inf - inf must not pass for a distance of 0. */
TEST(overflow_within_a_kernel_is_reported)
{
    static const struct {
        const char *kernel, *message;
    } cases[] = {
        {"rbf(sigma=1)",
         "kernel rbf(sigma=1): the value of object 0 and training object "},
        {"(linear + 0) | rbf(gamma=2)", ": scale the data or the parameters down"},
        {"tanimoto", "the self-similarity of row 0, from 0, is inf before `tanimoto`"},
        {"dice", ": scale the data or the parameters down"},
        {"cosine", ": scale the data or the parameters down"},
    };
    double x[] = {1e200, 2e200, 3e200, 4e200, 1e200, 1e190}, K[9];
    okra_data *data = data_of(OKRA_DENSE, x, 3, 2);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        okra_kernel *kernel = parse(cases[c].kernel);
        CHECK(okra_gram(NULL, kernel, data, NULL, K, 3) == OKRA_ENUMERIC);
        CHECK(strstr(okra_message(), cases[c].message));
        okra_kernel_free(kernel);
    }
    /* Rows whose own values have room: 0 / inf must not pass for a cosine of 0. */
    const char *const ratios[] = {"cosine", "tanimoto", "dice", "linear | normalize"};
    double small[] = {1e150, 1e150}, row[3];
    okra_data *near = data_of(OKRA_DENSE, small, 1, 2);
    for (size_t c = 0; c < sizeof ratios / sizeof *ratios; c++) {
        okra_kernel *ratio = parse(ratios[c]);
        CHECK_FAILS(okra_gram(NULL, ratio, near, data, row, 3), OKRA_ENUMERIC,
                    "the self-similarity of row 0, from 0, is inf before `");
        okra_kernel_free(ratio);
    }
    okra_data_free(near);
    /* By differences: they are that far apart. */
    okra_kernel *kernel = parse("jitter(sigma=1,width=2,shift=0)");
    CHECK_OK(okra_gram(NULL, kernel, data, NULL, K, 3));
    for (int i = 0; i < 9; i++) {
        CHECK(K[i] == (i % 4 == 0 ? 1 : 0));
    }
    okra_kernel_free(kernel);
    okra_data_free(data);
}

TEST(wrong_data)
{
    double x[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, K[16];
    okra_int codes[] = {0, 1, 0};
    okra_data *a = data_of(OKRA_DENSE, x, 3, 4), *b = data_of(OKRA_DENSE, x, 4, 3);
    okra_data *labels = NULL;
    okra_kernel *linear = parse("linear"), *equal = parse("zero-one");
    okra_kernel *laplacian = parse("laplacian(gamma=1)");
    CHECK_OK(okra_data_labels(codes, 3, NULL, 2, &labels));
    CHECK_FAILS(okra_gram(NULL, linear, a, b, K, 4), OKRA_ESHAPE,
                "vectors of length 4, the training set's have length 3");
    CHECK_FAILS(okra_gram(NULL, laplacian, a, b, K, 4), OKRA_ESHAPE, "kernel laplacian");
    CHECK_FAILS(okra_gram(NULL, equal, a, b, K, 4), OKRA_ESHAPE, "kernel zero-one");
    CHECK_FAILS(okra_gram(NULL, linear, labels, NULL, K, 4), OKRA_EARG,
                "expected dense, sparse, bits");
    CHECK_FAILS(okra_gram(NULL, equal, a, labels, K, 4), OKRA_EARG, "the training set");
    CHECK_FAILS(okra_gram(NULL, linear, a, NULL, K, 2), OKRA_ESHAPE, "row stride 2");
    CHECK_FAILS(okra_gram(NULL, NULL, a, NULL, K, 2), OKRA_EARG, "kernel is NULL");
    CHECK_FAILS(okra_gram(NULL, linear, NULL, NULL, K, 2), OKRA_EARG, "a is NULL");
    CHECK_FAILS(okra_gram(NULL, linear, a, NULL, NULL, 2), OKRA_EARG, "out is NULL");
    okra_kernel_free(laplacian);
    okra_kernel_free(equal);
    okra_kernel_free(linear);
    okra_data_free(labels);
    okra_data_free(b);
    okra_data_free(a);
}

/* Columns beyond the training set's count as 0 there. */
TEST(sparse_of_other_width)
{
    double x[] = {1, 2, 0, 3}, y[] = {1, 1, 1, 0, 0, 2}, K[4], self[2];
    okra_data *train = data_of(OKRA_SPARSE, x, 2, 2),
              *test = data_of(OKRA_SPARSE, y, 2, 3);
    okra_kernel *kernel = parse("linear");
    okra_trained_kernel_ *bound = NULL;
    okra_test_side_ *other = NULL;
    CHECK_OK(okra_trained_kernel_create_(NULL, kernel, train, &bound));
    CHECK_OK(okra_test_side_create_(NULL, bound, test, &other));
    CHECK_OK(okra_test_side_cross_(NULL, bound, other, 0, okra_mat_of_(K, 2, 2)));
    CHECK_OK(okra_test_side_diagonal_(NULL, bound, other, self));
    CHECK(K[0] == 3 && K[1] == 3 && K[2] == 0 && K[3] == 0);
    CHECK(self[0] == 3 && self[1] == 4);
    okra_test_side_free_(other);
    okra_trained_kernel_free_(bound);
    okra_kernel_free(kernel);
    okra_data_free(test);
    okra_data_free(train);
}

TEST(budget_and_cancellation)
{
    enum { N = 40, D = 50 };
    double *x = okra_zalloc_(N * D, 8), *K = okra_alloc_(N * N, 8);
    okra_context *context = NULL;
    okra_kernel *kernel = parse("rbf(sigma=1)");
    x[0] = 0.5; /* not bits */
    okra_data *data = data_of(OKRA_DENSE, x, N, D);
    CHECK_OK(okra_context_create(&context));
    CHECK_OK(okra_context_set_memory(context, 8000 + okra_account_bytes_(context)));
    CHECK_FAILS(okra_gram(context, kernel, data, NULL, K, N), OKRA_EBUDGET,
                "vectors about the training mean");
    CHECK_OK(okra_context_set_memory(context, 0));
    okra_int indptr[] = {0, 1}, index = 0;
    double one = 1;
    okra_data *wide = NULL;
    CHECK_OK(okra_data_sparse(indptr, &index, &one, 1, INT64_C(1) << 50, &wide));
    CHECK_FAILS(okra_gram(context, kernel, wide, NULL, K, N), OKRA_EBUDGET,
                "spread out in each thread");
    okra_data_free(wide);
    okra_context_cancel(context);
    CHECK_FAILS(okra_gram(context, kernel, data, NULL, K, N), OKRA_ECANCELLED, NULL);
    okra_context_free(context);
    okra_kernel_free(kernel);
    okra_data_free(data);
    okra_free_(K);
    okra_free_(x);
}

TEST(failing_allocations)
{
    enum { N = 9, M = 4, D = 3 };
    okra_random_ r = okra_random_create_(12, 0);
    const char *const texts[] = {"rbf(sigma=1)*(linear|center) + laplacian(gamma=1)",
                                 "tanimoto + zero-one | normalize"};
    double K[N * N];
    for (int kind = OKRA_DENSE; kind <= OKRA_BITS; kind++) {
        double *x = random_values(&r, N * D, 0.7, kind == OKRA_BITS);
        okra_data *train = data_of((okra_kind)kind, x, N, D);
        okra_data *test = data_of(kind ? (okra_kind)kind : OKRA_SPARSE, x, M, D);
        for (int k = 0; k < 2; k++) {
            okra_kernel *kernel = parse(texts[k]);
            CHECK_ALLOCATIONS(okra_gram(NULL, kernel, train, NULL, K, N), (void)0);
            CHECK_ALLOCATIONS(okra_gram(NULL, kernel, test, train, K, N), (void)0);
            okra_kernel_free(kernel);
        }
        okra_data_free(test);
        okra_data_free(train);
        okra_free_(x);
    }
    double G[] = {4, 2, 2, 9};
    okra_int codes[] = {0, 1};
    okra_data *gram_data = NULL, *label_data = NULL;
    okra_kernel *plain = parse("precomputed | normalize"), *equal = parse("zero-one");
    CHECK_OK(okra_data_gram(G, 2, 2, 2, NULL, &gram_data));
    CHECK_OK(okra_data_labels(codes, 2, NULL, 2, &label_data));
    CHECK_ALLOCATIONS(okra_gram(NULL, plain, gram_data, NULL, K, 2), (void)0);
    CHECK_ALLOCATIONS(okra_gram(NULL, equal, label_data, NULL, K, 2), (void)0);
    okra_kernel_free(equal);
    okra_kernel_free(plain);
    okra_data_free(label_data);
    okra_data_free(gram_data);
}

MAIN(RUN(objects_without_features), RUN(normalize_huge_and_tiny),
     RUN(overflow_is_reported), RUN(overflow_within_a_kernel_is_reported),
     RUN(wrong_data), RUN(sparse_of_other_width), RUN(budget_and_cancellation),
     RUN(failing_allocations))
