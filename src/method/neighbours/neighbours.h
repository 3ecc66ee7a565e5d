/*
 * neighbours.h: the training inputs nearest to a query in the input feature space.
 */
#ifndef OKRA_NEIGHBOURS_H_
#define OKRA_NEIGHBOURS_H_

#include "method/method.h"

/* The k nearest of n by k(c,c) - 2 k(x,c), the squared distance without k(x,x). `nearest`
 * and `distance` (k each) are sorted by distance, ties by index. How many: min(k, n). */
okra_int okra_nearest_inputs_(okra_int n, const double *k_x, const double *train_self,
                              okra_int k, okra_int *nearest, double *distance);

#endif
