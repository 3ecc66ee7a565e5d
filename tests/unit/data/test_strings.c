/* Strings from memory, from text and FASTA; sequences, tuples; the synthetic strings. */
#include "data/strings.h"
#include "data/files/formats.h"
#include "texts.h"
#include "okra/more/objects.h"
#include "okra/program.h"

#include <zlib.h>

static okra_bytes_ bytes_of(const void *p, size_t size)
{
    okra_bytes_ b = {.p = p, .size = (okra_int)size};
    return b;
}

static okra_status text(const char *content, okra_data **out)
{
    okra_bytes_ b = bytes_of(content, strlen(content));
    return okra_strings_read_(NULL, &b, false, "t", out);
}

static okra_status fasta(const char *content, okra_data **out)
{
    okra_bytes_ b = bytes_of(content, strlen(content));
    return okra_strings_read_(NULL, &b, true, "t", out);
}

TEST(utf8_takes_every_code_point_and_no_other_form)
{
    for (int32_t code = 0; code <= 0x10ffff; code += code < 0x3000 ? 1 : 61) {
        unsigned char bytes[4];
        okra_utf8_ u = {0};
        int count = okra_utf8_put_(code, bytes);
        if (code >= 0xd800 && code < 0xe000) {
            okra_utf8_take_(&u, bytes[0]);
            CHECK(okra_utf8_take_(&u, bytes[1]) == OKRA_UTF8_BAD_);
            continue;
        }
        for (int k = 0; k < count - 1; k++) {
            CHECK(okra_utf8_take_(&u, bytes[k]) == OKRA_UTF8_MORE_);
        }
        CHECK(okra_utf8_take_(&u, bytes[count - 1]) == code);
    }
    const char *bad[] = {"\x80",
                         "\xc0\x80",
                         "\xc1\xbf",
                         "\xe0\x9f\xbf",
                         "\xf0\x8f\xbf\xbf",
                         "\xf4\x90\x80\x80",
                         "\xf5\x80\x80\x80",
                         "\xed\xa0\x80",
                         "\xe2\x28",
                         "\xff"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        okra_utf8_ u = {0};
        int32_t last = 0;
        for (const char *p = bad[k]; *p && last != OKRA_UTF8_BAD_; p++) {
            last = okra_utf8_take_(&u, (unsigned char)*p);
        }
        CHECK(last == OKRA_UTF8_BAD_);
    }
}

TEST(a_string_a_line)
{
    okra_data *d = NULL;
    okra_int length;
    CHECK_OK(text("\xef\xbb\xbf"
                  "abad\r\nd b\tbd\nz\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
                  &d));
    CHECK(d->kind == OKRA_STRINGS && d->n == 3);
    CHECK(is(d, 0, "abad") && is(d, 1, "d b\tbd"));
    const int32_t *code = okra_data_characters(d, 2, &length);
    CHECK(length == 4 && code[1] == 0xe9 && code[2] == 0x20ac && code[3] == 0x1f600);
    CHECK(okra_data_characters(d, 3, &length) == NULL);
    okra_data_free(d);
    CHECK_OK(text("", &d));
    CHECK(d->n == 0);
    okra_data_free(d);
}

TEST(broken_text_is_told_by_line_and_character)
{
    okra_data *d = NULL;
    CHECK_FAILS(text("abc\n\nd\n", &d), OKRA_EFORMAT,
                "line 2, character 1: the line is empty");
    CHECK_FAILS(text("\n", &d), OKRA_EFORMAT, "line 1, character 1");
    CHECK_FAILS(text("\r\n", &d), OKRA_EFORMAT, "line 1, character 1");
    CHECK_FAILS(text("ab\ncd\xc3\xa9\xff", &d), OKRA_EFORMAT,
                "line 2, character 4: not UTF-8 (byte 0xff)");
    CHECK_FAILS(text("ab\xe2\x82", &d), OKRA_EFORMAT, "ends inside a UTF-8 character");
    CHECK_FAILS(text("ab\001", &d), OKRA_EFORMAT,
                "line 1, character 3: control character U+0001");
    CHECK_FAILS(text("a\rb", &d), OKRA_EFORMAT,
                "line 1, character 2: control character U+000D");
    CHECK_FAILS(text("\x7f", &d), OKRA_EFORMAT, "U+007F");
    CHECK(d == NULL);
}

/* One line of `size` letters in a block that the test maps nowhere but in memory. */
TEST(a_line_without_end_stops_at_the_limit)
{
    size_t size = OKRA_STRING_MOST_ + 10;
    char *line = malloc(size);
    okra_data *d = NULL;
    memset(line, 'a', size);
    okra_bytes_ b = bytes_of(line, size);
    okra_alloc_reset_peak_();
    okra_int before = okra_alloc_live_bytes_();
    CHECK_FAILS(okra_strings_read_(NULL, &b, false, "t", &d), OKRA_EFORMAT,
                "line 1, character 16777217: the string is longer than 16777216");
    /* Two and a half copies at the most, while the block grows. */
    CHECK(okra_alloc_peak_bytes_() - before < 4 * 3 * (okra_int)OKRA_STRING_MOST_);
    b.size = OKRA_STRING_MOST_;
    CHECK_OK(okra_strings_read_(NULL, &b, false, "t", &d));
    CHECK(d->groups[0].offsets[1] == OKRA_STRING_MOST_);
    okra_data_free(d);
    d = NULL;
    okra_context *ctx = NULL;
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_memory(ctx, 1 << 20));
    CHECK_FAILS(okra_strings_read_(ctx, &b, false, "t", &d), OKRA_EBUDGET, "characters");
    okra_context_free(ctx);
    memcpy(line, ">", 1);
    b.size = (okra_int)size;
    CHECK_FAILS(okra_strings_read_(NULL, &b, true, "t", &d), OKRA_EFORMAT,
                "name is longer");
    free(line);
}

TEST(fasta_records)
{
    okra_data *d = NULL;
    CHECK_OK(
        fasta("; a comment\n>one first record\nACGT\nAC GT\n\nNN\n>two\r\nTTTT\r\n;x\n"
              "A",
              &d));
    CHECK(d->n == 2 && is(d, 0, "ACGTACGTNN") && is(d, 1, "TTTTA"));
    const okra_ragged_ *names = okra_data_group_(d, "names");
    CHECK(names->offsets[1] == 16 && names->offsets[2] == 19);
    CHECK(memcmp(names->fields[0].values, "one first recordtwo", 19) == 0);
    okra_data_free(d);
    d = NULL;
    CHECK_FAILS(fasta("ACGT\n", &d), OKRA_EFORMAT,
                "line 1, character 1: a sequence before");
    CHECK_FAILS(fasta(">a\n>b\nAC\n", &d), OKRA_EFORMAT,
                "line 1, character 1: the record has");
    CHECK_FAILS(fasta(">a\nAC\n>b", &d), OKRA_EFORMAT,
                "line 3, character 1: the record has");
    CHECK_FAILS(fasta(">a\nA\xff", &d), OKRA_EFORMAT, "line 2, character 2: not UTF-8");
    CHECK(d == NULL);
    CHECK_OK(fasta("\n\n", &d));
    CHECK(d->n == 0);
    okra_data_free(d);
}

/* `members` gzip members, each of the whole content. */
static size_t gzip(const char *content, int members, unsigned char *out, size_t room)
{
    size_t used = 0;
    for (int k = 0; k < members; k++) {
        z_stream z = {0};
        deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY);
        z.next_in = (Bytef *)(uintptr_t)content;
        z.avail_in = (uInt)strlen(content);
        z.next_out = out + used;
        z.avail_out = (uInt)(room - used);
        CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
        used += z.total_out;
        deflateEnd(&z);
    }
    return used;
}

TEST(gzipped_fasta)
{
    unsigned char packed[4096];
    okra_data *d = NULL;
    size_t size = gzip(">r\nACGT\n", 2, packed, sizeof packed);
    okra_bytes_ b = bytes_of(packed, size);
    CHECK_OK(okra_strings_read_(NULL, &b, true, "t", &d));
    CHECK(d->n == 2 && is(d, 1, "ACGT"));
    okra_data_free(d);
    d = NULL;
    for (size_t cut = 2; cut < size / 2; cut++) {
        b = bytes_of(packed, cut);
        CHECK_FAILS(okra_strings_read_(NULL, &b, true, "t", &d), OKRA_EFORMAT,
                    "ends too early");
    }
    b = bytes_of(packed, size);
    packed[12] ^= 0x55;
    CHECK_FAILS(okra_strings_read_(NULL, &b, true, "t", &d), OKRA_EFORMAT, "gzip");
    packed[12] ^= 0x55;
    CHECK_ALLOCATIONS(okra_strings_read_(NULL, &b, true, "t", &d), okra_data_free(d));
}

/* More than one piece of the stream, cut within characters too. */
TEST(long_gzipped_text)
{
    enum { N = 40000 };
    char *content = malloc(4 * N + 1);
    unsigned char *packed = malloc(4 * N);
    okra_data *d = NULL;
    for (int k = 0; k < N; k++) {
        memcpy(content + 4 * k, k % 100 == 99 ? "abc\n" : "\xc3\xa9-\xc3", 4);
        if (k % 100 != 99) {
            memcpy(content + 4 * k, k % 2 ? "x\xe2\x82\xac" : "yz\xc3\xa9", 4);
        }
    }
    content[4 * N] = 0;
    okra_bytes_ b = bytes_of(packed, gzip(content, 1, packed, 4 * N));
    CHECK_OK(okra_strings_read_(NULL, &b, false, "t", &d));
    okra_int length;
    CHECK(d->n == N / 100);
    const int32_t *code = okra_data_characters(d, N / 100 - 1, &length);
    /* 50 times y z e-acute, 49 times x euro, abc */
    CHECK(length == 50 * 3 + 49 * 2 + 3 && code[2] == 0xe9 && code[4] == 0x20ac);
    okra_data_free(d);
    free(content);
    free(packed);
}

TEST(strings_from_memory)
{
    const char *texts[] = {"abc", "", "\xc3\xa9"}, *bad[] = {"a\xff"}, *cut[] = {"a\xc3"},
               *null[] = {NULL};
    okra_data *d = NULL, *chosen = NULL;
    const okra_int index[] = {2, 0};
    CHECK_OK(okra_data_strings(texts, 3, &d));
    CHECK(d->n == 3 && is(d, 0, "abc") && is(d, 1, "") && !d->borrowed);
    CHECK_OK(okra_data_take(d, index, 2, &chosen));
    CHECK(is(chosen, 1, "abc"));
    okra_data_free(chosen);
    okra_data_free(d);
    d = NULL;
    CHECK_FAILS(okra_data_strings(bad, 1, &d), OKRA_EFORMAT,
                "string 0 (counted from 0), character 2");
    CHECK_FAILS(okra_data_strings(cut, 1, &d), OKRA_EFORMAT, "ends inside");
    CHECK_FAILS(okra_data_strings(null, 1, &d), OKRA_EARG, "text 0");
    CHECK_FAILS(okra_data_strings(NULL, 1, &d), OKRA_EARG, "NULL");
    CHECK_FAILS(okra_data_strings(texts, -1, &d), OKRA_EARG, "negative");
    CHECK_ALLOCATIONS(okra_data_strings(texts, 3, &d), okra_data_free(d));
}

TEST(sequences_and_tuples)
{
    const okra_int offsets[] = {0, 2, 2, 3}, fall[] = {0, 2, 1};
    const double x[] = {1, 2, 3, 4, 5, 6}, nan[] = {1, 2, 3, 4, 5, NAN};
    const int32_t labels[] = {'a', 'b', 'c'};
    okra_data *d = NULL, *s = NULL, *t = NULL;
    okra_int length;
    CHECK_OK(okra_data_sequences(offsets, x, labels, 3, 2, &d));
    CHECK(d->kind == OKRA_SEQUENCES && d->n == 3 && d->d == 2);
    CHECK(is(d, 0, "ab") && is(d, 1, "") && is(d, 2, "c"));
    const double *v = okra_ragged_field_(&d->groups[0], "vector")->values;
    CHECK(v[4] == 5);
    CHECK_OK(okra_data_sequences(offsets, x, NULL, 3, 2, &s));
    CHECK(okra_data_characters(s, 0, &length)[0] == OKRA_NO_LABEL_);
    okra_data *parts[] = {d, s}, *none[] = {d, NULL};
    CHECK_OK(okra_data_tuple(parts, 2, &t));
    CHECK(t->kind == OKRA_TUPLE && t->n == 3 && t->component_count == 2);
    okra_data *nested[] = {d, t};
    okra_data *e = NULL;
    CHECK_FAILS(okra_data_tuple(nested, 2, &e), OKRA_EARG, "part 2 is a tuple");
    CHECK_FAILS(okra_data_tuple(none, 2, &e), OKRA_EARG, "part 2 is NULL");
    CHECK_FAILS(okra_data_tuple(NULL, 0, &e), OKRA_EARG, "no parts");
    CHECK_ALLOCATIONS(okra_data_tuple(parts, 2, &e), okra_data_free(e));
    okra_data_free(s);
    const char *two[] = {"a", "b"};
    CHECK_OK(okra_data_strings(two, 2, &s));
    parts[1] = s;
    e = NULL;
    CHECK_FAILS(okra_data_tuple(parts, 2, &e), OKRA_ESHAPE, "has 3 objects and memory 2");
    CHECK_FAILS(okra_data_sequences(fall, x, labels, 2, 2, &e), OKRA_EARG,
                "offsets[2] is 1");
    CHECK_FAILS(okra_data_sequences(NULL, x, labels, 2, 2, &e), OKRA_EARG,
                "offsets are NULL");
    CHECK_FAILS(okra_data_sequences(offsets, NULL, labels, 3, 2, &e), OKRA_EARG,
                "vectors");
    CHECK_FAILS(okra_data_sequences(offsets, nan, labels, 3, 2, &e), OKRA_EFORMAT,
                "row 2, column 1");
    CHECK_FAILS(okra_data_sequences(offsets, x, labels, -1, 2, &e), OKRA_ESHAPE,
                "-1 sequences");
    CHECK_ALLOCATIONS(okra_data_sequences(offsets, x, labels, 3, 2, &e),
                      okra_data_free(e));
    okra_data_free(d);
    okra_data_free(s);
    okra_data_free(t);
}

/* The frequencies that the generator promises, over 30,000 strings: three standard errors
 * of the largest is 0.006. */
TEST(synthetic_strings_follow_their_model)
{
    enum { N = 30000 };
    okra_data *x = NULL, *y = NULL, *c = NULL;
    CHECK_OK(okra_synthetic_strings(7, N, &x, &y, &c));
    double lengths[16] = {0}, same[3] = {0}, steps[3] = {0}, clean = 0, words = 0;
    for (okra_int i = 0; i < N; i++) {
        okra_int length, class = okra_data_codes(c)[i];
        const int32_t *s = okra_data_characters(x, i, &length);
        CHECK(length >= 10 && length <= 15 && class == i % 3);
        lengths[length]++;
        for (okra_int k = 0; k < length; k++) {
            CHECK(s[k] >= (class == 2 ? 'c' : 'a') && s[k] <= 'd');
            steps[class] += k > 0;
            same[class] += k > 0 && s[k] == s[k - 1];
        }
        okra_data_characters(y, i, &length);
        CHECK(length >= (class == 2 ? 1 : 2) && length <= 6);
        if (class == 0) {
            words++;
            clean += is(y, i, "abad");
        }
    }
    for (int k = 10; k <= 15; k++) {
        CHECK_NEAR(lengths[k] / N, 1.0 / 6, 0.007);
    }
    CHECK_NEAR(same[0] / steps[0], 0.25, 0.005);
    CHECK_NEAR(same[1] / steps[1], 0.7, 0.005);
    CHECK_NEAR(same[2] / steps[2], 0.7, 0.005);
    /* Untouched 0.55^2; more where an insertion was deleted again. */
    CHECK(clean / words > 0.55 * 0.55 && clean / words < 0.55 * 0.55 + 0.45 * 0.45);
    okra_data_free(x);
    okra_data_free(y);
    okra_data_free(c);
    CHECK_OK(okra_synthetic_strings_noise(7, 30, 0, 0, &x, &y, NULL));
    for (okra_int i = 0; i < 30; i++) {
        CHECK(is(y, i, i % 3 == 0 ? "abad" : i % 3 == 1 ? "dbbd" : "abc"));
    }
    okra_data_free(x);
    okra_data_free(y);
    CHECK_FAILS(okra_synthetic_strings_noise(7, 1, 0.6, 0.5, &x, &y, NULL), OKRA_EARG,
                "probabilities 0.6 of one");
    CHECK_FAILS(okra_synthetic_strings(7, -1, &x, &y, NULL), OKRA_EARG, "negative");
    CHECK_ALLOCATIONS(okra_synthetic_strings(7, 40, &x, &y, NULL),
                      (okra_data_free(x), okra_data_free(y)));
}

MAIN(RUN(utf8_takes_every_code_point_and_no_other_form), RUN(a_string_a_line),
     RUN(broken_text_is_told_by_line_and_character),
     RUN(a_line_without_end_stops_at_the_limit), RUN(fasta_records), RUN(gzipped_fasta),
     RUN(long_gzipped_text), RUN(strings_from_memory), RUN(sequences_and_tuples),
     RUN(synthetic_strings_follow_their_model))
