/*
 * ridge_low_diagonal.c: the operator diagonal(t=..) of ridge_diagonal.c in factored form,
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
 * Why it stands beside ridge_diagonal.c: there all n eigenvectors make b_j and (B_j)_ii
 * sums of positive terms, good for any lambda. Of m < n eigenvectors only what they leave
 * is known, the differences above. And the rows of Phi come in blocks that are made again
 * for every pass, so that sums over rows are gathered, not products with a whole matrix.
 *
 * Cost: two passes, 2 n m d more than identity, and m^3; then 4 m^2 d a lambda; left out
 * a pass a lambda. Error about eps (1 + ((1 - t) max(v) + t max_j |x_j|^2) / lambda).
 */
#include "solve/ridge.h"

#include "solve/moments.h"

#include <math.h>

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
