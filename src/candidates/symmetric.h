/*
 * symmetric.h: one prediction times the Gram matrix of the training outputs.
 */
#ifndef OKRA_HALVES_H_
#define OKRA_HALVES_H_

#include "candidates/outputs.h"

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
