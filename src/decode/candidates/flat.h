/*
 * flat.h: candidates that are compared by explicit coordinates.
 */
#ifndef OKRA_FLAT_H_
#define OKRA_FLAT_H_

#include "decode/candidates/nearest.h"

typedef struct okra_flat_ {
    okra_output_ output; /* with components: their scores are the features */
    const okra_data *set;
    okra_panels_ *panels; /* of the candidates, where components need them; borrowed */
    double *axes;         /* those of components, as panels of a map meet them */
    double *shift;        /* s */
    double level;         /* |y|^2 where all candidates have that, or NaN */
} okra_flat_;

/* output: with explicit features or components; set: the candidates. */
okra_status okra_flat_open_(okra_context *ctx, const okra_output_ *output,
                            const okra_data *set, okra_flat_ *out) OKRA_CHECK;
void okra_flat_clear_(okra_flat_ *flat);
okra_status okra_flat_search_(okra_context *ctx, const okra_flat_ *flat,
                              const okra_block_ *block,
                              okra_nearest_ *nearest) OKRA_CHECK;

#endif
