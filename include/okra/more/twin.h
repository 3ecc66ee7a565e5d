/*
 * okra/more/twin.h: simultaneous twin kernel learning (Tonde and Elgammal):
 * transformations of an input and an output kernel that make the two most dependent.
 *
 *     phi(K) = sum_s alpha_s K^(s),  psi(G) = sum_t beta_t G^(t),  elementwise powers
 *     maximise HSIC(phi(K), psi(G)),  alpha, beta >= 0 of unit norm
 *
 * The result is two kernel expressions that any command and any method takes.
 */
#ifndef OKRA_MORE_TWIN_H
#define OKRA_MORE_TWIN_H

#include "okra/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum okra_side { OKRA_SIDE_X, OKRA_SIDE_Y } okra_side;

/* One side: 1 to 8 base kernels and the degree of the polynomial in them. One kernel has
 * a degree of at most 16; several have the products of their powers of total degree 1 to
 * `degree` as terms. low_rank: NULL, or "chol(rank=500)" and the like: the base kernels
 * stand as products of thin factors, and no n x n matrix is stored. */
typedef struct okra_twin_base {
    const okra_kernel *const *kernels;
    size_t count;
    int degree;
    const char *low_rank;
} okra_twin_base;

typedef struct okra_twin okra_twin;

/* x and y: as many objects each. The biased estimator is the paper's eq. 7. Memory: one
 * n x n matrix of doubles a base kernel, whatever the degrees; of low rank m, n m. Fails
 * with OKRA_ENUMERIC where a side is constant or powers overflow. */
OKRA_EXPERIMENTAL okra_status okra_twin_learn(okra_context *context, const okra_data *x,
                                              const okra_data *y,
                                              const okra_twin_base *base_x,
                                              const okra_twin_base *base_y, bool unbiased,
                                              okra_twin **out) OKRA_CHECK;
OKRA_EXPERIMENTAL void okra_twin_free(okra_twin *twin);

/* C, terms of x times terms of y, row-major: the HSIC of every pair of terms. */
OKRA_EXPERIMENTAL const double *okra_twin_matrix(const okra_twin *twin, okra_int *rows,
                                                 okra_int *cols);
/* The coefficients of a side's terms: unit norm, none negative. */
OKRA_EXPERIMENTAL const double *okra_twin_coefficients(const okra_twin *twin,
                                                       okra_side side, okra_int *terms);
/* The exponent of base kernel `kernel` in a term; of one kernel, term t is K^(t+1). */
OKRA_EXPERIMENTAL int okra_twin_exponent(const okra_twin *twin, okra_side side,
                                         okra_int term, size_t kernel);
/* HSIC of the base kernels (the best pair of them) and of the learned ones. */
OKRA_EXPERIMENTAL double okra_twin_before(const okra_twin *twin);
OKRA_EXPERIMENTAL double okra_twin_after(const okra_twin *twin);
/* The learned kernel as an expression; owned by the twin. */
OKRA_EXPERIMENTAL const char *okra_twin_kernel(const okra_twin *twin, okra_side side);

#ifdef __cplusplus
}
#endif
#endif
