/*
 * step.h: a kernel expression over vectors as a short program.
 *
 * The program is the expression tree in postfix order: a leaf pushes k(a_i, b_j), a
 * transform replaces the top, a sum or product replaces the two on top. On the diagonal
 * of a symmetric matrix the value after each step is self[i] exactly, so that distances
 * there are 0.
 */
#ifndef OKRA_STEP_H_
#define OKRA_STEP_H_

#include "core/core.h"

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
    OKRA_CODE_TANIMOTO_,  /* k <- k / (u_i + v_j - k), 1 where the divisor is <= 0      */
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

#endif
