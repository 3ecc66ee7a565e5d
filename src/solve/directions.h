/*
 * ridge_directions.h: the factors that a ridge model keeps, see ridge_directions.c.
 */
#ifndef OKRA_RIDGE_DIRECTIONS_H_
#define OKRA_RIDGE_DIRECTIONS_H_

#include "solve/ridge.h"

enum { OKRA_DIRECTIONS_MOST_ = 16 }; /* as many rows "factor.K" as ridge.c declares */

/* The factor of K + shift I, for outputs along the rows of E. */
typedef struct okra_direction_ {
    char name[24]; /* in a bag */
    double shift;
    okra_mat_ E; /* p NULL: outputs as they are */
} okra_direction_;

typedef struct okra_directions_ {
    okra_direction_ of[OKRA_DIRECTIONS_MOST_];
    int count;
    okra_int different; /* eigenvalues above 0; more than `count`: too many */
    double *E;
} okra_directions_;

/* Those of the operator identity, and of A (d x d); to be cleared. */
void okra_directions_plain_(double lambda, okra_directions_ *out);
okra_status okra_directions_open_(okra_context *ctx, const double *A, okra_int d,
                                  double lambda, okra_directions_ *out) OKRA_CHECK;
void okra_directions_clear_(okra_directions_ *directions);

/* As okra_ridge_matrix_ of one lambda above 0, with factors in the bag. */
okra_status okra_ridge_factors_(okra_ridge_ *r, const double *A) OKRA_CHECK;

/* "operator.A" into every bag: it stays that of the first fit, as updates open no files.
 * A NULL: nothing. */
okra_status okra_ridge_keep_operator_(const okra_ridge_ *r, const double *A) OKRA_CHECK;

#endif
