/*
 * criterion.h: the criterion of twin Gaussian processes (okra_criterion_ in method.h),
 * evaluated for candidates and for vectors that move.
 */
#ifndef OKRA_DECODE_CRITERION_H_
#define OKRA_DECODE_CRITERION_H_

#include "decode/decode.h"

/* What all test points share: of kl the factor of L + lambda I, or L itself where the
 * training sets are local. */
typedef struct okra_criterion_eval_ okra_criterion_eval_;
okra_status okra_criterion_eval_create_(okra_context *ctx, const okra_output_ *output,
                                        okra_criterion_eval_ **out) OKRA_CHECK;
void okra_criterion_eval_free_(okra_criterion_eval_ *judge);
OKRA_DROPS_(okra_criterion_eval_drop_, okra_criterion_eval_, okra_criterion_eval_free_)

/* J of candidates = level + base - 2 inner: C (n x c) holds l(y_i, candidate), self (c)
 * its l(y,y), all of them `constant` where that is not NaN; base and inner (m x c). */
okra_status okra_criterion_eval_panel_(okra_context *ctx,
                                       const okra_criterion_eval_ *judge,
                                       const okra_block_ *block, okra_mat_ C,
                                       const double *self, double constant,
                                       okra_mat_ base, okra_mat_ inner) OKRA_CHECK;
/* level[r]: the part of J that a constant l(y,y) makes, 0 where it is NaN. */
void okra_criterion_eval_levels_(const okra_criterion_eval_ *judge,
                                 const okra_block_ *block, double constant,
                                 double *level);

/* The problem of one test point on its training set of `count` members. */
typedef struct okra_case_ {
    okra_context *ctx;
    bool kl;
    double lambda, e;
    okra_int count;
    const okra_int *index;     /* members, ascending; NULL: all                        */
    const double *weights;     /* count                                                */
    okra_mat_ factor;          /* kl: lower triangular, of L + lambda I of the members  */
    double jitter;             /* kl, local: what was added to make it positive        */
    okra_int *own_index;       /* the room of a worker                                 */
    double *own, *own_weights; /*                                                      */
} okra_case_;
okra_status okra_case_create_(okra_context *ctx, const okra_criterion_eval_ *judge,
                              okra_case_ *c) OKRA_CHECK;
void okra_case_clear_(okra_case_ *c);
/* Row r of the block; fails only where a local matrix cannot be factored. */
okra_status okra_case_set_(const okra_criterion_eval_ *judge, const okra_block_ *block,
                           okra_int r, okra_case_ *c) OKRA_CHECK;
/* J (a place) of the places y whose l(y_i, y) are the rows of l (count wide) and l(y,y)
 * is self; not finite where it is not defined. by_self given: it becomes dJ/dself, and l
 * dJ/dl; else l is destroyed. */
okra_status okra_case_values_(const okra_case_ *c, okra_mat_ l, const double *self,
                              double *J, double *by_self) OKRA_CHECK;
/* f (count) <- <h, phi(y_i)> = (L w)_i of the members (hsic has no L: the weights). */
void okra_case_inner_(const okra_case_ *c, double *f);

#endif
