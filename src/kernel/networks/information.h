/*
 * information.h: how much similarities tell, for choosing widths of graphs and networks.
 */
#ifndef OKRA_INFORMATION_H_
#define OKRA_INFORMATION_H_

#include "linalg/linalg.h"

/* Entropy of the histogram of `count` values in 50 equal bins from low to high; each
 * counts as `weights` says (NULL: once). */
double okra_entropy_(okra_int count, const double *values, const double *weights,
                     double low, double high);
/* That of k_ij / sqrt(k_ii k_jj), i < j, between its extremes; 0 where they are equal. K:
 * the first rows of a Gram matrix, overwritten; self[j] = k_jj. */
double okra_similarity_entropy_(okra_mat_ K, const double *self);

#endif
