/*
 * nearest.h: the best of many candidates, a list a test point, filled panel by panel, and
 * the order of candidates.
 */
#ifndef OKRA_NEAREST_H_
#define OKRA_NEAREST_H_

#include "candidates/outputs.h"
#include "core/best.h"

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
                               bool runner_up, okra_nearest_ *out) OKRA_CHECK;
void okra_nearest_clear_(okra_nearest_ *nearest);
/* Leaves out candidates with l(y,y) = self <= 0; fails where a test has no other. */
okra_status okra_nearest_leave_out_empty_(okra_context *ctx, okra_nearest_ *nearest,
                                          const double *self) OKRA_CHECK;
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
                              const okra_measured_ *measured) OKRA_CHECK;
/* One candidate of test point i, self and constant as above. */
void okra_nearest_offer_(okra_nearest_ *nearest, okra_int i, okra_int candidate,
                         double self, double inner, double norm, double constant);
/* Fails with `whose: test point i has no WHAT` where a list is empty and should not be.
 * index and distance (tests x top, owned by the caller): -1 and infinite where there are
 * fewer. */
okra_status okra_nearest_give_(okra_context *ctx, const okra_nearest_ *nearest,
                               const char *whose, const char *what, okra_int **index,
                               double **distance) OKRA_CHECK;

/* ---- sparse or bit outputs under a linear kernel: explicit.c ---- */

/* Sparse vectors or bits under c <y,y'>, compared in the whole space; *scale = c. */
bool okra_sparse_outputs_wanted_(const okra_output_ *output, double *scale);
/* h[0..d-1] = sum_i w_i y_i, by the members alone. */
void okra_sparse_outputs_combine_(const okra_data *y, const double *w, double *h);
/* The candidates `set` into the lists of the block's test points, self l(y,y) of them. */
okra_status okra_sparse_outputs_search_(okra_context *ctx, const okra_output_ *output,
                                        double scale, const okra_data *set,
                                        const double *self, double constant,
                                        const okra_block_ *block,
                                        okra_nearest_ *nearest) OKRA_CHECK;

#endif
