/*
 * okra/select.h: choosing kernels, regularisation and other options by leave-one-out or
 * cross-validation.
 *
 * Every option of fit and predict may hold a grid: {a,b,c}, lo..hi (log-spaced, 10
 * values; every integer for whole numbers) or lo..hi:steps, at any place of a kernel
 * expression where a number stands, and for any other option; where a kernel stands,
 * {A,B} holds whole kernels. kx, ky and lambda may be `auto`: a small grid by the kind of
 * objects. A cell is one combination.
 * With a budget, lo..hi of real numbers is drawn from continuously (log-uniform).
 */
#ifndef OKRA_SELECT_H
#define OKRA_SELECT_H

#include "okra/data.h"
#include "okra/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct okra_selection okra_selection;

/* Options: cv, metric, budget, refine, repeats and train-on-one; those of fit and of
 * predict, as texts that may hold grids. okra_option_tables("select") lists them. */
OKRA_API okra_status okra_select_options(okra_options **out) OKRA_CHECK;

/* What comes with the training set. */
typedef struct okra_select_request {
    size_t size;                 /* OKRA_SIZED(okra_select_request) */
    const okra_data *candidates; /* decoded to; NULL: the training outputs of each fold */
    const okra_data *folds;  /* labels: the fold of each pair, in place of drawn ones */
    const okra_data *groups; /* labels: pairs of one group are left out together     */
    const okra_data *strata; /* labels: their shares are kept in every fold          */
    const char *resume; /* a file of finished work: read if there, then kept up to date */
    const char *keep; /* written with the finished work when the run is cancelled      */
    const okra_data *output_groups;   /* per-output: labels of the coordinates of y; those
                                         of one group share a lambda. NULL: each its own */
    const struct okra_window *window; /* of metrics of lists: which candidates fit a pair
                                         (okra/more/index.h); NULL: all              */
} okra_select_request;

/* Evaluates the cells and finds the best. options == NULL or request == NULL: defaults.
 * x may hold more objects than y, as in okra_fit. */
OKRA_API okra_status okra_select(okra_context *context, const okra_data *x,
                                 const okra_data *y, const okra_options *options,
                                 const okra_select_request *request,
                                 okra_selection **out) OKRA_CHECK;
OKRA_API void okra_selection_free(okra_selection *selection);

/* A fit that needs no options. `options` are of selection (NULL: none); kx, ky, lambda
 * and decode that are not set, or `auto`, are chosen: by the kind of objects, and by
 * leave-one-out (five folds where it has no closed form) on at most 1000 pairs. *fit gets
 * options for okra_fit, all of them values; *selection (may be NULL) what was searched,
 * NULL where nothing was. Both are the caller's to free. */
OKRA_API okra_status okra_choose(okra_context *context, const okra_data *x,
                                 const okra_data *y, const okra_options *options,
                                 okra_options **fit,
                                 okra_selection **selection) OKRA_CHECK;

/* The whole result as JSON; owned by the selection. */
OKRA_API const char *okra_selection_json(const okra_selection *selection);

/* Cells that were evaluated, in the order of the grid; refined ones come last. */
OKRA_API okra_int okra_selection_count(const okra_selection *selection);
OKRA_API okra_int okra_selection_best(const okra_selection *selection);
/* Mean over folds (over pairs for leave-one-out) and its standard error, NaN if unknown.
 */
OKRA_API okra_status okra_selection_cell(const okra_selection *selection, okra_int cell,
                                         double *mean, double *error) OKRA_CHECK;
/* The value of an option in a cell, NULL if the selection did not set it. Valid until the
 * selection is freed. */
OKRA_API const char *okra_selection_value(const okra_selection *selection, okra_int cell,
                                          const char *option);
/* Options of fit and of predict (may be NULL) as the cell has them, to be freed. */
OKRA_API okra_status okra_selection_options(const okra_selection *selection,
                                            okra_int cell, okra_options **fit,
                                            okra_options **predict) OKRA_CHECK;

#ifdef __cplusplus
}
#endif
#endif
