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
 * training inputs, whatever the outputs. Cost: n^3/3 once, n^2 a test point; memory n^2.
 */
#include "model/model.h"

#include <math.h>

enum { ROWS = 256 };

/* The noise of the process; false: the variance does not exist, or the model does not
 * keep its training inputs. */
static bool noise_of(const okra_model *m, double *lambda)
{
    okra_int n = m->training->x->n;
    return m->method->noise && !m->training->waves && n == m->training->y->n &&
           m->method->noise(m->bag, n, lambda);
}

/* G of K + lambda I = G G', on the engine; s: rows and columns of K times s. */
static okra_status factor(okra_context *ctx, const okra_bound_ *kx, double lambda,
                          const double *s, okra_large_ **out)
{
    okra_int n = okra_bound_count_(kx);
    FREED_BY(okra_entries_drop_) okra_entries_ *entries = NULL;
    FREED_BY(okra_large_drop_) okra_large_ *G = NULL;
    CHK(okra_entries_create_(ctx, kx, NULL, &entries));
    CHK(okra_large_create_(ctx, n, n, "the Gram matrix of the inputs", &G));
    CHK(okra_large_gram_(ctx, entries, 0, G));
    if (s) {
        CHK(okra_large_scale_(ctx, s, s, G));
    }
    CHK(okra_large_add_diagonal_(ctx, lambda, G));
    CHK(okra_large_cholesky_(ctx, G, NULL));
    *out = TAKE(G);
    return OKRA_OK;
}

/* B (of the host) <- rows of k_x' G'^-1 */
static okra_status solve_rows(okra_context *ctx, const okra_entries_ *entries,
                              okra_int first, const double *s, const okra_large_ *G,
                              okra_mat_ B)
{
    FREED_BY(okra_large_drop_) okra_large_ *rows = NULL;
    CHK(okra_large_begin_(ctx, false, B, &rows));
    CHK(okra_large_gram_(ctx, entries, first, rows));
    if (s) {
        CHK(okra_large_scale_(ctx, NULL, s, rows));
    }
    CHK(okra_large_trsm_(ctx, false, true, G, rows));
    return okra_large_end_(ctx, rows, B);
}

static okra_status variances(okra_context *ctx, const okra_model *m, const okra_data *x,
                             double lambda, double *out)
{
    okra_int n = m->training->x->n;
    const okra_bound_ *kx = m->training->bound_x;
    OWNED double *s = NULL, *self = NULL, *B = NULL;
    FREED_BY(okra_large_drop_) okra_large_ *G = NULL;
    FREED_BY(okra_other_drop_) okra_other_ *other = NULL;
    FREED_BY(okra_entries_drop_) okra_entries_ *entries = NULL;
    double total = 0;
    okra_problem_ pairs = {.n = n, .weights = m->training->y->weights};
    CHK(okra_problem_roots_(&pairs, &s, &total));
    CHK(okra_other_create_(ctx, kx, x, &other));
    MAKE(self, x->n);
    CHK(okra_other_diagonal_(ctx, kx, other, self));
    CHK(okra_entries_create_(ctx, kx, other, &entries));
    CHK(okra_doubles_(ctx, ROWS, n, "a block of test rows", &B));
    CHK(factor(ctx, kx, lambda, s, &G));
    for (okra_int first = 0; first < x->n; first += ROWS) {
        okra_mat_ rows = okra_mat_of_(B, OKRA_MIN_(ROWS, x->n - first), n);
        CHK(solve_rows(ctx, entries, first, s, G, rows));
        for (okra_int r = 0; r < rows.rows; r++) {
            double v = self[first + r] - okra_dot_(n, B + r * n, B + r * n);
            out[(first + r) * OKRA_CONFIDENCE_COLUMNS + 2] = v < 0 ? 0 : v;
        }
    }
    return OKRA_OK;
}

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
    OWNED double *values = NULL;
    double lambda = 0;
    MAKE(values, x->n * OKRA_CONFIDENCE_COLUMNS);
    for (okra_int i = 0; i < x->n; i++) {
        double *row = values + i * OKRA_CONFIDENCE_COLUMNS;
        row[0] = decoded->distance ? decoded->distance[i * decoded->top] : (double)NAN;
        double gap = runner_up(decoded, i) - row[0];
        row[1] = isfinite(gap) ? gap : (double)NAN;
        row[2] = NAN;
    }
    if (noise_of(model, &lambda)) {
        CHK(variances(ctx, model, x, lambda, values));
    }
    *out = TAKE(values);
    return OKRA_OK;
}
