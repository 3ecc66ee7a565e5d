/*
 * boxqp_low.h: the box programme of boxqp.h for a quadratic form that is a product of
 * thin factors.
 */
#ifndef OKRA_BOXQP_LOW_H_
#define OKRA_BOXQP_LOW_H_

#include "method/margin/boxqp.h"
#include "method/ridge/factors.h"

/* Q = (Phi Phi') o (Psi Psi') / (2 lambda). `a` (n) holds a start and becomes the
 * solution, A (m x d) becomes Phi' diag(a) Psi / (2 lambda). In the report `steps` are
 * rounds, `newtons` steps of conjugate gradients. */
okra_status okra_boxqp_low_(okra_factors_ *f, double lambda, double tolerance, double *a,
                            double *A, okra_boxqp_report_ *report) OKRA_CHECK;
/* Doubles that it takes beside the factors, their kept faces apart. */
double okra_boxqp_low_doubles_(const okra_context *ctx, okra_int n, okra_int m,
                               okra_int d);

/* ---- what boxqp_low.c and boxqp_face.c share ---- */

typedef struct okra_boxqp_work_ {
    okra_context *ctx;
    okra_factors_ *f;
    okra_int n, m, d, block;
    double lambda, tau, mean; /* mean: of the diagonal of Q                   */
    double usual;             /* steps of conjugate gradients, the last time  */
    double *a, *g;
    double *A, *X; /* m x d: of a, of a direction */
    double *M;     /* block x d                   */
    double *Q;     /* block x block               */
    okra_int side;
    double *G;       /* side x side for each worker */
    okra_int *order; /* n: variables of a sweep, or of a face */
    double *r, *p, *q, *s, *gF;
    double *b;    /* block: a and g of a block   */
    bool settled; /* the face was not left last time */
    okra_random_ random;
    okra_boxqp_report_ report;
} okra_boxqp_work_;

/* Some rows: `index` of f, or all of f. */
typedef struct okra_boxqp_rows_ {
    okra_factors_ *f;
    const okra_int *index;
    okra_int count;
} okra_boxqp_rows_;

/* to (m x d) <- Phi' diag(v) Psi / (2 lambda), v by place */
okra_status okra_boxqp_gather_(okra_boxqp_work_ *s, okra_boxqp_rows_ z, const double *v,
                               double *to) OKRA_CHECK;
/* to_i <- phi_i' A psi_i, by place */
okra_status okra_boxqp_look_(okra_boxqp_work_ *s, okra_boxqp_rows_ z, double *A,
                             double *to) OKRA_CHECK;
/* Q <- (Phi Phi') o (Psi Psi') / (2 lambda), by tiles, for each worker one beside Q. */
enum { OKRA_BOXQP_TILE_ = 256 };
okra_status okra_boxqp_gram_(okra_boxqp_work_ *s, okra_mat_ Phi, okra_mat_ Psi,
                             okra_mat_ Q) OKRA_CHECK;
/* A step on the face: a and A become better. */
okra_status okra_boxqp_face_(okra_boxqp_work_ *s) OKRA_CHECK;

#endif
