/*
 * m3n.h: a max-margin Markov network of chains, between its parts.
 */
#ifndef OKRA_M3N_H_
#define OKRA_M3N_H_

#include "method/method.h"

/* n sequences; sequence i owns elements offsets[i]..offsets[i+1]-1 of N. */
typedef struct okra_m3n_ {
    okra_int n, N, S;        /* sequences, elements, symbols                          */
    const okra_int *offsets; /* n + 1                                                 */
    const okra_int *symbol;  /* N: the symbols of the training outputs, 0..S-1        */
    const double *K;         /* N x N: the kernel of elements                         */
    double lambda, tolerance;
    okra_int passes;
    uint64_t seed;
    double *C, *A;       /* found: N x S coefficients of elements, S x S transitions */
    double primal, dual; /* found; their difference is the gap                       */
    double goal;         /* the gap that is small enough                             */
    okra_int done;       /* passes made                                              */
    bool converged;
} okra_m3n_;

okra_status okra_m3n_solve_(okra_context *ctx, okra_m3n_ *m);

/* The symbols y_1..y_T that maximise sum_t score[t][y_t] + sum_t A[y_t-1][y_t] exactly;
 * ties go to the lower symbol. scratch: okra_m3n_scratch_ doubles. */
double okra_m3n_best_(const double *score, okra_int T, okra_int S, const double *A,
                      double *scratch, okra_int *best);
okra_int okra_m3n_scratch_(okra_int T, okra_int S);

#endif
