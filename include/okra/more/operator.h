/*
 * okra/more/operator.h: ridge regression with an operator-valued kernel given as a
 * function.
 *
 *     min_h  sum_i |y_i - h(x_i)|^2 + lambda |h|^2,     h(x) = sum_j K(x, x_j) c_j
 *
 * K(x, x') is any d x d matrix with K(x', x) = K(x, x')' that makes the nd x nd matrix of
 * all its blocks positive semi-definite; it need not be a product of a number and a
 * matrix. (Those that are, and diagonal(t=V), are operators of okra_fit by name.)
 */
#ifndef OKRA_MORE_OPERATOR_H
#define OKRA_MORE_OPERATOR_H

#include "okra/data.h"

#ifdef __cplusplus
extern "C" {
#endif

/* block (d x d, row-major) <- K(a_i, b_j). Called from several threads at once. On
 * failure: okra_fail, whose status and message are handed on. */
typedef okra_status (*okra_operator_block)(void *user, const okra_data *a, okra_int i,
                                           const okra_data *b, okra_int j, double *block);
/* out (m x d) <- row i: sum_j K(a_(first+i), b_j) v_j over all objects of b; v has d
 * values an object. */
typedef okra_status (*okra_operator_apply)(void *user, const okra_data *a, okra_int first,
                                           okra_int m, const okra_data *b,
                                           const double *v, double *out);

/* One of the two functions may be NULL. `apply` alone: conjugate gradients without a
 * preconditioner. `block` alone: products are made of n^2 blocks, computed anew in every
 * step and never stored together. */
typedef struct okra_operator {
    okra_int d;
    okra_operator_block block;
    okra_operator_apply apply;
    void *user;
} okra_operator;

typedef struct okra_operator_settings {
    size_t size;      /* OKRA_SIZED(okra_operator_settings); 0 below: the default      */
    double lambda;    /* 0.1: more than 0                                           */
    double tolerance; /* 1e-10: conjugate gradients stop at this |residual| / |y|    */
    okra_int iterations; /* 1000: or after this many steps                              */
    okra_int dense;      /* 2048: systems of nd unknowns up to this many are written out
                            and factored, where there is `block`; -1: none              */
} okra_operator_settings;

typedef struct okra_operator_report {
    bool dense;          /* by a Cholesky factor of (nd)^2 numbers; else by conjugate
                            gradients, preconditioned by the factors of K(x_i, x_i) +
                            lambda I, n d^2 numbers                                    */
    okra_int iterations; /* steps of conjugate gradients                                */
    double residual;     /* |y - (K + lambda I) c| / |y|, computed afresh at the end    */
    double bytes;        /* memory the solver took                                     */
} okra_operator_report;

/* coefficients (n x d) <- c. y: n dense vectors of length d without missing values.
 * settings == NULL: the defaults; report may be NULL. Steps that do not reach the
 * tolerance are a warning, and the report tells. OKRA_EBUDGET with the memory needed
 * where the budget does not hold it; OKRA_EARG where blocks are not each other's
 * transposes; OKRA_ENUMERIC where K is found not to be positive semi-definite. */
OKRA_EXPERIMENTAL okra_status okra_operator_fit(okra_context *context,
                                                const okra_operator *K,
                                                const okra_data *x, const okra_data *y,
                                                const okra_operator_settings *settings,
                                                double *coefficients,
                                                okra_operator_report *report) OKRA_CHECK;
/* out (m x d) <- h at the m objects of `test`; x and coefficients as in the fit. */
OKRA_EXPERIMENTAL okra_status okra_operator_predict(
    okra_context *context, const okra_operator *K, const okra_data *x,
    const double *coefficients, const okra_data *test, double *out) OKRA_CHECK;

#ifdef __cplusplus
}
#endif
#endif
