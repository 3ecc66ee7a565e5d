/*
 * ridge_leave.h: what ridge_leave.c (parts, weights) and ridge_leave_explicit.c share.
 */
#ifndef OKRA_RIDGE_LEAVE_H_
#define OKRA_RIDGE_LEAVE_H_

#include "method/ridge/ridge.h"
#include "method/smoothness/semi.h"

/* Inputs by part. */
typedef struct okra_sorted_ {
    okra_int *members; /* n: part after part, each in order */
    okra_int *begin;   /* parts + 1: where each begins      */
    okra_int largest;  /* members of the largest part       */
} okra_sorted_;
okra_status okra_parts_sort_(const okra_parts_ *parts, okra_int n,
                             okra_sorted_ *out) OKRA_CHECK;
void okra_sorted_clear_(okra_sorted_ *sorted);

typedef struct okra_leaving_ {
    okra_ridge_ *r;
    const okra_leave_ *leave;
    okra_int n, d;
    okra_large_ *V; /* rows: eigenvectors of K, or E3 of semi.c at the labelled inputs */
    double *v;      /* one a row: eigenvalues, or t of semi.c */
    bool graph;     /* semi-supervised */
    okra_semi_ semi;
    double *ones; /* V 1, where outputs are centred */
    okra_sorted_ parts;
    double *slack;       /* n                              */
    double *BSS, *panel; /* largest^2; work of a part      */
} okra_leaving_;

/* The weight of the pairs that are not in part s. */
double okra_leave_stay_(const okra_leaving_ *z, okra_int s);
/* Identity operator, residuals of explicit features; not semi-supervised. */
okra_status okra_leave_features_(okra_leaving_ *z) OKRA_CHECK;
/* B Y (and B 1, where outputs are centred) of some lambdas, side by side the columns of
 * C, become H, one n x d block per lambda; diagonal: that of B, n per lambda. Parts of
 * several inputs take B_SS from V. */
okra_status okra_leave_residuals_(const okra_leaving_ *z, const double *lambda,
                                  okra_int some, okra_mat_ C, const double *diagonal,
                                  double *mean, double *H) OKRA_CHECK;
/* The same as okra_leave_features_ by a Cholesky factor for each lambda: parts of one
 * input; z has no decomposition. ridge_leave_cholesky.c says when that is faster. *done
 * false: it cannot be done so, and nothing was. */
bool okra_leave_by_cholesky_(const okra_leaving_ *z);
okra_status okra_leave_cholesky_(okra_leaving_ *z, bool *done) OKRA_CHECK;
/* Matrix operator, parts of one input. */
okra_status okra_leave_matrix_(okra_leaving_ *z, double *A) OKRA_CHECK;

/* ridge_low_parts.c: identity operator of low rank, parts of several inputs. */
struct okra_moments_;
okra_status okra_ridge_low_parts_(okra_ridge_ *r, const struct okra_moments_ *moments,
                                  const okra_sorted_ *parts,
                                  const okra_leave_ *leave) OKRA_CHECK;

#endif
