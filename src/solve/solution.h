/*
 * solution.h: what a fit of squared loss leaves behind, as a type. Everything that asks
 * for "lambda", "factor" or "center" of a fitted or loaded model asks here.
 *
 *     h(x) = Y' B k_x,   B = (K + lambda I)^-1,   k_x = (k(x_1,x), ..., k(x_n,x))
 *
 * with the operator identity; ridge.c has the others. Pairs of weight u_i have lambda /
 * u_i in the place of lambda, everywhere below.
 *
 * A solution is opened from the store of a model, which must outlive it, and cleared
 * after. It factors K + lambda I at most once, and never where the model holds the
 * factor.
 */
#ifndef OKRA_SOLUTION_H_
#define OKRA_SOLUTION_H_

#include "engine/engine.h"

/* ---- problem ----
 * What a solver is given, and what it gives: a training set, blocks of
 * queries, predictions of models that have not seen an input.
 */

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
okra_status okra_problem_roots_(const okra_problem_ *p, double **s, double *total);
/* A model keeps them, 1 x n, as "sample-weight" (model/json.c knows it). */
okra_status okra_problem_put_weights_(const okra_problem_ *p, okra_store_ *store);
/* The Gram matrix of the inputs, rows and columns of pair i times s_i (s NULL: 1). */
okra_status okra_problem_scaled_K_(okra_context *ctx, const okra_problem_ *p,
                                   const double *s, okra_matrix_ **K);
/* P A P, P = I - s s'/total: diag(s) L diag(s) about the weighted mean of the outputs;
 * mean (n, or NULL) gets A s / total as it was. */
okra_status okra_center_weighted_(okra_context *ctx, const double *s, double total,
                                  double *mean, okra_matrix_ *A);

/* A fresh Gram matrix of the inputs (N x N) or outputs (n x n), made by the engine, that
 * the caller owns and may destroy; and the same brought to the host, for methods that
 * come back to single rows. */
okra_status okra_problem_K_(okra_context *ctx, const okra_problem_ *p, okra_matrix_ **K);
okra_status okra_problem_L_(okra_context *ctx, const okra_problem_ *p, okra_matrix_ **L);
okra_status okra_problem_host_K_(okra_context *ctx, const okra_problem_ *p, double **K);
okra_status okra_problem_host_L_(okra_context *ctx, const okra_problem_ *p, double **L);

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
                              okra_mat_ B, okra_mat_ out);
okra_status okra_query_solve_(okra_context *ctx, okra_query_ *query, okra_mat_ L,
                              okra_mat_ out);
/* The same, B and L on the engine already. */
okra_status okra_query_solve_by_(okra_context *ctx, okra_query_ *query,
                                 const okra_matrix_ *L, okra_mat_ out);

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

/* ---- the operator of a kernel, A of k(x,x') A or another, read from its text ---- */

typedef enum okra_operator_kind_ {
    OKRA_OPERATOR_IDENTITY,
    OKRA_OPERATOR_COV,
    OKRA_OPERATOR_CCOV,
    OKRA_OPERATOR_MATRIX,
    OKRA_OPERATOR_DIAGONAL,
} okra_operator_kind_;

typedef struct okra_operator_ {
    okra_operator_kind_ kind;
    double *A; /* MATRIX: d x d, symmetric; to be freed by the caller; else NULL */
    double t;  /* DIAGONAL: see diagonal.c */
} okra_operator_;

/* By its text alone (NULL: identity); MATRIX also of one that is refused later. */
okra_operator_kind_ okra_operator_kind_of_(const char *text);
/* The training set tells d and, for graph:estimate, the outputs. "identity", "cov",
 * "ccov", "matrix:FILE" (a symmetric d x d matrix) or "graph:FILE,mu=V": A = (mu Lap + (1
 * - mu) I)^-1, Lap = D - M the Laplacian of the d x d adjacency matrix M in FILE (Brouard
 * et al. 2016 sec. 5.2, A_2); "graph:estimate(gamma=G),mu=V": M_ij = exp(-G |Y^i -
 * Y^j|^2) of the training outputs, Y^i those of coordinate i (sec. 6.2.2); gamma=auto:
 * the one that kernel/networks/tasks.c chooses. "tensor" is another name of identity
 * (Kadri et al. 2013 sec. 5.2), "diagonal(t=V)" the operator of diagonal.c, 0 <= V
 * <= 1. */
okra_status okra_operator_read_(okra_context *ctx, const char *text,
                                const okra_problem_ *problem, okra_operator_ *out);
/* A = E' diag(g) E in the place of A: row j becomes e_j. Eigenvalues that rounding made
 * negative become 0; OKRA_EARG when A is not positive semi-definite. */
okra_status okra_operator_decompose_(okra_context *ctx, okra_mat_ A, double *g);

/* Eigenvalues of a Gram matrix, ascending: negative ones become 0, with a warning where
 * rounding does not explain them; `what` begins it. */
void okra_solution_clamp_(const okra_context *ctx, const char *what, okra_int n,
                          double *v);

/* ---- the solution ---- */

typedef enum okra_solution_kind_ {
    OKRA_SOLUTION_NONE_,   /* another loss, or no kernel of the whole input         */
    OKRA_SOLUTION_DENSE_,  /* over the n training inputs                             */
    OKRA_SOLUTION_GRAPH_,  /* over all N inputs, with a smoothness penalty            */
    OKRA_SOLUTION_LOW_,    /* over the features of a basis, by moments                */
    OKRA_SOLUTION_CG_,     /* the same, by conjugate gradients                        */
    OKRA_SOLUTION_BLOCKS_, /* coordinates in groups, each with a kernel of its own     */
} okra_solution_kind_;

typedef struct okra_solution_ {
    okra_solution_kind_ kind;
    const okra_store_ *store;
    okra_int n;             /* training outputs                                      */
    double lambda;          /* as it was given                                       */
    const double *times;    /* d: output j has lambda times[j]; NULL: 1              */
    okra_operator_kind_ op; /* IDENTITY for methods without operators                */
    const char *operator_text;
    okra_mat_ A; /* d x d: a matrix operator that the model keeps, or p == NULL     */
    bool center; /* outputs less their mean, which predictions get back              */
    const double *weights; /* n: of the pairs, or NULL                              */
    double total;          /* their sum; n without weights                          */
    double jitter;         /* what rounding made a factor add to the diagonal        */
    /* h(x) is the mean of a Gaussian process with the input kernel as covariance: its
     * noise, n lambda with cov and ccov; below 0: it is not. K + noise is what the
     * functions below factor. */
    double noise;
    /* Why predictions are not as above, with lambda and center as they stand; NULL: they
     * are, so that inputs can be bordered to the system. */
    const char *no_closed_form;
    bool has_factor; /* the model keeps the factor of K + noise                       */
    bool has_moments;
    /* Made when asked for: the factor here or there, what of it is to be freed. */
    const okra_matrix_ *G;
    okra_matrix_ *made;
} okra_solution_;

/* Of a model of ridge with n outputs; of a method that says no more than "lambda". */
void okra_solution_open_(const okra_store_ *store, okra_int n, okra_solution_ *out);
void okra_solution_plain_(const okra_store_ *store, okra_int n, okra_solution_ *out);
void okra_solution_clear_(okra_solution_ *s);

/* What a fit leaves in a store, a table a form (data/store.h), and what must hold of it
 * besides. */
extern const okra_schema_ *const okra_solution_kept_[];
okra_status okra_solution_check_(const okra_store_ *store, const okra_facts_ *facts);

/* ---- with the training inputs, which kx is bound to ---- */

/* B (n x n, on the host) <- (K + noise)^-1, symmetric to the last bit: n^3. */
okra_status okra_solution_inverse_(okra_context *ctx, okra_solution_ *s,
                                   const okra_trained_kernel_ *kx, okra_mat_ B);
/* q (n) <- the diagonal of (K + noise)^-1: n^3/3, n^2 doubles of the engine. */
okra_status okra_solution_diagonal_(okra_context *ctx, okra_solution_ *s,
                                    const okra_trained_kernel_ *kx, double *q);
/* X (n x c) <- (K + noise)^-1 X */
okra_status okra_solution_solve_(okra_context *ctx, okra_solution_ *s,
                                 const okra_trained_kernel_ *kx, okra_mat_ X);
/* For the test inputs first.. of `entries` (m of them; engine/engine.h): K (m x n) gets
 * their k_x, U (m x n) <- K (K + noise)^-1, from which k_x'u follows. */
okra_status okra_solution_border_(okra_context *ctx, okra_solution_ *s,
                                  const okra_trained_kernel_ *kx,
                                  const okra_entries_ *entries, okra_int first,
                                  okra_mat_ K, okra_mat_ U);
/* out[r * step] <- k(x,x) - k_x'(K + noise)^-1 k_x of every x, 0 where rounding makes it
 * negative (Rasmussen and Williams 2006, eq. 2.26). n^2 for each. */
okra_status okra_solution_variances_(okra_context *ctx, okra_solution_ *s,
                                     const okra_trained_kernel_ *kx, const okra_data *x,
                                     okra_int step, double *out);

/* ---- pairs that come and go ---- */

/* From the model of `old` to that of `problem`: the pairs of the old one less `removed`
 * (ascending), then `added` new ones. Kernels keep the statistics of the old model. */
typedef struct okra_change_ {
    const okra_store_ *old;
    const okra_problem_ *problem;
    const okra_int *removed;
    okra_int removed_count, added;
    /* What came of it. */
    bool done;       /* the new store is filled; false: a fit is needed, `why` says why */
    double drift;    /* of what is kept, relative                                      */
    const char *why; /* a text that stays                                             */
} okra_change_;

/* Models whose moments add up, in order; then pairs that go and pairs that come. */
typedef struct okra_sum_ {
    const okra_store_ *const *stores;
    size_t count;
    const okra_problem_ *less, *more; /* NULL: none                               */
    const okra_int *removed;          /* rows of the first store that go, ascending */
    okra_int removed_count;
    const okra_problem_ *whole; /* of all pairs: outputs, maps; x is not there */
    double drift;               /* what came of it, see okra_change_        */
} okra_sum_;

/* The store of the changed training set from the old one (update.c). */
okra_status okra_solution_update_(okra_context *ctx, okra_change_ *change,
                                  okra_store_ *store);
/* The store of all the pairs together, for models that keep moments (sum.c). */
okra_status okra_solution_sum_(okra_context *ctx, okra_sum_ *sum,
                               const okra_options *options, okra_store_ *store);
/* What a model of these features over a basis leaves in the store (low.c), in which the
 * map has not been saved. */
okra_status okra_solution_basis_(okra_context *ctx, const struct okra_map_ *map,
                                 okra_store_ *store);

#endif
