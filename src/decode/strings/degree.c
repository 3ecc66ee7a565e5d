/*
 * degree.c: the best string under the weighted-degree kernel, exactly.
 *
 *     l(y, z) = sum_{d=1..k} b_d sum_i [the d letters of y and z that end at place i
 * agree]
 *
 * All strings have one length and so one l(y,y). <h, phi(y)> is a sum over places of what
 * the last k letters there are worth, h_id(u) = b_d sum_j w_j [y_j has u at i]: the best
 * string is the best path through contexts of k - 1 letters (Viterbi). Cost: length times
 * letters^k, whatever the number of training outputs.
 */
#include "decode/strings/degree.h"

#include "data/strings.h"
#include "decode/propose.h"
#include "kernel/expression/expr.h"
#include "kernel/strings/string_kernels.h"
#include "kernel/transforms.h"

#include <math.h>
#include <string.h>

static const double MOST = 1 << 23; /* numbers of a table */

bool okra_kernel_is_degree_(const okra_kernel *kernel, okra_int *k)
{
    int at = kernel->count - 1;
    while ((kernel->nodes[at].kind == OKRA_NODE_SCALE_ && kernel->nodes[at].scale > 0) ||
           (kernel->nodes[at].kind == OKRA_NODE_TRANSFORM_ &&
            kernel->nodes[at].transform == &okra_normalize_)) {
        at = kernel->nodes[at].a;
    }
    const okra_node_ *node = &kernel->nodes[at];
    bool yes = node->kind == OKRA_NODE_LEAF_ && node->leaf == &okra_weighted_degree_ &&
               node->component == 0;
    if (yes) {
        *k = ((const okra_degree_params_ *)node->params)->k;
    }
    return yes;
}

bool okra_kernel_one_length_(const okra_kernel *kernel)
{
    bool found = false;
    for (int at = 0; at < kernel->count; at++) {
        found |= kernel->nodes[at].kind == OKRA_NODE_LEAF_ &&
                 kernel->nodes[at].leaf == &okra_weighted_degree_;
    }
    return found;
}

struct okra_degree_ {
    const int32_t *alphabet;
    okra_int letters, top, k, length; /* top: of the kernel; k: it, or the length       */
    okra_int states, cells; /* letters^(k-1), letters at least; all degrees of a place */
    double *h;              /* length x cells                                          */
    double *score, *next;   /* states                                                  */
    int32_t *from;          /* length x states: the state before                       */
    okra_int *code;         /* length: one string                                      */
};

okra_status okra_degree_create_(const int32_t *alphabet, okra_int letters, okra_int k,
                                okra_int length, okra_degree_ **out)
{
    okra_status st = OKRA_OK;
    okra_degree_ *d = NULL;
    double cells = 0, words = 1;
    ZALLOC(d, 1);
    *d = (okra_degree_){.alphabet = alphabet, .letters = letters, .top = k};
    d->length = length;
    d->k = OKRA_MIN_(k, length);
    for (okra_int q = 1; q <= d->k && words <= MOST; q++) {
        words *= (double)letters;
        cells += words;
    }
    if (cells * (double)length > MOST || letters == 0 || length == 0) {
        FAIL(OKRA_EUNSUPPORTED,
             "decoder string: weighted-degree of up to %lld of %lld letters needs tables "
             "of %.3g numbers, expected 1 to %.3g; --decode candidates needs none",
             (long long)d->k, (long long)letters, cells * (double)length, MOST);
    }
    d->states = letters; /* so that a state tells its last letter */
    for (okra_int q = 2; q < d->k; q++) {
        d->states *= letters;
    }
    d->cells = (okra_int)cells;
    ALLOC(d->h, length * d->cells);
    ALLOC(d->score, d->states);
    ALLOC(d->next, d->states);
    ALLOC(d->from, length * d->states);
    ALLOC(d->code, length);
    *out = d;
    d = NULL;
done:
    okra_degree_free_(d);
    return st;
}

void okra_degree_free_(okra_degree_ *d)
{
    if (d) {
        okra_free_(d->h);
        okra_free_(d->score);
        okra_free_(d->next);
        okra_free_(d->from);
        okra_free_(d->code);
        okra_free_(d);
    }
}

/* h += weight times the features of d->code; a letter that is not in the alphabet cannot
 * be written. */
static void add(okra_degree_ *d, double weight)
{
    for (okra_int i = 0; i < d->length; i++) {
        double *h = d->h + i * d->cells;
        okra_int word = 0, step = 1;
        for (okra_int q = 1; q <= OKRA_MIN_(d->k, i + 1); q++) {
            okra_int c = d->code[i + 1 - q];
            if (c >= d->letters) {
                break;
            }
            word += c * step; /* the last letter counts least */
            step *= d->letters;
            h[word] += weight * (double)(d->top - q + 1);
            h += step;
        }
    }
}

/* What a word of `most` letters, the last counting least, is worth at its place. */
static double worth(const okra_degree_ *d, const double *h, okra_int word, okra_int most)
{
    double sum = 0;
    okra_int step = 1;
    for (okra_int q = 1; q <= most; q++) {
        step *= d->letters;
        sum += h[word % step];
        h += step;
    }
    return sum;
}

/* One letter more: the best of every context of letters at place i. */
static okra_int advance(okra_degree_ *d, okra_int i, okra_int states)
{
    const double *h = d->h + i * d->cells;
    int32_t *from = d->from + i * d->states;
    okra_int most = OKRA_MIN_(d->k, i + 1),
             reached = OKRA_MIN_(states * d->letters, d->states);
    for (okra_int s = 0; s < reached; s++) {
        d->next[s] = -(double)INFINITY;
        from[s] = 0;
    }
    for (okra_int s = 0; s < states; s++) {
        for (okra_int c = 0; c < d->letters; c++) {
            okra_int word = s * d->letters + c, to = word % reached;
            double value = d->score[s] + worth(d, h, word, most);
            if (value > d->next[to]) {
                d->next[to] = value;
                from[to] = (int32_t)s;
            }
        }
    }
    double *swap = d->score;
    d->score = d->next;
    d->next = swap;
    return reached;
}

/* The string of the largest <h, phi(y)> into d->code. */
static void search(okra_degree_ *d)
{
    okra_int states = 1, at = 0;
    d->score[0] = 0;
    for (okra_int i = 0; i < d->length; i++) {
        states = advance(d, i, states);
    }
    for (okra_int s = 1; s < states; s++) {
        at = d->score[s] > d->score[at] ? s : at;
    }
    for (okra_int i = d->length - 1; i >= 0; i--) {
        okra_int before = d->from[i * d->states + at];
        d->code[i] = at % d->letters;
        at = before;
    }
}

static okra_status one_word(okra_degree_ *d, const okra_data *y, const double *w,
                            okra_ragged_builder_ *b)
{
    okra_int own;
    memset(d->h, 0, (size_t)(d->length * d->cells) * sizeof *d->h);
    for (okra_int i = 0; i < y->n; i++) {
        const int32_t *codes = okra_characters_(y, i, &own);
        for (okra_int t = 0; t < d->length; t++) {
            d->code[t] = okra_letter_(d->alphabet, d->letters, codes[t]);
        }
        add(d, w[i]);
    }
    search(d);
    for (okra_int t = 0; t < d->length; t++) {
        const void *const array[] = {&d->alphabet[d->code[t]]};
        CHK(okra_ragged_push_many_(b, 1, array));
    }
    return okra_ragged_close_(b);
}

okra_status okra_degree_block_(okra_context *ctx, okra_degree_ *d,
                               const okra_output_ *output, const okra_block_ *block,
                               double *distance, okra_data **words)
{
    okra_status st = OKRA_OK;
    double *norm = NULL;
    okra_int *owner = NULL;
    okra_panels_ *training = NULL;
    okra_ragged_builder_ b = {0};
    ALLOC(norm, block->m);
    ALLOC(owner, block->m);
    TRY(okra_panels_create_(ctx, output, NULL, &training));
    TRY(okra_panels_norms_(ctx, training, false, block->W, norm));
    TRY(okra_characters_begin_(&b));
    for (okra_int r = 0; r < block->m; r++) {
        owner[r] = r;
        TRY(okra_cancelled_(ctx));
        TRY(one_word(d, output->y, block->W.p + r * block->W.ld, &b));
    }
    TRY(okra_strings_adopt_(&b, NULL, "proposed strings", words));
    TRY(okra_propose_(ctx, output, *words, owner, true, block->W, norm, (double)NAN, NULL,
                      distance));
done:
    okra_panels_free_(training);
    okra_ragged_abandon_(&b);
    okra_free_(norm);
    okra_free_(owner);
    return st;
}
