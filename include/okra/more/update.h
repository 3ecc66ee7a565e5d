/*
 * okra/more/update.h: pairs that come and go, models of parts of the data made one, and
 * what a fit is going to cost.
 */
#ifndef OKRA_MORE_UPDATE_H
#define OKRA_MORE_UPDATE_H

#include "okra/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a fit of low rank is going to do, in a line of text: ranks, blocks, passes over
 * the data, memory; *seconds is a guess at its time. "" and 0 for a fit that has Gram
 * matrices in memory: dense, or of low rank by a method without a factored form. */
OKRA_EXPERIMENTAL okra_status okra_fit_plan(okra_context *context, const okra_data *x,
                                            const okra_data *y,
                                            const okra_options *options, char *text,
                                            size_t size, double *seconds) OKRA_CHECK;
/* About how many bytes the file will have. */
OKRA_EXPERIMENTAL double okra_model_bytes(const okra_model *model, okra_compact how);
/* What is to change. Pairs that go are removed first; the new ones come after those that
 * stay. */
typedef struct okra_update_request {
    size_t size;            /* OKRA_SIZED(okra_update_request)                          */
    const okra_data *x, *y; /* new pairs, or NULL                                      */
    const okra_int *remove; /* training pairs that go, counted from 0, in any order    */
    okra_int remove_count;
    /* Inputs of the pairs that go, in the order of `remove`: for models of low rank with
     * kept moments, which hold no training inputs; else NULL. */
    const okra_data *removed_x;
} okra_update_request;
typedef enum okra_update_how {
    OKRA_UPDATE_FACTOR,  /* a Cholesky factor was changed: ridge, operator identity    */
    OKRA_UPDATE_MOMENTS, /* moments were added and subtracted: low rank, keep-moments  */
    OKRA_UPDATE_REFIT,   /* a new fit with the options and kernels of the model        */
} okra_update_how;
typedef struct okra_update_report {
    size_t size; /* OKRA_SIZED(okra_update_report) */
    okra_int added, removed;
    okra_update_how how;
    /* Rounding that added up: how far the factor is from the one of a fit, relative to
     * the mean diagonal of the kernel; of moments, relative to lambda. */
    double drift;
    const char *why; /* of a new fit: the reason, a text that stays; else NULL */
} okra_update_report;
/* A new model whose training set is that of `model` less the pairs that go, then the new
 * ones: what a fit on these pairs gives, to rounding. Kernels stay those of the first
 * fit: what `auto` chose, what twin learned, the spread of `standardize`, the basis of
 * low rank. report: may be NULL. */
OKRA_EXPERIMENTAL okra_status okra_model_update(okra_context *context,
                                                const okra_model *model,
                                                const okra_update_request *request,
                                                okra_update_report *report,
                                                okra_model **out) OKRA_CHECK;
/* A basis of low rank from a sample of inputs: of the options of fit, kx and low-rank-x
 * say which. It is a model that predicts the features of an input. */
OKRA_EXPERIMENTAL okra_status okra_basis_create(okra_context *context, const okra_data *x,
                                                const okra_options *options,
                                                okra_model **out) OKRA_CHECK;
/* The model of all pairs of `count` models that keep their moments (keep-moments), have
 * one basis and the same options: what one fit gives, to rounding. Sums run in the order
 * given: the same models in the same order give the same bits. lambda > 0: another one
 * than that of the models; else 0. */
OKRA_EXPERIMENTAL okra_status okra_model_merge(okra_context *context,
                                               const okra_model *const *models,
                                               size_t count, double lambda,
                                               okra_model **out) OKRA_CHECK;

#ifdef __cplusplus
}
#endif
#endif
