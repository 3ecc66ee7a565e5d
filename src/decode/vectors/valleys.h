/*
 * valleys.h: the lowest valley of a criterion J (criterion.h) of one test point.
 */
#ifndef OKRA_VALLEYS_H_
#define OKRA_VALLEYS_H_

#include "decode/vectors/criterion.h"
#include "kernel/vectors/smooth.h"

enum {
    OKRA_TRIED_ = 12,
    OKRA_PLACES_ = 3 * OKRA_TRIED_ + 1,
    OKRA_VALLEYS_MOST_ = 16,
    OKRA_MIRRORS_ = 3
};

typedef struct okra_valleys_options_ {
    okra_int starts, iterations;
    double tolerance;
} okra_valleys_options_;

/* What a worker needs for one test point; mean, scale and the problem are the caller's.
 */
typedef struct okra_valleys_ {
    okra_case_ problem;
    okra_smooth_work_ *smooth;
    const okra_data *y_train;
    const double *mean;
    const double *scale; /* d */
    bool centred;        /* the kernel sees outputs about their mean */
    okra_int d;
    double *z;                /* d, padded with zeros: libLBFGS rounds d up to 16 */
    double *y, *g, *l, *work; /* d, d, count, count                               */
    double *by_l, *f;         /* count: <h, phi(y_i)>                             */
    double *places;           /* OKRA_PLACES_ x d: z where a search may begin           */
    double heights[OKRA_PLACES_]; /* J there                                          */
    okra_int held;                /* how many there are                               */
    double known, before;         /* lowest of earlier searches; J an iteration ago   */
    double *best;                 /* d: the lowest point so far                       */
    double lowest, slope;         /* J there, |dJ/dz| / (max(1, |z|) max(1, |J|))     */
    double evaluations;
} okra_valleys_;

okra_status okra_valleys_create_(okra_context *ctx, const okra_output_ *output,
                                 const okra_judge_ *judge, const okra_smooth_ *smooth,
                                 okra_valleys_ *valleys) OKRA_CHECK;
void okra_valleys_clear_(okra_valleys_ *valleys);
/* The search for the problem that is set: best, lowest and slope; true if it converged.
 */
bool okra_valleys_find_(okra_valleys_ *valleys, const okra_valleys_options_ *options);

#endif
