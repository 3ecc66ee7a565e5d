/*
 * confidence.c: how sure a prediction is: the distance of the decoded object, the gap to
 * the nearest other candidate, and the predictive variance of a Gaussian process with the
 * input kernel as covariance and noise lambda (Rasmussen and Williams 2006, eq. 2.26):
 *
 *     v(x) = k(x,x) - k_x'(K + lambda I)^-1 k_x = k(x,x) - |G^-1 k_x|^2,
 *     K + lambda I = GG'
 *
 * A pair of weight u_i has noise lambda / u_i, that is S K S and S k_x, S = diag(u)^1/2.
 * n lambda in place of lambda with the operators cov and ccov, as in their systems. Under
 * an operator T with eigenvalues t_i the variance along its i-th direction is
 * t_i (k(x,x) - k_x'(K + lambda/t_i I)^-1 k_x): v(x) is that of a direction with t_i = 1.
 * Where outputs have missing values, it is that of an output without any.
 *
 * Only for methods that predict the mean of that process. Under a loss other than squares
 * (margin) lambda is no noise; where every position has a system of its own (jkm,
 * constrained, the operator diagonal) none has the kernel of the whole; unlabelled inputs
 * are in K without being observed. There the variance does not exist.
 *
 * Between 0 and k(x,x); rounding below 0 is clamped. It tells how far x is from the
 * training inputs, whatever the outputs. Cost: n^2 a test point from the factor that the
 * model keeps; n^3/3 once and n^2 doubles where it keeps none.
 */
#include "model/model.h"

#include <math.h>

/* The nearest that is not at the best's distance: as the decoder tells, or among the best
 * that it made up; infinite: not known. */
static double runner_up(const okra_decoded_ *d, okra_int i)
{
    double found = d->runner_up ? d->runner_up[i] : (double)INFINITY;
    for (okra_int k = i * d->top + 1;
         d->proposals && !d->runner_up && k < (i + 1) * d->top; k++) {
        bool farther = d->index[k] >= 0 && d->distance[k] > d->distance[i * d->top];
        found = farther ? fmin(found, d->distance[k]) : found;
    }
    return found;
}

okra_status okra_confidence_(okra_context *ctx, const okra_model *model,
                             const okra_data *x, const okra_decoded_ *decoded,
                             double **out)
{
    const okra_training_ *t = model->training;
    OWNED double *values = NULL;
    FREED_BY(okra_solution_clear_) okra_solution_ s = {0};
    MAKE(values, x->n * OKRA_CONFIDENCE_COLUMNS);
    for (okra_int i = 0; i < x->n; i++) {
        double *row = values + i * OKRA_CONFIDENCE_COLUMNS;
        row[0] = decoded->distance ? decoded->distance[i * decoded->top] : (double)NAN;
        double gap = runner_up(decoded, i) - row[0];
        row[1] = isfinite(gap) ? gap : (double)NAN;
        row[2] = NAN;
    }
    okra_model_solution_(model, &s);
    if (s.noise >= 0 && !t->waves && t->x->n == t->y->n) { /* it keeps its inputs */
        CHK(okra_solution_variances_(ctx, &s, t->bound_x, x, OKRA_CONFIDENCE_COLUMNS,
                                     values + 2));
    }
    *out = TAKE(values);
    return OKRA_OK;
}
