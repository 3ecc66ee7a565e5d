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
                                 const okra_block_ *block, okra_mat_ H);

/* The output kernel between all training outputs and a collection, in panels of
 * OKRA_PANEL_ columns, so that memory is bounded. */
enum { OKRA_PANEL_ = 512 };
typedef struct okra_panels_ okra_panels_;
struct okra_entries_;
/* What is made of the training outputs and outlives a prediction: panels, counted from 0,
 * and things with a name. Predictions may share it. */
typedef struct okra_cache_ okra_cache_;
okra_int okra_panels_of_(okra_int columns); /* how many of OKRA_PANEL_ */
okra_status okra_cache_create_(okra_int panels, okra_cache_ **out);
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
/* Is half of the budget free beside these bytes, so that they may stay? */
bool okra_stays_(const okra_context *ctx, double bytes);
/* data: NULL for the training outputs. */
okra_status okra_panels_create_(okra_context *ctx, const okra_output_ *output,
                                const okra_data *data, okra_panels_ **out);
void okra_panels_free_(okra_panels_ *panels);
OKRA_DROPS_(okra_panels_drop_, okra_panels_, okra_panels_free_)
okra_int okra_panels_count_(const okra_panels_ *panels);     /* how many panels       */
const double *okra_panels_self_(const okra_panels_ *panels); /* l(y,y) of the columns */
/* Panel p, n x (up to OKRA_PANEL_), of low rank the features of the columns; valid until
 * the next call. With `again` (another block of predictions will ask for it) it is kept
 * while half of the budget is free; that of the training outputs on the model's cache,
 * there also for `few` test points. */
okra_status okra_panels_get_(okra_context *ctx, okra_panels_ *panels, okra_int p,
                             bool again, okra_mat_ *out);
bool okra_panels_kept_(const okra_panels_ *panels); /* all of them */
/* The panels as entries that an engine computes: objects of the collection by training
 * outputs; not of low rank. Borrows the panels. */
okra_status okra_panels_entries_(okra_context *ctx, okra_panels_ *panels,
                                 struct okra_entries_ **out);
/* Low rank, points H (m x rank): norm[r] = |h_r|^2, and *out (m x rank, owned by the
 * caller) the rows whose products with a panel are <psi(c), h_r>. */
okra_status okra_panels_points_(okra_context *ctx, const okra_panels_ *panels,
                                okra_mat_ H, double *norm, double **out);
/* norm[r] = w_r' L w_r of the rows of W, `training`: panels of the training outputs. */
okra_status okra_panels_norms_(okra_context *ctx, okra_panels_ *training, bool again,
                               okra_mat_ W, double *norm);

/* ---- one prediction times the Gram matrix of the training outputs ---- */

/* out = w'L, both of n numbers, from the panels of the training outputs; `again` as for
 * okra_panels_get_. Outputs that are the same object get the same number. */
okra_status okra_symmetric_times_(okra_context *ctx, const okra_output_ *output,
                                  okra_panels_ *panels, bool again, const double *w,
                                  double *out);
/* first[i]: the first training output that is the same object as output i. *own: what the
 * caller frees, or NULL. */
okra_status okra_symmetric_copies_(const okra_output_ *output, okra_int **own,
                                   const okra_int **first);

/* ---- nearest ----
 * The best of many candidates, a list a test point, filled panel by panel, and
 * the order of candidates.
 */

/* What orders the objects near one prediction: self - 2 inner, exactly. */
okra_key_ okra_key_of_(double self, double inner);
/* The value that all of self have, up to rounding (positive: all those above 0); NaN:
 * they differ, or are none. */
double okra_self_constant_(const double *self, okra_int n, bool positive);
/* self, or the constant where it is that up to rounding. */
double okra_self_settle_(double self, double constant);

/* Are two outputs one point, |a|^2 + |b|^2 - 2 <a,b> = 0 to rounding? */
static inline bool okra_same_point_(double a, double b, double inner)
{
    return a + b - 2 * inner <= 1e-12 * (a + b);
}

/* One of the best of a test point: rank.id is its number. */
typedef struct okra_near_ {
    okra_rank_ rank;
    double distance;
} okra_near_;

typedef struct okra_nearest_ {
    okra_int tests, top, count;
    const okra_range_ *ranges;
    bool negative;      /* values below 0 are no rounding: a criterion, not a distance */
    bool may_be_empty;  /* a test point may be left without a candidate */
    bool *skip;         /* candidates left out, or NULL */
    okra_near_ *list;   /* tests x top, best first */
    okra_int *used;     /* tests: how many there are */
    double *runner_up;  /* tests, where wanted */
    okra_int *compared; /* tests: candidates that fit; NULL: all of them did */
} okra_nearest_;

/* Empty lists; `request` has tests, top, count, ranges and negative. Fails where a range
 * is not within the candidates. */
okra_status okra_nearest_open_(okra_context *ctx, const okra_nearest_ *request,
                               bool runner_up, okra_nearest_ *out);
void okra_nearest_clear_(okra_nearest_ *nearest);
/* Leaves out candidates with l(y,y) = self <= 0; fails where a test has no other. */
okra_status okra_nearest_leave_out_empty_(okra_context *ctx, okra_nearest_ *nearest,
                                          const double *self);
/* Whether a test point of the block may choose among these candidates. */
bool okra_nearest_wanted_(const okra_nearest_ *nearest, const okra_block_ *block,
                          okra_int first, okra_int columns);

/* Candidates first.. of a panel for some test points of a block. */
typedef struct okra_part_ {
    okra_int m;             /* rows of the block that may choose among these: */
    const okra_int *row;    /* which, ascending; NULL: 0..m-1 */
    okra_int first, count;  /* the candidates */
    const okra_int *number; /* how they are numbered; NULL: first, first + 1, ... */
    const bool *fits;       /* m x count: which fit which row; NULL: all do */
    bool featured;          /* those with l(c,c) <= 0 are no candidates */
    okra_mat_ C;            /* n x count: l(y_i, c), or features of low rank; or */
    okra_mat_ Y;            /* count x d: vectors */
    const double *self;     /* count: l(c,c) */
} okra_part_;

/* The part at scale (self_c - 2 G_rc + norm_r) from row r of the block, chosen by self_c
 * - 2 G_rc. The self-similarities may depend on the row: those of row r are self +
 * which[r] count. */
typedef struct okra_measured_ {
    const okra_block_ *block;
    const okra_part_ *part;
    const double *self, *G; /* G: part->m x part->count */
    const double *norm;     /* of the block; NULL: 0 */
    double scale;
    double constant; /* of all l(y,y), which then do not count in the order; or NaN */
    const okra_int *which; /* of the block; NULL: all 0 */
} okra_measured_;
/* Of equal candidates the lower number is the better one. */
okra_status okra_nearest_put_(okra_context *ctx, okra_nearest_ *nearest,
                              const okra_measured_ *measured);
/* One candidate of test point i, self and constant as above. */
void okra_nearest_offer_(okra_nearest_ *nearest, okra_int i, okra_int candidate,
                         double self, double inner, double norm, double constant);
/* Fails with `whose: test point i has no WHAT` where a list is empty and should not be.
 * index and distance (tests x top, owned by the caller): -1 and infinite where there are
 * fewer. */
okra_status okra_nearest_give_(okra_context *ctx, const okra_nearest_ *nearest,
                               const char *whose, const char *what, okra_int **index,
                               double **distance);

/* ---- sparse or bit outputs under a linear kernel: explicit.c ---- */

/* Sparse vectors or bits under c <y,y'>, compared in the whole space; *scale = c. */
bool okra_sparse_outputs_wanted_(const okra_output_ *output, double *scale);
/* h[0..d-1] = sum_i w_i y_i, by the members alone. */
void okra_sparse_outputs_combine_(const okra_data *y, const double *w, double *h);
/* The candidates `set` into the lists of the block's test points, self l(y,y) of them. */
okra_status okra_sparse_outputs_search_(okra_context *ctx, const okra_output_ *output,
                                        double scale, const okra_data *set,
                                        const double *self, double constant,
                                        const okra_block_ *block, okra_nearest_ *nearest);

#endif
