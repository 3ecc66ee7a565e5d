/*
 * folds.h: what sets and intervals of jackknife+ and cv+ share; folds.c has the
 * equations.
 */
#ifndef OKRA_CONFORMAL_FOLDS_H_
#define OKRA_CONFORMAL_FOLDS_H_

#include "conformal/conformal.h"

typedef struct okra_cv_plus_ {
    const okra_conformal_job_ *job;
    okra_solved_ solved;
    const okra_bordered_ *block;
    okra_int *fold, *begin, *members; /* fold of each pair; members of fold f        */
    okra_int count, largest;
    double *A;                  /* n x n                                             */
    double *sums;               /* n: sum_j |A_ij|                                   */
    double **G, **I;            /* a fold: G_S; (B_SS)^-1                            */
    double *a, *l1;             /* centred: n, a_k; a fold: 1'L_SS 1                 */
    double *cross, *self, *Alc; /* count x n, count, count x n                       */
    double *ALu, *Ul;           /* rows x n; count x rows                            */
    double *E, *UY;             /* intervals: n x d residuals; rows x d predictions   */
    double *work;               /* a worker: 4 n                                     */
    double alpha, *bounds, *radius, *p;
} okra_cv_plus_;

/* Folds, A, (B_SS)^-1 and for sets G. */
okra_status okra_cv_plus_prepare_(okra_cv_plus_ *z) OKRA_CHECK;
void okra_cv_plus_release_(okra_cv_plus_ *z);
/* 1'u of row r. */
double okra_cv_plus_sum_(const okra_cv_plus_ *z, okra_int r);
/* g_S; 0 where outputs are not centred. */
double okra_cv_plus_share_(const okra_cv_plus_ *z, okra_int f, double sigma);
/* u_S'X u_S */
double okra_cv_plus_quadratic_(const okra_cv_plus_ *z, okra_int f, const double *X,
                               const double *u);
/* The diagonal of a fold's matrix at its k-th pair. */
double okra_cv_plus_at_(const okra_cv_plus_ *z, double *const *X, okra_int f, okra_int k);
/* How much the variance at the test input grows when fold f is left out, over that of its
 * k-th pair; 1 without normalisation. */
double okra_cv_plus_ratio_(const okra_cv_plus_ *z, okra_int f, okra_int k,
                           double variance);

#endif
