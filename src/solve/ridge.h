/*
 * ridge.h: what method/ridge.c asks to be solved, and what the solvers share.
 */
#ifndef OKRA_RIDGE_H_
#define OKRA_RIDGE_H_

#include "solve/solution.h"
#include "kernel/positions/position.h"

enum { OKRA_PRECISION_AUTO_, OKRA_PRECISION_DOUBLE_, OKRA_PRECISION_MIXED_ };

typedef struct okra_ridge_ {
    okra_context *ctx;
    const okra_problem_ *p;
    const double *lambda; /* count values, each with its store */
    size_t count;
    okra_store_ *const *stores;
    bool center;
    double lambda2;      /* weight of the smoothness over the graph, */
    const char *graph;   /* NULL: there is none                     */
    const double *times; /* d: output j has lambda times[j], of operators that keep
                            outputs apart (identity, diagonal); NULL: 1 */
    bool missing;        /* some values of Y are NaN */
    bool slim;           /* coefficients alone: no "factor" or "B" */
    bool keep_moments;
    int precision;                          /* of those above */
    const char *checkpoint, *operator_text; /* "": none; as typed */
    double epsilon;
    double *Y, *mean; /* explicit features, less their mean when centred; or NULL */
    /* Weights of pairs: solvers see the problem of s_i times both features of pair i, so
     * that Y has rows s_i (y_i - mean) and K is okra_ridge_K_; ridge.c then goes back. */
    double *s;    /* n: roots of the weights, or NULL */
    double total; /* their sum; n without weights     */
} okra_ridge_;

/* s_i, and the weight of a pair. */
static inline double okra_ridge_root_(const okra_ridge_ *r, okra_int i)
{
    return r->s ? r->s[i] : 1;
}
static inline double okra_ridge_weight_(const okra_ridge_ *r, okra_int i)
{
    return r->s ? r->s[i] * r->s[i] : 1;
}
/* lambda of output j. */
static inline double okra_ridge_lambda_(const okra_ridge_ *r, double lambda, okra_int j)
{
    return r->times ? lambda * r->times[j] : lambda;
}
double okra_ridge_least_lambda_(const okra_ridge_ *r); /* of all outputs */
/* out_j <- <a_j, b_j>, of the d columns of A and B. */
static inline void okra_column_dots_(okra_int rows, okra_int d, const double *A,
                                     const double *B, double *out)
{
    okra_fill_(d, 0, out);
    for (okra_int i = 0; i < rows; i++) {
        for (okra_int j = 0; j < d; j++) {
            out[j] += A[i * d + j] * B[i * d + j];
        }
    }
}
okra_int okra_ridge_size_(const okra_ridge_ *r); /* n, or the rank */
/* The Gram matrix of the inputs in the units of solvers. */
okra_status okra_ridge_K_(const okra_ridge_ *r, okra_matrix_ **K);

/* With weights: what a store holds, in the units of the outputs themselves. */
okra_status okra_ridge_unscale_(const okra_ridge_ *r, okra_store_ *store);
/* A sink of left-out predictions s_i h(x_i), or weights over s_j phi(y_j), that hands on
 * those of the outputs themselves. */
struct okra_leave_;
typedef struct okra_unscaled_ {
    const okra_ridge_ *r;
    const struct okra_leave_ *leave;
} okra_unscaled_;
okra_status okra_ridge_unscale_left_(okra_context *ctx, void *user,
                                     const okra_left_ *left);

/* Where all inputs have outputs, each fills every store with "factor" or "B" (n x n) for
 * weights (unless slim), and with "coefficients" (n x d) where there are explicit
 * features. */
okra_status okra_ridge_identity_(okra_ridge_ *r);
/* mixed.c: the same by a factor in single precision, coefficients alone, all lambdas
 * above 0. *done false: it does not pay or does not get there, as was warned where it was
 * asked for; stores are as they were. */
okra_status okra_ridge_mixed_(okra_ridge_ *r, bool *done);
/* K + lambda I = L L', one lambda above 0. *jitter is infinite, and there is no L, where
 * lambda is less than rounding. */
okra_status okra_ridge_factor_(const okra_ridge_ *r, okra_matrix_ **L, double *jitter);
/* checkpoint.c: the same, kept in the file r->checkpoint or taken from there. */
okra_status okra_ridge_factor_kept_(const okra_ridge_ *r, okra_matrix_ **L,
                                    double *jitter);
/* A hash of all pairs, kernels and options of the fit, by all processes. */
okra_status okra_ridge_name_(const okra_ridge_ *r, uint64_t *out);
/* epsilon < 0: the covariance operator, else the conditional one. */
okra_status okra_ridge_covariance_(okra_ridge_ *r, double epsilon);
/* A: d x d, destroyed; NULL: identity. Coefficients alone. */
okra_status okra_ridge_matrix_(okra_ridge_ *r, double *A);

/* Y in the units of y (without sqrt(feature_scale): h is linear in Y) and its mean. */
okra_status okra_ridge_features_(okra_ridge_ *r);

/* diagonal.c: the operator diagonal(t=..), also of low rank. Coefficients and "slope"
 * (1 x d), the multiples of the coordinates of x that a prediction adds. */
okra_status okra_ridge_diagonal_(okra_ridge_ *r, double t);
okra_status okra_ridge_diagonal_check_(const okra_ridge_ *r);

/* Inputs without outputs: B is n x N and the coefficients N x d. A: NULL for identity,
 * else d x d, destroyed. */
okra_status okra_ridge_semi_(okra_ridge_ *r, double *A);

/* low.c: all operators in factored form, for problems with map_x. Coefficients of
 * its values; "B" (n x columns) where the outputs have no features. */
okra_status okra_ridge_low_(okra_ridge_ *r, const okra_operator_ *op, double epsilon);

/* K = V' diag(v) V in the place of K, v >= 0: eigenvalues that rounding made negative
 * become 0, larger ones are reported. */
okra_status okra_ridge_decompose_(okra_context *ctx, okra_matrix_ *K, double *v);
/* Eigenvalues up to this one are rounding; v ascends. */
double okra_ridge_least_(okra_int n, const double *v);
/* Of lambda = 0: drops what is rounding, and warns with the rank. */
void okra_ridge_minimum_(const okra_ridge_ *r, okra_int n, double *v);
/* R <- diag((v + lambda)^-1/2) V (0 where v + lambda is 0) and B <- scale R'R, which is
 * scale (K + lambda I)^-1, symmetric to the last bit. */
okra_status okra_ridge_inverse_(okra_context *ctx, const okra_matrix_ *V, const double *v,
                                double lambda, double scale, okra_matrix_ *R,
                                okra_matrix_ *B);

/* Coefficients A = V' [ (V R E')_ij g_j / (times lambda + g_j v_i) ] E for every lambda
 * into its store: K = V' diag(v) V and R the outputs, or Phi'Phi and Phi'Psi of low rank,
 * where the store gets T A (low.c). E (d x d) NULL: identity. */
struct okra_map_;
typedef struct okra_spectral_ {
    const okra_matrix_ *V;
    const double *v;
    okra_mat_ R;
    const double *E, *g;
    double times;
    const struct okra_map_ *fold; /* NULL: A as it is */
} okra_spectral_;
okra_status okra_ridge_spectral_(okra_ridge_ *r, const okra_spectral_ *s);
/* T A, or A, into the store; A (m x d, from okra_alloc_) is consumed. */
okra_status okra_ridge_put_folded_(okra_context *ctx, const struct okra_map_ *fold,
                                   okra_int m, okra_int d, okra_store_ *store,
                                   double **A);

/* leave.c: left-out predictions. */
typedef struct okra_leave_ {
    const okra_parts_ *parts;
    bool explicitly;
    okra_left_fn_ sink;
    void *user;
} okra_leave_;
okra_status okra_ridge_leave_(okra_ridge_ *r, const okra_operator_ *op,
                              const okra_leave_ *leave);
/* Fails where lambda = 0 and some of the n eigenvalues v are rounding: there is no closed
 * form. */
okra_status okra_ridge_leaves_(const okra_ridge_ *r, okra_int n, double *v);

/* Outputs with missing values: coefficients alone, N x d. */
okra_status okra_ridge_missing_(okra_ridge_ *r, double *A);

/* Predictions of any method whose store holds "B" (weights w = B k_x, n x N) or
 * "coefficients" (h(x)' = k_x' C, N x d), or both. */
/* Rows of W (over the training outputs) get the sum 1: the mean output takes what is
 * missing; pairs may have weights. */
void okra_mean_restore_(const okra_store_ *store, okra_mat_ W);
okra_form_ okra_ridge_form_(const okra_store_ *store);
okra_int okra_ridge_width_(const okra_store_ *store);
okra_status okra_ridge_predict_(okra_context *ctx, const okra_store_ *store,
                                okra_query_ *query, okra_mat_ out);
okra_status okra_ridge_embed_(okra_context *ctx, const okra_store_ *store,
                              okra_query_ *query, okra_mat_ out);

enum { OKRA_DIRECTIONS_MOST_ = 16 }; /* as many rows "factor.K" as sum.c declares */
/* As okra_ridge_matrix_ of one lambda above 0, with factors in the store. */
okra_status okra_ridge_factors_(okra_ridge_ *r, const double *A);

/* "operator.A" into every store: it stays that of the first fit, as updates open no
 * files. */
okra_status okra_ridge_keep_operator_(const okra_ridge_ *r, const double *A);

struct okra_moments_;
/* low.c: the mean, ranks and trace errors; the model of these moments, consumed. */
okra_status okra_ridge_put_moments_(const okra_ridge_ *r, const struct okra_moments_ *t,
                                    okra_store_ *store);
okra_status okra_ridge_of_moments_(okra_ridge_ *r, const okra_operator_ *op,
                                   double epsilon, struct okra_moments_ *t);
/* Copies of the moments (not centred), of A (NULL: none) and of what the map of inputs is
 * beside its objects; keys of the inputs. */
okra_status okra_ridge_keep_moments_(const okra_problem_ *p,
                                     const struct okra_moments_ *t, const double *A,
                                     okra_store_ *store);

/* ---- cg.c: conjugate gradients for ridge of large rank ---- */

typedef struct okra_cg_options_ {
    double tolerance;       /* of |residual| / |right-hand side|, every column */
    okra_int iterations;    /* at most                                          */
    const char *checkpoint; /* file, or ""                                      */
} okra_cg_options_;

/* The identity operator with map_x of chol or nystrom, outputs with features. */
okra_status okra_ridge_cg_(okra_ridge_ *r, const okra_cg_options_ *o);

/* Where the iteration stands: all that it needs to go on with the same bits. */
typedef struct okra_cg_state_ {
    okra_int m, d, steps;
    double *X, *R, *P;         /* m x d: solution, residual, direction          */
    double *rho, *norm, *mean; /* d: <R, Z>, |right-hand side|^2, mean output   */
} okra_cg_state_;

okra_status okra_cg_state_save_(okra_context *ctx, const okra_cg_state_ *s,
                                const char *path, uint64_t problem);
/* *found is false, and s as it was, where there is no file. A file of another problem is
 * an error. */
okra_status okra_cg_state_load_(const okra_context *ctx, const char *path,
                                uint64_t problem, okra_cg_state_ *s, bool *found);

/* ---- smoothers: what is left of outputs when ridge has had its part ----
 *
 * Ridge maps outputs linearly, Y -> G Y at the training inputs. M = I - G gives
 * everything that leaving out needs (leave.c); how M is applied is all that differs
 * between a dense kernel, a graph, a kernel of low rank and an engine.
 *
 * A column has a lambda of its own: with a matrix operator A = E' diag(g) E the columns
 * of Y E' are ridges with lambda / g_j (infinite where g_j is 0), and so are outputs with
 * their own lambda. M is scaled by a positive number per column where that is easier. */

typedef struct okra_smoother_ okra_smoother_;
struct okra_smoother_ {
    void *self;
    okra_int n;
    /* Before all others; U (n x c) stays where it is, p == NULL: the identity, n x n. */
    okra_status (*begin)(void *self, okra_mat_ U);
    /* out (n x some c) <- M U, `some` times, column j under lambda[j]; q (some k x n) <-
     * for each of these times the diagonals of M under the first k lambdas. */
    okra_status (*apply)(void *self, const double *lambda, okra_mat_ out, okra_mat_ q);
    /* R <- M_SS^-1 R, S the inputs in[0..R.rows-1]; all columns under one lambda. */
    okra_status (*solve)(void *self, double lambda, const okra_int *in, okra_mat_ R);
    void (*free)(void *self);
};

/* K = V' diag(v) V, or with a graph M = I - S of semi.c. */
okra_status okra_smoother_dense_(okra_ridge_ *r, okra_smoother_ *out);
/* A Cholesky factor for each lambda: few lambdas, on an engine that multiplies fast. */
okra_status okra_smoother_factor_(okra_ridge_ *r, okra_int largest, bool *done,
                                  okra_smoother_ *out);
/* K = Phi Phi' of low rank; r->Y and r->mean become those of the outputs' features.
 * rows: features are kept, so that parts can be solved. */
okra_status okra_smoother_low_(okra_ridge_ *r, bool rows, okra_int *d,
                               okra_smoother_ *out);

/* ---- kron.c: the covariance operators in O(n^3) (Kadri 2013 eq. 8 without its n^2 x n^2
 * system) ---- */

/* Both eigendecompositions, done once; every lambda after that costs two products.
 *     K = Q diag(lam) Q',   S = n eps (K + n eps I)^-1 = Q diag(r)^2 Q'  (S = I: r = 1)
 *     N = Q' L Q,   diag(r) N diag(r) = V diag(mu) V'
 *     Z_ij = (V' diag(r) N)_ij / (mu_i lam_j + n lambda),   B = Q diag(r) V Z Q'
 * B solves: T a K + n lambda a = I, B = T a, T = S L; relative error about
 * eps (1 + max(mu) max(lam) / (n lambda)). Keeps 3 n^2 doubles; a solve takes n^2 more.
 */
typedef struct okra_kron_ okra_kron_;

/* K and L (n x n, both triangles) are destroyed. epsilon < 0: covariance operator, S = I;
 * epsilon > 0: conditional covariance. Eigenvalues that rounding made negative are set to
 * 0; ones below -1e-8 of the largest warn that the Gram matrix is not PSD. */
okra_status okra_kron_create_(okra_context *ctx, okra_matrix_ *K, okra_matrix_ *L,
                              double epsilon, okra_kron_ **out);
/* B (n x n) for one lambda; weights of a query are w = B k_x. */
okra_status okra_kron_solve_(okra_context *ctx, const okra_kron_ *kron, double lambda,
                             okra_matrix_ *B);
void okra_kron_free_(okra_kron_ *kron);
/* Warns where the condition number leaves less than three digits. */
void okra_ridge_condition_(const okra_context *ctx, double lambda, double condition);
OKRA_DROPS_(okra_kron_drop_, okra_kron_, okra_kron_free_)

/* ---- groups ----
 * Ridge with an operator that is diagonal, the coordinates of the output in
 * groups that have a kernel each.
 */

/*     K(x,x') = diag_j k_g(j)(x,x'),   k_g(x,x') = sum_p S_gp k_p(x,x')
 * k_p the kernel of the inputs at position p alone (position.h). */
typedef struct okra_groups_ {
    okra_int n, d, count, positions;
    double *S;    /* count x positions, none negative       */
    okra_int *of; /* d: the group of a coordinate           */
    double *K;    /* positions Gram matrices of n x n       */
} okra_groups_;
/* Room for S and `of`, which the caller fills, and all Gram matrices. */
okra_status okra_groups_create_(okra_context *ctx, const okra_pieces_ *pieces, okra_int n,
                                okra_int d, okra_int count, okra_groups_ *out);
void okra_groups_clear_(okra_groups_ *g);
/* K (n x n) <- the Gram matrix of group k. */
void okra_groups_gram_(const okra_groups_ *g, okra_int k, double *K);

/* Outputs Y (n x d), less their mean where it is not NULL; groups, Y and mean are its
 * own. */
typedef struct okra_grouped_ {
    okra_context *ctx;
    const double *lambda;
    size_t count;
    okra_groups_ groups;
    double *Y, *mean;
} okra_grouped_;
void okra_grouped_clear_(okra_grouped_ *r);
/* (K_g(j) + lambda I) c_j = y_j: every store gets C and what a prediction needs. */
okra_status okra_grouped_ridge_(const okra_grouped_ *r, okra_store_ *const *stores);
/* Predictions left out one by one, for every lambda. */
okra_status okra_grouped_leave_(const okra_grouped_ *r, okra_left_fn_ sink, void *user);
/* *C (n x d) goes into the store, beside the groups, the mean and lambda. */
okra_status okra_grouped_put_(const okra_grouped_ *r, double lambda, double **C,
                              okra_store_ *store);

/* What the methods that keep such stores share. */
/* h_j(x) = mean_j + sum_i k_g(j)(x, x_i) C_ij */
okra_status okra_grouped_predict_(okra_context *ctx, const okra_store_ *store,
                                  okra_query_ *query, okra_mat_ out);

#endif
