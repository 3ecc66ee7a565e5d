/*
 * ridge_options.h: the options of ridge, what they must be, and what a fit then costs.
 */
#ifndef OKRA_RIDGE_OPTIONS_H_
#define OKRA_RIDGE_OPTIONS_H_

#include "method/ridge/ridge_cg.h"

typedef struct okra_ridge_options_ {
    double lambda, epsilon, lambda2;
    const char *operator_text, *graph, *output_lambda;
    bool center, keep_moments;
    int solver, keep;
    okra_cg_options_ cg;
} okra_ridge_options_;

enum { OKRA_RIDGE_SOLVER_DIRECT_, OKRA_RIDGE_SOLVER_CG_ };
enum { OKRA_RIDGE_KEEP_AUTO_, OKRA_RIDGE_KEEP_WEIGHTS_, OKRA_RIDGE_KEEP_COEFFICIENTS_ };

extern const okra_option okra_ridge_rows_[];
extern const okra_method_ okra_method_ridge_;

/* What a fit and leaving out need of options and problem; of a fit alone, and whether it
 * is slim. */
okra_status okra_ridge_options_check_(const okra_options *options,
                                      const okra_ridge_options_ *o,
                                      const okra_ridge_ *r) OKRA_CHECK;
okra_status okra_ridge_fit_check_(const okra_options *options,
                                  const okra_ridge_options_ *o,
                                  okra_ridge_ *r) OKRA_CHECK;
/* Coordinates must be apart for each to have a lambda of its own. */
okra_status okra_ridge_outputs_check_(const okra_ridge_options_ *o) OKRA_CHECK;
/* The hook `plan`: before a fit of low rank. */
okra_status okra_ridge_plan_(const okra_options *options, okra_fit_plan_ *p) OKRA_CHECK;

#endif
