/*
 * full.c: full conformal prediction with ridge, identity operator, without refitting
 * (Vovk, Gammerman and Shafer 2005, sec. 2.3; Nouretdinov, Melluish and Vovk 2001 for
 * numbers).
 *
 * With (x, y) added to the training pairs (solved.c has B, u, s), t_i = u_i / s:
 *
 *     r_i = sum_j B_ij phi(y_j) + t_i (sum_j u_j phi(y_j) - phi(y))
 *     r   = (phi(y) - sum_j u_j phi(y_j)) / s,    b_i = B_ii + u_i t_i,    b = 1 / s
 *
 * lambda r_i is the residual of pair i, r_i / b_i how far its output is from the
 * prediction without it (Allen's PRESS), and 1 / b_i the predictive variance there. The
 * scores are |r_i| / b_i^q: q = 0 residual, 1/2 normalized, 1 distance. All are functions
 * of the n + 1 pairs that treat them alike, so the p-values are exact. In inner products,
 *
 *     |r_i|^2 = (BLB)_ii + 2 t_i (BLu)_i + t_i^2 u'Lu
 *               - 2 t_i ((B l_y)_i + t_i u'l_y) + t_i^2 l(y,y).
 *
 * Centred outputs (phi without the training mean, solved.c): less (B' 1)_i times the mean
 * of the outputs, B' the inverse of the bordered matrix, for which
 *
 *     c_i = (B' 1)_i = (B 1)_i + t_i (1'u - 1),    c = (1 - 1'u) / s.
 *
 * The mean is that of all n + 1 for q = 0, phi(y) / (n + 1), and that of the others where
 * the pair itself is left out: (phi(y) - phi_i) / n for pair i, 0 for (x, y). So
 *
 *     r_i = sum_j B_ij phi_j + e_i phi_i + t_i sum_j u_j phi_j - tau_i phi(y)
 *     r   = (kappa phi(y) - sum_j u_j phi_j) / s
 *     q = 0:  e_i = 0,        tau_i = t_i + c_i / (n + 1),  kappa = 1 - s c / (n + 1)
 *     q > 0:  e_i = c_i / n,  tau_i = t_i + c_i / n,        kappa = 1
 *
 * with e_i = 0, tau_i = t_i, kappa = 1 where outputs are not centred.
 *
 * The norms come from differences of inner products. What rounding may have made of them
 * is bounded (okra_solved_error_), and scores that differ by less count as equal: with
 * equal pairs and a small lambda p-values can only become larger.
 *
 * Cost: n^2 (candidates + test inputs) in products, then n for each pair of a test input
 * and a candidate.
 */
#include "conformal/full.h"

#include <math.h>

typedef struct full {
    const okra_conformal_job_ *job;
    okra_solved_ solved;
    const okra_bordered_ *block;
    double *diagonal;           /* n: (BLB)_ii                              */
    double *BLii;               /* n: (BL)_ii where outputs are centred      */
    double *cross, *self, *BLc; /* count x n, count, count x n: B l_c rows  */
    double *BLu;                /* rows x n: (B L u) of a block             */
    double *Ul;                 /* count x rows: u'l_c                      */
    double *sums;               /* n: sum_j |B_ij|                          */
    double *work;               /* a worker: 5 n                            */
    double *p;
} full;

static void release(full *z)
{
    okra_solved_clear_(&z->solved);
    FREE(z->diagonal, z->BLii, z->cross, z->self, z->BLc, z->BLu, z->Ul, z->work,
         z->sums);
}

/* A test input, whatever the candidate. */
typedef struct row {
    double *base, *t, *tau, *e; /* n: |r_i|^2 without y, and what y meets       */
    double *weight;             /* n: b_i^-2q                                   */
    double own_weight;          /* the same of (x, y)                           */
    double uLu, usum, kappa;    /* u'Lu, sum |u|                                */
} row;

/* |r_i|^2; `centered` is known where this is inlined. */
static inline double norm2(const row *w, okra_int i, const double *Bl, const double *l,
                           double ul, double self, bool centered)
{
    double meets = Bl[i] + w->t[i] * ul;
    meets += centered ? w->e[i] * l[i] : 0;
    return w->base[i] + w->tau[i] * (w->tau[i] * self - 2 * meets);
}

static okra_int at_least(const row *w, okra_int n, const double *Bl, const double *l,
                         double ul, double self, double least, bool centered)
{
    okra_int count = 0;
    if (centered) {
        for (okra_int i = 0; i < n; i++) {
            count += norm2(w, i, Bl, l, ul, self, true) * w->weight[i] >= least;
        }
    } else {
        for (okra_int i = 0; i < n; i++) {
            count += norm2(w, i, Bl, l, ul, self, false) * w->weight[i] >= least;
        }
    }
    return count;
}

/* One candidate of test t: |r_i|^2 / b_i^2q against that of (x, y). */
static double p_value(const full *z, okra_int t, okra_int c, const row *w)
{
    const okra_conformal_job_ *job = z->job;
    okra_int n = z->solved.n, r = t - z->block->first;
    okra_int group = okra_conformal_group_(job, t, c);
    const double *Bl = z->BLc + c * n, *l = z->cross + c * n;
    double ul = z->Ul[c * z->block->m + r], self = z->self[c], s = z->block->s[r];
    bool centered = z->solved.ones != NULL;
    double own = fmax(w->kappa * (w->kappa * self - 2 * ul) + w->uLu, 0);
    own = fmax(own - okra_solved_error_(&z->solved, fabs(w->kappa) + w->usum, own), 0) /
          (s * s) * w->own_weight * (1 - 2 * z->block->off[r]);
    double more = okra_conformal_test_weight_(job, t), all = more;
    double least = own - OKRA_CONFORMAL_SLACK_ * own;
    if (!job->group && !job->s.weights) {
        okra_int count = 1 + at_least(w, n, Bl, l, ul, self, least, centered);
        return (double)count / (double)(n + 1);
    }
    for (okra_int i = 0; i < n; i++) {
        if (okra_conformal_in_(job, i, group)) {
            double q = norm2(w, i, Bl, l, ul, self, centered);
            double v = okra_conformal_weight_(job, i);
            more += q * w->weight[i] >= least ? v : 0;
            all += v;
        }
    }
    return more / all;
}

static void fill_row(const full *z, okra_int r, row *w)
{
    const okra_bordered_ *b = z->block;
    okra_int n = z->solved.n;
    const double *u = b->U + r * n, *Lu = b->UL + r * n, *BLu = z->BLu + r * n;
    double s = b->s[r], q = okra_full_power_(z->job), sigma = 0;
    w->uLu = okra_dot_(n, u, Lu);
    w->usum = 0;
    w->own_weight = pow(s, 2 * q);
    for (okra_int i = 0; i < n; i++) {
        w->usum += fabs(u[i]);
        sigma += u[i];
    }
    w->kappa = okra_full_kappa_(z->job, &z->solved, sigma);
    for (okra_int i = 0; i < n; i++) {
        double t = w->t[i] = u[i] / s, base;
        okra_moved_ m = okra_full_move_(z->job, &z->solved, i, t, sigma);
        w->tau[i] = m.tau;
        w->e[i] = m.e;
        base = z->diagonal[i] + t * (2 * BLu[i] + t * w->uLu);
        if (m.e != 0) {
            base += m.e * (2 * (z->BLii[i] + t * Lu[i]) + m.e * z->solved.L[i * n + i]);
        }
        double sizes = z->sums[i] + fabs(t) * w->usum + fabs(m.tau) + fabs(m.e);
        w->base[i] = base + okra_solved_error_(&z->solved, sizes, base);
        w->weight[i] = pow(z->solved.B[i * n + i] + u[i] * t, -2 * q);
    }
}

static okra_status sets_body(void *arg, okra_int begin, okra_int end, int worker)
{
    full *z = arg;
    okra_int n = z->solved.n, count = z->job->count;
    double *work = z->work + worker * 5 * n;
    row w = {.base = work,
             .t = work + n,
             .tau = work + 2 * n,
             .e = work + 3 * n,
             .weight = work + 4 * n};
    for (okra_int r = begin; r < end; r++) {
        okra_int t = z->block->first + r;
        fill_row(z, r, &w);
        for (okra_int c = 0; c < count; c++) {
            z->p[t * count + c] = p_value(z, t, c, &w);
        }
    }
    return OKRA_OK;
}

static okra_status sets_block(void *user, const okra_bordered_ *b)
{
    full *z = user;
    okra_context *ctx = z->job->ctx;
    okra_int n = z->solved.n, count = z->job->count;
    z->block = b;
    CHK(okra_gemm_(ctx, false, false, 1, okra_mat_of_(b->UL, b->m, n),
                   okra_mat_of_(z->solved.B, n, n), 0, okra_mat_of_(z->BLu, b->m, n)));
    CHK(okra_gemm_(ctx, false, true, 1, okra_mat_of_(z->cross, count, n),
                   okra_mat_of_(b->U, b->m, n), 0, okra_mat_of_(z->Ul, count, b->m)));
    return okra_parallel_(ctx, b->m, 1, "sets", sets_body, z);
}

/* (BLB)_ii and (BL)_ii; one product of n x n with n x n. */
static okra_status diagonal(full *z)
{
    okra_int n = z->solved.n;
    OWNED double *BL = NULL;
    MAKE(z->diagonal, n);
    MAKE(z->BLii, n);
    ZMAKE(z->sums, n);
    CHK(okra_doubles_(z->job->ctx, n, n, "inverse times output Gram matrix", &BL));
    CHK(okra_gemm_(z->job->ctx, false, false, 1, okra_mat_of_(z->solved.B, n, n),
                   okra_mat_of_(z->solved.L, n, n), 0, okra_mat_of_(BL, n, n)));
    for (okra_int i = 0; i < n; i++) {
        z->diagonal[i] = okra_dot_(n, BL + i * n, z->solved.B + i * n);
        z->BLii[i] = BL[i * n + i];
        for (okra_int j = 0; j < n; j++) {
            z->sums[i] += fabs(z->solved.B[i * n + j]);
        }
    }
    return OKRA_OK;
}

okra_status okra_conformal_full_(const okra_conformal_job_ *job, double *p)
{
    FREED_BY(release) full z = {.job = job, .p = p};
    CHK(okra_solved_create_(job, &z.solved));
    okra_int n = z.solved.n, rows = job->tests;
    CHK(diagonal(&z));
    CHK(okra_solved_candidates_(job, &z.solved, &z.cross, &z.self));
    CHK(okra_doubles_(job->ctx, job->count, n, "the candidates' products", &z.BLc));
    CHK(okra_gemm_(job->ctx, false, false, 1, okra_mat_of_(z.cross, job->count, n),
                   okra_mat_of_(z.solved.B, n, n), 0,
                   okra_mat_of_(z.BLc, job->count, n)));
    CHK(okra_doubles_(job->ctx, OKRA_MIN_(rows, 256), n, "a block of products", &z.BLu));
    CHK(okra_doubles_(job->ctx, job->count, OKRA_MIN_(rows, 256), "a block of products",
                      &z.Ul));
    MAKE(z.work, okra_workers_(job->ctx) * 5 * n);
    return okra_solved_walk_(job, &z.solved, sets_block, &z);
}
