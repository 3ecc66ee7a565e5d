/*
 * kron.h: the covariance operators in O(n^3) (Kadri 2013 eq. 8 without its n^2 x n^2
 * system).
 */
#ifndef OKRA_KRON_H_
#define OKRA_KRON_H_

#include "engine/engine.h"

/* Both eigendecompositions, done once; every lambda after that costs two products.
 *     K = Q diag(lam) Q',   S = n eps (K + n eps I)^-1 = Q diag(r)^2 Q'  (S = I: r = 1)
 *     N = Q' L Q,   diag(r) N diag(r) = V diag(mu) V'
 *     Z_ij = (V' diag(r) N)_ij / (mu_i lam_j + n lambda),   B = Q diag(r) V Z Q'
 * B solves: T a K + n lambda a = I, B = T a, T = S L; relative error about
 * eps (1 + max(mu) max(lam) / (n lambda)). Keeps 3 n^2 doubles; a solve takes n^2 more.
 */
typedef struct okra_kron_ okra_kron_;

/* K and L (n x n, both triangles) are destroyed. epsilon < 0: covariance operator, S = I;
 * epsilon > 0: conditional covariance. Eigenvalues that rounding made negative are set to
 * 0; ones below -1e-8 of the largest warn that the Gram matrix is not PSD. */
okra_status okra_kron_create_(okra_context *ctx, okra_large_ *K, okra_large_ *L,
                              double epsilon, okra_kron_ **out) OKRA_CHECK;
/* B (n x n) for one lambda; weights of a query are w = B k_x. */
okra_status okra_kron_solve_(okra_context *ctx, const okra_kron_ *kron, double lambda,
                             okra_large_ *B) OKRA_CHECK;
void okra_kron_free_(okra_kron_ *kron);
/* Warns where the condition number leaves less than three digits. */
void okra_ridge_condition_(const okra_context *ctx, double lambda, double condition);
OKRA_DROPS_(okra_kron_drop_, okra_kron_, okra_kron_free_)

#endif
