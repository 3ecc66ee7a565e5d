/*
 * twin.h: simultaneous twin kernel learning: transformations of an input and an output
 * kernel that make the two most dependent.
 */
#ifndef OKRA_TWIN_H_
#define OKRA_TWIN_H_

#include "engine/engine.h"

enum { OKRA_TWIN_KERNELS_MOST = 8, OKRA_TWIN_TERMS_MOST = 10000 };

/* One side: n x n Gram matrices of one or more base kernels (symmetric), or factors of
 * them, and the degree of the polynomial in them. Its terms are the elementwise monomials
 * K_1^(p_1) o K_2^(p_2) o ... of total degree 1..degree. */
typedef struct okra_twin_side_ {
    int kernels;
    okra_mat_ gram[OKRA_TWIN_KERNELS_MOST];
    int degree;
    bool factored; /* gram[k] is a factor F of n x m: K = F F', never stored */
    /* On an engine that makes entries by itself: K_k is made from these in blocks of rows
     * and gram[k] is n x n with p == NULL; or NULL: gram[k] has it. */
    const okra_entries_ *entries[OKRA_TWIN_KERNELS_MOST];
} okra_twin_side_;

/* How many terms a side has: the degree for one kernel; -1 if more than 10,000. */
okra_int okra_twin_terms_(const okra_twin_side_ *side);
/* The exponents of term t: p[0..kernels-1]. Terms go by total degree, then by the
 * exponent of the first kernel, the highest first; for one kernel term t is K^(t+1). */
void okra_twin_exponents_(const okra_twin_side_ *side, okra_int t, int *p);

/* Where a term comes from: term `parent` (-1: none) times kernel `kernel`. Terms of
 * degree 1 come first: term k is kernel k. */
typedef struct okra_twin_recipe_ {
    okra_int parent;
    int kernel;
} okra_twin_recipe_;
/* Of all terms, in an array for them. */
void okra_twin_recipes_(const okra_twin_side_ *side, okra_twin_recipe_ *out);

/* C (terms of x times terms of y): C_st = HSIC of term s of x and term t of y. biased:
 * (n-1)^-2 tr(K H G H) (the paper's eq. 7); else the unbiased estimator. */
okra_status okra_twin_matrix_(okra_context *ctx, const okra_twin_side_ *x,
                              const okra_twin_side_ *y, bool unbiased, okra_mat_ C);
/* The same sums, not yet divided, by the verbs of an engine: twin_engine.c. */
okra_status okra_twin_engine_(okra_context *ctx, const okra_twin_side_ *x,
                              const okra_twin_side_ *y, bool unbiased, okra_mat_ C);
/* Row sums (terms x n) become what centring subtracts from each row and column, whole
 * (terms) what it adds back. */
void okra_twin_means_(okra_int n, bool unbiased, okra_int terms, double *sums,
                      double *whole);

/* The leading singular triple of C: alpha and beta of unit norm and non-negative
 * (exactly: entries that rounding left below 0 are 0). *value is the largest singular
 * value, the HSIC reached. Negative entries of C count as 0. Fails with OKRA_ENUMERIC
 * where none is above 0. */
okra_status okra_twin_solve_(okra_context *ctx, okra_mat_ C, double *alpha, double *beta,
                             double *value);

#endif
