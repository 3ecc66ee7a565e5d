/*
 * full.h: what sets and intervals of full conformal prediction share; full.c has the
 * equations.
 */
#ifndef OKRA_CONFORMAL_FULL_H_
#define OKRA_CONFORMAL_FULL_H_

#include "conformal/conformal.h"

/* q */
static inline double okra_full_power_(const okra_conformal_job_ *job)
{
    return job->score == OKRA_SCORE_DISTANCE_     ? 1
           : job->score == OKRA_SCORE_NORMALIZED_ ? 0.5
                                                  : 0;
}

/* What centring makes of pair i. */
typedef struct okra_moved_ {
    double e, tau;
} okra_moved_;

/* t = t_i, sigma = 1'u */
static inline okra_moved_ okra_full_move_(const okra_conformal_job_ *job,
                                          const okra_solved_ *solved, okra_int i,
                                          double t, double sigma)
{
    double n = (double)solved->n;
    if (!solved->ones) {
        return (okra_moved_){0, t};
    }
    double c = solved->ones[i] + t * (sigma - 1);
    return job->score == OKRA_SCORE_RESIDUAL_ ? (okra_moved_){0, t + c / (n + 1)}
                                              : (okra_moved_){c / n, t + c / n};
}

static inline double okra_full_kappa_(const okra_conformal_job_ *job,
                                      const okra_solved_ *solved, double sigma)
{
    bool all = solved->ones && job->score == OKRA_SCORE_RESIDUAL_;
    return all ? 1 - (1 - sigma) / (double)(solved->n + 1) : 1;
}

#endif
