/*
 * network.h: functions of the Laplacian of a network.
 */
#ifndef OKRA_KERNEL_NETWORK_H_
#define OKRA_KERNEL_NETWORK_H_

#include "data/network.h"
#include "kernel/kernel.h"

/* f(x) of an eigenvalue x >= 0 of the Laplacian. */
typedef double (*okra_spectral_)(const void *params, double x);

/* Y <- f(L) X, both nodes x m, without f(L) itself: L = D - W, or I - D^-1/2 W D^-1/2
 * with zero rows for nodes without edges. f must be smooth on [0, largest eigenvalue]:
 * its Chebyshev expansion there is cut where coefficients are below 4e-16 of the
 * largest value; OKRA_EUNSUPPORTED if that takes more than 4096 terms. *terms (may be
 * NULL) is how many it took. Cost: terms * (edges + nodes) * m. */
okra_status okra_network_apply_(okra_context *ctx, const okra_network_ *network,
                                bool normalized, okra_spectral_ f, const void *params,
                                okra_mat_ X, okra_mat_ Y, okra_int *terms);

/* F <- f(L), nodes x nodes, by eigendecomposition; f >= 0. The c smallest eigenvalues, c
 * the number of components, are 0 exactly. */
okra_status okra_network_dense_(okra_context *ctx, const okra_network_ *network,
                                bool normalized, okra_spectral_ f, const void *params,
                                okra_mat_ F);

#endif
