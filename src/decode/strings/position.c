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
 * P estimated from the training outputs; exact by the Viterbi algorithm. A method that
 * predicts embeddings of sequences gives score[t][c] itself, in column t S + c.
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

/* Markov chains over symbols, and the Viterbi algorithm.
 *
 *     max over c_1..c_T of  sum_t score[t][c_t] + weight log P(c_t | before),
 * `before` the characters c_{t-order}..c_{t-1}, and over T where it is free, the end of
 * the sequence then being one more symbol of the chain
 *
 * Probabilities of a context h of k characters (the beginning counts as one) lean on
 * those of h without its first character, h':
 *     P(c | h) = (count(h, c) + prior P(c | h')) / (count(h) + prior),
 * P(c | nothing at all) = 1/S for S symbols, so that no sequence is impossible. Under a
 * context that no training sequence has, P is that of the longest end of it that one
 * has. The state of the search is that longest end: if u c is a context that was seen,
 * so is u, hence the state after c follows from the state before it and the maximum is
 * exact. First the most that can come after every place and state is found, from the last
 * place on (Viterbi), then the K best sequences from the first place on. O(T C S + T K S
 * log(K S)) for C contexts seen, at most order times the characters counted and
 * at most (S+1)^order + ... + 1.
 *
 * Contexts are kept as a tree: the empty one is the root, a child has one more character
 * before it.
 */

/* log P(c | the `order` characters before it), estimated from counts; a context that was
 * never seen is cut to the longest part of its end that was. Symbols are 0..symbols-1;
 * `symbols` itself stands for the beginning in contexts. */
typedef struct markov {
    okra_int order, symbols;
    okra_int contexts, room; /* those seen, the empty one first */
    int32_t *parent;         /* the context without its first character; -1: none */
    int32_t *first;          /* that character */
    int32_t *child; /* room x (symbols+1): with one more before it; 0: not seen */
    double *log_p;  /* room x symbols; counts until finished */
    int32_t *next;  /* contexts x symbols: the context after that character */
    okra_int start;
} markov;

enum { CHAIN_MOST = 8 }; /* order */

/* What is searched for. */
typedef struct chain_search {
    const double *score;        /* longest x symbols */
    okra_int shortest, longest; /* of the sequence */
    double weight, cost;        /* of the log probabilities; what a symbol costs */
    bool end; /* the last symbol is the end: chosen nowhere, its log P comes on top */
} chain_search;

OKRA_CLEARS_(chain_clear, markov, it->parent, it->first, it->child, it->log_p, it->next)

static okra_status chain_create(okra_int order, okra_int symbols, markov *out)
{
    FREED_BY(chain_clear)
    markov chain = {.order = order, .symbols = symbols, .contexts = 1, .room = 1};
    MAKE(chain.parent, 1);
    MAKE(chain.first, 1);
    ZMAKE(chain.child, symbols + 1);
    ZMAKE(chain.log_p, symbols);
    chain.parent[0] = -1;
    chain.first[0] = -1;
    *out = TAKE(chain);
    return OKRA_OK;
}

/* p <- `rows` rows of `width` elements, those past `old` 0. */
#define GROW(p, old, rows, width)                                   \
    do {                                                            \
        RESIZE(p, (rows) * (width));                                \
        memset((p) + (old) * (width), 0,                            \
               (size_t)(((rows) - (old)) * (width)) * sizeof *(p)); \
    } while (0)

static okra_status make_room(const okra_context *ctx, markov *chain)
{
    okra_int old = chain->room, more = 2 * old, S = chain->symbols;
    REFUSE_IF(more > INT32_MAX, OKRA_EARG,
              "a chain of order %lld: more contexts than can be numbered",
              (long long)chain->order);
    CHK(okra_budget_ask_(ctx, 20.0 * (double)(more * (S + 1)),
                         "the contexts of a chain of order %lld",
                         (long long)chain->order));
    GROW(chain->parent, old, more, 1);
    GROW(chain->first, old, more, 1);
    GROW(chain->child, old, more, S + 1);
    GROW(chain->log_p, old, more, S);
    chain->room = more;
    return OKRA_OK;
}

static okra_status chain_count(const okra_context *ctx, markov *chain,
                               const okra_int *sequence, okra_int length)
{
    okra_int S = chain->symbols;
    for (okra_int t = 0; t < length; t++) {
        okra_int context = 0;
        chain->log_p[sequence[t]]++;
        for (okra_int k = 1; k <= chain->order && t - k >= -1; k++) {
            okra_int c = t < k ? S : sequence[t - k]; /* the beginning stands first */
            okra_int longer = chain->child[context * (S + 1) + c];
            if (longer == 0) {
                if (chain->contexts == chain->room) {
                    CHK(make_room(ctx, chain));
                }
                longer = chain->contexts++;
                chain->child[context * (S + 1) + c] = (int32_t)longer;
                chain->parent[longer] = (int32_t)context;
                chain->first[longer] = (int32_t)c;
            }
            context = longer;
            chain->log_p[context * S + sequence[t]]++;
        }
    }
    return OKRA_OK;
}

/* The longest end of (context, c) that was seen, of at most `order` characters. */
static okra_int follow(const markov *chain, okra_int context, okra_int c)
{
    okra_int before[CHAIN_MOST], depth = 0, with = chain->symbols + 1;
    for (okra_int h = context; h > 0; h = chain->parent[h]) {
        before[depth++] = chain->first[h]; /* from the first character to the last */
    }
    okra_int found = chain->order > 0 ? chain->child[c] : 0;
    for (okra_int k = 1; found > 0 && k < chain->order && depth > 0; k++) {
        okra_int longer = chain->child[found * with + before[--depth]];
        if (longer == 0) {
            break;
        }
        found = longer;
    }
    return found;
}

/* Turns the counts into log probabilities: P = (count + prior P') / (total + prior), P'
 * that of the shorter context, 1/symbols below the empty one; prior > 0. */
static okra_status chain_finish(const okra_context *ctx, markov *chain, double prior)
{
    okra_int S = chain->symbols;
    CHK(okra_budget_ask_(ctx, 4.0 * (double)(chain->contexts * S),
                         "the transitions of a chain of order %lld",
                         (long long)chain->order));
    MAKE(chain->next, chain->contexts * S);
    /* a context has a larger number than its parent, whose P is ready */
    for (okra_int h = 0; h < chain->contexts; h++) {
        double *p = chain->log_p + h * S, total = prior + okra_total_(S, p);
        for (okra_int c = 0; c < S; c++) {
            double shorter =
                h > 0 ? chain->log_p[chain->parent[h] * S + c] : 1 / (double)S;
            p[c] = (p[c] + prior * shorter) / total;
            chain->next[h * S + c] = (int32_t)follow(chain, h, c);
        }
    }
    for (okra_int i = 0; i < chain->contexts * S; i++) {
        chain->log_p[i] = log(chain->log_p[i]);
    }
    chain->start = follow(chain, 0, S);
    return OKRA_OK;
}

/* A sequence begun: its last symbol, whose it goes on, and where the chain is. */
typedef struct begun {
    double bound, value; /* of its best end, and so far */
    int32_t state, from, symbol;
} begun;

/* A whole one: the begun sequence `at` of `length` symbols; the key is -value, the id its
 * turn, so that the shorter comes first of equal ones. */
typedef struct whole {
    okra_rank_ rank;
    okra_int length, at;
} whole;

/* Bytes of scratch that chain_best needs for sequences of that length. */
static okra_int chain_scratch(const markov *chain, okra_int length, okra_int top)
{
    return (length + 1) * (chain->contexts * (okra_int)sizeof(double) +
                           top * (okra_int)sizeof(begun)) +
           top * (chain->symbols * (okra_int)sizeof(begun) + (okra_int)sizeof(whole));
}

/* What symbol c at place t adds after context s. */
static inline double step(const markov *chain, const chain_search *q, okra_int t,
                          okra_int s, okra_int c)
{
    okra_int S = chain->symbols;
    return q->score[t * S + c] - q->cost + q->weight * chain->log_p[s * S + c];
}

/* ... and the end after t symbols, which has no score. */
static double end_at(const markov *chain, const chain_search *q, okra_int t, okra_int s)
{
    okra_int S = chain->symbols;
    return t < q->shortest ? -(double)INFINITY
           : q->end        ? q->weight * chain->log_p[s * S + S - 1]
                           : 0;
}

/* ahead[t][s]: the most that can come after t symbols in context s. */
static void look_ahead(const markov *chain, const chain_search *q, double *ahead)
{
    okra_int states = chain->contexts, S = chain->symbols;
    for (okra_int t = q->longest; t >= 0; t--) {
        const double *later = ahead + (t + 1) * states;
        for (okra_int s = 0; s < states; s++) {
            double most = end_at(chain, q, t, s);
            for (okra_int c = 0; t < q->longest && c < S - q->end; c++) {
                most =
                    fmax(most, step(chain, q, t, s, c) + later[chain->next[s * S + c]]);
            }
            ahead[t * states + s] = most;
        }
    }
}

OKRA_ORDER_(by_bound, begun, OKRA_DOWN_(bound), OKRA_UP_(from), OKRA_UP_(symbol))

/* The sequences begun, one symbol longer each. */
static okra_int go_on(const markov *chain, const chain_search *q, okra_int t,
                      const double *later, const begun *now, okra_int count, begun *next)
{
    okra_int made = 0, S = chain->symbols;
    for (okra_int k = 0; k < count; k++) {
        for (okra_int c = 0; c < S - q->end; c++) {
            double value = now[k].value + step(chain, q, t, now[k].state, c);
            int32_t state = chain->next[now[k].state * S + c];
            next[made++] =
                (begun){value + later[state], value, state, (int32_t)k, (int32_t)c};
        }
    }
    qsort(next, (size_t)made, sizeof *next, by_bound);
    return made;
}

/* The `top` sequences of the largest sum_t score[t][c_t] - cost + weight log P(c_t |
 * before), exactly, the largest first: their lengths, their values, and their symbols in
 * rows of `best`, longest each. Ties go to the shorter sequence. Returns how many there
 * are.
 *
 * A sequence begun is worth what its best end makes of it, so that the `top` best of each
 * length hold all that the `top` best whole ones begin with. */
static okra_int chain_best(const markov *chain, const chain_search *search, okra_int top,
                           void *scratch, okra_int *best, okra_int *length, double *value)
{
    chain_search plain = *search;
    const chain_search *q = &plain;
    plain.weight = chain->order > 0 ? plain.weight : 0; /* 0: no probabilities */
    okra_int states = chain->contexts, count = 1, found = 0, came = 0;
    double *ahead = scratch;
    begun *all = (begun *)(void *)(ahead + (q->longest + 1) * states);
    begun *next = all + (q->longest + 1) * top;
    whole *ends = (whole *)(void *)(next + top * chain->symbols);
    look_ahead(chain, q, ahead);
    all[0] = (begun){.state = (int32_t)chain->start};
    for (okra_int t = 0;; t++) {
        const begun *now = all + t * top;
        for (okra_int k = 0; k < count; k++) {
            double sum = now[k].value + end_at(chain, q, t, now[k].state);
            whole *end = sum > -(double)INFINITY
                             ? okra_best_put_(ends, sizeof *ends, &found, top,
                                              (okra_rank_){{-sum, 0}, came++})
                             : NULL;
            if (end) {
                end->length = t;
                end->at = k;
            }
        }
        if (t == q->longest) {
            break;
        }
        count = go_on(chain, q, t, ahead + (t + 1) * states, now, count, next);
        count = OKRA_MIN_(count, top);
        memcpy(all + (t + 1) * top, next, (size_t)count * sizeof *next);
    }
    for (okra_int k = 0; k < found; k++) {
        okra_int at = ends[k].at;
        value[k] = -ends[k].rank.key.high;
        length[k] = ends[k].length;
        for (okra_int t = ends[k].length; t > 0; t--) {
            const begun *b = &all[t * top + at];
            best[k * q->longest + t - 1] = b->symbol;
            at = b->from;
        }
    }
    return found;
}

/* ---- the decoder ---- */

typedef struct position_options {
    okra_int chain;
    double weight, prior;
    bool empty;
} position_options;

static const okra_option rows[] = {
    {"chain", OKRA_OPTION_INT, offsetof(position_options, chain), "0", 0, CHAIN_MOST,
     NULL, "N", "how many characters before it a character depends on, 0 to 8"},
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
    markov chain;
    double weight;
} state;

static void clear(void *arg)
{
    state *s = arg;
    FREE(s->alphabet, s->coded, s->offsets);
    chain_clear(&s->chain);
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
    CHK(chain_create(o->chain, s->symbols, &s->chain));
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
        CHK(chain_count(ctx, &s->chain, s->coded + s->offsets[i], length + !s->lengths));
    }
    return chain_finish(ctx, &s->chain, o->prior);
}

static okra_status open(okra_context *ctx, void *arg, const okra_output_ *output,
                        const void *options, const okra_decode_request_ *request)
{
    state *s = arg;
    const position_options *o = options;
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
static okra_status add_best(const work *k, workspace *w, const chain_search *q)
{
    const state *s = k->s;
    okra_int count = chain_best(&s->chain, q, s->results.top, w->space, w->symbols,
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
        chain_search q = {w->scaled, T, T, s->weight, 0, true};
        for (okra_int j = 0; j < T * s->symbols; j++) {
            w->scaled[j] = w->score[j] / sqrt((double)T);
        }
        CHK(add_best(k, w, &q));
    }
    if (!s->normalized) {
        chain_search q = {.score = w->score,
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
    k.space = chain_scratch(&s->chain, k.longest, top);
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
    .kinds = 1u << OKRA_STRINGS | 1u << OKRA_SEQUENCES,
    .needs = "strings or sequences",
    .help = "sequences: the best character at every position, or with a chain the best "
            "sequence",
    .options = {"decoder position", rows, sizeof(position_options)},
    .state = sizeof(state),
    .open = open,
    .block = block_in,
    .finish = okra_results_give_,
    .clear = clear,
};
