/*
 * outputs.h: the output side of a model, predictions, and the output kernel in panels.
 *
 * The squared distance of a prediction to a candidate y is
 *     l(y,y) - 2 sum_i w_i l(y_i,y) + w' L w        (weights)
 *     |phi(y)|^2 - 2 <h, phi(y)> + |h|^2            (embedding)
 */
#ifndef OKRA_OUTPUTS_H_
#define OKRA_OUTPUTS_H_

#include "kernel/lowrank/lowrank.h"
#include "method/method.h"

typedef _Atomic(struct okra_cache_ *) okra_cache_slot_;

/* The output side of a model, all that a decoder may see. */
typedef struct okra_output_ {
    const okra_data *y;
    const okra_data *x; /* the training inputs, first those of y; NULL: not kept */
    const okra_trained_kernel_ *ky;
    /* Low rank: features of outputs, in which predictions are given; then ky is NULL. */
    const okra_map_ *map;
    const double *features; /* explicit features as in okra_problem_, or NULL */
    okra_int d, features_ld;
    double feature_scale;
    /* Where the output kernel is an inner product in another metric: y (n x d), whose
     * combination by the weights is the predicted vector; else NULL. */
    const double *vectors;
    okra_int vectors_ld;
    /* Coordinates in which candidates are compared; NULL: the whole space. */
    const okra_components_ *components;
    /* What is minimised; NULL: the distance to the prediction. */
    const okra_criterion_ *criterion;
    const okra_kernel *kernel; /* the output kernel as it was parsed */
    /* Where what stays of the training outputs from one prediction to the next is made,
     * at the first one; or NULL. */
    okra_cache_slot_ *cache;
    bool few; /* there are few test points: what is computed for them stays */
} okra_output_;

/* A block of predictions, H in the units of the features as they stand: exactly one of W
 * (m x n) and H (m x d) has p != NULL. */
typedef struct okra_block_ {
    okra_int first, m; /* which test points: first..first+m-1 */
    okra_mat_ W, H;
    okra_mat_ extra; /* m x (1 + neighbours) with a criterion, as in okra_query_ */
} okra_block_;

/* Candidate rows allowed for test point i: ranges[i].begin..end-1; NULL: all of them. */
typedef struct okra_range_ {
    okra_int begin, end;
} okra_range_;

/* H (m x d) <- the explicit prediction of the block: H itself, or W Y. */
okra_status okra_block_explicit_(okra_context *ctx, const okra_output_ *output,
                                 const okra_block_ *block, okra_mat_ H) OKRA_CHECK;

/* The output kernel between all training outputs and a collection, in panels of
 * OKRA_PANEL_ columns, so that memory is bounded. */
enum { OKRA_PANEL_ = 512 };
typedef struct okra_panels_ okra_panels_;
struct okra_entries_;
/* What is made of the training outputs and outlives a prediction: panels, counted from 0,
 * and things with a name. Predictions may share it. */
typedef struct okra_cache_ okra_cache_;
okra_int okra_panels_of_(okra_int columns); /* how many of OKRA_PANEL_ */
okra_status okra_cache_create_(okra_int panels, okra_cache_ **out) OKRA_CHECK;
void okra_cache_free_(void *cache);
/* That of the training outputs; NULL: it is kept nowhere, or there is no memory. */
okra_cache_ *okra_cache_of_(const okra_output_ *output);
/* Panel p of a cache, or NULL; and *fresh put there, which is taken over, unless another
 * prediction was faster: the one that stands there now. */
double *okra_cache_panel_(const okra_cache_ *cache, okra_int p);
double *okra_cache_put_(okra_cache_ *cache, okra_int p, double **fresh);
/* What was left there under that name, or NULL (so where there is no cache). */
void *okra_cache_find_(const okra_cache_ *cache, const char *name);
/* Leaves a thing there and takes it over; false: it is the caller's. */
bool okra_cache_leave_(okra_cache_ *cache, const char *name, void *thing,
                       void (*free)(void *));
/* Is half of the budget free beside so many bytes, so that they may stay? */
bool okra_stays_(const okra_context *ctx, double bytes);
/* data: NULL for the training outputs. */
okra_status okra_panels_create_(okra_context *ctx, const okra_output_ *output,
                                const okra_data *data, okra_panels_ **out) OKRA_CHECK;
void okra_panels_free_(okra_panels_ *panels);
OKRA_DROPS_(okra_panels_drop_, okra_panels_, okra_panels_free_)
okra_int okra_panels_count_(const okra_panels_ *panels);     /* how many panels       */
const double *okra_panels_self_(const okra_panels_ *panels); /* l(y,y) of the columns */
/* Panel p, n x (up to OKRA_PANEL_), of low rank the features of the columns; valid until
 * the next call. With `again` (another block of predictions will ask for it) it is kept
 * while half of the budget is free; that of the training outputs on the model's cache,
 * there also for `few` test points. */
okra_status okra_panels_get_(okra_context *ctx, okra_panels_ *panels, okra_int p,
                             bool again, okra_mat_ *out) OKRA_CHECK;
bool okra_panels_kept_(const okra_panels_ *panels); /* all of them */
/* The panels as entries that an engine computes: objects of the collection by training
 * outputs; not of low rank. Borrows the panels. */
okra_status okra_panels_entries_(okra_context *ctx, okra_panels_ *panels,
                                 struct okra_entries_ **out) OKRA_CHECK;
/* Low rank, points H (m x rank): norm[r] = |h_r|^2, and *out (m x rank, owned by the
 * caller) the rows whose products with a panel are <psi(c), h_r>. */
okra_status okra_panels_points_(okra_context *ctx, const okra_panels_ *panels,
                                okra_mat_ H, double *norm, double **out) OKRA_CHECK;
/* norm[r] = w_r' L w_r of the rows of W, `training`: panels of the training outputs. */
okra_status okra_panels_norms_(okra_context *ctx, okra_panels_ *training, bool again,
                               okra_mat_ W, double *norm) OKRA_CHECK;

/* ---- one prediction times the Gram matrix of the training outputs ---- */

/* out = w'L, both of n numbers, from the panels of the training outputs; `again` as for
 * okra_panels_get_. Outputs that are the same object get the same number. */
okra_status okra_symmetric_times_(okra_context *ctx, const okra_output_ *output,
                                  okra_panels_ *panels, bool again, const double *w,
                                  double *out) OKRA_CHECK;
/* first[i]: the first training output that is the same object as output i. *own: what the
 * caller frees, or NULL. */
okra_status okra_symmetric_copies_(const okra_output_ *output, okra_int **own,
                                   const okra_int **first) OKRA_CHECK;

#endif
