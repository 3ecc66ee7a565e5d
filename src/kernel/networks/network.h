/*
 * network.h: functions of the Laplacian of a network.
 */
#ifndef OKRA_KERNEL_NETWORK_H_
#define OKRA_KERNEL_NETWORK_H_

#include "data/graphs.h"
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

/* ---- how much similarities tell, for choosing widths of graphs and networks ---- */

enum { OKRA_BINS_ = 50, OKRA_BINS_MOST_ = 100 };

/* Entropy of the histogram of `count` values in so many equal bins from low to high; each
 * counts as `weights` says (NULL: once). */
double okra_entropy_(int bins, okra_int count, const double *values,
                     const double *weights, double low, double high);
/* That of k_ij / sqrt(k_ii k_jj), i < j, in 50 bins between its extremes; 0 where they
 * are equal. K: the first rows of a Gram matrix, overwritten; self[j] = k_jj. */
double okra_similarity_entropy_(okra_mat_ K, const double *self);

/* ---- tasks ----
 * Graphs between the coordinates of vector outputs, for kernels and operators.
 */

/* A symmetric d x d matrix of a file, to be freed by the caller; `who` opens messages. */
okra_status okra_tasks_read_(okra_context *ctx, const char *who, const char *file,
                             okra_int d, double **out);
/* M_ij = exp(-gamma |Y^i - Y^j|^2), Y^i column i of Y; over the rows in which both are
 * known, scaled to all rows, where values are NaN; a row counts as weights says (NULL:
 * once). gamma == 0: the one that okra_tasks_estimate_ chooses by information, see
 * tasks.c. */
okra_status okra_tasks_estimate_(okra_context *ctx, okra_mat_ Y, const double *weights,
                                 double gamma, double **out);

#endif
