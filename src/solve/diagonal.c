/*
 * diagonal.c: ridge with the operator-valued kernel of the diagonal-regularisation
 * joint kernel (Kadri et al. 2013 sec. 5.2),
 *
 *     K(x,x') = (1 - t) k(x,x') I + t diag(x o x'),   0 <= t <= 1,
 *
 * inputs X and outputs Y vectors of the same length d. It is no product k(x,x') A, but it
 * is diagonal: coordinate j is a ridge of its own with the Gram matrix (1 - t) K + t x_j
 * x_j', x_j the j-th column of X, one rank more than what all coordinates share. With
 * K = V' diag(v) V, F = V Y, G = V X and w_ij = 1 / ((1 - t) v_i + lambda_j)
 *
 *     b_j = lambda_j sum_i G_ij^2 w_ij,   a_j = lambda_j sum_i G_ij F_ij w_ij
 *     s_j = t a_j / (lambda_j + t b_j)                        (Sherman and Morrison)
 *     C = V' [ (F_ij - s_j G_ij) w_ij ]
 *     h_j(x) = (1 - t) (k_x' C)_j + s_j x_j,    since t x_j' c_j = s_j
 *
 * Low rank, K = Phi Phi' (n x m): V and v are those of Phi'Phi, F = V Phi'Y, G = V Phi'X,
 * and by Woodbury
 *     b_j = x_j'x_j - (1 - t) sum_i G_ij^2 w_ij,   a_j = x_j'y_j - (1 - t) sum_i G_ij
 * F_ij w_ij: of m < n eigenvectors only what they leave is known, a difference. C is then
 * that of the features, folded into that of the map's values (low.c).
 *
 * Cost: one eigendecomposition and 4 n^2 d (two passes, 2 n m d more than identity, m^3);
 * then 2 n^2 d (m^2 d) a lambda. Error about eps (1 + ((1 - t) max(v) + t max_j |x_j|^2)
 * / lambda) relative. Left out: leave.c.
 */
#include "solve/moments.h"
#include "solve/ridge.h"

typedef struct diagonal {
    okra_ridge_ *r;
    okra_int m, d; /* m: n, or the rank            */
    double t;
    okra_matrix_ *V;     /* m x m                        */
    double *v;           /* m                            */
    double *F, *G, *S;   /* m x d: as above; work        */
    double *xx, *xy, *s; /* d; low rank: x_j'x_j, x_j'y_j */
    okra_moments_ moments;
} diagonal;

static okra_mat_ mat(const diagonal *z, double *p)
{
    return okra_mat_of_(p, z->m, z->d);
}

static void diagonal_clear(diagonal *z)
{
    okra_matrix_free_(z->V);
    okra_moments_clear_(&z->moments);
    FREE(z->v, z->F, z->G, z->S, z->xx, z->xy, z->s);
}

okra_status okra_ridge_diagonal_check_(const okra_ridge_ *r)
{
    const okra_data *x = r->p->x;
    REFUSE_IF(!r->p->features || r->missing, OKRA_EUNSUPPORTED,
              "ridge: operator diagonal needs dense outputs without missing values under "
              "a linear output kernel");
    if (!x || x->kind != OKRA_DENSE || x->d != r->p->d) {
        char text[96];
        return okra_fail_(OKRA_ESHAPE,
                          "ridge: operator diagonal pairs the coordinates of inputs and "
                          "outputs: expected dense inputs of length %lld, found %s",
                          (long long)r->p->d,
                          x ? okra_data_describe_(x, text, sizeof text) : "none");
    }
    return OKRA_OK;
}

/* X, rows times the roots of their weights, into `out`. */
static void inputs(const okra_ridge_ *r, okra_int first, okra_mat_ out)
{
    const okra_data *x = r->p->x;
    for (okra_int i = 0; i < out.rows; i++) {
        double s = okra_ridge_root_(r, first + i);
        for (okra_int j = 0; j < out.cols; j++) {
            out.p[i * out.ld + j] = s * x->values[(first + i) * x->ld + j];
        }
    }
}

/* Phi'X into S, and the sums over x. */
static okra_status gather(okra_context *ctx, void *user, okra_int first, okra_mat_ Phi,
                          okra_mat_ Psi)
{
    diagonal *z = user;
    okra_int d = z->d;
    OWNED double *scaled = NULL;
    MAKE(scaled, Phi.rows * d);
    okra_mat_ X = okra_mat_of_(scaled, Phi.rows, d);
    inputs(z->r, first, X);
    CHK(okra_gemm_(ctx, true, false, 1, Phi, X, first > 0, mat(z, z->S)));
    for (okra_int i = 0; i < X.rows; i++) {
        const double *a = X.p + i * d, *y = Psi.p + i * Psi.ld;
        double mean = z->r->center ? okra_ridge_root_(z->r, first + i) : 0;
        for (okra_int j = 0; j < d; j++) {
            z->xx[j] += a[j] * a[j];
            z->xy[j] += a[j] * (y[j] - mean * z->moments.psi[j]);
        }
    }
    return OKRA_OK;
}

/* V and v, and what V is to rotate: R in the place of Y, S in that of X. */
static okra_status decompose(diagonal *z, okra_mat_ *R)
{
    okra_ridge_ *r = z->r;
    okra_moments_ *t = &z->moments;
    okra_context *ctx = r->ctx;
    *R = okra_mat_of_(r->Y, z->m, z->d);
    if (r->p->map_x) {
        CHK(okra_moments_create_(ctx, r->p, false, 0, NULL, t));
        if (r->center) {
            okra_moments_center_(t);
        }
        *R = okra_mat_of_(t->R, z->m, z->d);
        ZMAKE(z->xx, z->d);
        ZMAKE(z->xy, z->d);
        CHK(okra_moments_pass_(ctx, r->p, "moments of coordinates", true, gather, z));
        CHK(okra_matrix_begin_(ctx, true, okra_mat_of_(t->C, z->m, z->m), &z->V));
    } else {
        CHK(okra_ridge_K_(r, &z->V));
        inputs(r, 0, mat(z, z->S));
    }
    return okra_ridge_decompose_(ctx, z->V, z->v);
}

/* s and S = (F - s G) w of one lambda. */
static void solve(diagonal *z, double lambda)
{
    okra_int m = z->m, d = z->d;
    double t = z->t;
    for (okra_int j = 0; j < d; j++) {
        double own = okra_ridge_lambda_(z->r, lambda, j), share = z->xx ? t - 1 : own;
        double a = z->xx ? z->xy[j] : 0, b = z->xx ? z->xx[j] : 0;
        for (okra_int i = 0; i < m; i++) {
            double g = z->G[i * d + j], w = 1 / ((1 - t) * z->v[i] + own);
            z->S[i * d + j] = w;
            b += share * g * g * w;
            a += share * g * z->F[i * d + j] * w;
        }
        z->s[j] = t * a / (own + t * fmax(b, 0));
        for (okra_int i = j; i < m * d; i += d) {
            z->S[i] *= z->F[i] - z->s[j] * z->G[i];
        }
    }
}

okra_status okra_ridge_diagonal_(okra_ridge_ *r, double t)
{
    okra_context *ctx = r->ctx;
    okra_int m = okra_ridge_size_(r), d = r->p->d;
    FREED_BY(diagonal_clear) diagonal z = {.r = r, .m = m, .d = d, .t = t};
    OWNED double *C = NULL;
    okra_mat_ R = {0};
    CHK(okra_ridge_diagonal_check_(r));
    MAKE(z.v, m);
    MAKE(z.s, d);
    CHK(okra_doubles_(ctx, m, d, "the rotated outputs", &z.F));
    CHK(okra_doubles_(ctx, m, d, "the rotated inputs", &z.G));
    CHK(okra_doubles_(ctx, m, d, "the scaled outputs", &z.S));
    CHK(decompose(&z, &R));
    CHK(okra_matrix_left_(ctx, false, false, 1, z.V, R, mat(&z, z.F)));
    CHK(okra_matrix_left_(ctx, false, false, 1, z.V, mat(&z, z.S), mat(&z, z.G)));
    for (size_t l = 0; l < r->count; l++) {
        CHK(okra_cancelled_(ctx));
        CHK(okra_doubles_(ctx, m, d, "the ridge coefficients", &C));
        solve(&z, r->lambda[l]);
        CHK(okra_matrix_left_(ctx, true, false, 1 - t, z.V, mat(&z, z.S), mat(&z, C)));
        CHK(okra_ridge_put_folded_(ctx, r->p->map_x, m, d, r->stores[l], &C));
        CHK(okra_store_put_copy_(r->stores[l], "slope", z.s, 1, d));
        if (r->p->map_x) {
            CHK(okra_ridge_put_moments_(r, &z.moments, r->stores[l]));
        }
    }
    return OKRA_OK;
}
