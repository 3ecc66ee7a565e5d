/*
 * assignment.h: the assignment problem.
 */
#ifndef OKRA_ASSIGNMENT_H_
#define OKRA_ASSIGNMENT_H_

#include "core/core.h"

/* place[j], a permutation of 0..d-1 with the least sum of cost[j d + place[j]]; costs are
 * finite. Shortest augmenting paths with potentials (Jonker and Volgenant 1987): d^3. */
okra_status okra_assignment_(okra_int d, const double *cost, okra_int *place) OKRA_CHECK;

#endif
