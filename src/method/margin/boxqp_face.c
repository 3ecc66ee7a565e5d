/*
 * boxqp_face.c: a step of boxqp_low.c on the face of the variables F strictly inside the
 * box:
 *     (Q_FF + tau I) s = 1 - g_F
 * by conjugate gradients (two products a step) or, where that takes less, a Cholesky
 * factor; a_F + t s put back into the box for t = 1, 1/4, ..., and the best point on the
 * way there, which is a quadratic of one variable. tau falls tenfold where that went well
 * and rises where it did not, so that a face on which Q is singular does no harm (Moré
 * and Toraldo 1991, with the damping of Levenberg and Marquardt).
 *
 * The f rows of F are kept side by side where they fit. Cost: 4 f m d a step of conjugate
 * gradients and 2 f m d a t, or f^2 (m + d) + f^3/3.
 */
#include "method/margin/boxqp_low.h"

#include <math.h>

enum { CG_MOST = 200, TRIES = 6 /* of t */ };

static const double ROUGH = 1e-2; /* residual of s while bounds are being met, */
static const double FINE = 1e-6;  /* and where the face is settled             */

typedef okra_boxqp_work_ solver;
typedef okra_boxqp_rows_ rows;

/* s <- (Q_FF + tau I)^-1 (1 - g_F) by a Cholesky factor; *found = false: it has none. */
static okra_status factorise(solver *s, const okra_factors_ *F, bool *found)
{
    okra_int n = F->n;
    OWNED double *Q = NULL;
    CHK(okra_doubles_(s->ctx, n, n, "the margin solver's free block", &Q));
    okra_mat_ Qm = okra_mat_of_(Q, n, n);
    CHK(okra_boxqp_gram_(s, okra_mat_of_(F->Phi, n, F->m), okra_mat_of_(F->Psi, n, F->d),
                         Qm));
    for (okra_int k = 0; k < n; k++) {
        s->s[k] = 1 - s->gF[k];
        Q[k * n + k] += s->tau;
    }
    /* jitter on a semi-definite block is expected here, not news */
    okra_status st = okra_cholesky_quiet_(s->ctx, Qm, NULL);
    *found = st == OKRA_OK;
    CHK(st == OKRA_ENUMERIC ? OKRA_OK : st);
    if (*found) {
        CHK(okra_cholesky_solve_(s->ctx, Qm, okra_mat_of_(s->s, n, 1)));
    }
    return OKRA_OK;
}

/* The same by conjugate gradients, preconditioned by the diagonal. */
static okra_status iterate(solver *s, rows F, double residual)
{
    double first = 0, rz = 0;
    for (okra_int k = 0; k < F.count; k++) {
        double D = s->f->square[s->order[k]] / (2 * s->lambda) + s->tau;
        s->s[k] = 0;
        s->r[k] = 1 - s->gF[k];
        s->p[k] = s->r[k] / D;
        rz += s->r[k] * s->p[k];
    }
    first = rz;
    int step = 0;
    for (; step < CG_MOST && rz > residual * residual * first; step++) {
        double curve = 0, fresh = 0;
        CHK(okra_boxqp_gather_(s, F, s->p, s->X));
        CHK(okra_boxqp_look_(s, F, s->X, s->q));
        for (okra_int k = 0; k < F.count; k++) {
            s->q[k] += s->tau * s->p[k];
            curve += s->p[k] * s->q[k];
        }
        double t = rz / curve;
        for (okra_int k = 0; k < F.count; k++) {
            double D = s->f->square[s->order[k]] / (2 * s->lambda) + s->tau;
            s->s[k] += t * s->p[k];
            s->r[k] -= t * s->q[k];
            s->q[k] = s->r[k] / D;
            fresh += s->r[k] * s->q[k];
        }
        for (okra_int k = 0; k < F.count; k++) {
            s->p[k] = s->q[k] + fresh / rz * s->p[k];
        }
        rz = fresh;
        s->report.newtons++;
    }
    s->usual = step;
    return OKRA_OK;
}

/* Whichever takes fewer operations, going by the last solution by iteration. */
static okra_status direction(solver *s, rows F)
{
    double f = (double)F.count, m = (double)s->m, d = (double)s->d;
    double left = (double)okra_memory_left_(s->ctx), side = fmin(f, OKRA_BOXQP_TILE_);
    bool found = false;
    if (!F.index && f * (m + d) + f * f / 3 <= 4 * m * d * s->usual &&
        8 * (f * f + okra_workers_(s->ctx) * side * side) <= left / 2) {
        CHK(factorise(s, F.f, &found));
    }
    if (!found) {
        CHK(iterate(s, F, s->settled ? FINE : ROUGH));
    }
    return OKRA_OK;
}

/* The best point between a_F and a_F + t s put back into the box: p becomes the way, X
 * its A. */
static okra_status try_step(solver *s, rows F, double t, double *share, double *drop)
{
    double slope = 0;
    for (okra_int k = 0; k < F.count; k++) {
        double a = s->a[s->order[k]];
        s->p[k] = fmin(fmax(a + t * s->s[k], 0), 1) - a;
        slope += (s->gF[k] - 1) * s->p[k];
    }
    CHK(okra_boxqp_gather_(s, F, s->p, s->X));
    double curve = 2 * s->lambda * okra_dot_(s->m * s->d, s->X, s->X);
    *share = slope >= 0 ? 0 : -slope < curve ? -slope / curve : 1;
    *drop = -slope * *share - curve * *share * *share / 2;
    return OKRA_OK;
}

static void settle(solver *s, rows F, double share)
{
    for (okra_int k = 0; k < F.count; k++) {
        double *a = &s->a[s->order[k]];
        *a = fmin(fmax(*a + share * s->p[k], 0), 1);
        s->settled = s->settled && *a > 0 && *a < 1;
    }
    for (okra_int k = 0; k < s->m * s->d; k++) {
        s->A[k] += share * s->X[k];
    }
}

okra_status okra_boxqp_face_(solver *s)
{
    FREED_BY(okra_factors_clear_) okra_factors_ kept = {0};
    okra_int count = 0;
    for (okra_int i = 0; i < s->n; i++) {
        s->order[count] = i;
        count += s->a[i] > 0 && s->a[i] < 1;
    }
    if (count == 0) {
        return OKRA_OK;
    }
    CHK(okra_factors_take_(s->f, s->order, count, &kept));
    rows F = {kept.Phi ? &kept : s->f, kept.Phi ? NULL : s->order, count};
    CHK(okra_boxqp_look_(s, F, s->A, s->gF));
    CHK(direction(s, F));
    double t = 1, share = 0, drop = 0, best = 1, most = -1;
    for (int k = 0; k < TRIES && share < 0.5; k++, t /= 4) {
        CHK(try_step(s, F, t, &share, &drop));
        if (drop > most) {
            most = drop;
            best = t;
        }
    }
    if (best != 4 * t) { /* not the last one tried */
        CHK(try_step(s, F, best, &share, &drop));
    }
    s->settled = true;
    settle(s, F, share);
    double taken = best * share;
    s->tau = taken >= 0.5  ? fmax(s->tau / 10, 1e-13 * s->mean)
             : taken < 0.1 ? fmin(s->tau * 10, 10 * s->mean)
                           : s->tau;
    return OKRA_OK;
}
