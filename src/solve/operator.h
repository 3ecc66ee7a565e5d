/*
 * operator.h: the operator of a kernel, A of k(x,x') A or another, read from its text.
 */
#ifndef OKRA_OPERATOR_H_
#define OKRA_OPERATOR_H_

#include "solve/problem.h"

typedef enum okra_operator_kind_ {
    OKRA_OPERATOR_IDENTITY,
    OKRA_OPERATOR_COV,
    OKRA_OPERATOR_CCOV,
    OKRA_OPERATOR_MATRIX,
    OKRA_OPERATOR_DIAGONAL,
} okra_operator_kind_;

typedef struct okra_operator_ {
    okra_operator_kind_ kind;
    double *A; /* MATRIX: d x d, symmetric; to be freed by the caller; else NULL */
    double t;  /* DIAGONAL: see diagonal.c */
} okra_operator_;

/* By its text alone (NULL: identity); MATRIX also of one that is refused later. */
okra_operator_kind_ okra_operator_kind_of_(const char *text);
/* The training set tells d and, for graph:estimate, the outputs. "identity", "cov",
 * "ccov", "matrix:FILE" (a symmetric d x d matrix) or "graph:FILE,mu=V": A = (mu Lap + (1
 * - mu) I)^-1, Lap = D - M the Laplacian of the d x d adjacency matrix M in FILE (Brouard
 * et al. 2016 sec. 5.2, A_2); "graph:estimate(gamma=G),mu=V": M_ij = exp(-G |Y^i -
 * Y^j|^2) of the training outputs, Y^i those of coordinate i (sec. 6.2.2); gamma=auto:
 * the one that kernel/networks/tasks.c chooses. "tensor" is another name of identity
 * (Kadri et al. 2013 sec. 5.2), "diagonal(t=V)" the operator of diagonal.c, 0 <= V
 * <= 1. */
okra_status okra_operator_read_(okra_context *ctx, const char *text,
                                const okra_problem_ *problem,
                                okra_operator_ *out) OKRA_CHECK;
/* A = E' diag(g) E in the place of A: row j becomes e_j. Eigenvalues that rounding made
 * negative become 0; OKRA_EARG when A is not positive semi-definite. */
okra_status okra_operator_decompose_(okra_context *ctx, okra_mat_ A,
                                     double *g) OKRA_CHECK;

#endif
