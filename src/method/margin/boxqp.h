/*
 * boxqp.h: the box-constrained quadratic programme of maximum margin regression.
 */
#ifndef OKRA_BOXQP_H_
#define OKRA_BOXQP_H_

#include "linalg/linalg.h"
#include "method/gap.h"

typedef struct okra_boxqp_report_ {
    double dual;      /* sum(a) - a'Qa/2                                  */
    double gap;       /* primal - dual, recomputed from Q and a at the end */
    okra_int steps;   /* coordinate steps                                 */
    okra_int newtons; /* Newton steps on the free variables               */
    double goal;      /* the gap that is small enough, by gap.h           */
    bool converged;   /* gap <= goal                                      */
} okra_boxqp_report_;

/* min a'Qa/2 - sum(a), 0 <= a_i <= most_i (NULL: 1; the loss of i counts most_i times),
 * for symmetric positive semi-definite Q (both triangles). `a` holds a start (clipped to
 * the box) and becomes the solution. Not reaching `tolerance` within the limits is no
 * error: the report says so. */
okra_status okra_boxqp_bounded_(okra_context *ctx, okra_mat_ Q, const double *most,
                                double tolerance, double *a,
                                okra_boxqp_report_ *report) OKRA_CHECK;

/* `passes` over the coordinates in turn, each put at its best; a within the box, g = Qa
 * less anything that is constant, both kept up to date. */
void okra_boxqp_sweep_(okra_mat_ Q, int passes, double *a, double *g);

/* How far the gradient g - 1 of a variable up to `most` is from optimal, by size. */
static inline double okra_boxqp_violation_(double a, double g, double most)
{
    double slope = g - 1;
    return a <= 0      ? (slope < 0 ? -slope : 0)
           : a >= most ? (slope > 0 ? slope : 0)
           : slope < 0 ? -slope
                       : slope;
}

#endif
