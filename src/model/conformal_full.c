/*
 * conformal_full.c: full conformal prediction with ridge, identity operator, without
 * refitting (Vovk, Gammerman and Shafer 2005, sec. 2.3; Nouretdinov, Melluish and Vovk
 * 2001 for numbers).
 *
 * With (x, y) added to the training pairs (conformal_ridge.c has B, u, s), t_i = u_i / s:
 *
 *     r_i = sum_j B_ij phi(y_j) + t_i (sum_j u_j phi(y_j) - phi(y))
 *     r   = (phi(y) - sum_j u_j phi(y_j)) / s,    b_i = B_ii + u_i t_i,    b = 1 / s
 *
 * lambda r_i is the residual of pair i, r_i / b_i how far its output is from the
 * prediction without it (Allen's PRESS), and 1 / b_i the predictive variance there. The
 * scores are |r_i| / b_i^q: q = 0 residual, 1/2 normalized, 1 distance. All are functions
 * of the n + 1 pairs that treat them in the same way, so the p-values are exact. In inner
 * products,
 *
 *     |r_i|^2 = (BLB)_ii + 2 t_i (BLu)_i + t_i^2 u'Lu
 *               - 2 t_i ((B l_y)_i + t_i u'l_y) + t_i^2 l(y,y).
 *
 * Far outputs: with y, |r_i|^2 / b_i grows as t_i^2 / (B_ii + u_i t_i) |y|^2, which is
 * less than |y|^2 / s, as |r|^2 / b does. So under normalized every y that is far enough
 * has the largest score of all, and sets and intervals end. Under distance t_i^2 / (B_ii
 * + u_i t_i)^2 may be above 1: where many i have that (a narrow kernel, a small lambda),
 * sets hold nearly all candidates.
 *
 * Centred outputs (phi without the training mean, conformal_ridge.c): less (B' 1)_i times
 * the mean of the outputs, B' the inverse of the bordered matrix, for which
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
#include "model/conformal.h"

typedef struct full {
    const okra_conformal_ *job;
    okra_solved_ solved;
    const okra_bordered_ *block;
    double q, *work;         /* a worker: each numbers                          */
    okra_int each;           /*                                                  */
    double *diagonal, *BLii; /* sets, n: (BLB)_ii, (BL)_ii                       */
    double *sums;            /* n: sum_j |B_ij|                                  */
    double *p;               /* sets: tests x count                              */
    okra_mat_ BY;            /* intervals: n x d                                 */
    double alpha, *bounds, *radius;
} full;

static void release(full *z)
{
    okra_solved_clear_(&z->solved);
    FREE(z->work, z->diagonal, z->BLii, z->sums, z->BY.p);
}

static okra_status prepare(full *z, bool whole)
{
    okra_conformal_score_ score = z->job->score;
    z->q = score == OKRA_SCORE_DISTANCE_ ? 1 : score == OKRA_SCORE_NORMALIZED_ ? 0.5 : 0;
    return okra_solved_create_(z->job, whole, &z->solved);
}

/* A test input, whatever its output. */
typedef struct row {
    okra_int r;          /* of the block                          */
    const double *u;     /* n                                     */
    double *t, *tau, *e; /* n                                     */
    double *w;           /* n: b_i^-q                             */
    double sigma, kappa; /* 1'u                                   */
    double *base;        /* sets, n: |r_i|^2 without y            */
    double uLu, usum;    /* u'Lu, sum |u|                         */
} row;

static void fill_row(const full *z, okra_int r, double *work, row *w)
{
    okra_int n = z->solved.n;
    double count = (double)n, s = z->block->s[r];
    const double *u = z->block->U.p + r * n;
    bool all = z->job->score == OKRA_SCORE_RESIDUAL_; /* the mean of all n + 1 */
    *w = (row){r, u, work, work + n, work + 2 * n, work + 3 * n, 0, 1, NULL, 0, 0};
    w->sigma = okra_total_(n, u);
    if (z->solved.ones && all) {
        w->kappa = 1 - (1 - w->sigma) / (count + 1);
    }
    for (okra_int i = 0; i < n; i++) {
        double t = u[i] / s;
        double c = z->solved.ones ? z->solved.ones[i] + t * (w->sigma - 1) : 0;
        w->t[i] = t;
        w->e[i] = all ? 0 : c / count;
        w->tau[i] = t + c / (all ? count + 1 : count);
        w->w[i] = pow(z->solved.diagonal[i] + u[i] * t, -z->q);
    }
}

/* ---- sets ---- */

static void fill_norms(const full *z, double *base, row *w)
{
    okra_int n = z->solved.n;
    const double *Lu = z->block->UL.p + w->r * n, *BLu = z->block->MLu.p + w->r * n;
    w->base = base;
    w->uLu = okra_dot_(n, w->u, Lu);
    w->usum += okra_total_abs_(n, w->u);
    for (okra_int i = 0; i < n; i++) {
        double t = w->t[i], e = w->e[i];
        base[i] = z->diagonal[i] + t * (2 * BLu[i] + t * w->uLu);
        if (e != 0) {
            base[i] += e * (2 * (z->BLii[i] + t * Lu[i]) + e * z->solved.L.p[i * n + i]);
        }
        double sizes = z->sums[i] + fabs(t) * w->usum + fabs(w->tau[i]) + fabs(e);
        base[i] += okra_solved_error_(&z->solved, sizes, base[i]);
    }
}

/* |r_i|^2 / b_i^2q; `centered` is known where this is inlined. */
static inline double score2(const row *w, okra_int i, const double *Bl, const double *l,
                            double ul, double self, bool centered)
{
    double meets = Bl[i] + w->t[i] * ul;
    meets += centered ? w->e[i] * l[i] : 0;
    return (w->base[i] + w->tau[i] * (w->tau[i] * self - 2 * meets)) * w->w[i] * w->w[i];
}

/* One candidate of test t: the scores of the pairs against that of (x, y). */
static double p_value(const full *z, okra_int t, okra_int c, const row *w)
{
    const okra_conformal_ *job = z->job;
    okra_int n = z->solved.n, group = okra_conformal_group_(job, t, c), count = 1;
    const double *Bl = z->solved.Mc.p + c * n, *l = z->solved.cross.p + c * n;
    double ul = z->block->Uc.p[w->r * job->count + c], self = z->solved.self[c],
           s = z->block->s[w->r];
    bool centered = z->solved.ones != NULL;
    double own = fmax(w->kappa * (w->kappa * self - 2 * ul) + w->uLu, 0);
    own = fmax(own - okra_solved_error_(&z->solved, fabs(w->kappa) + w->usum, own), 0) /
          (s * s) * pow(s, 2 * z->q) * (1 - 2 * z->block->off[w->r]);
    double more = okra_conformal_test_weight_(job, t), all = more;
    double least = own - OKRA_CONFORMAL_SLACK_ * own;
    if (!job->group && !job->s.weights) { /* all that is asked for as a rule: two loops */
        for (okra_int i = 0; centered && i < n; i++) {
            count += score2(w, i, Bl, l, ul, self, true) >= least;
        }
        for (okra_int i = 0; !centered && i < n; i++) {
            count += score2(w, i, Bl, l, ul, self, false) >= least;
        }
        return (double)count / (double)(n + 1);
    }
    for (okra_int i = 0; i < n; i++) {
        if (okra_conformal_in_(job, i, group)) {
            double v = okra_conformal_weight_(job, i);
            more += score2(w, i, Bl, l, ul, self, centered) >= least ? v : 0;
            all += v;
        }
    }
    return more / all;
}

static okra_status sets_body(void *arg, okra_int begin, okra_int end, int worker)
{
    full *z = arg;
    okra_int count = z->job->count;
    double *work = z->work + worker * z->each;
    row w;
    for (okra_int r = begin; r < end; r++) {
        okra_int t = z->block->first + r;
        fill_row(z, r, work, &w);
        fill_norms(z, work + 4 * z->solved.n, &w);
        for (okra_int c = 0; c < count; c++) {
            z->p[t * count + c] = p_value(z, t, c, &w);
        }
    }
    return OKRA_OK;
}

/* (BLB)_ii and (BL)_ii; one product of n x n with n x n. */
static okra_status diagonal(full *z)
{
    okra_int n = z->solved.n;
    FREED_BY(okra_mat_drop_) okra_mat_ BL = {0};
    MAKE(z->diagonal, n);
    MAKE(z->BLii, n);
    ZMAKE(z->sums, n);
    CHK(okra_mat_room_(z->job->ctx, n, n, "inverse times output Gram matrix", &BL));
    CHK(okra_gemm_(z->job->ctx, false, false, 1, z->solved.B, z->solved.L, 0, BL));
    for (okra_int i = 0; i < n; i++) {
        z->diagonal[i] = okra_dot_(n, BL.p + i * n, z->solved.B.p + i * n);
        z->BLii[i] = BL.p[i * n + i];
        for (okra_int j = 0; j < n; j++) {
            z->sums[i] += fabs(z->solved.B.p[i * n + j]);
        }
    }
    return OKRA_OK;
}

okra_status okra_conformal_full_(const okra_conformal_ *job, double *p)
{
    FREED_BY(release) full z = {.job = job, .p = p};
    CHK(prepare(&z, true));
    okra_int n = z.solved.n;
    CHK(diagonal(&z));
    CHK(okra_solved_candidates_(job, z.solved.B, false, &z.solved));
    z.each = 5 * n;
    MAKE(z.work, okra_workers_(job->ctx) * z.each);
    return okra_solved_walk_(job, &z.solved, &z.block, sets_body, &z);
}

/* ---- vectors ----
 *
 * For one coordinate r_i = a_i - tau_i y is linear in y, and so is r = (kappa y - h) / s,
 * so {y: score_i >= score} is an interval, two rays, a half-line, or all or nothing; the
 * set of all y with p > alpha follows from sorting their ends. Its hull is given.
 *
 * The ball: with z = y - h / kappa, f_i = tau_i s b^q / (kappa b_i^q) and G_i as long as
 * |a_i - tau_i h / kappa| s b^q / (kappa b_i^q), score_i >= score says |G_i - f_i z| >=
 * |z|. No z longer than |G_i| / (1 - |f_i|) does so (|f_i| < 1; else there is no bound).
 * A vector with p > alpha is in enough of these balls, so it is no farther than the order
 * statistic of their radii: the ball with this radius holds the whole set. kappa != 1
 * moves its middle away from the prediction h; the radius grows by as much.
 *
 * Cost: n log n for each test input and coordinate, n d for the ball.
 */

typedef struct change {
    double at;
    double by; /* from here on a pair counts with this weight; below 0: up to here */
} change;

/* Entries first: ends belong to the set. */
OKRA_ORDER_(by_place, change, OKRA_UP_(at), OKRA_DOWN_(by))

/* Ends of {y: |A + b y| >= |M + v y|}, v >= 0, as changes by 1; returns what counts at
 * -infinity. */
static int ends(double A, double b, double M, double v, change *out, int *count)
{
    double minus = v - b, plus = v + b; /* (A - M - minus y) (A + M + plus y) >= 0 */
    *count = 0;
    if (fabs(b) < v * (1 - OKRA_CONFORMAL_SLACK_)) { /* an interval */
        double y1 = (A - M) / minus, y2 = -(M + A) / plus;
        out[0] = (change){fmin(y1, y2), 1};
        out[1] = (change){fmax(y1, y2), -1};
        *count = 2;
        return 0;
    }
    if (fabs(b) > v * (1 + OKRA_CONFORMAL_SLACK_)) { /* all but an open interval */
        double y1 = (A - M) / minus, y2 = -(M + A) / plus;
        out[0] = (change){fmin(y1, y2), -1};
        out[1] = (change){fmax(y1, y2), 1};
        *count = 2;
        return 1;
    }
    if (b == 0) { /* neither depends on y */
        return okra_conformal_least_(fabs(A), fabs(M));
    }
    /* parallel: a half-line, or everything */
    double other = b > 0 ? -(M + A) / plus : (A - M) / minus;
    double far = b > 0 ? A - M : -M - A; /* where the parallel sides differ */
    if (fabs(far) <= OKRA_CONFORMAL_SLACK_ * (fabs(A) + fabs(M))) {
        return 1;
    }
    bool right = far > 0;
    out[0] = (change){other, right ? 1 : -1};
    *count = 1;
    return right ? 0 : 1;
}

/* The hull of {y: own + sum of weights at y > least}, of which `begin` counts at
 * -infinity. */
static void hull(change *list, okra_int count, double begin, double own, double least,
                 double out[2])
{
    double now = own + begin;
    out[0] = out[1] = NAN;
    if (now > least) {
        out[0] = -INFINITY;
    }
    qsort(list, (size_t)count, sizeof *list, by_place);
    for (okra_int k = 0; k < count; k++) {
        bool in = now > least;
        now += list[k].by;
        bool after = now > least;
        if (!in && after && isnan(out[0])) {
            out[0] = list[k].at;
        }
        if (in && !after) {
            out[1] = list[k].at;
        }
    }
    if (now > least) {
        out[1] = INFINITY;
    }
}

/* Coordinate j: pair i is compared with v (kappa y - h), v = b^(1 - q). */
static void one_interval(const full *z, const row *w, okra_int j, double v, double own,
                         double least, change *list)
{
    okra_int d = z->solved.d, count = 0, t = z->block->first + w->r;
    okra_int group = okra_conformal_group_(z->job, t, 0);
    double h = z->block->UY.p[w->r * d + j], begin = 0;
    double sign = w->kappa < 0 ? -1 : 1, *out = z->bounds + (t * d + j) * 2;
    for (okra_int i = 0; i < z->solved.n; i++) {
        if (okra_conformal_in_(z->job, i, group)) {
            okra_int at = i * d + j;
            double a = z->BY.p[at] + w->e[i] * z->solved.Y.p[at] + w->t[i] * h;
            double weight = okra_conformal_weight_(z->job, i);
            int more = 0;
            begin += weight * ends(a * w->w[i], -w->tau[i] * w->w[i], -sign * v * h,
                                   sign * v * w->kappa, list + count, &more);
            for (; more > 0; more--) {
                list[count++].by *= weight;
            }
        }
    }
    double at = w->kappa != 0 ? h / w->kappa : h; /* nothing is left but r = 0 */
    hull(list, count, begin, own, least, out);
    out[0] = (isnan(out[0]) ? at : out[0]) + z->solved.mean[j];
    out[1] = (isnan(out[1]) ? at : out[1]) + z->solved.mean[j];
}

/* How far a vector can be that pair i is at least as far from: see above. */
static double reach(const full *z, const row *w, okra_int i, const double *h,
                    double scale)
{
    double f = fabs(w->tau[i]) * w->w[i] / scale, G2 = 0;
    for (okra_int j = 0; j < z->solved.d; j++) {
        okra_int at = i * z->solved.d + j;
        double g = z->BY.p[at] + w->e[i] * z->solved.Y.p[at] +
                   (w->t[i] - w->tau[i] / w->kappa) * h[j];
        G2 += g * g;
    }
    return f < 1 - OKRA_CONFORMAL_SLACK_ ? sqrt(G2) * w->w[i] / scale / (1 - f)
                                         : (double)INFINITY;
}

static double one_radius(const full *z, const row *w, double v, double own, double least,
                         change *list)
{
    okra_int d = z->solved.d, k = 0;
    okra_int group = okra_conformal_group_(z->job, z->block->first + w->r, 0);
    const double *h = z->block->UY.p + w->r * d;
    double kappa = w->kappa, apart = 0, most = 0, now = own;
    if (kappa == 0 || now > least) {
        return INFINITY;
    }
    for (okra_int j = 0; j < d; j++) {
        double e = h[j] / kappa - h[j];
        apart += e * e;
    }
    for (okra_int i = 0; i < z->solved.n; i++) {
        if (okra_conformal_in_(z->job, i, group)) {
            list[k++] = (change){reach(z, w, i, h, fabs(kappa) * v),
                                 okra_conformal_weight_(z->job, i)};
        }
    }
    qsort(list, (size_t)k, sizeof *list, by_place);
    while (k > 0 && now <= least) { /* from the farthest inwards */
        most = list[--k].at;
        now += list[k].by;
    }
    return (now > least ? most : 0) + sqrt(apart);
}

static okra_status intervals_body(void *arg, okra_int begin, okra_int end, int worker)
{
    full *z = arg;
    okra_int n = z->solved.n;
    double *work = z->work + worker * z->each;
    change *list = (change *)(void *)(work + 4 * n);
    row w;
    for (okra_int r = begin; r < end; r++) {
        okra_int t = z->block->first + r, group = okra_conformal_group_(z->job, t, 0);
        double s = z->block->s[r], v = pow(s, z->q) / s;
        double own = okra_conformal_test_weight_(z->job, t), sum = own;
        for (okra_int i = 0; i < n; i++) {
            bool in = okra_conformal_in_(z->job, i, group);
            sum += in ? okra_conformal_weight_(z->job, i) : 0;
        }
        /* a hair more: a share of exactly alpha must not be lost to rounding */
        double least = sum * z->alpha * (1 + 1e-12);
        fill_row(z, r, work, &w);
        for (okra_int j = 0; j < z->solved.d; j++) {
            one_interval(z, &w, j, v, own, least, list);
        }
        if (z->radius) {
            z->radius[t] = one_radius(z, &w, v, own, least, list);
        }
    }
    return OKRA_OK;
}

okra_status okra_conformal_full_intervals_(const okra_conformal_ *job, double alpha,
                                           double *bounds, double *radius)
{
    FREED_BY(release)
    full z = {.job = job, .alpha = alpha, .bounds = bounds, .radius = radius};
    CHK(prepare(&z, false));
    okra_int n = z.solved.n, d = z.solved.d;
    CHK(okra_mat_room_(job->ctx, n, d, "the solved outputs", &z.BY));
    CHK(okra_mat_copy_(z.solved.Y, z.BY));
    CHK(okra_solution_solve_(job->ctx, &z.solved.fitted, job->model->training->bound_x,
                             z.BY));
    z.each = n * (okra_int)(4 + 2 * sizeof(change) / sizeof(double));
    MAKE(z.work, okra_workers_(job->ctx) * z.each);
    return okra_solved_walk_(job, &z.solved, &z.block, intervals_body, &z);
}
