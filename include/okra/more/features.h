/*
 * okra/more/features.h: Gram matrices in files, kernel PCA as inputs, graphs between
 * tasks.
 */
#ifndef OKRA_MORE_FEATURES_H
#define OKRA_MORE_FEATURES_H

#include "okra/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The same into a file, by the engine: .npy, .csv or .tsv, "-" as in okra_data_write. Of
 * several processes none holds the whole matrix. */
OKRA_EXPERIMENTAL okra_status okra_gram_write(okra_context *context,
                                              const okra_kernel *kernel,
                                              const okra_data *a, const okra_data *b,
                                              const char *path) OKRA_CHECK;
/* Inputs of all nodes of a network: the scores of the leading components of kernel PCA of
 * exp(-beta L) that hold the share `inertia` (0..1] of the variance. *beta <= 0 on entry:
 * chosen so that the entropy of the kernel's values is largest, and told. */
OKRA_EXPERIMENTAL okra_status okra_network_inputs(okra_context *context,
                                                  const okra_data *nodes, double *beta,
                                                  double inertia,
                                                  okra_data **out) OKRA_CHECK;
/* The same for any kernel and objects; the kernel is centred only if it says so ("...
 * | center"). Components come in descending order of their variance. */
OKRA_EXPERIMENTAL okra_status okra_kernel_inputs(okra_context *context,
                                                 const okra_kernel *kernel,
                                                 const okra_data *objects, double inertia,
                                                 okra_data **out) OKRA_CHECK;
/* M (d x d, row-major) of the coordinates of n dense outputs: M_ij = exp(-gamma |Y^i -
 * Y^j|^2) with Y^i the values of coordinate i; where some are NaN, over the outputs in
 * which both are known, scaled to all. gamma == 0: the one whose M carries most
 * information (kernel/networks/tasks.c). The kernel `tasks` and the operator
 * `graph:estimate` take this M. Cost: n d^2. */
OKRA_EXPERIMENTAL okra_status okra_task_graph(okra_context *context, const okra_data *y,
                                              double gamma, double *M) OKRA_CHECK;

#ifdef __cplusplus
}
#endif
#endif
