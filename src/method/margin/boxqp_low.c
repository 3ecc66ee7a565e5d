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
 *   2. a step on the face of the variables F strictly inside the box:
 *          (Q_FF + tau I) s = 1 - g_F
 *      by conjugate gradients (two products a step) or, where that takes less, a Cholesky
 *      factor; a_F + t s put back into the box for t = 1, 1/4, ..., and the best point on
 *      the way there, which is a quadratic of one variable. tau falls tenfold where that
 *      went well and rises where it did not, so that a face on which Q is singular does
 * no harm (Moré and Toraldo 1991, with the damping of Levenberg and Marquardt). The f
 *      rows of F are kept side by side where they fit.
 *   3. A from a and g from A afresh, and the gap.
 *
 * Cost: 2 n m d a round, 4 m d + B (m + d) a variable swept, 4 m d a variable of F and
 * step of conjugate gradients, or f^2 (m + d) + f^3/3 for all f of F. Rounds: 6 to 15
 * where a good part of the variables ends at a bound, up to a hundred where the outputs
 * are noise and lambda is small. Memory: m d + 7 n + B^2 doubles beside the factors, and
 * for each thread a tile of Q.
 * The same seed and number of threads give the same bits.
 */
#include "method/margin/margin.h"

enum {
    ROUNDS_MOST = 300,
    STALLED = 4, /* rounds without any gain: rounding ends it here */
    PASSES = 5,  /* within a block                                 */
    BLOCK_LEAST = 64,
    BLOCK_MOST = 256, /* the passes, which one thread does, stay a small part */
    TILE = 128,       /* of the form of a block, which threads share          */
    TILE_OF_FACE = 256,
    CG_MOST = 200,
    TRIES = 6 /* of t */
};

static const double SHARE = 1e-3;  /* of the worst violation: below it waits      */
static const double ROUGH = 1e-2;  /* residual of s while bounds are being met, */
static const double FINE = 1e-6;   /* and where the face is settled             */
static const double DAMPED = 1e-2; /* tau at first, in units of the mean diagonal */

typedef struct solver {
    okra_context *ctx;
    okra_factors_ *f;
    okra_int n, m, d, block;
    double lambda, tau, mean; /* mean: of the diagonal of Q                   */
    double usual;             /* steps of conjugate gradients, the last time  */
    double *a, *g;
    double *A, *X; /* m x d: of a, of a direction */
    double *M;     /* block x d                   */
    double *Q;     /* block x block               */
    okra_int side;
    double *G;       /* side x side for each worker */
    okra_int *order; /* n: variables of a sweep, or of a face */
    double *r, *p, *q, *s, *gF;
    double *b;    /* block: a and g of a block   */
    bool settled; /* the face was not left last time */
    okra_random_ random;
    okra_boxqp_report_ report;
} solver;

/* Some rows: `index` of f, or all of f. */
typedef struct rows {
    okra_factors_ *f;
    const okra_int *index;
    okra_int count;
} rows;

OKRA_CLEARS_(clear, solver, it->g, it->X, it->M, it->Q, it->G, it->order, it->r, it->p,
             it->q, it->s, it->gF, it->b)

/* The Gram matrix of a block costs B (m + d) a row, the rest 4 m d. */
static okra_int block_of(okra_int m, okra_int d)
{
    okra_int even = 8 * m * d / OKRA_MAX_(m + d, 1);
    return OKRA_MAX_(BLOCK_LEAST, OKRA_MIN_(even, BLOCK_MOST));
}

double okra_boxqp_low_doubles_(const okra_context *ctx, okra_int n, okra_int m,
                               okra_int d)
{
    double B = (double)block_of(m, d), side = fmin(B, TILE);
    return 7 * (double)n + (double)m * (double)d + B * (double)d + B * B + 2 * B +
           okra_workers_(ctx) * side * side;
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
    CHK(okra_doubles_(s->ctx, s->block, d, "a block of the margin", &s->M));
    CHK(okra_doubles_(s->ctx, s->block, s->block, "a block of the margin", &s->Q));
    s->side = OKRA_MIN_(TILE, s->block);
    CHK(okra_doubles_(s->ctx, okra_workers_(s->ctx) * s->side, s->side,
                      "a block of the margin", &s->G));
    for (okra_int i = 0; i < n; i++) {
        s->mean += s->f->square[i] / (2 * s->lambda) / (double)n;
        s->a[i] = fmin(fmax(s->a[i], 0), 1);
    }
    s->tau = DAMPED * s->mean;
    s->usual = 50; /* taken for granted before the first time */
    return OKRA_OK;
}

/* ---- the two products ---- */

typedef struct product {
    solver *s;
    const double *v; /* by place */
    double *A, *to;
} product;

/* T <- diag(v) Psi */
static void weigh(const double *v, okra_mat_ Psi, okra_mat_ T)
{
    for (okra_int i = 0; i < T.rows; i++) {
        for (okra_int j = 0; j < T.cols; j++) {
            T.p[i * T.ld + j] = v[i] * Psi.p[i * Psi.ld + j];
        }
    }
}

static okra_status weigh_rows(void *arg, const okra_factors_some_ *z)
{
    const product *p = arg;
    weigh(p->v + z->place, z->Psi, z->T);
    return OKRA_OK;
}

/* to (m x d) <- Phi' diag(v) Psi / (2 lambda), v by place */
static okra_status gather(solver *s, rows z, const double *v, double *to)
{
    product p = {s, v, NULL, NULL};
    return okra_factors_each_(z.f, z.index, z.count, weigh_rows, &p, 0.5 / s->lambda, to);
}

/* to_i <- phi_i' A psi_i of a block */
static okra_status look_block(solver *s, okra_mat_ Phi, okra_mat_ Psi, double *A,
                              okra_mat_ T, double *to)
{
    CHK(okra_gemm_(s->ctx, false, false, 1, Phi, okra_mat_of_(A, s->m, s->d), 0, T));
    for (okra_int i = 0; i < T.rows; i++) {
        to[i] = okra_dot_(s->d, T.p + i * s->d, Psi.p + i * Psi.ld);
    }
    return OKRA_OK;
}

static okra_status look_rows(void *arg, const okra_factors_some_ *z)
{
    const product *p = arg;
    return look_block(p->s, z->Phi, z->Psi, p->A, z->T, p->to + z->place);
}

/* to_i <- phi_i' A psi_i, by place */
static okra_status look(solver *s, rows z, double *A, double *to)
{
    product p = {s, NULL, A, to};
    return okra_factors_each_(z.f, z.index, z.count, look_rows, &p, 1, NULL);
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
    CHK(gather(s, (rows){s->f, count < s->n ? s->order : NULL, count}, s->p, s->A));
    if (count > 0) {
        CHK(look(s, (rows){s->f, NULL, s->n}, s->A, s->g));
    } else {
        okra_mat_fill_(okra_mat_of_(s->g, s->n, 1), 0);
    }
    for (okra_int i = 0; i < s->n; i++) {
        hinge += fmax(0, 1 - s->g[i]);
        scale += 1 + fabs(1 - s->g[i]);
    }
    double half = s->lambda * okra_dot_(s->m * s->d, s->A, s->A);
    s->report.dual = sum - half;
    s->report.gap = hinge + half - s->report.dual;
    s->report.goal = okra_gap_goal_(tolerance, s->report.dual, scale);
    s->report.converged = s->report.gap <= s->report.goal;
    return OKRA_OK;
}

/* ---- a sweep by blocks ---- */

typedef struct block {
    solver *s;
    okra_mat_ Phi, Psi, Q;
    okra_int side, tiles; /* rows of a tile of Q, tiles in a row of them */
    double *G;            /* side x side for each worker                 */
    double *g;            /* NULL: not wanted                            */
} block;

static okra_int rows_of(const block *b, okra_int tile)
{
    return OKRA_MIN_(b->side, b->Phi.rows - tile * b->side);
}

static okra_mat_ some_rows(const block *b, okra_mat_ A, okra_int tile)
{
    return okra_mat_part_(A, tile * b->side, rows_of(b, tile), 0, A.cols);
}

/* Tile i, j of the lower triangle of Q, and its mirror image. */
static okra_status one_tile(const block *b, okra_int i, okra_int j, double *G)
{
    okra_context *ctx = b->s->ctx;
    okra_int r = rows_of(b, i), c = rows_of(b, j), ld = b->Q.ld;
    double half = 0.5 / b->s->lambda, *to = b->Q.p + i * b->side * ld + j * b->side;
    double *across = b->Q.p + j * b->side * ld + i * b->side;
    okra_mat_ Qm = {to, r, c, ld}, Gm = okra_mat_of_(G, r, c);
    if (i == j) {
        CHK(okra_syrk_(ctx, false, half, some_rows(b, b->Phi, i), 0, Qm));
        CHK(okra_syrk_(ctx, false, 1, some_rows(b, b->Psi, i), 0, Gm));
    } else {
        CHK(okra_gemm_(ctx, false, true, half, some_rows(b, b->Phi, i),
                       some_rows(b, b->Phi, j), 0, Qm));
        CHK(okra_gemm_(ctx, false, true, 1, some_rows(b, b->Psi, i),
                       some_rows(b, b->Psi, j), 0, Gm));
    }
    for (okra_int k = 0; k < r; k++) {
        for (okra_int l = 0; l < c; l++) {
            to[k * ld + l] *= G[k * c + l];
        }
    }
    return i == j ? OKRA_OK : okra_mat_transpose_(Qm, (okra_mat_){across, c, r, ld});
}

/* First what g needs, a tile of rows each, then the tiles of Q. */
static okra_status some_tiles(void *arg, okra_int begin, okra_int end, int worker)
{
    const block *b = arg;
    solver *s = b->s;
    for (okra_int k = begin; k < end; k++) {
        okra_int at = b->g ? k - b->tiles : k, i = 0;
        if (at < 0) {
            CHK(look_block(s, some_rows(b, b->Phi, k), some_rows(b, b->Psi, k), s->A,
                           okra_mat_of_(s->M + k * b->side * s->d, rows_of(b, k), s->d),
                           b->g + k * b->side));
            continue;
        }
        while ((i + 1) * (i + 2) / 2 <= at) {
            i++;
        }
        CHK(one_tile(b, i, at - i * (i + 1) / 2, b->G + worker * b->side * b->side));
    }
    return OKRA_OK;
}

static okra_status look_and_gram(block *b)
{
    double n = (double)b->Phi.rows, m = (double)b->s->m, d = (double)b->s->d;
    b->tiles = (b->Phi.rows + b->side - 1) / b->side;
    okra_int count = b->tiles * (b->tiles + 1) / 2 + (b->g ? b->tiles : 0);
    return okra_parallel_least_(b->s->ctx, n * (n * (m + d) + (b->g ? 2 * m * d : 0)),
                                count, 1, NULL, some_tiles, b);
}

/* Q <- (Phi Phi') o (Psi Psi') / (2 lambda), by tiles, for each worker one beside Q. */
static okra_status free_gram(solver *s, okra_mat_ Phi, okra_mat_ Psi, okra_mat_ Q)
{
    block b = {.s = s, .Phi = Phi, .Psi = Psi, .Q = Q};
    OWNED double *G = NULL;
    b.side = OKRA_MIN_(Phi.rows, TILE_OF_FACE);
    CHK(okra_doubles_(s->ctx, okra_workers_(s->ctx) * b.side, b.side,
                      "the margin solver's free block", &G));
    b.G = G;
    return look_and_gram(&b);
}

/* A <- A + Phi'T / (2 lambda), by rows of A */
static okra_status add_strip(void *arg, okra_int begin, okra_int end, int worker)
{
    const block *b = arg;
    solver *s = b->s;
    return okra_gemm_(s->ctx, true, false, 0.5 / s->lambda,
                      okra_mat_part_(b->Phi, 0, b->Phi.rows, begin, end - begin),
                      okra_mat_of_(s->M, b->Phi.rows, s->d), 1,
                      okra_mat_of_(s->A + begin * s->d, end - begin, s->d));
}

static okra_status one_block(solver *s, const okra_int *index, okra_int count)
{
    block b = {.s = s, .side = s->side, .G = s->G, .g = s->b + count};
    double *a = s->b, *g = b.g, moved = 0;
    bool together = s->f->parts == 1; /* all threads in one product, or there is one */
    b.Q = okra_mat_of_(s->Q, count, count);
    okra_factors_rows_(s->f, index, 0, count, 0, &b.Phi, &b.Psi);
    if (together) {
        CHK(look_block(s, b.Phi, b.Psi, s->A, okra_mat_of_(s->M, count, s->d), g));
        b.g = NULL;
    }
    CHK(look_and_gram(&b));
    for (okra_int k = 0; k < count; k++) {
        a[k] = s->a[index[k]];
    }
    okra_boxqp_sweep_(b.Q, PASSES, a, g);
    for (okra_int k = 0; k < count; k++) {
        g[k] = a[k] - s->a[index[k]];
        moved += fabs(g[k]);
        s->a[index[k]] = a[k];
    }
    if (moved > 0) {
        weigh(g, b.Psi, okra_mat_of_(s->M, count, s->d));
        CHK(together
                ? add_strip(&b, 0, s->m, 0)
                : okra_parallel_least_(s->ctx, 2 * (double)count * (double)(s->m * s->d),
                                       s->m, TILE, NULL, add_strip, &b));
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

/* ---- a step on the face ---- */

/* s <- (Q_FF + tau I)^-1 (1 - g_F) by a Cholesky factor; *found = false: it has none. */
static okra_status factorise(solver *s, const okra_factors_ *F, bool *found)
{
    okra_int n = F->n;
    FREED_BY(okra_mat_drop_) okra_mat_ Q = {0};
    CHK(okra_mat_room_(s->ctx, n, n, "the margin solver's free block", &Q));
    CHK(free_gram(s, okra_mat_of_(F->Phi.memory, n, F->m),
                  okra_mat_of_(F->Psi.memory, n, F->d), Q));
    for (okra_int k = 0; k < n; k++) {
        s->s[k] = 1 - s->gF[k];
        Q.p[k * n + k] += s->tau;
    }
    /* jitter on a semi-definite block is expected here, not news */
    okra_status st = okra_cholesky_quiet_(s->ctx, Q, NULL);
    *found = st == OKRA_OK;
    CHK(st == OKRA_ENUMERIC ? OKRA_OK : st);
    return *found ? okra_cholesky_solve_(s->ctx, Q, okra_mat_of_(s->s, n, 1)) : OKRA_OK;
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
        CHK(gather(s, F, s->p, s->X));
        CHK(look(s, F, s->X, s->q));
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
    double left = (double)okra_memory_left_(s->ctx), side = fmin(f, TILE_OF_FACE);
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
    CHK(gather(s, F, s->p, s->X));
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
    okra_axpy_(s->m * s->d, share, s->X, s->A);
}

/* a and A become better. */
static okra_status step_on_face(solver *s)
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
    rows F = {kept.Phi.p ? &kept : s->f, kept.Phi.p ? NULL : s->order, count};
    CHK(look(s, F, s->A, s->gF));
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
        CHK(step_on_face(&s));
        CHK(measure(&s, tolerance));
        s.report.steps++;
        stalled = s.report.dual > before ? 0 : stalled + 1;
    }
    *report = s.report;
    return OKRA_OK;
}
