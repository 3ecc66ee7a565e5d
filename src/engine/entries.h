/*
 * entries.h: where the entries of a Gram matrix come from, as an engine sees it.
 *
 * Any kernel gives host tiles. An expression over vectors (inner products of dense or
 * packed rows, absolute differences, and functions of them) is told as a short program
 * as well, which an engine may run on its own device. The program is the expression tree
 * in postfix order: a leaf pushes k(a_i, b_j), a transform replaces the top, a sum or
 * product replaces the two on top. On the diagonal of a symmetric matrix the value after
 * each step is self[i] exactly, so that distances there are 0.
 */
#ifndef OKRA_ENTRIES_H_
#define OKRA_ENTRIES_H_

#include "kernel/kernel.h"

typedef enum okra_code_ {
    OKRA_CODE_DOT_,       /* push <a_i, b_j>, rows of doubles                          */
    OKRA_CODE_BITS_,      /* push |a_i and b_j|, rows of 64-bit words                  */
    OKRA_CODE_DISTANCE1_, /* push sum_t |a_it - b_jt|, rows of doubles                 */
    OKRA_CODE_CONSTANT_,  /* push p                                                    */
    OKRA_CODE_SUM_,       /* k <- the sum of the two on top                            */
    OKRA_CODE_PRODUCT_,   /* k <- their product                                        */
    OKRA_CODE_SCALE_,     /* k <- p k                                                  */
    OKRA_CODE_RBF_,       /* k <- exp(-p max(0, u_i + v_j - 2k))                       */
    OKRA_CODE_EXP_,       /* k <- exp(p k)                                             */
    OKRA_CODE_POLY_,      /* k <- (p k + q)^degree                                     */
    OKRA_CODE_POWER_,     /* k <- k^degree                                             */
    OKRA_CODE_NORMALIZE_, /* k <- k / sqrt(u_i v_j), 0 where a factor is not above 0   */
    OKRA_CODE_TANIMOTO_,  /* k <- k / (u_i + v_j - k), 0 where that is not above 0     */
    OKRA_CODE_CENTER_,    /* k <- k - u_i - v_j                                        */
    OKRA_CODE_SERIES_,    /* k <- sum_t list[t] k^t, t = 0..count-1                    */
} okra_code_;

typedef struct okra_step_ {
    okra_code_ code;
    double p, q;
    okra_int degree;
    const double *u, *v; /* of the rows and of the columns, where the code reads them */
    const double *self; /* of the rows: the value of this step on the diagonal, or NULL */
    /* Leaves: rows of `width` doubles (words of bits), row strides a_ld and b_ld. */
    const void *a, *b;
    okra_int width, a_ld, b_ld;
    const double *list; /* OKRA_CODE_SERIES_ */
    okra_int count;
} okra_step_;

typedef struct okra_entries_ {
    okra_int rows, cols;
    bool symmetric; /* rows and columns are the same objects */
    /* out[r*ld + c] = entry (i0 + r, j0 + c), serial, safe in many threads; any kernel */
    okra_status (*tile)(okra_context *ctx, const void *self, okra_int i0, okra_int ni,
                        okra_int j0, okra_int nj, double *out, okra_int ld);
    const void *self;
    /* The same entries as a program; NULL: there is none. depth: values on the stack. */
    const okra_step_ *steps;
    int count, depth;
} okra_entries_;

/* The training set of a bound kernel against itself (other NULL), or another collection
 * (rows) against the training set (columns). Borrows both. */
okra_status okra_entries_create_(okra_context *ctx, const okra_bound_ *bound,
                                 const okra_other_ *other,
                                 okra_entries_ **out) OKRA_CHECK;
void okra_entries_free_(okra_entries_ *entries);

#endif
