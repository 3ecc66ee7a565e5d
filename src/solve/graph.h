/*
 * graph.h: the smoothness penalty of semi-supervised methods, a graph over the inputs.
 */
#ifndef OKRA_GRAPH_H_
#define OKRA_GRAPH_H_

#include "solve/solution.h"

enum { OKRA_GRAPH_STAGES_ = 8 };

/* What a graph's text says: SOURCE { '|' STAGE }.
 *     gram | knn(k=10) | knn(share=0.1) | file(PATH)      then any of
 *     normalized (first), power(p=5), diffusion(beta=1)                            */
typedef struct okra_graph_text_ {
    enum { OKRA_GRAPH_GRAM_, OKRA_GRAPH_KNN_, OKRA_GRAPH_FILE_ } source;
    okra_int k;   /* knn: neighbours; 0: by share */
    double share; /* knn: of the inputs           */
    char *file;   /* to be freed by the caller    */
    bool normalized;
    int stages;
    struct {
        bool diffusion; /* else power */
        double value;   /* beta, or p */
    } stage[OKRA_GRAPH_STAGES_];
} okra_graph_text_;

okra_status okra_graph_parse_(const char *text, okra_graph_text_ *out);

/* The penalty matrix M (N x N, symmetric, positive semi-definite). */
typedef struct okra_graph_ okra_graph_;

/* The N inputs, seen through their Gram matrix or their features; only read. */
typedef struct okra_graph_kernel_ {
    okra_mat_ K;        /* N x N, or p == NULL:                                     */
    okra_mat_ Phi;      /* N x m                                                    */
    const double *self; /* Phi: k(x, x), so that |k(x, x') - phi'phi'| is bounded by the
                           residuals of both; NULL: no such bound is known          */
} okra_graph_kernel_;

/* Of features knn or file alone, in compressed rows, as okra_graph_low_check_ says. */
okra_status okra_graph_create_(okra_context *ctx, const char *text,
                               const okra_graph_kernel_ *kernel, okra_graph_ **out);
void okra_graph_free_(okra_graph_ *graph); /* accepts NULL */
OKRA_DROPS_(okra_graph_drop_, okra_graph_, okra_graph_free_)
/* out <- X M, both r x N. */
okra_status okra_graph_apply_(okra_context *ctx, const okra_graph_ *graph, okra_mat_ X,
                              okra_mat_ out);
/* OKRA_EUNSUPPORTED where low rank has no form of the graph. */
okra_status okra_graph_low_check_(const char *text);
/* M is this power of the Laplacian. */
okra_int okra_graph_power_(const okra_graph_ *graph);
/* out <- rows first.. of (Laplacian T), T: N x m; compressed rows alone. */
okra_status okra_graph_rows_(okra_context *ctx, const okra_graph_ *graph, okra_mat_ T,
                             okra_int first, okra_mat_ out);
/* Entries of the Laplacian that are kept: N*N when it is dense. */
okra_int okra_graph_entries_(const okra_graph_ *graph);

/* ---- where weights come from: graph_knn.c ---- */

okra_status okra_graph_knn_(okra_context *ctx, const okra_graph_text_ *text,
                            const okra_graph_kernel_ *kernel, okra_csr_ *W);
/* Of a dense file `dense` (n x n) is filled, or, where that is NULL, W as well. */
okra_status okra_graph_read_(okra_context *ctx, const char *file, okra_int n,
                             okra_csr_ *W, double **dense);
okra_status okra_graph_copy_(okra_context *ctx, okra_int n, const double *values,
                             okra_int ld, double **W);

/* ---- semi.c: the linear algebra that semi-supervised ridge and margin share ---- */

/* (lambda I + g P K)^-1 for every lambda and g, from a factor of K and an
 * eigendecomposition; semi.c. */
typedef struct okra_semi_ {
    okra_int n, N, rank;
    double *t;       /* rank: eigenvalues of F' P F, K = F F'  */
    double *E3, *E2; /* rank x N: (F U)' and (P F U)'           */
    double *G;       /* one lambda: rank x rank, the factor of lambda I + F' P F; NULL */
} okra_semi_;

/* P = J'J + 2 lambda2 M (`labelled`), or 2 lambda2 M alone, of the inputs of a problem
 * and their graph. only: the one lambda that will be asked for, with g = 1, which is
 * cheaper; 0: any. */
okra_status okra_semi_open_(okra_context *ctx, const okra_problem_ *p,
                            const double *scale, const char *graph, double lambda2,
                            bool labelled, double only, okra_semi_ *out);
void okra_semi_clear_(okra_semi_ *s);
/* What the condition number of lambda I + T, and so of the system, is at least. */
double okra_semi_condition_(const okra_semi_ *s, double lambda);
/* Rows are right-hand sides: X_i <- R_i (lambda I + g_i K P)^-1, R: r x N, destroyed; g
 * == NULL: all are 1. */
okra_status okra_semi_solve_rows_(okra_context *ctx, const okra_semi_ *s, double lambda,
                                  const double *g, okra_mat_ R, okra_mat_ X);
/* "coefficients" C (N x d) = X'E, row j of X: g_j (B e_j)'J (lambda I + g_j K P)^-1 or,
 * `turned`, of column j of B itself; g NULL: all 1; E (d x d): p NULL: I; s NULL: there
 * is no graph, B / lambda. */
okra_status okra_semi_put_(okra_context *ctx, const okra_semi_ *s, okra_int N,
                           double lambda, const double *g, okra_mat_ E, okra_mat_ B,
                           bool turned, okra_store_ *store);
/* "B" = R (lambda I + K P)^-1 (n x N; R is destroyed; s NULL: R / lambda), unless slim,
 * and where there are features Y (n x d) "coefficients" C = B' Y. */
okra_status okra_semi_put_weights_(okra_context *ctx, const okra_semi_ *s, double lambda,
                                   okra_mat_ R, okra_mat_ Y, bool slim,
                                   okra_store_ *store);
/* S (n x n) <- J K (lambda I + g P K)^-1 J', symmetric. */
okra_status okra_semi_gram_(okra_context *ctx, const okra_semi_ *s, double lambda,
                            double g, okra_mat_ S);

/* For methods with the options lambda2 and graph: fails where there are inputs without
 * outputs but no lambda2 to use them, or a graph without lambda2. */
okra_status okra_semi_check_(const char *who, const okra_problem_ *p,
                             const okra_options *options);

#endif
