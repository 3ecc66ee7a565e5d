/*
 * moments_engine.h: the sums of moments.c where another engine than the host has them.
 */
#ifndef OKRA_MOMENTS_ENGINE_H_
#define OKRA_MOMENTS_ENGINE_H_

#include "engine/engine.h"
#include "method/ridge/moments.h"

/* Another engine than the host, and features that are kernel values of a basis: no sketch
 * and no waves. */
bool okra_moments_on_engine_(const okra_context *ctx, const okra_problem_ *p);
/* C, R, D, phi, psi and kept_y of `out`, whose arrays are there; `solved` false: of U in
 * the place of Phi. */
okra_status okra_moments_engine_(okra_context *ctx, const okra_problem_ *p, bool solved,
                                 okra_moments_ *out) OKRA_CHECK;

/* C <- F^-1 C F^-T, R <- F^-1 R, phi <- F^-1 phi, F lower triangular. */
okra_status okra_moments_divide_(okra_context *ctx, okra_mat_ F, okra_mat_ C, okra_mat_ R,
                                 okra_mat_ phi) OKRA_CHECK;

/* moments.c: mean += sums of the columns of A / total, of the features themselves where
 * rows are times roots of weights; squares += those of A. */
void okra_moments_add_means_(okra_mat_ A, const double *weights, double total,
                             double *mean, double *squares);

#endif
