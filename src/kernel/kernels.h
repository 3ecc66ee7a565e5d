/*
 * kernels.h: the kernel classes, each defined in a file of its own.
 */
#ifndef OKRA_KERNELS_H_
#define OKRA_KERNELS_H_

#include "kernel/kernel.h"

extern const okra_kernel_class_ okra_linear_, okra_laplacian_, okra_zero_one_,
    okra_precomputed_, okra_standardize_;
extern const okra_kernel_class_ okra_paths_, okra_wl_, okra_shortest_path_, okra_ecfp_;
extern const okra_kernel_class_ okra_diffusion_, okra_regularized_laplacian_,
    okra_p_step_, okra_commute_time_, okra_from_distance_;

/* The point that distances of dense vectors are computed about (d places, 0 before): the
 * mean, or where few rows are far from all others the medians of the columns. */
void okra_origin_(const okra_data *train, double *mean);
/* Means and deviations of the columns of dense vectors, 1 where they do not vary; both (d
 * places) are 0 before. */
okra_status okra_standardize_measure_(const okra_data *train, double *mean,
                                      double *spread);
/* Those of a bound kernel whose leaves are `standardize`; false: there are none. */
bool okra_standardize_stats_(const okra_trained_kernel_ *bound, double *mean,
                             double *spread);

/* The kinds that are vectors. */
#define OKRA_VECTORS_ (1u << OKRA_DENSE | 1u << OKRA_SPARSE | 1u << OKRA_BITS)

#endif
