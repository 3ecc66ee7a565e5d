/*
 * boxqp_low.c: min f(a) = a'Qa/2 - 1'a over 0 <= a <= 1 for Q = (Phi Phi') o (Psi Psi') /
 * (2 lambda), Phi: n x m, Psi: n x d, without forming Q.
 *
 *     A = Phi' diag(a) Psi / (2 lambda)  (m x d),   g_i = (Qa)_i = phi_i' A psi_i
 *     a'Qa/2 = lambda |A|^2,   P = sum max(0, 1 - g_i) + lambda |A|^2,
 *     D = sum(a) - lambda |A|^2,   gap = P - D
 *
 * A round is
 *   1. a sweep over the variables in question (inside the box, or with a violation of
 *      more than SHARE of the worst) in random order, by blocks: Q_BB and g_B are matrix
 *      products, a few passes of coordinate descent within the block, A <- A + Phi_B'
 *      diag(step) Psi_B / (2 lambda). Dual coordinate descent (Hsieh et al. 2008) with
 *      blocks in the place of coordinates, which makes everything a matrix product.
 *   2. a step on the face of the variables inside the box (boxqp_face.c).
 *   3. A from a and g from A afresh, and the gap.
 *
 * Cost: 2 n m d a round, 4 m d + B (m + d) a variable swept, 4 m d a variable of F and
 * step of conjugate gradients, or f^2 (m + d) + f^3/3 for all f of F. Rounds: 6 to 15
 * where a good part of the variables ends at a bound, up to a hundred where the outputs
 * are noise and lambda is small. Memory: m d + 7 n + 2 B^2 doubles beside the factors.
 * The same seed and number of threads give the same bits.
 */
#include "method/margin/boxqp_low.h"

#include <math.h>

enum {
    ROUNDS_MOST = 300,
    STALLED = 4, /* rounds without any gain: rounding ends it here */
    PASSES = 5,  /* within a block                                 */
    BLOCK_LEAST = 64,
    BLOCK_MOST = 256 /* the passes, which one thread does, stay a small part */
};

static const double SHARE = 1e-3;  /* of the worst violation: below it waits      */
static const double DAMPED = 1e-2; /* tau at first, in units of the mean diagonal */

typedef okra_boxqp_work_ solver;

static void clear(solver *s)
{
    FREE(s->g, s->X, s->M, s->Q, s->G, s->order, s->r, s->p, s->q, s->s, s->gF, s->b);
}

/* The Gram matrix of a block costs B (m + d) a row, the rest 4 m d. */
static okra_int block_of(okra_int m, okra_int d)
{
    okra_int even = 8 * m * d / OKRA_MAX_(m + d, 1);
    return OKRA_MAX_(BLOCK_LEAST, OKRA_MIN_(even, BLOCK_MOST));
}

double okra_boxqp_low_doubles_(okra_int n, okra_int m, okra_int d)
{
    double B = (double)block_of(m, d), rows = (double)OKRA_FACTORS_BLOCK_;
    return 7 * (double)n + (double)m * (double)d + fmin(rows, (double)n) * (double)d +
           2 * B * B + 2 * B;
}

static okra_status prepare(solver *s)
{
    okra_int m = s->m, d = s->d, n = s->n;
    s->block = OKRA_MIN_(block_of(m, d), s->f->block);
    ZMAKE(s->g, n);
    MAKE(s->order, n);
    MAKE(s->r, n);
    MAKE(s->p, n);
    MAKE(s->q, n);
    MAKE(s->s, n);
    MAKE(s->gF, n);
    MAKE(s->b, 2 * s->block);
    CHK(okra_doubles_(s->ctx, m, d, "the margin's direction", &s->X));
    CHK(okra_doubles_(s->ctx, s->f->block, d, "a block of the margin", &s->M));
    CHK(okra_doubles_(s->ctx, s->block, s->block, "a block of the margin", &s->Q));
    CHK(okra_doubles_(s->ctx, s->block, s->block, "a block of the margin", &s->G));
    for (okra_int i = 0; i < n; i++) {
        s->mean += s->f->square[i] / (2 * s->lambda) / (double)n;
        s->a[i] = fmin(fmax(s->a[i], 0), 1);
    }
    s->tau = DAMPED * s->mean;
    s->usual = 50; /* taken for granted before the first time */
    return OKRA_OK;
}

/* ---- the two products ---- */

typedef okra_boxqp_rows_ rows;

/* to <- to + Phi' diag(v) Psi / (2 lambda) of a block */
static okra_status add_block(solver *s, okra_mat_ Phi, okra_mat_ Psi, const double *v,
                             double *to)
{
    okra_mat_ M = okra_mat_of_(s->M, Psi.rows, s->d);
    for (okra_int i = 0; i < M.rows; i++) {
        for (okra_int j = 0; j < s->d; j++) {
            M.p[i * s->d + j] = v[i] * Psi.p[i * Psi.ld + j];
        }
    }
    return okra_gemm_(s->ctx, true, false, 0.5 / s->lambda, Phi, M, 1,
                      okra_mat_of_(to, s->m, s->d));
}

okra_status okra_boxqp_gather_(solver *s, rows z, const double *v, double *to)
{
    okra_mat_fill_(okra_mat_of_(to, s->m, s->d), 0);
    for (okra_int i = 0; i < z.count; i += z.f->block) {
        okra_mat_ Phi, Psi;
        CHK(okra_cancelled_(s->ctx));
        CHK(okra_factors_rows_(z.f, z.index, i, OKRA_MIN_(z.f->block, z.count - i), &Phi,
                               &Psi));
        CHK(add_block(s, Phi, Psi, v + i, to));
    }
    return OKRA_OK;
}

/* to_i <- phi_i' A psi_i of a block */
static okra_status look_block(solver *s, okra_mat_ Phi, okra_mat_ Psi, double *A,
                              double *to)
{
    okra_mat_ M = okra_mat_of_(s->M, Phi.rows, s->d);
    CHK(okra_gemm_(s->ctx, false, false, 1, Phi, okra_mat_of_(A, s->m, s->d), 0, M));
    for (okra_int i = 0; i < M.rows; i++) {
        to[i] = okra_dot_(s->d, M.p + i * s->d, Psi.p + i * Psi.ld);
    }
    return OKRA_OK;
}

okra_status okra_boxqp_look_(solver *s, rows z, double *A, double *to)
{
    for (okra_int i = 0; i < z.count; i += z.f->block) {
        okra_mat_ Phi, Psi;
        CHK(okra_cancelled_(s->ctx));
        CHK(okra_factors_rows_(z.f, z.index, i, OKRA_MIN_(z.f->block, z.count - i), &Phi,
                               &Psi));
        CHK(look_block(s, Phi, Psi, A, to + i));
    }
    return OKRA_OK;
}

static double squared(const solver *s, const double *A)
{
    return okra_dot_(s->m * s->d, A, A);
}

/* A, g and the report of a. */
static okra_status measure(solver *s, double tolerance)
{
    okra_int count = 0;
    double hinge = 0, sum = 0, scale = 0;
    for (okra_int i = 0; i < s->n; i++) {
        s->order[count] = i;
        s->p[count] = s->a[i];
        count += s->a[i] > 0;
        sum += s->a[i];
    }
    CHK(okra_boxqp_gather_(s, (rows){s->f, count < s->n ? s->order : NULL, count}, s->p,
                           s->A));
    if (count > 0) {
        CHK(okra_boxqp_look_(s, (rows){s->f, NULL, s->n}, s->A, s->g));
    } else {
        okra_mat_fill_(okra_mat_of_(s->g, s->n, 1), 0);
    }
    for (okra_int i = 0; i < s->n; i++) {
        hinge += fmax(0, 1 - s->g[i]);
        scale += 1 + fabs(1 - s->g[i]);
    }
    double half = s->lambda * squared(s, s->A);
    s->report.dual = sum - half;
    s->report.gap = hinge + half - s->report.dual;
    s->report.goal = okra_gap_goal_(tolerance, s->report.dual, scale);
    s->report.converged = s->report.gap <= s->report.goal;
    return OKRA_OK;
}

/* ---- a sweep by blocks ---- */

static okra_status one_block(solver *s, const okra_int *index, okra_int count)
{
    okra_mat_ Phi, Psi, Q = okra_mat_of_(s->Q, count, count),
                        G = okra_mat_of_(s->G, count, count);
    double *b = s->b, *g = s->b + count, moved = 0;
    CHK(okra_factors_rows_(s->f, index, 0, count, &Phi, &Psi));
    CHK(okra_syrk_(s->ctx, false, 0.5 / s->lambda, Phi, 0, Q));
    CHK(okra_syrk_(s->ctx, false, 1, Psi, 0, G));
    for (okra_int k = 0; k < count * count; k++) {
        Q.p[k] *= G.p[k];
    }
    CHK(look_block(s, Phi, Psi, s->A, g));
    for (okra_int k = 0; k < count; k++) {
        b[k] = s->a[index[k]];
    }
    okra_boxqp_sweep_(Q, PASSES, b, g);
    for (okra_int k = 0; k < count; k++) {
        g[k] = b[k] - s->a[index[k]];
        moved += fabs(g[k]);
        s->a[index[k]] = b[k];
    }
    if (moved > 0) {
        CHK(add_block(s, Phi, Psi, g, s->A));
    }
    return OKRA_OK;
}

static okra_status sweep(solver *s)
{
    okra_int count = 0;
    double worst = 0;
    for (okra_int i = 0; i < s->n; i++) {
        worst = fmax(worst, okra_boxqp_violation_(s->a[i], s->g[i], 1));
    }
    for (okra_int i = 0; i < s->n; i++) {
        s->order[count] = i;
        count += (s->a[i] > 0 && s->a[i] < 1) ||
                 okra_boxqp_violation_(s->a[i], s->g[i], 1) > SHARE * worst;
    }
    okra_random_shuffle_(&s->random, count, s->order);
    for (okra_int k = 0; k < count; k += s->block) {
        okra_int some = OKRA_MIN_(s->block, count - k);
        CHK(okra_cancelled_(s->ctx));
        CHK(one_block(s, s->order + k, some));
        okra_progress_(s->ctx, "margin", k + some, count);
    }
    return OKRA_OK;
}

okra_status okra_boxqp_low_(okra_factors_ *f, double lambda, double tolerance, double *a,
                            double *A, okra_boxqp_report_ *report)
{
    FREED_BY(clear)
    solver s = {.ctx = f->ctx,
                .f = f,
                .n = f->n,
                .m = f->m,
                .d = f->d,
                .lambda = lambda,
                .a = a,
                .A = A,
                .random = okra_random_create_(okra_context_seed(f->ctx), 3)};
    int stalled = 0;
    CHK(prepare(&s));
    CHK(measure(&s, tolerance));
    for (int k = 0; k < ROUNDS_MOST && stalled < STALLED && !s.report.converged; k++) {
        double before = s.report.dual;
        CHK(sweep(&s));
        CHK(okra_boxqp_face_(&s));
        CHK(measure(&s, tolerance));
        s.report.steps++;
        stalled = s.report.dual > before ? 0 : stalled + 1;
    }
    *report = s.report;
    return OKRA_OK;
}
