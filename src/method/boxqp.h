/*
 * boxqp.h: the box-constrained quadratic programme of maximum margin regression.
 */
#ifndef OKRA_BOXQP_H_
#define OKRA_BOXQP_H_

#include "linalg/linalg.h"

typedef struct okra_boxqp_report_ {
    double dual;      /* sum(a) - a'Qa/2                                  */
    double gap;       /* primal - dual, recomputed from Q and a at the end */
    okra_int steps;   /* coordinate steps                                 */
    okra_int newtons; /* Newton steps on the free variables               */
    bool converged;   /* gap <= tolerance * max(1, |dual|)                */
} okra_boxqp_report_;

/* min a'Qa/2 - sum(a), 0 <= a <= 1, for symmetric positive semi-definite Q (both
 * triangles). `a` holds a start (clipped to the box) and becomes the solution. Not
 * reaching `tolerance` within the limits is no error: the report says so. */
okra_status okra_boxqp_(okra_context *ctx, okra_mat_ Q, double tolerance, double *a,
                        okra_boxqp_report_ *report) OKRA_CHECK;

#endif
