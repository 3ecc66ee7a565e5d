/* Every kernel of strings against its definition, written out. */
#include "data/strings.h"
#include "grams.h"
#include "kernel_data.h"

enum { N = 21 };

/* ---- definitions ---- */

typedef struct pair {
    const int32_t *s, *t;
    okra_int m, n;
} pair;

/* All ways to choose r places of s and of t, left to right, with equal characters. */
static double subsequences(const pair *p, okra_int i, okra_int j, okra_int first_i,
                           okra_int first_j, int r, double decay)
{
    double sum = 0;
    for (okra_int a = i; a < p->m; a++) {
        for (okra_int b = j; b < p->n; b++) {
            okra_int fi = first_i < 0 ? a : first_i, fj = first_j < 0 ? b : first_j;
            if (p->s[a] != p->t[b]) {
                continue;
            }
            sum += r == 1 ? pow(decay, (double)(a - fi + 1 + b - fj + 1))
                          : subsequences(p, a + 1, b + 1, fi, fj, r - 1, decay);
        }
    }
    return sum;
}

static double ssk3(const pair *p)
{
    return subsequences(p, 0, 0, -1, -1, 3, 0.7);
}

static double ssk_upto(const pair *p)
{
    double sum = 0;
    for (int r = 1; r <= 5; r++) {
        sum += subsequences(p, 0, 0, -1, -1, r, 0.3);
    }
    return sum;
}

static double ssk1(const pair *p)
{
    return subsequences(p, 0, 0, -1, -1, 1, 0.5);
}

static double ssk4(const pair *p)
{
    return subsequences(p, 0, 0, -1, -1, 4, 1);
}

static double ssk7(const pair *p)
{
    return subsequences(p, 0, 0, -1, -1, 7, 0.9);
}

static double spectrum2(const pair *p)
{
    double sum = 0;
    for (okra_int i = 0; i + 2 <= p->m; i++) {
        for (okra_int j = 0; j + 2 <= p->n; j++) {
            sum += p->s[i] == p->t[j] && p->s[i + 1] == p->t[j + 1];
        }
    }
    return sum;
}

/* How many substrings of k letters are within m of the word. */
static double near(const int32_t *s, okra_int length, const int32_t *word, okra_int k,
                   okra_int m)
{
    double count = 0;
    for (okra_int i = 0; i + k <= length; i++) {
        okra_int differ = 0;
        for (okra_int j = 0; j < k; j++) {
            differ += s[i + j] != word[j];
        }
        count += differ <= m;
    }
    return count;
}

static double mismatches(const pair *p, okra_int letters, okra_int k, okra_int m)
{
    double sum = 0;
    okra_int words = 1;
    for (okra_int j = 0; j < k; j++) {
        words *= letters;
    }
    for (okra_int w = 0; w < words; w++) {
        int32_t word[8];
        okra_int rest = w;
        for (okra_int j = 0; j < k; j++, rest /= letters) {
            word[j] = (int32_t)('a' + rest % letters);
        }
        sum += near(p->s, p->m, word, k, m) * near(p->t, p->n, word, k, m);
    }
    return sum;
}

static double mismatch31(const pair *p)
{
    return mismatches(p, 4, 3, 1);
}

static double mismatch42(const pair *p)
{
    return mismatches(p, 4, 4, 2);
}

static double mismatch22(const pair *p)
{
    return mismatches(p, 4, 2, 2);
}

static double mismatch30(const pair *p)
{
    return mismatches(p, 4, 3, 0);
}

static double degree3(const pair *p)
{
    double sum = 0;
    for (okra_int d = 1; d <= 3; d++) {
        for (okra_int i = 0; i + d <= p->m; i++) {
            sum += memcmp(p->s + i, p->t + i, (size_t)d * sizeof *p->s) == 0
                       ? 2.0 * (double)(3 - d + 1) / 12
                       : 0;
        }
    }
    return sum;
}

/* The table of Wagner and Fischer. */
static double edit2(const pair *p)
{
    enum { MOST = 300 };
    static okra_int D[MOST + 1][MOST + 1];
    for (okra_int i = 0; i <= p->m; i++) {
        for (okra_int j = 0; j <= p->n; j++) {
            okra_int best = i + j;
            if (i > 0 && j > 0) {
                best = D[i - 1][j - 1] + (p->s[i - 1] != p->t[j - 1]);
                best = OKRA_MIN_(best, D[i - 1][j] + 1);
                best = OKRA_MIN_(best, D[i][j - 1] + 1);
            }
            D[i][j] = best;
        }
    }
    return exp(-(double)D[p->m][p->n] / 2);
}

/* ---- comparison ---- */

typedef struct known {
    const char *text;
    double (*value)(const pair *p);
    int fixed; /* strings of one length, or 0 */
} known;

static const known kernels[] = {
    {"ssk(length=3,decay=0.7)", ssk3, 0}, {"ssk(length=5,decay=0.3,upto=1)", ssk_upto, 0},
    {"ssk(length=1,decay=0.5)", ssk1, 0}, {"ssk(length=4,decay=1)", ssk4, 0},
    {"ssk(length=7,decay=0.9)", ssk7, 0}, {"spectrum(k=2)", spectrum2, 0},
    {"mismatch(k=3,m=1)", mismatch31, 0}, {"mismatch(k=4,m=2,alphabet=4)", mismatch42, 0},
    {"mismatch(k=2,m=2)", mismatch22, 0}, {"mismatch(k=3,m=0)", mismatch30, 0},
    {"weighted-degree(k=3)", degree3, 7}, {"edit(sigma=2)", edit2, 0},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static pair pair_of(const okra_data *a, okra_int i, const okra_data *b, okra_int j)
{
    pair p;
    p.s = okra_characters_(a, i, &p.m);
    p.t = okra_characters_(b, j, &p.n);
    return p;
}

static double worst(const known *k, const okra_data *a, const okra_data *b,
                    const double *K)
{
    double most = 0;
    for (okra_int i = 0; i < a->n; i++) {
        for (okra_int j = 0; j < b->n; j++) {
            pair p = pair_of(a, i, b, j);
            double value = k->value(&p), error = fabs(K[i * b->n + j] - value);
            error = value != 0 ? error / fabs(value) : error;
            most = !(error <= most) ? error : most;
        }
    }
    return most;
}

/* Worst relative error over 40 seeds: 7.6e-16 (ssk). */
TEST(kernels_equal_their_definitions)
{
    double K[N * N], C[5 * N];
    for (int k = 0; k < KERNELS; k++) {
        for (uint64_t seed = 0; seed < 4; seed++) {
            okra_data *a = random_strings(seed, N, 4, kernels[k].fixed);
            okra_data *b = random_strings(seed + 100, 5, 4, kernels[k].fixed);
            CHECK_OK(try_gram(NULL, kernels[k].text, a, NULL, K));
            CHECK_NEAR(worst(&kernels[k], a, a, K), 0, 8e-15);
            CHECK_OK(try_gram(NULL, kernels[k].text, b, a, C));
            CHECK_NEAR(worst(&kernels[k], b, a, C), 0, 8e-15);
            okra_data_free(a);
            okra_data_free(b);
        }
    }
}

/* Symmetric, positive semidefinite but for edit, the same in another order. Smallest over
 * largest eigenvalue at worst -3.2e-16 over 40 seeds; another order 4.7e-16 (ssk). */
TEST(gram_matrices)
{
    double K[N * N], P[N * N], w[N];
    okra_int order[N];
    okra_random_ r = okra_random_create_(3, 0);
    for (int k = 0; k < KERNELS; k++) {
        okra_data *a = random_strings(77, N, 4, kernels[k].fixed), *b = NULL;
        for (okra_int i = 0; i < N; i++) {
            order[i] = i;
        }
        okra_random_shuffle_(&r, N, order);
        CHECK_OK(okra_data_take(a, order, N, &b));
        CHECK_OK(try_gram(NULL, kernels[k].text, a, NULL, K));
        CHECK_OK(try_gram(NULL, kernels[k].text, b, NULL, P));
        double most = 0;
        for (okra_int i = 0; i < N * N; i++) {
            double x = K[order[i / N] * N + order[i % N]];
            CHECK(K[i] == K[i % N * N + i / N]);
            most = OKRA_MAX_(most, fabs(x - P[i]) / OKRA_MAX_(fabs(x), 1e-300));
        }
        CHECK_NEAR(most, 0, 5e-15);
        CHECK_OK(okra_eigh_(NULL, okra_mat_of_(K, N, N), w));
        CHECK(w[0] >= -3e-15 * w[N - 1] || kernels[k].value == edit2);
        okra_data_free(a);
        okra_data_free(b);
    }
}

/* Lanes do not see one another: a pair has the same bits in any block, and as itself. */
TEST(a_pair_has_the_same_bits_wherever_it_stands)
{
    double K[N * N], one;
    for (int k = 0; k < KERNELS; k++) {
        if (strstr(kernels[k].text, "mismatch") && !strstr(kernels[k].text, "alphabet")) {
            continue; /* the alphabet is that of the training set */
        }
        okra_data *a = random_strings(5, N, 3, kernels[k].fixed);
        CHECK_OK(try_gram(NULL, kernels[k].text, a, a, K));
        for (okra_int i = 0; i < N; i += 3) {
            okra_data *x = NULL, *y = NULL;
            okra_int j = (7 * i + 2) % N;
            CHECK_OK(okra_data_take(a, &i, 1, &x));
            CHECK_OK(okra_data_take(a, &j, 1, &y));
            CHECK_OK(try_gram(NULL, kernels[k].text, x, y, &one));
            CHECK(one == K[i * N + j]);
            okra_data_free(x);
            okra_data_free(y);
        }
        okra_data_free(a);
    }
}

/* Strings of several 64-row words, and characters the training set lacks. Both sides are
 * exp of a whole number: equal. */
TEST(long_edit_distances)
{
    okra_random_ r = okra_random_create_(11, 0);
    char block[12][300];
    const char *texts[12];
    double K[144];
    for (int i = 0; i < 12; i++) {
        int length = (int[]){0, 1, 63, 64, 65, 127, 128, 129, 200, 250, 64, 299}[i];
        for (int k = 0; k < length; k++) {
            block[i][k] = (char)('a' + okra_random_below_(&r, i < 6 ? 3 : 5));
        }
        block[i][length] = 0;
        texts[i] = block[i];
    }
    okra_data *a = NULL, *b = NULL;
    const known edit = {"edit(sigma=2)", edit2, 0};
    CHECK_OK(okra_data_strings(texts, 12, &a));
    CHECK_OK(okra_data_strings(texts, 6, &b));
    CHECK_OK(try_gram(NULL, edit.text, a, NULL, K));
    CHECK(worst(&edit, a, a, K) == 0);
    CHECK_OK(try_gram(NULL, edit.text, a, b, K));
    CHECK(worst(&edit, a, b, K) == 0);
    okra_data_free(a);
    okra_data_free(b);
}

static void note(void *user, const char *text)
{
    snprintf(user, 512, "%s", text);
}

TEST(edit_warns_when_it_is_not_semidefinite)
{
    char text[512] = "";
    double K[64 * 64];
    okra_context *ctx = NULL;
    CHECK_OK(okra_context_create(&ctx));
    okra_context_set_warning(ctx, note, text);
    okra_data *a = random_strings(3, 40, 2, 0);
    CHECK_OK(try_gram(ctx, "edit(sigma=0.01)", a, NULL, K));
    CHECK(text[0] == 0);
    CHECK_OK(try_gram(ctx, "edit(sigma=20)", a, NULL, K));
    CHECK(strstr(text, "kernel edit is not positive semidefinite"));
    okra_data_free(a);
    okra_context_free(ctx);
}

/* Strings without features: 0 everywhere when normalized, and a warning. */
TEST(strings_shorter_than_the_length)
{
    const char *texts[] = {"abcd", "ab", "", "xabcd"};
    char text[512] = "";
    double K[16];
    okra_context *ctx = NULL;
    okra_data *a = NULL;
    CHECK_OK(okra_context_create(&ctx));
    okra_context_set_warning(ctx, note, text);
    CHECK_OK(okra_data_strings(texts, 4, &a));
    const char *all[] = {"ssk(length=3) | normalize", "spectrum(k=3) | normalize",
                         "mismatch(k=3,m=1) | normalize"};
    for (int k = 0; k < 3; k++) {
        text[0] = 0;
        CHECK_OK(try_gram(ctx, all[k], a, NULL, K));
        CHECK(strstr(text, "in 2 of 4 objects (the first: row "));
        CHECK(K[0] == 1 && K[3] > 0 && K[1] == 0 && K[2] == 0 && K[5] == 0 && K[10] == 0);
    }
    okra_data_free(a);
    okra_context_free(ctx);
}

TEST(errors)
{
    const char *texts[] = {"abcd", "abc"};
    okra_data *a = NULL;
    okra_kernel *kernel = NULL;
    double K[4], x = 1;
    CHECK_OK(okra_data_strings(texts, 2, &a));
    CHECK_FAILS(try_gram(NULL, "weighted-degree", a, NULL, K), OKRA_ESHAPE,
                "string 1 (from 0) of memory has 3 characters, expected 4");
    CHECK_FAILS(try_gram(NULL, "mismatch(k=1,m=2)", a, NULL, K), OKRA_EARG,
                "m=2 is more than k=1");
    CHECK_FAILS(try_gram(NULL, "mismatch(k=1,m=1,alphabet=3)", a, NULL, K), OKRA_EARG,
                "alphabet=3 is less than the 4 letters of memory");
    CHECK_FAILS(try_gram(NULL, "linear", a, NULL, K), OKRA_EARG,
                "memory holds 2 strings");
    CHECK_FAILS(okra_kernel_parse("ssk(length=0)", &kernel), OKRA_EARG, "length");
    CHECK_FAILS(okra_kernel_parse("ssk(decay=2)", &kernel), OKRA_EARG, "decay");
    okra_data_free(a);
    CHECK_OK(okra_data_dense(&x, 1, 1, 1, &a));
    CHECK_FAILS(try_gram(NULL, "ssk", a, NULL, K), OKRA_EARG, "expected strings");
    okra_data_free(a);
}

TEST(no_strings_at_all)
{
    okra_data *a = NULL, *b = random_strings(1, 3, 4, 7);
    double K[1];
    for (int k = 0; k < KERNELS; k++) {
        CHECK_OK(okra_data_strings(NULL, 0, &a));
        CHECK_OK(try_gram(NULL, kernels[k].text, a, NULL, K));
        CHECK_OK(try_gram(NULL, kernels[k].text, a, b, K));
        okra_data_free(a);
    }
    okra_data_free(b);
}

TEST(allocations)
{
    double K[64 * 64];
    okra_context *ctx = NULL;
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_threads(ctx, 1));
    for (int k = 0; k < KERNELS; k++) {
        okra_data *a = random_strings(1, 4, 4, 7), *b = random_strings(2, 3, 4, 7);
        CHECK_ALLOCATIONS(try_gram(ctx, kernels[k].text, b, a, K), (void)0);
        okra_data_free(a);
        okra_data_free(b);
    }
    okra_context_free(ctx);
}

MAIN(RUN(kernels_equal_their_definitions), RUN(gram_matrices),
     RUN(a_pair_has_the_same_bits_wherever_it_stands), RUN(long_edit_distances),
     RUN(edit_warns_when_it_is_not_semidefinite), RUN(strings_shorter_than_the_length),
     RUN(errors), RUN(no_strings_at_all), RUN(allocations))
