/*
 * language.h: a small language, words and their sounds: two alphabets, with contexts.
 */
#ifndef OKRA_TEST_LANGUAGE_H_
#define OKRA_TEST_LANGUAGE_H_

#include "decoding.h"

#include "decode/strings/transcribe.c"

static inline okra_data *words(const char *const *texts, okra_int n)
{
    okra_data *data = NULL;
    CHECK_OK(okra_data_strings(texts, n, &data));
    return data;
}

/* c is k, before e and i it is s; x is ks; h is nothing; others are themselves, capital.
 */
static inline void say(const char *word, char *out)
{
    for (; *word; word++) {
        bool soft = word[1] == 'e' || word[1] == 'i';
        const char *said = *word == 'c'   ? soft ? "S" : "K"
                           : *word == 'x' ? "KS"
                           : *word == 'h' ? ""
                                          : NULL;
        *out = (char)(*word - 'a' + 'A');
        if (said) {
            memcpy(out, said, strlen(said));
        }
        out += said ? strlen(said) : 1;
    }
    *out = 0;
}

typedef struct language {
    char x[60][16], y[60][32];
    const char *xs[60], *ys[60];
    int n;
} language;

static inline void language_make(language *g, int n, uint64_t seed, bool equal)
{
    okra_random_ r = okra_random_create_(seed, 7);
    g->n = n;
    for (int p = 0; p < n; p++) {
        int length = 1 + (int)okra_random_below_(&r, 6);
        memset(g->x[p], 0, sizeof g->x[p]);
        for (int k = 0; k < length; k++) {
            g->x[p][k] = "aeiccxhtn"[okra_random_below_(&r, equal ? 5 : 9)];
        }
        say(g->x[p], g->y[p]);
        if (p % 7 == 3) {
            g->y[p][0] = 'Q'; /* noise: left-out scores differ from others */
        }
        g->xs[p] = g->x[p];
        g->ys[p] = g->y[p];
    }
}

static inline void text_of(const okra_data *data, okra_int i, char *out)
{
    okra_word_ w = okra_word_of_(data, i);
    for (okra_int k = 0; k < w.length; k++) {
        *out++ = (char)w.code[k];
    }
    *out = 0;
}

#endif
