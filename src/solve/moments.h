/*
 * moments.h: what factored methods need of the training set: second moments of the
 * features of inputs and outputs, gathered in passes over blocks of rows.
 */
#ifndef OKRA_MOMENTS_H_
#define OKRA_MOMENTS_H_

#include "solve/solution.h"

/* With weights of pairs, rows of Phi and Psi are s_i times the features, s the roots of
 * the weights, wherever they are summed or handed out; means are weighted.
 *
 * Phi (n x m): features of the inputs under map_x. Psi (n x d): the output features,
 * explicit ones as they stand or those of map_y; d = 0 where the outputs have none. */
typedef struct okra_moments_ {
    okra_int n, m, d;
    okra_int first;          /* of the rows that this process goes over   */
    double total;            /* the sum of the weights of pairs; else n   */
    const double *weights;   /* n: of the problem, or NULL                */
    double *C;               /* m x m: Phi'Phi                            */
    double *R;               /* m x d: Phi'Psi                            */
    double *D;               /* d x d: Psi'Psi, where asked for, else NULL */
    double *phi, *psi;       /* m, d: means of the features               */
    double kept_x, kept_y;   /* tr(Phi'Phi), tr(Psi'Psi)                  */
    double error_x, error_y; /* tr(K - Phi Phi') / tr(K), and of L; < 0: not told */
    bool solved;             /* F^-1 met every row, not the sums: moments.c       */
} okra_moments_;

/* Kept in a file as they grow, and taken from there (checkpoint.c). */
typedef struct okra_keep_ {
    const char *path;
    uint64_t problem; /* okra_ridge_name_ */
} okra_keep_;
/* `outputs`: D too. `ridge`: the least that will be added to C; C may then be wrong by
 * 1e-8 of it, for half of the cost (moments.c). 0: to rounding. `keep` NULL: not on file.
 */
okra_status okra_moments_create_(okra_context *ctx, const okra_problem_ *p, bool outputs,
                                 double ridge, const okra_keep_ *keep,
                                 okra_moments_ *out);
/* C, R, D, phi, psi and kept_y, in rounds that are kept. */
okra_status okra_moments_rounds_(okra_context *ctx, const okra_problem_ *p,
                                 const okra_keep_ *keep, bool solved, okra_moments_ *t);
/* Does the file hold moments of rows that F^-1 has met? */
okra_status okra_moments_solved_(const okra_context *ctx, const okra_keep_ *keep,
                                 bool *solved);
/* Those of the rows begin..end-1, shared by all processes; phi, psi and kept_y are added
 * to what is there. */
okra_status okra_moments_rows_(okra_context *ctx, const okra_problem_ *p, okra_int begin,
                               okra_int end, bool solved, okra_moments_ *t);
/* C, R and D of Psi less its mean. */
void okra_moments_center_(okra_moments_ *moments);
/* low.c: C <- C + 2 lambda2 Phi'M Phi over all inputs, M of the graph. */
okra_status okra_moments_smooth_(okra_context *ctx, const okra_problem_ *p,
                                 const char *graph, double lambda2,
                                 okra_moments_ *moments);
void okra_moments_clear_(okra_moments_ *moments);
/* What is summed over rows: C, R, D, phi, psi and kept_y. */
enum { OKRA_MOMENTS_SUMS_ = 6 };
typedef struct okra_moments_sums_ {
    double *p[OKRA_MOMENTS_SUMS_];
    okra_int size[OKRA_MOMENTS_SUMS_];
} okra_moments_sums_;
okra_moments_sums_ okra_moments_list_(okra_moments_ *t);
/* Room for them, zeros, where m and d are set; `outputs`: D too. */
okra_status okra_moments_room_(okra_context *ctx, bool outputs, okra_moments_ *t);
/* to += sign * from, all of them; from NULL: to <- 0. */
void okra_moments_add_(double sign, okra_moments_ *from, okra_moments_ *to);
/* Ranks and trace errors, as x.rank and so on. */
okra_status okra_moments_put_(const okra_moments_ *moments, const okra_problem_ *p,
                              okra_store_ *store);

/* tr(K - Phi Phi') / tr(K) over the first n objects (weights: NULL, or theirs), given
 * kept = tr(Phi Phi'); -1: not told. */
okra_status okra_moments_trace_error_(okra_context *ctx, const struct okra_map_ *map,
                                      const okra_data *data, okra_int n,
                                      const double *weights, double kept, double *error);

/* A pass: rows first.. as Phi and Psi (p == NULL where there are none). */
typedef okra_status (*okra_rows_fn_)(okra_context *ctx, void *user, okra_int first,
                                     okra_mat_ Phi, okra_mat_ Psi);
/* `solved` false: kernel values of the basis in the place of Phi. `what` NULL: no
 * progress is reported. Cost: the kernel's values, and n m^2 where they are solved. */
okra_status okra_moments_pass_(okra_context *ctx, const okra_problem_ *p,
                               const char *what, bool solved, okra_rows_fn_ each,
                               void *user);
okra_int okra_problem_features_(const okra_problem_ *p); /* d, as above */

/* Does another engine than the host make all of them? Features must be kernel values of a
 * basis: no sketch and no waves. Then C, R, D, phi, psi and kept_y of `out`, whose arrays
 * are there; `solved` false: of U in the place of Phi. */
bool okra_moments_on_engine_(const okra_context *ctx, const okra_problem_ *p);
okra_status okra_moments_engine_(okra_context *ctx, const okra_problem_ *p, bool solved,
                                 okra_moments_ *out);

/* ---- factors ----
 * Rows of Phi and Psi, the features of inputs and outputs of low rank, by
 * their numbers: kept in memory where they fit, else in a file.
 */

enum { OKRA_FACTORS_BLOCK_ = 1024, OKRA_FACTORS_PARTS_ = 16 }; /* at most */

/* How the features are seen; the matrices must outlive the factors. */
typedef struct okra_factors_as_ {
    const double *F; /* m x m, lower: F^-1 phi in the place of phi; NULL: I      */
    const double *T; /* d x d: explicit outputs y are seen as unit y'T; NULL: I  */
    double unit;
    double besides; /* doubles that the method is going to need: room is left for them */
} okra_factors_as_;

typedef struct okra_factors_ {
    okra_context *ctx;
    okra_int n, m, d;
    okra_int block;         /* rows that a call gives at most                          */
    okra_int parts, step;   /* of okra_factors_each_, and rows of a call of its body   */
    okra_scratch_ Phi, Psi; /* n x m, n x d                                            */
    double *square;         /* n: |phi_i|^2 |psi_i|^2                                  */
    double trace;           /* tr(Phi Phi')                                            */
    double kept_x, kept_y;  /* the same without F; tr(Psi Psi')                        */
    double unit;            /* as the factors were made                                */
    double *X, *R;          /* a block of rows                                         */
    double *T, *sums;       /* parts x step x d, (parts - 1) x m x d                   */
} okra_factors_;

/* One pass over the training set. */
okra_status okra_factors_create_(okra_context *ctx, const okra_problem_ *p,
                                 const okra_factors_as_ *as, okra_factors_ *out);
/* These rows alone, side by side; out->Phi.p == NULL: they do not fit. */
okra_status okra_factors_take_(const okra_factors_ *f, const okra_int *index,
                               okra_int count, okra_factors_ *out);
void okra_factors_clear_(okra_factors_ *f);
/* Rows index[first..], side by side in the buffers from row `at` on, or first.. where
 * index == NULL, where they lie; count <= block. Good until the next call. */
void okra_factors_rows_(const okra_factors_ *f, const okra_int *index, okra_int first,
                        okra_int count, okra_int at, okra_mat_ *Phi, okra_mat_ *Psi);

/* Calls body for all of `count` rows, index[place..] or place.., in blocks. Parts
 * (f->parts at most) run side by side, the blocks of a part one after another: a body
 * writes by place, or adds up by part. to (m x d; may be NULL) <- scale Phi'T, T (a row
 * per row) as the body leaves it. */
typedef struct okra_factors_some_ {
    okra_int part, place;
    okra_mat_ Phi, Psi, T;
} okra_factors_some_;
typedef okra_status (*okra_factors_body_)(void *arg, const okra_factors_some_ *some);
okra_status okra_factors_each_(okra_factors_ *f, const okra_int *index, okra_int count,
                               okra_factors_body_ body, void *arg, double scale,
                               double *to);

#endif
