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
 * input is the length of the result. Elsewhere it is free, from 1 (0 where the empty
 * string is allowed, which has no features) to that of the longest training output, and
 * the result minimises |phi(y) - h|^2 / 2 - weight log P(y),     P with the end of the
 * sequence among all sequences of the characters of the training outputs, under that
 * kernel, of which l(y,y) is the length T of y: sum_t (score[t][c_t] - 1/2) is to be
 * large. Under the normalized kernel, where l(y,y) = 1, it is sum_t score[t][c_t] /
 * sqrt(T) with w_i / sqrt(T_i) in the place of w_i, T >= 1, length by length. Distances
 * are those of the output kernel. Cost: the characters of all training outputs a
 * prediction, and T S times the contexts of the chain, T times that if normalized.
 */
#include "decode/strings/string_prediction.h"

typedef struct position_options {
    okra_int chain;
    double weight, prior;
    bool empty;
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
    {"allow-empty-candidates", OKRA_OPTION_BOOL, offsetof(position_options, empty), "no",
     1, 0, NULL, "", "let the empty string be a result where lengths are free"},
    {0},
};

typedef struct state {
    okra_results_ results;
    const okra_output_ *output;
    okra_int shortest;         /* where lengths are free */
    okra_int longest, symbols; /* the last symbol is the end unless aligned */
    const okra_int *lengths;   /* of the results, or NULL: free */
    bool normalized;           /* free, under the normalized kernel */
    int32_t *alphabet;
    okra_int *coded, *offsets; /* training outputs as symbols: y_i at offsets[i] */
    okra_chain_ chain;
    double weight;
} state;

static void clear(void *arg)
{
    state *s = arg;
    FREE(s->alphabet, s->coded, s->offsets);
    okra_chain_clear_(&s->chain);
    okra_results_clear_(&s->results);
}

/* ---- create ---- */

/* Every training output as symbols; the chain learns the end where lengths are free. */
static okra_status code_outputs(okra_context *ctx, state *s, const position_options *o)
{
    const okra_data *y = s->output->y;
    okra_int letters;
    CHK(okra_alphabet_(y, &s->alphabet, &letters));
    s->longest = okra_longest_(y);
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

static okra_status open(okra_context *ctx, void *arg, const okra_output_ *output,
                        const void *options, const okra_decode_request_ *request)
{
    state *s = arg;
    const position_options *o = options;
    REFUSE_IF(output->y->kind != OKRA_STRINGS && output->y->kind != OKRA_SEQUENCES,
              OKRA_EUNSUPPORTED,
              "decoder position needs strings or sequences as outputs; these are %s",
              okra_kind_name(output->y->kind));
    static const char *const needy[] = {"chain-weight", "chain-prior"};
    for (int k = 0; k < 2; k++) {
        REFUSE_IF(o->chain == 0 && okra_options_is_set(request->options, needy[k]),
                  OKRA_EARG, "decoder position: %s has no use without a chain", needy[k]);
    }
    s->output = output;
    s->lengths = request->lengths;
    s->weight = o->weight;
    s->shortest = !o->empty;
    double scale;
    (void)okra_kernel_core_(output->kernel, &scale, &s->normalized);
    s->normalized = s->normalized && !s->lengths;
    CHK(code_outputs(ctx, s, o));
    double letters = (double)s->symbols, longest = (double)s->longest;
    for (okra_int i = 0; s->lengths && i < request->tests; i++) {
        longest = fmax(longest, (double)s->lengths[i]);
    }
    CHK(okra_results_open_(ctx, "position", pow(letters, longest), output, request,
                           okra_objects_letters_, output->y, &s->results));
    return OKRA_OK;
}

/* ---- blocks ---- */

/* What one thread works with. */
typedef struct workspace {
    double *score, *scaled; /* longest x symbols */
    void *space;            /* for the chain */
    okra_int *symbols;      /* top x longest: sequences, */
    okra_int *length;       /* top: their lengths */
    double *value;          /* top: and values */
    int32_t *codes;         /* longest */
    okra_shortlist_ best;   /* of all lengths, symbols in the place of characters */
} workspace;

typedef struct work {
    okra_context *ctx;
    const state *s;
    const okra_block_ *block;
    okra_int longest; /* of this block's results */
    okra_int space;   /* bytes for the chain */
} work;

static void workspace_clear(void *arg)
{
    workspace *w = arg;
    FREE(w->score, w->scaled, w->space, w->symbols, w->length, w->value, w->codes);
    okra_shortlist_clear_(&w->best);
}

static okra_status workspace_open(const void *arg, void *space)
{
    const work *k = arg;
    workspace *w = space;
    okra_int top = k->s->results.top;
    CHK(okra_doubles_(k->ctx, k->longest, k->s->symbols, "the scores of characters",
                      &w->score));
    CHK(okra_doubles_(k->ctx, k->longest, k->s->symbols, "the scores of characters",
                      &w->scaled));
    GOT(w->space = okra_alloc_(k->space, 1));
    MAKE(w->symbols, top * k->longest);
    MAKE(w->length, top);
    MAKE(w->value, top);
    MAKE(w->codes, k->longest + 1);
    return okra_shortlist_open_(top, true, &w->best);
}

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

/* The best sequences of q's lengths among those of the row. */
static okra_status add_best(const work *k, workspace *w, const okra_chain_search_ *q)
{
    const state *s = k->s;
    okra_int count = okra_chain_best_(&s->chain, q, s->results.top, w->space, w->symbols,
                                      w->length, w->value);
    for (okra_int c = 0; c < count; c++) {
        for (okra_int t = 0; t < w->length[c]; t++) {
            w->codes[t] = (int32_t)w->symbols[c * q->longest + t];
        }
        CHK(okra_shortlist_put_(&w->best, w->codes, w->length[c],
                                (okra_key_){-w->value[c], 0}, 0));
    }
    return OKRA_OK;
}

/* Squared distance of symbols to row r of the embeddings, columns t S + c of features. */
static double apart(const work *k, okra_int r, const okra_item_ *y)
{
    const okra_block_ *b = k->block;
    const double *h = b->H.p + r * b->H.ld;
    double sum = okra_dot_(b->H.cols, h, h) + (double)y->length;
    for (okra_int t = 0; t < y->length; t++) {
        okra_int column = t * k->s->symbols + y->codes[t];
        sum -= column < b->H.cols ? 2 * h[column] : 0;
    }
    return OKRA_MAX_(sum, 0);
}

/* Symbols become characters, and the results of row r. */
static okra_status keep(const work *k, okra_int r, okra_shortlist_ *best)
{
    const state *s = k->s;
    for (okra_int c = 0; c < best->count; c++) {
        okra_item_ *it = &best->items[c];
        it->distance = k->block->W.p ? 0 : apart(k, r, it);
        for (okra_int t = 0; t < it->length; t++) {
            it->codes[t] = s->alphabet[it->codes[t]];
        }
    }
    return okra_results_list_(&s->results, k->block->first + r, best);
}

/* Normalized: lengths 1, 2, ... by themselves, as each has scores of its own. */
static okra_status one_row(const void *arg, void *space, okra_int r)
{
    const work *k = arg;
    workspace *w = space;
    const state *s = k->s;
    okra_int length = s->lengths ? s->lengths[k->block->first + r] : k->longest;
    okra_shortlist_empty_(&w->best);
    add_scores(k, r, length, w->score);
    for (okra_int T = 1; s->normalized && T <= k->longest; T++) {
        okra_chain_search_ q = {w->scaled, T, T, s->weight, 0, true};
        for (okra_int j = 0; j < T * s->symbols; j++) {
            w->scaled[j] = w->score[j] / sqrt((double)T);
        }
        CHK(add_best(k, w, &q));
    }
    if (!s->normalized) {
        okra_chain_search_ q = {.score = w->score,
                                .shortest =
                                    s->lengths ? length : OKRA_MIN_(s->shortest, length),
                                .longest = length,
                                .weight = s->weight,
                                .cost = s->lengths ? 0 : 0.5,
                                .end = !s->lengths};
        CHK(add_best(k, w, &q));
    }
    if (w->best.count == 0) { /* normalized, and no output has a character */
        CHK(okra_shortlist_put_(&w->best, w->codes, 0, (okra_key_){0, 0}, 0));
    }
    return keep(k, r, &w->best);
}

static okra_status block_in(okra_context *ctx, void *arg, const okra_block_ *block)
{
    state *s = arg;
    work k = {ctx, s, block, s->longest, 0};
    REFUSE_IF(!block->W.p && !s->lengths, OKRA_EUNSUPPORTED,
              "decoder position: embeddings of sequences are read where "
              "inputs and outputs have the same lengths");
    for (okra_int r = 0; s->lengths && r < block->m; r++) {
        k.longest = OKRA_MAX_(k.longest, s->lengths[block->first + r]);
    }
    static const okra_each_ each = {sizeof(workspace), workspace_open, one_row,
                                    workspace_clear};
    okra_int top = s->results.top;
    k.space = okra_chain_scratch_(&s->chain, k.longest, top);
    CHK(okra_budget_ask_(ctx,
                         okra_workers_(ctx) *
                             ((double)k.space + 8.0 * (double)top * (double)k.longest),
                         "the best sequences"));
    CHK(okra_parallel_each_(ctx, block->m, 16, "decode", &each, &k));
    return block->W.p ? okra_results_measure_(ctx, &s->results, block) : OKRA_OK;
}

const okra_decoder_ okra_decoder_position_ = {
    .name = "position",
    .automatic = "position(zero-one)",
    .suits = OKRA_SUITS_ALIGNED_,
    .makes_up = true,
    .help = "sequences: the best character at every position, or with a chain the best "
            "sequence",
    .options = {"decoder position", rows, sizeof(position_options)},
    .state = sizeof(state),
    .open = open,
    .block = block_in,
    .finish = okra_results_give_,
    .clear = clear,
};
