/*
 * explicit.h: candidates that are compared by explicit coordinates.
 */
#ifndef OKRA_FLAT_H_
#define OKRA_FLAT_H_

#include "candidates/set.h"

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
                                const okra_data *list, double level,
                                okra_explicit_ *out) OKRA_CHECK;
/* Are kernel values of the candidates needed, not vectors? */
bool okra_explicit_kernel_(const okra_explicit_ *e);
void okra_explicit_clear_(okra_explicit_ *flat);
okra_status okra_explicit_search_(okra_context *ctx, const okra_explicit_ *flat,
                                  const okra_block_ *block,
                                  okra_nearest_ *nearest) OKRA_CHECK;

#endif
