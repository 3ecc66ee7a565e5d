/*
 * gap.h: when a solver that knows its duality gap stops.
 *
 * The gap P - D bounds how far the value found is from the best one. It is small enough
 * at `tolerance` times |D|: a problem in other units, or with a tiny lambda whose best
 * value is 1e-11, then stops equally late. P is a sum of losses of differences (1 - <y,
 * h>, or y - h), which rounding leaves uncertain. `scale` is the sum of the sizes of what
 * is subtracted and, where h is a sum, of its terms, each times the slope of the loss: a
 * gap below ROUNDING times it means nothing. That serves values below 1 alone, so that no
 * gap above the tolerance itself is ever enough.
 */
#ifndef OKRA_GAP_H_
#define OKRA_GAP_H_

#include <float.h>
#include <math.h>

#define OKRA_GAP_ROUNDING_ (16 * DBL_EPSILON)

/* The gap that is small enough. */
static inline double okra_gap_goal_(double tolerance, double dual, double scale)
{
    return fmax(tolerance * fabs(dual), fmin(tolerance, OKRA_GAP_ROUNDING_ * scale));
}

/* What the next round of a solver works for: the tolerance itself, then the goal. */
static inline double okra_gap_aim_(double tolerance, double gap, double dual, double goal)
{
    double first = tolerance * fmax(1, fabs(dual));
    return gap > first ? first : goal;
}

#endif
