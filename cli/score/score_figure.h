/*
 * score_figure.h: predictions beside the truth as figures of a report.
 */
#ifndef OKRA_SCORE_FIGURE_H
#define OKRA_SCORE_FIGURE_H

#include "cli.h"

/* Adds to the list of figures what can be drawn of vectors: outputs over a single input,
 * predicted against true values, images (rows x cols pixels, 0: none; left: right of
 * their inputs) in rows, ROC and precision-recall curves of scores against a 0/1 truth.
 * `x` may be NULL. */
void score_figures(json_t *figures, const okra_data *x, const okra_data *y,
                   const okra_data *yhat, okra_int rows, okra_int cols, bool left);
/* The values of the objects, sorted, one curve a metric; value k of object i is
 * each[i * stride + k]. */
json_t *score_sorted(const double *each, okra_int n, size_t stride, const size_t *column,
                     char *const *name, size_t count);

#endif
