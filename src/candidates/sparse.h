/*
 * sparse.h: candidates among sparse or bit outputs under a linear kernel.
 */
#ifndef OKRA_THIN_H_
#define OKRA_THIN_H_

#include "candidates/nearest.h"

/* Sparse vectors or bits under c <y,y'>, compared in the whole space; *scale = c. */
bool okra_sparse_outputs_wanted_(const okra_output_ *output, double *scale);
/* h[0..d-1] = sum_i w_i y_i, by the members alone. */
void okra_sparse_outputs_combine_(const okra_data *y, const double *w, double *h);
/* The candidates `set` into the lists of the block's test points, self l(y,y) of them. */
okra_status okra_sparse_outputs_search_(okra_context *ctx, const okra_output_ *output,
                                        double scale, const okra_data *set,
                                        const double *self, double constant,
                                        const okra_block_ *block,
                                        okra_nearest_ *nearest) OKRA_CHECK;

#endif
