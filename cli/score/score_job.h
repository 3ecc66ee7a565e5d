/*
 * score_job.h: what okra score is told and finds (private to score*.c).
 */
#ifndef OKRA_CLI_SCORE_JOB_H
#define OKRA_CLI_SCORE_JOB_H

#include "cli.h"

typedef struct score_fields {
    const char *y, *yhat, *metric, *model, *x, *each, *image, *lists, *candidates,
        *weight;
} score_fields;

enum { METRICS = 32 };

typedef struct scores {
    char *spec[METRICS]; /* owned */
    double value[METRICS];
    bool loss[METRICS];
    size_t count;
    okra_int n;
    double *each;      /* n x count, or NULL */
    bool has[METRICS]; /* a value an object  */
    json_t *figures;   /* NULL: none wanted  */
    okra_int unknown;  /* missing values that no interval was held against */
} scores;

/* Scores of --lists: ranked candidates, sets or intervals. */
int score_listed(cli_run *run, const score_fields *f, const okra_data *y, scores *s);

#endif
