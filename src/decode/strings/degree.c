/*
 * degree.c: the best string under the weighted-degree kernel, exactly.
 *
 *     l(y, z) = sum_{d=1..k} b_d sum_i [the d letters of y and z that end at place i
 * agree]
 *
 * All strings have one length and so one l(y,y). <h, phi(y)> is a sum over places of what
 * the last k letters there are worth, h_id(u) = b_d sum_j w_j [y_j has u at i]: the best
 * string is the best path through contexts of k - 1 letters (Viterbi), and the best
 * strings come from the best paths to every context. Cost: length times letters^k a
 * string, whatever the number of training outputs.
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
    okra_int best;          /* strings that are wanted                                 */
    double *score, *next;   /* states x best: the best paths to each, descending       */
    okra_int *from;         /* length x states x best: the path before                 */
    okra_int *code;         /* length: one string                                      */
};

okra_status okra_degree_create_(const int32_t *alphabet, okra_int letters, okra_int k,
                                okra_int length, okra_int best, okra_degree_ **out)
{
    FREED_BY(okra_degree_drop_) okra_degree_ *d = NULL;
    double cells = 0, words = 1;
    ZMAKE(d, 1);
    *d = (okra_degree_){.alphabet = alphabet, .letters = letters, .top = k};
    d->length = length;
    d->best = best;
    d->k = OKRA_MIN_(k, length);
    for (okra_int q = 1; q <= d->k && words <= MOST; q++) {
        words *= (double)letters;
        cells += words;
    }
    double numbers = cells * (double)length * (best > 1 ? (double)best : 1);
    REFUSE_IF(
        numbers > MOST || letters == 0 || length == 0, OKRA_EUNSUPPORTED,
        "decoder string: weighted-degree of up to %lld of %lld letters needs tables "
        "of %.3g numbers, expected 1 to %.3g; --decode candidates needs none",
        (long long)d->k, (long long)letters, numbers, MOST);
    d->states = letters; /* so that a state tells its last letter */
    for (okra_int q = 2; q < d->k; q++) {
        d->states *= letters;
    }
    d->cells = (okra_int)cells;
    MAKE(d->h, length * d->cells);
    MAKE(d->score, d->states * best);
    MAKE(d->next, d->states * best);
    MAKE(d->from, length * d->states * best);
    MAKE(d->code, length);
    *out = TAKE(d);
    return OKRA_OK;
}

OKRA_SHARED_FREES_(okra_degree_free_, okra_degree_, it->h, it->score, it->next, it->from,
                   it->code)

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

/* A path among the best to its context: values descend. */
static void keep(double *values, okra_int *from, okra_int best, double value,
                 okra_int path)
{
    okra_int at = best - 1;
    if (!(value > values[at])) {
        return;
    }
    for (; at > 0 && value > values[at - 1]; at--) {
        values[at] = values[at - 1];
        from[at] = from[at - 1];
    }
    values[at] = value;
    from[at] = path;
}

/* One letter more: the best of every context of letters at place i. */
static okra_int advance(okra_degree_ *d, okra_int i, okra_int states)
{
    const double *h = d->h + i * d->cells;
    okra_int best = d->best, *from = d->from + i * d->states * best;
    okra_int most = OKRA_MIN_(d->k, i + 1),
             reached = OKRA_MIN_(states * d->letters, d->states);
    for (okra_int s = 0; s < reached * best; s++) {
        d->next[s] = -(double)INFINITY;
        from[s] = 0;
    }
    for (okra_int s = 0; s < states; s++) {
        for (okra_int c = 0; c < d->letters; c++) {
            okra_int word = s * d->letters + c, to = word % reached * best;
            double more = worth(d, h, word, most);
            for (okra_int t = s * best; t < (s + 1) * best; t++) {
                if (isfinite(d->score[t])) {
                    keep(d->next + to, from + to, best, d->score[t] + more, t);
                }
            }
        }
    }
    double *swap = d->score;
    d->score = d->next;
    d->next = swap;
    return reached;
}

/* The strings of the largest <h, phi(y)> into found[0..best-1]. */
static okra_status search(okra_degree_ *d, okra_result_ *found)
{
    okra_int states = 1, best = d->best;
    OWNED int32_t *word = NULL;
    OWNED okra_int *path = NULL;
    MAKE(word, d->length);
    ZMAKE(path, best);
    d->score[0] = 0;
    for (okra_int t = 1; t < best; t++) {
        d->score[t] = -(double)INFINITY;
    }
    for (okra_int i = 0; i < d->length; i++) {
        states = advance(d, i, states);
    }
    for (okra_int t = 0; t < best; t++) {
        d->next[t] = -(double)INFINITY;
    }
    for (okra_int s = 0; s < states * best; s++) {
        keep(d->next, path, best, d->score[s], s);
    }
    for (okra_int t = 0; t < best && isfinite(d->next[t]); t++) {
        okra_int at = path[t];
        for (okra_int i = d->length - 1; i >= 0; i--) {
            word[i] = d->alphabet[at / best % d->letters];
            at = d->from[i * d->states * best + at];
        }
        CHK(okra_result_make_(word, d->length, 0, &found[t]));
    }
    return OKRA_OK;
}

static okra_status one_row(okra_degree_ *d, const okra_data *y, const double *w,
                           okra_result_ *found)
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
    return search(d, found);
}

/* The true distances of what was found for m rows. */
static okra_status measure(okra_context *ctx, const okra_degree_ *d,
                           const okra_output_ *output, okra_mat_ W, okra_result_ *found)
{
    FREED_BY(okra_panels_drop_) okra_panels_ *training = NULL;
    FREED_BY(okra_ragged_abandon_) okra_ragged_builder_ b = {0};
    FREED_BY(okra_data_drop_) okra_data *words = NULL;
    OWNED double *norm = NULL, *distance = NULL;
    OWNED okra_int *owner = NULL;
    okra_int count = 0;
    MAKE(norm, W.rows);
    MAKE(owner, W.rows * d->best);
    MAKE(distance, W.rows * d->best);
    CHK(okra_panels_create_(ctx, output, NULL, &training));
    CHK(okra_panels_norms_(ctx, training, false, W, norm));
    CHK(okra_characters_begin_(&b));
    for (okra_int k = 0; k < W.rows * d->best; k++) {
        const void *const array[] = {found[k].codes};
        if (found[k].codes) {
            owner[count++] = k / d->best;
            CHK(okra_ragged_push_many_(&b, d->length, array));
            CHK(okra_ragged_close_(&b));
        }
    }
    CHK(okra_strings_adopt_(&b, NULL, "proposed strings", &words));
    CHK(okra_propose_(ctx, output, words, owner, true, W, norm, (double)NAN, NULL,
                      distance));
    for (okra_int k = 0, at = 0; k < W.rows * d->best; k++) {
        found[k].distance = found[k].codes ? distance[at++] : 0;
    }
    return OKRA_OK;
}

okra_status okra_degree_block_(okra_context *ctx, okra_degree_ *d,
                               const okra_output_ *output, const okra_block_ *block,
                               okra_result_ *found)
{
    for (okra_int r = 0; r < block->m; r++) {
        CHK(okra_cancelled_(ctx));
        CHK(one_row(d, output->y, block->W.p + r * block->W.ld, found + r * d->best));
    }
    return measure(ctx, d, output, block->W, found);
}
