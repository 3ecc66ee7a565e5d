/*
 * dual.c: regression with a loss of the distance in the output feature space,
 *
 *     min_h  sum_i L(|y_i - h(x_i)|) + lambda_1 |h|^2 (+ 2 lambda_2 smoothness)
 *     epsilon:  L(r) = max(0, r - epsilon)
 *     huber:    L(r) = r^2 for r <= delta, 2 delta r - delta^2 beyond (delta -> infinity:
 *               ridge)
 *
 * by its dual (Brouard et al. 2016, appendix B, eq. 14 and B.2): vectors alpha_i with
 *     h(x_i) = H_i = sum_k g S_ik alpha_k / 2,
 *     max  sum_i [ <alpha_i, y_i> - L*(alpha_i) ] - sum_i <alpha_i, H_i> / 2
 *     L*(a) = epsilon |a|, |a| <= 1    or    |a|^2 / 4, |a| <= 2 delta
 * in coordinates in which the operator is diagonal: g_j and S^(j) for coordinate j.
 *
 * Block coordinate descent: alpha_i alone maximises with v = y_i - H_i + D alpha_i, D_j =
 * g_j S^(j)_ii / 2,
 *     epsilon:  alpha = v / (D + rho), rho = epsilon / |alpha|, or |alpha| = 1; 0 if
 *               |v| <= epsilon
 *     huber:    alpha = v / (D + rho), rho = 1/2, or |alpha| = 2 delta
 * one secular equation sum_j (v_j / (p_j t + q_j))^2 = r^2: its left side to the power
 * -1/2 is concave in t, so Newton's method from below climbs to the root; where all D_j
 * are equal (identity operator) the first step is exact.
 *
 * A pair of weight u has u L: L* is epsilon |a| up to |a| = u, or |a|^2 / 4 u up to 2
 * delta u, so that rho within delta is 1 / 2 u.
 *
 * The gap P - D, P = sum L(|y_i - H_i|) + sum <alpha_i, H_i> / 2, is measured with H
 * computed afresh. Cost: n^2 q a sweep; H follows a group of blocks at once, by a product
 * of matrices, and within the group block by block. Sweeps alone converge slowly where
 * lambda is small; dual_solve.c says how both are used, with a `ridge` on the diagonal of
 * g S / 2.
 *
 * Newton's method moves all blocks together.
 *
 * With G = g S / 2 (n x n, one for all coordinates or one a coordinate) the conditions of
 * optimality are, with one number rho_i a block,
 *     (G alpha)_i + rho_i alpha_i = y_i
 *     bounded:          |alpha_i| = s                  (s = 1, or 2 delta)
 *     epsilon, between: rho_i |alpha_i| = epsilon      (epsilon = 0: rho_i = 0)
 *     huber, within:    rho_i = 1/2
 *     epsilon, inside:  alpha_i = 0
 * Which holds for which block is what the block alone would choose. Linearised
 * at (alpha, rho), T = (G + diag(rho))^-1 over the blocks that are not 0:
 *     alpha+ = T (Y - diag(drho) alpha)
 *     bounded:   <alpha_i, alpha+_i> = (s^2 + |alpha_i|^2) / 2
 *     between:   <alpha_i, alpha+_i> + drho_i |alpha_i|^2 / rho_i = epsilon |alpha_i| /
 * rho_i so that drho solves a system with one unknown a block, (T o alpha alpha' -
 * diag(|alpha_i|^2 / rho_i, between)) drho = (<alpha_i, (T Y)_i> - right-hand side)_i,
 * where T o alpha alpha' stands for sum_j T^(j)_ik alpha_ij alpha_kj. drho = 0 would be
 * iteratively reweighted least squares. Cost: n^3 for T (a coordinate, where operators
 * have many eigenvalues) and 2/3 n^3 for drho; memory 3 n^2 + n q.
 */
#include "method/margin/margin.h"

enum { NEWTON_MOST = 60 };

/* ---- the secular equation ---- */

typedef struct secular {
    okra_int q;
    const double *v, *D;
    double shift; /* epsilon when t multiplies D */
    bool scales;  /* terms v / (D t + shift), else v / (D + t) */
} secular;

/* sum_j (v_j / (p_j t + q_j))^2 and its derivative. */
static double squares(const secular *s, double t, double *slope)
{
    double sum = 0;
    *slope = 0;
    for (okra_int j = 0; j < s->q; j++) {
        double p = s->scales ? s->D[j] : 1;
        double below = s->scales ? s->D[j] * t + s->shift : s->D[j] + t;
        double a = s->v[j] / below;
        if (s->v[j] != 0) {
            sum += a * a;
            *slope -= 2 * a * a * p / below;
        }
    }
    return sum;
}

/* The t >= start at which the root of the squares is r. */
static double root(const secular *s, double start, double r)
{
    double t = start;
    for (int k = 0; k < NEWTON_MOST; k++) {
        double slope, f = squares(s, t, &slope);
        if (!(f > r * r) || slope == 0) {
            break;
        }
        double step = 2 * f / slope * (1 - sqrt(f) / r);
        if (!(step > 0) || t + step == t) {
            break;
        }
        t += step;
    }
    return t;
}

static double norm(okra_int q, const double *v)
{
    return sqrt(okra_dot_(q, v, v));
}

/* rho >= least with |v / (D + rho)| = r. Every term alone is at most r, which bounds rho
 * from below also where some D_j = 0. */
static double bounded(const secular *s, double least, double r)
{
    double highest = 0;
    for (okra_int j = 0; j < s->q; j++) {
        least = fmax(least, fabs(s->v[j]) / r - s->D[j]);
        highest = fmax(highest, s->D[j]);
    }
    return root(s, fmax(least, norm(s->q, s->v) / r - highest), r);
}

/* rho with alpha = v / (D + rho); infinity: alpha = 0. */
static double shrinkage(const okra_dual_ *dual, okra_int i, const double *v,
                        const double *D)
{
    secular s = {dual->q, v, D, dual->width, false};
    double slope, most = okra_dual_most_(dual, i), weight = okra_dual_weight_(dual, i);
    if (dual->loss == OKRA_LOSS_HUBER_) {
        double within = 0.5 / weight;
        return squares(&s, within, &slope) <= most * most ? within
                                                          : bounded(&s, within, most);
    }
    if (norm(dual->q, v) <= dual->width) {
        return INFINITY;
    }
    if (squares(&s, dual->width / weight, &slope) >= most * most) {
        return bounded(&s, dual->width / weight, most);
    }
    s.scales = true;
    return dual->width > 0 ? dual->width / root(&s, 0, 1) : 0;
}

/* ---- sweeps ---- */

static double factor(const okra_dual_ *d, okra_int j)
{
    return d->g ? d->g[j] : 1;
}

double okra_dual_form_(const okra_dual_ *dual, okra_int j, const double **form)
{
    *form = dual->S[dual->count > 1 ? j : 0];
    return factor(dual, j) / 2;
}

void okra_dual_shrinkage_(const okra_dual_ *dual, const double *alpha, const double *H,
                          okra_int i, double *v, double *D, double *rho)
{
    const double *a = alpha + i * dual->q;
    for (okra_int j = 0; j < dual->q; j++) {
        const double *S;
        D[j] = okra_dual_form_(dual, j, &S) * S[i * dual->n + i] + dual->ridge;
        v[j] = dual->Y[i * dual->q + j] - H[i * dual->q + j] + D[j] * a[j];
    }
    *rho = shrinkage(dual, i, v, D);
}

/* Rows begin..end-1 of H follow the steps of the `count` blocks from `first`. */
static okra_status follow(okra_context *ctx, const okra_dual_ *d, okra_int first,
                          okra_int count, const double *step, okra_int begin,
                          okra_int end, double *H)
{
    okra_int n = d->n, q = d->q, rows = end - begin;
    if (d->count == 1 && count > 1) {
        return okra_gemm_(ctx, true, false, 1,
                          okra_mat_view_(d->S[0] + first * n + begin, count, rows, n),
                          okra_mat_view_(step, count, q, q), 1,
                          okra_mat_of_(H + begin * q, rows, q));
    }
    for (okra_int i = 0; i < count; i++, step += q) {
        for (okra_int k = begin; k < end; k++) {
            const double *S = d->S[0] + (first + i) * n + k;
            for (okra_int j = 0; j < q; j++) {
                H[k * q + j] +=
                    (d->count == 1 ? *S : d->S[j][(first + i) * n + k]) * step[j];
            }
        }
    }
    return OKRA_OK;
}

/* alpha_i <- its best, H_i its own part; step: what the others are to follow. */
static bool one_block(const okra_dual_ *d, double *alpha, double *H, okra_int i,
                      double *v, double *D, double *step)
{
    double *a = alpha + i * d->q, moved = 0, rho;
    okra_dual_shrinkage_(d, alpha, H, i, v, D, &rho);
    for (okra_int j = 0; j < d->q; j++) {
        double fresh = v[j] == 0 || isinf(rho) ? 0 : v[j] / (D[j] + rho);
        H[i * d->q + j] += d->ridge * (fresh - a[j]);
        step[j] = factor(d, j) * (fresh - a[j]) / 2;
        moved += fabs(fresh - a[j]);
        a[j] = fresh;
    }
    return moved > 0;
}

okra_status okra_dual_sweep_(okra_context *ctx, const okra_dual_ *d, double *alpha,
                             double *H, double *v, double *D, double *step)
{
    for (okra_int first = 0; first < d->n; first += OKRA_DUAL_GROUP_) {
        okra_int end = OKRA_MIN_(first + OKRA_DUAL_GROUP_, d->n);
        for (okra_int i = first; i < end; i++) {
            double *own = step + (i - first) * d->q;
            if (one_block(d, alpha, H, i, v, D, own)) {
                CHK(follow(ctx, d, i, 1, own, first, end, H));
            }
        }
        CHK(follow(ctx, d, first, end - first, step, 0, first, H));
        CHK(follow(ctx, d, first, end - first, step, end, d->n, H));
    }
    return OKRA_OK;
}

/* H = sum_k g S_ik alpha_k / 2 */
static okra_status predictions(okra_context *ctx, const okra_dual_ *d,
                               const double *alpha, double *H)
{
    okra_int n = d->n, q = d->q;
    if (d->count == 1) {
        CHK(okra_gemm_(ctx, false, false, 0.5, okra_mat_view_(d->S[0], n, n, n),
                       okra_mat_view_(alpha, n, q, q), 0, okra_mat_of_(H, n, q)));
    }
    for (okra_int j = 0; j < q; j++) {
        for (okra_int i = 0; i < n; i++) {
            double sum = d->count == 1 ? H[i * q + j] : 0;
            for (okra_int k = 0; d->count > 1 && k < n; k++) {
                sum += d->S[j][i * n + k] * alpha[k * q + j] / 2;
            }
            H[i * q + j] = factor(d, j) * sum + d->ridge * alpha[i * q + j];
        }
    }
    return OKRA_OK;
}

/* The largest of the diagonals of the forms at i. */
static double largest(const okra_dual_ *d, okra_int i)
{
    double most = 0;
    for (okra_int j = 0; j < d->q; j++) {
        most = fmax(most, factor(d, j) * d->S[d->count == 1 ? 0 : j][i * d->n + i] / 2);
    }
    return most + d->ridge;
}

okra_status okra_dual_measure_(okra_context *ctx, const okra_dual_ *d,
                               const double *alpha, double *H, okra_dual_report_ *report)
{
    double primal = 0, linear = 0, half = 0, w = d->width, scale = 0, own = 0, reach = 0;
    CHK(predictions(ctx, d, alpha, H));
    for (okra_int i = 0; i < d->n; i++) {
        const double *a = alpha + i * d->q, *y = d->Y + i * d->q, *h = H + i * d->q;
        double r2 = 0, a2 = okra_dot_(d->q, a, a), weight = okra_dual_weight_(d, i);
        for (okra_int j = 0; j < d->q; j++) {
            r2 += (y[j] - h[j]) * (y[j] - h[j]);
        }
        double r = sqrt(r2), self = sqrt(largest(d, i)), slope = weight;
        half += okra_dot_(d->q, a, h) / 2;
        linear += okra_dot_(d->q, a, y);
        if (d->loss == OKRA_LOSS_HUBER_) {
            primal += weight * (r <= w ? r2 : 2 * w * r - w * w);
            linear -= a2 / (4 * weight);
            slope *= 2 * fmin(r, w);
        } else {
            primal += weight * fmax(0, r - w);
            linear -= w * sqrt(a2);
        }
        scale += slope * (sqrt(okra_dot_(d->q, y, y)) + r);
        own += slope * self; /* |S_ik| <= sqrt(S_ii S_kk), mostly far below: 1/8 */
        reach += self * sqrt(a2);
    }
    report->primal = primal + half;
    report->dual = linear - half;
    report->gap = report->primal - report->dual;
    report->goal = okra_gap_goal_(d->tolerance, report->dual, scale + own * reach / 8);
    report->converged = report->gap <= report->goal;
    return OKRA_OK;
}

/* ---- Newton's method ---- */
/* A block as long as s to this share is bounded; |alpha| is wrong by as much, the dual
 * value by its square. */
static const double BOUNDED = 1e-10;

struct okra_dual_newton_ {
    okra_int n, q;
    okra_int active, *index;  /* blocks that are not 0                           */
    okra_int moving, *places; /* those of them, by place in index, with a drho   */
    double *rho, *drho;       /* n, by place                                     */
    double *size;             /* n, by place: |alpha_i|                          */
    bool *bound;              /* n, by place                                     */
    double *a;                /* n x q, by place: alpha                          */
    double *X;                /* n x q, by place: right-hand sides and solutions */
    double *v, *D;            /* q                                               */
    double *F, *T, *M;        /* n x n: factor, inverse, system of drho          */
};

void okra_dual_newton_free_(okra_dual_newton_ *w)
{
    if (w) {
        FREE(w->index, w->places, w->rho, w->drho, w->size, w->bound, w->a, w->X, w->v,
             w->D, w->F, w->T, w->M, w);
    }
}

static void drop_newton(okra_dual_newton_ **at)
{
    okra_dual_newton_free_(*at);
}

okra_status okra_dual_newton_create_(okra_context *ctx, okra_int n, okra_int q,
                                     okra_dual_newton_ **out)
{
    static const char what[] = "Newton's method of the margin";
    FREED_BY(drop_newton) okra_dual_newton_ *w = NULL;
    ZMAKE(w, 1);
    w->n = n;
    w->q = q;
    MAKE(w->index, n);
    MAKE(w->places, n);
    MAKE(w->rho, n);
    MAKE(w->drho, n);
    MAKE(w->size, n);
    MAKE(w->bound, n);
    MAKE(w->v, q);
    MAKE(w->D, q);
    CHK(okra_doubles_(ctx, n, q, what, &w->a));
    CHK(okra_doubles_(ctx, n, q, what, &w->X));
    CHK(okra_doubles_(ctx, n, n, what, &w->F));
    CHK(okra_doubles_(ctx, n, n, what, &w->T));
    CHK(okra_doubles_(ctx, n, n, what, &w->M));
    *out = TAKE(w);
    return OKRA_OK;
}

/* What every block would choose for itself says which conditions it is to meet. */
static void classify(okra_dual_newton_ *w, const okra_dual_ *d, const double *alpha,
                     const double *H)
{
    bool huber = d->loss == OKRA_LOSS_HUBER_;
    w->active = w->moving = 0;
    for (okra_int i = 0; i < d->n; i++) {
        okra_int at = w->active;
        double rho, *a = w->a + at * d->q, fresh = 0, now = 0;
        okra_dual_shrinkage_(d, alpha, H, i, w->v, w->D, &rho);
        if (isinf(rho)) {
            continue;
        }
        for (okra_int j = 0; j < d->q; j++) {
            a[j] = w->v[j] == 0 ? 0 : w->v[j] / (w->D[j] + rho);
            fresh += a[j] * a[j];
            now += alpha[i * d->q + j] * alpha[i * d->q + j];
        }
        /* A block that is 0 has no direction yet: take the one it would choose. */
        for (okra_int j = 0; now > 0 && j < d->q; j++) {
            a[j] = alpha[i * d->q + j];
        }
        w->index[at] = i;
        w->rho[at] = rho;
        w->drho[at] = 0;
        w->size[at] = sqrt(now > 0 ? now : fresh);
        w->bound[at] = sqrt(fresh) >= okra_dual_most_(d, i) * (1 - BOUNDED);
        bool moves = w->bound[at] || (!huber && d->width > 0);
        if (moves && w->size[at] > 0) {
            w->places[w->moving++] = at;
        }
        w->active++;
    }
}

/* F <- the Cholesky factor of G + diag(rho) of coordinate j over the active blocks. */
static okra_status factorise(okra_context *ctx, const okra_dual_newton_ *w,
                             const okra_dual_ *d, okra_int j)
{
    okra_int f = w->active;
    const double *S;
    double scale = okra_dual_form_(d, j, &S);
    for (okra_int r = 0; r < f; r++) {
        for (okra_int c = 0; c < f; c++) {
            w->F[r * f + c] = scale * S[w->index[r] * d->n + w->index[c]];
        }
        w->F[r * f + r] += w->rho[r] + d->ridge;
    }
    /* jitter makes the step less exact, which the dual value will tell */
    return okra_cholesky_quiet_(ctx, okra_mat_of_(w->F, f, f), NULL);
}

/* Coordinates begin..end-1 share F; their columns of X become F^-1 (Y - drho o alpha). */
static okra_status solve(okra_context *ctx, okra_dual_newton_ *w, const okra_dual_ *d,
                         okra_int begin, okra_int end)
{
    okra_int f = w->active, q = d->q;
    for (okra_int r = 0; r < f; r++) {
        for (okra_int j = begin; j < end; j++) {
            w->X[r * q + j] = d->Y[w->index[r] * q + j] - w->drho[r] * w->a[r * q + j];
        }
    }
    return okra_cholesky_solve_(ctx, okra_mat_of_(w->F, f, f),
                                (okra_mat_){w->X + begin, f, end - begin, q});
}

/* M += T o (alpha alpha') over the columns, T = F^-1. */
static okra_status add_system(okra_context *ctx, okra_dual_newton_ *w, okra_int begin,
                              okra_int end)
{
    okra_int f = w->active, m = w->moving;
    okra_mat_units_(okra_mat_of_(w->T, f, f), 0);
    CHK(okra_cholesky_solve_(ctx, okra_mat_of_(w->F, f, f), okra_mat_of_(w->T, f, f)));
    for (okra_int r = 0; r < m; r++) {
        const double *T = w->T + w->places[r] * f, *a = w->a + w->places[r] * w->q;
        for (okra_int c = 0; c < m; c++) {
            const double *b = w->a + w->places[c] * w->q;
            w->M[r * m + c] +=
                T[w->places[c]] * okra_dot_(end - begin, a + begin, b + begin);
        }
    }
    return OKRA_OK;
}

/* drho from M and X = T Y. */
static okra_status solve_rho(okra_context *ctx, okra_dual_newton_ *w, const okra_dual_ *d)
{
    okra_int m = w->moving, q = d->q;
    double *right = w->T;
    for (okra_int r = 0; r < m; r++) {
        okra_int at = w->places[r];
        double most = okra_dual_most_(d, w->index[at]);
        double size = w->size[at], target = (most * most + size * size) / 2;
        if (!w->bound[at]) {
            w->M[r * m + r] -= size * size / w->rho[at];
            target = d->width * size / w->rho[at];
        }
        right[r] = okra_dot_(q, w->a + at * q, w->X + at * q) - target;
    }
    CHK(okra_solve_general_(ctx, okra_mat_of_(w->M, m, m), okra_mat_of_(right, m, 1)));
    for (okra_int r = 0; r < m; r++) {
        w->drho[w->places[r]] = right[r];
    }
    return OKRA_OK;
}

/* X <- where Newton's method would go, the blocks that are not 0 by place. */
static okra_status find_step(okra_context *ctx, okra_dual_newton_ *w, const okra_dual_ *d)
{
    okra_int q = d->q,
             width = d->g || d->count > 1 ? 1 : q; /* coordinates that share F */
    okra_mat_fill_(okra_mat_of_(w->M, w->moving, w->moving), 0);
    for (okra_int j = 0; j < q; j += width) {
        CHK(factorise(ctx, w, d, j));
        CHK(solve(ctx, w, d, j, j + width));
        if (w->moving > 0) {
            CHK(add_system(ctx, w, j, j + width));
        }
    }
    if (w->moving == 0) {
        return OKRA_OK;
    }
    CHK(solve_rho(ctx, w, d));
    for (okra_int j = 0; j < q; j += width) {
        if (width < q) {
            CHK(factorise(ctx, w, d, j));
        }
        CHK(solve(ctx, w, d, j, j + width));
    }
    return OKRA_OK;
}

okra_status okra_dual_newton_step_(okra_context *ctx, okra_dual_newton_ *w,
                                   const okra_dual_ *d, const double *alpha,
                                   const double *H, double *step, bool *found)
{
    classify(w, d, alpha, H);
    okra_status st = find_step(ctx, w, d);
    *found = st == OKRA_OK;
    if (!*found) {
        return st == OKRA_ENUMERIC ? OKRA_OK : st;
    }
    for (okra_int i = 0; i < d->n * d->q; i++) {
        step[i] = -alpha[i];
    }
    for (okra_int k = 0; k < w->active * d->q; k++) {
        step[w->index[k / d->q] * d->q + k % d->q] += w->X[k];
    }
    return OKRA_OK;
}
