/*
 * ridge_fit.c: the solvers of ridge.c, whose opening comment has the equations.
 */
#include "method/ridge/operator.h"
#include "method/ridge/ridge.h"

#include <math.h>

okra_status okra_ridge_put_(okra_bag_ *bag, const char *name, double **values,
                            okra_int rows, okra_int cols)
{
    okra_status st = okra_bag_put_(bag, name, *values, rows, cols);
    if (st == OKRA_OK) {
        *values = NULL;
    }
    return st;
}

static okra_mat_ features_of(const okra_ridge_ *r)
{
    return okra_mat_of_(r->Y, r->p->n, r->p->d);
}

/* ---- identity ---- */

/* K + lambda I = G G' in the place of K, C = (K + lambda I)^-1 Y in that of Y. */
static okra_status fit_factor(okra_ridge_ *r, double **K)
{
    okra_status st = OKRA_OK;
    okra_int n = r->p->n, d = r->p->d;
    okra_mat_ G = okra_mat_of_(*K, n, n);
    okra_mat_add_diagonal_(G, r->lambda[0]);
    double jitter = 0;
    TRY(okra_cholesky_(r->ctx, G, &jitter));
    TRY(okra_bag_put_number_(r->bags[0], "jitter", jitter));
    for (okra_int i = 0; i < n; i++) {
        okra_mat_fill_(okra_mat_part_(G, i, 1, i + 1, n - i - 1), 0);
    }
    TRY(okra_ridge_put_(r->bags[0], "factor", K, n, n));
    if (r->Y) {
        TRY(okra_cholesky_solve_(r->ctx, G, features_of(r)));
        TRY(okra_ridge_put_(r->bags[0], "coefficients", &r->Y, n, d));
    }
done:
    return st;
}

/* B into the bag, and C = B' Y where there are explicit features. */
static okra_status put_weights(okra_ridge_ *r, okra_bag_ *bag, double **B)
{
    okra_status st = OKRA_OK;
    okra_int n = r->p->n, d = r->p->d;
    double *C = NULL;
    if (r->Y) {
        TRY(okra_doubles_(r->ctx, n, d, "the ridge coefficients", &C));
        TRY(okra_gemm_(r->ctx, true, false, 1, okra_mat_of_(*B, n, n), features_of(r), 0,
                       okra_mat_of_(C, n, d)));
        TRY(okra_ridge_put_(bag, "coefficients", &C, n, d));
    }
    TRY(okra_ridge_put_(bag, "B", B, n, n));
done:
    okra_free_(C);
    return st;
}

okra_status okra_ridge_decompose_(okra_context *ctx, okra_mat_ K, double *v)
{
    okra_status st = OKRA_OK;
    TRY(okra_eigh_(ctx, K, v));
    double top = K.rows ? fmax(fabs(v[0]), fabs(v[K.rows - 1])) : 0;
    if (K.rows && v[0] < -1e-8 * top) {
        okra_warn_(ctx,
                   "ridge: the input Gram matrix is not positive semi-definite: its "
                   "smallest eigenvalue is %.3g, its largest %.3g; negative ones are "
                   "taken as 0",
                   v[0], v[K.rows - 1]);
    }
    for (okra_int i = 0; i < K.rows; i++) {
        v[i] = fmax(v[i], 0);
    }
done:
    return st;
}

void okra_ridge_root_(okra_mat_ V, const double *v, double lambda, double *R)
{
    for (okra_int i = 0; i < V.rows; i++) {
        double s = 1 / sqrt(v[i] + lambda);
        for (okra_int j = 0; j < V.cols; j++) {
            R[i * V.cols + j] = s * V.p[i * V.ld + j];
        }
    }
}

/* B = V' diag(1 / (v + lambda)) V as R'R, symmetric to the last bit. */
static okra_status fit_spectrum(okra_ridge_ *r, double *K)
{
    okra_status st = OKRA_OK;
    okra_int n = r->p->n;
    double *v = NULL, *R = NULL, *B = NULL;
    ALLOC(v, n);
    TRY(okra_ridge_decompose_(r->ctx, okra_mat_of_(K, n, n), v));
    TRY(okra_doubles_(r->ctx, n, n, "the scaled eigenvectors", &R));
    for (size_t l = 0; l < r->count; l++) {
        TRY(okra_cancelled_(r->ctx));
        okra_ridge_root_(okra_mat_of_(K, n, n), v, r->lambda[l], R);
        TRY(okra_doubles_(r->ctx, n, n, "the ridge weights", &B));
        TRY(okra_syrk_(r->ctx, true, 1, okra_mat_of_(R, n, n), 0, okra_mat_of_(B, n, n)));
        TRY(put_weights(r, r->bags[l], &B));
    }
done:
    okra_free_(v);
    okra_free_(R);
    okra_free_(B);
    return st;
}

okra_status okra_ridge_identity_(okra_ridge_ *r)
{
    okra_status st = OKRA_OK;
    double *K = NULL;
    TRY(okra_problem_K_(r->ctx, r->p, &K));
    TRY(r->count == 1 ? fit_factor(r, &K) : fit_spectrum(r, K));
done:
    okra_free_(K);
    return st;
}

/* ---- cov and ccov ---- */

/* L <- H L H, H = I - 11'/n; L is symmetric. */
static okra_status center(okra_int n, double *L)
{
    okra_status st = OKRA_OK;
    double *mean = NULL, all = 0;
    ZALLOC(mean, n);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            mean[i] += L[i * n + j] / (double)n;
        }
        all += mean[i] / (double)n;
    }
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            L[i * n + j] += all - mean[i] - mean[j];
        }
    }
done:
    okra_free_(mean);
    return st;
}

okra_status okra_ridge_covariance_(okra_ridge_ *r, double epsilon)
{
    okra_status st = OKRA_OK;
    okra_int n = r->p->n;
    double *K = NULL, *L = NULL, *B = NULL;
    okra_kron_ *kron = NULL;
    TRY(okra_problem_K_(r->ctx, r->p, &K));
    TRY(okra_problem_L_(r->ctx, r->p, &L));
    if (r->center) {
        TRY(center(n, L));
    }
    TRY(okra_kron_create_(r->ctx, okra_mat_of_(K, n, n), okra_mat_of_(L, n, n), epsilon,
                          &kron));
    okra_free_(K);
    okra_free_(L);
    K = L = NULL;
    for (size_t l = 0; l < r->count; l++) {
        TRY(okra_cancelled_(r->ctx));
        TRY(okra_doubles_(r->ctx, n, n, "the ridge weights", &B));
        TRY(okra_kron_solve_(r->ctx, kron, r->lambda[l], okra_mat_of_(B, n, n)));
        TRY(put_weights(r, r->bags[l], &B));
    }
done:
    okra_kron_free_(kron);
    okra_free_(K);
    okra_free_(L);
    okra_free_(B);
    return st;
}

/* ---- matrix ---- */

okra_status okra_ridge_matrix_(okra_ridge_ *r, double *A)
{
    okra_status st = OKRA_OK;
    okra_int n = r->p->n, d = r->p->d;
    double *K = NULL, *v = NULL, *g = NULL, *F = NULL, *S = NULL, *C = NULL;
    ALLOC(v, n);
    ALLOC(g, d);
    TRY(okra_operator_decompose_(r->ctx, okra_mat_of_(A, d, d), g));
    TRY(okra_problem_K_(r->ctx, r->p, &K));
    TRY(okra_ridge_decompose_(r->ctx, okra_mat_of_(K, n, n), v));
    TRY(okra_doubles_(r->ctx, n, d, "the rotated outputs", &F));
    TRY(okra_doubles_(r->ctx, n, d, "the rotated outputs", &S));
    okra_mat_ V = okra_mat_of_(K, n, n), E = okra_mat_of_(A, d, d);
    okra_mat_ Fm = okra_mat_of_(F, n, d), Sm = okra_mat_of_(S, n, d);
    TRY(okra_gemm_(r->ctx, false, true, 1, features_of(r), E, 0, Sm));
    TRY(okra_gemm_(r->ctx, false, false, 1, V, Sm, 0, Fm)); /* F = V Y E' */
    for (size_t l = 0; l < r->count; l++) {
        TRY(okra_cancelled_(r->ctx));
        TRY(okra_doubles_(r->ctx, n, d, "the ridge coefficients", &C));
        okra_mat_ Cm = okra_mat_of_(C, n, d);
        for (okra_int i = 0; i < n; i++) {
            for (okra_int j = 0; j < d; j++) {
                C[i * d + j] = F[i * d + j] * g[j] / (r->lambda[l] + g[j] * v[i]);
            }
        }
        TRY(okra_gemm_(r->ctx, true, false, 1, V, Cm, 0, Sm));
        TRY(okra_gemm_(r->ctx, false, false, 1, Sm, E, 0, Cm));
        TRY(okra_ridge_put_(r->bags[l], "coefficients", &C, n, d));
    }
done:
    okra_free_(K);
    okra_free_(v);
    okra_free_(g);
    okra_free_(F);
    okra_free_(S);
    okra_free_(C);
    return st;
}
