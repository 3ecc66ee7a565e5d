/*
 * tasks.h: graphs between the coordinates of vector outputs, for kernels and operators.
 */
#ifndef OKRA_TASKS_H_
#define OKRA_TASKS_H_

#include "data/data.h"

/* A symmetric d x d matrix of a file, to be freed by the caller; `who` opens messages. */
okra_status okra_tasks_read_(okra_context *ctx, const char *who, const char *file,
                             okra_int d, double **out);
/* M_ij = exp(-gamma |Y^i - Y^j|^2), Y^i column i of Y; over the rows in which both are
 * known, scaled to all rows, where values are NaN; a row counts as weights says (NULL:
 * once). gamma == 0: the one that okra_tasks_estimate_ chooses by information, see
 * tasks.c. */
okra_status okra_tasks_estimate_(okra_context *ctx, okra_mat_ Y, const double *weights,
                                 double gamma, double **out);

#endif
