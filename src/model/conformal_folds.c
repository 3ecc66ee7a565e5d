/*
 * conformal_folds.c: jackknife+ and cv+ (Barber, Candes, Ramdas and Tibshirani 2021) with
 * ridge, identity operator, in closed form.
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
 *
 * Centred outputs (phi without the training mean, conformal_ridge.c): the model without S
 * takes the mean of the outputs that stay, -sum_{k in S} phi_k / (n - |S|). Then
 *
 *     A_ij grows by (sum_l A_il) / (n - |S|) for i and j in S,
 *     v_S = sum_{k in S} (u_k E_k + g_S phi_k),   g_S = (1 - 1'u) / (n - |S|)
 *
 * and the rest holds with this A and v; |phi(y) - h_{-S}(x)|^2 grows by
 *     2 g_S sum_{k in S} (l_y,k - (L u)_k + u_k a_k) + g_S^2 1'L_SS 1,
 *     a_k = sum_{j in S} (A L)_kj.
 *
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
#include "model/conformal.h"

typedef struct folds {
    const okra_conformal_ *job;
    okra_solved_ solved;
    const okra_bordered_ *block;
    okra_int *begin, *members; /* members begin[f].. are fold f                     */
    okra_int count, largest;
    okra_mat_ A;             /* n x n                                             */
    double *sums;            /* n: sum_j |A_ij|                                   */
    double **G, **I;         /* a fold: G_S; (B_SS)^-1                            */
    double *left, *variance; /* n: (G_S)_ii and what it may be off; ((B_SS)^-1)_ii */
    double *a, *l1;          /* centred: n, a_k; a fold: 1'L_SS 1                 */
    double *p;               /* sets: tests x count                               */
    okra_mat_ E;             /* intervals: n x d residuals                        */
    double alpha, *bounds, *radius;
    double *work; /* a worker: 4 n */
} folds;

static void release(folds *z)
{
    for (okra_int f = 0; z->G && z->I && f < z->count; f++) {
        FREE(z->G[f], z->I[f]);
    }
    okra_solved_clear_(&z->solved);
    FREE(z->G, z->I, z->begin, z->members, z->A.p, z->a, z->l1, z->sums, z->left,
         z->variance, z->E.p, z->work);
}

static okra_int size_of(const folds *z, okra_int f)
{
    return z->begin[f + 1] - z->begin[f];
}

/* Folds of equal size drawn with the context's seed; jackknife+: pair i is fold i. */
static okra_status draw(folds *z)
{
    okra_int n = z->solved.n;
    z->count = z->job->folds > 0 ? OKRA_MIN_(z->job->folds, n) : n;
    MAKE(z->members, n);
    ZMAKE(z->begin, z->count + 1);
    okra_iota_(n, z->members);
    if (z->count < n) {
        okra_random_ r = okra_random_create_(okra_context_seed(z->job->ctx), 11);
        okra_random_shuffle_(&r, n, z->members);
    }
    for (okra_int f = 0; f < z->count; f++) {
        z->begin[f + 1] = (f + 1) * n / z->count;
        z->largest = OKRA_MAX_(z->largest, size_of(z, f));
    }
    return OKRA_OK;
}

static okra_mat_ rows_of(const folds *z, okra_mat_ all, okra_int f, double *panel)
{
    okra_int n = all.cols, size = size_of(z, f);
    for (okra_int k = 0; k < size; k++) {
        memcpy(panel + k * n, all.p + z->members[z->begin[f] + k] * n,
               (size_t)n * sizeof *panel);
    }
    return okra_mat_of_(panel, size, n);
}

/* (B_SS)^-1 and the rows S of A = (B_SS)^-1 B. */
static okra_status leave_fold(folds *z, okra_int f, double *panel)
{
    okra_int n = z->solved.n, size = size_of(z, f);
    const okra_int *in = z->members + z->begin[f];
    OWNED double *own = NULL;
    okra_mat_ X = rows_of(z, z->solved.B, f, panel);
    MAKE(own, size * size);
    MAKE(z->I[f], size * size);
    okra_mat_ SS = okra_mat_of_(own, size, size), I = okra_mat_of_(z->I[f], size, size);
    for (okra_int k = 0; k < size * size; k++) {
        SS.p[k] = X.p[k / size * n + in[k % size]];
        I.p[k] = k / size == k % size;
    }
    CHK(okra_cholesky_(z->job->ctx, SS, NULL));
    CHK(okra_cholesky_solve_(z->job->ctx, SS, I));
    CHK(okra_cholesky_solve_(z->job->ctx, SS, X));
    for (okra_int k = 0; k < size; k++) {
        double *row = z->A.p + in[k] * n, sum = 0;
        memcpy(row, panel + k * n, (size_t)n * sizeof *panel);
        for (okra_int j = 0; z->solved.ones && j < n; j++) {
            sum += row[j];
        }
        for (okra_int j = 0; z->solved.ones && j < size; j++) {
            row[in[j]] += sum / (double)(n - size);
        }
        for (okra_int j = 0; j < n; j++) {
            z->sums[in[k]] += fabs(row[j]);
        }
        z->variance[in[k]] = I.p[k * size + k];
    }
    return OKRA_OK;
}

/* G_S = A_S L A_S' of every fold; centred, a_k of its pairs and 1'L_SS 1. */
static okra_status grams(folds *z, double *panel)
{
    okra_int n = z->solved.n;
    OWNED double *all = NULL, *other = NULL;
    CHK(okra_doubles_(z->job->ctx, n, n, "left-out residuals times outputs", &all));
    CHK(okra_doubles_(z->job->ctx, z->largest, n, "the rows of a fold", &other));
    okra_mat_ AL = okra_mat_of_(all, n, n);
    CHK(okra_gemm_(z->job->ctx, false, false, 1, z->A, z->solved.L, 0, AL));
    for (okra_int f = 0; f < z->count; f++) {
        okra_mat_ A = rows_of(z, z->A, f, panel), X = rows_of(z, AL, f, other);
        okra_int size = A.rows;
        const okra_int *in = z->members + z->begin[f];
        for (okra_int k = 0; z->solved.ones && k < size * size; k++) {
            z->a[in[k / size]] += X.p[k / size * n + in[k % size]];
            z->l1[f] += z->solved.L.p[in[k / size] * n + in[k % size]];
        }
        MAKE(z->G[f], size * size);
        CHK(okra_gemm_(z->job->ctx, false, true, 1, X, A, 0,
                       okra_mat_of_(z->G[f], size, size)));
    }
    return OKRA_OK;
}

static okra_status prepare(folds *z)
{
    okra_context *ctx = z->job->ctx;
    OWNED double *panel = NULL;
    CHK(okra_solved_create_(z->job, true, &z->solved));
    okra_int n = z->solved.n;
    REFUSE_IF(n < 2, OKRA_ESHAPE,
              "conformal %s: leaving one out needs two training pairs", z->job->s.how);
    CHK(draw(z));
    ZMAKE(z->G, z->count);
    ZMAKE(z->I, z->count);
    ZMAKE(z->sums, n);
    MAKE(z->variance, n);
    CHK(okra_mat_room_(z->job->ctx, n, n, "the left-out residuals", &z->A));
    CHK(okra_doubles_(ctx, z->largest, n, "the rows of a fold", &panel));
    for (okra_int f = 0; f < z->count; f++) {
        CHK(okra_cancelled_(ctx));
        CHK(leave_fold(z, f, panel));
    }
    if (z->solved.L.p) {
        ZMAKE(z->a, n);
        ZMAKE(z->l1, z->count);
        CHK(grams(z, panel));
    }
    MAKE(z->work, okra_workers_(ctx) * 4 * n);
    return OKRA_OK;
}

/* 1'u of row r. */
static double sum_of(const folds *z, okra_int r)
{
    double sum = okra_total_(z->solved.n, z->block->U.p + r * z->solved.n);
    return sum;
}

/* g_S; 0 where outputs are not centred. */
static double share_of(const folds *z, okra_int f, double sigma)
{
    return z->solved.ones ? (1 - sigma) / (double)(z->solved.n - size_of(z, f)) : 0;
}

/* u_S'X u_S */
static double quadratic(const folds *z, okra_int f, const double *X, const double *u)
{
    okra_int size = size_of(z, f);
    const okra_int *in = z->members + z->begin[f];
    double sum = 0;
    for (okra_int k = 0; k < size; k++) {
        for (okra_int j = 0; j < size; j++) {
            sum += u[in[k]] * X[k * size + j] * u[in[j]];
        }
    }
    return sum;
}

/* How much the variance at the test input, `spread` without the fold of pair i, is larger
 * than that of the pair; 1 without normalisation. */
static double ratio(const folds *z, okra_int i, double spread)
{
    return z->job->score == OKRA_SCORE_NORMALIZED_ ? spread / z->variance[i] : 1;
}

/* ---- sets ---- */

/* constant[f]: what does not depend on y; spread[f]: the variance without f; sum[f]: of
 * the sizes of the coefficients of phi(y) - h_{-f}(x); g: see above. */
typedef struct row {
    double *constant, *spread, *sum, *g;
} row;

static double p_value(const folds *z, okra_int t, okra_int c, const row *w)
{
    okra_int n = z->solved.n, r = t - z->block->first;
    okra_int group = okra_conformal_group_(z->job, t, c);
    const double *u = z->block->U.p + r * n, *Al = z->solved.Mc.p + c * n;
    const double *l = z->solved.cross.p + c * n;
    double near = z->solved.self[c] - 2 * z->block->Uc.p[r * z->job->count + c], more = 1,
           all = 1;
    for (okra_int f = 0; f < z->count; f++) {
        double distance = near + w->constant[f];
        for (okra_int k = z->begin[f]; k < z->begin[f + 1]; k++) {
            okra_int i = z->members[k];
            distance += 2 * (u[i] * Al[i] + (z->solved.ones ? w->g[f] * l[i] : 0));
        }
        distance -= okra_solved_error_(&z->solved, w->sum[f], distance);
        for (okra_int k = z->begin[f]; k < z->begin[f + 1]; k++) {
            okra_int i = z->members[k];
            if (okra_conformal_in_(z->job, i, group)) {
                double left = z->left[i] * ratio(z, i, w->spread[f]);
                more += okra_conformal_least_(left, fmax(distance, 0));
                all++;
            }
        }
    }
    return more / all;
}

static void fill_row(const folds *z, okra_int r, const row *w)
{
    const okra_bordered_ *b = z->block;
    okra_int n = z->solved.n;
    const double *u = b->U.p + r * n, *ALu = b->MLu.p + r * n, *Lu = b->UL.p + r * n;
    double uLu = okra_dot_(n, u, Lu), usum = 1 + okra_total_abs_(n, u);
    double sigma = sum_of(z, r);
    for (okra_int f = 0; f < z->count; f++) {
        double g = w->g[f] = share_of(z, f, sigma);
        double constant = uLu + quadratic(z, f, z->G[f], u) + g * g * z->l1[f];
        w->sum[f] = usum;
        w->spread[f] = b->s[r] + quadratic(z, f, z->I[f], u);
        for (okra_int k = z->begin[f]; k < z->begin[f + 1]; k++) {
            okra_int i = z->members[k];
            constant -= 2 * (u[i] * ALu[i] + g * (Lu[i] - u[i] * z->a[i]));
            w->sum[f] += fabs(u[i]) * z->sums[i] + fabs(g);
        }
        w->constant[f] = constant;
    }
}

static okra_status sets_body(void *arg, okra_int begin, okra_int end, int worker)
{
    folds *z = arg;
    okra_int n = z->solved.n, count = z->job->count;
    double *work = z->work + worker * 4 * n;
    row w = {work, work + n, work + 2 * n, work + 3 * n};
    for (okra_int r = begin; r < end; r++) {
        okra_int t = z->block->first + r;
        fill_row(z, r, &w);
        for (okra_int c = 0; c < count; c++) {
            z->p[t * count + c] = p_value(z, t, c, &w);
        }
    }
    return OKRA_OK;
}

okra_status okra_conformal_folds_(const okra_conformal_ *job, double *p)
{
    FREED_BY(release) folds z = {.job = job, .p = p};
    CHK(prepare(&z));
    okra_int n = z.solved.n;
    CHK(okra_solved_candidates_(job, z.A, true, &z.solved));
    MAKE(z.left, n);
    for (okra_int f = 0; f < z.count; f++) {
        for (okra_int k = 0; k < size_of(&z, f); k++) {
            okra_int i = z.members[z.begin[f] + k];
            double own = z.G[f][k * size_of(&z, f) + k];
            z.left[i] = own + okra_solved_error_(&z.solved, z.sums[i], own);
        }
    }
    return okra_solved_walk_(job, &z.solved, &z.block, sets_body, &z);
}

/* ---- intervals and balls ---- */

/* ceil((1 - alpha)(n + 1)), safe against rounding of the product. */
static okra_int order_of(double alpha, okra_int n)
{
    double place = (1 - alpha) * (double)(n + 1);
    return (okra_int)ceil(place - 1e-9 * (place > 1 ? place : 1));
}

/* The k-th smallest (from 1) of n values, which are moved; k > n: +infinity, k < 1:
 * -infinity. Hoare's quickselect with the middle element as pivot. */
static double kth(double *values, okra_int n, okra_int k)
{
    okra_int low = 0, high = n - 1;
    if (k < 1 || k > n) {
        return k < 1 ? -INFINITY : INFINITY;
    }
    while (low < high) {
        double pivot = values[low + (high - low) / 2];
        okra_int i = low, j = high;
        while (i <= j) {
            while (values[i] < pivot) {
                i++;
            }
            while (values[j] > pivot) {
                j--;
            }
            if (i <= j) {
                double v = values[i];
                values[i++] = values[j];
                values[j--] = v;
            }
        }
        if (k - 1 <= j) {
            high = j;
        } else if (k - 1 >= i) {
            low = i;
        } else {
            break;
        }
    }
    return values[k - 1];
}

/* Coordinate j of v_S at row r. */
static double moved(const folds *z, okra_int r, okra_int j, okra_int f, double sigma)
{
    okra_int d = z->solved.d;
    const double *u = z->block->U.p + r * z->solved.n;
    double g = share_of(z, f, sigma), v = 0;
    for (okra_int k = z->begin[f]; k < z->begin[f + 1]; k++) {
        okra_int at = z->members[k] * d + j;
        v += u[z->members[k]] * z->E.p[at] + g * z->solved.Y.p[at];
    }
    return v;
}

/* Lower and upper end of coordinate j at row r, from `low` and `high` as work. */
static void one_interval(const folds *z, okra_int r, okra_int j, const double *spread,
                         double *low, double *high)
{
    okra_int d = z->solved.d, count = 0, t = z->block->first + r;
    okra_int group = okra_conformal_group_(z->job, t, 0);
    double sigma = sum_of(z, r), h = z->solved.mean[j] + z->block->UY.p[r * d + j];
    for (okra_int f = 0; f < z->count; f++) {
        double without = h - moved(z, r, j, f, sigma);
        for (okra_int k = z->begin[f]; k < z->begin[f + 1]; k++) {
            okra_int i = z->members[k];
            if (okra_conformal_in_(z->job, i, group)) {
                double e = fabs(z->E.p[i * d + j]) * sqrt(ratio(z, i, spread[f]));
                low[count] = without - e;
                high[count++] = without + e;
            }
        }
    }
    okra_int order = order_of(z->alpha, count);
    double *out = z->bounds + (t * d + j) * 2;
    out[0] = kth(low, count, count + 1 - order);
    out[1] = kth(high, count, order);
    if (out[0] > out[1]) { /* no y is left at so large an alpha: the prediction itself */
        out[0] = out[1] = h;
    }
}

static double one_radius(const folds *z, okra_int r, const double *spread, double *length)
{
    okra_int d = z->solved.d, count = 0;
    okra_int group = okra_conformal_group_(z->job, z->block->first + r, 0);
    double sigma = sum_of(z, r);
    for (okra_int f = 0; f < z->count; f++) {
        double length2 = 0;
        for (okra_int j = 0; j < d; j++) {
            double v = moved(z, r, j, f, sigma);
            length2 += v * v;
        }
        for (okra_int k = z->begin[f]; k < z->begin[f + 1]; k++) {
            okra_int i = z->members[k];
            if (okra_conformal_in_(z->job, i, group)) {
                const double *e = z->E.p + i * d;
                double left2 = okra_dot_(d, e, e) * ratio(z, i, spread[f]);
                length[count++] = sqrt(length2) + sqrt(left2);
            }
        }
    }
    return kth(length, count, order_of(z->alpha, count));
}

static okra_status intervals_body(void *arg, okra_int begin, okra_int end, int worker)
{
    folds *z = arg;
    okra_int n = z->solved.n;
    double *low = z->work + worker * 4 * n, *high = low + n, *spread = high + n;
    for (okra_int r = begin; r < end; r++) {
        for (okra_int f = 0; f < z->count; f++) {
            spread[f] = z->block->s[r] + quadratic(z, f, z->I[f], z->block->U.p + r * n);
        }
        for (okra_int j = 0; j < z->solved.d; j++) {
            one_interval(z, r, j, spread, low, high);
        }
        if (z->radius) {
            z->radius[z->block->first + r] = one_radius(z, r, spread, low);
        }
    }
    return OKRA_OK;
}

okra_status okra_conformal_folds_intervals_(const okra_conformal_ *job, double alpha,
                                            double *bounds, double *radius)
{
    FREED_BY(release)
    folds z = {.job = job, .alpha = alpha, .bounds = bounds, .radius = radius};
    CHK(prepare(&z));
    okra_int d = z.solved.d;
    CHK(okra_mat_room_(job->ctx, z.solved.n, d, "the left-out residuals", &z.E));
    CHK(okra_gemm_(job->ctx, false, false, 1, z.A, z.solved.Y, 0, z.E));
    return okra_solved_walk_(job, &z.solved, &z.block, intervals_body, &z);
}
