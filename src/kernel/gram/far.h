/*
 * far.h: distances of objects that are far from the origin.
 *
 * d^2 = k(a,a) + k(b,b) - 2 k(a,b) is off by some eps times k(a,a) + k(b,b): all of its
 * digits may be gone where a and b are far out and near to one another. A transform f of
 * distances notices where f(0) and f(that error) differ by more than FAR_TOLERANCE; f is
 * steepest at 0. Such pairs are computed again from differences of leaves, and of sums
 * and multiples of these, unless |a| and |b| alone show that f is 0. Ordinary data never
 * come here.
 */
#ifndef OKRA_FAR_H_
#define OKRA_FAR_H_

#include "kernel/gram/trained_kernel.h"

/* May values of this node need it, k(a,a) and k(b,b) being at most these? */
bool okra_far_(const okra_kernel *kernel, const okra_node_ *node, double a, double b);
/* By how much its values may be off for want of differences, k(a,a) being at most this.
 */
double okra_far_doubt_(const okra_kernel *kernel, const okra_node_ *node, double most);
/* The largest of n numbers, 0 of none. */
double okra_far_most_(okra_int n, const double *self);
/* Puts right what the transform has made of rows i.. of a and rows j.. of b; da, db: the
 * leaf's self-similarities of these rows. */
void okra_far_mend_(const okra_kernel *kernel, const okra_node_ *node,
                    const okra_slot_ *a, okra_int i, okra_int ni, const double *da,
                    const okra_slot_ *b, okra_int j, okra_int nj, const double *db,
                    double *tile, okra_int ld);

#endif
