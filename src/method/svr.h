/*
 * svr.h: support vector regression without a bias.
 */
#ifndef OKRA_SVR_H_
#define OKRA_SVR_H_

#include "linalg/linalg.h"

typedef struct okra_svr_ {
    double box;       /* C > 0                                                       */
    double tube;      /* epsilon >= 0: residuals within it cost nothing              */
    double tolerance; /* largest violation of the optimality conditions that may stay */
    okra_int passes;  /* most passes over the coordinates                            */
} okra_svr_;

/* Minimises 1/2 b'Kb - y'b + tube |b|_1 over |b_i| <= box; f(x) = k_x'b. K: n x n,
 * positive semi-definite; y, b: n. *violation: what is left of it. */
okra_status okra_svr_solve_(okra_context *ctx, const okra_svr_ *svr, okra_mat_ K,
                            const double *y, double *b, double *violation) OKRA_CHECK;

#endif
