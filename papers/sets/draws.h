/*
 * draws.h: random numbers that depend on a seed alone, so that data are the same
 * everywhere.
 */
#ifndef OKRA_PAPER_DRAWS_H
#define OKRA_PAPER_DRAWS_H

#include "../protocol.h"

double draw_uniform(uint64_t *state); /* in [0, 1) */
double draw_normal(uint64_t *state);

/* y uniform in (0, 1), x = y + 0.3 sin(2 pi y) + noise: y is to be found from x. */
okra_status draw_sshape(uint64_t seed, okra_int n, paper_pairs *out) OKRA_CHECK;

#endif
