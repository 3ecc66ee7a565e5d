/*
 * folds.c: jackknife+ and cv+ (Barber, Candes, Ramdas and Tibshirani 2021) with ridge,
 * identity operator, in closed form.
 *
 * Let S be a fold (one pair: jackknife+), B = (K + lambda I)^-1, u = B k_x. Leaving S
 * out,
 *
 *     E_i = phi(y_i) - h_{-S}(x_i) = sum_j A_ij phi(y_j),  A_S = (B_SS)^-1 B_S,   i in S
 *     h_{-S}(x) = h(x) - v_S,      v_S = sum_{k in S} u_k E_k
 *
 * by the inverse of a partitioned matrix. So with G_S = A_S L A_S'
 *
 *     |phi(y) - h_{-S}(x)|^2 = |phi(y) - h(x)|^2 + u_S'G_S u_S
 *                              + 2 sum_{k in S} u_k ((A l_y)_k - (A L u)_k)
 *
 * and a candidate's p-value compares it with |E_i|^2 = (G_S)_ii for every i. Normalized:
 * the variance at x without S is s + u_S'(B_SS)^-1 u_S, that at x_i is ((B_SS)^-1)_ii.
 * A set holds the truth with probability 1 - 2 alpha at least; for folds of more than one
 * pair the bound is a little weaker (ibid., theorem 4).
 *
 * Intervals of a coordinate: the order statistics of h_{-S}(x) -+ |E_i|. The ball around
 * h(x) has the order statistic of |E_i| + |v_S| as its radius: it contains the region of
 * all y nearer to h_{-S}(x) than |E_i|, by the triangle inequality.
 *
 * Cost: n^3 once more (A L A' by blocks), n^2 (candidates + test inputs), n for each pair
 * of a test input and a candidate.
 */
#include "conformal/conformal.h"

#include <math.h>
#include <string.h>

typedef struct folds {
    const okra_conformal_job_ *job;
    okra_solved_ solved;
    const okra_bordered_ *block;
    okra_int *fold, *begin, *members; /* fold of each pair; members of fold f        */
    okra_int count, largest;
    double *A;                  /* n x n                                             */
    double *sums;               /* n: sum_j |A_ij|                                   */
    double **G, **I;            /* a fold: G_S; (B_SS)^-1                            */
    double *cross, *self, *Alc; /* count x n, count, count x n                       */
    double *ALu, *Ul;           /* rows x n; count x rows                            */
    double *E, *UY;             /* intervals: n x d residuals; rows x d predictions   */
    double *work;               /* a worker: 4 n                                     */
    double alpha, *bounds, *radius, *p;
} folds;

static void release(folds *z)
{
    for (okra_int f = 0; f < z->count; f++) {
        if (z->G) {
            okra_free_(z->G[f]);
        }
        if (z->I) {
            okra_free_(z->I[f]);
        }
    }
    okra_free_(z->G);
    okra_free_(z->I);
    okra_solved_clear_(&z->solved);
    okra_free_(z->fold);
    okra_free_(z->begin);
    okra_free_(z->members);
    okra_free_(z->A);
    okra_free_(z->sums);
    okra_free_(z->cross);
    okra_free_(z->self);
    okra_free_(z->Alc);
    okra_free_(z->ALu);
    okra_free_(z->Ul);
    okra_free_(z->E);
    okra_free_(z->UY);
    okra_free_(z->work);
}

/* Folds of equal size drawn with the context's seed; jackknife+: pair i is fold i. */
static okra_status draw(folds *z)
{
    okra_status st = OKRA_OK;
    okra_int n = z->solved.n;
    z->count = z->job->folds > 0 ? OKRA_MIN_(z->job->folds, n) : n;
    ALLOC(z->fold, n);
    ALLOC(z->members, n);
    ZALLOC(z->begin, z->count + 1);
    for (okra_int i = 0; i < n; i++) {
        z->members[i] = i;
    }
    if (z->count < n) {
        okra_random_ r = okra_random_create_(okra_context_seed(z->job->ctx), 11);
        okra_random_shuffle_(&r, n, z->members);
    }
    for (okra_int f = 0; f < z->count; f++) {
        z->begin[f] = f * n / z->count;
        z->begin[f + 1] = (f + 1) * n / z->count;
        z->largest = OKRA_MAX_(z->largest, z->begin[f + 1] - z->begin[f]);
        for (okra_int k = z->begin[f]; k < z->begin[f + 1]; k++) {
            z->fold[z->members[k]] = f;
        }
    }
done:
    return st;
}

static okra_mat_ rows_of(const folds *z, double *all, okra_int f, double *panel)
{
    okra_int n = z->solved.n, size = z->begin[f + 1] - z->begin[f];
    for (okra_int k = 0; k < size; k++) {
        memcpy(panel + k * n, all + z->members[z->begin[f] + k] * n,
               (size_t)n * sizeof *panel);
    }
    return okra_mat_of_(panel, size, n);
}

/* (B_SS)^-1 and the rows S of A = (B_SS)^-1 B. */
static okra_status leave_fold(folds *z, okra_int f, double *panel)
{
    okra_status st = OKRA_OK;
    okra_int n = z->solved.n, size = z->begin[f + 1] - z->begin[f];
    const okra_int *in = z->members + z->begin[f];
    double *SS = NULL;
    okra_mat_ X = rows_of(z, z->solved.B, f, panel);
    ALLOC(SS, size * size);
    ALLOC(z->I[f], size * size);
    for (okra_int k = 0; k < size * size; k++) {
        SS[k] = X.p[k / size * n + in[k % size]];
        z->I[f][k] = k / size == k % size;
    }
    TRY(okra_cholesky_(z->job->ctx, okra_mat_of_(SS, size, size), NULL));
    TRY(okra_cholesky_solve_(z->job->ctx, okra_mat_of_(SS, size, size),
                             okra_mat_of_(z->I[f], size, size)));
    TRY(okra_cholesky_solve_(z->job->ctx, okra_mat_of_(SS, size, size), X));
    for (okra_int k = 0; k < size; k++) {
        memcpy(z->A + in[k] * n, panel + k * n, (size_t)n * sizeof *panel);
    }
done:
    okra_free_(SS);
    return st;
}

/* G_S = A_S L A_S' of every fold. */
static okra_status grams(folds *z, double *panel)
{
    okra_status st = OKRA_OK;
    okra_int n = z->solved.n;
    double *AL = NULL, *other = NULL;
    TRY(okra_doubles_(z->job->ctx, n, n, "left-out residuals times outputs", &AL));
    TRY(okra_doubles_(z->job->ctx, z->largest, n, "the rows of a fold", &other));
    TRY(okra_gemm_(z->job->ctx, false, false, 1, okra_mat_of_(z->A, n, n),
                   okra_mat_of_(z->solved.L, n, n), 0, okra_mat_of_(AL, n, n)));
    for (okra_int f = 0; f < z->count; f++) {
        okra_mat_ A = rows_of(z, z->A, f, panel), X = rows_of(z, AL, f, other);
        ALLOC(z->G[f], A.rows * A.rows);
        TRY(okra_gemm_(z->job->ctx, false, true, 1, X, A, 0,
                       okra_mat_of_(z->G[f], A.rows, A.rows)));
    }
done:
    okra_free_(AL);
    okra_free_(other);
    return st;
}

static okra_status prepare(folds *z)
{
    okra_status st = OKRA_OK;
    okra_context *ctx = z->job->ctx;
    double *panel = NULL;
    TRY(okra_solved_create_(z->job, &z->solved));
    okra_int n = z->solved.n;
    if (n < 2) {
        FAIL(OKRA_ESHAPE, "conformal %s: leaving one out needs two training pairs",
             z->job->s.how);
    }
    TRY(draw(z));
    ZALLOC(z->G, z->count);
    ZALLOC(z->I, z->count);
    TRY(okra_doubles_(ctx, n, n, "the left-out residuals", &z->A));
    TRY(okra_doubles_(ctx, z->largest, n, "the rows of a fold", &panel));
    for (okra_int f = 0; f < z->count; f++) {
        TRY(okra_cancelled_(ctx));
        TRY(leave_fold(z, f, panel));
    }
    ZALLOC(z->sums, n);
    for (okra_int i = 0; i < n * n; i++) {
        z->sums[i / n] += fabs(z->A[i]);
    }
    if (z->solved.L) {
        TRY(grams(z, panel));
    }
    ALLOC(z->work, okra_workers_(ctx) * 4 * n);
done:
    okra_free_(panel);
    return st;
}

/* u_S'X u_S */
static double quadratic(const folds *z, okra_int f, const double *X, const double *u)
{
    okra_int size = z->begin[f + 1] - z->begin[f];
    const okra_int *in = z->members + z->begin[f];
    double sum = 0;
    for (okra_int k = 0; k < size; k++) {
        for (okra_int j = 0; j < size; j++) {
            sum += u[in[k]] * X[k * size + j] * u[in[j]];
        }
    }
    return sum;
}

/* The diagonal of a fold's matrix at pair i, whose place in the fold is k. */
static double at(const folds *z, double *const *X, okra_int f, okra_int k)
{
    okra_int size = z->begin[f + 1] - z->begin[f];
    return X[f][k * size + k];
}

/* How much the variance at the test input grows when fold f is left out, over that of its
 * k-th pair; 1 without normalisation. */
static double ratio(const folds *z, okra_int f, okra_int k, double variance)
{
    return z->job->score == OKRA_SCORE_NORMALIZED_ ? variance / at(z, z->I, f, k) : 1;
}

/* ---- sets of candidates ---- */

/* constant[f]: what does not depend on y; spread[f]: the variance without f; sum[f]: of
 * the sizes of the coefficients of phi(y) - h_{-f}(x). */
static double p_value(const folds *z, okra_int t, okra_int c, const double *constant,
                      const double *spread, const double *sum)
{
    okra_int n = z->solved.n, r = t - z->block->first;
    okra_int group = okra_conformal_group_(z->job, t, c);
    const double *u = z->block->U + r * n, *Al = z->Alc + c * n;
    double near = z->self[c] - 2 * z->Ul[c * z->block->m + r], more = 1, all = 1;
    for (okra_int f = 0; f < z->count; f++) {
        double distance = near + constant[f];
        for (okra_int k = z->begin[f]; k < z->begin[f + 1]; k++) {
            distance += 2 * u[z->members[k]] * Al[z->members[k]];
        }
        distance -= okra_solved_error_(&z->solved, sum[f], distance);
        for (okra_int k = z->begin[f]; k < z->begin[f + 1]; k++) {
            if (okra_conformal_in_(z->job, z->members[k], group)) {
                okra_int own = k - z->begin[f];
                double left = at(z, z->G, f, own);
                left += okra_solved_error_(&z->solved, z->sums[z->members[k]], left);
                left *= ratio(z, f, own, spread[f]);
                more += okra_conformal_least_(left, fmax(distance, 0));
                all++;
            }
        }
    }
    return more / all;
}

static okra_status sets_body(void *arg, okra_int begin, okra_int end, int worker)
{
    folds *z = arg;
    const okra_bordered_ *b = z->block;
    okra_int n = z->solved.n;
    double *constant = z->work + worker * 4 * n, *spread = constant + n;
    double *sum = spread + n;
    for (okra_int r = begin; r < end; r++) {
        const double *u = b->U + r * n, *ALu = z->ALu + r * n;
        double uLu = okra_dot_(n, u, b->UL + r * n), usum = 1;
        for (okra_int i = 0; i < n; i++) {
            usum += fabs(u[i]);
        }
        for (okra_int f = 0; f < z->count; f++) {
            sum[f] = usum;
            constant[f] = uLu + quadratic(z, f, z->G[f], u);
            spread[f] = b->s[r] + quadratic(z, f, z->I[f], u);
            for (okra_int k = z->begin[f]; k < z->begin[f + 1]; k++) {
                constant[f] -= 2 * u[z->members[k]] * ALu[z->members[k]];
                sum[f] += fabs(u[z->members[k]]) * z->sums[z->members[k]];
            }
        }
        for (okra_int c = 0; c < z->job->count; c++) {
            z->p[(b->first + r) * z->job->count + c] =
                p_value(z, b->first + r, c, constant, spread, sum);
        }
    }
    return OKRA_OK;
}

static okra_status sets_block(void *user, const okra_bordered_ *b)
{
    okra_status st = OKRA_OK;
    folds *z = user;
    okra_context *ctx = z->job->ctx;
    okra_int n = z->solved.n, count = z->job->count;
    z->block = b;
    TRY(okra_gemm_(ctx, false, true, 1, okra_mat_of_(b->UL, b->m, n),
                   okra_mat_of_(z->A, n, n), 0, okra_mat_of_(z->ALu, b->m, n)));
    TRY(okra_gemm_(ctx, false, true, 1, okra_mat_of_(z->cross, count, n),
                   okra_mat_of_(b->U, b->m, n), 0, okra_mat_of_(z->Ul, count, b->m)));
    TRY(okra_parallel_(ctx, b->m, 1, "sets", sets_body, z));
done:
    return st;
}

okra_status okra_conformal_folds_(const okra_conformal_job_ *job, double *p)
{
    okra_status st = OKRA_OK;
    folds z = {.job = job, .p = p};
    TRY(prepare(&z));
    okra_int n = z.solved.n, rows = OKRA_MIN_(job->tests, 256);
    TRY(okra_solved_candidates_(job, &z.cross, &z.self, &z.solved.size));
    TRY(okra_doubles_(job->ctx, job->count, n, "the candidates' products", &z.Alc));
    TRY(okra_gemm_(job->ctx, false, true, 1, okra_mat_of_(z.cross, job->count, n),
                   okra_mat_of_(z.A, n, n), 0, okra_mat_of_(z.Alc, job->count, n)));
    TRY(okra_doubles_(job->ctx, rows, n, "a block of products", &z.ALu));
    TRY(okra_doubles_(job->ctx, job->count, rows, "a block of products", &z.Ul));
    TRY(okra_solved_walk_(job, &z.solved, sets_block, &z));
done:
    release(&z);
    return st;
}

/* ---- intervals ---- */

/* Lower and upper end of coordinate j at row r, from `low` and `high` as work. */
static void one_interval(const folds *z, okra_int r, okra_int j, const double *spread,
                         double *low, double *high)
{
    okra_int n = z->solved.n, d = z->solved.d, count = 0;
    okra_int group = okra_conformal_group_(z->job, z->block->first + r, 0);
    const double *u = z->block->U + r * n;
    for (okra_int f = 0; f < z->count; f++) {
        double h = z->UY[r * d + j];
        for (okra_int k = z->begin[f]; k < z->begin[f + 1]; k++) {
            h -= u[z->members[k]] * z->E[z->members[k] * d + j];
        }
        for (okra_int k = z->begin[f]; k < z->begin[f + 1]; k++) {
            if (okra_conformal_in_(z->job, z->members[k], group)) {
                double e = fabs(z->E[z->members[k] * d + j]) *
                           sqrt(ratio(z, f, k - z->begin[f], spread[f]));
                low[count] = h - e;
                high[count++] = h + e;
            }
        }
    }
    okra_int order = okra_conformal_order_(z->alpha, count);
    double *out = z->bounds + ((z->block->first + r) * d + j) * 2;
    out[0] = okra_conformal_kth_(low, count, count + 1 - order);
    out[1] = okra_conformal_kth_(high, count, order);
    if (out[0] > out[1]) { /* no y is left at so large an alpha: the prediction itself */
        out[0] = out[1] = z->UY[r * d + j];
    }
}

static void one_radius(const folds *z, okra_int r, const double *spread, double *length)
{
    okra_int n = z->solved.n, d = z->solved.d, count = 0;
    okra_int group = okra_conformal_group_(z->job, z->block->first + r, 0);
    const double *u = z->block->U + r * n;
    for (okra_int f = 0; f < z->count; f++) {
        double moved = 0;
        for (okra_int j = 0; j < d; j++) {
            double v = 0;
            for (okra_int k = z->begin[f]; k < z->begin[f + 1]; k++) {
                v += u[z->members[k]] * z->E[z->members[k] * d + j];
            }
            moved += v * v;
        }
        for (okra_int k = z->begin[f]; k < z->begin[f + 1]; k++) {
            if (okra_conformal_in_(z->job, z->members[k], group)) {
                const double *e = z->E + z->members[k] * d;
                length[count++] =
                    sqrt(moved) +
                    sqrt(okra_dot_(d, e, e) * ratio(z, f, k - z->begin[f], spread[f]));
            }
        }
    }
    z->radius[z->block->first + r] =
        okra_conformal_kth_(length, count, okra_conformal_order_(z->alpha, count));
}

static okra_status intervals_body(void *arg, okra_int begin, okra_int end, int worker)
{
    folds *z = arg;
    okra_int n = z->solved.n;
    double *low = z->work + worker * 4 * n, *high = low + n, *spread = high + n;
    for (okra_int r = begin; r < end; r++) {
        for (okra_int f = 0; f < z->count; f++) {
            spread[f] = z->block->s[r] + quadratic(z, f, z->I[f], z->block->U + r * n);
        }
        for (okra_int j = 0; j < z->solved.d; j++) {
            one_interval(z, r, j, spread, low, high);
        }
        if (z->radius) {
            one_radius(z, r, spread, low);
        }
    }
    return OKRA_OK;
}

static okra_status intervals_block(void *user, const okra_bordered_ *b)
{
    okra_status st = OKRA_OK;
    folds *z = user;
    okra_int n = z->solved.n, d = z->solved.d;
    z->block = b;
    TRY(okra_gemm_(z->job->ctx, false, false, 1, okra_mat_of_(b->U, b->m, n),
                   okra_mat_of_(z->solved.Y, n, d), 0, okra_mat_of_(z->UY, b->m, d)));
    TRY(okra_parallel_(z->job->ctx, b->m, 1, "intervals", intervals_body, z));
done:
    return st;
}

okra_status okra_conformal_folds_intervals_(const okra_conformal_job_ *job, double alpha,
                                            double *bounds, double *radius)
{
    okra_status st = OKRA_OK;
    folds z = {.job = job, .alpha = alpha, .bounds = bounds, .radius = radius};
    TRY(prepare(&z));
    okra_int n = z.solved.n, d = z.solved.d;
    TRY(okra_doubles_(job->ctx, n, d, "the left-out residuals", &z.E));
    TRY(okra_doubles_(job->ctx, OKRA_MIN_(job->tests, 256), d, "predictions", &z.UY));
    TRY(okra_gemm_(job->ctx, false, false, 1, okra_mat_of_(z.A, n, n),
                   okra_mat_of_(z.solved.Y, n, d), 0, okra_mat_of_(z.E, n, d)));
    TRY(okra_solved_walk_(job, &z.solved, intervals_block, &z));
done:
    release(&z);
    return st;
}
