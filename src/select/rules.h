/*
 * rules.h: what is chosen where nobody says it, and pairs as they are compared.
 *
 *   inspect.c      what objects are like
 *   rules.c     kernels and decoders by their kind
 *   fill.c      options with rules in place of `auto`
 *   select.c   weights, copies, units of outputs
 */
#ifndef OKRA_RULES_H_
#define OKRA_RULES_H_

#include "method/method.h"
#include "okra/select.h"

/* ---- inspect.c ---- */

bool okra_inspect_zero_one_(const okra_data *data); /* are all values 0 or 1? */
/* Have strings or sequences the same lengths, pair by pair? */
bool okra_inspect_aligned_(const okra_data *x, const okra_data *y);

/* Are outputs short strings of short strings, nine of ten different? The right one is
 * then seldom among the training outputs. */
bool okra_inspect_written_(const okra_data *x, const okra_data *y);
/* Is every output written from the letters of one input, in order? */
bool okra_inspect_transcribed_(const okra_data *x, const okra_data *y);
/* How many deviations of the others the value that is farthest off in its column of dense
 * rows is away from them, and where it is; 0 of few rows and other kinds. */
double okra_inspect_outlier_(const okra_data *data, okra_int *row, okra_int *column);
/* Strings that come again, five times on average or more: tags, categories. */
okra_status okra_inspect_repeated_(const okra_data *data, bool *out);
/* Labels of dense rows that lie close together, groups of them far apart, and how many
 * groups there are; else *units is 0. */
okra_status okra_inspect_near_(const okra_data *x, okra_data **out, okra_int *units);
double okra_inspect_length_(const okra_data *data); /* the mean */
bool okra_inspect_one_length_(const okra_data *data);
double okra_inspect_spread_(const okra_data *data); /* a typical distance of elements */
/* The root of the mean squared distance of dense rows, or of labels, from their mean; 0
 * of others. */
double okra_inspect_deviation_(const okra_data *data);
double okra_inspect_offset_(const okra_data *data); /* |mean| of vectors */
bool okra_inspect_molecules_(const okra_data *data);
/* Long strings of the letters of amino acids, more than the four of bases. */
bool okra_inspect_proteins_(const okra_data *data);
/* Training strings that all can be aligned with in a few seconds; 0: too few. */
okra_status okra_inspect_anchors_(const okra_data *data, double *out);
/* The mean of k(x,x) over a sample; 1 where it is not positive. */
okra_status okra_inspect_diagonal_(okra_context *ctx, const char *text,
                                   const okra_data *data, double *out);
/* The number that auto gives a parameter; 0: all objects are equal. */
okra_status okra_inspect_auto_(okra_context *ctx, const char *text, const char *parameter,
                               const okra_data *data, double *out);

/* ---- rules.c ---- */

/* Grids of kernels for inputs (few: four at most; middle: the most likely one alone), one
 * for outputs, the decoder where predict would take another by itself (else NULL); texts
 * to be freed with okra_free_. */
okra_status okra_rule_kx_(okra_context *ctx, const okra_data *x, char **out);
okra_status okra_rule_few_(okra_context *ctx, const okra_data *x, char **out);
okra_status okra_rule_middle_(okra_context *ctx, const okra_data *x, char **out);
okra_status okra_rule_ky_(okra_context *ctx, const okra_data *x, const okra_data *y,
                          char **out);
/* A loss of what is predicted, by the kind of outputs; NULL: in feature space. */
const char *okra_rule_metric_(const okra_data *y);
const okra_decoder_ *okra_rule_decoder_(const okra_data *x, const okra_data *y,
                                        const char *ky);
/* The decoder as an option: of label sets with the threshold to be chosen. */
okra_status okra_rule_decode_(const okra_decoder_ *decoder, const okra_data *y,
                              char **out);
/* Which input, from 1, the outputs are edits of; 0: none (fill.c). And kernels of
 * the inputs for that, as alternatives. */
int okra_rule_rewritten_(const okra_data *x, const okra_data *y);

/* ---- fill.c ---- */

bool okra_rule_auto_(const okra_options *options, const char *name); /* is it `auto`? */
bool okra_rule_open_(const okra_options *options, const char *name); /* or not set */
/* Are left-out predictions known in closed form? */
bool okra_rule_closed_(const okra_method_ *method, const okra_options *options,
                       const okra_data *y);
/* The parameter that stands for lambda, if it is open: the values that a fold of n pairs
 * has room for, where it counts pairs. */
okra_status okra_rule_tries_(const okra_method_ *method, okra_int n,
                             okra_options *options);
/* The method's own options that go with what was chosen: y and what is open are known. */
okra_status okra_rule_fill_(const okra_method_ *method, const okra_open_ *open,
                            okra_options *options);
/* Are settings compared by the rank of the truth (score.c)? Where outputs are molecules,
 * which candidates are put in order for, and nobody says otherwise: lambda of the least
 * distance is too large for it. */
bool okra_rule_ranked_(const okra_data *y, const okra_options *options);
/* How settings of n pairs are compared, as far as it is not set: cv, metric, refine.
 * `units`: what folds are drawn of, 0: pairs may be left out one by one. */
okra_status okra_rule_how_(const okra_method_ *method, const okra_data *y, okra_int n,
                           okra_int units, okra_options *options);
/* A copy of the options of selection, rules in place of `auto`. `links`: y are nodes
 * whose links are looked for. */
okra_status okra_rules_fill_(okra_context *ctx, const okra_data *x, const okra_data *y,
                             const okra_options *options, bool links, okra_options **out);

/* ---- select.c ---- */

typedef struct okra_prepared_ {
    okra_data *x, *y, *keys[3]; /* keys: folds, groups, strata, where they were made */
} okra_prepared_;
void okra_prepared_clear_(okra_prepared_ *prepared);
/* Where pairs are copies of others: labels of equal inputs, and how many differ; else
 * *units is 0. */
okra_status okra_prepare_copies_(const okra_data *x, const okra_data *y, okra_data **out,
                                 okra_int *units);
/* Does the method learn the coordinates of outputs each by itself? */
bool okra_rule_apart_(const okra_method_ *method, const okra_options *options);
/* Can these outputs be compared by relative-loss? */
bool okra_rule_relative_(const okra_method_ *method, const okra_options *options,
                         const okra_data *y);
/* Of metric relative-loss: outputs in units of their deviation. */
okra_status okra_prepare_relative_(const okra_method_ *method,
                                   const okra_options *options, okra_prepared_ *prepared);

#endif
