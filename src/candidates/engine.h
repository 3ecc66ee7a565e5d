/*
 * engine.h: candidates whose inner products with predictions an engine computes and
 * sorts.
 */
#ifndef OKRA_SCORED_H_
#define OKRA_SCORED_H_

#include "candidates/nearest.h"

/* Can the engine do it, and is it worth while: another engine than the host, and every
 * candidate open to every test point? */
bool okra_scored_wanted_(okra_context *ctx, const okra_nearest_ *nearest);
/* norm[r] = w_r' L w_r of the rows of W, as okra_panels_norms_. */
okra_status okra_scored_norms_(okra_context *ctx, okra_panels_ *training, okra_mat_ W,
                               double *norm) OKRA_CHECK;
/* All candidates, `panels`, into the lists of the block's test points. */
okra_status okra_scored_put_(okra_context *ctx, okra_panels_ *panels,
                             const okra_block_ *block, const double *norm,
                             double constant, okra_nearest_ *nearest) OKRA_CHECK;
/* Many processes: of the lists first..first+count-1 this one has made own..own+made-1;
 * afterwards every process has all of them. */
okra_status okra_scored_share_(okra_context *ctx, okra_nearest_ *nearest, okra_int first,
                               okra_int count, okra_int own, okra_int made) OKRA_CHECK;

#endif
