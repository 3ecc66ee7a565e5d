/*
 * score_lists.h: lists and sets of candidates, and intervals, as okra predict wrote them.
 */
#ifndef OKRA_CLI_SCORE_LISTS_H
#define OKRA_CLI_SCORE_LISTS_H

#include "cli.h"

typedef struct score_lists {
    okra_int n, width;
    okra_int *index; /* n x width: numbers of candidates in order, -1: no more */
    double *bounds;  /* n x width x 2: of intervals, in place of index         */
    double *p;       /* n x width: p-values, NaN: none; NULL: no such column   */
} score_lists;

/* A table with columns test and candidate (rank, if there, must ascend), or test, output,
 * lower and upper; n tests are expected, which may have empty lists. */
int score_lists_read(cli_run *run, const char *file, okra_int n, score_lists *out);
void score_lists_clear(score_lists *lists);
/* How often the truth (a number of each test, -1: none) is among the first k, and, where
 * there are p-values, how they are spread for the truths that the lists have. */
void score_lists_figures(const score_lists *lists, const okra_int *truth,
                         json_t *figures);

#endif
