/*
 * group.h: the left-out errors of cells that differ in lambda alone.
 */
#ifndef OKRA_GROUP_H_
#define OKRA_GROUP_H_

#include "select/select.h"

typedef struct okra_lambda_group_ {
    okra_task_ *task;
    okra_cell_ *const *cells;
    size_t count;
    okra_options *fit, *predict;
    const char *kx, *ky;
    bool plain;   /* fitted by okra_fit: nothing is known of what the fit does */
    bool chooses; /* one of the candidates, see okra_decoder_chooses_ */
    bool low; /* of low rank and nothing else: single pairs are left out in closed form */
    double *lambda;
    okra_scorer_ scorer;
    bool keep_inputs, rows;
    /* closed form */
    okra_view_ *view;   /* all pairs */
    okra_view_ **parts; /* one a fold of a repeat: made once, while memory allows */
    okra_int repeat;
    double *each;
    /* refits of leave-one-out */
    double *losses;              /* count x n */
    okra_data **pool;            /* count: the objects decoded so far */
    okra_int *at, *train, *test; /* work: indices of a fold */
} okra_lambda_group_;

okra_status okra_group_view_(okra_context *ctx, okra_lambda_group_ *g,
                             const okra_int *train, okra_int n, const okra_int *test,
                             okra_int m, okra_view_ **out) OKRA_CHECK;
/* Positions of the task to indices into the source. */
void okra_group_to_source_(const okra_lambda_group_ *g, okra_int *index, okra_int count);
void okra_group_free_parts_(okra_lambda_group_ *g);
/* Of the mean of n values; NaN of one. */
double okra_standard_error_(okra_int n, const double *each, const double *weights,
                            double mean);

/* ---- closed_form.c */
okra_status okra_group_has_closed_form_(const okra_lambda_group_ *g,
                                        bool *out) OKRA_CHECK;
/* OKRA_EUNSUPPORTED where the method finds that it has none. */
okra_status okra_group_closed_form_(okra_context *ctx, okra_lambda_group_ *g) OKRA_CHECK;

/* ---- outputs.c */
okra_status okra_outputs_add_(const okra_lambda_group_ *g, const okra_left_ *left,
                              okra_cell_ *cell) OKRA_CHECK;

/* ---- refit.c */
okra_status okra_group_refit_(okra_context *ctx, okra_lambda_group_ *g,
                              okra_int fold) OKRA_CHECK;
okra_status okra_group_refit_all_(okra_context *ctx, okra_lambda_group_ *g) OKRA_CHECK;

#endif
