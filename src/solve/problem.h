/*
 * problem.h: what a solver is given, and what it gives: a training set, blocks of
 * queries, predictions of models that have not seen an input.
 */
#ifndef OKRA_PROBLEM_H_
#define OKRA_PROBLEM_H_

#include "engine/engine.h"

/* What a solver may ask of the training set. Inputs may be more than the outputs: the
 * first n are the labelled ones, the others have no output. */
typedef struct okra_problem_ {
    okra_int n, unlabelled; /* N = n + unlabelled inputs, n outputs */
    const okra_data *x, *y;
    const okra_trained_kernel_ *kx, *ky;
    /* Where the output kernel is linear on dense y: the explicit features, y itself,
     * which count times sqrt(feature_scale); else NULL. */
    const double *features; /* n x d, row stride features_ld */
    okra_int d, features_ld;
    double feature_scale;
    /* Gram matrices handed in ready (cross-validation slices them); NULL: computed from
     * the kernels. A method gets a private copy or the fresh matrix either way. */
    const double *given_K, *given_L;
    okra_int given_K_ld, given_L_ld;
    /* Low rank: features of the inputs, and of outputs without explicit ones; NULL: none.
     * With map_x, kx is bound to its basis alone. */
    const struct okra_map_ *map_x, *map_y;
    /* n: how much each pair counts, above 0; NULL: 1. A weight of 2 is the pair twice. */
    const double *weights;
    /* d x d: the matrix of the operator in the place of its file's; NULL: none. */
    const double *A;
} okra_problem_;

/* The square roots s of the weights (NULL: there are none), to be freed, and *total,
 * their sum: the number of pairs. Least squares with weights are those of s_i times both
 * features of pair i, with `total` in the place of n. */
okra_status okra_problem_roots_(const okra_problem_ *p, double **s,
                                double *total) OKRA_CHECK;
/* A model keeps them, 1 x n, as "sample-weight" (model/check.c knows it). */
okra_status okra_problem_put_weights_(const okra_problem_ *p,
                                      okra_store_ *store) OKRA_CHECK;
/* The Gram matrix of the inputs, rows and columns of pair i times s_i (s NULL: 1). */
okra_status okra_problem_scaled_K_(okra_context *ctx, const okra_problem_ *p,
                                   const double *s, okra_matrix_ **K) OKRA_CHECK;
/* P A P, P = I - s s'/total: diag(s) L diag(s) about the weighted mean of the outputs;
 * mean (n, or NULL) gets A s / total as it was. */
okra_status okra_center_weighted_(okra_context *ctx, const double *s, double total,
                                  double *mean, okra_matrix_ *A) OKRA_CHECK;

/* A fresh Gram matrix of the inputs (N x N) or outputs (n x n), made by the engine, that
 * the caller owns and may destroy; and the same brought to the host, for methods that
 * come back to single rows. */
okra_status okra_problem_K_(okra_context *ctx, const okra_problem_ *p,
                            okra_matrix_ **K) OKRA_CHECK;
okra_status okra_problem_L_(okra_context *ctx, const okra_problem_ *p,
                            okra_matrix_ **L) OKRA_CHECK;
okra_status okra_problem_host_K_(okra_context *ctx, const okra_problem_ *p,
                                 double **K) OKRA_CHECK;
okra_status okra_problem_host_L_(okra_context *ctx, const okra_problem_ *p,
                                 double **L) OKRA_CHECK;

/* Matrices of a model that the queries of one run ask for again and again: on the engine
 * once. Zero to begin with. */
enum { OKRA_SENT_MOST_ = 4 };
typedef struct okra_sent_ {
    const double *of[OKRA_SENT_MOST_];
    okra_matrix_ *items[OKRA_SENT_MOST_];
    int count;
} okra_sent_;
void okra_sent_clear_(okra_sent_ *sent);

/* A block of queries: m test inputs seen through the input kernel. */
typedef struct okra_query_ {
    okra_int m, n;            /* queries, labelled training inputs                     */
    okra_mat_ Kx;             /* m x N: k(x_r, train_c); the method may destroy it; low
                                 rank: the values of map_x, m x columns               */
    const double *self;       /* m: k(x_r, x_r), or NULL if the method did not ask     */
    const double *train_self; /* N: k(train_c, train_c), or NULL likewise             */
    okra_mat_ extra;    /* m x (1 + neighbours) for a method with a criterion to fill, or
                           p == NULL: weights alone are wanted */
    const okra_data *x; /* the test inputs themselves, or NULL where there are none; */
    okra_int first;     /* the queries are its objects first..first+m-1              */
    const okra_trained_kernel_ *kx; /* the input kernel on the training inputs, or NULL */
    okra_matrix_ *K;  /* what Kx says (Kx.p is then NULL), on the engine: for a method
                        with `large`; may be destroyed. NULL: Kx has it          */
    okra_sent_ *sent; /* of the run, or NULL */
} okra_query_;

/* out (of the host) <- K B, or K B' (trans), B a matrix of the model; and K (L L')^-1. K
 * may be destroyed. */
okra_status okra_query_times_(okra_context *ctx, okra_query_ *query, bool trans,
                              okra_mat_ B, okra_mat_ out) OKRA_CHECK;
okra_status okra_query_solve_(okra_context *ctx, okra_query_ *query, okra_mat_ L,
                              okra_mat_ out) OKRA_CHECK;
/* The same, B and L on the engine already. */
okra_status okra_query_times_by_(okra_context *ctx, okra_query_ *query, bool trans,
                                 const okra_matrix_ *B, okra_mat_ out) OKRA_CHECK;
okra_status okra_query_solve_by_(okra_context *ctx, okra_query_ *query,
                                 const okra_matrix_ *L, okra_mat_ out) OKRA_CHECK;

typedef enum okra_form_ {
    OKRA_FORM_WEIGHTS,
    OKRA_FORM_EMBEDDING,
    OKRA_FORM_LINKS, /* neither: scores of pairs of inputs alone, see okra_linker_ */
} okra_form_;

/* ---- predictions of models that have not seen the input ---- */

/* The training set split into parts that are left out one after the other. */
typedef struct okra_parts_ {
    okra_int count;       /* parts                                                   */
    const okra_int *part; /* n: 0..count-1; NULL: each input is a part (count == n)   */
} okra_parts_;

/* For one lambda: row i is the prediction at x_i of the model fitted without the part of
 * i. Exactly one of W (n x n, 0 at the members of the part) and H (n x d) has p != NULL.
 */
typedef struct okra_left_ {
    size_t lambda; /* its place in the list */
    okra_mat_ W, H;
    const double *slack; /* n: 1 - (K B)_ii of the model of all inputs, or NULL */
} okra_left_;
typedef okra_status (*okra_left_fn_)(okra_context *ctx, void *user,
                                     const okra_left_ *left);

/* A model that was read from a file, for a method to judge what tables cannot say. */
typedef struct okra_facts_ {
    const okra_data *x, *y; /* of low rank x is the basis */
    const okra_kernel *kx, *ky;
    const okra_sizes_ *sizes; /* see `kept` */
} okra_facts_;

#endif
