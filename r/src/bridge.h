/*
 * bridge.h: what the files of the bridge from R to libokra share.
 *
 * R leaves C functions by longjmp where it has no memory, and on errors and interrupts.
 * So no call of R is made below a frame of the library, and every handle of the library
 * belongs to an external pointer, whose finalizer frees it, before R is called again.
 */
#ifndef OKRA_R_BRIDGE_H
#define OKRA_R_BRIDGE_H

#include <R.h>
#include <Rinternals.h>
#include <okra/more.h>
#include <okra/okra.h>

/* What stands behind an external pointer. */
typedef enum handle_kind { A_CONTEXT, A_DATA, A_MODEL, A_SELECTION, OTHER } handle_kind;

/* An external pointer to nothing yet. `free` gets what hold() puts in; `keep` (may be
 * R_NilValue) lives as long as it. The caller protects it. */
SEXP handle_new(handle_kind kind, void (*free)(void *), SEXP keep);
void handle_hold(SEXP handle, void *pointer);
/* What it points to; an error of R where it is of another kind or from another session.
 */
void *handle_get(SEXP handle, handle_kind kind);
/* The same, NULL for R's NULL. */
void *handle_maybe(SEXP handle, handle_kind kind);

SEXP data_handle(SEXP keep);
SEXP model_handle(void);
SEXP selection_handle(void);
SEXP options_handle(void);
SEXP prediction_handle(void);
SEXP kernel_handle(void);

/* What the wrappers in R raise: the status and the message of another thread that
 * failure_says() got last (it is freed; NULL: none), else of this one. */
SEXP failure(okra_status status);
void failure_says(char *message);

/* Work of the library in a thread of its own, while this one asks R for interrupts and
 * cancels the context on one. failure() then has its message. */
typedef okra_status (*job_fn)(okra_context *context, void *job);
okra_status run_job(SEXP context, job_fn fn, void *job);

/* Options that are set by name; the handle is protected by the caller. */
okra_status set_options(okra_options *options, SEXP names, SEXP values);

/* Texts in UTF-8, valid while the vector is protected; "" for none. */
const char **utf8_texts(SEXP texts);
SEXP utf8_string(const char *text, okra_int length);
/* A matrix of R from rows, row stride ld. */
SEXP matrix_of_rows(const double *rows, okra_int n, okra_int d, okra_int ld);
SEXP named_list(const char *const *names, int count);
SEXP objects_of(const okra_data *data);
/* NULL, or whole numbers of R, as the library counts. */
okra_int *counts_of(SEXP numbers);

/* What R calls; bridge.c registers them. */
SEXP C_context(SEXP settings);
SEXP C_warnings(SEXP context);
SEXP C_version(void);
SEXP C_listing(SEXP what);
SEXP C_options(SEXP topic);
SEXP C_dense(SEXP matrix, SEXP names, SEXP missing, SEXP called);
SEXP C_sparse(SEXP p, SEXP i, SEXP x, SEXP shape, SEXP names, SEXP called);
SEXP C_bits(SEXP matrix, SEXP called);
SEXP C_labels(SEXP codes, SEXP names, SEXP called);
SEXP C_gram_rows(SEXP matrix, SEXP diagonal, SEXP called);
SEXP C_strings(SEXP texts, SEXP called);
SEXP C_smiles(SEXP context, SEXP texts, SEXP called);
SEXP C_sequences(SEXP matrices, SEXP called);
SEXP C_tuple(SEXP parts);
SEXP C_weigh(SEXP data, SEXP weights);
SEXP C_take(SEXP data, SEXP index);
SEXP C_read(SEXP context, SEXP spec, SEXP inputs, SEXP like);
SEXP C_write(SEXP context, SEXP data, SEXP path);
SEXP C_are_classes(SEXP texts);
SEXP C_objects(SEXP data);
SEXP C_data_about(SEXP data);
SEXP C_label_names(SEXP data);
SEXP C_fit(SEXP context, SEXP x, SEXP y, SEXP names, SEXP values, SEXP open);
SEXP C_predict(SEXP context, SEXP model, SEXP x, SEXP options, SEXP candidates,
               SEXP wanted);
SEXP C_classes(SEXP context, SEXP model, SEXP x, SEXP probabilities);
SEXP C_leave(SEXP context, SEXP model);
SEXP C_save(SEXP context, SEXP model, SEXP path, SEXP compact, SEXP note);
SEXP C_load(SEXP context, SEXP path);
SEXP C_model_about(SEXP model);
SEXP C_model_data(SEXP model, SEXP outputs);
SEXP C_select(SEXP context, SEXP x, SEXP y, SEXP options, SEXP candidates, SEXP groups);
SEXP C_selection_about(SEXP selection);
SEXP C_selection_options(SEXP selection, SEXP cell);
SEXP C_gram(SEXP context, SEXP kernel, SEXP x, SEXP y);
SEXP C_score(SEXP context, SEXP metric, SEXP truth, SEXP predicted);

#endif
