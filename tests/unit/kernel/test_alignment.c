/* Kernel alignment against sums over all local alignments, in long double. */
#include "data/strings.h"
#include "grams.h"

enum { N = 24, MOST = 1300 };

/* BLOSUM62 in full, letters in this order. */
static const char order[] = "ARNDCQEGHILKMFPSTWYV";
static const char blosum62[] =
    "4 -1 -2 -2 0 -1 -1 0 -2 -1 -1 -1 -1 -2 -1 1 0 -3 -2 0\n"
    "-1 5 0 -2 -3 1 0 -2 0 -3 -2 2 -1 -3 -2 -1 -1 -3 -2 -3\n"
    "-2 0 6 1 -3 0 0 0 1 -3 -3 0 -2 -3 -2 1 0 -4 -2 -3\n"
    "-2 -2 1 6 -3 0 2 -1 -1 -3 -4 -1 -3 -3 -1 0 -1 -4 -3 -3\n"
    "0 -3 -3 -3 9 -3 -4 -3 -3 -1 -1 -3 -1 -2 -3 -1 -1 -2 -2 -1\n"
    "-1 1 0 0 -3 5 2 -2 0 -3 -2 1 0 -3 -1 0 -1 -2 -1 -2\n"
    "-1 0 0 2 -4 2 5 -2 0 -3 -3 1 -2 -3 -1 0 -1 -3 -2 -2\n"
    "0 -2 0 -1 -3 -2 -2 6 -2 -4 -4 -2 -3 -3 -2 0 -2 -2 -3 -3\n"
    "-2 0 1 -1 -3 0 0 -2 8 -3 -3 -1 -2 -1 -2 -1 -2 -2 2 -3\n"
    "-1 -3 -3 -3 -1 -3 -3 -4 -3 4 2 -3 1 0 -3 -2 -1 -3 -1 3\n"
    "-1 -2 -3 -4 -1 -2 -3 -4 -3 2 4 -2 2 0 -3 -2 -1 -2 -1 1\n"
    "-1 2 0 -1 -3 1 1 -2 -1 -3 -2 5 -1 -3 -1 0 -1 -3 -2 -2\n"
    "-1 -1 -2 -3 -1 0 -2 -3 -2 1 2 -1 5 0 -2 -1 -1 -1 -1 1\n"
    "-2 -3 -3 -3 -2 -3 -3 -3 -1 0 0 -3 0 6 -4 -2 -2 1 3 -1\n"
    "-1 -2 -2 -1 -3 -1 -1 -2 -2 -3 -3 -1 -2 -4 7 -1 -1 -4 -3 -2\n"
    "1 -1 1 0 -1 0 0 0 -1 -2 -2 0 -1 -2 -1 4 1 -3 -2 -2\n"
    "0 -1 0 -1 -1 -1 -1 -2 -2 -1 -1 -1 -1 -2 -1 1 5 -2 -2 0\n"
    "-3 -3 -4 -4 -2 -2 -3 -2 -2 -3 -2 -3 -1 1 -4 -3 -2 11 2 -3\n"
    "-2 -2 -2 -3 -2 -1 -2 -3 2 -1 -1 -2 -1 3 -3 -2 -2 2 7 -1\n"
    "0 -3 -3 -3 -1 -2 -2 -3 -3 3 1 -2 1 -1 -2 -2 0 -3 -1 4\n";

static void scores(double S[20][20])
{
    const char *at = blosum62;
    for (int i = 0; i < 400; i++) {
        char *end = NULL;
        S[i / 20][i % 20] = (double)strtol(at, &end, 10);
        at = end;
    }
}

/* log K: M, X and Y as whole tables of the recursion, no scaling. */
static double naive(double S[20][20], const char *x, const char *y, double beta,
                    double open, double extend)
{
    size_t m = strlen(x), n = strlen(y);
    long double weight[20][20];
    long double *row[2][3], K = 1;
    for (int k = 0; k < 6; k++) {
        row[k / 3][k % 3] = calloc(n + 1, sizeof(long double));
    }
    for (int k = 0; k < 400; k++) {
        weight[k / 20][k % 20] = expl(beta * S[k / 20][k % 20]);
    }
    long double D = expl(-beta * open), G = expl(-beta * extend);
    for (size_t i = 1; i <= m; i++) {
        long double **above = row[(i - 1) % 2], **here = row[i % 2];
        for (size_t j = 1; j <= n; j++) {
            const char *a = strchr(order, x[i - 1]), *b = strchr(order, y[j - 1]);
            long double E = weight[a - order][b - order];
            here[0][j] = E * (1 + above[0][j - 1] + above[1][j - 1] + above[2][j - 1]);
            here[1][j] = D * above[0][j] + G * above[1][j];
            here[2][j] = D * (here[0][j - 1] + here[1][j - 1]) + G * here[2][j - 1];
            K += here[0][j];
        }
    }
    for (int k = 0; k < 6; k++) {
        free(row[k / 3][k % 3]);
    }
    return (double)logl(K);
}

static char block[N][MOST + 1];
static const char *texts[N];

/* Random proteins, parts of others in them; two that share two long stretches in the
 * other order, so that the sum of the first outgrows the start of the second; an empty
 * one. */
static okra_data *proteins(uint64_t seed)
{
    okra_random_ r = okra_random_create_(seed, 17);
    okra_data *data = NULL;
    memset(block, 0, sizeof block);
    for (int i = 0; i < N; i++) {
        okra_int length = i == 3 ? 0 : 1 + okra_random_below_(&r, i < 6 ? 12 : 200);
        for (okra_int k = 0; k < length; k++) {
            block[i][k] = order[okra_random_below_(&r, 20)];
        }
        if (i > 8) {
            okra_int take = OKRA_MIN_((okra_int)strlen(block[i - 2]), 60);
            memcpy(block[i] + okra_random_below_(&r, length), block[i - 2], (size_t)take);
        }
        texts[i] = block[i];
    }
    for (int k = 0; k < 600; k++) {
        block[N - 1][k] = order[okra_random_below_(&r, 20)];
    }
    memcpy(block[N - 2], block[N - 1] + 250, 350);
    memcpy(block[N - 2] + 350, block[N - 1], 250);
    block[N - 1][600] = block[N - 2][600] = 0;
    CHECK_OK(okra_data_strings(texts, N, &data));
    return data;
}

/* log K of each string with itself. */
static void selves(double S[20][20], const double *p, double *out)
{
    for (int i = 0; i < N; i++) {
        out[i] = naive(S, texts[i], texts[i], p[0], p[1], p[2]);
    }
}

static double feature(double S[20][20], int i, int t, const double *p, const double *self)
{
    double scale = sqrt(self[i] * self[t]);
    return scale > 0 ? naive(S, texts[i], texts[t], p[0], p[1], p[2]) / scale : 0;
}

/* With one anchor k(x, y) = phi(x) phi(y). Worst error: 1.6e-8. */
TEST(features_equal_the_sums_over_alignments)
{
    static const double settings[][3] = {{0.5, 11, 1}, {0.2, 12, 2}, {1, 5, 0.5}};
    double S[20][20], K[N * N], self[N];
    char text[120];
    scores(S);
    for (int k = 0; k < 3; k++) {
        const double *p = settings[k];
        okra_data *all = proteins((uint64_t)k), *one = NULL;
        okra_int anchor = k == 1 ? 12 : N - 1;
        CHECK_OK(okra_data_take(all, &anchor, 1, &one));
        snprintf(text, sizeof text, "alignment(beta=%g,open=%g,extend=%g)", p[0], p[1],
                 p[2]);
        gram(text, all, one, K);
        selves(S, p, self);
        for (int i = 0; i < N; i++) {
            CHECK_NEAR(K[i], feature(S, i, (int)anchor, p, self), 2e-7);
        }
        okra_data_free(all);
        okra_data_free(one);
    }
}

/* All strings are anchors: k = Phi Phi' / N; positive semidefinite, whatever the strings.
 */
TEST(gram_matrices)
{
    double S[20][20], K[N * N], F[N * N], w[N], self[N];
    static const double p[] = {0.5, 12, 2};
    okra_data *all = proteins(9);
    scores(S);
    gram("alignment", all, NULL, K);
    selves(S, p, self);
    for (int i = 0; i < N * N; i++) {
        F[i] = feature(S, i / N, i % N, p, self);
    }
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int t = 0; t < N; t++) {
                sum += F[i * N + t] * F[j * N + t] / N;
            }
            CHECK_NEAR(K[i * N + j], sum, 2e-7);
        }
    }
    CHECK_OK(okra_eigh_(NULL, okra_mat_of_(K, N, N), w));
    CHECK(w[0] >= -3e-15 * w[N - 1]);
    okra_data_free(all);
}

/* c'Sc > 0 for sum(c) = 0, so that exp(beta S) is positive definite for all beta. */
TEST(scores_are_conditionally_positive_definite)
{
    double S[20][20], C[400], w[20], mean[20] = {0}, all = 0;
    scores(S);
    for (int i = 0; i < 400; i++) {
        CHECK(S[i / 20][i % 20] == S[i % 20][i / 20]);
        mean[i / 20] += S[i / 20][i % 20] / 20;
        all += S[i / 20][i % 20] / 400;
    }
    for (int i = 0; i < 400; i++) {
        C[i] = S[i / 20][i % 20] - mean[i / 20] - mean[i % 20] + all;
    }
    CHECK_OK(okra_eigh_(NULL, okra_mat_of_(C, 20, 20), w));
    CHECK(w[0] > -1e-13 && w[1] > 0.1);
}

/* Copies are aligned once, small letters are letters, others count as the mean of all;
 * few anchors give a matrix of their rank. */
TEST(copies_and_letters)
{
    const char *some[] = {"MKVLAAG", "WWHHC", "MKVLAAG", "mkvlaag",
                          "MKVLAXG", "",      "PPQR"};
    double K[49], F[49], w[7];
    okra_data *a = NULL;
    CHECK_OK(okra_data_strings(some, 7, &a));
    gram("alignment", a, NULL, K);
    CHECK_NEAR(K[0 * 7 + 1], K[2 * 7 + 1], 1e-15);
    CHECK_NEAR(K[0], K[16], 1e-15);
    CHECK_NEAR(K[3 * 7 + 3], K[0], 1e-12);
    CHECK(K[4 * 7] > 0 && K[4 * 7] != K[0] && K[5 * 7 + 5] == 0);
    gram("alignment(anchors=2)", a, NULL, F);
    CHECK_OK(okra_eigh_(NULL, okra_mat_of_(F, 7, 7), w));
    CHECK(w[4] < 1e-14 && w[5] >= -1e-14 && w[6] > 0.1);
    gram("alignment(matrix=blosum50)", a, NULL, F);
    CHECK(fabs(F[1] - K[1]) > 1e-6);
    okra_data_free(a);
}

TEST(no_strings_and_failing_allocations)
{
    okra_data *none = NULL, *a = NULL;
    const char *some[] = {"MKV", "AAG", "WCW"};
    double K[9];
    okra_context *ctx = NULL;
    CHECK_OK(okra_data_strings(NULL, 0, &none));
    CHECK_OK(okra_data_strings(some, 3, &a));
    gram("alignment", none, NULL, K);
    gram("alignment", none, a, K);
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_threads(ctx, 1));
    CHECK_ALLOCATIONS(try_gram(ctx, "alignment", a, a, K), (void)0);
    okra_context_free(ctx);
    okra_data_free(a);
    okra_data_free(none);
}

MAIN(RUN(features_equal_the_sums_over_alignments), RUN(gram_matrices),
     RUN(scores_are_conditionally_positive_definite), RUN(copies_and_letters),
     RUN(no_strings_and_failing_allocations))
