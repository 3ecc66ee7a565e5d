/*
 * points.h: what decoders of dense vectors share: starts, a box, and the choice of the
 * best point found; each decoder brings its way of improving a point.
 */
#ifndef OKRA_POINTS_H_
#define OKRA_POINTS_H_

#include "decode/propose.h"
#include "kernel/vectors/smooth.h"

/* libLBFGS rounds d up to 16. */
#define OKRA_POINT_PAD_(d) (((d) + 15) / 16 * 16)

/* One prediction seen from one thread. */
typedef struct okra_point_ {
    okra_smooth_work_ *smooth;
    const okra_data *y;
    const double *w;       /* n weights                                   */
    double constant, unit; /* of the value, below                         */
    const double *lo, *hi; /* d bounds each, or NULL                      */
    double *values;        /* n: l(y_i, y) at the last point              */
    double *slopes;        /* n: -2 w / unit                              */
    double *best;          /* d: the best point so far                    */
    double lowest;         /* its value; infinite at first                */
    double *scratch;       /* 3 vectors of OKRA_POINT_PAD_(d) for the improver */
    okra_int steps;        /* at most so many                             */
} okra_point_;

/* What is minimised at y, (l(y,y) - constant - 2 sum_i w_i l(y_i,y)) / unit; y becomes
 * the best point if it is. */
double okra_point_at_(okra_point_ *point, const double *y);
/* gradient (d) of that at the y of the last okra_point_at_. */
void okra_point_gradient_(okra_point_ *point, double *gradient);
/* Moves y into the box. */
void okra_point_clip_(const okra_point_ *point, double *y);

/* Improves y (d, in the box) and reports every point it tries by okra_point_at_. */
typedef void (*okra_improve_)(okra_point_ *point, double *y);

typedef struct okra_points_options_ {
    okra_int starts, steps;
    const char *box;
} okra_points_options_;
extern const okra_option okra_points_rows_[];

/* What decoders of points keep. */
typedef struct okra_points_ {
    const char *who;
    const okra_output_ *output;
    okra_int tests, d, steps, top;
    okra_improve_ improve;
    okra_starts_ *starts; /* NULL under a linear kernel */
    okra_smooth_ *smooth;
    okra_smooth_work_ **works; /* one a worker */
    int workers;
    double *lo, *hi;  /* d each, or NULL            */
    double *result;   /* tests x d                  */
    double *distance; /* tests                      */
} okra_points_;
okra_status okra_points_open_(okra_context *ctx, okra_points_ *state, const char *who,
                              const okra_output_ *output,
                              const okra_points_options_ *options,
                              const okra_decode_request_ *request,
                              okra_improve_ improve) OKRA_CHECK;
okra_status okra_points_block_(okra_context *ctx, void *state,
                               const okra_block_ *block) OKRA_CHECK;
okra_status okra_points_finish_(okra_context *ctx, void *state,
                                okra_decoded_ *out) OKRA_CHECK;
void okra_points_clear_(void *state);

#endif
