/*
 * diagonal.c: ridge with the operator-valued kernel of the diagonal-regularisation
 * joint kernel (Kadri et al. 2013 sec. 5.2),
 *
 *     K(x,x') = (1 - t) k(x,x') I + t diag(x o x'),   0 <= t <= 1,
 *
 * inputs X and outputs Y vectors of the same length d. It is no product k(x,x') A, but it
 * is diagonal: coordinate j is a ridge of its own with the Gram matrix (1 - t) K + t x_j
 * x_j', x_j the j-th column of X, one rank more than what all coordinates share. With
 * K = V' diag(v) V, m = (1 - t) v + lambda, F = V Y, G = V X,
 *
 *     a_j = sum_i G_ij F_ij / m_i,   b_j = sum_i G_ij^2 / m_i
 *     s_j = t a_j / (1 + t b_j)
 *     C = V' [ (F_ij - s_j G_ij) / m_i ]                    (Sherman and Morrison)
 *     h_j(x) = (1 - t) (k_x' C)_j + s_j x_j,    since t x_j' c_j = s_j
 *
 * Low rank: low.c.
 *
 * Cost: one eigendecomposition and 4 n^2 d; then 2 n^2 d a lambda (left out: 4 n^2 d).
 * Error about eps (1 + ((1 - t) max(v) + t max_j |x_j|^2) / lambda) relative.
 */
#include "solve/ridge.h"

typedef struct diagonal {
    okra_ridge_ *r;
    okra_int n, d;
    double t;
    okra_large_ *V; /* n x n                         */
    double *v;      /* n                             */
    double *F, *G;  /* n x d: V Y, V X               */
    double *S;      /* n x d: work                   */
    double *a, *b;  /* d                             */
    double *m;      /* n: spectrum of this lambda    */
} diagonal;

static okra_mat_ mat(const diagonal *z, double *p)
{
    return okra_mat_of_(p, z->n, z->d);
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

static okra_status open_diagonal(okra_ridge_ *r, double t, diagonal *z)
{
    okra_context *ctx = r->ctx;
    *z = (diagonal){.r = r, .n = r->p->n, .d = r->p->d, .t = t};
    CHK(okra_ridge_diagonal_check_(r));
    okra_int n = z->n, d = z->d;
    MAKE(z->v, n);
    MAKE(z->m, n);
    MAKE(z->a, d);
    MAKE(z->b, d);
    CHK(okra_ridge_K_(r, &z->V));
    CHK(okra_ridge_decompose_(ctx, z->V, z->v));
    CHK(okra_doubles_(ctx, n, d, "the rotated outputs", &z->F));
    CHK(okra_doubles_(ctx, n, d, "the rotated inputs", &z->G));
    CHK(okra_doubles_(ctx, n, d, "the scaled outputs", &z->S));
    const okra_data *x = r->p->x;
    for (okra_int i = 0; i < n * d; i++) {
        z->S[i] = okra_ridge_root_(r, i / d) * x->values[i / d * x->ld + i % d];
    }
    CHK(okra_large_left_(ctx, false, false, 1, z->V, mat(z, r->Y), mat(z, z->F)));
    return okra_large_left_(ctx, false, false, 1, z->V, mat(z, z->S), mat(z, z->G));
}

static void close_diagonal(diagonal *z)
{
    double *blocks[] = {z->v, z->F, z->G, z->S, z->a, z->b, z->m};
    okra_large_free_(z->V);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        okra_free_(blocks[i]);
    }
}

/* m, and b_j of this lambda. */
static void spectrum(diagonal *z, double lambda)
{
    for (okra_int j = 0; j < z->d; j++) {
        z->b[j] = 0;
    }
    for (okra_int i = 0; i < z->n; i++) {
        z->m[i] = (1 - z->t) * z->v[i] + lambda;
        for (okra_int j = 0; j < z->d; j++) {
            double g = z->G[i * z->d + j];
            z->b[j] += g * g / z->m[i];
        }
    }
}

/* a_j <- t (sum_i G_ij U_ij / m_i) / (1 + t b_j): how much of column j of G / m is taken
 * from U / m; U: n x d, or (cols == 1) one column for all j. */
static void shares(diagonal *z, const double *U, okra_int cols)
{
    for (okra_int j = 0; j < z->d; j++) {
        z->a[j] = 0;
    }
    for (okra_int i = 0; i < z->n; i++) {
        for (okra_int j = 0; j < z->d; j++) {
            double u = U[cols == 1 ? i : i * z->d + j];
            z->a[j] += z->G[i * z->d + j] * u / z->m[i];
        }
    }
    for (okra_int j = 0; j < z->d; j++) {
        z->a[j] *= z->t / (1 + z->t * z->b[j]);
    }
}

/* out <- scale V' [ (F_ij - s_j G_ij) / m_i ], s in a. */
static okra_status coefficients(diagonal *z, double scale, double *out)
{
    shares(z, z->F, z->d);
    for (okra_int i = 0; i < z->n; i++) {
        for (okra_int j = 0; j < z->d; j++) {
            okra_int at = i * z->d + j;
            z->S[at] = (z->F[at] - z->a[j] * z->G[at]) / z->m[i];
        }
    }
    return okra_large_left_(z->r->ctx, true, false, scale, z->V, mat(z, z->S),
                            mat(z, out));
}

okra_status okra_ridge_diagonal_(okra_ridge_ *r, double t)
{
    FREED_BY(close_diagonal) diagonal z;
    OWNED double *C = NULL;
    CHK(open_diagonal(r, t, &z));
    for (size_t l = 0; l < r->count; l++) {
        CHK(okra_cancelled_(r->ctx));
        CHK(okra_doubles_(r->ctx, z.n, z.d, "the ridge coefficients", &C));
        spectrum(&z, r->lambda[l]);
        CHK(coefficients(&z, 1 - t, C));
        CHK(okra_bag_put_(r->bags[l], "coefficients", &C, z.n, z.d));
        CHK(okra_bag_put_copy_(r->bags[l], "slope", z.a, 1, z.d));
    }
    return OKRA_OK;
}
