/*
 * smoother_low.c: M = I - G of a kernel of low rank, K = Phi Phi' (n x m), the features
 * being kept: G = F diag(1 / (v + lambda)) F', F = Phi V', Phi'Phi = V' diag(v) V (with a
 * graph Phi'P Phi: low.c).
 *
 * Rows of F come in blocks that are made again; where parts are solved they are kept, in
 * a file where they are large. M_SS = I - F_S diag(x) F_S' (b x b) is factored where a
 * part has b <= m inputs, else by Woodbury with T = diag(v + lambda) - F_S'F_S (m x m):
 * M_SS^-1 = I + F_S T^-1 F_S'.
 *
 * Cost: two passes of n m^2, one of 2 n m^2 + 2 n m c for each lambda. Accuracy: of m < n
 * eigenvectors only 1 - G_ii is known, so that eps / (1 - G_ii) is lost.
 */
#include "solve/ridge.h"

#include "solve/moments.h"

typedef struct low {
    okra_ridge_ *r;
    okra_moments_ t; /* C becomes V */
    double *v;
    okra_mat_ U;
    double *F, *Z, *X;  /* m x c: F'U, then times the spectra; m x k */
    double *block, *G;  /* ROWS x m: rows of F; ROWS x max(c, k)      */
    bool keep;          /* parts will be solved: rows of F stay       */
    okra_scratch_ rows; /* n x m: F, or empty                        */
    okra_mat_ out, q;
} low;

enum { ROWS = 1024 };

static void low_free(void *self)
{
    low *z = self;
    okra_moments_clear_(&z->t);
    okra_scratch_clear_(&z->rows);
    FREE(z->v, z->F, z->block, z);
}

/* Rows first.. of F into z->block. */
static okra_status rotate(okra_context *ctx, const low *z, okra_mat_ Phi, okra_mat_ *F)
{
    *F = okra_mat_of_(z->block, Phi.rows, z->t.m);
    return okra_gemm_(ctx, false, true, 1, Phi, okra_mat_of_(z->t.C, z->t.m, z->t.m), 0,
                      *F);
}

static okra_status gather_outputs(okra_context *ctx, void *user, okra_int first,
                                  okra_mat_ Phi, okra_mat_ Psi)
{
    low *z = user;
    for (okra_int i = 0; i < Psi.rows; i++) {
        double s = z->r->center ? okra_ridge_root_(z->r, first + i) : 0;
        for (okra_int j = 0; j < Psi.cols; j++) {
            z->r->Y[(first + i) * Psi.cols + j] = Psi.p[i * Psi.ld + j] - s * z->t.psi[j];
        }
    }
    return OKRA_OK;
}

static okra_status gather_block(okra_context *ctx, void *user, okra_int first,
                                okra_mat_ Phi, okra_mat_ Psi)
{
    low *z = user;
    okra_mat_ F, U = okra_mat_part_(z->U, first, Phi.rows, 0, z->U.cols);
    CHK(rotate(ctx, z, Phi, &F));
    if (z->rows.rows > 0) {
        CHK(okra_scratch_write_(&z->rows, first, F.rows, F.p));
    }
    return okra_gemm_(ctx, true, false, 1, F, U, first > 0,
                      okra_mat_of_(z->F, F.cols, U.cols));
}

/* The same rows in pieces of at most `most`, for a function with buffers of that height.
 */
static okra_status in_pieces(okra_context *ctx, okra_int most, okra_int first,
                             okra_mat_ Phi, okra_mat_ Psi, okra_rows_fn_ each, void *user)
{
    for (okra_int at = 0; at < Phi.rows; at += most) {
        okra_int some = OKRA_MIN_(most, Phi.rows - at);
        CHK(each(ctx, user, first + at, okra_mat_part_(Phi, at, some, 0, Phi.cols),
                 okra_mat_part_(Psi, at, some, 0, Psi.cols)));
    }
    return OKRA_OK;
}

static okra_status gather(okra_context *ctx, void *user, okra_int first, okra_mat_ Phi,
                          okra_mat_ Psi)
{
    return in_pieces(ctx, ROWS, first, Phi, Psi, gather_block, user);
}

static okra_status low_begin(void *self, okra_mat_ U)
{
    low *z = self;
    okra_context *ctx = z->r->ctx;
    okra_int m = z->t.m, rows = OKRA_MIN_(ROWS, U.rows);
    z->U = U;
    CHK(okra_doubles_(ctx, m, U.cols, "the rotated outputs", &z->F));
    CHK(okra_doubles_(ctx, rows, m, "a block of features", &z->block));
    if (z->keep) { /* last, as it goes to a file where memory is short */
        CHK(okra_scratch_create_(ctx, U.rows, m, "the features of the inputs", &z->rows));
    }
    return okra_moments_pass_(ctx, z->r->p, "features", true, gather, z);
}

static okra_status apply_block(okra_context *ctx, void *user, okra_int first,
                               okra_mat_ Phi, okra_mat_ Psi)
{
    low *z = user;
    okra_int m = z->t.m, c = z->out.cols, each = z->U.cols, k = z->q.rows;
    okra_mat_ F, out = okra_mat_part_(z->out, first, Phi.rows, 0, c);
    CHK(rotate(ctx, z, Phi, &F));
    for (okra_int j = 0; j < c; j += each) {
        CHK(okra_mat_copy_(okra_mat_part_(z->U, first, F.rows, 0, each),
                           okra_mat_part_(out, 0, F.rows, j, each)));
    }
    CHK(okra_gemm_(ctx, false, false, -1, F, okra_mat_of_(z->Z, m, c), 1, out));
    for (okra_int i = 0; i < F.rows * m; i++) {
        F.p[i] *= F.p[i];
    }
    okra_mat_ G = okra_mat_of_(z->G, F.rows, k);
    CHK(okra_gemm_(ctx, false, false, 1, F, okra_mat_of_(z->X, m, k), 0, G));
    for (okra_int i = 0; i < F.rows * k; i++) {
        z->q.p[i % k * z->q.ld + first + i / k] = 1 - G.p[i];
    }
    return OKRA_OK;
}

static okra_status apply_rows(okra_context *ctx, void *user, okra_int first,
                              okra_mat_ Phi, okra_mat_ Psi)
{
    return in_pieces(ctx, ROWS, first, Phi, Psi, apply_block, user);
}

static okra_status low_apply(void *self, const double *lambda, okra_mat_ out, okra_mat_ q)
{
    low *z = self;
    okra_context *ctx = z->r->ctx;
    okra_int m = z->t.m, c = out.cols, each = z->U.cols, k = q.rows * each / c;
    OWNED double *Z = NULL, *X = NULL, *G = NULL;
    CHK(okra_doubles_(ctx, m, c, "the coefficients", &Z));
    CHK(okra_doubles_(ctx, m, q.rows, "the spectra", &X));
    CHK(okra_doubles_(ctx, OKRA_MIN_(ROWS, out.rows), q.rows, "a block of diagonals",
                      &G));
    for (okra_int i = 0; i < m * c; i++) {
        okra_int j = i % c;
        double x = 1 / (z->v[i / c] + lambda[j]);
        Z[i] = x * z->F[i / c * each + j % each];
        if (j % each < k) {
            X[i / c * q.rows + j / each * k + j % each] = x;
        }
    }
    z->Z = Z;
    z->X = X;
    z->G = G;
    z->out = out;
    z->q = q;
    return okra_moments_pass_(ctx, z->r->p, "leaving out", true, apply_rows, z);
}

static okra_status low_solve(void *self, double lambda, const okra_int *in, okra_mat_ R)
{
    low *z = self;
    okra_context *ctx = z->r->ctx;
    okra_int m = z->t.m, b = R.rows, side = OKRA_MIN_(b, m);
    bool few = b <= m;
    OWNED double *f = NULL, *t = NULL, *y = NULL;
    CHK(okra_doubles_(ctx, b, m, "the features of a part", &f));
    CHK(okra_doubles_(ctx, side, side, "the block of a part", &t));
    okra_mat_ F = okra_mat_of_(f, b, m), T = okra_mat_of_(t, side, side);
    for (okra_int i = 0; i < b * m; i++) {
        double root = few ? 1 / sqrt(z->v[i % m] + lambda) : 1;
        f[i] = root * z->rows.p[in[i / m] * m + i % m];
    }
    CHK(okra_syrk_(ctx, !few, -1, F, 0, T));
    for (okra_int i = 0; i < side; i++) {
        t[i * (side + 1)] += few ? 1 : z->v[i] + lambda;
    }
    CHK(okra_cholesky_(ctx, T, NULL));
    if (few) {
        return okra_cholesky_solve_(ctx, T, R);
    }
    CHK(okra_doubles_(ctx, m, R.cols, "the coefficients of a part", &y));
    okra_mat_ Y = okra_mat_of_(y, m, R.cols);
    CHK(okra_gemm_(ctx, true, false, 1, F, R, 0, Y));
    CHK(okra_cholesky_solve_(ctx, T, Y));
    return okra_gemm_(ctx, false, false, 1, F, Y, 1, R);
}

okra_status okra_smoother_low_(okra_ridge_ *r, bool rows, okra_int *d,
                               okra_smoother_ *out)
{
    okra_context *ctx = r->ctx;
    low *z = NULL;
    ZMAKE(z, 1);
    z->r = r;
    z->keep = rows;
    *out = (okra_smoother_){z, r->p->n, low_begin, low_apply, low_solve, low_free};
    CHK(okra_moments_create_(ctx, r->p, false, 0, NULL, &z->t));
    if (r->lambda2 > 0) {
        CHK(okra_moments_smooth_(ctx, r->p, r->graph, r->lambda2, &z->t));
    }
    okra_int n = z->t.n, m = z->t.m;
    *d = z->t.d;
    CHK(okra_doubles_(ctx, n, *d, "the output features", &r->Y));
    MAKE(r->mean, *d);
    CHK(okra_mat_copy_(okra_mat_of_(z->t.psi, 1, *d), okra_mat_of_(r->mean, 1, *d)));
    CHK(okra_moments_pass_(ctx, r->p, "outputs", true, gather_outputs, z));
    MAKE(z->v, m);
    CHK(okra_engine_eigh_(ctx, okra_mat_of_(z->t.C, m, m), z->v));
    okra_solution_clamp_(ctx, "ridge: the input", m, z->v);
    return OKRA_OK;
}
