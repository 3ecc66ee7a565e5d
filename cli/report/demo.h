/*
 * demo.h: the built-in tasks, and how their results are drawn.
 */
#ifndef OKRA_DEMO_H
#define OKRA_DEMO_H

#include "cli.h"

enum { DEMO_ROWS = 4, DEMO_REPEATS = 5 };

/* One way to solve a task: what is typed after "okra fit" and "okra predict". */
typedef struct demo_row {
    const char *label;
    const char *fit;    /* "name=value ..." between spaces                   */
    const char *decode; /* decoder                                           */
    const char *better; /* values of k tried, the best on the test set taken */
} demo_row;

typedef struct demo_task {
    const char *name, *title, *metric;
    okra_status (*make)(uint64_t seed, okra_int n, okra_data **x, okra_data **y);
    okra_int train, test;
    demo_row rows[DEMO_ROWS]; /* the first is the peer, the last is drawn as okra */
    int row_count;
} demo_task;

typedef struct demo_result {
    const demo_task *task;
    double value[DEMO_ROWS][DEMO_REPEATS];
    int k;                        /* of the peer, in the first repeat */
    okra_data *train_x, *train_y; /* of the first repeat              */
    okra_data *test_x, *test_y;
    okra_data *predicted[DEMO_ROWS];
} demo_result;

extern const demo_task demo_patterns, demo_s_shape;

/* Truth, okra and k-NN side by side, on a terminal or as plain text. */
void demo_draw_patterns(FILE *out, const demo_result *r);
void demo_draw_s_shape(FILE *out, const demo_result *r);
/* Both as figures of docs/results-format.md. */
json_t *demo_figures(const demo_result *patterns, const demo_result *s_shape);

#endif
