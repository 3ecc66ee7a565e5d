/*
 * predict_job.h: what okra predict is given and holds (private to predict*.c).
 */
#ifndef OKRA_CLI_PREDICT_JOB_H
#define OKRA_CLI_PREDICT_JOB_H

#include "cli.h"
#include "predict/ranked.h"
#include "predict/sets.h"

typedef struct predict_fields {
    const char *x, *x_diagonal, *output, *weights, *weights_in, *embedding, *candidates,
        *ranges, *report, *confidence, *probabilities, *within, *about, *pair_rows,
        *pair_columns;
    okra_int shortlist;
    int known_pairs;
    bool exact, stream, p_values;
    cli_sets sets;
} predict_fields;

typedef struct predict_job {
    predict_fields f;
    okra_model *model;
    okra_data *x, *given, *candidates;
    okra_index *index;          /* or these */
    okra_data *rows, *diagonal; /* what x borrows with --x-diagonal */
    okra_int *ranges;
    okra_prediction *prediction;
    double begin; /* when it began */
    bool ranked;  /* -o gets the ranking */
    cli_distinct distinct;
} predict_job;

/* Flags that do not go together, and files that cannot be written. */
int cli_predict_check(const cli_run *run, predict_job *j);
/* The files of a prediction, and lines that tell of them. */
int cli_predict_write(cli_run *run, const predict_job *j);
bool cli_predict_taken(const predict_fields *f); /* nothing is to be told */
int cli_predict_tell(const cli_run *run, const predict_job *j);

#endif
