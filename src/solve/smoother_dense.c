/*
 * smoother_dense.c: M = I - G of a Gram matrix.
 *
 *   spectrum   K = V' diag(v) V:  M = V' diag(lambda / (v + lambda)) V, a sum of positive
 *              terms, good for any lambda (for lambda = 0: of 1 / v)
 *   graph      G = E' diag(1 / (t + lambda)) E with E, t of semi.c
 *   factor     K + lambda I = L L': M = lambda (L L')^-1, its diagonal from L^-T. Cost
 * for each lambda 4 n^3 / 3 at the speed of products, where a decomposition for all of
 * them takes about 9 n^3 at a fraction of it.
 *
 * Cost: n^3 once; for each lambda 2 n^2 c for c columns. Accuracy: about
 * eps (1 + max(v) / lambda) relative.
 */
#include "solve/ridge.h"
#include "solve/graph.h"

typedef struct spectrum {
    okra_ridge_ *r;
    okra_semi_ semi;
    bool graph;
    okra_matrix_ *V, *R; /* rank x n; work for the whole M */
    double *own;         /* v, where it is not that of semi */
    const double *v;
    okra_mat_ U;
    double *F; /* rank x c: V U */
} spectrum;

static double share(const spectrum *z, double v, double lambda)
{
    return z->graph ? 1 / (v + lambda) : lambda == 0 ? 1 / v : 1 / (1 + v / lambda);
}

static void spectrum_free(void *self)
{
    spectrum *z = self;
    okra_matrix_free_(z->V);
    okra_matrix_free_(z->R);
    okra_semi_clear_(&z->semi);
    FREE(z->own, z->F, z);
}

static okra_status spectrum_begin(void *self, okra_mat_ U)
{
    spectrum *z = self;
    okra_context *ctx = z->r->ctx;
    okra_int rank = z->V->rows;
    z->U = U;
    if (!U.p) {
        return okra_matrix_create_(ctx, rank, U.rows, "the scaled eigenvectors", &z->R);
    }
    CHK(okra_doubles_(ctx, rank, U.cols, "the rotated outputs", &z->F));
    return okra_matrix_left_(ctx, false, false, 1, z->V, U,
                             okra_mat_of_(z->F, rank, U.cols));
}

/* q (k x n) <- X (V o V), a block of rows of V at a time. */
static okra_status diagonals(const spectrum *z, okra_mat_ X, okra_mat_ q)
{
    enum { ROWS = 128 };
    okra_int rank = X.cols, n = q.cols;
    OWNED double *squares = NULL;
    CHK(okra_doubles_(z->r->ctx, OKRA_MIN_(ROWS, rank), n, "squared eigenvectors",
                      &squares));
    for (okra_int k = 0; k < rank; k += ROWS) {
        okra_mat_ block = okra_mat_of_(squares, OKRA_MIN_(ROWS, rank - k), n);
        CHK(okra_matrix_get_(z->r->ctx, z->V, k, 0, block));
        for (okra_int i = 0; i < block.rows * n; i++) {
            squares[i] *= squares[i];
        }
        CHK(okra_engine_gemm_(z->r->ctx, false, false, 1,
                              okra_mat_part_(X, 0, X.rows, k, block.rows), block, k > 0,
                              q));
    }
    return OKRA_OK;
}

/* Y = I: all of M. */
static okra_status whole(spectrum *z, double lambda, okra_mat_ out, okra_mat_ q)
{
    okra_context *ctx = z->r->ctx;
    FREED_BY(okra_matrix_drop_) okra_matrix_ *B = NULL;
    double scale = z->graph ? -1 : lambda > 0 ? lambda : 1;
    CHK(okra_matrix_begin_(ctx, false, out, &B));
    CHK(okra_ridge_inverse_(ctx, z->V, z->v, lambda, scale, z->R, B));
    CHK(okra_matrix_end_(ctx, B, out));
    for (okra_int i = 0; i < out.rows; i++) {
        out.p[i * (out.ld + 1)] += z->graph;
        q.p[i] = out.p[i * (out.ld + 1)];
    }
    return OKRA_OK;
}

static okra_status spectrum_apply(void *self, const double *lambda, okra_mat_ out,
                                  okra_mat_ q)
{
    spectrum *z = self;
    okra_int rank = z->V->rows, c = out.cols, each = z->U.cols;
    FREED_BY(okra_mat_drop_) okra_mat_ S = {0}, X = {0};
    if (!z->U.p) {
        return whole(z, lambda[0], out, q);
    }
    CHK(okra_mat_room_(z->r->ctx, rank, c, "the scaled outputs", &S));
    CHK(okra_mat_room_(z->r->ctx, q.rows, rank, "the spectra", &X));
    okra_int k = q.rows * each / c; /* diagonals of each lambda */
    for (okra_int i = 0; i < rank; i++) {
        for (okra_int j = 0; j < c; j++) {
            double x = share(z, z->v[i], lambda[j]);
            S.p[i * c + j] = x * z->F[i * each + j % each];
            if (j % each < k) {
                X.p[(j / each * k + j % each) * rank + i] = x;
            }
        }
    }
    CHK(okra_matrix_left_(z->r->ctx, true, false, 1, z->V, S, out));
    CHK(diagonals(z, X, q));
    for (okra_int i = 0; z->graph && i < out.rows * c; i++) {
        out.p[i] = z->U.p[i / c * each + i % c % each] - out.p[i];
    }
    for (okra_int i = 0; z->graph && i < q.rows * q.cols; i++) {
        q.p[i] = 1 - q.p[i];
    }
    return OKRA_OK;
}

/* M_SS = V_S' diag(x) V_S (or I less it), by blocks of rows of V. */
static okra_status spectrum_solve(void *self, double lambda, const okra_int *in,
                                  okra_mat_ R)
{
    spectrum *z = self;
    enum { ROWS = 128 };
    okra_context *ctx = z->r->ctx;
    okra_int rank = z->V->rows, n = z->V->cols, size = R.rows;
    OWNED double *rows = NULL, *VS = NULL, *block = NULL;
    CHK(okra_doubles_(ctx, ROWS, n, "eigenvectors", &rows));
    CHK(okra_doubles_(ctx, ROWS, size, "eigenvectors of a part", &VS));
    CHK(okra_doubles_(ctx, size, size, "the block of a part", &block));
    okra_mat_ MSS = okra_mat_of_(block, size, size);
    for (okra_int k = 0; k < rank; k += ROWS) {
        okra_int some = OKRA_MIN_(ROWS, rank - k);
        CHK(okra_matrix_get_(ctx, z->V, k, 0, okra_mat_of_(rows, some, n)));
        for (okra_int i = 0; i < some; i++) {
            double root = sqrt(share(z, z->v[k + i], lambda));
            for (okra_int j = 0; j < size; j++) {
                VS[i * size + j] = root * rows[i * n + in[j]];
            }
        }
        CHK(okra_syrk_(ctx, true, z->graph ? -1 : 1, okra_mat_of_(VS, some, size), k > 0,
                       MSS));
    }
    okra_mat_add_diagonal_(MSS, z->graph);
    CHK(okra_cholesky_(ctx, MSS, NULL));
    return okra_cholesky_solve_(ctx, MSS, R);
}

okra_status okra_smoother_dense_(okra_ridge_ *r, okra_smoother_ *out)
{
    okra_context *ctx = r->ctx;
    okra_int n = r->p->n, N = n + r->p->unlabelled;
    spectrum *z = NULL;
    ZMAKE(z, 1);
    z->r = r;
    *out = (okra_smoother_){
        z, n, spectrum_begin, spectrum_apply, spectrum_solve, spectrum_free};
    if (!r->graph) {
        MAKE(z->own, n);
        z->v = z->own;
        CHK(okra_ridge_K_(r, &z->V));
        CHK(okra_ridge_decompose_(ctx, z->V, z->own));
        return okra_ridge_leaves_(r, n, z->own);
    }
    z->graph = true;
    CHK(okra_semi_open_(ctx, r->p, r->s, r->graph, r->lambda2, true, 0, &z->semi));
    z->v = z->semi.t;
    return okra_matrix_borrow_(ctx, (okra_mat_){z->semi.E3, z->semi.rank, n, N}, &z->V);
}

/* ---- a factor for each lambda ---- */

typedef struct factor {
    okra_ridge_ *r;
    okra_matrix_ *K, *L, *X;
    okra_mat_ U;
} factor;

static void factor_free(void *self)
{
    factor *z = self;
    okra_matrix_free_(z->K);
    okra_matrix_free_(z->L);
    okra_matrix_free_(z->X);
    okra_free_(z);
}

static okra_status factor_begin(void *self, okra_mat_ U)
{
    ((factor *)self)->U = U;
    return OKRA_OK;
}

/* L <- the factor of K + lambda I, if it has one. */
static okra_status factor_at(factor *z, double lambda, bool *done)
{
    CHK(okra_matrix_copy_(z->r->ctx, false, z->K, z->L));
    CHK(okra_matrix_add_diagonal_(z->r->ctx, lambda, z->L));
    return okra_matrix_cholesky_try_(z->r->ctx, z->L, done);
}

static okra_status factor_apply(void *self, const double *lambda, okra_mat_ out,
                                okra_mat_ q)
{
    factor *z = self;
    okra_context *ctx = z->r->ctx;
    bool done = false;
    CHK(factor_at(z, lambda[0], &done));
    REFUSE_IF(!done, OKRA_ENUMERIC, "ridge: no factor for lambda %g, one for a smaller",
              lambda[0]);
    CHK(okra_matrix_fill_(ctx, 0, z->X));
    CHK(okra_matrix_add_diagonal_(ctx, 1, z->X));
    CHK(okra_matrix_trsm_(ctx, false, true, z->L, z->X)); /* B_ii = |row i of L^-T|^2 */
    CHK(okra_matrix_combine_(ctx, OKRA_COMBINE_PRODUCT_, 0, 0, NULL, NULL, z->X, z->X));
    CHK(okra_matrix_row_sums_(ctx, z->X, q.p));
    CHK(okra_mat_copy_(z->U, out));
    CHK(okra_matrix_solve_host_(ctx, true, z->L, out));
    okra_scale_(out.rows * out.cols, lambda[0], out.p);
    okra_scale_(q.cols, lambda[0], q.p);
    return OKRA_OK;
}

static bool pays(const okra_ridge_ *r, okra_int largest)
{
    /* As many factors as one decomposition takes the time of: measured on an H200. */
    okra_int n = r->p->n;
    size_t most = n < 8      ? 0
                  : n < 1024 ? 5
                  : n < 2048 ? 7
                  : n < 4096 ? 9
                  : n < 8192 ? 13
                             : 16;
    return !okra_engine_is_host_(r->ctx) && largest == 1 && r->count <= most &&
           !r->times && okra_ridge_least_lambda_(r) > 0; /* 0: the rank decides */
}

okra_status okra_smoother_factor_(okra_ridge_ *r, okra_int largest, bool *done,
                                  okra_smoother_ *out)
{
    okra_int n = r->p->n;
    factor *z = NULL;
    if (!pays(r, largest)) {
        return OKRA_OK;
    }
    ZMAKE(z, 1);
    z->r = r;
    okra_smoother_ made = {z, n, factor_begin, factor_apply, NULL, factor_free};
    okra_status st = okra_ridge_K_(r, &z->K);
    st = st ? st : okra_matrix_create_(r->ctx, n, n, "the factor of a lambda", &z->L);
    st = st ? st : okra_matrix_create_(r->ctx, n, n, "its inverse", &z->X);
    st = st ? st : factor_at(z, okra_ridge_least_lambda_(r), done);
    if (st == OKRA_OK && *done) {
        *out = made;
        return OKRA_OK;
    }
    factor_free(z);
    return st;
}
