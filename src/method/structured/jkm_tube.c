/*
 * jkm_tube.c: the loss of joint kernel maps, with a diagonal operator in groups
 * (groups.h),
 *
 *     min_h  sum_i max(0, |y_i - h(x_i)| - tube) + lambda |h|^2,   |.| over all
 * coordinates
 *
 * Dual, n vectors a_i of length <= 1:  h = K a / (2 lambda),
 *     max  sum_i <a_i, y_i> - tube |a_i| - <a, K a> / (4 lambda)
 * by blocks: with q the residual of pair i without a_i, and E the diagonal K(x_i, x_i) /
 * (2 lambda), the best a_i is 0 where |q| <= tube, else (E + mu I)^-1 q, mu >= 0 the
 * larger of the roots of mu f(mu) = tube and f(mu) = 1 (0 where f(0) <= 1), f(mu) =
 * |(E + mu I)^-1 q|, which falls with mu: bisection on the groups' sums of q^2.
 *
 * A sweep costs n^2 d. Stops when the gap between primal and dual is as small as gap.h
 * asks. Memory: groups n^2.
 */
#include "method/structured/jkm.h"

#include "method/gap.h"

#include <math.h>
#include <string.h>

enum { SWEEPS = 20000, HALVINGS = 200 };

typedef struct tube_solver {
    const okra_grouped_ *r;
    okra_int n, d, groups;
    double tube, lambda;
    double *K;       /* groups x n x n                        */
    double *a, *U;   /* n x d: dual, K a                      */
    double *q;       /* d                                     */
    double *E, *sum; /* groups: E, and the sum of q^2          */
} tube_solver;

/* f(mu); infinite where E + mu = 0 meets a q that is not 0. */
static double length_at(const tube_solver *z, double mu)
{
    double f = 0;
    for (okra_int g = 0; g < z->groups; g++) {
        double e = z->E[g] + mu;
        f += z->sum[g] > 0 ? z->sum[g] / (e * e) : 0;
    }
    return sqrt(f);
}

/* The root of a function that grows with mu: mu f(mu) - tube, or 1 - f(mu). */
static double root(const tube_solver *z, bool of_tube, double high)
{
    double low = 0;
    for (int k = 0; k < HALVINGS && high - low > 1e-16 * high; k++) {
        double mu = (low + high) / 2, f = length_at(z, mu);
        if (of_tube ? mu * f > z->tube : f < 1) {
            high = mu;
        } else {
            low = mu;
        }
    }
    return high;
}

/* mu of the block whose E and sum are filled; norm = |q| > tube. */
static double multiplier(const tube_solver *z, double norm)
{
    double most = 0, mu = 0;
    for (okra_int g = 0; g < z->groups; g++) {
        most = fmax(most, z->E[g]);
    }
    if (z->tube > 0) {
        mu = root(z, true, z->tube * most / (norm - z->tube));
    }
    return length_at(z, mu) > 1 ? fmax(mu, root(z, false, norm)) : mu;
}

static void update(tube_solver *z, okra_int i)
{
    const okra_int *of = z->r->groups->of;
    okra_int n = z->n, d = z->d;
    double norm = 0, mu = 0, *a = z->a + i * d;
    memset(z->sum, 0, (size_t)z->groups * sizeof *z->sum);
    for (okra_int g = 0; g < z->groups; g++) {
        z->E[g] = z->K[(g * n + i) * n + i] / (2 * z->lambda);
    }
    for (okra_int j = 0; j < d; j++) {
        okra_int at = i * d + j;
        z->q[j] = z->r->Y[at] - z->U[at] / (2 * z->lambda) + z->E[of[j]] * a[j];
        z->sum[of[j]] += z->q[j] * z->q[j];
        norm += z->q[j] * z->q[j];
    }
    norm = sqrt(norm);
    bool outside = norm > z->tube;
    mu = outside ? multiplier(z, norm) : 0;
    for (okra_int j = 0; j < d; j++) { /* q becomes the change of a */
        double e = z->E[of[j]] + mu;
        double best = outside && z->q[j] != 0 ? z->q[j] / e : 0;
        z->q[j] = best - a[j];
        a[j] = best;
    }
    for (okra_int k = 0; k < n; k++) {
        for (okra_int j = 0; j < d; j++) {
            z->U[k * d + j] += z->K[(of[j] * n + k) * n + i] * z->q[j];
        }
    }
}

/* Primal less dual; *value is the dual, *goal what is small enough. */
static double gap(const tube_solver *z, double tolerance, double *value, double *goal)
{
    double primal = 0, dual = 0, scale = 0;
    for (okra_int i = 0; i < z->n; i++) {
        const double *a = z->a + i * z->d, *U = z->U + i * z->d;
        const double *y = z->r->Y + i * z->d;
        double rr = 0, norm = okra_dot_(z->d, a, U) / (4 * z->lambda);
        for (okra_int j = 0; j < z->d; j++) {
            double r = y[j] - U[j] / (2 * z->lambda);
            rr += r * r;
        }
        primal += fmax(0, sqrt(rr) - z->tube) + norm;
        scale += sqrt(okra_dot_(z->d, y, y)) + sqrt(rr);
        dual += okra_dot_(z->d, a, y) - z->tube * sqrt(okra_dot_(z->d, a, a)) - norm;
    }
    *value = dual;
    *goal = okra_gap_goal_(tolerance, dual, scale);
    return primal - dual;
}

static okra_status solve(tube_solver *z, double tolerance, okra_bag_ *bag)
{
    OWNED double *C = NULL;
    double dual = 0, goal, left = gap(z, tolerance, &dual, &goal);
    okra_int sweep = 0;
    for (; sweep < SWEEPS && left > goal; sweep++) {
        CHK(okra_cancelled_(z->r->ctx));
        for (okra_int i = 0; i < z->n; i++) {
            update(z, i);
        }
        left = gap(z, tolerance, &dual, &goal);
    }
    if (!(left <= goal)) {
        okra_warn_(z->r->ctx,
                   "jkm: lambda = %g: the duality gap is %.3g after %lld sweeps, above "
                   "%.3g of %.6g",
                   z->lambda, left, (long long)sweep, tolerance, dual);
    }
    CHK(okra_doubles_(z->r->ctx, z->n, z->d, "the coefficients", &C));
    for (okra_int i = 0; i < z->n * z->d; i++) {
        C[i] = z->a[i] / (2 * z->lambda);
    }
    CHK(okra_grouped_put_(z->r, z->lambda, &C, bag));
    CHK(okra_bag_put_number_(bag, "gap", left));
    return okra_bag_put_number_(bag, "tube", z->tube);
}

okra_status okra_jkm_tube_(const okra_grouped_ *r, double tube, double tolerance,
                           okra_bag_ *const *bags)
{
    const okra_groups_ *g = r->groups;
    tube_solver z = {.r = r, .n = g->n, .d = g->d, .groups = g->count, .tube = tube};
    OWNS(&z.K, &z.a, &z.U, &z.q, &z.E, &z.sum);
    CHK(okra_doubles_(r->ctx, g->count * g->n, g->n, "the Gram matrices of all groups",
                      &z.K));
    CHK(okra_doubles_(r->ctx, g->n, g->d, "the dual variables", &z.a));
    CHK(okra_doubles_(r->ctx, g->n, g->d, "the dual variables", &z.U));
    MAKE(z.q, g->d);
    MAKE(z.E, g->count);
    MAKE(z.sum, g->count);
    for (okra_int k = 0; k < g->count; k++) {
        okra_groups_gram_(g, k, z.K + k * g->n * g->n);
    }
    okra_mat_fill_(okra_mat_of_(z.a, g->n, g->d), 0);
    okra_mat_fill_(okra_mat_of_(z.U, g->n, g->d), 0);
    for (size_t l = 0; l < r->count; l++) { /* each starts from the one before */
        z.lambda = r->lambda[l];
        CHK(solve(&z, tolerance, bags[l]));
    }
    return OKRA_OK;
}
