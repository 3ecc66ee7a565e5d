/*
 * counts.h: the best set of labels under kernels that see counts alone.
 */
#ifndef OKRA_COUNTS_H_
#define OKRA_COUNTS_H_

#include "decode/decode.h"

typedef struct okra_counts_ {
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
} okra_counts_;

/* f(0..., size[k], b) */
static inline const double *okra_counts_row_(const okra_counts_ *s, okra_int k,
                                             okra_int b)
{
    return s->table + (k * (s->most + 1) + b) * (s->largest + 1);
}

/* For outputs that are sets (0/1 vectors); *out stays NULL where the kernel looks at more
 * than |y & y'|, |y| and |y'|, or where a table of its values would be too large. loss:
 * in the place of the kernel, or NULL; then all sets are allowed, norms are to be 0 and
 * distances are expected losses. empty: sets with l(y,y) <= 0 are allowed; rounds: steps
 * of one search at most. */
okra_status okra_counts_create_(okra_context *ctx, const okra_output_ *output,
                                const struct okra_pair_loss_ *loss, bool empty,
                                okra_int rounds, okra_counts_ **out);
/* With a loss: each[i] of a set of at most `most` labels and all training outputs. c: a
 * place for every group. */
void okra_counts_losses_(const okra_counts_ *counts, const int32_t *members,
                         okra_int size, int32_t *c, double *each);
void okra_counts_free_(okra_counts_ *counts);
/* The best sets of a block of weights, exactly, or beginning from what `starts` found
 * there (NULL: from nothing); norm[r] = w_r'Lw_r. */
okra_status okra_counts_search_(okra_context *ctx, const okra_counts_ *counts,
                                const okra_block_ *block, const okra_starts_ *starts,
                                const double *norm, const okra_results_ *results);

/* ---- sets of labels, vectors of 0 and 1, by their members ---- */

/* Fails unless the data are vectors of 0 and 1 (dense, sparse or bits); `who` asks. */
okra_status okra_sets_check_(const okra_data *y, const char *who);
/* The members of set i into `out` (NULL: counted alone), as they stand; their number. */
okra_int okra_sets_members_(const okra_data *y, okra_int i, int32_t *out);
/* n sets as data of a kind: set i has members codes[offsets[i]..offsets[i+1]-1]. */
okra_status okra_sets_make_(okra_context *ctx, okra_kind kind, okra_int d,
                            const int32_t *codes, const okra_int *offsets, okra_int n,
                            okra_data **out);

#endif
