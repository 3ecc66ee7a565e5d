/*
 * The pieces of a kernel that sums over positions add up to it, for sequences of vectors,
 * labels, strings and images, with the training set and with others.
 */
#include "harness.h"
#include "kernel/positions/position.h"

/* Sums of the same few values: ten times the worst of the cases here, 2.6e-16. */
static const double SUM = 3e-15;
enum { N = 5, M = 3, P = 2, MOST = 6, PIXELS = 20 };

static okra_data *sequences(okra_int n, okra_int longest, uint64_t seed)
{
    okra_random_ r = okra_random_create_(seed, 1);
    okra_int offsets[N + 1] = {0};
    double vectors[N * MOST * P];
    int32_t labels[N * MOST];
    okra_data *out = NULL;
    for (okra_int i = 0; i < n; i++) {
        offsets[i + 1] = offsets[i] + (i + 1) % longest + (i == 1 ? longest - 2 : 0);
    }
    harness_normals(&r, N * MOST * P, vectors);
    for (int k = 0; k < N * MOST; k++) {
        labels[k] = (int32_t)okra_random_below_(&r, 3) + 'a';
    }
    CHECK_OK(okra_data_sequences(offsets, vectors, labels, n, P, &out));
    return out;
}

static void check(const char *text, const okra_data *train, const okra_data *test)
{
    okra_kernel *kernel = NULL;
    okra_pieces_ *pieces = NULL;
    okra_int n = okra_data_count(train), m = okra_data_count(test);
    double K[N * N], Kx[M * N], one[N * N], got[N * N] = {0}, gotx[M * N] = {0};
    CHECK_OK(okra_kernel_parse(text, &kernel));
    CHECK_OK(okra_gram(NULL, kernel, train, NULL, K, n));
    CHECK_OK(okra_gram(NULL, kernel, test, train, Kx, n));
    CHECK_OK(okra_pieces_create_(NULL, "test", kernel, train, &pieces));
    for (okra_int p = 0; p < pieces->count; p++) {
        CHECK_OK(okra_pieces_gram_(NULL, pieces, p, okra_mat_of_(one, n, n)));
        for (okra_int i = 0; i < n * n; i++) {
            got[i] += one[i];
        }
        for (okra_int q = 0; q < m; q++) { /* one by one: first is not 0 */
            CHECK_OK(
                okra_pieces_cross_(NULL, pieces, test, q, p, okra_mat_of_(one, 1, n)));
            for (okra_int i = 0; i < n; i++) {
                gotx[q * n + i] += one[i];
            }
        }
    }
    CHECK_NEAR(harness_relative(n * n, got, K), 0, SUM);
    CHECK_NEAR(harness_relative(m * n, gotx, Kx), 0, SUM);
    okra_pieces_free_(pieces);
    okra_kernel_free(kernel);
}

TEST(pieces_add_up)
{
    static const char *const of_sequences[] = {
        "position(rbf(sigma=1))", "position(poly(degree=3,coef0=1))",
        "position(linear,map=1)", "position(zero-one)"};
    okra_data *train = sequences(N, 4, 1), *test = sequences(M, 5, 2);
    for (int k = 0; k < 4; k++) {
        check(of_sequences[k], train, test);
    }
    okra_data_free(train);
    okra_data_free(test);
    const char *a[] = {"abc", "", "b", "cab", "aa"}, *b[] = {"abcd", "", "cc"};
    CHECK_OK(okra_data_strings(a, N, &train));
    CHECK_OK(okra_data_strings(b, M, &test));
    check("position(zero-one)", train, test);
    okra_data_free(train);
    okra_data_free(test);
    double images[N * (PIXELS + 1)];
    okra_random_ r = okra_random_create_(4, 4);
    harness_normals(&r, N * (PIXELS + 1), images);
    CHECK_OK(okra_data_dense(images, N, PIXELS, PIXELS + 1, &train));
    CHECK_OK(okra_data_dense(images + 2, M, PIXELS, PIXELS, &test));
    check("patches(rbf(sigma=2),width=5,patch=3,overlap=2)", train, test);
    check("patches(linear,width=4,patch=2,overlap=0)", train, test);
    okra_data_free(train);
    okra_data_free(test);
}

static okra_status everything(const okra_kernel *kernel, const okra_data *train,
                              const okra_data *test)
{
    okra_status st = OKRA_OK;
    okra_pieces_ *pieces = NULL;
    double K[N * N];
    TRY(okra_pieces_create_(NULL, "test", kernel, train, &pieces));
    TRY(okra_pieces_gram_(NULL, pieces, 0, okra_mat_of_(K, N, N)));
    TRY(okra_pieces_cross_(NULL, pieces, test, 0, 0, okra_mat_of_(K, M, N)));
done:
    okra_pieces_free_(pieces);
    return st;
}

TEST(other_kernels_and_failing_allocations)
{
    static const char *const others[] = {"linear", "2*position(linear)",
                                         "position(linear) | normalize"};
    okra_data *train = sequences(N, 4, 1), *test = sequences(M, 4, 2);
    okra_kernel *kernel = NULL;
    okra_pieces_ *pieces = NULL;
    for (int k = 0; k < 3; k++) {
        CHECK_OK(okra_kernel_parse(others[k], &kernel));
        CHECK_FAILS(okra_pieces_create_(NULL, "method m", kernel, train, &pieces),
                    OKRA_EUNSUPPORTED, "method m needs an input kernel that is a sum");
        okra_kernel_free(kernel);
    }
    CHECK_OK(okra_kernel_parse("position(linear,map=1)", &kernel));
    CHECK_ALLOCATIONS(everything(kernel, train, test), (void)0);
    okra_kernel_free(kernel);
    okra_data_free(train);
    okra_data_free(test);
}

MAIN(RUN(pieces_add_up), RUN(other_kernels_and_failing_allocations))
