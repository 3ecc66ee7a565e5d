/*
 * chain.c: Markov chains of order 0, 1 and 2 over symbols, and the Viterbi algorithm.
 *
 *     max over c_1..c_T of  sum_t score[t][c_t] + weight log P(c_t | before),
 * `before` the characters c_{t-order}..c_{t-1}, and over T where it is free, the end of
 * the sequence then being one more symbol of the chain
 *
 * The state after t symbols is the last `order` of them (the beginning counts as a
 * symbol of its own), so that the maximum is exact: O(T S^(order+1)) for S symbols.
 * P(c | context) = (count + 1) / (count of the context + S): no sequence is impossible.
 */
#include "decode/chain.h"

#include <math.h>

static okra_int states_of(const okra_chain_ *chain)
{
    okra_int with = chain->symbols + 1;
    return chain->order == 0 ? 1 : chain->order == 1 ? with : with * with;
}

/* The state that follows when symbol c is appended. */
static okra_int follow(const okra_chain_ *chain, okra_int state, okra_int c)
{
    okra_int with = chain->symbols + 1;
    return chain->order == 0 ? 0 : chain->order == 1 ? c : state % with * with + c;
}

/* Every place of the context is the beginning. */
static okra_int start_of(const okra_chain_ *chain)
{
    return states_of(chain) - 1;
}

okra_status okra_chain_create_(const okra_context *ctx, okra_int order, okra_int symbols,
                               okra_chain_ *out)
{
    okra_status st = OKRA_OK;
    okra_chain_ chain = {order, symbols, NULL};
    TRY(okra_doubles_(ctx, states_of(&chain), symbols, "the transitions of the chain",
                      &chain.log_p));
    for (okra_int i = 0; i < states_of(&chain) * symbols; i++) {
        chain.log_p[i] = 0;
    }
    *out = chain;
done:
    return st;
}

void okra_chain_clear_(okra_chain_ *chain)
{
    okra_free_(chain->log_p);
    chain->log_p = NULL;
}

void okra_chain_count_(okra_chain_ *chain, const okra_int *sequence, okra_int length)
{
    okra_int state = start_of(chain);
    for (okra_int t = 0; t < length; t++) {
        chain->log_p[state * chain->symbols + sequence[t]]++;
        state = follow(chain, state, sequence[t]);
    }
}

void okra_chain_finish_(okra_chain_ *chain)
{
    okra_int S = chain->symbols;
    for (okra_int s = 0; s < states_of(chain); s++) {
        double total = (double)S;
        for (okra_int c = 0; c < S; c++) {
            total += chain->log_p[s * S + c];
        }
        for (okra_int c = 0; c < S; c++) {
            chain->log_p[s * S + c] = log((chain->log_p[s * S + c] + 1) / total);
        }
    }
}

okra_int okra_chain_scratch_(const okra_chain_ *chain, okra_int length)
{
    okra_int states = states_of(chain);
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
    for (okra_int s = 0; s < states_of(chain); s++) {
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
    okra_int states = states_of(chain), S = chain->symbols, last = 0;
    double *now = scratch, *next = now + states, most = -(double)INFINITY;
    int32_t *from = (int32_t *)(void *)(next + states);
    int32_t *symbol = from + q->longest * states;
    if (chain->order == 0) {
        return best_alone(q, S, best, length);
    }
    for (okra_int s = 0; s < states; s++) {
        now[s] = s == start_of(chain) ? 0 : -(double)INFINITY;
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
                okra_int to = follow(chain, s, c);
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
