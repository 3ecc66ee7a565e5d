/*
 * low.c: ridge.c in factored form, K = Phi Phi' (n x m), output features Psi
 * (n x d): explicit ones, or those of a low-rank output kernel, L = Psi Psi'.
 *
 *     h(x)' = phi(x)' A,   A: m x d,   C = Phi'Phi,  R = Phi'Psi,  D = Psi'Psi
 *
 *   identity   A = (C + lambda I)^-1 R
 *   matrix     M = E' diag(g) E (d x d), C = V' diag(v) V:
 *              A = V' [ (V R E')_ij g_j / (lambda + g_j v_i) ] E
 *   cov, ccov  T a K + n lambda a = I, T = S L, h(x) = Psi' T a k_x (linalg/kron.c).
 *              Psi' from the left and Phi from the right give for X = Psi' a Phi
 *                  M X C + n lambda X = R',   A' = M X,   M = Psi' S Psi:
 *              the matrix operator with M and n lambda. M = D for cov; for ccov, by
 *              Woodbury, M = D - R' (C + n epsilon I)^-1 R.
 *   identity, outputs without features: w(x) = Phi (C + lambda I)^-1 phi(x), n x columns
 *
 * Centred outputs: Psi less its mean, which is restored after. Semi-supervised, identity
 * and matrix: Phi'P Phi in the place of C (moments_graph.c).
 *
 * phi(x)' = v(x)' T (kernel/lowrank/lowrank.h): the model keeps T A, columns x d, and the
 * basis of the inputs, so that a query costs columns * d. Cost: one pass of n m^2 to 2 n
 * m^2, 2 n m d
 * (+ n d^2), then m^3/3 (identity, one lambda) or eigendecompositions of m^3 and d^3; the
 * paper's form takes m^3 d^3 (Kadri et al. 2013, sec. 4). Memory m^2 + 2 m d (+ d^2)
 * doubles beside a block of rows. Accuracy: that of the dense form with K moved by
 * n eps max k(x,x); M loses eps |D| to cancellation, so that ccov has a relative error of
 * about eps (1 + |D| |C| / (n lambda)).
 */
#include "kernel/lowrank/lowrank.h"
#include "solve/ridge.h"
#include "solve/moments.h"

#include <math.h>

typedef struct low {
    okra_ridge_ *r;
    const okra_map_ *map;
    okra_moments_ t;
    okra_large_ *C; /* m x m: of t, then its factor or V, C = V' diag(v) V */
    double *v;      /* m */
} low;

static okra_mat_ moments_R(const low *z)
{
    return okra_mat_of_(z->t.R, z->t.m, z->t.d);
}

okra_status okra_ridge_put_folded_(okra_context *ctx, const okra_map_ *fold, okra_int m,
                                   okra_int d, okra_bag_ *bag, double **A)
{
    okra_status st = OKRA_OK;
    okra_int columns = fold ? fold->columns : m;
    double *X = NULL;
    if (fold && fold->sketch) {
        TRY(okra_doubles_(ctx, columns, d, "the ridge coefficients", &X));
    }
    if (fold) {
        TRY(okra_map_fold_(ctx, fold, okra_mat_of_(*A, m, d),
                           okra_mat_of_(X ? X : *A, columns, d)));
    }
    TRY(okra_bag_put_(bag, "coefficients", X ? &X : A, columns, d));
done:
    FREE(X, *A);
    *A = NULL;
    return st;
}

static okra_status decompose(low *z)
{
    MAKE(z->v, z->t.m);
    CHK(okra_ridge_decompose_(z->r->ctx, z->C, z->v));
    okra_ridge_minimum_(z->r, z->t.m, z->v);
    return OKRA_OK;
}

/* E == NULL: identity; else d x d with eigenvalues g. lambda times `times`. */
static okra_status spectral(low *z, const double *E, const double *g, double times)
{
    okra_spectral_ s = {z->C, z->v, moments_R(z), E, g, times, z->map};
    return okra_ridge_spectral_(z->r, &s);
}

/* ---- identity ---- */

static okra_status identity_once(low *z)
{
    double jitter = 0;
    CHK(okra_large_add_diagonal_(z->r->ctx, z->r->lambda[0], z->C));
    CHK(okra_large_cholesky_(z->r->ctx, z->C, &jitter));
    CHK(okra_large_solve_host_(z->r->ctx, true, z->C, moments_R(z)));
    CHK(okra_ridge_put_folded_(z->r->ctx, z->map, z->t.m, z->t.d, z->r->bags[0],
                               &z->t.R));
    return okra_bag_put_number_(z->r->bags[0], "jitter", jitter);
}

/* ---- cov and ccov ---- */

/* D becomes M = Psi' S Psi in the units of the output kernel. */
static okra_status conditional(low *z, double epsilon)
{
    okra_context *ctx = z->r->ctx;
    okra_int m = z->t.m, d = z->t.d;
    OWNED double *F = NULL;
    okra_mat_ D = okra_mat_of_(z->t.D, d, d);
    if (epsilon > 0) {
        CHK(okra_doubles_(ctx, m, d, "the rotated outputs", &F));
        okra_mat_ Fm = okra_mat_of_(F, m, d);
        CHK(okra_large_left_(ctx, false, false, 1, z->C, moments_R(z), Fm));
        for (okra_int i = 0; i < m; i++) {
            double s = 1 / sqrt(z->v[i] + z->t.total * epsilon);
            for (okra_int j = 0; j < d; j++) {
                F[i * d + j] *= s;
            }
        }
        CHK(okra_syrk_(ctx, true, -1, Fm, 1, D));
    }
    for (okra_int i = 0; !z->r->p->map_y && i < d * d; i++) {
        D.p[i] *= z->r->p->feature_scale;
    }
    return OKRA_OK;
}

static okra_status covariance(low *z, double epsilon)
{
    okra_int d = z->t.d;
    OWNED double *g = NULL;
    CHK(conditional(z, epsilon));
    MAKE(g, d);
    CHK(okra_eigh_(z->r->ctx, okra_mat_of_(z->t.D, d, d), g));
    for (okra_int j = 0; j < d; j++) {
        g[j] = fmax(g[j], 0); /* M is positive semi-definite but for rounding */
    }
    return spectral(z, z->t.D, g, z->t.total);
}

static okra_status matrix(low *z, double *A)
{
    OWNED double *g = NULL;
    MAKE(g, z->t.d);
    CHK(okra_operator_decompose_(z->r->ctx, okra_mat_of_(A, z->t.d, z->t.d), g));
    return spectral(z, A, g, 1);
}

/* ---- weights: outputs without features ---- */

typedef struct weighing {
    okra_mat_ X, B; /* columns x m, n x columns */
} weighing;

static okra_status weigh(okra_context *ctx, void *user, okra_int first, okra_mat_ Phi,
                         okra_mat_ Psi)
{
    weighing *w = user;
    (void)Psi;
    return okra_gemm_(ctx, false, true, 1, Phi, w->X, 0,
                      okra_mat_part_(w->B, first, Phi.rows, 0, w->B.cols));
}

static okra_status weights(low *z)
{
    okra_context *ctx = z->r->ctx;
    okra_int m = z->t.m, n = z->t.n, columns = z->map->columns;
    FREED_BY(okra_large_drop_) okra_large_ *S = NULL, *inverse = NULL;
    OWNED double *G = NULL, *X = NULL, *B = NULL;
    CHK(decompose(z));
    CHK(okra_doubles_(ctx, m, m, "the inverse of the moments", &G));
    CHK(okra_large_begin_(ctx, false, okra_mat_of_(G, m, m), &inverse));
    CHK(okra_large_create_(ctx, m, m, "the scaled eigenvectors", &S));
    CHK(okra_doubles_(ctx, columns, m, "the folded inverse", &X));
    for (size_t l = 0; l < z->r->count; l++) {
        CHK(okra_ridge_inverse_(ctx, z->C, z->v, z->r->lambda[l], 1, S, inverse));
        CHK(okra_large_end_(ctx, inverse, okra_mat_of_(G, m, m)));
        CHK(okra_map_fold_(ctx, z->map, okra_mat_of_(G, m, m),
                           okra_mat_of_(X, columns, m)));
        CHK(okra_doubles_(ctx, n, columns, "the ridge weights", &B));
        weighing w = {okra_mat_of_(X, columns, m), okra_mat_of_(B, n, columns)};
        CHK(okra_moments_pass_(ctx, z->r->p, "weights", 0, weigh, &w));
        CHK(okra_bag_put_(z->r->bags[l], "B", &B, n, columns));
    }
    return OKRA_OK;
}

/* ---- the features themselves as outputs, of a basis ---- */

okra_status okra_solution_basis_(okra_context *ctx, const okra_map_ *map, okra_bag_ *bag)
{
    okra_int m = map->rank;
    OWNED double *I = NULL, *X = NULL;
    CHK(okra_doubles_(ctx, m, m, "the features of a basis", &I));
    CHK(okra_doubles_(ctx, map->columns, m, "the features of a basis", &X));
    okra_mat_fill_(okra_mat_of_(I, m, m), 0);
    okra_mat_add_diagonal_(okra_mat_of_(I, m, m), 1);
    CHK(okra_map_fold_(ctx, map, okra_mat_of_(I, m, m),
                       okra_mat_of_(X, map->columns, m)));
    CHK(okra_bag_put_(bag, "coefficients", &X, map->columns, m));
    CHK(okra_bag_put_text_(bag, "operator", "identity"));
    CHK(okra_bag_put_number_(bag, "lambda", 0));
    return okra_bag_put_number_(bag, "center", 0);
}

/* ---- all together ---- */

okra_status okra_ridge_put_mean_(okra_bag_ *bag, const double *mean, okra_int d)
{
    OWNED double *copy = NULL;
    MAKE(copy, d);
    CHK(okra_mat_copy_(okra_mat_view_(mean, 1, d, d), okra_mat_of_(copy, 1, d)));
    return okra_bag_put_(bag, "mean", &copy, 1, d);
}

/* The least that is added to C; 0 where that is not told before the pass. With a matrix
 * operator lambda / g_j, g_j at most its largest sum of a row. */
static double least_ridge(const okra_ridge_ *r, const okra_operator_ *op, okra_int d)
{
    double least = r->lambda[0], most = op->A ? 0 : 1;
    for (size_t l = 1; l < r->count; l++) {
        least = fmin(least, r->lambda[l]);
    }
    for (okra_int i = 0; op->A && i < d; i++) {
        double sum = 0;
        for (okra_int j = 0; j < d; j++) {
            sum += fabs(op->A[i * d + j]);
        }
        most = fmax(most, sum);
    }
    bool told = op->kind == OKRA_OPERATOR_IDENTITY || op->A;
    return told && most > 0 && r->lambda2 == 0 ? least / most : 0;
}

okra_status okra_ridge_of_moments_(okra_ridge_ *r, const okra_operator_ *op,
                                   double epsilon, okra_moments_ *t)
{
    okra_status st = OKRA_OK;
    bool covariances = op->kind == OKRA_OPERATOR_COV || op->kind == OKRA_OPERATOR_CCOV;
    low z = {.r = r, .map = r->p->map_x, .t = *t};
    *t = (okra_moments_){0};
    if (r->center) {
        okra_moments_center_(&z.t);
    }
    if (r->lambda2 > 0) {
        TRY(okra_moments_smooth_(r->ctx, r->p, r->graph, r->lambda2, &z.t));
    }
    TRY(okra_large_begin_(r->ctx, true, okra_mat_of_(z.t.C, z.t.m, z.t.m), &z.C));
    for (size_t l = 0; l < r->count; l++) {
        TRY(okra_moments_put_(&z.t, r->p, r->bags[l]));
        if (r->center && z.t.d > 0) {
            TRY(okra_ridge_put_mean_(r->bags[l], z.t.psi, z.t.d));
        }
    }
    if (z.t.d == 0) {
        TRY(weights(&z));
    } else if (op->kind == OKRA_OPERATOR_IDENTITY && r->count == 1 && r->lambda[0] > 0) {
        TRY(identity_once(&z));
    } else {
        TRY(decompose(&z));
        TRY(covariances ? covariance(&z, op->kind == OKRA_OPERATOR_COV ? -1 : epsilon)
            : op->A     ? matrix(&z, op->A)
                        : spectral(&z, NULL, NULL, 1));
    }
done:
    okra_large_free_(z.C);
    okra_moments_clear_(&z.t);
    okra_free_(z.v);
    return st;
}

okra_status okra_ridge_low_(okra_ridge_ *r, const okra_operator_ *op, double epsilon)
{
    bool covariances = op->kind == OKRA_OPERATOR_COV || op->kind == OKRA_OPERATOR_CCOV;
    FREED_BY(okra_moments_clear_) okra_moments_ t = {0};
    REFUSE_IF(okra_problem_features_(r->p) == 0 && op->kind != OKRA_OPERATOR_IDENTITY,
              OKRA_EARG, "ridge: the operator is %s, so that low-rank-x needs low-rank-y",
              op->kind == OKRA_OPERATOR_COV ? "cov" : "ccov");
    /* Moments that are kept are good to rounding, whatever lambda is now. */
    double ridge = r->keep_moments ? 0 : least_ridge(r, op, okra_problem_features_(r->p));
    okra_keep_ keep = {.path = r->checkpoint};
    bool kept = r->checkpoint && *r->checkpoint;
    if (kept) {
        CHK(okra_ridge_name_(r, &keep.problem));
    }
    CHK(okra_moments_create_by_(r->ctx, r->p, covariances, ridge, kept ? &keep : NULL,
                                &t));
    for (size_t l = 0; r->keep_moments && l < r->count; l++) {
        CHK(okra_ridge_keep_moments_(r->p, &t, op->A, r->bags[l]));
    }
    return okra_ridge_of_moments_(r, op, epsilon, &t);
}

/* ---- the operator diagonal(t=..) of diagonal.c in factored form,
 *
 * K = Phi Phi' (n x m): coordinate j is a ridge with the Gram matrix (1 - t) Phi Phi' +
 * t x_j x_j'. With C = Phi'Phi = V' diag(v) V, F = V Phi'Y, G = V Phi'X (m x d) and
 * w_k = 1 / ((1 - t) v_k + lambda), by Woodbury and then Sherman and Morrison
 *     b_j = x_j'x_j - (1 - t) sum_k G_kj^2 w_k,   D_j = lambda + t b_j
 *     s_j = t (x_j'y_j - (1 - t) sum_k G_kj F_kj w_k) / D_j
 *     a_j = V' [ w_k (F_kj - s_j G_kj) ],   h_j(x) = (1 - t) phi(x)'a_j + s_j x_j.
 *
 * Left out, one pair at a time, B_j the inverse of coordinate j, f_i = V phi_i:
 *     e_ij = x_ij - (1 - t) sum_k f_ik w_k G_kj
 *     lambda (B_j)_ii   = 1 - (1 - t) sum_k f_ik^2 w_k - t e_ij^2 / D_j
 *     lambda (B_j y_j)_i = y_ij - h_j(x_i)
 *     lambda (B_j 1)_i  = 1 - (1 - t) sum_k f_ik w_k o_k - e_ij p_j,   o = V Phi'1,
 *     p_j = t (x_j'1 - (1 - t) sum_k G_kj o_k w_k) / D_j
 *     R_ij = ((B_j y_j)_i - (B_j 1)_i m_ij) / (B_j)_ii,   H = Y - R,   as there.
 *
 * Why it stands beside diagonal.c: there all n eigenvectors make b_j and (B_j)_ii
 * sums of positive terms, good for any lambda. Of m < n eigenvectors only what they leave
 * is known, the differences above. And the rows of Phi come in blocks that are made again
 * for every pass, so that sums over rows are gathered, not products with a whole matrix.
 *
 * Cost: two passes, 2 n m d more than identity, and m^3; then 4 m^2 d a lambda; left out
 * a pass a lambda. Error about eps (1 + ((1 - t) max(v) + t max_j |x_j|^2) / lambda). */

enum { ROWS = 1024 };

typedef struct diagonal {
    okra_ridge_ *r;
    okra_moments_ t;
    double share;         /* t of the operator                     */
    double *v, *w, *ones; /* m: spectrum, this lambda's, o         */
    double *F, *G;        /* m x d                                 */
    double *xx, *xy, *x1; /* d: x_j'x_j, x_j'y_j (centred), x_j'1  */
    double *D, *s, *p;    /* d                                     */
    double *Z;            /* m x 2 d: w (F - s G), w G             */
    double *f, *Q, *H;    /* rows x m, rows x 2 d; n x d           */
    okra_int rows;
} diagonal;

static okra_mat_ moments_V(const diagonal *z)
{
    return okra_mat_of_(z->t.C, z->t.m, z->t.m);
}

/* Phi'X into Z, and the sums over x. */
static okra_status gather(okra_context *ctx, void *user, okra_int first, okra_mat_ Phi,
                          okra_mat_ Psi)
{
    diagonal *z = user;
    const okra_data *x = z->r->p->x;
    okra_int d = z->t.d;
    OWNED double *scaled = NULL;
    okra_mat_ X = okra_mat_view_(x->values + first * x->ld, Phi.rows, d, x->ld);
    if (z->r->s) {
        MAKE(scaled, X.rows * d);
        CHK(okra_mat_copy_(X, okra_mat_of_(scaled, X.rows, d)));
        X = okra_mat_of_(scaled, X.rows, d);
        okra_moments_weigh_(z->r->p, first, X);
    }
    CHK(okra_gemm_(ctx, true, false, 1, Phi, X, first > 0,
                   okra_mat_of_(z->Z, z->t.m, d)));
    for (okra_int i = 0; i < X.rows; i++) {
        const double *a = X.p + i * X.ld, *y = Psi.p + i * Psi.ld;
        double s = okra_ridge_root_(z->r, first + i);
        for (okra_int j = 0; j < d; j++) {
            z->xx[j] += a[j] * a[j];
            z->xy[j] += a[j] * (y[j] - (z->r->center ? s * z->t.psi[j] : 0));
            z->x1[j] += a[j] * s;
        }
    }
    return OKRA_OK;
}

static okra_status open_diagonal(okra_ridge_ *r, double share, diagonal *z)
{
    okra_context *ctx = r->ctx;
    *z = (diagonal){.r = r, .share = share};
    CHK(okra_ridge_diagonal_check_(r));
    CHK(okra_moments_create_(ctx, r->p, false, 0, &z->t));
    if (r->center) {
        okra_moments_center_(&z->t);
    }
    okra_int m = z->t.m, d = z->t.d;
    double **columns[] = {&z->xx, &z->xy, &z->x1, &z->D, &z->s, &z->p};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        ZMAKE(*columns[i], d);
    }
    double **spectra[] = {&z->v, &z->w, &z->ones};
    for (size_t i = 0; i < sizeof spectra / sizeof *spectra; i++) {
        ZMAKE(*spectra[i], m);
    }
    CHK(okra_doubles_(ctx, m, d, "the rotated outputs", &z->F));
    CHK(okra_doubles_(ctx, m, d, "the rotated inputs", &z->G));
    CHK(okra_doubles_(ctx, m, 2 * d, "the ridge coefficients", &z->Z));
    CHK(okra_moments_pass_(ctx, r->p, "moments of coordinates", 0, gather, z));
    CHK(okra_ridge_decompose_host_(ctx, moments_V(z), z->v));
    okra_mat_ V = moments_V(z), ones = okra_mat_of_(z->ones, m, 1);
    CHK(okra_gemm_(ctx, false, false, 1, V, okra_mat_of_(z->t.R, m, d), 0,
                   okra_mat_of_(z->F, m, d)));
    CHK(okra_gemm_(ctx, false, false, 1, V, okra_mat_of_(z->Z, m, d), 0,
                   okra_mat_of_(z->G, m, d)));
    return okra_gemm_(ctx, false, false, z->t.total, V, okra_mat_of_(z->t.phi, m, 1), 0,
                      ones);
}

static void close_diagonal(diagonal *z)
{
    FREE(z->v, z->w, z->ones, z->F, z->G, z->xx, z->xy, z->x1, z->D, z->s, z->p, z->Z,
         z->f, z->Q, z->H);
    okra_moments_clear_(&z->t);
}

/* w, D, s, p and Z of this lambda. */
static void solve(diagonal *z, double lambda)
{
    okra_int m = z->t.m, d = z->t.d;
    double t = z->share;
    for (okra_int j = 0; j < d; j++) {
        z->D[j] = z->xx[j];
        z->s[j] = z->xy[j];
        z->p[j] = z->x1[j];
    }
    for (okra_int k = 0; k < m; k++) {
        z->w[k] = 1 / ((1 - t) * z->v[k] + lambda);
        for (okra_int j = 0; j < d; j++) {
            double g = z->G[k * d + j], c = (1 - t) * g * z->w[k];
            z->D[j] -= c * g;
            z->s[j] -= c * z->F[k * d + j];
            z->p[j] -= c * z->ones[k];
        }
    }
    for (okra_int j = 0; j < d; j++) {
        z->D[j] = lambda + t * fmax(z->D[j], 0);
        z->s[j] *= t / z->D[j];
        z->p[j] *= t / z->D[j];
    }
    for (okra_int k = 0; k < m; k++) {
        for (okra_int j = 0; j < d; j++) {
            double g = z->G[k * d + j];
            z->Z[k * 2 * d + j] = z->w[k] * (z->F[k * d + j] - z->s[j] * g);
            z->Z[k * 2 * d + d + j] = z->w[k] * g;
        }
    }
}

static okra_status put(diagonal *z, okra_bag_ *bag)
{
    okra_context *ctx = z->r->ctx;
    okra_int m = z->t.m, d = z->t.d;
    OWNED double *A = NULL;
    okra_mat_ Z = {z->Z, m, d, 2 * d};
    CHK(okra_doubles_(ctx, m, d, "the ridge coefficients", &A));
    CHK(okra_gemm_(ctx, true, false, 1 - z->share, moments_V(z), Z, 0,
                   okra_mat_of_(A, m, d)));
    CHK(okra_ridge_put_folded_(ctx, z->r->p->map_x, m, d, bag, &A));
    CHK(okra_bag_put_copy_(bag, "slope", z->s, 1, d));
    if (z->r->center) {
        CHK(okra_ridge_put_mean_(bag, z->t.psi, d));
    }
    return okra_moments_put_(&z->t, z->r->p, bag);
}

okra_status okra_ridge_low_diagonal_(okra_ridge_ *r, double t)
{
    FREED_BY(close_diagonal) diagonal z;
    CHK(open_diagonal(r, t, &z));
    for (size_t l = 0; l < r->count; l++) {
        CHK(okra_cancelled_(r->ctx));
        solve(&z, r->lambda[l]);
        CHK(put(&z, r->bags[l]));
    }
    return OKRA_OK;
}
