/*
 * set.h: the candidates of a prediction: training outputs, a list, or an index.
 *
 * A set is walked panel by panel, OKRA_PANEL_ candidates at most. A candidate's number is
 * its row in the file, list or training set. A window says which candidates fit which
 * test point.
 */
#ifndef OKRA_SET_H_
#define OKRA_SET_H_

#include "candidates/index.h"

/* ---- windows: window.c ---- */

/* What fits each test point. */
typedef struct okra_windows_ {
    bool used;
    bool formulas;      /* only candidates of the formula  */
    uint64_t *formula;  /* tests                           */
    double *low, *high; /* tests: masses; nothing fits where low > high */
    int filters;        /* columns with bounds */
    int column[OKRA_COLUMNS_MOST_];
    double *bound; /* tests x filters x 2 */
} okra_windows_;
/* window: as it was asked for; index NULL: of a list of molecules. */
okra_status okra_windows_open_(okra_context *ctx, const okra_index *index,
                               const okra_data *x, const okra_window *window,
                               okra_windows_ *out);
void okra_windows_close_(okra_windows_ *w);
/* Rows of a shard, which ascend by mass; those that fit are among them. */
void okra_windows_rows_(const okra_windows_ *w, okra_int test, const okra_shard_ *s,
                        okra_int *begin, okra_int *end);
bool okra_windows_fits_(const okra_windows_ *w, okra_int test, const okra_shard_ *s,
                        okra_int row);
/* The first row of a shard whose mass is not below (above: is above) the given one. */
okra_int okra_shard_row_(const okra_shard_ *s, double mass, bool above);

/* ---- the set ---- */

/* What is asked of a set. */
typedef struct okra_set_request_ {
    const okra_data *list;     /* or */
    const okra_index *index;   /* or neither: the training outputs */
    const okra_window *window; /* NULL: all fit */
    const okra_data *x;        /* the test points, as a window sees them */
    bool vectors;              /* these are compared, not kernel values */
    bool empty;                /* an index: candidates with l(y,y) <= 0 are kept */
} okra_set_request_;

typedef struct okra_set_ {
    okra_output_ output;
    const okra_data *list;
    const okra_index *index;
    okra_panels_ *panels; /* a list: of its kernel values; NULL: an index, or vectors */
    bool vectors, empty;
    okra_windows_ windows;
    okra_shard_ facts; /* a list with a window: masses and formulas of its molecules */
    double *mass;
    uint64_t *formula;
    /* an index */
    okra_bit_kernel_ kernel;
    bool bits; /* the kernel is over these */
    okra_data *outputs;
    okra_trained_kernel_ *own;
    const okra_trained_kernel_ *bound;
    okra_int *first;           /* shards + 1: number of the first panel of each */
    okra_int shortlist, count; /* count: of candidates */
    bool exact;                /* no low rank first */
    /* the part at hand */
    const okra_shard_ *shard;
    okra_int *row, place[OKRA_PANEL_], number[OKRA_PANEL_];
    okra_int rows; /* room of row and fits */
    bool *fits;
    double *C, self[OKRA_PANEL_];
    okra_data *data;
} okra_set_;
okra_status okra_set_open_(okra_context *ctx, const okra_output_ *output,
                           const okra_set_request_ *request, okra_set_ **out);
void okra_set_free_(okra_set_ *set);
OKRA_DROPS_(okra_set_drop_, okra_set_, okra_set_free_)
okra_int okra_set_panels_(const okra_set_ *set); /* how many panels */

/* Panel p for the block; count is 0 where no test point of it may choose there. Valid
 * until the next call. Candidates that fit are added to those that were compared. */
okra_status okra_set_part_(okra_context *ctx, okra_set_ *set, okra_int p,
                           const okra_block_ *block, okra_nearest_ *nearest,
                           okra_part_ *out);
/* Its kernel values and self-similarities, or vectors; `again` as in okra_panels_get_. */
okra_status okra_set_values_(okra_context *ctx, okra_set_ *set, bool again,
                             okra_part_ *part);
/* The rows of A (one each of the block) that belong to the part: a view, or *copy, which
 * the caller frees. */
okra_status okra_part_rows_(okra_context *ctx, const okra_part_ *part, okra_mat_ A,
                            double **copy, okra_mat_ *out);

/* ---- an index of low rank ---- */

/* Can all candidates be measured by a few numbers first? */
bool okra_set_scans_(const okra_set_ *set);
/* That, and the best of each row of the block exactly (low_rank.c); *error: the largest
 * difference of the two so far. norm[r] = w_r'Lw_r. */
okra_status okra_set_scan_(okra_context *ctx, okra_set_ *set, const okra_block_ *block,
                           const double *norm, okra_nearest_ *nearest, double *error);
/* Numbers, kernel values and self-similarities of rows of a shard. */
okra_status okra_set_rows_(okra_context *ctx, okra_set_ *set, int shard,
                           const okra_int *place, okra_int count, okra_part_ *out);

/* ---- candidates that are compared by explicit coordinates: explicit.c ---- */

typedef struct okra_explicit_ {
    okra_output_ output; /* with components: their scores are the features */
    okra_set_ *set;      /* borrowed */
    bool raw;            /* candidates are explicit features as they stand */
    bool own;            /* it is the training outputs */
    double *axes;        /* those of components, as panels of a map meet them */
    double *shift;       /* s */
    double level;        /* |y|^2 where all candidates have that, or NaN */
} okra_explicit_;

/* output: with explicit features or components; list: the candidates; NULL: those of an
 * index, all of the norm level^(1/2) unless it is NaN. */
okra_status okra_explicit_open_(okra_context *ctx, const okra_output_ *output,
                                const okra_data *list, double level, okra_explicit_ *out);
/* Are kernel values of the candidates needed, not vectors? */
bool okra_explicit_kernel_(const okra_explicit_ *e);
void okra_explicit_clear_(okra_explicit_ *flat);
okra_status okra_explicit_search_(okra_context *ctx, const okra_explicit_ *flat,
                                  const okra_block_ *block, okra_nearest_ *nearest);

/* ---- candidates whose inner products an engine computes and sorts: engine.c ---- */

/* Can the engine do it, and is it worth while: another engine than the host, and every
 * candidate open to every test point? */
bool okra_scored_wanted_(okra_context *ctx, const okra_nearest_ *nearest);
/* norm[r] = w_r' L w_r of the rows of W, as okra_panels_norms_. */
okra_status okra_scored_norms_(okra_context *ctx, okra_panels_ *training, okra_mat_ W,
                               double *norm);
/* All candidates, `panels`, into the lists of the block's test points. */
okra_status okra_scored_put_(okra_context *ctx, okra_panels_ *panels,
                             const okra_block_ *block, const double *norm,
                             double constant, okra_nearest_ *nearest);
/* Many processes: of the lists first..first+count-1 this one has made own..own+made-1;
 * afterwards every process has all of them. */
okra_status okra_scored_share_(okra_context *ctx, okra_nearest_ *nearest, okra_int first,
                               okra_int count, okra_int own, okra_int made);

#endif
