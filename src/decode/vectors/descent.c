/*
 * descent.c: searches for valleys of J side by side, each by L-BFGS (Nocedal and Wright
 * 2006, algorithm 7.4) with steps that are shortened until J falls (their eq. 3.4). All
 * of them are evaluated at once, so that the factor of L + lambda I is read once a round
 * and not once a search.
 *
 * A search ends where its slope is small, when it cannot get below the lowest point of
 * all, and when it comes close to one that is lower.
 *
 * Cost of a round: 2 n^2 + n d operations a search (kl). Memory: a search 16 d + 3 n.
 */
#include "decode/vectors/valleys.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double FALL = 1e-4;   /* share of the fall that a slope promises       */
static const double FIRST = 0.2;   /* of its reach: the first step of a search      */
static const double UNKNOWN = 0.5; /* in z: the same where its reach is not known  */
static const double MEET = 0.02;   /* of its reach: searches this near are one      */
static const double HOPE = 4;      /* times the last gain: what may yet be gained   */
enum { TRIED_MOST = 25, SETTLED = 2, SETTLED_HSIC = 6 }; /* iterations */

/* ---- values ---- */

/* Notes a point with a slope if it is the lowest. */
static void note(okra_valleys_ *s, const okra_search_ *q, double J, const double *g)
{
    double square = 0, size = 0;
    for (okra_int j = 0; j < s->d; j++) {
        square += g[j] * g[j];
        size += q->next[j] * q->next[j];
    }
    if (isfinite(square) && J < s->lowest) {
        s->lowest = J;
        s->slope = sqrt(square) / fmax(1, sqrt(size)) / fmax(1, fabs(J));
        for (okra_int j = 0; j < s->d; j++) {
            s->best[j] = s->mean[j] + s->scale[j] * q->next[j];
        }
    }
}

/* J and dJ/dz (a row of G) at `next` of the searches which[0..count-1]. */
static okra_status evaluate(okra_valleys_ *s, const okra_int *which, okra_int count,
                            double *J, okra_mat_ G)
{
    okra_int n = s->problem.count, width = okra_smooth_kept_(s->smooth);
    double by_self[OKRA_VALLEYS_MOST_];
    for (okra_int a = 0; a < count; a++) {
        const double *z = s->search[which[a]].next;
        for (okra_int j = 0; j < s->d; j++) {
            s->y[j] = s->mean[j] + s->scale[j] * z[j];
        }
        okra_smooth_values_(s->smooth, s->y, s->l + a * n, &s->self[a]);
        okra_smooth_keep_(s->smooth, s->kept + a * width);
    }
    CHK(okra_case_values_(&s->problem, okra_mat_of_(s->l, count, n), s->self, J,
                          by_self));
    s->evaluations += (double)count;
    for (okra_int a = 0; a < count; a++) {
        double *g = G.p + a * G.ld;
        if (isfinite(J[a])) {
            okra_smooth_recall_(s->smooth, s->kept + a * width);
            okra_smooth_gradient_(s->smooth, s->l + a * n, by_self[a], g);
            for (okra_int j = 0; j < s->d; j++) {
                g[j] *= s->scale[j];
            }
            note(s, &s->search[which[a]], J[a], g);
        }
    }
    return OKRA_OK;
}

/* ---- steps ---- */

/* p <- -H g, H the inverse of the curvature that the last steps tell. */
static void direction(okra_search_ *q, okra_int d)
{
    double a[OKRA_PAIRS_] = {0};
    for (okra_int j = 0; j < d; j++) {
        q->p[j] = -q->g[j];
    }
    okra_int first = q->pairs > OKRA_PAIRS_ ? q->pairs - OKRA_PAIRS_ : 0;
    for (okra_int k = q->pairs - 1; k >= first; k--) {
        okra_int m = k % OKRA_PAIRS_;
        const double *S = q->S + m * d, *T = q->T + m * d;
        a[m] = q->rho[m] * okra_dot_(d, S, q->p);
        for (okra_int j = 0; j < d; j++) {
            q->p[j] -= a[m] * T[j];
        }
    }
    if (q->pairs > 0) {
        okra_int m = (q->pairs - 1) % OKRA_PAIRS_;
        const double *T = q->T + m * d;
        double size = 1 / (q->rho[m] * okra_dot_(d, T, T));
        for (okra_int j = 0; j < d; j++) {
            q->p[j] *= size;
        }
    }
    for (okra_int k = first; k < q->pairs; k++) {
        okra_int m = k % OKRA_PAIRS_;
        const double *S = q->S + m * d;
        double b = a[m] - q->rho[m] * okra_dot_(d, q->T + m * d, q->p);
        for (okra_int j = 0; j < d; j++) {
            q->p[j] += b * S[j];
        }
    }
}

static void look_ahead(okra_search_ *q, okra_int d)
{
    for (okra_int j = 0; j < d; j++) {
        q->next[j] = q->z[j] + q->step * q->p[j];
    }
}

/* A new direction, and the point to look at. `last`: how long the last step was. */
static void set_out(okra_search_ *q, okra_int d, double last)
{
    direction(q, d);
    if (q->pairs > 0 && !(okra_dot_(d, q->g, q->p) < 0)) {
        q->pairs = 0;
        direction(q, d);
    }
    double length = sqrt(okra_dot_(d, q->p, q->p));
    q->step = 1;
    if (q->pairs == 0) { /* the slope alone: further than before, where J is concave */
        double first = q->reach > 0 ? FIRST * q->reach : UNKNOWN;
        q->step = fmax(2 * last, first) / length;
    }
    if (q->reach > 0 && q->step * length > q->reach) {
        q->step = q->reach / length;
    }
    q->tried = 0;
    look_ahead(q, d);
}

/* Moves to `next`, where J and g are these. Returns how long the step was. */
static double move(okra_search_ *q, okra_int d, double J, const double *g)
{
    okra_int m = q->pairs % OKRA_PAIRS_;
    double *S = q->S + m * d, *T = q->T + m * d;
    for (okra_int j = 0; j < d; j++) {
        S[j] = q->next[j] - q->z[j];
        T[j] = g[j] - q->g[j];
    }
    double product = okra_dot_(d, S, T), length = sqrt(okra_dot_(d, S, S));
    bool convex = product > 1e-10 * length * sqrt(okra_dot_(d, T, T));
    q->rho[m] = 1 / product;
    q->pairs = convex ? q->pairs + 1 : 0;
    q->gained = q->J - J;
    q->J = J;
    memcpy(q->z, q->next, (size_t)d * sizeof *q->z);
    memcpy(q->g, g, (size_t)d * sizeof *q->g);
    q->iteration++;
    return length;
}

/* J did not fall as it should: a shorter step, by the parabola through what is known. */
static void shorten(okra_search_ *q, okra_int d, double J)
{
    double slope = q->step * okra_dot_(d, q->g, q->p), rise = J - q->J - slope;
    double share = isfinite(J) ? -0.5 * slope / rise : 0.25;
    q->step *= fmin(0.5, fmax(0.1, share));
    q->going = ++q->tried < TRIED_MOST;
    look_ahead(q, d);
}

/* A search has seen J and g at `next`. */
static void go_on(okra_search_ *q, okra_int d, double J, const double *g,
                  const okra_valleys_options_ *o)
{
    double last = 0;
    if (q->iteration < 0) { /* where it begins */
        q->going = isfinite(J);
        q->J = J;
        q->iteration = 0;
        memcpy(q->g, g, (size_t)d * sizeof *q->g);
    } else if (!(J <= q->J + FALL * q->step * okra_dot_(d, q->g, q->p))) {
        shorten(q, d, J);
        return;
    } else {
        last = move(q, d, J, g);
        q->going = q->iteration < o->iterations && q->gained > 1e-14 * fmax(1, fabs(J));
    }
    double size = sqrt(okra_dot_(d, q->z, q->z));
    if (!(sqrt(okra_dot_(d, q->g, q->g)) > o->tolerance * fmax(1, size))) {
        q->going = false;
    }
    if (q->going) {
        set_out(q, d, last);
    }
}

/* ---- which go on ---- */

/* Is there a search that is lower and close by? */
static bool met(const okra_valleys_ *s, okra_int k, okra_int count)
{
    const okra_search_ *q = &s->search[k];
    for (okra_int i = 0; i < count; i++) {
        const okra_search_ *other = &s->search[i];
        double square = 0, near = MEET * q->reach;
        if (i == k || other->J > q->J || (other->J >= q->J && i > k)) {
            continue;
        }
        for (okra_int j = 0; j < s->d && square <= near * near; j++) {
            square += (q->z[j] - other->z[j]) * (q->z[j] - other->z[j]);
        }
        if (square <= near * near) {
            return true;
        }
    }
    return false;
}

okra_status okra_descend_(okra_valleys_ *s, okra_int count,
                          const okra_valleys_options_ *o)
{
    okra_int which[OKRA_VALLEYS_MOST_], active = count, d = s->d;
    double J[OKRA_VALLEYS_MOST_];
    okra_mat_ G = okra_mat_of_(s->vectors, OKRA_VALLEYS_MOST_, d);
    okra_int settled =
        s->problem.kl ? SETTLED : SETTLED_HSIC; /* whose values are cheap */
    for (okra_int k = 0; k < count; k++) {
        okra_search_ *q = &s->search[k];
        memcpy(q->next, q->z, (size_t)d * sizeof *q->z);
        q->going = true;
        q->iteration = -1;
        q->tried = q->pairs = 0;
        q->J = DBL_MAX;
        which[k] = k;
    }
    while (active > 0) {
        CHK(evaluate(s, which, active, J, G));
        for (okra_int a = 0; a < active; a++) {
            go_on(&s->search[which[a]], d, J[a], G.p + a * G.ld, o);
        }
        active = 0;
        for (okra_int k = 0; k < count; k++) {
            okra_search_ *q = &s->search[k];
            bool idle = q->iteration > settled && q->tried == 0 &&
                        (q->J - HOPE * q->gained > s->lowest || met(s, k, count));
            q->going = q->going && !idle;
            if (q->going) {
                which[active++] = k;
            }
        }
    }
    return OKRA_OK;
}
