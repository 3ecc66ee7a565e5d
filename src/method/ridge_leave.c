/*
 * ridge_leave.c: what ridge predicts at each training input when the part S of the
 * training set that holds it is left out, for every lambda, from one decomposition of K.
 *
 * Identity, B = (K + lambda I)^-1 = V' diag(1/(v + lambda)) V. The model without S has,
 * at the inputs of S, the weights A_S = -(B_SS)^-1 B_S,(not S),      for S = {i}:  a_j =
 * -B_ij / B_ii, by the inverse of a partitioned matrix, and so the residuals (explicit
 * features Y) R_S = Y_S - H_S = (B_SS)^-1 (B Y)_S,    for S = {i}:  (B Y)_i / B_ii,
 * Allen's PRESS residuals: r_i / (1 - (K B)_ii) with 1 - (K B)_ii = lambda B_ii. These
 * weights depend on the inputs alone, so any loss of the left-out predictions is exact.
 *
 * Centred outputs: the mean m_S is that of the outputs that stay,
 *     w_j = a_j + (1 - sum a) / (n - |S|),   R_S = (B_SS)^-1 ((B Y)_S - (B 1)_S m_S').
 *
 * Matrix operator A = E' diag(g) E (Brouard et al. 2016 sec. 4, block diagonal in the
 * rotated outputs Y E'): column j is a ridge with B_j = (g_j K + lambda I)^-1,
 *     R_ij = ((B_j (Y E')_j)_i - (B_j 1)_i m_ij) / (B_j)_ii,     H = Y - R E;
 * for parts of one input only: larger ones need a factorization a column of E.
 *
 * cov and ccov have no such form: their operator T holds the left-out output itself. With
 * T kept, the formulas above would be exact for a ridge whose operator was known before
 * the data, not for a fit without the part.
 *
 * Cost: one eigendecomposition; then for each lambda 2 n^2 d (explicit; with parts of
 * size s also 2 n^2 s) or n^3 (weights, + n^2 s). Accuracy: that of B, about
 * eps (1 + max(v) / lambda) relative.
 */
#include "method/ridge.h"

#include "method/operator.h"

#include <math.h>

typedef struct leaving {
    okra_ridge_ *r;
    const okra_leave_ *leave;
    okra_int n, d;
    okra_mat_ V; /* eigenvectors of K in rows */
    double *v;
    double *ones;        /* V 1, where outputs are centred */
    okra_int *members;   /* inputs by part, in order       */
    okra_int *begin;     /* parts + 1: where each begins    */
    okra_int largest;    /* members of the largest part    */
    double *slack;       /* n                              */
    double *BSS, *panel; /* largest^2; work of a part      */
} leaving;

/* Inputs sorted by part: counting sort. */
static okra_status sort_parts(leaving *z)
{
    okra_status st = OKRA_OK;
    const okra_parts_ *parts = z->leave->parts;
    ZALLOC(z->begin, parts->count + 1);
    ALLOC(z->members, z->n);
    for (okra_int i = 0; i < z->n; i++) {
        z->begin[(parts->part ? parts->part[i] : i) + 1]++;
    }
    for (okra_int s = 0; s < parts->count; s++) {
        z->largest = OKRA_MAX_(z->largest, z->begin[s + 1]);
        z->begin[s + 1] += z->begin[s];
    }
    for (okra_int i = z->n - 1; i >= 0; i--) {
        okra_int s = parts->part ? parts->part[i] : i;
        z->members[--z->begin[s + 1]] = i;
    }
    for (okra_int s = 0; s < parts->count; s++) { /* begin[s + 1] is now that of s */
        z->begin[s] = z->begin[s + 1];
    }
    z->begin[parts->count] = z->n;
done:
    return st;
}

/* ---- weights -------------------------------------------------------------------------
 */

/* Where outputs are centred, what the rows of W lack goes to the inputs that stay. */
static void spread(const leaving *z, okra_mat_ W, okra_int s)
{
    const okra_int *in = z->members + z->begin[s];
    okra_int size = z->begin[s + 1] - z->begin[s];
    for (okra_int k = 0; k < size; k++) {
        double *w = W.p + in[k] * W.ld, sum = 0;
        for (okra_int j = 0; j < W.cols; j++) {
            sum += w[j];
        }
        for (okra_int j = 0; z->r->center && j < W.cols; j++) {
            w[j] += (1 - sum) / (double)(z->n - size);
        }
        for (okra_int j = 0; j < size; j++) {
            w[in[j]] = 0;
        }
    }
}

/* Rows of part s of W from those of B, which are in the same place. */
static okra_status leave_rows(const leaving *z, okra_mat_ W, okra_int s)
{
    okra_status st = OKRA_OK;
    const okra_int *in = z->members + z->begin[s];
    okra_int size = z->begin[s + 1] - z->begin[s], n = z->n;
    okra_mat_ BSS = okra_mat_of_(z->BSS, size, size);
    okra_mat_ X = okra_mat_of_(z->panel, size, n);
    for (okra_int k = 0; k < size; k++) {
        okra_mat_copy_(okra_mat_part_(W, in[k], 1, 0, n), okra_mat_part_(X, k, 1, 0, n));
        for (okra_int j = 0; j < size; j++) {
            BSS.p[k * size + j] = W.p[in[k] * W.ld + in[j]];
        }
    }
    if (size == 1) {
        for (okra_int j = 0; j < n; j++) {
            X.p[j] /= BSS.p[0];
        }
    } else {
        TRY(okra_cholesky_(z->r->ctx, BSS, NULL));
        TRY(okra_cholesky_solve_(z->r->ctx, BSS, X));
    }
    for (okra_int k = 0; k < size; k++) {
        for (okra_int j = 0; j < n; j++) {
            W.p[in[k] * W.ld + j] = -X.p[k * n + j];
        }
        for (okra_int j = 0; j < size; j++) {
            W.p[in[k] * W.ld + in[j]] = 0;
        }
    }
    spread(z, W, s);
done:
    return st;
}

static okra_status leave_weights(leaving *z)
{
    okra_status st = OKRA_OK;
    okra_context *ctx = z->r->ctx;
    okra_int n = z->n;
    double *R = NULL, *W = NULL;
    TRY(okra_doubles_(ctx, n, n, "the scaled eigenvectors", &R));
    TRY(okra_doubles_(ctx, n, n, "the left-out weights", &W));
    TRY(okra_doubles_(ctx, z->largest, n, "the weights of a part", &z->panel));
    for (size_t l = 0; l < z->r->count; l++) {
        TRY(okra_cancelled_(ctx));
        okra_mat_ Wm = okra_mat_of_(W, n, n);
        okra_ridge_root_(z->V, z->v, z->r->lambda[l], R);
        TRY(okra_syrk_(ctx, true, 1, okra_mat_of_(R, n, n), 0, Wm));
        for (okra_int i = 0; i < n; i++) {
            z->slack[i] = z->r->lambda[l] * W[i * n + i];
        }
        for (okra_int s = 0; s < z->leave->parts->count; s++) {
            TRY(leave_rows(z, Wm, s));
        }
        okra_left_ left = {.lambda = l, .W = Wm, .slack = z->r->center ? NULL : z->slack};
        TRY(z->leave->sink(ctx, z->leave->user, &left));
    }
done:
    okra_free_(R);
    okra_free_(W);
    return st;
}

/* ---- explicit features ---------------------------------------------------------------
 */

/* Q (m x n) <- X (V o V): diagonals of V' diag(x) V for the m rows x of X. */
static okra_status diagonals(okra_context *ctx, okra_mat_ X, okra_mat_ V, okra_mat_ Q)
{
    enum { ROWS = 128 };
    okra_status st = OKRA_OK;
    double *squares = NULL;
    okra_int n = V.cols;
    TRY(okra_doubles_(ctx, OKRA_MIN_(ROWS, V.rows), n, "squared eigenvectors", &squares));
    for (okra_int k = 0; k < V.rows; k += ROWS) {
        okra_int m = OKRA_MIN_(ROWS, V.rows - k);
        for (okra_int i = 0; i < m; i++) {
            for (okra_int j = 0; j < n; j++) {
                double e = V.p[(k + i) * V.ld + j];
                squares[i * n + j] = e * e;
            }
        }
        TRY(okra_gemm_(ctx, false, false, 1, okra_mat_part_(X, 0, X.rows, k, m),
                       okra_mat_of_(squares, m, n), k > 0, Q));
    }
done:
    okra_free_(squares);
    return st;
}

/* m_S' (d) of part s where Y has mean 0: less the sum of S over the inputs that stay. */
static void mean_without(const leaving *z, okra_int s, double *mean)
{
    okra_int size = z->begin[s + 1] - z->begin[s];
    for (okra_int j = 0; j < z->d; j++) {
        double sum = 0;
        for (okra_int k = z->begin[s]; k < z->begin[s + 1]; k++) {
            sum += z->r->Y[z->members[k] * z->d + j];
        }
        mean[j] = -sum / (double)(z->n - size);
    }
}

/* The columns of C belonging to one lambda become H; B_SS from scratch for larger parts.
 */
static okra_status leave_residuals(const leaving *z, size_t l, okra_mat_ C,
                                   const double *diagonal, double *mean, okra_mat_ H)
{
    okra_status st = OKRA_OK;
    okra_context *ctx = z->r->ctx;
    okra_int n = z->n, d = z->d, extra = z->r->center; /* a column B 1 */
    for (okra_int s = 0; s < z->leave->parts->count; s++) {
        const okra_int *in = z->members + z->begin[s];
        okra_int size = z->begin[s + 1] - z->begin[s];
        okra_mat_ X = okra_mat_of_(z->panel, size, d + extra);
        for (okra_int k = 0; k < size; k++) {
            okra_mat_copy_(okra_mat_part_(C, in[k], 1, 0, d + extra),
                           okra_mat_part_(X, k, 1, 0, d + extra));
        }
        if (size == 1) {
            for (okra_int j = 0; j < d + extra; j++) {
                X.p[j] /= diagonal[in[0]];
            }
        } else {
            okra_mat_ VS = okra_mat_of_(z->panel + z->largest * (d + extra), n, size);
            okra_mat_ BSS = okra_mat_of_(z->BSS, size, size);
            for (okra_int i = 0; i < n; i++) {
                double root = 1 / sqrt(z->v[i] + z->r->lambda[l]);
                for (okra_int k = 0; k < size; k++) {
                    VS.p[i * size + k] = root * z->V.p[i * z->V.ld + in[k]];
                }
            }
            TRY(okra_syrk_(ctx, true, 1, VS, 0, BSS));
            TRY(okra_cholesky_(ctx, BSS, NULL));
            TRY(okra_cholesky_solve_(ctx, BSS, X));
        }
        if (extra) {
            mean_without(z, s, mean);
        }
        for (okra_int k = 0; k < size; k++) {
            const double *x = X.p + k * (d + extra), *y = z->r->Y + in[k] * d;
            double *h = H.p + in[k] * H.ld;
            for (okra_int j = 0; j < d; j++) {
                h[j] = y[j] - x[j];
                h[j] += extra ? x[d] * mean[j] + z->r->mean[j] : 0;
            }
        }
    }
done:
    return st;
}

/* Several lambdas go through one product: columns B Y (and B 1) side by side. */
static okra_status leave_features(leaving *z)
{
    enum { COLUMNS = 512 };
    okra_status st = OKRA_OK;
    okra_context *ctx = z->r->ctx;
    okra_int n = z->n, d = z->d, extra = z->r->center, each = d + extra;
    okra_int count = (okra_int)z->r->count;
    okra_int together = OKRA_MAX_(1, OKRA_MIN_(count, COLUMNS / OKRA_MAX_(1, each)));
    double *F = NULL, *S = NULL, *C = NULL, *H = NULL, *X = NULL, *Q = NULL, *mean = NULL;
    okra_int large = z->largest > 1 ? n * z->largest : 0;
    TRY(okra_doubles_(ctx, n, d, "the rotated outputs", &F));
    TRY(okra_doubles_(ctx, n, each * together, "the scaled outputs", &S));
    TRY(okra_doubles_(ctx, n, each * together, "the coefficients", &C));
    TRY(okra_doubles_(ctx, n, d, "the left-out predictions", &H));
    TRY(okra_doubles_(ctx, count, n, "the inverse spectra", &X));
    TRY(okra_doubles_(ctx, count, n, "the diagonals", &Q));
    TRY(okra_doubles_(ctx, 1, z->largest * each + large, "a part", &z->panel));
    ALLOC(mean, d);
    for (okra_int l = 0; l < count; l++) {
        for (okra_int k = 0; k < n; k++) {
            X[l * n + k] = 1 / (z->v[k] + z->r->lambda[l]);
        }
    }
    okra_mat_ Xm = okra_mat_of_(X, count, n), Qm = okra_mat_of_(Q, count, n);
    TRY(diagonals(ctx, Xm, z->V, Qm));
    TRY(okra_gemm_(ctx, false, false, 1, z->V, okra_mat_of_(z->r->Y, n, d), 0,
                   okra_mat_of_(F, n, d)));
    for (okra_int l0 = 0; l0 < count; l0 += together) {
        okra_int some = OKRA_MIN_(together, count - l0);
        okra_mat_ Sm = okra_mat_of_(S, n, each * some);
        okra_mat_ Cm = okra_mat_of_(C, n, each * some);
        TRY(okra_cancelled_(ctx));
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
        TRY(okra_gemm_(ctx, true, false, 1, z->V, Sm, 0, Cm));
        for (okra_int l = l0; l < l0 + some; l++) {
            const double *q = Q + l * n;
            for (okra_int i = 0; i < n; i++) {
                z->slack[i] = z->r->lambda[l] * q[i];
            }
            okra_mat_ Hm = okra_mat_of_(H, n, d);
            TRY(leave_residuals(z, (size_t)l,
                                okra_mat_part_(Cm, 0, n, (l - l0) * each, each), q, mean,
                                Hm));
            okra_left_ left = {.lambda = (size_t)l, .H = Hm, .slack = z->r->center ? NULL : z->slack};
            TRY(z->leave->sink(ctx, z->leave->user, &left));
        }
    }
done:
    okra_free_(F);
    okra_free_(S);
    okra_free_(C);
    okra_free_(H);
    okra_free_(X);
    okra_free_(Q);
    okra_free_(mean);
    return st;
}

/* ---- matrix operator, parts of one input ---------------------------------------------
 */

typedef struct rotated {
    double *g, *YE, *F, *X, *Q, *S, *U, *H;
} rotated;

/* One lambda: R into S, then H = Y - R E. */
static okra_status leave_rotated(const leaving *z, double lambda, const double *E,
                                 rotated *w)
{
    okra_status st = OKRA_OK;
    okra_context *ctx = z->r->ctx;
    okra_int n = z->n, d = z->d;
    okra_mat_ X = okra_mat_of_(w->X, d, n), Q = okra_mat_of_(w->Q, d, n);
    okra_mat_ S = okra_mat_of_(w->S, d, n), H = okra_mat_of_(w->H, n, d);
    for (okra_int j = 0; j < d; j++) {
        for (okra_int k = 0; k < n; k++) {
            X.p[j * n + k] = 1 / (w->g[j] * z->v[k] + lambda);
        }
    }
    TRY(diagonals(ctx, X, z->V, Q));
    if (z->r->center) { /* (B_j 1)_i, before X is overwritten */
        okra_mat_ U = okra_mat_of_(w->U, d, n);
        for (okra_int j = 0; j < d; j++) {
            for (okra_int k = 0; k < n; k++) {
                S.p[j * n + k] = X.p[j * n + k] * z->ones[k];
            }
        }
        TRY(okra_gemm_(ctx, false, false, 1, S, z->V, 0, U));
    }
    for (okra_int j = 0; j < d; j++) {
        for (okra_int k = 0; k < n; k++) {
            X.p[j * n + k] *= w->F[k * d + j];
        }
    }
    TRY(okra_gemm_(ctx, false, false, 1, X, z->V, 0, S));
    for (okra_int j = 0; j < d; j++) {
        for (okra_int i = 0; i < n; i++) {
            okra_int at = j * n + i;
            double mean = z->r->center ? -w->YE[i * d + j] / (double)(n - 1) : 0;
            S.p[at] = (S.p[at] - (z->r->center ? w->U[at] * mean : 0)) / Q.p[at];
        }
    }
    TRY(okra_gemm_(ctx, true, false, -1, S, okra_mat_view_(E, d, d, d), 0, H));
    for (okra_int i = 0; i < n * d; i++) {
        H.p[i] += z->r->Y[i] + (z->r->center ? z->r->mean[i % d] : 0);
    }
done:
    return st;
}

static okra_status leave_matrix(leaving *z, double *A)
{
    okra_status st = OKRA_OK;
    okra_context *ctx = z->r->ctx;
    okra_int n = z->n, d = z->d;
    rotated w = {0};
    okra_mat_ E = okra_mat_of_(A, d, d);
    ALLOC(w.g, d);
    TRY(okra_operator_decompose_(ctx, E, w.g));
    double **blocks[] = {&w.YE, &w.F, &w.X, &w.Q, &w.S, &w.H, &w.U};
    for (int i = 0; i < 6 + z->r->center; i++) {
        TRY(okra_doubles_(ctx, n, d, "the rotated outputs", blocks[i]));
    }
    okra_mat_ YE = okra_mat_of_(w.YE, n, d);
    TRY(okra_gemm_(ctx, false, true, 1, okra_mat_of_(z->r->Y, n, d), E, 0, YE));
    TRY(okra_gemm_(ctx, false, false, 1, z->V, YE, 0, okra_mat_of_(w.F, n, d)));
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

okra_status okra_ridge_leave_(okra_ridge_ *r, double *A, const okra_leave_ *leave)
{
    okra_status st = OKRA_OK;
    double *K = NULL;
    leaving z = {.r = r, .leave = leave, .n = r->p->n, .d = r->p->d};
    okra_int n = z.n;
    TRY(sort_parts(&z));
    if (A && z.largest > 1) {
        FAIL(OKRA_EUNSUPPORTED, "ridge: parts of a matrix operator have no closed form");
    }
    ALLOC(z.v, n);
    ALLOC(z.slack, n);
    TRY(okra_doubles_(r->ctx, z.largest, z.largest, "the block of a part", &z.BSS));
    TRY(okra_problem_K_(r->ctx, r->p, &K));
    z.V = okra_mat_of_(K, n, n);
    TRY(okra_ridge_decompose_(r->ctx, z.V, z.v));
    if (r->center) {
        ZALLOC(z.ones, n);
        for (okra_int i = 0; i < n * n; i++) {
            z.ones[i / n] += K[i];
        }
    }
    TRY(A                                     ? leave_matrix(&z, A)
        : leave->explicitly && r->p->features ? leave_features(&z)
                                              : leave_weights(&z));
done:
    okra_free_(K);
    okra_free_(z.v);
    okra_free_(z.ones);
    okra_free_(z.members);
    okra_free_(z.begin);
    okra_free_(z.slack);
    okra_free_(z.BSS);
    okra_free_(z.panel);
    return st;
}
