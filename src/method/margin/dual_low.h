/*
 * dual_low.h: regression with a loss of the distance on thin factors.
 */
#ifndef OKRA_DUAL_LOW_H_
#define OKRA_DUAL_LOW_H_

#include "solve/factors.h"
#include "method/margin/margin.h"

typedef struct okra_dual_low_ {
    const double *g; /* d: eigenvalues of the operator, in whose coordinates Psi is; NULL:
                        all 1 */
    okra_loss_ loss; /* TUBE or HUBER */
    double width;    /* epsilon, or delta */
    double lambda, tolerance;
} okra_dual_low_;

/* alpha (n x d) and X (m x d) hold a start and become dual variables and solution:
 * predictions of the rows are Phi X diag(g)^1/2, in the coordinates of Psi. In the report
 * `sweeps` are proximal steps. */
okra_status okra_dual_low_solve_(okra_factors_ *f, const okra_dual_low_ *dual,
                                 double *alpha, double *X,
                                 okra_dual_report_ *report) OKRA_CHECK;
/* Doubles that it takes beside the factors. */
double okra_dual_low_doubles_(okra_int n, okra_int m, okra_int d);

#endif
