/*
 * folds.c: jackknife+ and cv+ (Barber, Candes, Ramdas and Tibshirani 2021) with ridge,
 * identity operator, in closed form.
 *
 * Let S be a fold (one pair: jackknife+), B = (K + lambda I)^-1, u = B k_x. Leaving S
 * out,
 *
 *     E_i = phi(y_i) - h_{-S}(x_i) = sum_j A_ij phi(y_j),  A_S = (B_SS)^-1 B_S,   i in S
 *     h_{-S}(x) = h(x) - v_S,      v_S = sum_{k in S} u_k E_k
 *
 * by the inverse of a partitioned matrix. So with G_S = A_S L A_S'
 *
 *     |phi(y) - h_{-S}(x)|^2 = |phi(y) - h(x)|^2 + u_S'G_S u_S
 *                              + 2 sum_{k in S} u_k ((A l_y)_k - (A L u)_k)
 *
 * and a candidate's p-value compares it with |E_i|^2 = (G_S)_ii for every i. Normalized:
 * the variance at x without S is s + u_S'(B_SS)^-1 u_S, that at x_i is ((B_SS)^-1)_ii.
 *
 * Centred outputs (phi without the training mean, solved.c): the model without S takes
 * the mean of the outputs that stay, -sum_{k in S} phi_k / (n - |S|). Then
 *
 *     A_ij grows by (sum_l A_il) / (n - |S|) for i and j in S,
 *     v_S = sum_{k in S} (u_k E_k + g_S phi_k),   g_S = (1 - 1'u) / (n - |S|)
 *
 * and the rest holds with this A and v; |phi(y) - h_{-S}(x)|^2 grows by
 *     2 g_S sum_{k in S} (l_y,k - (L u)_k + u_k a_k) + g_S^2 1'L_SS 1,
 *     a_k = sum_{j in S} (A L)_kj.
 *
 * A set holds the truth with probability 1 - 2 alpha at least; for folds of more than one
 * pair the bound is a little weaker (ibid., theorem 4).
 *
 * Intervals of a coordinate: the order statistics of h_{-S}(x) -+ |E_i|. The ball around
 * h(x) has the order statistic of |E_i| + |v_S| as its radius: it contains the region of
 * all y nearer to h_{-S}(x) than |E_i|, by the triangle inequality.
 *
 * Cost: n^3 once more (A L A' by blocks), n^2 (candidates + test inputs), n for each pair
 * of a test input and a candidate.
 */
#include "conformal/folds.h"

#include <math.h>
#include <string.h>

void okra_cv_plus_release_(okra_cv_plus_ *z)
{
    for (okra_int f = 0; f < z->count; f++) {
        if (z->G) {
            okra_free_(z->G[f]);
        }
        if (z->I) {
            okra_free_(z->I[f]);
        }
    }
    FREE(z->G, z->I);
    okra_solved_clear_(&z->solved);
    FREE(z->fold, z->begin, z->members, z->A, z->a, z->l1, z->sums, z->cross, z->self,
         z->Alc, z->ALu, z->Ul, z->E, z->UY, z->work);
}

/* Folds of equal size drawn with the context's seed; jackknife+: pair i is fold i. */
static okra_status draw(okra_cv_plus_ *z)
{
    okra_int n = z->solved.n;
    z->count = z->job->folds > 0 ? OKRA_MIN_(z->job->folds, n) : n;
    MAKE(z->fold, n);
    MAKE(z->members, n);
    ZMAKE(z->begin, z->count + 1);
    okra_iota_(n, z->members);
    if (z->count < n) {
        okra_random_ r = okra_random_create_(okra_context_seed(z->job->ctx), 11);
        okra_random_shuffle_(&r, n, z->members);
    }
    for (okra_int f = 0; f < z->count; f++) {
        z->begin[f] = f * n / z->count;
        z->begin[f + 1] = (f + 1) * n / z->count;
        z->largest = OKRA_MAX_(z->largest, z->begin[f + 1] - z->begin[f]);
        for (okra_int k = z->begin[f]; k < z->begin[f + 1]; k++) {
            z->fold[z->members[k]] = f;
        }
    }
    return OKRA_OK;
}

static okra_mat_ rows_of(const okra_cv_plus_ *z, double *all, okra_int f, double *panel)
{
    okra_int n = z->solved.n, size = z->begin[f + 1] - z->begin[f];
    for (okra_int k = 0; k < size; k++) {
        memcpy(panel + k * n, all + z->members[z->begin[f] + k] * n,
               (size_t)n * sizeof *panel);
    }
    return okra_mat_of_(panel, size, n);
}

/* (B_SS)^-1 and the rows S of A = (B_SS)^-1 B. */
static okra_status leave_fold(okra_cv_plus_ *z, okra_int f, double *panel)
{
    okra_int n = z->solved.n, size = z->begin[f + 1] - z->begin[f];
    const okra_int *in = z->members + z->begin[f];
    OWNED double *SS = NULL;
    okra_mat_ X = rows_of(z, z->solved.B, f, panel);
    MAKE(SS, size * size);
    MAKE(z->I[f], size * size);
    for (okra_int k = 0; k < size * size; k++) {
        SS[k] = X.p[k / size * n + in[k % size]];
        z->I[f][k] = k / size == k % size;
    }
    CHK(okra_cholesky_(z->job->ctx, okra_mat_of_(SS, size, size), NULL));
    CHK(okra_cholesky_solve_(z->job->ctx, okra_mat_of_(SS, size, size),
                             okra_mat_of_(z->I[f], size, size)));
    CHK(okra_cholesky_solve_(z->job->ctx, okra_mat_of_(SS, size, size), X));
    for (okra_int k = 0; k < size; k++) {
        double *row = z->A + in[k] * n, sum = 0;
        memcpy(row, panel + k * n, (size_t)n * sizeof *panel);
        for (okra_int j = 0; z->solved.ones && j < n; j++) {
            sum += row[j];
        }
        for (okra_int j = 0; z->solved.ones && j < size; j++) {
            row[in[j]] += sum / (double)(n - size);
        }
    }
    return OKRA_OK;
}

/* a_k of the pairs of fold f, and 1'L_SS 1; AL: their rows. */
static void sum_fold(okra_cv_plus_ *z, okra_int f, const double *AL)
{
    okra_int n = z->solved.n, size = z->begin[f + 1] - z->begin[f];
    const okra_int *in = z->members + z->begin[f];
    for (okra_int k = 0; k < size; k++) {
        for (okra_int j = 0; j < size; j++) {
            z->a[in[k]] += AL[k * n + in[j]];
            z->l1[f] += z->solved.L[in[k] * n + in[j]];
        }
    }
}

/* G_S = A_S L A_S' of every fold. */
static okra_status grams(okra_cv_plus_ *z, double *panel)
{
    okra_int n = z->solved.n;
    OWNED double *AL = NULL, *other = NULL;
    CHK(okra_doubles_(z->job->ctx, n, n, "left-out residuals times outputs", &AL));
    CHK(okra_doubles_(z->job->ctx, z->largest, n, "the rows of a fold", &other));
    CHK(okra_gemm_(z->job->ctx, false, false, 1, okra_mat_of_(z->A, n, n),
                   okra_mat_of_(z->solved.L, n, n), 0, okra_mat_of_(AL, n, n)));
    for (okra_int f = 0; f < z->count; f++) {
        okra_mat_ A = rows_of(z, z->A, f, panel), X = rows_of(z, AL, f, other);
        if (z->solved.ones) {
            sum_fold(z, f, X.p);
        }
        MAKE(z->G[f], A.rows * A.rows);
        CHK(okra_gemm_(z->job->ctx, false, true, 1, X, A, 0,
                       okra_mat_of_(z->G[f], A.rows, A.rows)));
    }
    return OKRA_OK;
}

okra_status okra_cv_plus_prepare_(okra_cv_plus_ *z)
{
    okra_context *ctx = z->job->ctx;
    OWNED double *panel = NULL;
    CHK(okra_solved_create_(z->job, &z->solved));
    okra_int n = z->solved.n;
    REFUSE_IF(n < 2, OKRA_ESHAPE,
              "conformal %s: leaving one out needs two training pairs", z->job->s.how);
    CHK(draw(z));
    ZMAKE(z->G, z->count);
    ZMAKE(z->I, z->count);
    CHK(okra_doubles_(ctx, n, n, "the left-out residuals", &z->A));
    CHK(okra_doubles_(ctx, z->largest, n, "the rows of a fold", &panel));
    for (okra_int f = 0; f < z->count; f++) {
        CHK(okra_cancelled_(ctx));
        CHK(leave_fold(z, f, panel));
    }
    ZMAKE(z->sums, n);
    for (okra_int i = 0; i < n * n; i++) {
        z->sums[i / n] += fabs(z->A[i]);
    }
    if (z->solved.L) {
        ZMAKE(z->a, n);
        ZMAKE(z->l1, z->count);
        CHK(grams(z, panel));
    }
    MAKE(z->work, okra_workers_(ctx) * 4 * n);
    return OKRA_OK;
}

double okra_cv_plus_sum_(const okra_cv_plus_ *z, okra_int r)
{
    double sum = 0;
    for (okra_int i = 0; i < z->solved.n; i++) {
        sum += z->block->U[r * z->solved.n + i];
    }
    return sum;
}

double okra_cv_plus_share_(const okra_cv_plus_ *z, okra_int f, double sigma)
{
    okra_int stay = z->solved.n - (z->begin[f + 1] - z->begin[f]);
    return z->solved.ones ? (1 - sigma) / (double)stay : 0;
}

double okra_cv_plus_quadratic_(const okra_cv_plus_ *z, okra_int f, const double *X,
                               const double *u)
{
    okra_int size = z->begin[f + 1] - z->begin[f];
    const okra_int *in = z->members + z->begin[f];
    double sum = 0;
    for (okra_int k = 0; k < size; k++) {
        for (okra_int j = 0; j < size; j++) {
            sum += u[in[k]] * X[k * size + j] * u[in[j]];
        }
    }
    return sum;
}

double okra_cv_plus_at_(const okra_cv_plus_ *z, double *const *X, okra_int f, okra_int k)
{
    okra_int size = z->begin[f + 1] - z->begin[f];
    return X[f][k * size + k];
}

double okra_cv_plus_ratio_(const okra_cv_plus_ *z, okra_int f, okra_int k,
                           double variance)
{
    return z->job->score == OKRA_SCORE_NORMALIZED_
               ? variance / okra_cv_plus_at_(z, z->I, f, k)
               : 1;
}
