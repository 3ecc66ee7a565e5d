/* The kernel `ends` against its definition, written out from the strings themselves. */
#include "data/strings.h"
#include "kernel/kernel.h"
#include "kernel_data.h"

enum { N = 24, TESTS = 9, LETTERS = 5 };

/* The letter at place k of string i, '#' outside of it. */
static int at(const okra_data *data, okra_int i, okra_int k)
{
    okra_int length;
    const int32_t *s = okra_characters_(data, i, &length);
    return k < 0 || k >= length ? '#' : s[k];
}

/* How often `other` stands beside `letter` (side -1: left), over all strings. */
static double beside(const okra_data *data, int letter, int other, int side)
{
    double count = 0;
    for (okra_int i = 0; i < data->n; i++) {
        for (okra_int k = 0; k < LONGEST; k++) {
            count += at(data, i, k) == letter && at(data, i, k + side) == other;
        }
    }
    return count;
}

/* The context of a letter: LETTERS + 1 places a side. */
static void context(const okra_data *data, int letter, double *F)
{
    double all[2 * (LETTERS + 1)], own[2 * (LETTERS + 1)], total = 0, sum = 0, square = 0;
    for (int f = 0; f < 2 * (LETTERS + 1); f++) {
        int side = f < LETTERS + 1 ? -1 : 1, k = f % (LETTERS + 1);
        int other = k == LETTERS ? '#' : 'a' + k;
        all[f] = 0;
        for (int c = 'a'; c < 'a' + LETTERS; c++) {
            all[f] += beside(data, c, other, side);
        }
        own[f] = beside(data, letter, other, side);
        total += all[f];
        sum += own[f];
    }
    for (int f = 0; f < 2 * (LETTERS + 1); f++) {
        F[f] = sqrt((own[f] + 5 * all[f] / total) / (sum + 5)) - sqrt(all[f] / total);
        square += F[f] * F[f];
    }
    for (int f = 0; f < 2 * (LETTERS + 1); f++) {
        F[f] /= sqrt(square);
    }
}

static double likeness(const okra_data *train, int a, int b, double similar)
{
    double F[2 * (LETTERS + 1)], G[2 * (LETTERS + 1)], cosine = 0;
    if (a == b) {
        return 1;
    }
    if (a == '#' || b == '#') {
        return 0;
    }
    if (a < 'a' + LETTERS && b < 'a' + LETTERS) { /* others are never seen */
        context(train, a, F);
        context(train, b, G);
        for (int f = 0; f < 2 * (LETTERS + 1); f++) {
            cosine += F[f] * G[f];
        }
    }
    return similar * (1 + cosine) / 2;
}

static double naive(const okra_data *train, const okra_data *a, okra_int i, okra_int j,
                    int reach, double share, double decay, double similar, bool start)
{
    double value = 1;
    okra_int m, n;
    okra_characters_(a, i, &m);
    okra_characters_(train, j, &n);
    for (int k = 0; k < reach; k++) {
        int p = at(a, i, start ? k : m - 1 - k), q = at(train, j, start ? k : n - 1 - k);
        double weight = share * pow(decay, k);
        value *= 1 - weight + weight * likeness(train, p, q, similar);
    }
    return value;
}

TEST(the_definition)
{
    okra_data *train = random_strings(1, N, LETTERS, 0),
              *test = random_strings(2, TESTS, LETTERS + 2, 0);
    for (int start = 0; start < 2; start++) {
        okra_kernel *kernel = NULL;
        okra_trained_kernel_ *bound = NULL;
        okra_test_side_ *other = NULL;
        double K[N * N], Q[TESTS * N], w[N], d[TESTS];
        CHECK_OK(okra_kernel_parse(
            start ? "ends(reach=5,share=0.9,decay=0.8,similar=1,start=1)" : "ends",
            &kernel));
        CHECK_OK(okra_trained_kernel_create_(NULL, kernel, train, &bound));
        CHECK_OK(okra_test_side_create_(NULL, bound, test, &other));
        CHECK_OK(okra_trained_kernel_gram_(NULL, bound, okra_mat_of_(K, N, N)));
        CHECK_OK(okra_test_side_cross_(NULL, bound, other, 0, okra_mat_of_(Q, TESTS, N)));
        CHECK_OK(okra_test_side_diagonal_(NULL, bound, other, d));
        for (int j = 0; j < N; j++) {
            for (int i = 0; i < N; i++) {
                double want = start ? naive(train, train, i, j, 5, 0.9, 0.8, 1, true)
                                    : naive(train, train, i, j, 12, 0.5, 0.6, 0.5, false);
                CHECK_NEAR(K[i * N + j], want, 1e-14); /* 7e-16 at worst */
            }
            for (int i = 0; i < TESTS; i++) {
                double want = start ? naive(train, test, i, j, 5, 0.9, 0.8, 1, true)
                                    : naive(train, test, i, j, 12, 0.5, 0.6, 0.5, false);
                CHECK_NEAR(Q[i * N + j], want, 1e-14);
            }
        }
        for (int i = 0; i < TESTS; i++) {
            CHECK(d[i] == 1);
        }
        CHECK_OK(okra_eigh_(NULL, okra_mat_of_(K, N, N), w));
        CHECK(w[0] >= -1e-14 * w[N - 1]); /* positive semidefinite */
        okra_test_side_free_(other);
        okra_trained_kernel_free_(bound);
        okra_kernel_free(kernel);
    }
    okra_data_free(train);
    okra_data_free(test);
}

/* No letters at all; one string. */
TEST(empty_strings)
{
    static const char *const none[] = {"", ""};
    static const char *const one[] = {"a"};
    okra_data *a = NULL, *b = NULL;
    okra_kernel *kernel = NULL;
    double K[4] = {0}, Q[1] = {0};
    CHECK_OK(okra_data_strings(none, 2, &a));
    CHECK_OK(okra_data_strings(one, 1, &b));
    CHECK_OK(okra_kernel_parse("ends", &kernel));
    CHECK_OK(okra_gram(NULL, kernel, a, NULL, K, 2));
    CHECK(K[0] == 1 && K[1] == 1 && K[3] == 1);
    CHECK_OK(okra_gram(NULL, kernel, b, NULL, Q, 1));
    CHECK(Q[0] == 1);
    CHECK_ALLOCATIONS(okra_gram(NULL, kernel, a, NULL, K, 2), (void)0);
    okra_kernel_free(kernel);
    okra_data_free(a);
    okra_data_free(b);
}

MAIN(RUN(the_definition), RUN(empty_strings))
