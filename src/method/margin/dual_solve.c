/*
 * dual_solve.c: the dual of dual.c to a given gap.
 *
 * Proximal point method: alpha+ = argmax D(alpha) - tau/2 |alpha - alpha_k|^2, which is
 * the same problem with tau added to the diagonal of g S / 2 and Y + tau alpha_k in place
 * of Y. tau begins at the mean diagonal, where sweeps find the active blocks at once, and
 * falls tenfold after each easy step; where it is small each step nearly solves the
 * problem itself. A step is a few sweeps of block descent (dual.c), which never lower the
 * dual value, and then Newton's method with its step halved until the dual
 * value rises, for as long as it does. Iterates stay within the bound.
 *
 * Stop: the duality gap of the problem itself, tau = 0, as small as method.h asks.
 * Measured (n = 500, q = 20, lambda = 0.1, gap 1e-8): 20 to 45 Newton steps; sweeps alone
 * leave 2.5e-4 after 5000. Cost: about 2 n^3 a Newton step; memory 3 n^2 + 6 n q.
 * Rockafellar 1976 (proximal point), Li, Sun, Toh 2018 (with semismooth Newton).
 */
#include "method/margin/margin.h"

enum {
    STEPS_MOST = 120, /* of the proximal point method        */
    ROUNDS_MOST = 6,  /* sweeps and Newton within a step     */
    SWEEPS = 5,       /* a round                             */
    NEWTONS_MOST = 40 /* a round                             */
};

/* A step is solved to this share of the gap that it starts from: more is lost on the next
 * change of tau. */
static const double SHARE = 0.01;

typedef struct solver {
    okra_context *ctx;
    okra_dual_ d; /* the problem of the step */
    double *Y;    /* n x q: its outputs      */
    double *alpha, *H, *trial, *trial_H, *step;
    double *v, *D, *move; /* q each, and q for each block of a group */
    okra_dual_newton_ *newton;
    okra_dual_report_ now;
} solver;

static void clear(solver *s)
{
    FREE(s->Y, s->trial, s->trial_H, s->step, s->v, s->D, s->move);
    okra_dual_newton_free_(s->newton);
}

static okra_status prepare(solver *s)
{
    okra_int n = s->d.n, q = s->d.q;
    CHK(okra_doubles_(s->ctx, n, q, "the outputs", &s->Y));
    CHK(okra_doubles_(s->ctx, n, q, "the dual variables", &s->trial));
    CHK(okra_doubles_(s->ctx, n, q, "the fitted outputs", &s->trial_H));
    CHK(okra_doubles_(s->ctx, n, q, "the dual variables", &s->step));
    MAKE(s->v, q);
    MAKE(s->D, q);
    MAKE(s->move, OKRA_DUAL_GROUP_ * q);
    return okra_dual_newton_create_(s->ctx, n, q, &s->newton);
}

/* trial <- alpha + t step, blocks that leave the bound put back on it. */
static void move(solver *s, double t)
{
    okra_int q = s->d.q;
    for (okra_int i = 0; i < s->d.n; i++) {
        double *a = s->trial + i * q, most = okra_dual_most_(&s->d, i);
        for (okra_int j = 0; j < q; j++) {
            a[j] = s->alpha[i * q + j] + t * s->step[i * q + j];
        }
        double size = sqrt(okra_dot_(q, a, a));
        for (okra_int j = 0; size > most && j < q; j++) {
            a[j] *= most / size;
        }
    }
}

/* One Newton step; *rose: the dual value is higher now. */
static okra_status newton(solver *s, bool *rose)
{
    bool found;
    okra_int area = s->d.n * s->d.q;
    *rose = false;
    CHK(okra_dual_newton_step_(s->ctx, s->newton, &s->d, s->alpha, s->H, s->step,
                               &found));
    s->now.newtons++;
    for (double t = 1; found && !*rose && t > 0.1; t /= 2) {
        okra_dual_report_ there = s->now;
        move(s, t);
        CHK(okra_dual_measure_(s->ctx, &s->d, s->trial, s->trial_H, &there));
        *rose = there.dual > s->now.dual;
        if (*rose) {
            s->now = there;
            CHK(okra_mat_copy_(okra_mat_of_(s->trial, area, 1),
                               okra_mat_of_(s->alpha, area, 1)));
            CHK(okra_mat_copy_(okra_mat_of_(s->trial_H, area, 1),
                               okra_mat_of_(s->H, area, 1)));
        }
    }
    return OKRA_OK;
}

/* The problem of one step to a gap of `enough`; *rounds: how hard it was. */
static okra_status one_step(solver *s, double enough, int *rounds)
{
    CHK(okra_dual_measure_(s->ctx, &s->d, s->alpha, s->H, &s->now));
    for (*rounds = 0; *rounds < ROUNDS_MOST && s->now.gap > enough; ++*rounds) {
        bool rose = true;
        for (int k = 0; k < SWEEPS; k++) {
            CHK(okra_cancelled_(s->ctx));
            CHK(okra_dual_sweep_(s->ctx, &s->d, s->alpha, s->H, s->v, s->D, s->move));
            s->now.sweeps++;
        }
        CHK(okra_dual_measure_(s->ctx, &s->d, s->alpha, s->H, &s->now));
        for (int k = 0; k < NEWTONS_MOST && rose && s->now.gap > enough; k++) {
            CHK(okra_cancelled_(s->ctx));
            CHK(newton(s, &rose));
        }
    }
    return OKRA_OK;
}

/* The mean diagonal of g S / 2. */
static double mean_diagonal(const okra_dual_ *d)
{
    double sum = 0;
    for (okra_int j = 0; j < d->q; j++) {
        const double *S;
        double scale = okra_dual_form_(d, j, &S);
        for (okra_int i = 0; i < d->n; i++) {
            sum += scale * S[i * d->n + i];
        }
    }
    return sum > 0 ? sum / ((double)d->n * (double)d->q) : 1;
}

okra_status okra_dual_solve_(okra_context *ctx, const okra_dual_ *dual, double *alpha,
                             double *H, okra_dual_report_ *report)
{
    FREED_BY(clear) solver s = {.ctx = ctx, .d = *dual, .alpha = alpha, .H = H};
    double tau = mean_diagonal(dual);
    CHK(prepare(&s));
    CHK(okra_dual_measure_(ctx, dual, alpha, H, &s.now));
    for (int k = 0; k < STEPS_MOST && !s.now.converged; k++) {
        double least =
            okra_gap_aim_(dual->tolerance, s.now.gap, s.now.dual, s.now.goal) / 10;
        int rounds;
        for (okra_int i = 0; i < dual->n * dual->q; i++) {
            s.Y[i] = dual->Y[i] + tau * alpha[i];
        }
        s.d.Y = s.Y;
        s.d.ridge = tau;
        CHK(one_step(&s, fmax(SHARE * s.now.gap, least), &rounds));
        tau *= rounds < ROUNDS_MOST / 2 ? 0.1 : rounds < ROUNDS_MOST ? 1 : 4;
        CHK(okra_dual_measure_(ctx, dual, alpha, H, &s.now));
    }
    *report = s.now;
    return OKRA_OK;
}
