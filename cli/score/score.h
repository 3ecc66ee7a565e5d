/*
 * score.h: what okra score is given and finds (private to this folder).
 */
#ifndef OKRA_CLI_SCORE_H
#define OKRA_CLI_SCORE_H

#include "cli.h"

typedef struct score_fields {
    const char *y, *yhat, *metric, *model, *x, *each, *image, *lists, *candidates,
        *weight, *groups;
    double interval;
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
/* Adds to the list of figures what can be drawn of vectors: outputs over a single input,
 * predicted against true values, images (rows x cols pixels, 0: none; left: right of
 * their inputs) in rows, ROC and precision-recall curves of scores against a 0/1 truth.
 * `x` may be NULL. */
void score_figures(json_t *figures, const okra_data *x, const okra_data *y,
                   const okra_data *yhat, okra_int rows, okra_int cols, bool left);
/* The values of the objects, sorted, one curve a metric; value k of object i is
 * each[i * stride + k]. */
json_t *score_sorted(const double *each, okra_int n, size_t stride, const size_t *column,
                     char *const *name, size_t count);

#endif
