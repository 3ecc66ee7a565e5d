/*
 * Sequences from position-wise scores against all sequences of the same length, and where
 * lengths are free against all sequences, with chains of order 0 to 4.
 */
#include "decoding.h"

#include "decode/strings/string_prediction.h"
#include "okra/more/objects.h"

enum { LETTERS = 3, N = 12, TESTS = 15, LENGTH = 5, MOST = 400 };

static okra_data *random_strings(okra_random_ *r, int shortest, int longest)
{
    char text[N][LENGTH + 1];
    const char *texts[N];
    okra_data *data = NULL;
    for (int i = 0; i < N; i++) {
        int length = shortest + (int)okra_random_below_(r, longest - shortest + 1);
        for (int j = 0; j < length; j++) {
            text[i][j] = (char)('a' + okra_random_below_(r, LETTERS));
        }
        text[i][length] = '\0';
        texts[i] = text[i];
    }
    CHECK_OK(okra_data_strings(texts, N, &data));
    return data;
}

/* Character t of training output i; -1 stands for the beginning before it. */
static int at(const okra_data *y, okra_int i, okra_int t)
{
    okra_int length;
    const int32_t *s = okra_data_characters(y, i, &length);
    return t < 0 ? -1 : (int)s[t] - 'a';
}

/* P(c | the k characters before place t of the word) from counts, the slow way: over the
 * characters of all training outputs, each context leaning on the shorter one; `end`
 * stands for the end. */
static double probability(const okra_data *y, int k, const int *word, int t, int c,
                          int symbols, int end)
{
    enum { PRIOR = 1 };
    double hits = 0, total = 0;
    if (k < 0) {
        return 1 / (double)symbols;
    }
    for (okra_int i = 0; i < y->n; i++) {
        okra_int length;
        okra_data_characters(y, i, &length);
        for (okra_int u = 0; u < length + (end >= 0); u++) {
            bool same = u - k >= -1;
            for (int j = 1; same && j <= k; j++) {
                same = at(y, i, u - j) == (t - j < 0 ? -1 : word[t - j]);
            }
            total += same;
            hits += same && (u == length ? end : at(y, i, u)) == c;
        }
    }
    return (hits + PRIOR * probability(y, k - 1, word, t, c, symbols, end)) /
           (total + PRIOR);
}

static double log_p(const okra_data *y, int order, const int *word, int t, int c,
                    int symbols, int end)
{
    return log(probability(y, order < t + 1 ? order : t + 1, word, t, c, symbols, end));
}

static double value_of(const okra_data *y, const double *w, int order, double weight,
                       const int *word, int length, int symbols, int end)
{
    double sum = 0;
    for (int t = 0; t < length; t++) {
        for (okra_int i = 0; i < y->n; i++) {
            okra_int own;
            const int32_t *s = okra_data_characters(y, i, &own);
            int here = t < own ? (int)s[t] - 'a' : end;
            sum += here == word[t] ? w[i] : 0;
        }
        if (order > 0) {
            sum += weight * log_p(y, order, word, t, word[t], symbols, end);
        }
    }
    return sum;
}

/* The values of all words of a length, the best first; how many. */
static int brute(const okra_data *y, const double *w, int order, double weight,
                 int length, int symbols, int end, double *values)
{
    int count = 1;
    for (int t = 0; t < length; t++) {
        count *= symbols;
    }
    for (int i = 0; i < count; i++) {
        int word[LENGTH + 1];
        for (int t = 0, rest = i; t < length; t++, rest /= symbols) {
            word[t] = rest % symbols;
        }
        values[i] = -value_of(y, w, order, weight, word, length, symbols, end);
    }
    qsort(values, (size_t)count, sizeof *values, ascending);
    return count;
}

/* Result k of test point t, its letters into word; -1: there is none. */
static int result(const okra_decoded_ *d, okra_int t, okra_int k, int *word)
{
    okra_int length, index = d->index[t * d->top + k];
    const int32_t *s =
        index < 0 ? NULL : okra_data_characters(d->proposals, index, &length);
    for (okra_int j = 0; s && j < length; j++) {
        word[j] = (int)s[j] - 'a';
    }
    return s ? (int)length : -1;
}

/* No two of the results of a test point are the same. */
static void all_differ(const okra_decoded_ *d, okra_int t, okra_int count)
{
    okra_int where[MOST], distinct = 0;
    okra_data *rows = NULL;
    CHECK_OK(okra_data_take(d->proposals, d->index + t * d->top, count, &rows));
    CHECK_OK(okra_data_distinct(rows, where, &distinct));
    CHECK(distinct == count);
    okra_data_free(rows);
}

static void given_lengths_of(int order, okra_int top)
{
    okra_random_ r = okra_random_create_((uint64_t)order, 5);
    outputs o;
    double W[TESTS * N], own, values[MOST];
    okra_int lengths[TESTS];
    okra_decoded_ d = {0};
    char settings[60];
    outputs_open(&o, "position(zero-one)", random_strings(&r, 3, LENGTH));
    random_weights(&r, TESTS, N, W);
    for (int t = 0; t < TESTS; t++) {
        lengths[t] = t % (LENGTH + 1); /* 0 too */
    }
    snprintf(settings, sizeof settings, "top=%lld chain=%d%s", (long long)top, order,
             order ? " chain-weight=0.2" : "");
    CHECK_OK(decode(NULL, &o, "position", settings, W, TESTS, lengths, 4, &d));
    for (int t = 0; t < TESTS && d.objects; t++) {
        int count = brute(o.y, W + t * N, order, 0.2, (int)lengths[t], 3, -1, values);
        for (okra_int k = 0; k < d.top; k++) {
            int word[LENGTH + 1], length = result(&d, t, k, word);
            CHECK(length == (k < count ? lengths[t] : -1));
            if (length < 0) {
                continue;
            }
            double got = value_of(o.y, W + t * N, order, 0.2, word, length, 3, -1);
            CHECK_NEAR(-got, values[k], 1e-12); /* 9e-16 at worst */
            okra_data *found = NULL;
            CHECK_OK(okra_data_take(d.proposals, &d.index[t * d.top + k], 1, &found));
            all_distances(&o, found, W + t * N, &own);
            if (length > 0) {
                CHECK_NEAR(d.distance[t * d.top + k], fmax(own, 0), 1e-12);
            }
            okra_data_free(found);
        }
        all_differ(&d, t, OKRA_MIN_(d.top, count));
    }
    okra_decoded_clear_(&d);
    outputs_close(&o);
}

TEST(given_lengths)
{
    for (int order = 0; order <= 4; order++) {
        given_lengths_of(order, 1);
        given_lengths_of(order, 7);
        given_lengths_of(order, 100000); /* all of them */
    }
}

/* How many positions agree, divided by the roots of the lengths if normalized. */
static double agree(const int *a, int m, const int *b, int n, bool normalized)
{
    double same = 0;
    for (int t = 0; t < m && t < n; t++) {
        same += a[t] == b[t];
    }
    return normalized ? same / sqrt((double)m * (double)n) : same;
}

typedef struct problem {
    int word[N][LENGTH], length[N], order;
    const okra_data *y;
    const double *w;
    double weight, norm;
    bool normalized, empty;
} problem;

/* |phi(y) - h|^2 / 2 - weight log P(y), from the definitions. */
static double judged(const problem *p, const int *word, int length)
{
    double value = p->norm + (p->normalized ? 1 : length), chain = 0;
    for (int i = 0; i < N; i++) {
        value -=
            2 * p->w[i] * agree(word, length, p->word[i], p->length[i], p->normalized);
    }
    for (int t = 0; t <= length && p->order > 0; t++) {
        int c = t == length ? LETTERS : word[t];
        chain += log_p(p->y, p->order, word, t, c, LETTERS + 1, LETTERS);
    }
    return value / 2 - p->weight * chain;
}

/* Values of all words of up to `longest` letters, the least first; without the empty one,
 * which has no features, if normalized or not allowed. */
static int all_words(const problem *p, int longest, double *values)
{
    int count = 0;
    for (int length = 0, words = 1; length <= longest; length++, words *= LETTERS) {
        for (int i = 0; i < words && (length > 0 || (p->empty && !p->normalized)); i++) {
            int word[LENGTH];
            for (int t = 0, rest = i; t < length; t++, rest /= LETTERS) {
                word[t] = rest % LETTERS;
            }
            values[count++] = judged(p, word, length);
        }
    }
    qsort(values, (size_t)count, sizeof *values, ascending);
    return count;
}

static int letters_of(const okra_data *y, okra_int i, int *word)
{
    okra_int length;
    const int32_t *s = okra_data_characters(y, i, &length);
    for (okra_int t = 0; t < length; t++) {
        word[t] = (int)s[t] - 'a';
    }
    return (int)length;
}

/* TESTS problems. */
static void free_lengths(bool normalized, int order, uint64_t seed, okra_int top)
{
    okra_random_ r = okra_random_create_(seed, 5);
    outputs o;
    double W[TESTS * N];
    okra_decoded_ d = {0};
    int longest = 0;
    outputs_open(&o, normalized ? "position(zero-one) | normalize" : "position(zero-one)",
                 random_strings(&r, 1, 4));
    random_weights(&r, TESTS, N, W);
    problem p = {.order = order == 4 ? 8 : order, .y = o.y, .normalized = normalized};
    p.empty = seed % 2;
    p.weight = order ? 0.05 : 0;
    for (int i = 0; i < N; i++) {
        p.length[i] = letters_of(o.y, i, p.word[i]);
        longest = OKRA_MAX_(longest, p.length[i]);
    }
    char settings[80];
    snprintf(settings, sizeof settings, "top=%lld chain=%d%s", (long long)top, p.order,
             p.empty ? " allow-empty-candidates=yes" : "");
    CHECK_OK(decode(NULL, &o, "position", settings, W, TESTS, NULL, 7, &d));
    for (int t = 0; t < TESTS && d.objects; t++) {
        double values[MOST];
        p.w = W + t * N;
        p.norm = 0;
        for (int i = 0; i < N * N; i++) {
            p.norm += p.w[i / N] * p.w[i % N] *
                      agree(p.word[i / N], p.length[i / N], p.word[i % N],
                            p.length[i % N], normalized);
        }
        int count = all_words(&p, longest, values);
        for (okra_int k = 0; k < d.top; k++) {
            int word[LENGTH], length = result(&d, t, k, word);
            CHECK((length >= 0) == (k < count));
            if (length < 0) {
                continue;
            }
            CHECK_NEAR(judged(&p, word, length), values[k], 1e-13); /* 2e-15 */
            p.weight = 0;
            CHECK_NEAR(d.distance[t * d.top + k], fmax(2 * judged(&p, word, length), 0),
                       1e-12);
            p.weight = order ? 0.05 : 0;
        }
        all_differ(&d, t, OKRA_MIN_(d.top, count));
    }
    okra_decoded_clear_(&d);
    outputs_close(&o);
}

/* 2 kernels, 5 orders (0, 1, 2, 3, 8, longer than any word), 10 training sets, TESTS
 * predictions each: 1500 problems; with a sanitizer one training set for each `top`. */
TEST(lengths_found)
{
    for (uint64_t seed = 0; seed < OKRA_MAX_(3, SOME(10)); seed++) {
        for (int order = 0; order <= 4; order++) {
            const okra_int top = (okra_int[]){1, 6, 100000}[seed % 3];
            free_lengths(false, order, 40 + seed, top);
            free_lengths(true, order, 90 + seed, top);
        }
    }
}

/* The neighbours ab, abc, abc, abd, abe: their mean is nearest to ab. */
TEST(no_farther_than_a_training_output)
{
    const char *texts[] = {"ab", "abc", "abc", "abd", "abe"};
    double W[5] = {0.2, 0.2, 0.2, 0.2, 0.2};
    okra_data *y = NULL;
    okra_decoded_ d = {0};
    okra_int length;
    outputs o;
    CHECK_OK(okra_data_strings(texts, 5, &y));
    outputs_open(&o, "position(zero-one)", y);
    CHECK_OK(decode(NULL, &o, "position", "", W, 1, NULL, 1, &d));
    const int32_t *s = okra_data_characters(d.objects, 0, &length);
    CHECK(length == 2 && s[0] == 'a' && s[1] == 'b');
    CHECK_NEAR(d.distance[0], 0.24, 1e-14);
    okra_decoded_clear_(&d);
    outputs_close(&o);
}

/* Pairs of weights that name one training output must give it back. */
TEST(a_training_output_comes_back)
{
    okra_random_ r = okra_random_create_(9, 9);
    outputs o;
    double W[N * N] = {0};
    okra_decoded_ d = {0};
    outputs_open(&o, "position(zero-one)", random_strings(&r, 1, LENGTH));
    for (int i = 0; i < N; i++) {
        W[i * N + i] = 1;
    }
    CHECK_OK(decode(NULL, &o, "position", "", W, N, NULL, 5, &d));
    for (int i = 0; i < N && d.objects; i++) {
        okra_int a, b;
        const int32_t *s = okra_data_characters(d.objects, i, &a),
                      *u = okra_data_characters(o.y, i, &b);
        CHECK(a == b && memcmp(s, u, (size_t)a * sizeof *s) == 0);
        CHECK(d.distance[i] == 0);
    }
    okra_decoded_clear_(&d);
    outputs_close(&o);
}

TEST(failures)
{
    okra_random_ r = okra_random_create_(1, 1);
    outputs o;
    okra_decoded_ d = {0};
    double W[2 * N], y[1] = {1};
    okra_data *data = NULL;
    random_weights(&r, 2, N, W);
    CHECK_OK(okra_data_dense(y, 1, 1, 1, &data));
    outputs_open(&o, "linear", data);
    CHECK_FAILS(decode(NULL, &o, "position", "", W, 1, NULL, 1, &d), OKRA_EUNSUPPORTED,
                "needs strings or sequences as outputs; these are dense");
    outputs_close(&o);
    outputs_open(&o, "position(zero-one)", random_strings(&r, 1, 4));
    CHECK_FAILS(decode(NULL, &o, "position", "chain-weight=1", W, 1, NULL, 1, &d),
                OKRA_EARG, "chain-weight has no use without a chain");
    CHECK_FAILS(decode(NULL, &o, "position", "chain-prior=1", W, 1, NULL, 1, &d),
                OKRA_EARG, "chain-prior has no use without a chain");
    CHECK_FAILS(decode(NULL, &o, "position", "chain=1 chain-prior=0", W, 1, NULL, 1, &d),
                OKRA_EARG, "chain-prior");
    CHECK_FAILS(decode(NULL, &o, "position", "chain=9", W, 1, NULL, 1, &d), OKRA_EARG,
                "chain");
    CHECK_ALLOCATIONS(decode(NULL, &o, "position", "chain=3", W, 2, NULL, 2, &d),
                      okra_decoded_clear_(&d));
    outputs_close(&o);
}

MAIN(RUN(given_lengths), RUN(lengths_found), RUN(no_farther_than_a_training_output),
     RUN(a_training_output_comes_back), RUN(failures))
