/*
 * chain.c: Markov chains over symbols, and the Viterbi algorithm.
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
#include "decode/strings/string_prediction.h"

okra_status okra_chain_create_(okra_int order, okra_int symbols, okra_chain_ *out)
{
    FREED_BY(okra_chain_clear_)
    okra_chain_ chain = {.order = order, .symbols = symbols, .contexts = 1, .room = 1};
    MAKE(chain.parent, 1);
    MAKE(chain.first, 1);
    ZMAKE(chain.child, symbols + 1);
    ZMAKE(chain.log_p, symbols);
    chain.parent[0] = -1;
    chain.first[0] = -1;
    *out = TAKE(chain);
    return OKRA_OK;
}

OKRA_SHARED_CLEARS_(okra_chain_clear_, okra_chain_, it->parent, it->first, it->child,
                    it->log_p, it->next)

/* p <- `rows` rows of `width` elements, those past `old` 0. */
#define GROW(p, old, rows, width)                                         \
    do {                                                                  \
        void *grown_ = okra_realloc_((p), (rows) * (width), sizeof *(p)); \
        if (!grown_) {                                                    \
            return OKRA_EMEM;                                             \
        }                                                                 \
        (p) = grown_;                                                     \
        memset((p) + (old) * (width), 0,                                  \
               (size_t)(((rows) - (old)) * (width)) * sizeof *(p));       \
    } while (0)

static okra_status make_room(const okra_context *ctx, okra_chain_ *chain)
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

/* Character t of a sequence as contexts see it: the beginning stands before it. */
static okra_int seen_at(const okra_chain_ *chain, const okra_int *sequence, okra_int t)
{
    return t < 0 ? chain->symbols : sequence[t];
}

okra_status okra_chain_count_(const okra_context *ctx, okra_chain_ *chain,
                              const okra_int *sequence, okra_int length)
{
    okra_int S = chain->symbols;
    for (okra_int t = 0; t < length; t++) {
        okra_int context = 0;
        chain->log_p[sequence[t]]++;
        for (okra_int k = 1; k <= chain->order && t - k >= -1; k++) {
            okra_int c = seen_at(chain, sequence, t - k);
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
static okra_int follow(const okra_chain_ *chain, okra_int context, okra_int c)
{
    okra_int before[OKRA_CHAIN_MOST_], depth = 0, with = chain->symbols + 1;
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

okra_status okra_chain_finish_(const okra_context *ctx, okra_chain_ *chain, double prior)
{
    okra_int S = chain->symbols;
    CHK(okra_budget_ask_(ctx, 4.0 * (double)(chain->contexts * S),
                         "the transitions of a chain of order %lld",
                         (long long)chain->order));
    MAKE(chain->next, chain->contexts * S);
    /* a context has a larger number than its parent, whose P is ready */
    for (okra_int h = 0; h < chain->contexts; h++) {
        double total = prior, *p = chain->log_p + h * S;
        for (okra_int c = 0; c < S; c++) {
            total += p[c];
        }
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

okra_int okra_chain_scratch_(const okra_chain_ *chain, okra_int length, okra_int top)
{
    return (length + 1) * (chain->contexts * (okra_int)sizeof(double) +
                           top * (okra_int)sizeof(begun)) +
           top * (chain->symbols * (okra_int)sizeof(begun) + (okra_int)sizeof(whole));
}

/* What symbol c at place t adds after context s. */
static inline double step(const okra_chain_ *chain, const okra_chain_search_ *q,
                          okra_int t, okra_int s, okra_int c)
{
    okra_int S = chain->symbols;
    return q->score[t * S + c] - q->cost + q->weight * chain->log_p[s * S + c];
}

/* ... and the end after t symbols, which has no score. */
static double end_at(const okra_chain_ *chain, const okra_chain_search_ *q, okra_int t,
                     okra_int s)
{
    okra_int S = chain->symbols;
    return t < q->shortest ? -(double)INFINITY
           : q->end        ? q->weight * chain->log_p[s * S + S - 1]
                           : 0;
}

/* ahead[t][s]: the most that can come after t symbols in context s. */
static void look_ahead(const okra_chain_ *chain, const okra_chain_search_ *q,
                       double *ahead)
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

static int by_bound(const void *pa, const void *pb)
{
    const begun *a = pa, *b = pb;
    return a->bound != b->bound ? (a->bound > b->bound ? -1 : 1)
           : a->from != b->from ? (a->from > b->from) - (a->from < b->from)
                                : (a->symbol > b->symbol) - (a->symbol < b->symbol);
}

/* The sequences begun, one symbol longer each. */
static okra_int go_on(const okra_chain_ *chain, const okra_chain_search_ *q, okra_int t,
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

/* A sequence begun is worth what its best end makes of it, so that the `top` best of each
 * length hold all that the `top` best whole ones begin with. */
okra_int okra_chain_best_(const okra_chain_ *chain, const okra_chain_search_ *search,
                          okra_int top, void *scratch, okra_int *best, okra_int *length,
                          double *value)
{
    okra_chain_search_ plain = *search;
    const okra_chain_search_ *q = &plain;
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
