/*
 * synthetic_strings.c: the strings-to-strings task of Weston et al. 2003, sec. 4.1.
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
