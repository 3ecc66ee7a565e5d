/*
 * Strings against predictions through the features of their kernel: values as the kernel
 * gives them, edits as whole strings, and a bound that never drops what is wanted.
 */
#include "decoding.h"

#include "data/strings.h"
#include "decode/strings/string_prediction.h"
#include "kernel/strings/string_kernels.h"

enum { N = 12, STRINGS = 60, MOST = 8 };

static const char *const kernels[] = {
    "ssk(length=3,decay=0.5)",
    "ssk(length=3,decay=0.4,upto=1) | normalize",
    "ssk(length=4,decay=0.7) | normalize",
    "spectrum(k=2)",
    "2*spectrum(k=1) + spectrum(k=3)",
    "0.5*(spectrum(k=1) | normalize) + (ssk(length=2) + spectrum(k=2) | normalize)",
    "mismatch(k=3,m=1)",
    "mismatch(k=2,m=2,alphabet=9) | normalize",
    "mismatch(k=4,m=1) + 0.5*spectrum(k=2) | normalize",
    "mismatch(k=3,m=0)",
    "position(zero-one) | normalize",
    "position(zero-one) + 0.3*ssk(length=1) + 1",
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static okra_data *random_strings(okra_random_ *r, int n, int letters)
{
    char text[STRINGS][MOST + 1];
    const char *texts[STRINGS];
    okra_data *data = NULL;
    for (int i = 0; i < n; i++) {
        okra_int length = okra_random_below_(r, MOST + 1);
        for (okra_int k = 0; k < length; k++) {
            text[i][k] = (char)('a' + okra_random_below_(r, letters));
        }
        text[i][length] = '\0';
        texts[i] = text[i];
    }
    CHECK_OK(okra_data_strings(texts, n, &data));
    return data;
}

/* Places in the alphabet "abc". */
static okra_word_ places(const okra_data *data, okra_int i, int32_t *out)
{
    static const int32_t alphabet[] = {'a', 'b', 'c'};
    okra_word_ w = {out, 0};
    const int32_t *code = okra_characters_(data, i, &w.length);
    for (okra_int k = 0; k < w.length; k++) {
        okra_int place = okra_letter_(alphabet, 3, code[k]);
        out[k] = place < 3 ? (int32_t)place : -1 - code[k];
    }
    return w;
}

static double inner_of(const double *w, const double *C, okra_int i)
{
    double sum = 0;
    for (int k = 0; k < N; k++) {
        sum += w[k] * C[i * N + k];
    }
    return sum;
}

/* <h, phi(y)> and l(y,y), whatever they are. */
static void value(okra_string_prediction_ *pen, okra_word_ y, double *inner, double *self)
{
    okra_string_prediction_begin_(pen, y);
    CHECK(okra_string_prediction_edited_(pen, y, y.length, (double)NAN, (double)INFINITY,
                                         inner, self));
}

/* All replacements of one letter, through the open place, against whole strings. */
static void check_edits(okra_string_prediction_ *pen, okra_word_ y, double worst)
{
    int32_t e[MOST];
    okra_string_prediction_begin_(pen, y);
    for (okra_int at = 0; at < y.length; at++) {
        memcpy(e, y.code, (size_t)y.length * sizeof *e);
        okra_word_ edited = {e, y.length};
        for (int c = 0; c < 3; c++) {
            double a = 0, b = 0, inner = 0, self = 0, p = 0, q = 0;
            okra_string_prediction_begin_(pen, y);
            e[at] = INT32_MIN;
            okra_string_prediction_open_(pen, edited, at);
            e[at] = c;
            bool told = okra_string_prediction_filled_(pen, edited, at, (double)NAN,
                                                       worst, &a, &b);
            bool also = okra_string_prediction_edited_(pen, edited, at, (double)NAN,
                                                       worst, &p, &q);
            value(pen, edited, &inner, &self);
            CHECK(told || self - 2 * inner >= worst - 1e-12);
            CHECK(also || self - 2 * inner >= worst - 1e-12);
            if (told) {
                CHECK_NEAR(a, inner, 1e-12);
                CHECK_NEAR(b, self, 1e-12);
            }
            if (also) {
                CHECK_NEAR(p, inner, 1e-12);
                CHECK_NEAR(q, self, 1e-12);
            }
        }
    }
}

TEST(values_are_those_of_the_kernel)
{
    static const int32_t alphabet[] = {'a', 'b', 'c'};
    for (int k = 0; k < KERNELS; k++) {
        okra_random_ r = okra_random_create_((uint64_t)k, 8);
        outputs o;
        /* Letters a to d: the alphabet lacks the last one. */
        okra_data *test = random_strings(&r, STRINGS, 4);
        okra_string_kernel_ *written = NULL;
        okra_string_prediction_ *pen = NULL;
        okra_test_side_ *other = NULL;
        double w[N], C[STRINGS * N], self[STRINGS];
        int32_t code[MOST];
        outputs_open(&o, kernels[k], random_strings(&r, N, 3));
        random_weights(&r, 1, N, w);
        w[0] = 0;
        CHECK_OK(okra_test_side_create_(NULL, o.bound, test, &other));
        CHECK_OK(
            okra_test_side_cross_(NULL, o.bound, other, 0, okra_mat_of_(C, STRINGS, N)));
        CHECK_OK(okra_test_side_diagonal_(NULL, o.bound, other, self));
        CHECK_OK(okra_string_kernel_create_(&o.output, alphabet, 3, MOST, &written));
        CHECK(written);
        if (written) {
            CHECK_OK(okra_string_prediction_create_(written, &pen));
            okra_string_prediction_set_(pen, w);
        }
        for (int i = 0; i < STRINGS && pen; i++) {
            double inner = 0, own = 0, scale = 1 + fabs(self[i]);
            okra_word_ y = places(test, i, code);
            value(pen, y, &inner, &own);
            CHECK_NEAR(inner, inner_of(w, C, i), 1e-13 * scale); /* 4e-15 at worst */
            CHECK_NEAR(own, self[i], 1e-13 * scale);
            check_edits(pen, y, okra_random_normal_(&r));
        }
        okra_string_prediction_free_(pen);
        okra_string_kernel_free_(written);
        okra_test_side_free_(other);
        outputs_close(&o);
        okra_data_free(test);
    }
}

/* Kernels that are no sums of such features, and tables that are too large. */
TEST(others_are_left_to_the_kernel)
{
    static const char *const not_known[] = {
        "spectrum(k=2) | normalize | rbf(sigma=1)",
        "edit(sigma=1)",
        "ends",
        "spectrum(k=1)*spectrum(k=2)",
        "mismatch(k=9)",
        "ssk(length=40)",
        "spectrum(k=8) + spectrum(k=16)",
        "position(zero-one,map=1)",
        "1 + spectrum(k=1) | normalize",
    };
    static const int32_t alphabet[] = {'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'};
    okra_random_ r = okra_random_create_(1, 8);
    for (size_t k = 0; k < sizeof not_known / sizeof *not_known; k++) {
        outputs o;
        okra_string_kernel_ *written = NULL;
        outputs_open(&o, not_known[k], random_strings(&r, N, 3));
        CHECK_OK(okra_string_kernel_create_(&o.output, alphabet, 8, MOST, &written));
        CHECK(!written);
        okra_string_kernel_free_(written);
        outputs_close(&o);
    }
    outputs o;
    okra_string_kernel_ *written = NULL;
    outputs_open(&o, "spectrum(k=2)", random_strings(&r, N, 3));
    CHECK_OK(okra_string_kernel_create_(&o.output, alphabet, 8, 97, &written));
    CHECK(!written); /* longer than words */
    CHECK_OK(okra_string_kernel_create_(&o.output, alphabet, 8, 96, &written));
    CHECK(written);
    okra_string_kernel_free_(written);
    outputs_close(&o);
}

MAIN(RUN(values_are_those_of_the_kernel), RUN(others_are_left_to_the_kernel))
