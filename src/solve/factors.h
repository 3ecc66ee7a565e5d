/*
 * factors.h: rows of Phi and Psi, the features of inputs and outputs of low rank, by
 * their numbers: kept in memory where they fit, else made again from the objects.
 */
#ifndef OKRA_FACTORS_H_
#define OKRA_FACTORS_H_

#include "solve/moments.h"

enum { OKRA_FACTORS_BLOCK_ = 1024, OKRA_FACTORS_PARTS_ = 16 }; /* at most */

/* How the features are seen; the matrices must outlive the factors. */
typedef struct okra_factors_as_ {
    const double *F; /* m x m, lower: F^-1 phi in the place of phi; NULL: I      */
    const double *T; /* d x d: explicit outputs y are seen as unit y'T; NULL: I  */
    double unit;
    double besides; /* doubles that the method is going to need: room is left for them */
} okra_factors_as_;

typedef struct okra_factors_ {
    okra_context *ctx;
    const okra_problem_ *p;
    okra_factors_as_ as;
    okra_int n, m, d;
    okra_int block;          /* rows that a call gives at most                         */
    okra_int parts, step;    /* of okra_factors_each_, and rows of a call of its body  */
    double *Phi, *Psi;       /* n x m, n x d; NULL: made again                         */
    double *square;          /* n: |phi_i|^2 |psi_i|^2                                 */
    double trace;            /* tr(Phi Phi')                                           */
    double kept_x, kept_y;   /* the same without F; tr(Psi Psi')                       */
    double *X, *XS, *Y, *YS; /* a block of values and features                         */
    double *R;               /* a block of rotated outputs                             */
    double *T, *sums;        /* parts x step x d, (parts - 1) x m x d                  */
} okra_factors_;

/* One pass over the training set. */
okra_status okra_factors_create_(okra_context *ctx, const okra_problem_ *p,
                                 const okra_factors_as_ *as,
                                 okra_factors_ *out) OKRA_CHECK;
/* These rows alone, side by side; out->Phi == NULL: they do not fit. */
okra_status okra_factors_take_(okra_factors_ *f, const okra_int *index, okra_int count,
                               okra_factors_ *out) OKRA_CHECK;
void okra_factors_clear_(okra_factors_ *f);
/* Rows index[first..], or first.. where index == NULL; count <= block. Good until the
 * next call. */
okra_status okra_factors_rows_(okra_factors_ *f, const okra_int *index, okra_int first,
                               okra_int count, okra_mat_ *Phi, okra_mat_ *Psi) OKRA_CHECK;

/* Calls body for all of `count` rows, index[place..] or place.., in blocks. Parts
 * (f->parts at most) run side by side, the blocks of a part one after another: a body
 * writes by place, or adds up by part. to (m x d; may be NULL) <- scale Phi'T, T (a row
 * per row) as the body leaves it. */
typedef struct okra_factors_some_ {
    okra_int part, place;
    okra_mat_ Phi, Psi, T;
} okra_factors_some_;
typedef okra_status (*okra_factors_body_)(void *arg, const okra_factors_some_ *some);
okra_status okra_factors_each_(okra_factors_ *f, const okra_int *index, okra_int count,
                               okra_factors_body_ body, void *arg, double scale,
                               double *to) OKRA_CHECK;

#endif
