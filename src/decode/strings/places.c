/*
 * places.c: the string of the least expected number of places that are wrong, exactly.
 *
 *     sum_i w_i hamming(y, y_i) = sum_i w_i (max(T, T_i) - places that agree)
 *
 * for a string of T letters. One letter more, at place t, adds the weights of outputs
 * that end before it and takes away its score, sum_i w_i [letter t of y_i is it]: the
 * best letter of each place, then the best length.
 */
#include "decode/strings/places.h"

#include "data/strings.h"
#include "kernel/strings/string_kernels.h"

/* score (longest x letters), and longer[t]: the weights of outputs with a letter t. */
static void add_up(const okra_data *y, const int32_t *alphabet, okra_int letters,
                   okra_int longest, const double *w, double *score, double *longer)
{
    for (okra_int i = 0; i < y->n; i++) {
        okra_int length;
        const int32_t *codes = okra_characters_(y, i, &length);
        for (okra_int t = 0; t < OKRA_MIN_(length, longest); t++) {
            okra_int c = okra_letter_(alphabet, letters, codes[t]);
            longer[t] += w[i];
            if (c < letters) {
                score[t * letters + c] += w[i];
            }
        }
    }
}

okra_status okra_best_places_(const okra_data *y, const int32_t *alphabet,
                              okra_int letters, okra_int longest, const double *w,
                              int32_t *code, okra_int *length)
{
    OWNED double *score = NULL, *longer = NULL;
    double total = 0, J = 0, least = 0;
    ZMAKE(score, longest * letters);
    ZMAKE(longer, longest);
    add_up(y, alphabet, letters, longest, w, score, longer);
    for (okra_int i = 0; i < y->n; i++) {
        total += w[i];
    }
    *length = 0;
    for (okra_int t = 0; t < longest; t++) {
        const double *at = score + t * letters;
        okra_int c = 0;
        for (okra_int k = 1; k < letters; k++) {
            c = at[k] > at[c] ? k : c;
        }
        code[t] = alphabet[c];
        J += total - longer[t] - at[c];
        if (J < least) {
            least = J;
            *length = t + 1;
        }
    }
    return OKRA_OK;
}
