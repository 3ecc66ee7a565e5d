/*
 * counts_inside.h: what the table (counts.c) and its searches share.
 */
#ifndef OKRA_COUNTS_INSIDE_H_
#define OKRA_COUNTS_INSIDE_H_

#include "decode/sets/counts.h"

struct okra_counts_ {
    okra_int n, d, groups; /* training outputs, labels, distinct training outputs */
    okra_int *offsets;     /* groups + 1: the members of each */
    int32_t *members;
    okra_int *group; /* of each training output */
    okra_int sizes;  /* sizes that occur: size[0..sizes-1] ascend */
    okra_int *size;
    int32_t *which;       /* the size of each group, by its place there */
    okra_int *holders_at; /* d + 1: groups that hold a label */
    int32_t *holders;
    okra_int largest, most; /* training output, set that is looked for */
    double *self;           /* most + 1: l(y,y) by size */
    double *excess;         /* it without `constant`, 0 where all are the same */
    double constant;        /* so that weak predictions are not lost beside it */
    double *table;          /* sizes x (most + 1) x (largest + 1): f */
    bool linear;            /* f in the count */
    bool every;             /* few labels: every set is looked at */
    bool empty;             /* sets without features are allowed */
    bool loss;              /* f = -D / 2: values of J below 0 are no rounding */
    okra_int rounds;
    bool shelved; /* stays with the training outputs, which free it */
};

/* f(0..., size[k], b) */
static inline const double *okra_counts_row_(const okra_counts_ *s, okra_int k,
                                             okra_int b)
{
    return s->table + (k * (s->most + 1) + b) * (s->largest + 1);
}

/* ---- counts_search.c ---- */

/* A set that changes, and the best that it has been: what a thread needs. */
typedef struct okra_counts_work_ okra_counts_work_;
okra_status okra_counts_work_create_(const okra_counts_ *counts, okra_int wanted,
                                     okra_counts_work_ **out) OKRA_CHECK;
void okra_counts_work_free_(okra_counts_work_ *space);
/* The `wanted` best sets for the weights of one row; see okra_counts_search_. */
okra_status okra_counts_work_search_(okra_counts_work_ *space, const double *weights,
                                     const okra_int *index, okra_int top, double norm,
                                     okra_result_ *found) OKRA_CHECK;

#endif
