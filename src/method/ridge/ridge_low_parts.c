/*
 * ridge_low_parts.c: what factored ridge predicts at the inputs of a part S of the
 * training set that is left out, the features being kept; identity operator.
 *
 * C (m x m) as in ridge_low_leave.c, R = Phi'Psi of centred outputs, s = Phi'1; b = |S|,
 * m_S = -sum_S y / (n - b) the mean of the centred outputs that stay, 0 if not centred.
 *   b <= m   L L' = C + lambda I, F = Phi_S L^-T, A = (C + lambda I)^-1 R, u likewise of
 *            s:   r_S = (I - F F')^-1 (Psi_S - Phi_S A - (1 - Phi_S u) m_S'),
 *            H_S = Psi_S - r_S                                     (ridge_leave.c)
 *   b > m    the model of the others, from the moments less those of S:
 *            H_S = Phi_S (C + lambda I - Phi_S'Phi_S)^-1
 *                        (R - Phi_S'Psi_S - (s - Phi_S'1) m_S') + m_S
 * Rows of a part lie apart, so that features of inputs and outputs are kept (n x (m +
 * d)), in a file where they are large. Cost for each part and lambda: b m^2 and b^3 / 3,
 * or b m^2 and m^3 / 3.
 */
#include "method/ridge/moments.h"
#include "method/ridge/ridge_leave.h"

typedef struct leaving {
    okra_ridge_ *r;
    const okra_moments_ *t;
    const okra_sorted_ *parts;
    okra_scratch_ rows; /* n x (m + d): Phi, Psi less its mean                   */
    double *row;        /* m + d                                                 */
    okra_int most;      /* rows of a panel                                       */
    double *P;          /* most x m: Phi_S, or some of its rows                  */
    double *X;          /* most x (d + 1): Psi_S and 1, then what becomes of it  */
    double *L, *A;      /* m x m; m x (d + 1)                                    */
    double *S, *B;      /* a part: b x b or m x m; m x (d + 1)                   */
    double *mean;       /* d: m_S                                                */
    double *H;          /* n x d                                                 */
} leaving;

static okra_status keep(okra_context *ctx, void *user, okra_int first, okra_mat_ Phi,
                        okra_mat_ Psi)
{
    leaving *z = user;
    okra_int m = Phi.cols;
    (void)ctx;
    for (okra_int i = 0; i < Phi.rows; i++) {
        for (okra_int j = 0; j < m; j++) {
            z->row[j] = Phi.p[i * Phi.ld + j];
        }
        for (okra_int j = 0; j < Psi.cols; j++) {
            double s = okra_ridge_root_(z->r, first + i);
            double mean = z->r->center ? s * z->t->psi[j] : 0;
            z->row[m + j] = Psi.p[i * Psi.ld + j] - mean;
        }
        CHK(okra_scratch_write_(&z->rows, first + i, 1, z->row));
    }
    return OKRA_OK;
}

/* Members begin..begin+count-1 (counted in `members`) into P and X. */
static void gather(const leaving *z, okra_int begin, okra_int count)
{
    okra_int m = z->t->m, d = z->t->d;
    for (okra_int k = 0; k < count; k++) {
        const double *row = z->rows.p + z->parts->members[begin + k] * (m + d);
        double *x = z->X + k * (d + 1);
        for (okra_int j = 0; j < m; j++) {
            z->P[k * m + j] = row[j];
        }
        for (okra_int j = 0; j < d; j++) {
            x[j] = row[m + j];
        }
        x[d] = okra_ridge_root_(z->r, z->parts->members[begin + k]);
    }
}

static void find_mean(const leaving *z, okra_int s)
{
    okra_int m = z->t->m, d = z->t->d, begin = z->parts->begin[s];
    okra_int end = z->parts->begin[s + 1];
    double stay = z->t->total;
    for (okra_int k = begin; k < end; k++) {
        stay -= okra_ridge_weight_(z->r, z->parts->members[k]);
    }
    for (okra_int j = 0; j < d; j++) {
        double sum = 0;
        for (okra_int k = begin; z->r->center && k < end; k++) {
            okra_int i = z->parts->members[k];
            sum += okra_ridge_root_(z->r, i) * z->rows.p[i * (m + d) + m + j];
        }
        z->mean[j] = z->r->center ? -sum / stay : 0;
    }
}

/* Member k's prediction: of centred outputs, and the mean restored. */
static void put(const leaving *z, okra_int k, const double *h)
{
    okra_int d = z->t->d;
    double *to = z->H + z->parts->members[k] * d;
    double s = okra_ridge_root_(z->r, z->parts->members[k]);
    for (okra_int j = 0; j < d; j++) {
        to[j] = h[j] + (z->r->center ? s * z->t->psi[j] : 0);
    }
}

static okra_status small_part(const leaving *z, okra_int s)
{
    okra_context *ctx = z->r->ctx;
    okra_int m = z->t->m, d = z->t->d, begin = z->parts->begin[s];
    okra_int b = z->parts->begin[s + 1] - begin;
    okra_mat_ P = okra_mat_of_(z->P, b, m), X = okra_mat_of_(z->X, b, d + 1);
    okra_mat_ T = okra_mat_of_(z->S, b, b);
    gather(z, begin, b);
    CHK(okra_gemm_(ctx, false, false, -1, P, okra_mat_of_(z->A, m, d + 1), 1, X));
    CHK(okra_trsm_(ctx, false, true, okra_mat_of_(z->L, m, m), P));
    CHK(okra_syrk_(ctx, false, -1, P, 0, T));
    okra_mat_add_diagonal_(T, 1);
    CHK(okra_cholesky_(ctx, T, NULL));
    CHK(okra_cholesky_solve_(ctx, T, X));
    for (okra_int k = 0; k < b; k++) {
        double *x = X.p + k * (d + 1);
        const double *y = z->rows.p + z->parts->members[begin + k] * (m + d) + m;
        for (okra_int j = 0; j < d; j++) {
            x[j] = y[j] - (x[j] - x[d] * z->mean[j]);
        }
        put(z, begin + k, x);
    }
    return OKRA_OK;
}

static okra_status large_part(const leaving *z, double lambda, okra_int s)
{
    okra_context *ctx = z->r->ctx;
    okra_int m = z->t->m, d = z->t->d, begin = z->parts->begin[s];
    okra_int end = z->parts->begin[s + 1];
    okra_mat_ C = okra_mat_of_(z->S, m, m), B = okra_mat_of_(z->B, m, d + 1);
    CHK(okra_mat_copy_(okra_mat_of_(z->t->C, m, m), C));
    okra_mat_add_diagonal_(C, lambda);
    for (okra_int i = 0; i < m; i++) {
        for (okra_int j = 0; j <= d; j++) {
            B.p[i * (d + 1) + j] =
                j < d ? z->t->R[i * d + j] : z->t->total * z->t->phi[i];
        }
    }
    for (okra_int k = begin; k < end; k += z->most) {
        okra_int some = OKRA_MIN_(z->most, end - k);
        okra_mat_ P = okra_mat_of_(z->P, some, m);
        gather(z, k, some);
        CHK(okra_syrk_(ctx, true, -1, P, 1, C));
        CHK(okra_gemm_(ctx, true, false, -1, P, okra_mat_of_(z->X, some, d + 1), 1, B));
    }
    for (okra_int i = 0; i < m; i++) {
        double *row = B.p + i * (d + 1);
        for (okra_int j = 0; j < d; j++) {
            row[j] -= row[d] * z->mean[j];
        }
    }
    CHK(okra_cholesky_(ctx, C, NULL));
    CHK(okra_cholesky_solve_(ctx, C, B));
    for (okra_int k = begin; k < end; k += z->most) {
        okra_int some = OKRA_MIN_(z->most, end - k);
        okra_mat_ P = okra_mat_of_(z->P, some, m), X = okra_mat_of_(z->X, some, d + 1);
        gather(z, k, some);
        CHK(okra_gemm_(ctx, false, false, 1, P, B, 0, X));
        for (okra_int i = 0; i < some; i++) {
            double *x = X.p + i * (d + 1);
            double root = okra_ridge_root_(z->r, z->parts->members[k + i]);
            for (okra_int j = 0; j < d; j++) {
                x[j] += root * z->mean[j];
            }
            put(z, k + i, x);
        }
    }
    return OKRA_OK;
}

/* L, and A = (C + lambda I)^-1 [R, Phi'1] */
static okra_status factor(const leaving *z, double lambda)
{
    okra_context *ctx = z->r->ctx;
    okra_int m = z->t->m, d = z->t->d;
    okra_mat_ L = okra_mat_of_(z->L, m, m);
    CHK(okra_mat_copy_(okra_mat_of_(z->t->C, m, m), L));
    okra_mat_add_diagonal_(L, lambda);
    CHK(okra_cholesky_(ctx, L, NULL));
    for (okra_int i = 0; i < m; i++) {
        for (okra_int j = 0; j <= d; j++) {
            z->A[i * (d + 1) + j] =
                j < d ? z->t->R[i * d + j] : z->t->total * z->t->phi[i];
        }
    }
    return okra_cholesky_solve_(ctx, L, okra_mat_of_(z->A, m, d + 1));
}

static okra_status open_leaving(leaving *z)
{
    enum { ROWS = 1024 };
    okra_context *ctx = z->r->ctx;
    okra_int m = z->t->m, d = z->t->d, largest = z->parts->largest;
    okra_int side = OKRA_MAX_(OKRA_MIN_(largest, m), largest > m ? m : 0);
    z->most = OKRA_MIN_(largest, OKRA_MAX_(m, ROWS));
    CHK(okra_scratch_create_(ctx, z->t->n, m + d, "the features of inputs and outputs",
                             &z->rows));
    MAKE(z->row, m + d);
    MAKE(z->mean, d);
    CHK(okra_moments_pass_(ctx, z->r->p, "features", 0, keep, z));
    CHK(okra_doubles_(ctx, z->most, m, "the features of a part", &z->P));
    CHK(okra_doubles_(ctx, z->most, d + 1, "the outputs of a part", &z->X));
    CHK(okra_doubles_(ctx, m, m, "the factor of the moments", &z->L));
    CHK(okra_doubles_(ctx, m, d + 1, "the coefficients", &z->A));
    CHK(okra_doubles_(ctx, side, side, "the block of a part", &z->S));
    CHK(okra_doubles_(ctx, m, d + 1, "the coefficients of a part", &z->B));
    return okra_doubles_(ctx, z->t->n, d, "the left-out predictions", &z->H);
}

okra_status okra_ridge_low_parts_(okra_ridge_ *r, const okra_moments_ *t,
                                  const okra_sorted_ *parts, const okra_leave_ *leave)
{
    okra_status st = OKRA_OK;
    leaving z = {.r = r, .t = t, .parts = parts};
    TRY(open_leaving(&z));
    for (size_t l = 0; l < r->count; l++) {
        TRY(factor(&z, r->lambda[l]));
        for (okra_int s = 0; s < leave->parts->count; s++) {
            TRY(okra_cancelled_(r->ctx));
            find_mean(&z, s);
            TRY(parts->begin[s + 1] - parts->begin[s] <= t->m
                    ? small_part(&z, s)
                    : large_part(&z, r->lambda[l], s));
        }
        okra_left_ left = {.lambda = l, .H = okra_mat_of_(z.H, t->n, t->d)};
        TRY(leave->sink(r->ctx, leave->user, &left));
    }
done:
    okra_scratch_clear_(&z.rows);
    FREE(z.row, z.P, z.X, z.L, z.A, z.S, z.B, z.mean, z.H);
    return st;
}
