/*
 * full_intervals.c: full conformal prediction of vectors; full.c has the equations, with
 * phi(y) = y.
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
#include "conformal/full.h"

#include <math.h>
#include <stdlib.h>

typedef struct full {
    const okra_conformal_job_ *job;
    okra_solved_ solved;
    const okra_bordered_ *block;
    double *BY, *UY; /* n x d, rows x d                                  */
    double *work;    /* a worker: n pairs, 2 n changes                   */
    okra_int each;   /* numbers of it for a worker                       */
    double alpha, *bounds, *radius;
} full;

/* Pair i at a test input: what it is compared with is v (kappa y - h). */
typedef struct pair {
    okra_int i;
    double t, e, tau, w; /* w = b_i^-q         */
    double weight;       /* of covariate shift */
} pair;

/* A test input, its pairs of the same group. */
typedef struct against {
    pair *pairs;
    okra_int count;
    double kappa, v;   /* v = b^(1 - q)                                   */
    double own, least; /* its weight; p > alpha: the sum of weights is above it */
} against;

typedef struct change {
    double at;
    double by; /* from here on a pair counts with this weight; below 0: up to here */
} change;

/* Their sizes in doubles. */
enum { PAIR = sizeof(pair) / sizeof(double), CHANGE = sizeof(change) / sizeof(double) };

static int by_place(const void *a, const void *b)
{
    const change *p = a, *q = b;
    return p->at < q->at   ? -1
           : p->at > q->at ? 1
                           /* entries first: ends belong to the set */
                           : (q->by > p->by) - (q->by < p->by);
}

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

static void one_interval(const full *z, okra_int r, okra_int j, const against *row,
                         change *list)
{
    okra_int d = z->solved.d, count = 0;
    double h = z->UY[r * d + j], sign = row->kappa < 0 ? -1 : 1, begin = 0;
    for (okra_int k = 0; k < row->count; k++) {
        const pair *p = &row->pairs[k];
        okra_int at = p->i * d + j;
        double a = z->BY[at] + p->e * z->solved.Y[at] + p->t * h;
        int more = 0;
        begin += p->weight * ends(a * p->w, -p->tau * p->w, -sign * row->v * h,
                                  sign * row->v * row->kappa, list + count, &more);
        for (; more > 0; more--) {
            list[count++].by *= p->weight;
        }
    }
    double *out = z->bounds + ((z->block->first + r) * d + j) * 2;
    double at = row->kappa != 0 ? h / row->kappa : h; /* nothing is left but r = 0 */
    hull(list, count, begin, row->own, row->least, out);
    out[0] = (isnan(out[0]) ? at : out[0]) + z->solved.mean[j];
    out[1] = (isnan(out[1]) ? at : out[1]) + z->solved.mean[j];
}

/* How far a vector can be that pair p is at least as far from: see above. */
static double reach(const full *z, const pair *p, const double *h, double kappa,
                    double scale)
{
    double f = fabs(p->tau) * p->w / scale, G2 = 0;
    for (okra_int j = 0; j < z->solved.d; j++) {
        okra_int at = p->i * z->solved.d + j;
        double g = z->BY[at] + p->e * z->solved.Y[at] + (p->t - p->tau / kappa) * h[j];
        G2 += g * g;
    }
    return f < 1 - OKRA_CONFORMAL_SLACK_ ? sqrt(G2) * p->w / scale / (1 - f)
                                         : (double)INFINITY;
}

static void one_radius(const full *z, okra_int r, const against *row, change *list)
{
    okra_int d = z->solved.d, k = row->count;
    const double *h = z->UY + r * d;
    double kappa = row->kappa, apart = 0, most = 0, now = row->own;
    double *out = z->radius + z->block->first + r;
    if (kappa == 0 || now > row->least) {
        *out = INFINITY;
        return;
    }
    for (okra_int j = 0; j < d; j++) {
        double v = h[j] / kappa - h[j];
        apart += v * v;
    }
    for (okra_int i = 0; i < k; i++) {
        const pair *p = &row->pairs[i];
        list[i] = (change){reach(z, p, h, kappa, fabs(kappa) * row->v), p->weight};
    }
    qsort(list, (size_t)k, sizeof *list, by_place);
    while (k > 0 && now <= row->least) { /* from the farthest inwards */
        most = list[--k].at;
        now += list[k].by;
    }
    *out = (now > row->least ? most : 0) + sqrt(apart);
}

/* The pairs of the test input's group. */
static void fill_row(const full *z, okra_int r, against *row)
{
    const okra_conformal_job_ *job = z->job;
    okra_int n = z->solved.n, group = okra_conformal_group_(job, z->block->first + r, 0);
    const double *u = z->block->U + r * n;
    double s = z->block->s[r], q = okra_full_power_(job), sigma = 0;
    for (okra_int i = 0; i < n; i++) {
        sigma += u[i];
    }
    row->kappa = okra_full_kappa_(job, &z->solved, sigma);
    row->v = pow(s, q) / s;
    row->count = 0;
    row->own = okra_conformal_test_weight_(job, z->block->first + r);
    row->least = row->own;
    for (okra_int i = 0; i < n; i++) {
        if (okra_conformal_in_(job, i, group)) {
            double t = u[i] / s;
            okra_moved_ m = okra_full_move_(job, &z->solved, i, t, sigma);
            row->pairs[row->count++] = (pair){i,
                                              t,
                                              m.e,
                                              m.tau,
                                              pow(z->solved.B[i * n + i] + u[i] * t, -q),
                                              okra_conformal_weight_(job, i)};
            row->least += okra_conformal_weight_(job, i);
        }
    }
    /* a hair more: a share of exactly alpha must not be lost to rounding */
    row->least *= z->alpha * (1 + 1e-12);
}

static okra_status intervals_body(void *arg, okra_int begin, okra_int end, int worker)
{
    full *z = arg;
    double *work = z->work + worker * z->each;
    against row = {.pairs = (pair *)(void *)work};
    change *list = (change *)(void *)(work + z->solved.n * PAIR);
    for (okra_int r = begin; r < end; r++) {
        fill_row(z, r, &row);
        for (okra_int j = 0; j < z->solved.d; j++) {
            one_interval(z, r, j, &row, list);
        }
        if (z->radius) {
            one_radius(z, r, &row, list);
        }
    }
    return OKRA_OK;
}

static okra_status intervals_block(void *user, const okra_bordered_ *b)
{
    full *z = user;
    okra_context *ctx = z->job->ctx;
    okra_int n = z->solved.n, d = z->solved.d;
    z->block = b;
    CHK(okra_gemm_(ctx, false, false, 1, okra_mat_of_(b->U, b->m, n),
                   okra_mat_of_(z->solved.Y, n, d), 0, okra_mat_of_(z->UY, b->m, d)));
    return okra_parallel_(ctx, b->m, 1, "intervals", intervals_body, z);
}

okra_status okra_conformal_full_intervals_(const okra_conformal_job_ *job, double alpha,
                                           double *bounds, double *radius)
{
    okra_status st = OKRA_OK;
    full z = {.job = job, .alpha = alpha, .bounds = bounds, .radius = radius};
    TRY(okra_solved_create_(job, &z.solved));
    okra_int n = z.solved.n, d = z.solved.d;
    TRY(okra_doubles_(job->ctx, n, d, "the solved outputs", &z.BY));
    TRY(okra_doubles_(job->ctx, OKRA_MIN_(job->tests, 256), d, "predictions", &z.UY));
    TRY(okra_gemm_(job->ctx, false, false, 1, okra_mat_of_(z.solved.B, n, n),
                   okra_mat_of_(z.solved.Y, n, d), 0, okra_mat_of_(z.BY, n, d)));
    z.each = n * (PAIR + 2 * CHANGE);
    ALLOC(z.work, okra_workers_(job->ctx) * z.each);
    TRY(okra_solved_walk_(job, &z.solved, intervals_block, &z));
done:
    okra_solved_clear_(&z.solved);
    FREE(z.BY, z.UY, z.work);
    return st;
}
