/*
 * ridge_semi.c: ridge with inputs that have no outputs; equations in ridge.c and semi.c.
 */
#include "solve/kron.h"
#include "solve/operator.h"
#include "solve/ridge.h"
#include "solve/semi.h"

/* B = J (lambda I + K P)^-1, n x N, and C = B' Y, N x d, where there are features. */
static okra_status weights(okra_ridge_ *r, const okra_semi_ *s, size_t l)
{
    okra_int n = s->n, N = s->N, d = r->p->d;
    OWNED double *R = NULL, *B = NULL, *C = NULL;
    CHK(okra_doubles_(r->ctx, n, N, "the ridge weights", &R));
    CHK(okra_doubles_(r->ctx, n, N, "the ridge weights", &B));
    okra_mat_fill_(okra_mat_of_(R, n, N), 0);
    for (okra_int i = 0; i < n; i++) {
        R[i * N + i] = 1;
    }
    CHK(okra_semi_solve_rows_(r->ctx, s, r->lambda[l], NULL, okra_mat_of_(R, n, N),
                              okra_mat_of_(B, n, N)));
    if (r->Y) {
        CHK(okra_doubles_(r->ctx, N, d, "the ridge coefficients", &C));
        CHK(okra_engine_gemm_(r->ctx, true, false, 1, okra_mat_of_(B, n, N),
                              okra_mat_of_(r->Y, n, d), 0, okra_mat_of_(C, N, d)));
        CHK(okra_bag_put_(r->bags[l], "coefficients", &C, N, d));
    }
    if (!r->slim) {
        CHK(okra_bag_put_(r->bags[l], "B", &B, n, N));
    }
    return OKRA_OK;
}

/* A = E' diag(g) E: row j of X is g_j e_j' Y' J (lambda I + g_j K P)^-1, C = X' E. */
static okra_status coefficients(okra_ridge_ *r, const okra_semi_ *s, okra_mat_ E,
                                const double *g, size_t l)
{
    okra_int N = s->N, d = r->p->d;
    OWNED double *R = NULL, *X = NULL, *C = NULL;
    CHK(okra_doubles_(r->ctx, d, N, "the rotated outputs", &R));
    CHK(okra_doubles_(r->ctx, d, N, "the ridge coefficients", &X));
    okra_mat_ Rm = okra_mat_of_(R, d, N), Xm = okra_mat_of_(X, d, N);
    okra_mat_fill_(Rm, 0);
    CHK(okra_engine_gemm_(r->ctx, false, true, 1, E, okra_mat_of_(r->Y, s->n, d), 0,
                          okra_mat_part_(Rm, 0, d, 0, s->n)));
    for (okra_int j = 0; j < d; j++) {
        for (okra_int i = 0; i < s->n; i++) {
            R[j * N + i] *= g[j];
        }
    }
    CHK(okra_semi_solve_rows_(r->ctx, s, r->lambda[l], g, Rm, Xm));
    CHK(okra_doubles_(r->ctx, N, d, "the ridge coefficients", &C));
    CHK(okra_engine_gemm_(r->ctx, true, false, 1, Xm, E, 0, okra_mat_of_(C, N, d)));
    return okra_bag_put_(r->bags[l], "coefficients", &C, N, d);
}

okra_status okra_ridge_semi_(okra_ridge_ *r, const char *graph, double lambda2, double *A)
{
    okra_int N = r->p->n + r->p->unlabelled, d = r->p->d;
    FREED_BY(okra_semi_clear_) okra_semi_ s = {0};
    FREED_BY(okra_graph_drop_) okra_graph_ *M = NULL;
    OWNED double *g = NULL, *K = NULL;
    if (A) {
        MAKE(g, d);
        CHK(okra_operator_decompose_(r->ctx, okra_mat_of_(A, d, d), g));
    }
    CHK(okra_problem_host_K_(r->ctx, r->p, &K));
    CHK(okra_graph_create_(r->ctx, graph, okra_mat_of_(K, N, N), &M));
    CHK(okra_semi_create_(r->ctx, okra_mat_of_(K, N, N), r->p->n, r->s, M, lambda2, true,
                          A || r->count > 1 ? 0 : r->lambda[0], &s));
    okra_free_(K);
    K = NULL;
    for (size_t l = 0; l < r->count; l++) {
        okra_ridge_condition_(r->ctx, r->lambda[l],
                              okra_semi_condition_(&s, r->lambda[l]));
        CHK(A ? coefficients(r, &s, okra_mat_of_(A, d, d), g, l) : weights(r, &s, l));
    }
    return OKRA_OK;
}
