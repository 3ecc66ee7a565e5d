/*
 * dual_newton.c: Newton's method for the dual of dual.c, all blocks together.
 *
 * With G = g S / 2 (n x n, one for all coordinates or one a coordinate) the conditions of
 * optimality are, with one number rho_i a block,
 *     (G alpha)_i + rho_i alpha_i = y_i
 *     bounded:          |alpha_i| = s                  (s = 1, or 2 delta)
 *     epsilon, between: rho_i |alpha_i| = epsilon      (epsilon = 0: rho_i = 0)
 *     huber, within:    rho_i = 1/2
 *     epsilon, inside:  alpha_i = 0
 * Which holds for which block is what the block alone would choose (dual.c). Linearised
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

#include <math.h>

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

OKRA_SHARED_FREES_(okra_dual_newton_free_, okra_dual_newton_, it->index, it->places,
                   it->rho, it->drho, it->size, it->bound, it->a, it->X, it->v, it->D,
                   it->F, it->T, it->M)

OKRA_DROPS_(drop_dual_newton, okra_dual_newton_, okra_dual_newton_free_)

okra_status okra_dual_newton_create_(okra_context *ctx, okra_int n, okra_int q,
                                     okra_dual_newton_ **out)
{
    static const char what[] = "Newton's method of the margin";
    FREED_BY(drop_dual_newton) okra_dual_newton_ *w = NULL;
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
    okra_mat_fill_(okra_mat_of_(w->T, f, f), 0);
    okra_mat_add_diagonal_(okra_mat_of_(w->T, f, f), 1);
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
    CHK(okra_solve_general_(ctx, okra_mat_of_(w->M, m, m), okra_mat_of_(right, m, 1),
                            NULL));
    for (okra_int r = 0; r < m; r++) {
        w->drho[w->places[r]] = right[r];
    }
    return OKRA_OK;
}

okra_status okra_dual_newton_step_(okra_context *ctx, okra_dual_newton_ *w,
                                   const okra_dual_ *d, const double *alpha,
                                   const double *H, double *step, bool *found)
{
    okra_status st = OKRA_OK;
    okra_int q = d->q,
             width = d->g || d->count > 1 ? 1 : q; /* coordinates that share F */
    *found = false;
    classify(w, d, alpha, H);
    okra_mat_fill_(okra_mat_of_(w->M, w->moving, w->moving), 0);
    for (okra_int j = 0; j < q; j += width) {
        TRY(factorise(ctx, w, d, j));
        TRY(solve(ctx, w, d, j, j + width));
        if (w->moving > 0) {
            TRY(add_system(ctx, w, j, j + width));
        }
    }
    if (w->moving > 0) {
        TRY(solve_rho(ctx, w, d));
        for (okra_int j = 0; j < q; j += width) {
            if (width < q) {
                TRY(factorise(ctx, w, d, j));
            }
            TRY(solve(ctx, w, d, j, j + width));
        }
    }
    for (okra_int i = 0; i < d->n * q; i++) {
        step[i] = -alpha[i];
    }
    for (okra_int r = 0; r < w->active; r++) {
        for (okra_int j = 0; j < q; j++) {
            step[w->index[r] * q + j] += w->X[r * q + j];
        }
    }
    *found = true;
done:
    return st == OKRA_ENUMERIC ? OKRA_OK : st;
}
