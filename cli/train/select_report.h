/*
 * select_report.h: what okra select shows of a result.
 */
#ifndef OKRA_SELECT_REPORT_H
#define OKRA_SELECT_REPORT_H

#include "cli.h"

/* Axes with more than one value; how many there are. */
enum { SELECT_AXES = 64 };
size_t select_varied(const json_t *result, const json_t *out[SELECT_AXES]);

/* Tables on standard output; `model` is the file that was written, or "". */
void select_print(const cli_run *run, const json_t *result, const char *model);
/* One line a cell: the values of the axes, mean, standard error, values of the folds. */
int select_cells(const cli_run *run, const json_t *result, const char *file);
/* A curve over the one axis that varies, or a heat map over the last two; where more
 * vary, the best over the others is shown. */
int select_plot(const cli_run *run, json_t *result, const char *file);
/* A result for okra report: the selection's own fields, tables, the figure. */
json_t *select_result(const cli_run *run, json_t *selection);

#endif
