/*
 * metric.h: one metric, and what metrics share.
 *
 * To add a metric: write one okra_metric_ in a file, and one line in metrics.c.
 */
#ifndef OKRA_METRIC_H_
#define OKRA_METRIC_H_

#include "kernel/kernel.h"
#include "okra/metric.h"
#include "okra/more/ranking.h"

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
    /* Of predictions that are not decoded: selection computes it, and score is NULL. */
    bool undecoded, relative; /* relative: each output over its variance */
    okra_shape_ shape; /* what a loss of one pair is, whatever the parameters     */
    double power;      /* OKRA_SHAPE_PLACES_: of |y_j - z_j|; 0: of y_j != z_j    */
    const char
        *pair; /* "key=value" of a loss of one pair, unless key is given, or NULL */
    /* Message and OKRA_EARG if the parameters do not fit together; may be NULL. */
    okra_status (*check)(const void *params);
    okra_status (*score)(okra_context *ctx, const void *params, okra_scores_ *scores);
    /* In place of score, of the two vectors of every pair. */
    double (*vectors)(const void *params, okra_int d, const double *truth,
                      const double *predicted);
    /* In place of score, of lists of candidates: the value of one, `width` numbers at
     * most, ended by -1; truth: the number of the right one, -1: it is no candidate. */
    double (*list)(const void *params, const okra_int *list, okra_int width,
                   okra_int truth);
    /* Of an interval; NaN: it does not count. NULL: not of intervals. */
    double (*interval)(const double bounds[2], double truth);
    double (*links)(const okra_ranking *ranking); /* NULL: not of links */
    /* The kernel in whose feature space it is a squared distance, an expression in the
     * parameters; NULL: none. */
    const char *(*kernel)(const void *params);
} okra_metric_;

/* By specification, of which the name alone is looked at; NULL: unknown. */
const okra_metric_ *okra_metric_find_(const char *spec);

/* A specification that was read; texts in params belong to the options. */
typedef struct okra_spec_ {
    const okra_metric_ *metric;
    okra_options *options;
    void *params;
} okra_spec_;
/* Sets what follows a name: NAME:key=value,key=value. `what` opens messages. */
okra_status okra_spec_set_(const char *what, const char *spec, okra_options *options);
/* *out is empty, or cleared, before; those of okra_score alone. */
okra_status okra_spec_read_(const char *text, okra_spec_ *out);
void okra_spec_clear_(okra_spec_ *spec);
/* *out: the kernel of its squared distance, to be freed, or NULL. */
okra_status okra_metric_kernel_(const char *spec, okra_kernel **out);

enum {
    OKRA_METRIC_VECTORS_ = 1u << OKRA_DENSE | 1u << OKRA_SPARSE | 1u << OKRA_BITS,
    OKRA_METRIC_LABELS_ = 1u << OKRA_LABELS,
};

/* Row i of dense, sparse or bit vectors as d doubles: in place, or in `buffer`. */
const double *okra_metric_row_(const okra_data *data, okra_int i, double *buffer);

/* Calls f on the two rows of every pair of vectors; each[i] gets what it returns. */
okra_status okra_metric_pairs_(okra_scores_ *scores, const void *params,
                               double (*f)(const void *params, okra_int d,
                                           const double *truth, const double *predicted));

/* The least number of insertions, deletions and replacements between n and m codes; row
 * has room for m + 1. */
okra_int okra_edits_(const int32_t *y, okra_int n, const int32_t *z, okra_int m,
                     okra_int *row);

#endif
