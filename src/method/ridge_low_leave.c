/*
 * ridge_low_leave.c: what factored ridge predicts at each training input when it is left
 * out, the features phi being kept: for every lambda, from one decomposition.
 *
 * With B = (Phi Phi' + lambda I)^-1 = (I - Phi M Phi') / lambda, M = (C + lambda I)^-1,
 * C = Phi'Phi, the formulas of ridge_leave.c become, for y_i less the mean output,
 *     t_i = phi_i' M phi_i  (= 1 - lambda B_ii),   A = M Phi'Psi,   u = M Phi'1,
 *     r_i = (y_i - A'phi_i - (1 - u'phi_i) m_i) / (1 - t_i),   h_i = y_i - r_i,
 * m_i = -y_i / (n - 1), the mean of the centred outputs that stay; 0 if not centred.
 *
 * Cost: one pass for the moments and m^3, then a pass of n m^2 + 2 n m d a lambda.
 */
#include "method/ridge.h"

#include "kernel/lowrank.h"
#include "method/moments.h"

#include <math.h>

typedef struct leaving {
    const okra_ridge_ *r;
    const okra_moments_ *t;
    okra_mat_ A;   /* m x (d + 1): A, u                */
    okra_mat_ S;   /* m x m: S S' = M                  */
    double *F, *Q; /* rows x m, rows x (d + 1): a block */
    okra_int rows;
    double *H, *slack;
} leaving;

static okra_status block(okra_context *ctx, void *user, okra_int first, okra_mat_ Phi,
                         okra_mat_ Psi)
{
    okra_status st = OKRA_OK;
    leaving *z = user;
    okra_int m = Phi.cols, d = Psi.cols, n = z->t->n;
    for (okra_int at = 0; at < Phi.rows; at += z->rows) {
        okra_int some = OKRA_MIN_(z->rows, Phi.rows - at);
        okra_mat_ P = okra_mat_part_(Phi, at, some, 0, m);
        okra_mat_ F = okra_mat_of_(z->F, some, m), Q = okra_mat_of_(z->Q, some, d + 1);
        TRY(okra_gemm_(ctx, false, false, 1, P, z->S, 0, F));
        TRY(okra_gemm_(ctx, false, false, 1, P, z->A, 0, Q));
        for (okra_int i = 0; i < some; i++) {
            okra_int row = first + at + i;
            const double *y = Psi.p + (at + i) * Psi.ld, *q = Q.p + i * Q.ld;
            double left = 1 - okra_dot_(m, F.p + i * m, F.p + i * m), mean = 0;
            z->slack[row] = left;
            for (okra_int j = 0; j < d; j++) {
                double shift = z->r->center ? z->t->psi[j] : 0, value = y[j] - shift;
                mean = z->r->center ? -value / (double)(n - 1) : 0;
                double residual = (value - q[j] - (1 - q[d]) * mean) / left;
                z->H[row * d + j] = y[j] - residual;
            }
        }
    }
done:
    return st;
}

/* S = V' diag((v + lambda)^-1/2), A = S S' [R, Phi'1] */
static okra_status prepare(leaving *z, okra_mat_ V, const double *v, double lambda,
                           double *work)
{
    okra_status st = OKRA_OK;
    const okra_moments_ *t = z->t;
    okra_int m = t->m, d = t->d;
    okra_mat_ W = okra_mat_of_(work, m, d + 1), right = z->A;
    for (okra_int i = 0; i < m; i++) {
        for (okra_int j = 0; j < m; j++) {
            z->S.p[j * m + i] = V.p[i * V.ld + j] / sqrt(v[i] + lambda);
        }
        for (okra_int j = 0; j < d; j++) {
            right.p[i * right.ld + j] = t->R[i * d + j];
        }
        right.p[i * right.ld + d] = (double)t->n * t->phi[i];
    }
    TRY(okra_gemm_(z->r->ctx, true, false, 1, z->S, right, 0, W));
    TRY(okra_gemm_(z->r->ctx, false, false, 1, z->S, W, 0, z->A));
done:
    return st;
}

okra_status okra_ridge_low_leave_(okra_ridge_ *r, const okra_leave_ *leave)
{
    enum { ROWS = 1024 };
    okra_status st = OKRA_OK;
    okra_context *ctx = r->ctx;
    okra_moments_ t = {0};
    leaving z = {.r = r, .t = &t, .rows = ROWS};
    double *v = NULL, *S = NULL, *A = NULL, *work = NULL;
    if (leave->parts->part || okra_problem_features_(r->p) == 0 ||
        (!leave->explicitly && !r->p->map_y)) {
        FAIL(OKRA_EUNSUPPORTED,
             "ridge: low rank has a closed form of leaving out single inputs with "
             "explicit outputs or outputs of low rank alone");
    }
    TRY(okra_moments_create_(ctx, r->p, false, 0, &t));
    if (r->center) {
        okra_moments_center_(&t);
    }
    okra_int m = t.m, d = t.d;
    ALLOC(v, m);
    ALLOC(z.slack, t.n);
    TRY(okra_ridge_decompose_(ctx, okra_mat_of_(t.C, m, m), v));
    TRY(okra_doubles_(ctx, m, m, "the scaled eigenvectors", &S));
    TRY(okra_doubles_(ctx, m, d + 1, "the coefficients", &A));
    TRY(okra_doubles_(ctx, m, d + 1, "the coefficients", &work));
    TRY(okra_doubles_(ctx, ROWS, m, "a block of features", &z.F));
    TRY(okra_doubles_(ctx, ROWS, d + 1, "a block of predictions", &z.Q));
    TRY(okra_doubles_(ctx, t.n, d, "the left-out predictions", &z.H));
    z.S = okra_mat_of_(S, m, m);
    z.A = okra_mat_of_(A, m, d + 1);
    for (size_t l = 0; l < r->count; l++) {
        TRY(prepare(&z, okra_mat_of_(t.C, m, m), v, r->lambda[l], work));
        TRY(okra_moments_pass_(ctx, r->p, "leaving out", 0, block, &z));
        okra_left_ left = {.lambda = l, .H = okra_mat_of_(z.H, t.n, d), .slack = z.slack};
        TRY(leave->sink(ctx, leave->user, &left));
    }
done:
    okra_moments_clear_(&t);
    okra_free_(v);
    okra_free_(S);
    okra_free_(A);
    okra_free_(work);
    okra_free_(z.F);
    okra_free_(z.Q);
    okra_free_(z.H);
    okra_free_(z.slack);
    return st;
}
