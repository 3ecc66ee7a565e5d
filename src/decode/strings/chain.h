/*
 * chain.h: how characters follow one another, and the best sequence given a score for
 * every character at every position.
 */
#ifndef OKRA_CHAIN_H_
#define OKRA_CHAIN_H_

#include "core/core.h"

/* log P(c | the `order` characters before it), estimated from counts; a context that was
 * never seen is cut to the longest part of its end that was. Symbols are 0..symbols-1;
 * `symbols` itself stands for the beginning in contexts. */
typedef struct okra_chain_ {
    okra_int order, symbols;
    okra_int contexts, room; /* those seen, the empty one first */
    int32_t *parent;         /* the context without its first character; -1: none */
    int32_t *first;          /* that character */
    int32_t *child; /* room x (symbols+1): with one more before it; 0: not seen */
    double *log_p;  /* room x symbols; counts until finished */
    int32_t *next;  /* contexts x symbols: the context after that character */
    okra_int start;
} okra_chain_;

enum { OKRA_CHAIN_MOST_ = 8 }; /* order */

okra_status okra_chain_create_(okra_int order, okra_int symbols,
                               okra_chain_ *out) OKRA_CHECK;
void okra_chain_clear_(okra_chain_ *chain);
okra_status okra_chain_count_(const okra_context *ctx, okra_chain_ *chain,
                              const okra_int *sequence, okra_int length) OKRA_CHECK;
/* Turns the counts into log probabilities: P = (count + prior P') / (total + prior), P'
 * that of the shorter context, 1/symbols below the empty one; prior > 0. */
okra_status okra_chain_finish_(const okra_context *ctx, okra_chain_ *chain,
                               double prior) OKRA_CHECK;

/* Bytes of scratch that okra_chain_best_ needs for sequences of that length. */
okra_int okra_chain_scratch_(const okra_chain_ *chain, okra_int length, okra_int top);
/* What is searched for. */
typedef struct okra_chain_search_ {
    const double *score;        /* longest x symbols */
    okra_int shortest, longest; /* of the sequence */
    double weight, cost;        /* of the log probabilities; what a symbol costs */
    bool end; /* the last symbol is the end: chosen nowhere, its log P comes on top */
} okra_chain_search_;
/* The `top` sequences of the largest sum_t score[t][c_t] - cost + weight log P(c_t |
 * before), exactly, the largest first: their lengths, their values, and their symbols in
 * rows of `best`, longest each. Ties go to the shorter sequence. Returns how many there
 * are. */
okra_int okra_chain_best_(const okra_chain_ *chain, const okra_chain_search_ *search,
                          okra_int top, void *scratch, okra_int *best, okra_int *length,
                          double *value);

#endif
