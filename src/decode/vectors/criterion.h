/*
 * criterion.h: the criterion of twin Gaussian processes (okra_criterion_ in method.h),
 * evaluated for candidates and for vectors that move, and the search for its lowest
 * valley.
 */
#ifndef OKRA_CRITERION_H_
#define OKRA_CRITERION_H_

#include "decode/decode.h"
#include "kernel/vectors/smooth.h"

/* What all test points share: of kl the factor of L + lambda I, or L itself where the
 * training sets are local. */
typedef struct okra_criterion_eval_ okra_criterion_eval_;
okra_status okra_criterion_eval_create_(okra_context *ctx, const okra_output_ *output,
                                        okra_criterion_eval_ **out);
void okra_criterion_eval_free_(okra_criterion_eval_ *judge);
OKRA_DROPS_(okra_criterion_eval_drop_, okra_criterion_eval_, okra_criterion_eval_free_)

/* J of candidates = level + base - 2 inner: C (n x c) holds l(y_i, candidate), self (c)
 * its l(y,y), all of them `constant` where that is not NaN; base and inner (m x c). */
okra_status okra_criterion_eval_panel_(okra_context *ctx,
                                       const okra_criterion_eval_ *judge,
                                       const okra_block_ *block, okra_mat_ C,
                                       const double *self, double constant,
                                       okra_mat_ base, okra_mat_ inner);
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
                              okra_case_ *c);
void okra_case_clear_(okra_case_ *c);
/* Row r of the block; fails only where a local matrix cannot be factored. */
okra_status okra_case_set_(const okra_criterion_eval_ *judge, const okra_block_ *block,
                           okra_int r, okra_case_ *c);
/* J (a place) of the places y whose l(y_i, y) are the rows of l (count wide) and l(y,y)
 * is self; not finite where it is not defined. by_self given: it becomes dJ/dself, and l
 * dJ/dl; else l is destroyed. */
okra_status okra_case_values_(const okra_case_ *c, okra_mat_ l, const double *self,
                              double *J, double *by_self);
/* f (count) <- <h, phi(y_i)> = (L w)_i of the members (hsic has no L: the weights). */
void okra_case_inner_(const okra_case_ *c, double *f);

/* ---- the lowest valley of a criterion J of one test point ---- */

enum {
    OKRA_ANCHORS_ = 12,      /* outputs about which places are compared, at most */
    OKRA_PLACES_ = 256,      /* places that are compared, at most                */
    OKRA_VALLEYS_MOST_ = 32, /* searches at once, at most                        */
    OKRA_PAIRS_ = 6          /* steps that a search remembers                    */
};

typedef struct okra_valleys_options_ {
    okra_int starts, iterations;
    double tolerance;
} okra_valleys_options_;

/* One search: at z with J and slope g, about to look at `next` = z + step p. */
typedef struct okra_search_ {
    bool going;
    okra_int iteration, tried, pairs; /* tried: steps of this iteration too long    */
    double J, gained, step, reach;    /* reach: longest step, 0: any                */
    double *z, *g, *p, *next;         /* d                                          */
    double *S, *T, rho[OKRA_PAIRS_];  /* OKRA_PAIRS_ x d: steps, changes of slope;
                                         1 / their product                          */
} okra_search_;

/* What a worker needs for one test point; mean, scale and problem are the caller's. */
typedef struct okra_valleys_ {
    okra_case_ problem;
    okra_smooth_work_ *smooth;
    const okra_data *y_train;
    const double *mean;
    const double *scale; /* d */
    bool centred;        /* the kernel sees outputs about their mean */
    okra_int d;
    double *y, *z, *u, *frame; /* d; frame: 3 x d                                  */
    double *f, *by_l;          /* count: <h, phi(y_i)>; room                       */
    double *l;                 /* OKRA_PLACES_ x count: l(y_i, y) of places        */
    double *places;            /* OKRA_PLACES_ x d: z where a search may begin     */
    double *kept;              /* OKRA_VALLEYS_MOST_ x okra_smooth_kept_           */
    double self[OKRA_PLACES_], heights[OKRA_PLACES_]; /* l(y,y) and J there        */
    double reach[OKRA_PLACES_];    /* how far its valley reaches, about             */
    okra_int anchor[OKRA_PLACES_]; /* the output that it lies about, -1: none      */
    okra_int held;                 /* how many places there are                     */
    okra_search_ search[OKRA_VALLEYS_MOST_];
    double *vectors;      /* of the searches                                       */
    double *best;         /* d: the lowest point so far                            */
    double lowest, slope; /* J there, |dJ/dz| / (max(1, |z|) max(1, |J|))          */
    double evaluations;
} okra_valleys_;

okra_status okra_valleys_create_(okra_context *ctx, const okra_output_ *output,
                                 const okra_criterion_eval_ *judge,
                                 const okra_smooth_ *smooth, okra_valleys_ *valleys);
void okra_valleys_clear_(okra_valleys_ *valleys);
/* The search for the problem that is set: best, lowest and slope. */
okra_status okra_valleys_find_(okra_valleys_ *valleys,
                               const okra_valleys_options_ *options);

/* ---- places.c ---- */

/* Places at the weighted output and about members of the training set, each of which
 * stands out most of those that none before it is close to; J there. */
okra_status okra_places_find_(okra_valleys_ *valleys);
/* The output of member i; z of it; l of all members at z. */
const double *okra_valleys_output_(const okra_valleys_ *valleys, okra_int i);
void okra_valleys_member_(const okra_valleys_ *valleys, okra_int i, double *z);
void okra_valleys_look_(okra_valleys_ *valleys, const double *z, double *l, double *self);
/* The largest of f that is above -DBL_MAX, -1: none is left. */
okra_int okra_most_of_(const double *f, okra_int count);

#endif
