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
 * exact. O(T C S) for C contexts seen, at most order times the characters counted and
 * at most (S+1)^order + ... + 1.
 *
 * Contexts are kept as a tree: the empty one is the root, a child has one more character
 * before it.
 */
#include "decode/strings/chain.h"

#include <math.h>
#include <string.h>

okra_status okra_chain_create_(okra_int order, okra_int symbols, okra_chain_ *out)
{
    okra_status st = OKRA_OK;
    okra_chain_ chain = {.order = order, .symbols = symbols, .contexts = 1, .room = 1};
    ALLOC(chain.parent, 1);
    ALLOC(chain.first, 1);
    ZALLOC(chain.child, symbols + 1);
    ZALLOC(chain.log_p, symbols);
    chain.parent[0] = -1;
    chain.first[0] = -1;
    *out = chain;
    return st;
done:
    okra_chain_clear_(&chain);
    return st;
}

void okra_chain_clear_(okra_chain_ *chain)
{
    FREE(chain->parent, chain->first, chain->child, chain->log_p, chain->next);
    *chain = (okra_chain_){0};
}

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

okra_int okra_chain_scratch_(const okra_chain_ *chain, okra_int length)
{
    okra_int states = chain->contexts;
    return 2 * states * (okra_int)sizeof(double) +
           2 * length * states * (okra_int)sizeof(int32_t);
}

/* Order 0 has no probabilities: the best symbol of every position by itself. */
static double best_alone(const okra_chain_search_ *q, okra_int S, okra_int *best,
                         okra_int *length)
{
    double sum = 0, most = 0;
    *length = q->shortest;
    for (okra_int t = 0; t < q->longest; t++) {
        const double *score = q->score + t * S;
        best[t] = 0;
        for (okra_int c = 1; c < S - q->end; c++) {
            best[t] = score[c] > score[best[t]] ? c : best[t];
        }
        sum += score[best[t]] - q->cost;
        if (t < q->shortest || sum > most) {
            most = sum;
            *length = t + 1;
        }
    }
    return most;
}

/* The best of the values of all states, where the sequence ends. */
static double best_end(const okra_chain_ *chain, const okra_chain_search_ *q,
                       const double *now, okra_int *last)
{
    okra_int S = chain->symbols;
    double most = -(double)INFINITY;
    for (okra_int s = 0; s < chain->contexts; s++) {
        double value = now[s] + (q->end ? q->weight * chain->log_p[s * S + S - 1] : 0);
        if (value > most) {
            most = value;
            *last = s;
        }
    }
    return most;
}

double okra_chain_best_(const okra_chain_ *chain, const okra_chain_search_ *q,
                        void *scratch, okra_int *best, okra_int *length)
{
    okra_int states = chain->contexts, S = chain->symbols, last = 0;
    double *now = scratch, *next = now + states, most = -(double)INFINITY;
    int32_t *from = (int32_t *)(void *)(next + states);
    int32_t *symbol = from + q->longest * states;
    if (chain->order == 0) {
        return best_alone(q, S, best, length);
    }
    for (okra_int s = 0; s < states; s++) {
        now[s] = s == chain->start ? 0 : -(double)INFINITY;
    }
    for (okra_int t = 0;; t++) {
        okra_int here = 0;
        double ended = t < q->shortest ? most : best_end(chain, q, now, &here);
        if (ended > most) {
            most = ended;
            last = here;
            *length = t;
        }
        if (t == q->longest) {
            break;
        }
        for (okra_int s = 0; s < states; s++) {
            next[s] = -(double)INFINITY;
        }
        for (okra_int s = 0; s < states; s++) {
            for (okra_int c = 0; now[s] > -(double)INFINITY && c < S - q->end; c++) {
                okra_int to = chain->next[s * S + c];
                double value = now[s] + q->score[t * S + c] - q->cost +
                               q->weight * chain->log_p[s * S + c];
                if (value > next[to]) {
                    next[to] = value;
                    from[t * states + to] = (int32_t)s;
                    symbol[t * states + to] = (int32_t)c;
                }
            }
        }
        double *swap = now;
        now = next;
        next = swap;
    }
    for (okra_int t = *length; t-- > 0;) {
        best[t] = symbol[t * states + last];
        last = from[t * states + last];
    }
    return most;
}
