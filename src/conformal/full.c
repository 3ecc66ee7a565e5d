/*
 * full.c: full conformal prediction with ridge, identity operator, without refitting
 * (Vovk, Gammerman and Shafer 2005, sec. 2.3; Nouretdinov, Melluish and Vovk 2001 for
 * numbers).
 *
 * With (x, y) added to the training pairs (solved.c has B, u, s), t_i = u_i / s:
 *
 *     r_i = sum_j B_ij phi(y_j) + t_i (sum_j u_j phi(y_j) - phi(y)),  b_i = B_ii + u_i
 * t_i r   = (phi(y) - sum_j u_j phi(y_j)) / s,                        b   = 1 / s
 *
 * lambda r_i is the residual of pair i, r_i / b_i how far its output is from the
 * prediction without it (Allen's PRESS), and 1 / b_i the predictive variance there. The
 * scores are |r_i| / b_i^q: q = 0 residual, 1/2 normalized, 1 distance. All are functions
 * of the n + 1 pairs that treat them alike, so the p-values are exact. In inner products,
 *
 *     |r_i|^2 = (BLB)_ii + 2 t_i (BLu)_i + t_i^2 u'Lu
 *               - 2 t_i ((B l_y)_i + t_i u'l_y) + t_i^2 l(y,y).
 *
 * The norms come from differences of inner products. What rounding may have made of them
 * is bounded (okra_solved_error_), and scores that differ by less count as equal: with
 * equal pairs and a small lambda p-values can only become larger.
 *
 * Cost: n^2 (candidates + test inputs) in products, then n for each pair of a test input
 * and a candidate.
 *
 * Intervals: for one coordinate r_i = a_i - t_i y is linear in y, so {y: score_i >=
 * score} is an interval around the prediction, or two rays; the set of all y with p >
 * alpha follows from sorting their ends. Its hull is given.
 */
#include "conformal/conformal.h"

#include <math.h>
#include <stdlib.h>

typedef struct full {
    const okra_conformal_job_ *job;
    okra_solved_ solved;
    const okra_bordered_ *block;
    double *diagonal;           /* n: (BLB)_ii                              */
    double *cross, *self, *BLc; /* count x n, count, count x n: B l_c rows  */
    double *BLu;                /* rows x n: (B L u) of a block             */
    double *Ul;                 /* count x rows: u'l_c                      */
    double *sums;               /* n: sum_j |B_ij|                          */
    double *work;               /* a worker: 4 n                            */
    double *BY, *UY;            /* intervals: n x d, rows x d               */
    double alpha, *bounds, *p;
} full;

static double power_of(const okra_conformal_job_ *job)
{
    return job->score == OKRA_SCORE_DISTANCE_     ? 1
           : job->score == OKRA_SCORE_NORMALIZED_ ? 0.5
                                                  : 0;
}

static void release(full *z)
{
    okra_solved_clear_(&z->solved);
    okra_free_(z->diagonal);
    okra_free_(z->cross);
    okra_free_(z->self);
    okra_free_(z->BLc);
    okra_free_(z->BLu);
    okra_free_(z->Ul);
    okra_free_(z->work);
    okra_free_(z->sums);
    okra_free_(z->BY);
    okra_free_(z->UY);
}

/* ---- sets of candidates ---- */

/* One candidate of test t: |r_i|^2 / b_i^2q against that of (x, y). base_i = |r_i|^2
 * without y, t_i and weight_i = b_i^-2q. */
static double p_value(const full *z, okra_int t, okra_int c, const double *base,
                      const double *ti, const double *weight, double test_weight,
                      double uLu, double usum)
{
    const okra_conformal_job_ *job = z->job;
    okra_int n = z->solved.n, r = t - z->block->first;
    okra_int group = okra_conformal_group_(job, t, c);
    const double *Bl = z->BLc + c * n;
    double ul = z->Ul[c * z->block->m + r], self = z->self[c], s = z->block->s[r];
    double own = fmax(self - 2 * ul + uLu, 0);
    own = fmax(own - okra_solved_error_(&z->solved, 1 + usum, own), 0) / (s * s) *
          test_weight * (1 - 2 * z->block->off[r]);
    double more = okra_conformal_test_weight_(job, t), all = more, shift = self - 2 * ul;
    double least = own - OKRA_CONFORMAL_SLACK_ * own;
    if (!job->group && !job->s.weights) {
        okra_int count = 1;
        for (okra_int i = 0; i < n; i++) {
            double q = base[i] + ti[i] * (ti[i] * shift - 2 * Bl[i]);
            count += q * weight[i] >= least;
        }
        return (double)count / (double)(n + 1);
    }
    for (okra_int i = 0; i < n; i++) {
        if (okra_conformal_in_(job, i, group)) {
            double q = base[i] + ti[i] * (ti[i] * shift - 2 * Bl[i]);
            double w = okra_conformal_weight_(job, i);
            more += q * weight[i] >= least ? w : 0;
            all += w;
        }
    }
    return more / all;
}

static okra_status sets_body(void *arg, okra_int begin, okra_int end, int worker)
{
    full *z = arg;
    const okra_bordered_ *b = z->block;
    okra_int n = z->solved.n;
    double *base = z->work + worker * 3 * n, *ti = base + n, *weight = ti + n;
    double q = power_of(z->job);
    for (okra_int r = begin; r < end; r++) {
        const double *u = b->U + r * n;
        double uLu = okra_dot_(n, u, b->UL + r * n), s = b->s[r], usum = 0;
        for (okra_int i = 0; i < n; i++) {
            usum += fabs(u[i]);
        }
        for (okra_int i = 0; i < n; i++) {
            ti[i] = u[i] / s;
            base[i] = z->diagonal[i] + ti[i] * (2 * z->BLu[r * n + i] + ti[i] * uLu);
            base[i] += okra_solved_error_(&z->solved,
                                          z->sums[i] + fabs(ti[i]) * (usum + 1), base[i]);
            weight[i] = pow(z->solved.B[i * n + i] + u[i] * ti[i], -2 * q);
        }
        for (okra_int c = 0; c < z->job->count; c++) {
            z->p[(b->first + r) * z->job->count + c] =
                p_value(z, b->first + r, c, base, ti, weight, pow(s, 2 * q), uLu, usum);
        }
    }
    return OKRA_OK;
}

static okra_status sets_block(void *user, const okra_bordered_ *b)
{
    okra_status st = OKRA_OK;
    full *z = user;
    okra_context *ctx = z->job->ctx;
    okra_int n = z->solved.n, count = z->job->count;
    z->block = b;
    TRY(okra_gemm_(ctx, false, false, 1, okra_mat_of_(b->UL, b->m, n),
                   okra_mat_of_(z->solved.B, n, n), 0, okra_mat_of_(z->BLu, b->m, n)));
    TRY(okra_gemm_(ctx, false, true, 1, okra_mat_of_(z->cross, count, n),
                   okra_mat_of_(b->U, b->m, n), 0, okra_mat_of_(z->Ul, count, b->m)));
    TRY(okra_parallel_(ctx, b->m, 1, "sets", sets_body, z));
done:
    return st;
}

/* (BLB)_ii; one product of n x n with n x n. */
static okra_status diagonal(full *z)
{
    okra_status st = OKRA_OK;
    okra_int n = z->solved.n;
    double *BL = NULL;
    ALLOC(z->diagonal, n);
    ZALLOC(z->sums, n);
    TRY(okra_doubles_(z->job->ctx, n, n, "inverse times output Gram matrix", &BL));
    TRY(okra_gemm_(z->job->ctx, false, false, 1, okra_mat_of_(z->solved.B, n, n),
                   okra_mat_of_(z->solved.L, n, n), 0, okra_mat_of_(BL, n, n)));
    for (okra_int i = 0; i < n; i++) {
        z->diagonal[i] = okra_dot_(n, BL + i * n, z->solved.B + i * n);
        for (okra_int j = 0; j < n; j++) {
            z->sums[i] += fabs(z->solved.B[i * n + j]);
        }
    }
done:
    okra_free_(BL);
    return st;
}

okra_status okra_conformal_full_(const okra_conformal_job_ *job, double *p)
{
    okra_status st = OKRA_OK;
    full z = {.job = job, .p = p};
    TRY(okra_solved_create_(job, &z.solved));
    okra_int n = z.solved.n, rows = job->tests;
    TRY(diagonal(&z));
    TRY(okra_solved_candidates_(job, &z.cross, &z.self, &z.solved.size));
    TRY(okra_doubles_(job->ctx, job->count, n, "the candidates' products", &z.BLc));
    TRY(okra_gemm_(job->ctx, false, false, 1, okra_mat_of_(z.cross, job->count, n),
                   okra_mat_of_(z.solved.B, n, n), 0,
                   okra_mat_of_(z.BLc, job->count, n)));
    TRY(okra_doubles_(job->ctx, OKRA_MIN_(rows, 256), n, "a block of products", &z.BLu));
    TRY(okra_doubles_(job->ctx, job->count, OKRA_MIN_(rows, 256), "a block of products",
                      &z.Ul));
    ALLOC(z.work, okra_workers_(job->ctx) * 3 * n);
    TRY(okra_solved_walk_(job, &z.solved, sets_block, &z));
done:
    release(&z);
    return st;
}

/* ---- intervals ---- */

typedef struct change {
    double at;
    int by; /* +1: from here on one more pair counts; -1: after here one less */
} change;

static int by_place(const void *a, const void *b)
{
    const change *p = a, *q = b;
    return p->at < q->at   ? -1
           : p->at > q->at ? 1
                           : q->by - p->by; /* entries first: ends belong to the set */
}

/* Ends of {y: |a - t y| w >= |y - m| v} as changes; returns what counts at -infinity. */
static int ends(double a, double t, double w, double m, double v, change *out, int *count)
{
    double A = a * w, b = -t * w; /* |A + b y| >= v |y - m| */
    double minus = v - b, plus = v + b;
    *count = 0;
    if (fabs(b) < v * (1 - OKRA_CONFORMAL_SLACK_)) { /* an interval around m */
        double y1 = (A + v * m) / minus, y2 = (v * m - A) / plus;
        out[0] = (change){fmin(y1, y2), 1};
        out[1] = (change){fmax(y1, y2), -1};
        *count = 2;
        return 0;
    }
    if (fabs(b) > v * (1 + OKRA_CONFORMAL_SLACK_)) { /* all but an open interval */
        double y1 = (A + v * m) / minus, y2 = (v * m - A) / plus;
        out[0] = (change){fmin(y1, y2), -1};
        out[1] = (change){fmax(y1, y2), 1};
        *count = 2;
        return 1;
    }
    /* parallel: a half-line, or everything */
    double other = b > 0 ? (v * m - A) / plus : (A + v * m) / minus;
    double far = b > 0 ? A + v * m : v * m - A; /* where the parallel sides differ */
    if (fabs(far) <= OKRA_CONFORMAL_SLACK_ * (fabs(A) + fabs(v * m))) {
        return 1;
    }
    bool right = far > 0;
    out[0] = (change){other, right ? 1 : -1};
    *count = 1;
    return right ? 0 : 1;
}

/* The hull of {y: 1 + count(y) > alpha (n + 1)}. */
static void hull(change *list, okra_int count, okra_int begin, double least,
                 double out[2])
{
    okra_int now = begin;
    out[0] = out[1] = NAN;
    if ((double)(1 + now) > least) {
        out[0] = -INFINITY;
    }
    qsort(list, (size_t)count, sizeof *list, by_place);
    for (okra_int k = 0; k < count; k++) {
        bool in = (double)(1 + now) > least;
        now += list[k].by;
        bool after = (double)(1 + now) > least;
        if (!in && after && isnan(out[0])) {
            out[0] = list[k].at;
        }
        if (in && !after) {
            out[1] = list[k].at;
        }
    }
    if ((double)(1 + now) > least) {
        out[1] = INFINITY;
    }
}

static void one_interval(const full *z, okra_int r, okra_int j, change *list)
{
    const okra_conformal_job_ *job = z->job;
    okra_int n = z->solved.n, d = z->solved.d, count = 0, begin = 0, pairs = 0;
    okra_int group = okra_conformal_group_(job, z->block->first + r, 0);
    const double *u = z->block->U + r * n;
    double s = z->block->s[r], q = power_of(job), m = z->UY[r * d + j];
    for (okra_int i = 0; i < n; i++) {
        if (okra_conformal_in_(job, i, group)) {
            double t = u[i] / s, b = z->solved.B[i * n + i] + u[i] * t;
            int more = 0;
            begin += ends(z->BY[i * d + j] + t * m, t, pow(b, -q), m, pow(s, q) / s,
                          list + count, &more);
            count += more;
            pairs++;
        }
    }
    /* a hair below: alpha (n + 1) that is whole must not be lost to rounding */
    double least = z->alpha * (double)(pairs + 1) * (1 + 1e-12);
    double *out = z->bounds + ((z->block->first + r) * d + j) * 2;
    hull(list, count, begin, least, out);
    out[0] = isnan(out[0]) ? m : out[0]; /* nothing but the prediction itself */
    out[1] = isnan(out[1]) ? m : out[1];
}

static okra_status intervals_body(void *arg, okra_int begin, okra_int end, int worker)
{
    full *z = arg;
    change *list = (change *)(void *)z->work + worker * 2 * z->solved.n;
    for (okra_int k = begin; k < end; k++) {
        one_interval(z, k / z->solved.d, k % z->solved.d, list);
    }
    return OKRA_OK;
}

static okra_status intervals_block(void *user, const okra_bordered_ *b)
{
    okra_status st = OKRA_OK;
    full *z = user;
    okra_context *ctx = z->job->ctx;
    okra_int n = z->solved.n, d = z->solved.d;
    z->block = b;
    TRY(okra_gemm_(ctx, false, false, 1, okra_mat_of_(b->U, b->m, n),
                   okra_mat_of_(z->solved.Y, n, d), 0, okra_mat_of_(z->UY, b->m, d)));
    TRY(okra_parallel_(ctx, b->m * d, 8, "intervals", intervals_body, z));
done:
    return st;
}

okra_status okra_conformal_full_intervals_(const okra_conformal_job_ *job, double alpha,
                                           double *bounds)
{
    okra_status st = OKRA_OK;
    full z = {.job = job, .alpha = alpha, .bounds = bounds};
    if (job->s.weights) {
        FAIL(OKRA_EUNSUPPORTED, "conformal full: intervals have no weights: use split");
    }
    TRY(okra_solved_create_(job, &z.solved));
    okra_int n = z.solved.n, d = z.solved.d;
    TRY(okra_doubles_(job->ctx, n, d, "the solved outputs", &z.BY));
    TRY(okra_doubles_(job->ctx, OKRA_MIN_(job->tests, 256), d, "predictions", &z.UY));
    TRY(okra_gemm_(job->ctx, false, false, 1, okra_mat_of_(z.solved.B, n, n),
                   okra_mat_of_(z.solved.Y, n, d), 0, okra_mat_of_(z.BY, n, d)));
    ALLOC(z.work, okra_workers_(job->ctx) * 2 * n *
                      (okra_int)((sizeof(change) + 7) / sizeof(double)));
    TRY(okra_solved_walk_(job, &z.solved, intervals_block, &z));
done:
    release(&z);
    return st;
}
