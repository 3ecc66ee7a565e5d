/*
 * metric.h: one metric, and what metrics share.
 *
 * To add a metric: write one okra_metric_ in a file, and one line in metrics.c.
 */
#ifndef OKRA_METRIC_H_
#define OKRA_METRIC_H_

#include "data/data.h"
#include "okra/metric.h"

/* n pairs of objects, and where their scores go. */
typedef struct okra_scores_ {
    okra_int n, d; /* d: width of both sides; labels: classes, see codes         */
    const okra_data *truth, *predicted;
    const okra_int *codes; /* labels: truth class of each predicted class          */
    double *each;          /* n places                                             */
    bool has_each;         /* true on entry; the value is then the mean of `each`  */
    double value;          /* filled by a metric that cleared has_each             */
    double total;          /* the sum of the weights of the truth; else n          */
} okra_scores_;

/* How much pair i counts. */
static inline double okra_metric_weight_(const okra_scores_ *s, okra_int i)
{
    return s->truth->weights ? s->truth->weights[i] : 1;
}

typedef struct okra_metric_ {
    const char *name, *help;
    okra_option_table params;
    unsigned kinds; /* bit (1u << okra_kind) for each kind of data it takes */
    bool loss;      /* smaller is better */
    bool gaps;      /* values of the truth that are missing are left out */
    /* Message and OKRA_EARG if the parameters do not fit together; may be NULL. */
    okra_status (*check)(const void *params);
    okra_status (*score)(okra_context *ctx, const void *params, okra_scores_ *scores);
    /* In place of score, of lists of candidates: the value of one, `width` numbers at
     * most, ended by -1; truth: the number of the right one, -1: it is no candidate. */
    double (*list)(const void *params, const okra_int *list, okra_int width,
                   okra_int truth);
} okra_metric_;

enum {
    OKRA_METRIC_VECTORS_ = 1u << OKRA_DENSE | 1u << OKRA_SPARSE | 1u << OKRA_BITS,
    OKRA_METRIC_LABELS_ = 1u << OKRA_LABELS,
};

/* Row i of dense, sparse or bit vectors as d doubles: in place, or written to `buffer`.
 */
const double *okra_metric_row_(const okra_data *data, okra_int i, double *buffer);

/* Calls f on the two rows of every pair of vectors; each[i] gets what it returns. */
okra_status okra_metric_pairs_(okra_scores_ *scores, const void *params,
                               double (*f)(const void *params, okra_int d,
                                           const double *truth, const double *predicted));

/* The least number of insertions, deletions and replacements between n and m codes; row
 * has room for m + 1. */
okra_int okra_edits_(const int32_t *y, okra_int n, const int32_t *z, okra_int m,
                     okra_int *row);

/* The class of object i on either side, comparable: numbered by the truth's classes, and
 * beyond them (below scores->d) where the truth does not know the name. */
static inline okra_int okra_metric_truth_(const okra_scores_ *s, okra_int i)
{
    return s->truth->codes[i];
}
static inline okra_int okra_metric_predicted_(const okra_scores_ *s, okra_int i)
{
    return s->codes[s->predicted->codes[i]];
}

#endif
