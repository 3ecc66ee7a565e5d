/*
 * The decoder transcribe: odd strings, warnings, refusals, several inputs, failing
 * allocations.
 */
#include "language.h"

/* One word written by a decoder of n pairs; every weight 1, or 0. */
static okra_status write_one(okra_context *ctx, const char *const *x,
                             const char *const *y, int n, const char *word,
                             const char *settings, double weight, char *out)
{
    okra_status st = OKRA_OK;
    const okra_option_table *table = &okra_decoder_transcribe_.options;
    okra_options *options = NULL;
    okra_data *dx = words(x, n), *test = words(&word, 1);
    okra_decode_request_ q = {.tests = 1, .top = 1, .inputs = test};
    okra_decoded_ d = {0};
    outputs o;
    double W[64];
    okra_fill_(64, weight, W);
    outputs_open(&o, "spectrum(k=1) | normalize", words(y, n));
    o.output.x = dx;
    CHECK_OK(okra_options_create(&table, 1, &options));
    if (*settings) {
        CHECK_OK(okra_options_set(options, "letters", settings));
    }
    TRY(decode_blocks(ctx, &okra_decoder_transcribe_, &o, options, &q, W, 1, &d));
    okra_int size = 0;
    const int32_t *code = okra_characters_(d.objects, 0, &size);
    for (okra_int k = 0; k < size; k++) { /* the tests have codes below 2048 */
        if (code[k] >= 128) {
            *out++ = (char)(0xC0 | code[k] >> 6);
        }
        *out++ = (char)(code[k] < 128 ? code[k] : 0x80 | (code[k] & 63));
    }
    *out = 0;
done:
    okra_decoded_clear_(&d);
    outputs_close(&o);
    okra_options_free(options);
    okra_data_free(dx);
    okra_data_free(test);
    return st;
}

#define WRITES(word, weight, want)                                                \
    do {                                                                          \
        char made[64] = "?";                                                      \
        CHECK_OK(write_one(NULL, xs, ys, (int)(sizeof xs / sizeof *xs), word, "", \
                           weight, made));                                        \
        CHECK_TEXT(made, want);                                                   \
    } while (0)

TEST(odd_strings)
{
    {
        static const char *const xs[] = {"", "ab", "", "b"}, *const ys[] = {"", "pq", "",
                                                                            "q"};
        WRITES("", 1, "");
        WRITES("ba", 1, "qp");
        WRITES("zz", 1, "zz"); /* a new letter stays where lengths are equal */
    }
    {
        static const char *const xs[] = {"a", "ab"}, *const ys[] = {"z", "zq"};
        WRITES("az", 1, "zz");
    }
    {
        static const char *const xs[] = {"a", "ab", "b"}, *const ys[] = {"zz", "zzq",
                                                                         "q"};
        WRITES("bz", 1, "qz"); /* outputs have it */
        WRITES("bw", 1, "q");  /* they do not   */
    }
    {
        static const char *const xs[] = {"a"}, *const ys[] = {"q"};
        WRITES("aa", 1, "qq");
        WRITES("a", 0, "q"); /* no weights at all: nothing was left out */
    }
    {
        static const char *const xs[] = {"aa", "aa", "aa"}, *const ys[] = {"q", "q", "q"};
        WRITES("aa", 1, "q");
    }
    {
        static const char *const xs[] = {"жé", "é", "ж"}, *const ys[] = {"Ωß", "ß", "Ω"};
        WRITES("éжé", 1, "ßΩß");
    }
    {
        static const char *const xs[] = {"ab", "b"}, *const ys[] = {"", ""};
        WRITES("ba", 1, ""); /* every letter goes */
    }
}

typedef struct heard {
    int count;
    char text[512];
} heard;

static void hear(void *user, const char *text)
{
    heard *h = user;
    h->count++;
    snprintf(h->text, sizeof h->text, "%s", text);
}

TEST(warnings)
{
    static const char *const xs[] = {"ab", "ba", "aab", "b"}, *const ys[] = {"pq", "qp",
                                                                             "ppq",
                                                                             "qqqqqqq"};
    heard h = {0};
    okra_context *ctx = NULL;
    char made[64];
    CHECK_OK(okra_context_create(&ctx));
    okra_context_set_warning(ctx, hear, &h);
    CHECK_OK(write_one(ctx, xs, ys, 4, "abab", "", 1, made));
    CHECK_TEXT(made, "pqpq");
    CHECK(h.count == 1 && strstr(h.text, "1 of 4 training pairs are not used: their "
                                         "outputs cannot be aligned"));
    h.count = 0;
    CHECK_OK(write_one(ctx, xs, ys, 3, "abab", "2", 1, made));
    CHECK_TEXT(made, "pqpq");
    CHECK(h.count == 1 && strstr(h.text, "3 training letters are not used, where one "
                                         "kind has more than 2; --letters"));
    okra_context_free(ctx);
}

TEST(refusals)
{
    static const char *const x[] = {"ab", "b"}, *const y[] = {"pq", "q"},
                             *const none[] = {"", ""},
                             *const many[] = {"qqqqqqq", "pppp"};
    double V[2] = {1, 2}, W[2] = {1, 1};
    char made[64];
    const okra_decoder_ *d = &okra_decoder_transcribe_;
    const okra_option_table *table = &d->options;
    okra_options *options = NULL;
    okra_data *dx = words(x, 2), *test = words(x, 1);
    okra_decode_request_ q = {.tests = 1, .top = 1, .inputs = test};
    okra_decoded_ found = {0};
    outputs o, numbers;
    CHECK_OK(okra_options_create(&table, 1, &options));
    CHECK_FAILS(write_one(NULL, none, y, 2, "a", "", 1, made), OKRA_EARG,
                "decoder transcribe: the training inputs have no letters");
    CHECK_FAILS(write_one(NULL, x, many, 2, "a", "", 1, made), OKRA_EARG,
                "no output can be written letter by letter: each letter of an input "
                "becomes at most 3");
    outputs_open(&numbers, "linear", dense_copy(V, 2, 1));
    numbers.output.x = dx;
    CHECK_FAILS(decode_blocks(NULL, d, &numbers, options, &q, W, 1, &found),
                OKRA_EUNSUPPORTED,
                "decoder transcribe needs strings as outputs; these are");
    outputs_open(&o, "spectrum(k=1)", words(y, 2));
    CHECK_FAILS(decode_blocks(NULL, d, &o, options, &q, W, 1, &found), OKRA_EUNSUPPORTED,
                "needs all training inputs, which a model of low rank does not keep");
    o.output.x = numbers.y;
    CHECK_FAILS(decode_blocks(NULL, d, &o, options, &q, W, 1, &found), OKRA_EUNSUPPORTED,
                "needs an input of strings; there is none");
    o.output.x = dx;
    CHECK_OK(okra_options_set(options, "from", "2"));
    CHECK_FAILS(decode_blocks(NULL, d, &o, options, &q, W, 1, &found), OKRA_EUNSUPPORTED,
                "needs an input of strings; the one that --from names is none");
    okra_options_free(options);
    outputs_close(&o);
    outputs_close(&numbers);
    okra_data_free(dx);
    okra_data_free(test);
}

/* Of several inputs the strings are transcribed, or those that are named. */
TEST(several_inputs)
{
    static const char *const one[] = {"ab", "ba", "b"}, *const two[] = {"x", "xy", "yx"},
                             *const y[] = {"pq", "qp", "q"};
    double V[3] = {1, 2, 3}, W[3] = {1, 1, 1};
    okra_data *parts[3] = {dense_copy(V, 3, 1), words(one, 3), words(two, 3)};
    okra_data *x = NULL;
    const okra_option_table *table = &okra_decoder_transcribe_.options;
    CHECK_OK(okra_data_tuple(parts, 3, &x));
    for (int from = 0; from < 4; from++) {
        okra_options *options = NULL;
        okra_decode_request_ q = {.tests = 1, .top = 1, .inputs = x};
        okra_decoded_ d = {0};
        outputs o;
        char number[8], found[8] = "";
        snprintf(number, sizeof number, "%d", from);
        CHECK_OK(okra_options_create(&table, 1, &options));
        CHECK_OK(okra_options_set(options, "from", number));
        outputs_open(&o, "spectrum(k=1)", words(y, 3));
        o.output.x = x;
        okra_status st =
            decode_blocks(NULL, &okra_decoder_transcribe_, &o, options, &q, W, 1, &d);
        CHECK(st == (from == 1 ? OKRA_EUNSUPPORTED : OKRA_OK));
        if (st == OKRA_OK) {
            text_of(d.objects, 0, found);
            CHECK(strcmp(found, "pq") == 0 || from == 3);
        }
        okra_decoded_clear_(&d);
        outputs_close(&o);
        okra_options_free(options);
    }
    okra_data_free(x);
    for (int k = 0; k < 3; k++) {
        okra_data_free(parts[k]);
    }
}

TEST(failing_allocations)
{
    language g;
    double W[2 * 8];
    okra_decoded_ d = {0};
    outputs o;
    const okra_decoder_ *decoder = &okra_decoder_transcribe_;
    const okra_option_table *table = &decoder->options;
    okra_options *options = NULL;
    language_make(&g, 8, 2, false);
    okra_fill_(2 * 8, 0.1, W);
    W[0] = 0; /* the first pair is left out, and is the first test point */
    okra_data *x = words(g.xs, g.n), *test = words(g.xs, 2);
    okra_decode_request_ q = {.tests = 2, .top = 2, .inputs = test};
    CHECK_OK(okra_options_create(&table, 1, &options));
    outputs_open(&o, "spectrum(k=1) | normalize", words(g.ys, g.n));
    o.output.x = x;
    CHECK_ALLOCATIONS(decode_blocks(NULL, decoder, &o, options, &q, W, 2, &d),
                      okra_decoded_clear_(&d));
    outputs_close(&o);
    okra_options_free(options);
    okra_data_free(x);
    okra_data_free(test);
}

MAIN(RUN(odd_strings), RUN(warnings), RUN(refusals), RUN(several_inputs),
     RUN(failing_allocations))
