/*
 * The string or sequence of the least expected loss against losses of all pairs written
 * out, over all strings there are.
 */
#include "data/strings.h"
#include "loss.h"

static okra_int edits(const char *a, const char *b)
{
    if (!*a || !*b) {
        return (okra_int)(strlen(a) + strlen(b));
    }
    okra_int replaced = edits(a + 1, b + 1) + (*a != *b);
    return OKRA_MIN_(replaced, 1 + OKRA_MIN_(edits(a + 1, b), edits(a, b + 1)));
}

TEST(strings_by_edit_distance)
{
    enum { WORDS = 7 };
    static const char *const words[WORDS] = {"cat", "cart", "art", "tac",
                                             "a",   "caat", "rat"};
    double W[TESTS * WORDS];
    okra_random_ r = okra_random_create_(3, 3);
    okra_data *y = NULL;
    okra_decoded_ d = {0};
    outputs o;
    random_weights(&r, TESTS, WORDS, W);
    CHECK_OK(okra_data_strings(words, WORDS, &y));
    outputs_open(&o, "ssk(length=1)", y);
    run(&o, "edit", NULL, W, WORDS, 1, 5, &d);
    for (int t = 0; t < TESTS && d.index; t++) {
        double best = (double)INFINITY;
        for (int c = 0; c < WORDS; c++) {
            double risk = 0;
            for (int i = 0; i < WORDS; i++) {
                risk += W[t * WORDS + i] * (double)edits(words[i], words[c]);
            }
            best = fmin(best, risk);
        }
        CHECK_NEAR(d.distance[t], best, 1e-12);
    }
    okra_decoded_clear_(&d);
    outputs_close(&o);
}

static okra_int places(const char *a, const char *b)
{
    okra_int n = (okra_int)strlen(a), m = (okra_int)strlen(b), wrong = llabs(n - m);
    for (okra_int t = 0; t < OKRA_MIN_(n, m); t++) {
        wrong += a[t] != b[t];
    }
    return wrong;
}
static okra_int wrong_word(const char *a, const char *b)
{
    return -(strcmp(a, b) == 0);
}

/* All strings of a, b and c with up to 4 letters, by number. */
enum { STRINGS = 1 + 3 + 9 + 27 + 81 };
static void string_of(int number, char *out)
{
    int length = 0, count = 1;
    for (; number >= count; count *= 3, length++) {
        number -= count;
    }
    for (int t = 0; t < length; t++) {
        out[t] = (char)('a' + number % 3);
        number /= 3;
    }
    out[length] = '\0';
}

/* Words as strings, or as sequences labelled with their letters. */
static void words_as(bool sequences, const char *const *words, okra_int n,
                     okra_data **out)
{
    okra_int offsets[16] = {0}, total = 0;
    double vectors[128] = {0};
    int32_t letters[128] = {0};
    if (!sequences) {
        CHECK_OK(okra_data_strings(words, n, out));
        return;
    }
    for (okra_int i = 0; i < n; i++) {
        for (const char *c = words[i]; *c; c++) {
            letters[total++] = *c;
        }
        offsets[i + 1] = total;
    }
    CHECK_OK(okra_data_sequences(offsets, vectors, letters, n, 1, out));
}

typedef struct word_loss {
    const char *spec;
    okra_int (*f)(const char *a, const char *b);
} word_loss;

/* How many of TESTS results are not the best of all strings. */
static int all_strings(const word_loss *loss, bool sequences, uint64_t seed)
{
    enum { WORDS = 8 };
    okra_random_ r = okra_random_create_(seed, 12);
    char words[STRINGS][8];
    const char *given[WORDS];
    double W[TESTS * WORDS];
    okra_data *y = NULL;
    okra_decoded_ d = {0};
    outputs o;
    int beaten = 0;
    for (int i = 0; i < STRINGS; i++) {
        string_of(i, words[i]);
    }
    for (int i = 0; i < WORDS; i++) {
        given[i] = words[i == 0 ? STRINGS - 5 : okra_random_below_(&r, STRINGS)];
    }
    random_weights(&r, TESTS, WORDS, W);
    words_as(sequences, given, WORDS, &y);
    outputs_open(&o, sequences ? "position(zero-one)" : "ssk(length=1)", y);
    over_all(&o, loss->spec, "4", W, WORDS, &d);
    for (int t = 0; t < TESTS && d.objects; t++) {
        double least = (double)INFINITY, own = 0;
        for (int c = 0; c < STRINGS; c++) {
            double risk = 0;
            for (int i = 0; i < WORDS; i++) {
                risk += W[t * WORDS + i] * (double)loss->f(given[i], words[c]);
            }
            /* letters that no training output has cannot be written */
            least = fmin(least, risk);
        }
        okra_int length = 0;
        char text[8] = {0};
        const int32_t *codes = okra_characters_(d.objects, t, &length);
        for (okra_int k = 0; k < length && k < 7; k++) {
            text[k] = (char)codes[k];
        }
        for (int i = 0; i < WORDS; i++) {
            own += W[t * WORDS + i] * (double)loss->f(given[i], text);
        }
        CHECK(okra_data_kind(d.objects) == okra_data_kind(o.y));
        CHECK_NEAR(d.distance[t], own, 1e-12);
        beaten += d.distance[t] > least + 1e-12;
    }
    okra_decoded_clear_(&d);
    outputs_close(&o);
    return beaten;
}

TEST(losses_over_all_strings_and_sequences_equal_brute_force)
{
    static const word_loss table[] = {
        {"hamming", places}, {"edit", edits}, {"exact-match", wrong_word}};
    for (int k = 0; k < 6; k++) {
        int beaten = 0;
        for (uint64_t seed = 0; seed < SOME(k > 2 ? 10 : 30); seed++) {
            beaten += all_strings(&table[k % 3], k > 2, seed);
        }
        CHECK(beaten == 0);
    }
}

MAIN(RUN(strings_by_edit_distance),
     RUN(losses_over_all_strings_and_sequences_equal_brute_force))
