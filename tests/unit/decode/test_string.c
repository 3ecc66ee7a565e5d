/*
 * Strings found by the decoder against all strings of up to 6 letters over 3.
 */
#include "decoding.h"

#include "data/strings.h"
#include "okra/more/objects.h"

enum { LETTERS = 3, LONGEST = 6, ALL = 1093, N = 25, TESTS = 40 };

static char every[ALL][LONGEST + 1];

/* Every string of 0 to 6 letters, and a random sample of them. */
static okra_data *all_strings(void)
{
    const char *texts[ALL];
    okra_data *data = NULL;
    for (int i = 0, at = 0, length = 0, power = 1; i < ALL; i++) {
        if (at == power) {
            at = 0;
            power *= LETTERS;
            length++;
        }
        for (int j = 0, rest = at; j < length; j++, rest /= LETTERS) {
            every[i][j] = (char)('a' + rest % LETTERS);
        }
        every[i][length] = '\0';
        at++;
        texts[i] = every[i];
    }
    CHECK_OK(okra_data_strings(texts, ALL, &data));
    return data;
}

/* Long ones, of 5 and 6 letters mostly, or of 1 to 3: then most results need letters put
 * in. */
static okra_data *some_strings(okra_random_ *r, bool brief)
{
    const char *texts[N];
    okra_data *data = NULL;
    for (int i = 0; i < N; i++) {
        texts[i] = every[brief ? 1 + okra_random_below_(r, 39)
                               : ALL - 1 - okra_random_below_(r, 1000)];
    }
    CHECK_OK(okra_data_strings(texts, N, &data));
    return data;
}

/* How many of the results are beaten by some string; distances must be true. */
static int beaten(const char *kernel, bool brief, uint64_t seed, const char *settings,
                  int *fresh)
{
    static double distance[ALL];
    okra_data *all = all_strings();
    okra_random_ r = okra_random_create_(seed, 7);
    outputs o;
    double W[TESTS * N];
    okra_decoded_ d = {0};
    int count = 0;
    outputs_open(&o, kernel, some_strings(&r, brief));
    random_weights(&r, TESTS, N, W);
    CHECK_OK(decode(NULL, &o, "string", settings, W, TESTS, NULL, 17, &d));
    for (int t = 0; t < TESTS && d.objects; t++) {
        double best = INFINITY, training = INFINITY, got = NAN;
        okra_int length, other;
        const int32_t *codes = okra_data_characters(d.objects, t, &length);
        bool known = false;
        all_distances(&o, all, W + t * N, distance);
        for (int c = 0; c < ALL; c++) {
            best = fmin(best, distance[c]);
            const int32_t *s = okra_data_characters(all, c, &other);
            if (other == length && memcmp(s, codes, (size_t)length * sizeof *s) == 0) {
                got = distance[c];
            }
        }
        all_distances(&o, o.y, W + t * N, distance);
        for (int i = 0; i < N; i++) {
            training = fmin(training, distance[i]);
            const int32_t *s = okra_data_characters(o.y, i, &other);
            known |= other == length && memcmp(s, codes, (size_t)length * sizeof *s) == 0;
        }
        CHECK_NEAR(d.distance[t], fmax(got, 0), 1e-12); /* 4e-15 at worst */
        CHECK(d.distance[t] <= training + 1e-12);
        CHECK(d.index[t] == t && d.proposals->n == TESTS); /* of what it made up */
        count += d.distance[t] > best + 1e-9;
        *fresh += !known;
    }
    okra_decoded_clear_(&d);
    outputs_close(&o);
    okra_data_free(all);
    return count;
}

/* 5,000 problems of long strings and 1,000 of short ones: the best in 99.9 of 100. */
TEST(brute_force_finds_nothing_better)
{
    static const char *const kernels[] = {
        "ssk(length=2,decay=0.5) | normalize",
        "ssk(length=3,decay=0.3,upto=1)",
        "spectrum(k=2) | normalize | rbf(sigma=0.7)",
        "spectrum(k=2)",
        "mismatch(k=3,m=1) | normalize",
        "position(zero-one)",
        "2*edit(sigma=1.5)",
    };
    for (int brief = 0; brief < 2; brief++) {
        int worse = 0, fresh = 0, runs = 0;
        for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
            for (uint64_t seed = 0; seed < SOME(brief ? 5 : 25); seed++) {
                int before = worse;
                worse += beaten(kernels[k], brief, seed, "longest=6", &fresh);
                runs += TESTS;
                if (strcmp(kernels[k], "spectrum(k=2)") == 0) {
                    CHECK(worse == before); /* exact */
                }
            }
        }
        printf("  %d of %d beaten, %d results never seen\n", worse, runs, fresh);
        CHECK(worse * 1000 <= runs);
        CHECK(fresh > runs / 10);
    }
}

/* The eight best of all 1,093 strings, 5,000 predictions and more. */
TEST(the_eight_best)
{
    static const char *const kernels[] = {
        "ssk(length=2,decay=0.5) | normalize",
        "ssk(length=3,decay=0.3,upto=1)",
        "spectrum(k=2)",
        "mismatch(k=3,m=1) | normalize",
        "position(zero-one)",
        "edit",
    };
    static double distance[ALL];
    okra_data *all = all_strings();
    for (int c = 0; c < 6 * SOME(21); c++) {
        okra_random_ r = okra_random_create_((uint64_t)c, 11);
        double W[TESTS * N];
        okra_decoded_ d = {0};
        outputs o;
        outputs_open(&o, kernels[c % 6], some_strings(&r, c % 2));
        random_weights(&r, TESTS, N, W);
        CHECK_OK(decode(NULL, &o, "string", "longest=6 top=8", W, TESTS, NULL, 17, &d));
        for (int t = 0; t < TESTS && d.objects; t++) {
            all_distances(&o, all, W + t * N, distance);
            check_best(&d, t, distance, ALL, 0, 1e-12); /* 4e-15 at worst */
        }
        okra_decoded_clear_(&d);
        outputs_close(&o);
    }
    okra_data_free(all);
}

/* The exact search alone: no beam to speak of. */
TEST(spectrum_is_exact_by_itself)
{
    int fresh = 0;
    for (uint64_t seed = 20; seed < 20 + SOME(6); seed++) {
        CHECK(beaten("2*spectrum(k=3)", false, seed, "longest=6 beam=1 rounds=1",
                     &fresh) == 0);
    }
}

TEST(one_thread_or_two_and_any_blocks_give_the_same)
{
    okra_data *all = all_strings();
    okra_random_ r = okra_random_create_(3, 7);
    outputs o;
    double W[TESTS * N];
    okra_decoded_ a = {0}, b = {0};
    okra_context *ctx = NULL;
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_threads(ctx, 1));
    outputs_open(&o, "ssk(length=2,decay=0.5) | normalize", some_strings(&r, false));
    random_weights(&r, TESTS, N, W);
    CHECK_OK(decode(NULL, &o, "string", "", W, TESTS, NULL, TESTS, &a));
    CHECK_OK(decode(ctx, &o, "string", "", W, TESTS, NULL, 3, &b));
    for (int t = 0; t < TESTS && a.objects && b.objects; t++) {
        okra_int l, m;
        const int32_t *s = okra_data_characters(a.objects, t, &l),
                      *u = okra_data_characters(b.objects, t, &m);
        CHECK(l == m && memcmp(s, u, (size_t)l * sizeof *s) == 0);
        CHECK_NEAR(a.distance[t], b.distance[t], 1e-13);
    }
    okra_decoded_clear_(&a);
    okra_decoded_clear_(&b);
    okra_context_free(ctx);
    outputs_close(&o);
    okra_data_free(all);
}

TEST(other_alphabets)
{
    okra_data *all = all_strings();
    okra_random_ r = okra_random_create_(5, 7);
    outputs o;
    double W[TESTS * N];
    okra_decoded_ d = {0};
    outputs_open(&o, "spectrum(k=2)", some_strings(&r, false));
    random_weights(&r, TESTS, N, W);
    CHECK_FAILS(decode(NULL, &o, "string", "alphabet=xyz", W, TESTS, NULL, TESTS, &d),
                OKRA_EARG, "alphabet is 'xyz', and no training output has any");
    CHECK_OK(decode(NULL, &o, "string", "alphabet=abcxyz", W, TESTS, NULL, TESTS, &d));
    okra_decoded_clear_(&d);
    CHECK_OK(decode(NULL, &o, "string", "alphabet=ab", W, TESTS, NULL, TESTS, &d));
    okra_decoded_clear_(&d);
    outputs_close(&o);
    okra_data_free(all);
}

/* Strings of one length: the best of all of them, also of degrees beyond the length. */
TEST(weighted_degree_is_exact)
{
    enum { WORDS = 9, T = 6, LENGTH = 5, SAME = 243 };
    static const char *const kernels[] = {"weighted-degree(k=1)", "weighted-degree(k=3)",
                                          "weighted-degree(k=9)",
                                          "2*weighted-degree(k=2) | normalize",
                                          "weighted-degree(k=2) + position(zero-one)"};
    char same[SAME][LENGTH + 1];
    const char *names[SAME];
    okra_data *all = NULL;
    for (int i = 0; i < SAME; i++) {
        int number = i;
        for (int t = 0; t < LENGTH; t++, number /= 3) {
            same[i][t] = (char)('a' + number % 3);
        }
        same[i][LENGTH] = '\0';
        names[i] = same[i];
    }
    CHECK_OK(okra_data_strings(names, SAME, &all));
    for (int k = 0; k < 5; k++) {
        for (uint64_t seed = 0; seed < SOME(40); seed++) {
            okra_random_ r = okra_random_create_(seed, 31);
            const char *words[WORDS];
            double W[T * WORDS], distance[SAME];
            okra_data *y = NULL;
            okra_decoded_ d = {0};
            outputs o;
            for (int i = 0; i < WORDS; i++) {
                words[i] = i == 0 ? "abcab" : same[okra_random_below_(&r, SAME)];
            }
            random_weights(&r, T, WORDS, W);
            CHECK_OK(okra_data_strings(words, WORDS, &y));
            outputs_open(&o, kernels[k], y);
            for (int top = 1; top < 5; top += 3) {
                CHECK_OK(decode(NULL, &o, "string", top > 1 ? "top=4" : "", W, T, NULL, 4,
                                &d));
                for (int t = 0; t < T && d.distance; t++) {
                    all_distances(&o, all, W + t * WORDS, distance);
                    check_best(&d, t, distance, SAME, 0, 1e-12);
                }
                okra_decoded_clear_(&d);
            }
            if (k < 4) {
                CHECK_FAILS(decode(NULL, &o, "string", "longest=4", W, T, NULL, 4, &d),
                            OKRA_EARG, "compares strings of 5 letters alone");
            }
            if (seed == 0) {
                CHECK_ALLOCATIONS(decode(NULL, &o, "string", "top=2", W, T, NULL, 4, &d),
                                  okra_decoded_clear_(&d));
            }
            outputs_close(&o);
        }
    }
    okra_data_free(all);
}

TEST(failures)
{
    static const char *const texts[] = {"ab", "ba", "a", ""};
    okra_data *y = NULL, *dense = NULL, *blank = NULL;
    outputs o;
    okra_decoded_ d = {0};
    double W[8] = {0.5, 0.5, 0, 0, 1, 0, 0, 0}, point[1] = {1};
    CHECK_OK(okra_data_strings(texts, 4, &y));
    outputs_open(&o, "spectrum(k=2)", y);
    for (int top = 1; top < 3; top++) {
        CHECK_ALLOCATIONS(
            decode(NULL, &o, "string", top > 1 ? "top=2" : "", W, 2, NULL, 2, &d),
            okra_decoded_clear_(&d));
    }
    outputs_close(&o);
    CHECK_OK(okra_data_dense(point, 1, 1, 1, &dense));
    outputs_open(&o, "rbf(sigma=1)", dense);
    CHECK_FAILS(decode(NULL, &o, "string", "", W, 1, NULL, 1, &d), OKRA_EUNSUPPORTED,
                "needs strings as outputs; these are dense");
    outputs_close(&o);
    CHECK_OK(okra_data_strings(texts + 3, 1, &blank));
    outputs_open(&o, "spectrum(k=2)", blank);
    CHECK_FAILS(decode(NULL, &o, "string", "", W, 1, NULL, 1, &d), OKRA_EARG,
                "the training outputs have no letters");
    outputs_close(&o);
}

MAIN(RUN(brute_force_finds_nothing_better), RUN(the_eight_best),
     RUN(spectrum_is_exact_by_itself),
     RUN(one_thread_or_two_and_any_blocks_give_the_same), RUN(other_alphabets),
     RUN(weighted_degree_is_exact), RUN(failures))
