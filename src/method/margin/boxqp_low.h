/*
 * boxqp_low.h: the box programme of boxqp.h for a quadratic form that is a product of
 * thin factors.
 */
#ifndef OKRA_BOXQP_LOW_H_
#define OKRA_BOXQP_LOW_H_

#include "method/margin/boxqp.h"
#include "solve/factors.h"

/* Q = (Phi Phi') o (Psi Psi') / (2 lambda). `a` (n) holds a start and becomes the
 * solution, A (m x d) becomes Phi' diag(a) Psi / (2 lambda). In the report `steps` are
 * rounds, `newtons` steps of conjugate gradients. */
okra_status okra_boxqp_low_(okra_factors_ *f, double lambda, double tolerance, double *a,
                            double *A, okra_boxqp_report_ *report) OKRA_CHECK;
/* Doubles that it takes beside the factors, their kept faces apart. */
double okra_boxqp_low_doubles_(const okra_context *ctx, okra_int n, okra_int m,
                               okra_int d);

#endif
