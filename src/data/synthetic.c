/*
 * synthetic.c: small tasks that need no files.
 *
 * Patterns: a wave sin(2 pi (f (u cos a + v sin a + c (u cos a + v sin a)^2) + p)) on the
 * square [-1/2, 1/2]^2, of random direction a, frequency f, curvature c and phase p,
 * under a soft window of random centre, plus a little noise; cut to [-1, 1]. Its upper
 * half tells direction, frequency and phase, and so the lower half, up to the noise.
 *
 * S-shape (Tonde and Elgammal sec. 6.1): t ~ U(0,1), r = t + 0.3 sin(2 pi t) + N(0,
 * 0.05^2); t is to be found from r.
 *
 * Strings to strings (Weston et al. 2003, sec. 4.1):
 *
 *   class 1   any next letter equally likely;               y from "abad"
 *   class 2   the same letter again with probability 0.7, each other 0.1;  y from "dbbd"
 *   class 3   letters c and d alone, the same again with probability 0.7;  y from "abc"
 *
 * x has 10 to 15 letters. y is the word with one random letter inserted with probability
 * 0.3, two with probability 0.15, then one letter deleted with probability 0.3, two with
 * probability 0.15; or with other probabilities of one and of two. Objects take the
 * classes in turn, so that every run of the collection is balanced.
 */
#include "data/strings.h"
#include "okra/program.h"

enum { SIDE = 16, HALF = SIDE * SIDE / 2 };
static const double PI = 3.14159265358979323846;

/* Streams of the seed, one a task. */
enum { STREAM_PATTERNS = 101, STREAM_S_SHAPE = 102 };

static double between(okra_random_ *r, double low, double high)
{
    return low + (high - low) * okra_random_uniform_(r);
}

static void pattern(okra_random_ *r, double *upper, double *lower)
{
    double a = between(r, 0, 2 * PI), f = between(r, 0.7, 1.6), p = between(r, 0, 1);
    double c = between(r, -0.4, 0.4), cu = between(r, -0.15, 0.15);
    double cv = between(r, -0.15, 0.15);
    for (int i = 0; i < SIDE * SIDE; i++) {
        int row = i / SIDE, col = i % SIDE;
        double u = (col + 0.5) / SIDE - 0.5, v = (double)row / SIDE - 0.5;
        double t = u * cos(a) + v * sin(a);
        double wave = sin(2 * PI * (f * (t + c * t * t) + p));
        double window = exp(-2 * ((u - cu) * (u - cu) + (v - cv) * (v - cv)));
        double value = window * wave + 0.03 * okra_random_normal_(r);
        double *half = i < HALF ? upper + i : lower + i - HALF;
        *half = fmax(-1, fmin(1, value));
    }
}

/* Two owning collections of n rows from two blocks, which are taken over in any case. */
static okra_status wrap(double *a, double *b, okra_int n, okra_int d, const char *source,
                        okra_data **x, okra_data **y)
{
    OWNED double *left_a = a, *left_b = b;
    FREED_BY(okra_data_drop_) okra_data *first = NULL;
    CHK(okra_data_adopt_dense_(&left_a, n, d, source, &first));
    CHK(okra_data_adopt_dense_(&left_b, n, d, source, y));
    *x = TAKE(first);
    return OKRA_OK;
}

static okra_status blocks(okra_int n, okra_int d, double **a, double **b)
{
    okra_int area = 0;
    OWNED double *first = NULL;
    CHK(okra_area_(n, d, sizeof **a, &area));
    MAKE(first, area);
    MAKE(*b, area);
    *a = TAKE(first);
    return OKRA_OK;
}

okra_status okra_synthetic_patterns(uint64_t seed, okra_int n, okra_data **x,
                                    okra_data **y)
{
    NOT_NULL(x, y);
    double *upper, *lower;
    CHK(blocks(n, HALF, &upper, &lower));
    okra_random_ r = okra_random_create_(seed, STREAM_PATTERNS);
    for (okra_int i = 0; i < n; i++) {
        pattern(&r, upper + i * HALF, lower + i * HALF);
    }
    return wrap(upper, lower, n, HALF, "synthetic patterns", x, y);
}

okra_status okra_synthetic_s_shape(uint64_t seed, okra_int n, okra_data **x,
                                   okra_data **y)
{
    NOT_NULL(x, y);
    double *observed, *hidden;
    CHK(blocks(n, 1, &observed, &hidden));
    okra_random_ r = okra_random_create_(seed, STREAM_S_SHAPE);
    for (okra_int i = 0; i < n; i++) {
        hidden[i] = okra_random_uniform_(&r);
        observed[i] =
            hidden[i] + 0.3 * sin(2 * PI * hidden[i]) + 0.05 * okra_random_normal_(&r);
    }
    return wrap(observed, hidden, n, 1, "synthetic S-shape", x, y);
}

/* ---- strings ---- */

enum { CLASSES = 3, SHORTEST = 10, LONGEST = 15, WORD_MOST = 8 };
static const char *const words[CLASSES] = {"abad", "dbbd", "abc"};

typedef struct noise {
    double one, two; /* probabilities of one and of two edits */
} noise;

static int edits(okra_random_ *r, noise p)
{
    double u = okra_random_uniform_(r);
    return u < p.one ? 1 : u < p.one + p.two ? 2 : 0;
}

static okra_int input_string(okra_random_ *r, int class, int32_t *s)
{
    okra_int length = SHORTEST + okra_random_below_(r, LONGEST - SHORTEST + 1);
    okra_int first = class == 2 ? 2 : 0, letters = 4 - first;
    okra_int letter = first + okra_random_below_(r, letters);
    for (okra_int k = 0; k < length; k++) {
        s[k] = (int32_t)('a' + letter);
        if (class == 0) {
            letter = okra_random_below_(r, letters);
        } else if (okra_random_uniform_(r) >= 0.7) {
            /* Another letter, each equally likely. */
            okra_int step = 1 + okra_random_below_(r, letters - 1);
            letter = first + (letter - first + step) % letters;
        }
    }
    return length;
}

static okra_int output_string(okra_random_ *r, int class, noise p, int32_t *s)
{
    okra_int length = (okra_int)strlen(words[class]);
    for (okra_int k = 0; k < length; k++) {
        s[k] = (unsigned char)words[class][k];
    }
    for (int k = edits(r, p); k > 0; k--) {
        okra_int place = okra_random_below_(r, length + 1);
        memmove(s + place + 1, s + place, (size_t)(length - place) * sizeof *s);
        s[place] = (int32_t)('a' + okra_random_below_(r, 4));
        length++;
    }
    for (int k = edits(r, p); k > 0; k--) {
        okra_int place = okra_random_below_(r, length);
        memmove(s + place, s + place + 1, (size_t)(length - place - 1) * sizeof *s);
        length--;
    }
    return length;
}

static okra_status add(okra_ragged_builder_ *b, const int32_t *s, okra_int length)
{
    okra_status st = okra_ragged_push_many_(b, length, (const void *const[]){s});
    return st == OKRA_OK ? okra_ragged_close_(b) : st;
}

okra_status okra_synthetic_strings(uint64_t seed, okra_int n, okra_data **x,
                                   okra_data **y, okra_data **classes)
{
    return okra_synthetic_strings_noise(seed, n, 0.3, 0.15, x, y, classes);
}

okra_status okra_synthetic_strings_noise(uint64_t seed, okra_int n, double one,
                                         double two, okra_data **x, okra_data **y,
                                         okra_data **classes)
{
    OWNED okra_int *labels = NULL;
    FREED_BY(okra_data_drop_) okra_data *strings_y = NULL, *strings_x = NULL;
    FREED_BY(okra_ragged_abandon_) okra_ragged_builder_ by = {0}, bx = {0};
    okra_random_ r = okra_random_create_(seed, 0);
    NOT_NULL(x, y);
    REFUSE_IF(n < 0, OKRA_EARG, "the number of synthetic strings is negative");
    REFUSE_IF(!(one >= 0 && two >= 0 && one + two <= 1), OKRA_EARG,
              "synthetic strings: probabilities %g of one edit and %g of two", one, two);
    CHK(okra_characters_begin_(&bx));
    CHK(okra_characters_begin_(&by));
    MAKE(labels, n);
    for (okra_int i = 0; i < n; i++) {
        int32_t s[LONGEST], word[WORD_MOST];
        int class = (int)(i % CLASSES);
        labels[i] = class;
        CHK(add(&bx, s, input_string(&r, class, s)));
        CHK(add(&by, word, output_string(&r, class, (noise){one, two}, word)));
    }
    CHK(okra_strings_adopt_(&bx, NULL, "synthetic strings", &strings_x));
    CHK(okra_strings_adopt_(&by, NULL, "synthetic strings", &strings_y));
    if (classes) {
        CHK(okra_data_labels(labels, n, NULL, CLASSES, classes));
    }
    *x = strings_x;
    *y = strings_y;
    strings_x = strings_y = NULL;
    return OKRA_OK;
}
