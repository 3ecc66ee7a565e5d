/*
 * smo.c: support vector machines whose pairs have a price each, which LIBSVM does not
 * know: the duals of libsvm.c with C_i = u_i C, u_i the weight of pair i.
 *
 * Both are  min_a 1/2 a'Qa + p'a,  y'a = 0,  0 <= a_i <= C_i,  Q_ij = y_i y_j K_ij:
 *   C-SVC        y the targets, p = -1;                              c_i = y_i a_i
 *   epsilon-SVR  a pair twice, y = +1 and -1, p = tube -+ target;    c_i = a_i - a_(n+i)
 *
 * Sequential minimal optimisation: the two variables of the largest second-order gain
 * (Fan, Chen and Lin, JMLR 6, 2005, WSS 2) go to their best together, until the largest
 * violation of the optimality conditions is below the tolerance. The bias is the mean of
 * -y_i G_i over the free variables, else the middle of what the others allow, as LIBSVM
 * has it.
 *
 * Cost: n a step; roughly n to n^2 steps. Memory beside K: 4 n doubles.
 */
#include "method/structured/smo.h"

#include <math.h>

static const double LEAST = 1e-12; /* curvature, where K is not positive definite */

typedef struct solver {
    okra_mat_ K;
    okra_int n, variables;    /* variables: n, or 2 n of a regression */
    double *a, *G, *y, *most; /* a each variable                      */
} solver;

static double kernel(const solver *s, okra_int i, okra_int j)
{
    return s->K.p[i % s->n * s->K.ld + j % s->n];
}

/* May y_i a_i rise, and may it fall? */
static bool rises(const solver *s, okra_int i)
{
    return s->y[i] > 0 ? s->a[i] < s->most[i] : s->a[i] > 0;
}

static bool falls(const solver *s, okra_int i)
{
    return s->y[i] > 0 ? s->a[i] > 0 : s->a[i] < s->most[i];
}

/* The pair to move; false: the violation is below the tolerance. */
static bool choose(const solver *s, double tolerance, okra_int *i, okra_int *j)
{
    double high = -(double)INFINITY, low = (double)INFINITY, best = (double)INFINITY;
    *i = *j = -1;
    for (okra_int t = 0; t < s->variables; t++) {
        if (rises(s, t) && -s->y[t] * s->G[t] > high) {
            high = -s->y[t] * s->G[t];
            *i = t;
        }
    }
    for (okra_int t = 0; *i >= 0 && t < s->variables; t++) {
        double value = -s->y[t] * s->G[t], b = high - value;
        if (!falls(s, t)) {
            continue;
        }
        low = fmin(low, value);
        if (b > 0) {
            double curve = kernel(s, *i, *i) + kernel(s, t, t) - 2 * kernel(s, *i, t);
            double gain = -b * b / fmax(curve, LEAST);
            if (gain < best) {
                best = gain;
                *j = t;
            }
        }
    }
    return *j >= 0 && high - low >= tolerance;
}

/* y_i a_i up and y_j a_j down by the same, as far as is best and the bounds allow. */
static void move(solver *s, okra_int i, okra_int j)
{
    double curve = kernel(s, i, i) + kernel(s, j, j) - 2 * kernel(s, i, j);
    double step = (s->y[j] * s->G[j] - s->y[i] * s->G[i]) / fmax(curve, LEAST);
    double room_i = s->y[i] > 0 ? s->most[i] - s->a[i] : s->a[i];
    double room_j = s->y[j] > 0 ? s->a[j] : s->most[j] - s->a[j];
    bool end_i = room_i <= step && room_i <= room_j, end_j = room_j <= step && !end_i;
    step = fmin(step, fmin(room_i, room_j));
    s->a[i] = !end_i ? s->a[i] + s->y[i] * step : s->y[i] > 0 ? s->most[i] : 0;
    s->a[j] = !end_j ? s->a[j] - s->y[j] * step : s->y[j] > 0 ? 0 : s->most[j];
    for (okra_int t = 0; t < s->variables; t++) {
        s->G[t] += s->y[t] * step * (kernel(s, t, i) - kernel(s, t, j));
    }
}

static double bias(const solver *s)
{
    double sum = 0, high = -(double)INFINITY, low = (double)INFINITY;
    okra_int count = 0;
    for (okra_int t = 0; t < s->variables; t++) {
        double value = -s->y[t] * s->G[t];
        bool up = rises(s, t), down = falls(s, t);
        if (up && down) {
            sum += value;
            count++;
        }
        high = up ? fmax(high, value) : high;
        low = down ? fmin(low, value) : low;
    }
    return count > 0     ? sum / (double)count
           : isinf(high) ? low
           : isinf(low)  ? high
                         : (high + low) / 2;
}

static bool constant(okra_int n, const double *target)
{
    for (okra_int i = 1; i < n; i++) {
        if (target[i] != target[0]) {
            return false;
        }
    }
    return true;
}

okra_status okra_smo_train_(okra_context *ctx, okra_mat_ K, const okra_svm_ *svm,
                            const double *weights, const double *target, double *c,
                            double *out)
{
    okra_int n = K.rows, i, j;
    solver s = {.K = K, .n = n, .variables = svm->regression ? 2 * n : n};
    OWNS(&s.a, &s.G, &s.y, &s.most);
    okra_mat_fill_(okra_mat_of_(c, 1, n), 0);
    if (constant(n, target)) {
        *out = n > 0 ? target[0] : 0;
        return OKRA_OK;
    }
    ZMAKE(s.a, s.variables);
    MAKE(s.G, s.variables);
    MAKE(s.y, s.variables);
    MAKE(s.most, s.variables);
    for (okra_int t = 0; t < s.variables; t++) {
        double z = target[t % n];
        s.y[t] = svm->regression ? (t < n ? 1 : -1) : z;
        s.most[t] = svm->cost * weights[t % n];
        s.most[t] *= !svm->regression && z > 0 ? svm->positive : 1;
        s.G[t] = svm->regression ? svm->tube - s.y[t] * z : -1;
    }
    for (okra_int steps = 0; choose(&s, svm->tolerance, &i, &j); steps++) {
        if (steps % 1000 == 0) {
            CHK(okra_cancelled_(ctx));
        }
        move(&s, i, j);
    }
    for (okra_int t = 0; t < s.variables; t++) {
        c[t % n] += s.y[t] * s.a[t];
    }
    *out = bias(&s);
    return OKRA_OK;
}
