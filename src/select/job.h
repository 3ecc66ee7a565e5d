/*
 * job.h: a selection at work; checks.c and select.c share it.
 */
#ifndef OKRA_JOB_H_
#define OKRA_JOB_H_

#include "select/select.h"

typedef struct okra_job_ {
    okra_context *ctx;
    okra_pairs_ source;
    okra_select_fields_ fields;
    okra_cv_ cv;
    okra_keys_ keys;
    okra_scorer_ scorer;
    okra_journal_ *journal;
    okra_selection *out;
    okra_int before, total;
    bool edges, own;           /* as in okra_cell_search_ */
    bool kx_open, lambda_open; /* `auto` */
} okra_job_;

/* ---- checks.c ---- */

/* What is asked, before any computing. */
okra_status okra_job_check_(okra_job_ *job, const okra_options *options) OKRA_CHECK;
/* Folds of a search over the pairs of `index`, the outer fold it belongs to or -1. */
okra_status okra_job_folds_(const okra_job_ *job, const okra_int *index, okra_int n,
                            okra_int outer, okra_folds_ *out) OKRA_CHECK;
/* The folds of every search, so that those which cannot be learned from are refused. */
okra_status okra_job_check_folds_(const okra_job_ *job,
                                  const okra_folds_ *outer) OKRA_CHECK;

#endif
