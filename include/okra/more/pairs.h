/*
 * okra/more/pairs.h: a number for each pair of a row object and a column object (drug and
 * target, user and item), from known pairs; rows, columns or both may be new.
 *
 *     f(r, c) = mean + sum_ij K((r,c), (i,j)) C_ij,  K = sum_t A_t(r,i) B_t(c,j)
 *
 * Ridge regression over the known pairs, without a matrix of pairs by pairs: a complete
 * matrix by two decompositions, one with gaps by conjugate gradients.
 */
#ifndef OKRA_MORE_PAIRS_H
#define OKRA_MORE_PAIRS_H

#include "okra/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is new in a pair that is to be predicted: itself alone, its row, its column, both.
 */
typedef enum okra_pair_setting {
    OKRA_PAIR_PAIR,
    OKRA_PAIR_ROW,
    OKRA_PAIR_COLUMN,
    OKRA_PAIR_BOTH,
} okra_pair_setting;
enum { OKRA_PAIR_SETTINGS = 4 };

typedef struct okra_pairs okra_pairs;

typedef struct okra_pairs_request {
    size_t size;              /* OKRA_SIZED(okra_pairs_request) */
    const okra_data *rows;    /* n objects; a Gram matrix: n x n */
    const okra_data *columns; /* m objects */
    const double *values;     /* n x m, NaN: not known */
    const double *weights;    /* n x m, 0: as if not known; NULL: 1 each */
    const char *kernel; /* 'E1 * E2': of rows, of columns; V * E1 * E2 + ...; auto in
                           place of E1 or E2: by the kind of objects. NULL: auto * auto */
    double lambda; /* 0: chosen by the error of left-out predictions in the setting */
    double own; /* added to k(r, r) and k(c, c) of each training object: what is its own,
                   beside what it shares with others. Below 0: chosen, 0 or 0.3 of the
                   mean */
    bool plain; /* values are not centred */
    okra_pair_setting setting;
    double calibration; /* the share of pairs, rows or columns, as the setting says, that
                           is held back for okra_pairs_interval; 0: none */
} okra_pairs_request;

OKRA_EXPERIMENTAL okra_status okra_pairs_fit(okra_context *context,
                                             const okra_pairs_request *request,
                                             okra_pairs **out) OKRA_CHECK;
OKRA_EXPERIMENTAL void okra_pairs_free(okra_pairs *pairs);
/* out (n x m): a matrix of n x m numbers as it is, NaN where nothing is known; or lines
 * of row, column (both from 0), value. */
OKRA_EXPERIMENTAL okra_status okra_pairs_values(const okra_data *y, okra_int n,
                                                okra_int m, double *out) OKRA_CHECK;
/* out: one row per object of `rows`, one column per object of `columns`; NULL: those that
 * it was fitted to. An object that equals one of those is that one. */
OKRA_EXPERIMENTAL okra_status okra_pairs_predict(okra_context *context,
                                                 const okra_pairs *pairs,
                                                 const okra_data *rows,
                                                 const okra_data *columns,
                                                 double *out) OKRA_CHECK;
/* *width: f - width .. f + width holds the value of a new pair with a probability of at
 * least 1 - alpha, over pairs, rows or columns as the setting of the fit says; infinite
 * where too few were held back. OKRA_EUNSUPPORTED where none were. */
OKRA_EXPERIMENTAL okra_status okra_pairs_interval(const okra_pairs *pairs, double alpha,
                                                  double *width) OKRA_CHECK;
/* Rows and columns that it was fitted to. */
OKRA_EXPERIMENTAL void okra_pairs_size(const okra_pairs *pairs, okra_int *rows,
                                       okra_int *columns);
OKRA_EXPERIMENTAL okra_status okra_pairs_save(okra_context *context,
                                              const okra_pairs *pairs,
                                              const char *path) OKRA_CHECK;
/* Is it a file of okra_pairs_save? */
OKRA_EXPERIMENTAL bool okra_pairs_is(okra_context *context, const char *path);
OKRA_EXPERIMENTAL okra_status okra_pairs_load(okra_context *context, const char *path,
                                              okra_pairs **out) OKRA_CHECK;
/* What was fitted, and the scores in all four settings; owned by it. */
OKRA_EXPERIMENTAL const char *okra_pairs_json(const okra_pairs *pairs);

#ifdef __cplusplus
}
#endif
#endif
