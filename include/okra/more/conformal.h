/*
 * okra/more/conformal.h: prediction sets and intervals that hold the truth with a chosen
 * probability.
 *
 * The p-value of a candidate y for a test input x is the share of pairs whose score is at
 * least that of (x, y), (x, y) itself included. The set of all y with a p-value above
 * alpha holds the true output with probability at least 1 - alpha, whatever the
 * distribution, if the pairs that calibrate and the test pair are exchangeable.
 *
 *   split       pairs that the fit has not seen calibrate; any method; 1 - alpha
 *   full        the training pairs calibrate: each candidate is added to the training
 *               set, and all residuals are those of that fit, in closed form; 1 - alpha
 *   jackknife+  predictions of models without one pair, in closed form; 1 - 2 alpha, and
 *               about 1 - alpha as a rule
 *   cv+         the same without a fold of pairs; 1 - 2 alpha (less a term of order
 *               1 / sqrt(n) for few large folds)
 *
 * full, jackknife+ and cv+ are for ridge with the operator identity, all of whose inputs
 * have outputs.
 */
#ifndef OKRA_MORE_CONFORMAL_H
#define OKRA_MORE_CONFORMAL_H

#include "okra/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct okra_conformal_settings {
    size_t size; /* OKRA_SIZED(okra_conformal_settings) */
    /* "split", "full", "jackknife+", "cv+", or "auto" (NULL): split where there are pairs
     * to calibrate with, else full. */
    const char *how;
    /* What is compared. "distance": of the output to the prediction of a model that has
     * not seen it, in feature space. "normalized": that, divided by the standard
     * deviation which the inputs give (ridge, kpca, tgp-kl). "residual" (full): the
     * distance to the prediction of the model that has seen it. "rank" (split): how many
     * candidates are nearer. The name of a metric (split): its value for the decoded
     * prediction. "auto" (NULL): normalized; with split the one of the first two under
     * which the training pairs, left out, have the smaller sets, which the pairs that
     * calibrate do not see. */
    const char *score;
    okra_int folds;                                 /* of cv+; 0: 10 */
    const okra_data *calibration_x, *calibration_y; /* split; NULL: those of the model */
    /* Mondrian groups: pairs are compared with those of their own group. Labels of the
     * pairs that calibrate and of the test inputs, or, by_class, the outputs themselves.
     */
    const okra_data *groups, *test_groups;
    bool by_class;
    /* Covariate shift: how much more likely each input is under the distribution of the
     * test inputs, for the pairs that calibrate and for the test inputs; NULL: 1. */
    const double *weights, *test_weights;
} okra_conformal_settings;

/* Groups of one column of numbers, as labels: below the first cut, from one cut up to the
 * next, from the last one on. The cuts grow; groups keep their promise exactly where cuts
 * were chosen without looking at the pairs. */
OKRA_EXPERIMENTAL okra_status okra_groups_cut(const okra_data *numbers,
                                              const double *cuts, okra_int count,
                                              okra_data **out) OKRA_CHECK;
/* A share of the pairs, drawn with the context's seed, is held back. parts: inputs and
 * outputs to learn from (inputs beyond the outputs stay with them), then inputs and
 * outputs to calibrate with; the caller frees all four. */
OKRA_EXPERIMENTAL okra_status okra_pairs_split(okra_context *context, const okra_data *x,
                                               const okra_data *y, double share,
                                               okra_data **parts) OKRA_CHECK;
/* The model keeps a copy of pairs that its fit has not seen, in its file, too; split then
 * calibrates with them. NULL, NULL: none. */
OKRA_EXPERIMENTAL okra_status okra_model_set_calibration(okra_model *model,
                                                         const okra_data *x,
                                                         const okra_data *y) OKRA_CHECK;
/* How many it keeps; *x and *y (each may be NULL) are owned by the model. */
OKRA_EXPERIMENTAL okra_int okra_model_calibration(const okra_model *model,
                                                  const okra_data **x,
                                                  const okra_data **y);

/* What "auto" stands for with this model: *how and *score are literals, or those of the
 * settings (NULL: defaults). */
OKRA_EXPERIMENTAL okra_status
okra_conformal_chosen(okra_context *context, const okra_model *model,
                      const okra_conformal_settings *settings, const char **how,
                      const char **score) OKRA_CHECK;
/* p (x objects x candidates, row-major): the p-values. settings == NULL: defaults.
 */
OKRA_EXPERIMENTAL okra_status
okra_conformal_p_values(okra_context *context, const okra_model *model,
                        const okra_data *x, const okra_data *candidates,
                        const okra_conformal_settings *settings, double *p) OKRA_CHECK;
/* p-values of `count` squared distances between candidates and predictions that were
 * measured already (okra_prediction_distance). training false: the
 * pairs that the model keeps calibrate, as in split. true: the training pairs, each
 * predicted without itself in closed form (jackknife), which is close as a rule and
 * promises nothing exact. *pairs (may be NULL): how many. */
OKRA_EXPERIMENTAL okra_status okra_conformal_distances(
    okra_context *context, const okra_model *model, bool training, const double *distance,
    okra_int count, double *p, okra_int *pairs) OKRA_CHECK;
/* Vectors under a linear output kernel: bounds (x objects x d x 2), lower and upper, for
 * each coordinate by itself; radius (x objects, may be NULL): of the ball around the
 * prediction that holds the whole vector. Infinite where the pairs are too few for alpha,
 * and with full where predictions for the other pairs move as much as the output that is
 * tried (small lambda); a warning says which. */
OKRA_EXPERIMENTAL okra_status okra_conformal_intervals(
    okra_context *context, const okra_model *model, const okra_data *x, double alpha,
    const okra_conformal_settings *settings, double *bounds, double *radius) OKRA_CHECK;

#ifdef __cplusplus
}
#endif
#endif
