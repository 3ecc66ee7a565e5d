/*
 * position.c: sequences, character by character, from position-wise features.
 *
 *     score[t][c] = sum_i w_i [character t of y_i is c]
 *
 * is the prediction itself under the kernel that counts equal characters at equal
 * positions (Kadri et al. 2013, sec. 6.2), and the best character can be taken at every
 * position by itself. With a chain of order 1 or more the whole sequence is chosen
 * together,
 *     max sum_t score[t][c_t] + weight log P(c_t | the characters before),
 * P estimated from the training outputs; exact by chain.c. A method that predicts
 * embeddings of sequences gives score[t][c] itself, in column t S + c.
 *
 * Where inputs and outputs of every training pair have the same length, that of the test
 * input is the length of the result. Elsewhere it is free, from 0 to that of the longest
 * training output, and the result minimises
 *     |phi(y) - h|^2 / 2 - weight log P(y),     P with the end of the sequence
 * among all sequences of the characters of the training outputs, under that kernel, of
 * which l(y,y) is the length T of y: sum_t (score[t][c_t] - 1/2) is to be large. Under
 * the normalized kernel, where l(y,y) = 1, it is sum_t score[t][c_t] / sqrt(T) with w_i /
 * sqrt(T_i) in the place of w_i, T >= 1, length by length. Distances are those of the
 * output kernel. Cost: the characters of all training outputs a prediction, and T S
 * times the contexts of the chain, T times that if normalized.
 */
#include "data/strings.h"
#include "decode/strings/chain.h"
#include "decode/results.h"
#include "decode/propose.h"
#include "kernel/expression/expr.h"
#include "kernel/strings/string_kernels.h"
#include "kernel/transforms.h"

#include <math.h>
#include <string.h>

typedef struct position_options {
    okra_int chain;
    double weight, prior;
} position_options;

static const okra_option rows[] = {
    {"chain", OKRA_OPTION_INT, offsetof(position_options, chain), "0", 0,
     OKRA_CHAIN_MOST_, NULL, "N",
     "how many characters before it a character depends on, 0 to 8"},
    {"chain-weight", OKRA_OPTION_NUMBER, offsetof(position_options, weight), "0.05", 0,
     1e300, NULL, "V", "weight of the chain's log probabilities beside the scores"},
    {"chain-prior", OKRA_OPTION_NUMBER, offsetof(position_options, prior), "1", 1e-300,
     1e300, NULL, "V",
     "counts that a context of the chain lends from the one a character shorter"},
    {0},
};

typedef struct state {
    const okra_output_ *output;
    okra_int longest, symbols; /* the last symbol is the end unless aligned */
    const okra_int *lengths;   /* of the results, or NULL: free */
    bool normalized;           /* free, under the normalized kernel */
    int32_t *alphabet;
    okra_int *coded, *offsets; /* training outputs as symbols: y_i at offsets[i] */
    okra_chain_ chain;
    double weight;
    okra_panels_ *training;
    okra_results_ finds;
} state;

extern const okra_decoder_ okra_decoder_position_;

static void release(void *arg)
{
    state *s = arg;
    if (s) {
        FREE(s->alphabet, s->coded, s->offsets);
        okra_chain_clear_(&s->chain);
        okra_panels_free_(s->training);
        okra_results_clear_(&s->finds);
        okra_free_(s);
    }
}

OKRA_DROPS_(drop, state, release)

/* ---- create ---- */

/* Every training output as symbols; the chain is told the end where lengths are free. */
static okra_status code_outputs(okra_context *ctx, state *s, const position_options *o)
{
    const okra_data *y = s->output->y;
    okra_int letters;
    CHK(okra_alphabet_(y, &s->alphabet, &letters));
    for (okra_int i = 0; i < y->n; i++) {
        okra_int length;
        okra_characters_(y, i, &length);
        s->longest = OKRA_MAX_(s->longest, length);
    }
    s->symbols = letters + !s->lengths;
    REFUSE_IF(s->symbols == 0, OKRA_EARG,
              "decoder position: the training outputs have no characters");
    CHK(okra_chain_create_(o->chain, s->symbols, &s->chain));
    MAKE(s->offsets, y->n + 1);
    MAKE(s->coded, y->groups[0].offsets[y->n] + 1);
    s->offsets[0] = 0;
    for (okra_int i = 0; i < y->n; i++) {
        okra_int length, at = s->offsets[i];
        const int32_t *codes = okra_characters_(y, i, &length);
        for (okra_int t = 0; t < length; t++) {
            s->coded[at++] = okra_letter_(s->alphabet, letters, codes[t]);
        }
        s->offsets[i + 1] = at;
        s->coded[at] = letters; /* the end, until the next output takes its place */
        CHK(okra_chain_count_(ctx, &s->chain, s->coded + s->offsets[i],
                              length + !s->lengths));
    }
    return okra_chain_finish_(ctx, &s->chain, o->prior);
}

/* Does the tree end in a normalization? */
static bool is_normalized(const okra_kernel *kernel)
{
    int root = kernel->count - 1;
    while (kernel->nodes[root].kind == OKRA_NODE_SCALE_) {
        root = kernel->nodes[root].a;
    }
    const okra_node_ *node = &kernel->nodes[root];
    return node->kind == OKRA_NODE_TRANSFORM_ && node->transform == &okra_normalize_;
}

static okra_status create(okra_context *ctx, const okra_output_ *output,
                          const okra_options *options,
                          const okra_decode_request_ *request, void **out)
{
    FREED_BY(drop) state *s = NULL;
    position_options o;
    CHK(okra_options_read(options, &okra_decoder_position_.options, &o));
    REFUSE_IF(output->y->kind != OKRA_STRINGS && output->y->kind != OKRA_SEQUENCES,
              OKRA_EUNSUPPORTED,
              "decoder position needs strings or sequences as outputs; these are %s",
              okra_kind_name(output->y->kind));
    static const char *const needy[] = {"chain-weight", "chain-prior"};
    for (int k = 0; k < 2; k++) {
        REFUSE_IF(o.chain == 0 && okra_options_is_set(options, needy[k]), OKRA_EARG,
                  "decoder position: %s has no use without a chain", needy[k]);
    }
    ZMAKE(s, 1);
    s->output = output;
    s->lengths = request->lengths;
    s->weight = o.weight;
    s->normalized = !s->lengths && is_normalized(output->kernel);
    CHK(code_outputs(ctx, s, &o));
    CHK(okra_panels_create_(ctx, output, NULL, &s->training));
    double letters = (double)s->symbols, longest = (double)s->longest;
    for (okra_int i = 0; s->lengths && i < request->tests; i++) {
        longest = fmax(longest, (double)s->lengths[i]);
    }
    CHK(okra_results_open_(ctx, "position", pow(letters, longest), request, &s->finds));
    *out = TAKE(s);
    return OKRA_OK;
}

/* ---- blocks ---- */

typedef struct work {
    state *s;
    const okra_block_ *block;
    okra_int longest;     /* of this block's results */
    double *score;        /* 2 x longest x symbols a worker */
    unsigned char *space; /* for the chain, a worker */
    okra_int space_size;
    okra_int *found, *length; /* m x top: longest symbols each; lengths, -1: no more */
    double *value;            /* m x top */
} work;

/* score[t][c] of row r, its positions below `length`. */
static void add_scores(const work *k, okra_int r, okra_int length, double *score)
{
    const state *s = k->s;
    const okra_block_ *b = k->block;
    okra_int S = s->symbols, size = k->longest * S;
    memset(score, 0, (size_t)size * sizeof *score);
    if (!b->W.p) {
        memcpy(score, b->H.p + r * b->H.ld,
               (size_t)OKRA_MIN_(size, b->H.cols) * sizeof *score);
        return;
    }
    for (okra_int i = 0; i < b->W.cols; i++) {
        const okra_int *y = s->coded + s->offsets[i];
        okra_int own = s->offsets[i + 1] - s->offsets[i];
        double w = b->W.p[r * b->W.ld + i] / (s->normalized ? sqrt((double)own) : 1);
        for (okra_int t = 0; t < OKRA_MIN_(length, own); t++) {
            score[t * S + y[t]] += w;
        }
    }
}

/* Those of one row: the best of the next length take their places among the others. */
static void merge(const work *k, okra_int r, okra_int count, const okra_int *symbols,
                  okra_int T, const double *value)
{
    okra_int top = k->s->finds.top, *length = k->length + r * top;
    double *of = k->value + r * top;
    okra_int *found = k->found + r * top * k->longest;
    for (okra_int c = 0; c < count; c++) {
        okra_int at = top;
        while (at > 0 && (length[at - 1] < 0 || value[c] > of[at - 1])) {
            at--;
        }
        okra_int later = top - at - 1;
        if (at < top) {
            memmove(length + at + 1, length + at, (size_t)later * sizeof *length);
            memmove(of + at + 1, of + at, (size_t)later * sizeof *of);
            memmove(found + (at + 1) * k->longest, found + at * k->longest,
                    (size_t)(later * k->longest) * sizeof *found);
            length[at] = T;
            of[at] = value[c];
            memcpy(found + at * k->longest, symbols + c * T, (size_t)T * sizeof *found);
        }
    }
}

/* Lengths 1, 2, ... by themselves: each has scores of its own. */
static okra_status best_normalized(const work *k, okra_int r, const double *score,
                                   double *scaled, void *space)
{
    const state *s = k->s;
    okra_int top = s->finds.top;
    OWNED okra_int *tried = NULL, *lengths = NULL;
    OWNED double *value = NULL;
    MAKE(tried, top * k->longest);
    MAKE(lengths, top);
    MAKE(value, top);
    for (okra_int T = 1; T <= k->longest; T++) {
        okra_chain_search_ q = {scaled, T, T, s->weight, 0, true};
        for (okra_int j = 0; j < T * s->symbols; j++) {
            scaled[j] = score[j] / sqrt((double)T);
        }
        okra_int count =
            okra_chain_best_(&s->chain, &q, top, space, tried, lengths, value);
        merge(k, r, count, tried, T, value);
    }
    return OKRA_OK;
}

static okra_status body(void *arg, okra_int begin, okra_int end, int worker)
{
    const work *k = arg;
    const state *s = k->s;
    okra_int size = k->longest * s->symbols, top = s->finds.top;
    double *score = k->score + worker * 2 * size;
    void *space = k->space + worker * k->space_size;
    for (okra_int r = begin; r < end; r++) {
        okra_int *found = k->found + r * top * k->longest;
        okra_int length = s->lengths ? s->lengths[k->block->first + r] : k->longest;
        okra_chain_search_ q = {.score = score,
                                .shortest = s->lengths ? length : 0,
                                .longest = length,
                                .weight = s->weight,
                                .cost = s->lengths ? 0 : 0.5,
                                .end = !s->lengths};
        add_scores(k, r, length, score);
        for (okra_int t = 0; t < top; t++) {
            k->length[r * top + t] = -1;
        }
        if (s->normalized) {
            CHK(best_normalized(k, r, score, score + size, space));
            k->length[r * top] = OKRA_MAX_(k->length[r * top], 0);
            continue;
        }
        okra_chain_best_(&s->chain, &q, top, space, found, k->length + r * top,
                         k->value + r * top);
        for (okra_int t = top - 1; t > 0 && length < k->longest; t--) { /* rows apart */
            memmove(found + t * k->longest, found + t * length,
                    (size_t)length * sizeof *found);
        }
    }
    return OKRA_OK;
}

/* Squared distance of result k of row r to its embedding, columns t S + c of features. */
static double apart(const work *k, okra_int r, okra_int at)
{
    const state *s = k->s;
    const okra_block_ *b = k->block;
    const double *h = b->H.p + r * b->H.ld;
    double sum = okra_dot_(b->H.cols, h, h) + (double)k->length[at];
    for (okra_int t = 0; t < k->length[at]; t++) {
        okra_int column = t * s->symbols + k->found[at * k->longest + t];
        sum -= column < b->H.cols ? 2 * h[column] : 0;
    }
    return OKRA_MAX_(sum, 0);
}

/* The results of a block as strings, kept and judged by the output kernel. */
static okra_status keep(okra_context *ctx, const work *k)
{
    state *s = k->s;
    okra_results_ *f = &s->finds;
    OWNED okra_int *owner = NULL;
    okra_int m = k->block->m, top = f->top, first = k->block->first, before = f->count;
    OWNED int32_t *codes = NULL;
    OWNED double *norm = NULL, *distance = NULL;
    FREED_BY(okra_data_drop_) okra_data *strings = NULL;
    MAKE(owner, m * top);
    MAKE(distance, m * top);
    MAKE(norm, m);
    MAKE(codes, k->longest + 1);
    for (okra_int at = 0; at < m * top; at++) {
        for (okra_int t = 0; t < k->length[at]; t++) {
            codes[t] = s->alphabet[k->found[at * k->longest + t]];
        }
        if (k->length[at] >= 0) {
            owner[f->count - before] = at / top;
            CHK(okra_results_put_(f, first + at / top, at % top, codes, k->length[at],
                                  k->block->W.p ? 0 : apart(k, at / top, at)));
        }
    }
    if (!k->block->W.p) {
        return OKRA_OK;
    }
    CHK(okra_objects_letters_(s->output->y, f->codes, f->offsets + before,
                              f->count - before, &strings));
    CHK(okra_panels_norms_(ctx, s->training, m < f->tests, k->block->W, norm));
    CHK(okra_propose_(ctx, s->output, strings, owner, true, k->block->W, norm, NAN, NULL,
                      distance));
    for (okra_int at = 0; at < m * top; at++) {
        okra_int *index = &f->index[first * top + at];
        f->distance[first * top + at] =
            *index < 0 ? (double)INFINITY : distance[*index - before];
    }
    return OKRA_OK;
}

static okra_status block_in(okra_context *ctx, void *arg, const okra_block_ *block)
{
    state *s = arg;
    work k = {.s = s, .block = block, .longest = s->longest};
    OWNS(&k.score, &k.space, &k.found, &k.length, &k.value);
    okra_int workers = okra_workers_(ctx);
    REFUSE_IF(!block->W.p && !s->lengths, OKRA_EUNSUPPORTED,
              "decoder position: embeddings of sequences are read where "
              "inputs and outputs have the same lengths");
    for (okra_int r = 0; s->lengths && r < block->m; r++) {
        k.longest = OKRA_MAX_(k.longest, s->lengths[block->first + r]);
    }
    okra_int cells = block->m * s->finds.top;
    k.space_size = okra_chain_scratch_(&s->chain, k.longest, s->finds.top);
    CHK(okra_budget_ask_(ctx,
                         (double)(workers * k.space_size) +
                             8 * (double)cells * (double)(k.longest + 4),
                         "the best sequences"));
    CHK(okra_doubles_(ctx, 2 * workers * k.longest, s->symbols,
                      "the scores of characters", &k.score));
    MAKE(k.space, workers * k.space_size);
    MAKE(k.found, cells * k.longest);
    MAKE(k.length, cells);
    MAKE(k.value, cells);
    CHK(okra_parallel_(ctx, block->m, 16, "decode", body, &k));
    return keep(ctx, &k);
}

static okra_status finish(okra_context *ctx, void *arg, okra_decoded_ *out)
{
    state *s = arg;
    (void)ctx;
    return okra_results_give_(&s->finds, okra_objects_letters_, s->output->y, out);
}

const okra_decoder_ okra_decoder_position_ = {
    .name = "position",
    .automatic = "position(zero-one)",
    .suits = OKRA_SUITS_ALIGNED_,
    .makes_up = true,
    .help = "sequences: the best character at every position, or with a chain the best "
            "sequence",
    .options = {"decoder position", rows, sizeof(position_options)},
    .create = create,
    .block = block_in,
    .finish = finish,
    .free = release,
};
