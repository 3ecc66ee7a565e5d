/*
 * degree.h: the string nearest to a prediction under the weighted-degree kernel.
 */
#ifndef OKRA_DEGREE_H_
#define OKRA_DEGREE_H_

#include "decode/results.h"

/* Is the kernel weighted-degree, scaled or normalized or not? Then its k. */
bool okra_kernel_is_degree_(const okra_kernel *kernel, okra_int *k);
/* Does any part of it ask for strings of one length? */
bool okra_kernel_one_length_(const okra_kernel *kernel);

/* The `best` nearest strings of `length` of these letters, which are borrowed.
 * OKRA_EUNSUPPORTED where tables of letters^k numbers are too large. */
typedef struct okra_degree_ okra_degree_;
okra_status okra_degree_create_(const int32_t *alphabet, okra_int letters, okra_int k,
                                okra_int length, okra_int best,
                                okra_degree_ **out) OKRA_CHECK;
void okra_degree_free_(okra_degree_ *degree);
OKRA_DROPS_(okra_degree_drop_, okra_degree_, okra_degree_free_)
/* The best strings of every row of a block of weights into found (rows x best), with
 * their squared distances. */
okra_status okra_degree_block_(okra_context *ctx, okra_degree_ *degree,
                               const okra_output_ *output, const okra_block_ *block,
                               okra_result_ *found) OKRA_CHECK;

#endif
