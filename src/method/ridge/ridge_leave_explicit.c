/*
 * ridge_leave_explicit.c: left-out predictions of outputs with explicit features; the
 * equations are in ridge_leave.c.
 */
#include "method/ridge/ridge_leave.h"

#include "method/ridge/operator.h"

#include <math.h>

/* The same where the engine is not the host and has room for V o V. */
static okra_status diagonals_there(okra_context *ctx, okra_mat_ X, const okra_large_ *V,
                                   okra_mat_ Q)
{
    FREED_BY(okra_large_drop_) okra_large_ *squares = NULL, *x = NULL, *sum = NULL;
    CHK(okra_large_create_(ctx, okra_large_rows_(V), okra_large_cols_(V),
                           "squared eigenvectors", &squares));
    CHK(okra_large_copy_(ctx, false, V, squares));
    CHK(okra_large_combine_(ctx, OKRA_COMBINE_PRODUCT_, 0, 0, NULL, NULL, V, squares));
    CHK(okra_large_borrow_(ctx, X, &x));
    CHK(okra_large_create_(ctx, Q.rows, Q.cols, "the diagonals", &sum));
    CHK(okra_large_gemm_(ctx, false, false, 1, x, squares, 0, sum));
    return okra_large_get_(ctx, sum, 0, 0, Q);
}

/* Q (m x n) <- X (V o V): diagonals of V' diag(x) V for the m rows x of X. */
static okra_status diagonals(okra_context *ctx, okra_mat_ X, const okra_large_ *V,
                             okra_mat_ Q)
{
    okra_status st = OKRA_OK;
    enum { ROWS = 128 };
    okra_int rank = okra_large_rows_(V), n = okra_large_cols_(V);
    FREED_BY(okra_large_drop_) okra_large_ *sum = NULL, *x = NULL, *some = NULL;
    OWNED double *squares = NULL;
    if (!okra_engine_is_host_(ctx)) {
        st = diagonals_there(ctx, X, V, Q);
        if (st != OKRA_EBUDGET && st != OKRA_EMEM) {
            return st;
        }
    }
    CHK(okra_large_begin_(ctx, false, Q, &sum));
    CHK(okra_doubles_(ctx, OKRA_MIN_(ROWS, rank), n, "squared eigenvectors", &squares));
    for (okra_int k = 0; k < rank; k += ROWS) {
        okra_int m = OKRA_MIN_(ROWS, rank - k);
        okra_mat_ block = okra_mat_of_(squares, m, n);
        CHK(okra_large_get_(ctx, V, k, 0, block));
        for (okra_int i = 0; i < m * n; i++) {
            squares[i] *= squares[i];
        }
        CHK(okra_large_borrow_(ctx, okra_mat_part_(X, 0, X.rows, k, m), &x));
        CHK(okra_large_borrow_(ctx, block, &some));
        CHK(okra_large_gemm_(ctx, false, false, 1, x, some, k > 0, sum));
        okra_large_free_(x);
        okra_large_free_(some);
        x = some = NULL;
    }
    return okra_large_end_(ctx, sum, Q);
}

/* m_S' (d) of part s where Y has mean 0: less the sum of S over the inputs that stay. */
static void mean_without(const okra_leaving_ *z, okra_int s, double *mean)
{
    double stay = okra_leave_stay_(z, s);
    for (okra_int j = 0; j < z->d; j++) {
        double sum = 0;
        for (okra_int k = z->parts.begin[s]; k < z->parts.begin[s + 1]; k++) {
            okra_int i = z->parts.members[k];
            sum += okra_ridge_root_(z->r, i) * z->r->Y[i * z->d + j];
        }
        mean[j] = -sum / stay;
    }
}

/* V at the inputs of one part, for all lambdas of a batch. */
typedef struct columns {
    const double *from; /* rows of V, or V_S   */
    double *to;         /* V_S, or it scaled   */
    const okra_int *in; /* its inputs; NULL: as they are */
    const double *v;    /* eigenvalues         */
    double lambda;
    okra_int n, size;
} columns;

static okra_status pick(void *arg, okra_int begin, okra_int end, int worker)
{
    const columns *c = arg;
    (void)worker;
    for (okra_int i = begin; i < end; i++) {
        for (okra_int k = 0; k < c->size; k++) {
            c->to[i * c->size + k] = c->from[i * c->n + c->in[k]];
        }
    }
    return OKRA_OK;
}

static okra_status weigh(void *arg, okra_int begin, okra_int end, int worker)
{
    const columns *c = arg;
    (void)worker;
    for (okra_int i = begin; i < end; i++) {
        double root = 1 / sqrt(c->v[i] + c->lambda);
        for (okra_int k = 0; k < c->size; k++) {
            c->to[i * c->size + k] = c->from[i * c->size + k] * root;
        }
    }
    return OKRA_OK;
}

/* VS (n x size) <- the columns `in` of V, which comes by whole rows; work: as VS. */
static okra_status gather(const okra_leaving_ *z, const okra_int *in, okra_int size,
                          double *VS, double *work)
{
    okra_context *ctx = z->r->ctx;
    for (okra_int i = 0; i < z->n; i += size) {
        okra_int m = OKRA_MIN_(size, z->n - i);
        columns c = {
            .from = work, .to = VS + i * size, .in = in, .n = z->n, .size = size};
        CHK(okra_large_get_(ctx, z->V, i, 0, okra_mat_of_(work, m, z->n)));
        CHK(okra_parallel_(ctx, m, 16, NULL, pick, &c));
    }
    return OKRA_OK;
}

/* X <- B_SS^-1 X, B_SS = V_S' (diag(v) + lambda I)^-1 V_S. */
static okra_status solve_part(const okra_leaving_ *z, double lambda, const double *VS,
                              double *work, okra_mat_ X)
{
    okra_context *ctx = z->r->ctx;
    okra_mat_ BSS = okra_mat_of_(z->BSS, X.rows, X.rows);
    columns c = {.from = VS, .to = work, .v = z->v, .lambda = lambda, .size = X.rows};
    CHK(okra_parallel_(ctx, z->n, 64, NULL, weigh, &c));
    CHK(okra_syrk_(ctx, true, 1, okra_mat_of_(work, z->n, X.rows), 0, BSS));
    CHK(okra_cholesky_(ctx, BSS, NULL));
    return okra_cholesky_solve_(ctx, BSS, X);
}

okra_status okra_leave_residuals_(const okra_leaving_ *z, const double *lambda,
                                  okra_int some, okra_mat_ C, const double *diagonal,
                                  double *mean, double *H)
{
    okra_int n = z->n, d = z->d, each = d + z->r->center; /* with a column B 1 */
    double *VS = z->panel + z->parts.largest * each;
    double *work = VS + n * z->parts.largest;
    for (okra_int s = 0; s < z->leave->parts->count; s++) {
        const okra_int *in = z->parts.members + z->parts.begin[s];
        okra_int size = z->parts.begin[s + 1] - z->parts.begin[s];
        if (size > 1) {
            CHK(gather(z, in, size, VS, work));
        }
        if (z->r->center) {
            mean_without(z, s, mean);
        }
        for (okra_int l = 0; l < some; l++) {
            okra_mat_ X = okra_mat_of_(z->panel, size, each);
            for (okra_int k = 0; k < size; k++) {
                CHK(okra_mat_copy_(okra_mat_part_(C, in[k], 1, l * each, each),
                                   okra_mat_part_(X, k, 1, 0, each)));
            }
            for (okra_int j = 0; size == 1 && j < each; j++) {
                X.p[j] /= diagonal[l * n + in[0]];
            }
            if (size > 1) {
                CHK(solve_part(z, lambda[l], VS, work, X));
            }
            for (okra_int k = 0; k < size; k++) {
                const double *x = X.p + k * each, *y = z->r->Y + in[k] * d;
                double *h = H + (l * n + in[k]) * d, root = okra_ridge_root_(z->r, in[k]);
                for (okra_int j = 0; j < d; j++) {
                    h[j] = y[j] - x[j];
                    h[j] += z->r->center ? x[d] * mean[j] + root * z->r->mean[j] : 0;
                }
            }
        }
    }
    return OKRA_OK;
}

/* Several lambdas go through one product: columns B Y (and B 1) side by side. */
okra_status okra_leave_features_(okra_leaving_ *z)
{
    enum { COLUMNS = 512 };
    okra_context *ctx = z->r->ctx;
    okra_int n = z->n, d = z->d, extra = z->r->center, each = d + extra;
    okra_int count = (okra_int)z->r->count;
    okra_int together = OKRA_MAX_(1, OKRA_MIN_(count, COLUMNS / OKRA_MAX_(1, each)));
    OWNED double *F = NULL, *S = NULL, *C = NULL, *H = NULL, *X = NULL, *Q = NULL,
                 *mean = NULL;
    okra_int large = z->parts.largest > 1 ? 2 * n * z->parts.largest : 0;
    CHK(okra_doubles_(ctx, n, d, "the rotated outputs", &F));
    CHK(okra_doubles_(ctx, n, each * together, "the scaled outputs", &S));
    CHK(okra_doubles_(ctx, n, each * together, "the coefficients", &C));
    CHK(okra_doubles_(ctx, n * together, d, "the left-out predictions", &H));
    CHK(okra_doubles_(ctx, count, n, "the inverse spectra", &X));
    CHK(okra_doubles_(ctx, count, n, "the diagonals", &Q));
    CHK(okra_doubles_(ctx, 1, z->parts.largest * each + large, "a part", &z->panel));
    MAKE(mean, d);
    for (okra_int l = 0; l < count; l++) {
        for (okra_int k = 0; k < n; k++) {
            X[l * n + k] = 1 / (z->v[k] + z->r->lambda[l]);
        }
    }
    okra_mat_ Xm = okra_mat_of_(X, count, n), Qm = okra_mat_of_(Q, count, n);
    CHK(diagonals(ctx, Xm, z->V, Qm));
    CHK(okra_large_left_(ctx, false, false, 1, z->V, okra_mat_of_(z->r->Y, n, d),
                         okra_mat_of_(F, n, d)));
    for (okra_int l0 = 0; l0 < count; l0 += together) {
        okra_int some = OKRA_MIN_(together, count - l0);
        okra_mat_ Sm = okra_mat_of_(S, n, each * some);
        okra_mat_ Cm = okra_mat_of_(C, n, each * some);
        CHK(okra_cancelled_(ctx));
        for (okra_int k = 0; k < n; k++) {
            for (okra_int l = 0; l < some; l++) {
                double x = X[(l0 + l) * n + k], *row = Sm.p + k * Sm.ld + l * each;
                for (okra_int j = 0; j < d; j++) {
                    row[j] = x * F[k * d + j];
                }
                if (extra) {
                    row[d] = x * z->ones[k];
                }
            }
        }
        CHK(okra_large_left_(ctx, true, false, 1, z->V, Sm, Cm));
        CHK(okra_leave_residuals_(z, z->r->lambda + l0, some, Cm, Q + l0 * n, mean, H));
        for (okra_int l = l0; l < l0 + some; l++) {
            for (okra_int i = 0; i < n; i++) {
                z->slack[i] = z->r->lambda[l] * Q[l * n + i];
            }
            okra_left_ left = {.lambda = (size_t)l,
                               .H = okra_mat_of_(H + (l - l0) * n * d, n, d),
                               .slack = z->r->center || z->r->lambda[l] == 0 ? NULL
                                                                             : z->slack};
            CHK(z->leave->sink(ctx, z->leave->user, &left));
        }
    }
    return OKRA_OK;
}

/* ---- matrix operator, parts of one input ---- */

typedef struct rotated {
    double *g, *YE, *F, *X, *Q, *S, *U, *H;
} rotated;

/* Out (d x n) <- what I - G_j makes of each column: X V, with a graph `whole` - X V. */
static okra_status complement(const okra_leaving_ *z, okra_mat_ X, const double *whole,
                              okra_mat_ out)
{
    okra_status st = okra_large_right_(z->r->ctx, false, false, 1, X, z->V, out);
    for (okra_int i = 0; st == OKRA_OK && z->graph && i < out.rows * out.cols; i++) {
        /* whole: n x d, NULL: ones */
        double w =
            whole ? whole[i % z->n * z->d + i / z->n] : okra_ridge_root_(z->r, i % z->n);
        out.p[i] = w - out.p[i];
    }
    return st;
}

/* Q (d x n) <- (I - G_j)_ii; X: the spectra of I - G_j, or of G_j with a graph. */
static okra_status spectra(const okra_leaving_ *z, double lambda, const rotated *w,
                           okra_mat_ X, okra_mat_ Q)
{
    okra_int rank = okra_large_rows_(z->V);
    for (okra_int j = 0; j < z->d; j++) {
        for (okra_int k = 0; k < rank; k++) {
            X.p[j * rank + k] =
                (z->graph ? w->g[j] : lambda) / (w->g[j] * z->v[k] + lambda);
        }
    }
    okra_status st = diagonals(z->r->ctx, X, z->V, Q);
    for (okra_int i = 0; st == OKRA_OK && z->graph && i < z->d * z->n; i++) {
        Q.p[i] = 1 - Q.p[i];
    }
    return st;
}

/* One lambda: R into S, then H = Y - R E. */
static okra_status leave_rotated(const okra_leaving_ *z, double lambda, const double *E,
                                 rotated *w)
{
    okra_context *ctx = z->r->ctx;
    okra_int n = z->n, d = z->d, rank = okra_large_rows_(z->V);
    okra_mat_ X = okra_mat_of_(w->X, d, rank), Q = okra_mat_of_(w->Q, d, n);
    okra_mat_ S = okra_mat_of_(w->S, d, n), H = okra_mat_of_(w->H, n, d);
    okra_mat_ U = okra_mat_of_(w->U, d, n);
    CHK(spectra(z, lambda, w, X, Q));
    if (z->r->center) { /* ((I - G_j) 1)_i */
        okra_mat_ T = okra_mat_of_(w->S, d, rank);
        for (okra_int i = 0; i < d * rank; i++) {
            T.p[i] = X.p[i] * z->ones[i % rank];
        }
        CHK(complement(z, T, NULL, U));
    }
    for (okra_int i = 0; i < d * rank; i++) {
        X.p[i] *= w->F[i % rank * d + i / rank];
    }
    CHK(complement(z, X, w->YE, S));
    for (okra_int j = 0; j < d; j++) {
        for (okra_int i = 0; i < n; i++) {
            okra_int at = j * n + i;
            double s = okra_ridge_root_(z->r, i);
            double mean =
                z->r->center ? -s * w->YE[i * d + j] / (z->r->total - s * s) : 0;
            S.p[at] = (S.p[at] - (z->r->center ? w->U[at] * mean : 0)) / Q.p[at];
        }
    }
    CHK(okra_gemm_(ctx, true, false, -1, S, okra_mat_view_(E, d, d, d), 0, H));
    for (okra_int i = 0; i < n * d; i++) {
        H.p[i] += z->r->Y[i] +
                  (z->r->center ? okra_ridge_root_(z->r, i / d) * z->r->mean[i % d] : 0);
    }
    return OKRA_OK;
}

okra_status okra_leave_matrix_(okra_leaving_ *z, double *A)
{
    okra_status st = OKRA_OK;
    okra_context *ctx = z->r->ctx;
    okra_int n = z->n, d = z->d, rank = okra_large_rows_(z->V);
    okra_int most = OKRA_MAX_(n, rank);
    rotated w = {0};
    okra_mat_ E = okra_mat_of_(A, d, d);
    ALLOC(w.g, d);
    TRY(okra_operator_decompose_(ctx, E, w.g));
    double **blocks[] = {&w.YE, &w.F, &w.X, &w.Q, &w.S, &w.H, &w.U};
    for (int i = 0; i < 6 + z->r->center; i++) {
        TRY(okra_doubles_(ctx, most, d, "the rotated outputs", blocks[i]));
    }
    okra_mat_ YE = okra_mat_of_(w.YE, n, d);
    TRY(okra_gemm_(ctx, false, true, 1, okra_mat_of_(z->r->Y, n, d), E, 0, YE));
    TRY(okra_large_left_(ctx, false, false, 1, z->V, YE, okra_mat_of_(w.F, rank, d)));
    for (size_t l = 0; l < z->r->count; l++) {
        TRY(okra_cancelled_(ctx));
        TRY(leave_rotated(z, z->r->lambda[l], A, &w));
        okra_left_ left = {.lambda = l, .H = okra_mat_of_(w.H, n, d)};
        TRY(z->leave->sink(ctx, z->leave->user, &left));
    }
done:
    okra_free_(w.g);
    for (int i = 0; i < 7; i++) {
        double *block[] = {w.YE, w.F, w.X, w.Q, w.S, w.H, w.U};
        okra_free_(block[i]);
    }
    return st;
}
