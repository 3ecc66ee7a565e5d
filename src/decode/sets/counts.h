/*
 * counts.h: the best set of labels under kernels that see counts alone.
 */
#ifndef OKRA_COUNTS_H_
#define OKRA_COUNTS_H_

#include "decode/results.h"

typedef struct okra_counts_ okra_counts_;

/* For outputs that are sets (0/1 vectors); *out stays NULL where the kernel looks at more
 * than |y & y'|, |y| and |y'|, or where a table of its values would be too large. loss:
 * in the place of the kernel, or NULL; then all sets are allowed, norms are to be 0 and
 * distances are expected losses. empty: sets with l(y,y) <= 0 are allowed; rounds: steps
 * of one search at most. */
okra_status okra_counts_create_(okra_context *ctx, const okra_output_ *output,
                                const struct okra_pair_loss_ *loss, bool empty,
                                okra_int rounds, okra_counts_ **out) OKRA_CHECK;
/* With a loss: each[i] of a set of at most okra_counts_most_ labels and all training
 * outputs. c: okra_counts_groups_ places. */
okra_int okra_counts_most_(const okra_counts_ *counts);
okra_int okra_counts_groups_(const okra_counts_ *counts);
void okra_counts_losses_(const okra_counts_ *counts, const int32_t *members,
                         okra_int size, int32_t *c, double *each);
bool okra_counts_exact_(const okra_counts_ *counts); /* whatever it begins from */
void okra_counts_free_(okra_counts_ *counts);
/* The `wanted` best sets for every row of W, members that ascend and the squared
 * distance, into found (rows x wanted). index: rows x top training outputs to begin from
 * (-1: none); norm[r] = w_r'Lw_r. */
okra_status okra_counts_search_(okra_context *ctx, const okra_counts_ *counts,
                                okra_mat_ W, const okra_int *index, okra_int top,
                                const double *norm, okra_int wanted,
                                okra_result_ *found) OKRA_CHECK;

#endif
