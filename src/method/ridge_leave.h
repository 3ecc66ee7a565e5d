/*
 * ridge_leave.h: what ridge_leave.c (parts, weights) and ridge_leave_explicit.c share.
 */
#ifndef OKRA_RIDGE_LEAVE_H_
#define OKRA_RIDGE_LEAVE_H_

#include "method/ridge.h"
#include "method/semi.h"

typedef struct okra_leaving_ {
    okra_ridge_ *r;
    const okra_leave_ *leave;
    okra_int n, d;
    okra_mat_ V; /* rows: eigenvectors of K, or E3 of semi.c at the labelled inputs */
    double *v;   /* one a row: eigenvalues, or t of semi.c */
    bool graph;  /* semi-supervised */
    okra_semi_ semi;
    double *ones;        /* V 1, where outputs are centred */
    okra_int *members;   /* inputs by part, in order       */
    okra_int *begin;     /* parts + 1: where each begins    */
    okra_int largest;    /* members of the largest part    */
    double *slack;       /* n                              */
    double *BSS, *panel; /* largest^2; work of a part      */
} okra_leaving_;

/* Identity operator, residuals of explicit features; not semi-supervised. */
okra_status okra_leave_features_(okra_leaving_ *z) OKRA_CHECK;
/* Matrix operator, parts of one input. */
okra_status okra_leave_matrix_(okra_leaving_ *z, double *A) OKRA_CHECK;

#endif
